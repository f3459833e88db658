"""What these clients ask over HTTP before they come to the hub, and how they are answered."""

from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from parlour.doors.gammonx.terms import LEVELS, MODI, TYPES, VARIANTS, Kind, read_guid
from parlour.errors import Refused, parse
from parlour.wire import strict

JOIN_ERROR = "JOIN_ERROR"
QUEUE_ERROR = "QUEUE_ERROR"
WAITING, FOUND, CANCELLED = range(3)
"""How it stands with somebody who waits."""


class Joining(msgspec.Struct, frozen=True, rename="lower"):
    """A wish for a match; what is left out counts as 0."""

    playerid: str = ""
    matchvariant: Annotated[int, Meta(ge=0, lt=len(VARIANTS))] = 0
    matchmodus: Annotated[int, Meta(ge=0, lt=len(MODI))] = 0
    matchtype: Annotated[int, Meta(ge=0, lt=len(TYPES))] = 0
    botlevel: int | None = None
    """Other numbers mean the best, as none does: clients have one for a level that they do not know."""


class Wanted(NamedTuple):
    """Who wants what."""

    player: str
    kind: Kind
    level: str
    """The bot to play against, where one is wanted."""


_read_object = msgspec.json.Decoder(dict[str, Any]).decode


def read_wish(body: bytes) -> Wanted:
    """A wish, its names in whatever case.

    >>> read_wish(b'{"PlayerId":"fdd907ca-794a-43f4-83e6-cadfabc57c45","matchVariant":2}').kind
    Kind(variant=2, modus=0, type=0)
    """
    fields = {name.lower(): value for name, value in parse(_read_object, strict(body)).items()}
    wish = parse(lambda value: msgspec.convert(value, Joining), fields)
    kind = Kind(wish.matchvariant, wish.matchmodus, wish.matchtype)
    level = LEVELS[wish.botlevel if wish.botlevel in (0, 1, 2) else -1]
    return Wanted(read_guid(wish.playerid, "playerId"), kind, level)


def ok(**payload: Any) -> dict[str, Any]:
    """Done."""
    return {"type": "OK", "payload": payload}


def failed(code: str, why: Refused) -> dict[str, Any]:
    """Not done."""
    return {"type": "ERROR", "payload": {"code": code, "message": why.message}}

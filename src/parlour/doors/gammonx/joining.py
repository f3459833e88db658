"""What these clients ask over HTTP before they come to the hub, and how they are answered."""

from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from parlour.doors.gammonx.terms import LEVELS, MODI, RATE_LIMIT_ERROR, TYPES, VARIANTS, Kind, read_guid
from parlour.errors import Code, Refused, parse
from parlour.sanitize import strict

JOIN_ERROR = "JOIN_ERROR"
QUEUE_ERROR = "QUEUE_ERROR"
WAITING, FOUND, CANCELLED = range(3)
"""How it stands with somebody who waits."""


class Joining(msgspec.Struct, frozen=True, rename="pascal"):
    """A wish for a match; what is left out counts as 0."""

    player_id: str = ""
    match_variant: Annotated[int, Meta(ge=0, lt=len(VARIANTS))] = 0
    match_modus: Annotated[int, Meta(ge=0, lt=len(MODI))] = 0
    match_type: Annotated[int, Meta(ge=0, lt=len(TYPES))] = 0
    bot_level: int | None = None
    """Other numbers mean the best, as none does: clients have one for a level that they do not know."""


class MatchWanted(NamedTuple):
    """Who wants what."""

    player: str
    kind: Kind
    level: str
    """The bot to play against, where one is wanted."""


NAMES = {name.lower(): name for name in Joining.__struct_encode_fields__}
_read_object = msgspec.json.Decoder(dict[str, Any]).decode


def read_wish(body: bytes) -> MatchWanted:
    """A wish, its names in whatever case.

    >>> read_wish(b'{"PlayerId":"fdd907ca-794a-43f4-83e6-cadfabc57c45","matchVariant":2}').kind
    Kind(variant=2, modus=0, type=0)
    """
    fields = parse(_read_object, strict(body))
    named = {NAMES.get(name.lower(), name): value for name, value in fields.items()}
    wish = parse(lambda value: msgspec.convert(value, Joining), named)
    kind = Kind(wish.match_variant, wish.match_modus, wish.match_type)
    level = LEVELS[wish.bot_level if wish.bot_level in (0, 1, 2) else -1]
    return MatchWanted(read_guid(wish.player_id, "PlayerId"), kind, level)


def ok(**payload: Any) -> dict[str, Any]:
    """Done."""
    return {"type": "OK", "payload": payload}


def failed(code: str, why: Refused) -> dict[str, Any]:
    """Not done, in the words of these clients."""
    message = why.message.removeprefix("$.")
    if why.code == Code.TOO_FAST:
        code = RATE_LIMIT_ERROR
    elif why.code == Code.UNKNOWN_TICKET:
        message = message.replace("ticket", "queueId")
    elif why.code == Code.ALREADY_QUEUED:
        message = "this player waits for such a match already"
    return {"type": "ERROR", "payload": {"code": code, "message": message}}

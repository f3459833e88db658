"""What is sent: the body of a webhook with its signature, and what a browser is pushed."""

import hashlib
import hmac
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from parlour.journal.base import Player
from parlour.server.endpoint_records import Endpoint
from parlour.server.parts.notifications.rules import Delivery

MOST_NAMED = 8
"""Names that are told at most: a message to a browser is short."""
MOST_TTL = 28 * 86400
"""Seconds for which a push service keeps a message at most for a browser that is off."""


class YourTurn(msgspec.Struct, frozen=True):
    """The message: it is your turn."""

    id: str
    """The same for all tries to deliver it."""
    player: str
    room: str
    url: str
    """Where the room is; without the server's own address, where that is not known."""
    game: str
    title: str
    """What the game is called."""
    against: tuple[str, ...]
    """How the others who play are called when this is sent."""
    date: float
    """When the turn began."""
    until: float | None
    """When the player's time is over, if it runs."""
    kind: str = "your_turn"
    guests: tuple[bool, ...] = ()
    """Of each of the others whether they are a guest: somebody else may have the same name."""


class Message(NamedTuple):
    """A request as it is sent."""

    headers: dict[str, str]
    body: bytes


def told(delivery: Delivery, title: str, site: str, others: Sequence[Player]) -> YourTurn:
    """What is told of a turn against these others, by a server whose pages are at *site*."""
    turn = delivery.turn
    return YourTurn(
        id=delivery.id,
        player=turn.player,
        room=turn.room,
        url=f"{site.rstrip('/')}/r/{quote(turn.room, safe='')}",
        game=turn.game,
        title=title,
        against=tuple(one.name for one in others[:MOST_NAMED]),
        date=turn.date,
        until=turn.until,
        guests=tuple(one.is_guest for one in others[:MOST_NAMED]),
    )


def signature(secret: str, date: int, body: bytes) -> str:
    """The signature of a webhook's body: whoever has the secret can tell that it came from here, and when.

    >>> signature("s3cret", 1735689600, b"{}")[:26]
    't=1735689600,v1=88d633c641'
    """
    digest = hmac.new(secret.encode(), b"%d." % date + body, hashlib.sha256).hexdigest()
    return f"t={date},v1={digest}"


def webhook_message(what: YourTurn, endpoint: Endpoint, date: float) -> Message:
    """What a webhook is sent."""
    body = msgspec.json.encode(what)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Parlour",
        "Parlour-Delivery": what.id,
        "Parlour-Signature": signature(endpoint.secret, int(date), body),
    }
    return Message(headers, body)


def push_headers(what: YourTurn, authorization: str, date: float) -> dict[str, str]:
    """The headers of a push: how long it is worth something, and that a newer one of the room replaces it."""
    left = MOST_TTL if what.until is None else what.until - date
    topic = hashlib.sha256(what.room.encode()).hexdigest()[:32]
    return {
        "Authorization": authorization,
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/octet-stream",
        "TTL": str(int(min(max(left, 0), MOST_TTL))),
        "Topic": topic,
        "Urgency": "normal",
        "User-Agent": "Parlour",
    }

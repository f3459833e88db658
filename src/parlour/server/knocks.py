"""Who knocks at a socket's door, what their request says, and how they are turned away."""

from collections.abc import Sequence
from typing import NamedTuple

from starlette.requests import cookie_parser
from websockets.http11 import Request as Upgrade

from parlour.server.players import COOKIE


def may_use_cookie(origin: str | None, host: str | None, allowed: Sequence[str]) -> bool:
    """A cookie counts on our own pages and those of the listed sites; programs without an origin may, too.

    >>> may_use_cookie("http://localhost:8000", "localhost:8000", ())
    True
    >>> may_use_cookie("http://evil.example", "localhost:8000", ())
    False
    """
    return origin is None or origin in allowed or (bool(host) and origin.partition("://")[2] == host)


def cookie_token(header: str | None, name: str = COOKIE) -> str | None:
    """Our token (or another cookie) in a Cookie header."""
    return cookie_parser(header or "").get(name)


def _whole(values: list[str]) -> str | None:
    """A header that may have come several times, or not at all; an empty one has come."""
    return ", ".join(values) if values else None


class Knock(NamedTuple):
    """Somebody who wants a socket opened."""

    path: str
    query: str
    upgrade: Upgrade

    @classmethod
    def of(cls, upgrade: Upgrade) -> "Knock":
        path, _, query = upgrade.path.partition("?")
        return cls(path, query, upgrade)

    @property
    def subprotocols(self) -> list[str]:
        """What they offer to speak."""
        headers = self.upgrade.headers.get_all("Sec-WebSocket-Protocol")
        return [name.strip() for header in headers for name in header.split(",")]

    def cookie(self, name: str) -> str | None:
        """A cookie of theirs."""
        return cookie_token("; ".join(self.upgrade.headers.get_all("Cookie")), name)

    @property
    def scheme(self) -> str | None:
        """How they reached the proxy before us, if there is one."""
        return _whole(self.upgrade.headers.get_all("X-Forwarded-Proto"))

    def is_ours(self, origins: Sequence[str]) -> bool:
        """They come from our own pages, or from no page; a foreign page's cookies do not count."""
        origin, host = (_whole(self.upgrade.headers.get_all(name)) for name in ("Origin", "Host"))
        return may_use_cookie(origin, host, origins)


class TurnedAway(Exception):
    """A door's own way of not letting somebody in: a status, a sentence, and headers."""

    def __init__(self, status: int, text: str, **headers: str) -> None:
        super().__init__(status, text)
        self.status = status
        self.text = text
        self.headers = headers

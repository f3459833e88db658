"""Upgrade requests: who wants a WebSocket, what the request says, and how it is refused."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from starlette.requests import cookie_parser
from starlette.routing import BaseRoute
from websockets.http11 import Request as UpgradeRequest

from parlour.server.gateway.outboxes import Peer
from parlour.server.limits import is_encrypted
from parlour.server.settings import Settings
from parlour.server.tokens import COOKIE

if TYPE_CHECKING:
    from parlour.server.gateway.websocket import Socket

OF_NO_OTHER_SITE = (None, "none", "same-origin")
"""Values of a browser's header for requests that no other site's page made; programs send none."""


def may_use_cookie(
    header: Callable[[str], str | None], allowed: Sequence[str], *, encrypted: bool = False
) -> bool:
    """True if a cookie counts: on our own pages, those of listed sites, and for programs without an origin.

    A page that came by plain http is not ours if we are reached by https: anybody on the way could have
    written it.

    >>> asked = {"Host": "localhost:8000", "Origin": "http://localhost:8000"}
    >>> may_use_cookie(asked.get, ()), may_use_cookie(asked.get, (), encrypted=True)
    (True, False)
    >>> may_use_cookie({"Host": "localhost:8000", "Origin": "http://evil.example"}.get, ())
    False
    >>> may_use_cookie({"Sec-Fetch-Site": "cross-site"}.get, ())
    False
    """
    origin, host = header("Origin"), header("Host")
    if origin is None:
        return header("Sec-Fetch-Site") in OF_NO_OTHER_SITE
    own = ("https",) if encrypted else ("https", "http")
    return origin in allowed or (bool(host) and origin in [f"{scheme}://{host}" for scheme in own])


def cookie_token(header: str | None, name: str = COOKIE) -> str | None:
    """Our token (or another cookie) in a Cookie header."""
    return cookie_parser(header or "").get(name)


class Upgrade(NamedTuple):
    """A request for a WebSocket."""

    path: str
    query: str
    request: UpgradeRequest

    @classmethod
    def of(cls, request: UpgradeRequest) -> "Upgrade":
        path, _, query = request.path.partition("?")
        return cls(path, query, request)

    @property
    def subprotocols(self) -> list[str]:
        """The subprotocols that the client offers."""
        headers = self.request.headers.get_all("Sec-WebSocket-Protocol")
        return [name.strip() for header in headers for name in header.split(",")]

    def cookie(self, name: str) -> str | None:
        """A cookie of the request."""
        return cookie_token("; ".join(self.request.headers.get_all("Cookie")), name)

    @property
    def schemes(self) -> list[str]:
        """The schemes by which the client reached the proxies before us, if there are any."""
        return self.request.headers.get_all("X-Forwarded-Proto")

    def is_ours(self, settings: Settings, peer: str | None) -> bool:
        """True if it comes from our own pages or from no page; cookies of other sites' pages do not count."""
        return may_use_cookie(
            self.header, settings.origins, encrypted=is_encrypted(peer, self.schemes, settings.proxies)
        )

    def header(self, name: str) -> str | None:
        """A header, joined if it came several times; None if it is missing, but not if it is empty."""
        values = self.request.headers.get_all(name)
        return ", ".join(values) if values else None


class Door(ABC):
    """Lets the clients of one protocol in: WebSockets at paths of its own, and perhaps HTTP calls."""

    paths: Sequence[str]
    """The paths of its WebSockets; one that ends with a slash takes all below its first part."""
    routes: Sequence[BaseRoute] = ()
    """Its HTTP calls."""

    def key_of(self, path: str) -> str | None:  # noqa: ARG002
        """The key whose owner serves this path, if what the door keeps has one; None: any worker."""
        return None

    @abstractmethod
    def enter(self, socket: "Socket", upgrade: Upgrade) -> tuple[Peer, Mapping[str, str]]:
        """Accept an upgrade, with headers for the answer; `Refused` or `UpgradeRefused` if not."""

    def start(self) -> None:  # noqa: B027 - most doors have nothing to start
        """The server accepts connections from now on."""

    async def stop(self) -> None:  # noqa: B027
        """The server is about to stop: stop timers, and answer the HTTP calls that wait."""

    async def let_go(self, moves: Callable[[str], bool]) -> None:  # noqa: B027
        """Close the connections of the keys for which *moves* is true, and write what is left."""

    async def finish(self) -> None:  # noqa: B027
        """All connections are closed: write what is left, because the journal closes next."""


class UpgradeRefused(Exception):
    """A refusal in a door's own words: a status, a sentence, and headers."""

    def __init__(self, status: int, text: str, **headers: str) -> None:
        super().__init__(status, text)
        self.status = status
        self.text = text
        self.headers = headers

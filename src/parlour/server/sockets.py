"""WebSockets behind uvicorn: frames in by the sans-I/O core of `websockets`, shared frames out, corked."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl

import msgspec
import structlog
from starlette.requests import cookie_parser
from websockets.exceptions import InvalidMessage
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request as Upgrade
from websockets.http11 import Response
from websockets.protocol import OPEN
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from parlour.doors.ogetarts import WithOgetarts
from parlour.errors import Code, Refused
from parlour.protocols import PROTOCOLS
from parlour.server import metrics
from parlour.server.clients import Client
from parlour.server.clock import Handle
from parlour.server.config import Settings
from parlour.server.host import Host
from parlour.server.limits import STRIKES, Limits, address_of, cost_of, too_fast
from parlour.server.players import COOKIE, Tokens, new_player_id
from parlour.wire import Adapter, Enter, Exit, Greeting, Request

if TYPE_CHECKING:
    from uvicorn.server import ServerState

log = structlog.get_logger()

_quiet = logging.getLogger("parlour.websockets")
_quiet.disabled = True  # what the core has to log is for those who debug the core

PART_AT_ONCE = 200
PART_EVERY = 0.05
"""How many are told at a stop, and how many seconds before the next."""
_STATUS: dict[str, int] = {Code.NOT_FOUND: 404, Code.TOO_MANY: 429}
"""The status that fits a refused upgrade; 403 where nothing else does, as Phoenix has it."""
HOLD = 0.01
"""Seconds for which frames wait at most for others that are about to follow."""

CLOSE_PATIENCE = 5.0
"""Seconds that a client has to answer our goodbye."""

NO_UPGRADE = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
"""For a request that cannot become a WebSocket, for instance because it has a body."""


def may_use_cookie(origin: str | None, host: str | None, allowed: Sequence[str]) -> bool:
    """A cookie counts on our own pages and those of the listed sites; programs without an origin may, too.

    >>> may_use_cookie("http://localhost:8000", "localhost:8000", ())
    True
    >>> may_use_cookie("http://evil.example", "localhost:8000", ())
    False
    """
    return origin is None or origin in allowed or (bool(host) and origin.partition("://")[2] == host)


def cookie_token(header: str | None) -> str | None:
    """Our token in a Cookie header."""
    return cookie_parser(header or "").get(COOKIE)


def _whole(values: list[str]) -> str | None:
    """A header that may have come several times, or not at all; an empty one has come."""
    return ", ".join(values) if values else None


DOORS: tuple[type[Adapter], ...] = (WithOgetarts,)
"""Adapters with a door in them, in place of those without."""


class Sockets:
    """Makes a `Socket` for every upgrade, and sees to those that have fallen silent."""

    def __init__(self, host: Host, tokens: Tokens, limits: Limits, settings: Settings) -> None:
        self.host = host
        self.tokens = tokens
        self.limits = limits
        self.clock = host.clock
        self.settings = settings
        self.routes: dict[str, type[Adapter]] = {kind.path: kind for kind in (*PROTOCOLS.values(), *DOORS)}
        self.open: set[Socket] = set()
        self._corked: list[Socket] = []
        self._held: list[Socket] = []
        self._loop: asyncio.AbstractEventLoop
        self._sweep: Handle | None = None
        self._parting: list[Socket] = []

    def __call__(self, *, server_state: "ServerState", **_: Any) -> "Socket":
        """What uvicorn calls for its `ws=`."""
        if self._sweep is None:
            self._loop = asyncio.get_running_loop()
            self.sweep()
        return Socket(self, server_state)

    def cork(self, socket: "Socket") -> None:
        """Let this socket write at the end of this turn of the loop, with all others that have to."""
        if not self._corked:
            self._loop.call_soon(self._pop)
        self._corked.append(socket)

    def _pop(self) -> None:
        corked, self._corked = self._corked, []
        for socket in corked:
            socket.pop()

    def hold(self, socket: "Socket") -> None:
        """Let this socket write with its next frames, or in a moment if none come."""
        if not self._held:
            self._loop.call_later(HOLD, self._release)
        self._held.append(socket)

    def _release(self) -> None:
        held, self._held = self._held, []
        for socket in held:
            socket.pop()

    def sweep(self) -> None:
        """Ask the silent whether they live, and cut off the dead."""
        now = self.clock.now()
        for socket in tuple(self.open):
            socket.check(now, self.settings.ping_every)
        self.limits.sweep()
        self._sweep = self.clock.call_at(now + self.settings.ping_every / 4, self.sweep)

    def part(self, socket: "Socket") -> None:
        """The server goes down: say goodbye to a few at a time, so that not all come back at once."""
        self._parting.append(socket)
        if len(self._parting) == 1:
            asyncio.get_running_loop().call_soon(self._part_some)

    def _part_some(self) -> None:
        some, self._parting = self._parting[:PART_AT_ONCE], self._parting[PART_AT_ONCE:]
        for socket in some:
            socket.close(CloseCode.SERVICE_RESTART, "restarting")
        if self._parting:
            asyncio.get_running_loop().call_later(PART_EVERY, self._part_some)

    def identify(self, greeting: Greeting, upgrade: Upgrade) -> tuple[str, str | None]:
        """Who knocks: (player, a new token if they brought none). A foreign page's cookie is ignored."""
        if greeting.token is not None:
            return self.tokens.read(greeting.token), None
        headers = upgrade.headers
        token = cookie_token("; ".join(headers.get_all("Cookie")))
        origin, host = (_whole(headers.get_all(name)) for name in ("Origin", "Host"))
        if token is not None and may_use_cookie(origin, host, self.settings.origins):
            with suppress(Refused):  # an old cookie is no reason to keep a visitor out
                return self.tokens.read(token), None
        player = new_player_id()
        return player, self.tokens.issue(player)


class Socket(asyncio.Protocol):
    """One WebSocket: a protocol class that uvicorn hands its upgrades to, and the line of a client."""

    __slots__ = (
        "_address", "_bucket", "_cork", "_corked", "_goodbye", "_heard", "_parts", "_pinged", "_restarting",
        "_sockets", "_state", "_strikes", "_text", "_transport", "_ws", "client", "clogged",
    )  # fmt: skip

    def __init__(self, sockets: Sockets, state: "ServerState") -> None:
        self._sockets = sockets
        self._state = state
        self._ws = ServerProtocol(max_size=sockets.settings.max_frame, logger=_quiet)
        self._transport: asyncio.Transport
        self._cork: list[bytes] = []
        self._corked = False
        self._parts: list[bytes] = []
        self._text = True
        self._heard = sockets.clock.now()
        self._pinged = False
        self._restarting = False
        self._goodbye: Handle | None = None
        self._address: str | None = None
        self._bucket = sockets.limits.new_bucket()
        self._strikes = 0
        self.client: Client | None = None
        self.clogged = False

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=self._sockets.settings.max_outbox // 4)

    def data_received(self, data: bytes) -> None:
        self._heard = self._sockets.clock.now()
        self._pinged = False
        self._ws.receive_data(data)
        if isinstance(self._ws.handshake_exc, InvalidMessage) and self._goodbye is None:
            self._transport.write(NO_UPGRADE)  # the core would hang up without a word
        self._handle_events()

    def eof_received(self) -> None:
        self._ws.receive_eof()
        self._handle_events()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._state.connections.discard(cast("Any", self))
        self._sockets.open.discard(self)
        if self._goodbye is not None:
            self._goodbye.cancel()
        if self._address is not None:
            self._sockets.limits.release(self._address)
        if self.client is not None:
            metrics.connections.labels(self.client.adapter.name).dec()
            if not self._restarting:
                self._sockets.host.gone(self.client)

    def pause_writing(self) -> None:
        self.clogged = True

    def resume_writing(self) -> None:
        self.clogged = False
        if self.client is not None:
            self._sockets.host.catch_up(self.client)

    # What uvicorn calls.

    def shutdown(self) -> None:
        """The server goes down: clients come back to the next one. Nobody is disconnected by it."""
        self._restarting = True
        if self._ws.state is OPEN:
            self._sockets.part(self)
        else:
            self._transport.close()

    # What the host calls: this is a client's line.

    def write(self, frames: bytes, *, more: bool = False) -> None:
        """Put frames behind the cork, which pops once per turn of the loop, or later if there is *more*."""
        if not more and not self._corked:
            self._sockets.cork(self)
            self._corked = True
        elif not self._cork:
            self._sockets.hold(self)
        self._cork.append(frames)

    def close(self, code: int, reason: str) -> None:
        """Say goodbye; whoever does not answer is cut off."""
        if self._ws.state is not OPEN:
            return
        self.pop()
        self._ws.send_close(code, reason)
        self._send_out()
        self._cut_later()

    def check(self, now: float, patience: float) -> None:
        """Silent for a while: ping. Silent still: cut off."""
        silent = now - self._heard
        if silent >= 2 * patience or (silent >= patience and self._ws.state is not OPEN):
            self._transport.abort()
        elif silent >= patience and not self._pinged:
            self._pinged = True
            self.pop()
            self._ws.send_ping(b"")
            self._send_out()

    # Frames in.

    def _handle_events(self) -> None:
        for event in self._ws.events_received():
            if isinstance(event, Upgrade):
                self._open(event)
            elif isinstance(event, Frame):
                self._take(event)
        self._send_out()

    def _open(self, upgrade: Upgrade) -> None:
        response = self._ws.accept(upgrade)
        if response.status_code == 101:
            try:
                subprotocol = self._greet(upgrade)
            except Refused as why:
                response = self._turned_away(_STATUS.get(why.code, 403), why)
            else:
                if subprotocol is not None:
                    response.headers["Sec-WebSocket-Protocol"] = Subprotocol(subprotocol)
        # Only now: had anything failed before uvicorn hands over, nobody would tell us of the loss.
        self._state.connections.add(cast("Any", self))
        self._sockets.open.add(self)
        self._ws.send_response(response)

    def _greet(self, upgrade: Upgrade) -> str | None:
        """Let a client in; the subprotocol that was agreed on, if any."""
        path, _, query = upgrade.path.partition("?")
        kind = self._sockets.routes.get(path)
        if kind is None:
            raise Refused(Code.NOT_FOUND, "there is no socket at this address")
        offered = [
            name.strip()
            for header in upgrade.headers.get_all("Sec-WebSocket-Protocol")
            for name in header.split(",")
        ]
        greeting = kind.greet(dict(parse_qsl(query)), offered)
        player, token = self._sockets.identify(greeting, upgrade)
        self._admit(upgrade)
        self.client = Client(kind(), self, player, token=token)
        metrics.connections.labels(kind.name).inc()
        return greeting.subprotocol

    def _admit(self, upgrade: Upgrade) -> None:
        peer = self._transport.get_extra_info("peername")
        forwarded = ",".join(upgrade.headers.get_all("X-Forwarded-For")) or None
        address = address_of(peer[0] if peer else None, forwarded, self._sockets.settings.proxies)
        self._sockets.limits.admit(address)
        self._address = address

    def _turned_away(self, status: int, why: Refused) -> Response:
        response = self._ws.reject(status, msgspec.json.encode(why.told()).decode())
        del response.headers["Content-Type"]
        response.headers["Content-Type"] = "application/json"
        return response

    def _take(self, frame: Frame) -> None:
        """Put the fragments of a message together; the core has seen to their order and size."""
        if frame.opcode in (Opcode.TEXT, Opcode.BINARY):
            self._text = frame.opcode is Opcode.TEXT
        elif frame.opcode is not Opcode.CONT:
            return
        if frame.fin and not self._parts:
            self._receive(frame.data)
            return
        if frame.data:  # fragments without content could be sent for ever
            self._parts.append(bytes(frame.data))
        if frame.fin:
            message = b"".join(self._parts)
            self._parts = []
            self._receive(message)

    def _receive(self, message: Any) -> None:
        client = self.client
        if client is None or self._ws.state is not OPEN:
            return
        try:
            requests = client.adapter.receive(str(message, "utf-8") if self._text else bytes(message))
        except UnicodeDecodeError:
            self._fail(CloseCode.INVALID_DATA, "text must be UTF-8")
            return
        except Refused as why:
            self._fail(CloseCode.UNSUPPORTED_DATA, why.message)
            return
        client.flush()
        if not requests:
            self._may_ask(client, 0.5)  # heartbeats and noise count, too
        for request in requests:
            if self._may_ask(client, cost_of(request.wish)):
                self._sockets.host.receive(client, request)
            else:
                self._refuse(client.asking(request), request)

    def _refuse(self, client: Client, request: Request) -> None:
        """Say no to the hasty; a join that is refused has closed the channel of the one before."""
        client.refuse(request, too_fast())
        if isinstance(request.wish, Enter) and request.room in client.rooms:
            self._sockets.host.receive(client, Request(request.room, Exit()))

    def _may_ask(self, client: Client, cost: float) -> bool:
        """Whether there is enough left of everybody's allowance; who never waits is cut in the end."""
        if self._sockets.limits.may_ask(self._bucket, client.player, self._address or "", cost):
            self._strikes = max(0, self._strikes - 1)
            return True
        self._strikes += 1
        if self._strikes > STRIKES:
            self.close(CloseCode.POLICY_VIOLATION, "too fast")
        return False

    def _fail(self, code: int, reason: str) -> None:
        self.close(code, reason.encode()[:120].decode(errors="ignore"))

    # Bytes out.

    def pop(self) -> None:
        """Write what is behind the cork."""
        self._corked = False
        if not self._cork:
            return
        data = b"".join(self._cork)
        self._cork.clear()
        if self._ws.state is not OPEN or self._transport.is_closing():
            return
        self._transport.write(data)
        self._check_outbox()

    def _check_outbox(self) -> None:
        """Whoever does not read is cut; they resync when they come back."""
        if self.clogged and self._transport.get_write_buffer_size() > self._sockets.settings.max_outbox:
            log.warning("line_cut", player=self.client.player if self.client else None)
            self._transport.abort()

    def _send_out(self) -> None:
        """What the core itself has to say: the handshake, pongs, closes, and at last the end."""
        out = self._ws.data_to_send()
        if not out or self._transport.is_closing():
            return
        for data in out:
            if data:
                self._transport.write(data)
            else:
                self._hang_up()
        self._check_outbox()  # pongs count, too

    def _hang_up(self) -> None:
        """Say no more, but hear the other side out: bytes left unread would destroy our goodbye."""
        if not self._transport.can_write_eof():
            self._transport.close()
            return
        self._transport.write_eof()
        if self._goodbye is None:
            self._cut_later()

    def _cut_later(self) -> None:
        clock = self._sockets.clock
        self._goodbye = clock.call_at(clock.now() + CLOSE_PATIENCE, self._transport.abort)

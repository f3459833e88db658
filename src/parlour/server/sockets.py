"""WebSockets behind uvicorn: frames in by the sans-I/O core of `websockets`, shared frames out, corked."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

import msgspec
import structlog
from websockets.exceptions import InvalidMessage
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request as Upgrade
from websockets.http11 import Response
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from parlour.errors import Code, Refused
from parlour.server import metrics
from parlour.server.clients import Client
from parlour.server.clock import Clock, Handle
from parlour.server.config import Settings
from parlour.server.host import Host
from parlour.server.knocks import Knock, TurnedAway
from parlour.server.limits import STRIKES, Limits, address_of, cost_of, too_fast
from parlour.server.lines import Choir, Way
from parlour.wire import Enter, Exit, Request

try:
    from websockets.speedups import apply_mask
except ImportError:  # where nothing could be compiled
    from websockets.utils import apply_mask

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
LONGEST_HOLD = 0.1
"""Seconds for which frames wait at least, and at most, for others that are about to follow: twice as long as
writing took the last time, so that at most a third of the time is spent on telling crowds."""

CLOSE_PATIENCE = 5.0
"""Seconds that a client has to answer our goodbye."""

WHOLE = (0x81, 0x82)
"""How a text and a binary message begin that are one frame."""
MASKED = 0x80
"""What the length of a client's frame is raised by."""
SHORTEST = 6
"""Bytes of an empty masked frame."""

NO_UPGRADE = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
"""For a request that cannot become a WebSocket, for instance because it has a body."""


class Visit(Protocol):
    """Whoever came in through a door: what a socket hands its messages to."""

    @property
    def name(self) -> str:
        """What they speak, for the operator's counters."""
        ...

    @property
    def player(self) -> str:
        """Who they are, for the log."""
        ...

    def begin(self) -> None:
        """The socket is open."""
        ...

    def receive(self, message: Any, *, text: bool) -> None:
        """A whole message has come, as bytes of some kind."""
        ...

    def catch_up(self) -> None:
        """The other side reads again, after it had been too slow."""
        ...

    def part(self) -> None:
        """The server goes down: the last moment to say something."""
        ...

    def end(self) -> None:
        """The connection is lost."""
        ...


class Door(Protocol):
    """What lies behind a path."""

    def enter(self, socket: "Socket", knock: Knock) -> tuple[Visit, Mapping[str, str]]:
        """Let somebody in, with headers for the answer; `Refused` or `TurnedAway` keeps them out."""
        ...


def _wire_size(frame: Frame) -> int:
    """How many bytes a client's frame came in."""
    size = len(frame.data)
    return SHORTEST + size + (0 if size < 126 else 2 if size < 65536 else 8)


class Sockets:
    """Makes a `Socket` for every upgrade, and sees to those that have fallen silent."""

    def __init__(self, doors: Mapping[str, Door], clock: Clock, limits: Limits, settings: Settings) -> None:
        self.limits = limits
        self.clock = clock
        self.settings = settings
        self._doors = doors
        self.open: set[Socket] = set()
        self._corked: list[Socket] = []
        self._held: list[Callable[[], None]] = []
        self._hold = HOLD
        self._loop: asyncio.AbstractEventLoop
        self._sweep: Handle | None = None
        self._parting: list[Socket] = []

    def __call__(self, *, server_state: "ServerState", **_: Any) -> "Socket":
        """What uvicorn calls for its `ws=`."""
        if self._sweep is None:
            self._loop = asyncio.get_running_loop()
            self.sweep()
        return Socket(self, server_state)

    def corked(self) -> "list[Socket]":
        """The sockets that write at the end of this turn of the loop, all at once."""
        if not self._corked:
            self._loop.call_soon(self._pop)
        return self._corked

    def _pop(self) -> None:
        corked, self._corked = self._corked, []
        for socket in corked:
            socket.pop()

    def hold(self, due: Callable[[], None]) -> None:
        """Do this in a moment, with everything else that waits for it."""
        if not self._held:
            self._loop.call_later(self._hold, self._release)
        self._held.append(due)

    def _release(self) -> None:
        held, self._held = self._held, []
        began = self.clock.now()
        for due in held:
            due()
        self._hold = min(max(HOLD, 2 * (self.clock.now() - began)), LONGEST_HOLD)

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
            socket.part()
        if self._parting:
            asyncio.get_running_loop().call_later(PART_EVERY, self._part_some)

    def door(self, path: str) -> Door:
        """What lies behind this path: a door of just that path, or one that takes whatever begins like it."""
        door = self._doors.get(path) or self._doors.get(path[: path.find("/", 1) + 1])
        if door is None:
            raise Refused(Code.NOT_FOUND, "there is no socket at this address")
        return door


class Socket(asyncio.Protocol):
    """One WebSocket: a protocol class that uvicorn hands its upgrades to, and the line of a client."""

    __slots__ = (
        "_address", "_ahead", "_behind", "_bucket", "_goodbye", "_heard", "_is_open", "_parts", "_pinged",
        "_restarting", "_state", "_strikes", "_text", "_transport", "_visit", "_ws", "choirs", "clogged",
        "corked", "owner", "waiting",
    )  # fmt: skip

    def __init__(self, sockets: Sockets, state: "ServerState") -> None:
        self.owner = sockets
        self._state = state
        self._ws = ServerProtocol(max_size=sockets.settings.max_frame, logger=_quiet)
        self._transport: asyncio.Transport
        self._is_open = False
        """Messages may be sent: what the core says of it, noted here because it is asked so often."""
        self.waiting: list[bytes] = []
        """Frames behind the cork."""
        self.corked = False
        self._ahead = 0
        """Bytes that the core was given and has not made frames of yet."""
        self._parts: list[bytes] = []
        self._text = True
        self._heard = sockets.clock.now()
        self._pinged = False
        self._restarting = False
        self._goodbye: Handle | None = None
        self._address: str | None = None
        self._bucket = sockets.limits.new_bucket()
        self._strikes = 0
        self._visit: Visit | None = None
        self._behind = False
        """The other side has yet to take what was written."""
        self.clogged = False
        self.choirs: tuple[Choir, ...] = ()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=0)  # so that what is written is sent at once

    def data_received(self, data: bytes) -> None:
        self._heard = self.owner.clock.now()
        self._pinged = False
        if self._ahead == 0 and self._ws.current_size is None and self._visit is not None:
            data = self._take_whole(data)
            if not data:
                return
        self._ahead += len(data)
        self._ws.receive_data(data)
        if isinstance(self._ws.handshake_exc, InvalidMessage) and self._goodbye is None:
            self._transport.write(NO_UPGRADE)  # the core would hang up without a word
        self._handle_events()

    def eof_received(self) -> None:
        self._ws.receive_eof()
        self._handle_events()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._shut()
        self._state.connections.discard(cast("Any", self))
        self.owner.open.discard(self)
        if self._goodbye is not None:
            self._goodbye.cancel()
        if self._address is not None:
            self.owner.limits.release(self._address)
        if self._visit is not None:
            metrics.connections.labels(self._visit.name).dec()
            if not self._restarting:
                self._visit.end()

    def pause_writing(self) -> None:
        self._behind = True
        self._warn_choirs()

    def resume_writing(self) -> None:
        self._behind = False
        if self.clogged:
            self.clogged = False
            if self._visit is not None:
                self._visit.catch_up()

    # What uvicorn calls.

    def shutdown(self) -> None:
        """The server goes down: clients come back to the next one. Nobody is disconnected by it."""
        self._restarting = True
        if self._ws.state is OPEN:
            self.owner.part(self)
        else:
            self._transport.close()

    # What a visit calls: this is its line.

    def write(self, frames: bytes, *, more: bool = False) -> None:
        """Put frames behind the cork, which pops once per turn of the loop, or later if there is *more*."""
        for choir in self.choirs:
            choir.pop()
            choir.take_care()
        if not self.corked:
            if not more:
                self.corked = True
                self.owner.corked().append(self)
            elif not self.waiting:
                self.owner.hold(self.pop)
        self.waiting.append(frames)

    def write_now(self, frames: bytes) -> None:
        """Write frames, after whatever is behind the cork."""
        if self.waiting:
            self.waiting.append(frames)
            self.pop()
        elif self._is_open:
            self._transport.write(frames)
            if self._behind:
                self._check_outbox()

    @property
    def way(self) -> Way | None:
        """The transport's own, as long as frames may go there without a look."""
        return self._transport.write if self._is_open and not self.waiting and not self._behind else None

    @property
    def peer(self) -> str | None:
        """The address at the other end of the line, which may be a proxy's."""
        peer = self._transport.get_extra_info("peername")
        return peer[0] if peer else None

    def hold(self, due: Callable[[], None]) -> None:
        """Have something done in a moment."""
        self.owner.hold(due)

    def close(self, code: int, reason: str) -> None:
        """Say goodbye; whoever does not answer is cut off."""
        if self._ws.state is not OPEN:
            return
        for choir in self.choirs:
            choir.disband()
        self.pop()
        self._ws.send_close(code, reason.encode()[:120].decode(errors="ignore"))
        self._send_out()
        self._cut_later()

    def part(self) -> None:
        """The server goes down."""
        if self._visit is not None:
            self._visit.part()
        self.close(CloseCode.SERVICE_RESTART, "restarting")

    def cut(self) -> None:
        """Hang up without a word."""
        self._shut()
        self._transport.abort()

    def check(self, now: float, patience: float) -> None:
        """Silent for a while: ping. Silent still: cut off."""
        silent = now - self._heard
        if silent >= 2 * patience or (silent >= patience and not self._is_open):
            self.cut()
        elif silent >= patience and not self._pinged:
            self.ping()

    def ping(self) -> None:
        """Ask for a sign of life."""
        if self._ws.state is OPEN:
            self._pinged = True
            self.pop()
            self._ws.send_ping(b"")
            self._send_out()

    @property
    def lives(self) -> bool:
        """It has not been pinged in vain, at least not yet."""
        return self._is_open and not self._pinged

    # Frames in.

    def _take_whole(self, data: bytes) -> bytes:
        """Take the messages that came whole in one frame; what is left is for the core to make sense of.

        Nearly every message is one, and to the core it costs several times as much.
        """
        at, end, most = 0, len(data), self.owner.settings.max_frame
        while end - at >= SHORTEST and (kind := data[at]) in WHOLE and self._is_open:
            size, body = data[at + 1] - MASKED, at + 6
            if size == 126:
                size, body = int.from_bytes(data[at + 2 : at + 4], "big"), at + 8
            if not 0 <= size <= most or size == 127 or body + size > end:
                break
            at = body + size
            self._text = kind == WHOLE[0]
            self._receive(apply_mask(data[body:at], data[body - 4 : body]))
        return data[at:] if at else data

    def _handle_events(self) -> None:
        for event in self._ws.events_received():
            if isinstance(event, Upgrade):
                self._ahead = 0
                self._open(event)
            elif isinstance(event, Frame):
                self._ahead -= _wire_size(event)
                self._take(event)
        self._send_out()

    def _open(self, upgrade: Upgrade) -> None:
        response = self._ws.accept(upgrade)
        if response.status_code == 101:
            try:
                headers = self._enter(Knock.of(upgrade))
            except Refused as why:
                response = self._turn_away(_STATUS.get(why.code, 403), why)
            except TurnedAway as why:
                response = self._ws.reject(why.status, why.text)
                response.headers.update(why.headers)
            else:
                response.headers.update(headers)
        # Only now: had anything failed before uvicorn hands over, nobody would tell us of the loss.
        self._state.connections.add(cast("Any", self))
        self.owner.open.add(self)
        self._ws.send_response(response)
        self._is_open = self._ws.state is OPEN
        if self._visit is not None:
            self._visit.begin()

    def _enter(self, knock: Knock) -> Mapping[str, str]:
        """Let somebody in; the headers of the answer."""
        visit, headers = self.owner.door(knock.path).enter(self, knock)
        self._admit(knock.upgrade)
        self._visit = visit
        metrics.connections.labels(visit.name).inc()
        return headers

    def _admit(self, upgrade: Upgrade) -> None:
        forwarded = ",".join(upgrade.headers.get_all("X-Forwarded-For")) or None
        address = address_of(self.peer, forwarded, self.owner.settings.proxies)
        self.owner.limits.admit(address)
        self._address = address

    def _turn_away(self, status: int, why: Refused) -> Response:
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
        if self._visit is not None and self._is_open:
            self._visit.receive(message, text=self._text)

    def may_ask(self, player: str | None, cost: float) -> bool:
        """Whether there is enough left of everybody's allowance; who never waits is cut in the end."""
        if self.owner.limits.may_ask(self._bucket, player, self._address or "", cost):
            if self._strikes:
                self._strikes -= 1
            return True
        self._strikes += 1
        if self._strikes > STRIKES:
            self.close(CloseCode.POLICY_VIOLATION, "too fast")
        return False

    # Bytes out.

    def pop(self) -> None:
        """Write what is behind the cork."""
        self.corked = False
        waiting = self.waiting
        if not waiting:
            return
        frames = waiting[0] if len(waiting) == 1 else b"".join(waiting)
        waiting.clear()
        if self._is_open:
            self._transport.write(frames)
            if self._behind:
                self._check_outbox()

    def _check_outbox(self) -> None:
        """Whoever hardly reads is clogged, and who does not read is cut; they resync when they come back."""
        unsent, most = self._transport.get_write_buffer_size(), self.owner.settings.max_outbox
        if unsent > most:
            log.warning("line_cut", player=self._visit.player if self._visit else None)
            self.cut()
        elif unsent > most // 4 and not self.clogged:
            self.clogged = True
            for choir in self.choirs:
                choir.disband()

    def _send_out(self) -> None:
        """What the core itself has to say: the handshake, pongs, closes, and at last the end."""
        if self._is_open and (self._ws.state is not OPEN or self._transport.is_closing()):
            self._shut()
        out = self._ws.data_to_send()
        if not out or self._transport.is_closing():
            return
        for data in out:
            if data:
                self._transport.write(data)
            else:
                self._hang_up()
        if self._behind:
            self._check_outbox()  # pongs count, too

    def _shut(self) -> None:
        """No more messages."""
        self._is_open = False
        self._warn_choirs()

    def _warn_choirs(self) -> None:
        for choir in self.choirs:
            choir.take_care()

    def _hang_up(self) -> None:
        """Say no more, but hear the other side out: bytes left unread would destroy our goodbye."""
        if not self._transport.can_write_eof():
            self._transport.close()
            return
        self._transport.write_eof()
        if self._goodbye is None:
            self._cut_later()

    def _cut_later(self) -> None:
        clock = self.owner.clock
        self._goodbye = clock.call_at(clock.now() + CLOSE_PATIENCE, self._transport.abort)


def write_all(sockets: Sequence[Socket], frames: bytes) -> None:
    """Put the same frames behind the corks of many sockets."""
    corked = sockets[0].owner.corked()
    for socket in sockets:
        if not socket.corked:
            socket.corked = True
            corked.append(socket)
        socket.waiting.append(frames)


class Caller:
    """A visit to the host: what a client of a protocol says becomes requests."""

    __slots__ = ("_client", "_host", "_socket")

    def __init__(self, host: Host, socket: Socket, client: Client) -> None:
        self._host = host
        self._socket = socket
        self._client = client

    @property
    def name(self) -> str:
        return self._client.adapter.name

    @property
    def player(self) -> str:
        return self._client.player

    def begin(self) -> None:
        """Clients of the host speak first."""

    def receive(self, message: Any, *, text: bool) -> None:
        client = self._client
        try:
            requests = client.adapter.receive(str(message, "utf-8") if text else bytes(message))
        except UnicodeDecodeError:
            self._socket.close(CloseCode.INVALID_DATA, "text must be UTF-8")
            return
        except Refused as why:
            self._socket.close(CloseCode.UNSUPPORTED_DATA, why.message)
            return
        client.flush()
        if not requests:
            self._socket.may_ask(client.player, 0.5)  # heartbeats and noise count, too
        for request in requests:
            if self._socket.may_ask(client.player, cost_of(request.wish)):
                self._host.receive(client, request)
            else:
                self._refuse(client.asking(request), request)

    def _refuse(self, client: Client, request: Request) -> None:
        """Say no to the hasty; a join that is refused has closed the channel of the one before."""
        client.refuse(request, too_fast())
        if isinstance(request.wish, Enter) and request.room in client.rooms:
            self._host.receive(client, Request(request.room, Exit()))

    def catch_up(self) -> None:
        self._host.catch_up(self._client)

    def part(self) -> None:
        """The close code says it all."""

    def end(self) -> None:
        self._host.gone(self._client)

"""WebSockets behind uvicorn: frames in by the sans-I/O core of `websockets`, shared frames out, corked."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from secrets import token_bytes
from typing import TYPE_CHECKING, Any, cast

import msgspec
import structlog
from websockets.exceptions import InvalidMessage
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request as UpgradeRequest
from websockets.http11 import Response
from websockets.protocol import OPEN, Protocol
from websockets.server import ServerProtocol

from parlour.errors import Code, Refused
from parlour.journal.base import Trouble
from parlour.server import metrics
from parlour.server.clock import Handle
from parlour.server.gateway.frame_boundaries import FrameEnds
from parlour.server.gateway.outboxes import Peer, Write, WriteGroup
from parlour.server.gateway.pipes import ClientEnd
from parlour.server.gateway.upgrade import Upgrade, UpgradeRefused
from parlour.server.limits import FRAME_COST, STRIKES, address_of
from parlour.server.refusals import excuse
from parlour.server.sessions import LookUpFirst
from parlour.server.tokens import Bearer

try:
    from websockets.speedups import apply_mask
except ImportError:  # where nothing could be compiled
    from websockets.utils import apply_mask

if TYPE_CHECKING:
    from uvicorn.server import ServerState

    from parlour.server.gateway.sockets import Sockets

log = structlog.get_logger()

_quiet = logging.getLogger("parlour.websockets")
_quiet.disabled = True  # what the core has to log is for those who debug the core

_STATUS: dict[str, int] = {Code.NOT_FOUND: 404, Code.TOO_FAST: 429, Code.TOO_MANY: 429, Code.NOT_SAVED: 503}
"""The status that fits a refused upgrade; 403 where nothing else does, as Phoenix has it."""
FRAMES_A_TURN = 32
"""So many frames of one line are taken in a turn of the loop; others that have come wait for a later one."""

CLOSE_TIMEOUT = 5.0
"""Seconds that a client has to hang up after our goodbye."""
MAX_UNHEARD = 256 * 1024
"""Bytes that may still come in after it."""

PROBE_BYTES = 8
"""Of a ping that measures how long its answer takes: drawn anew, so that nobody answers before it comes."""
WHOLE = (0x81, 0x82)
"""How a text and a binary message begin that are one frame."""
MASKED = 0x80
"""What the length of a client's frame is raised by."""
SHORTEST = 6
"""Bytes of an empty masked frame."""

NO_UPGRADE = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
"""For a request that cannot become a WebSocket, for instance because it has a body."""


class Forwarded(Exception):
    """Another worker serves the connection from now on."""


class Socket(asyncio.Protocol):
    """One WebSocket: a protocol class that uvicorn hands its upgrades to, and the line of a client."""

    __slots__ = (
        "_alone", "_behind", "_bucket", "_ends", "_goodbye", "_heard", "_looking_up", "_parts", "_pinged",
        "_place", "_probe", "_rest", "_restarting", "_state", "_strikes", "_taking", "_text", "_transport",
        "_unheard", "_visit", "_ws", "address", "bearer", "clogged", "corked", "ending", "is_open", "key",
        "lag", "measures", "owner", "piped", "waiting", "write_groups",
    )  # fmt: skip

    _transport: asyncio.Transport
    _place: str | None
    address: str | None

    piped: ClientEnd | None
    """The pipe that has the connection, if another worker serves it."""
    key: str | None
    """The key of what it is connected to, if that has one owner among all workers."""
    bearer: Bearer | None
    """The content of the token by which somebody is in, if they have one."""

    def __init__(self, sockets: "Sockets", state: "ServerState") -> None:  # noqa: PLR0915 - all it knows
        self.owner = sockets
        self._state = state
        self._ws = ServerProtocol(max_size=sockets.settings.max_frame, logger=_quiet)
        self.is_open = self._taking = False
        """Messages come and go: what the core says of it, noted here because it is asked so often.
        And they are taken now: nobody holds them back."""
        self.ending: Callable[[], object] | None = None
        """Called when the end comes, while the line is still there."""
        self.waiting: list[bytes] = []
        """Frames behind the cork."""
        self.corked = self.clogged = self._behind = False
        """They go out at the end of this turn. The other side reads too slowly; has not taken all yet."""
        self._ends = FrameEnds()
        """Of the frames that the core was given."""
        self._rest = b""
        """What came in and waits for a later turn; meanwhile nothing more is read."""
        self._unheard = self._strikes = 0
        """Bytes that came after the end; and how often in a row too much was asked."""
        self._parts: list[bytes] = []
        self._text = True
        self._heard = sockets.clock.now()
        self._pinged: float | None = None
        """When it was asked for a sign of life that has not come yet."""
        self._restarting = self._looking_up = self._alone = False
        """The server goes down; it is not known yet who this is; no frame came together with its request."""
        self._goodbye: Handle | None = None
        self.address = self._place = None
        """Where it comes from, once it is counted; and who is counted for it if it was turned away."""
        self._bucket = sockets.limits.new_bucket()
        self._visit: Peer | None = None
        self.measures, self.lag = False, 0.0  # lag: seconds to the client and back
        self._probe: tuple[bytes, float] | None = None  # said by a ping that measures it, and when
        self.key = self.piped = self.bearer = None
        self.write_groups: tuple[WriteGroup, ...] = ()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=0)  # so that what is written is sent at once

    def data_received(self, data: bytes) -> None:
        self._heard = self.owner.clock.now()
        self._pinged = None
        if self._rest or self._looking_up:
            self._rest += data
        elif self._read(data) and not self._transport.is_closing():
            self._transport.pause_reading()

    def eof_received(self) -> None:
        self._ws.receive_eof()
        self._handle_events()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._looking_up = False
        self._shut()
        self._state.connections.discard(cast("Any", self))
        self.owner.open.pop(self, None)
        if self._goodbye is not None:
            self._goodbye.cancel()
        if self.address is not None:
            self.owner.limits.release(self.address)
        if self._place is not None:
            self.owner.limits.release_call(self._place)
        if self._visit is not None:
            metrics.connections.labels(self._visit.name).dec()
            if not self._restarting:
                self._visit.end()
        self._visit = None  # these two refer to each other, as the core and its parser do
        self._ws.parser.close()

    def pause_writing(self) -> None:
        self._behind = True
        self._warn_groups()

    def resume_writing(self) -> None:
        self._behind = False
        if self.clogged:
            self.clogged = False
            if self._visit is not None:
                self._visit.catch_up()

    def pass_on(self, end: ClientEnd) -> None:
        """Leave the connection to a pipe; it still counts for its address until it is closed."""
        state, limits, address = self._state, self.owner.limits, self.address
        state.connections.add(cast("Any", end))

        def done() -> None:
            state.connections.discard(cast("Any", end))
            if address is not None:
                limits.release(address)

        self.piped, end.done = end, done
        if self._rest:
            end.data_received(self._rest)
        self._transport.resume_reading()  # nobody read while the owner was looked up

    # What uvicorn calls.

    def take_over(self, place: str | None) -> None:
        """This line was counted as a call; a socket is counted as such, unless it is turned away."""
        if self.piped is not None:  # uvicorn has just put us in its place
            self._transport.set_protocol(self.piped)
        if self.address is None:
            self._place = place
        elif place is not None:
            self.owner.limits.release_call(place)

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
        for group in self.write_groups:
            group.pop()
            group.take_care()
        if not self.corked:
            if not more:
                self.corked = True
                owner = self.owner
                if not owner.corked:
                    owner.pop_soon()
                owner.corked.append(self)
            elif not self.waiting:
                self.owner.hold(self.pop)
        self.waiting.append(frames)

    def write_now(self, frames: bytes) -> None:
        """Write frames, after whatever is behind the cork."""
        if self.waiting:
            self.waiting.append(frames)
            self.pop()
        elif self.is_open:
            self._transport.write(frames)
            if self._behind:
                self._check_outbox()

    @property
    def direct(self) -> Write | None:
        """The transport's own, as long as frames may go there without a look."""
        return self._transport.write if self.is_open and not self.waiting and not self._behind else None

    @property
    def behind(self) -> bool:
        """The other side has yet to take what was written."""
        return self._behind

    @property
    def transport(self) -> asyncio.Transport:
        """The asyncio transport, for a door that measures how many bytes the client has acknowledged."""
        return self._transport

    @property
    def peer(self) -> str | None:
        """The address at the other end of the line, which may be a proxy's."""
        peer = self._transport.get_extra_info("peername")
        return peer[0] if peer else None

    def hold(self, due: Callable[[], None]) -> None:
        """Have something done in a moment."""
        self.owner.hold(due)

    def hold_back(self) -> None:
        """Take no more messages for now: whoever takes them is busy."""
        self._taking = False
        self._transport.pause_reading()

    def go_on(self) -> None:
        """Take messages again."""
        if self.is_open and not self._taking:
            self._taking = True
            self._read_rest()

    def close(self, code: int, reason: str) -> None:
        """Say goodbye, and read nothing more; whoever does not hang up is cut off."""
        if self._ws.state is not OPEN:
            return
        for group in self.write_groups:
            group.disband()
        self.pop()
        self._ws.fail(code, reason.encode()[:120].decode(errors="ignore"))
        self._send_out()

    def send_away(self) -> None:
        """Close, because too much is asked."""
        if self.is_open:
            metrics.lines_cut.labels("too_fast").inc()
            self.close(CloseCode.POLICY_VIOLATION, "too fast")

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
        """Silent for a while: ping. Silent for as long again: cut off."""
        silent_since = self._heard if self._pinged is None else self._pinged
        if now - silent_since < patience:
            return
        if self._pinged is None and self.is_open:
            self.ping()
        else:
            metrics.lines_cut.labels("silent").inc()
            self.cut()

    def ping(self) -> None:
        """Ask for a sign of life."""
        if self._ws.state is OPEN:
            self._pinged = self.owner.clock.now()
            self.pop()
            self._ws.send_ping(b"")
            self._send_out()

    def measure_lag(self) -> None:
        """Measure now and again how long the way to the client and back takes."""
        self.measures = True
        if self._ws.state is OPEN:
            self._probe = (token_bytes(PROBE_BYTES), self.owner.clock.now())
            self.pop()
            self._ws.send_ping(self._probe[0])
            self._send_out()

    @property
    def lives(self) -> bool:
        """It has not been pinged in vain, at least not yet."""
        return self.is_open and self._pinged is None

    # Frames in.

    def _read(self, data: bytes) -> bool:
        """Take a few frames; True if more wait for a later turn of the loop, so that others have theirs."""
        if not self.is_open:
            self._read_unopened(data)
            return False
        left = FRAMES_A_TURN
        if self._ends.between and self._ws.current_size is None:
            data, left = self._take_whole(data, left)
        if data and left and self._taking:
            end, ended = self._ends.walk(data, left)
            left -= ended
            self._ws.receive_data(data[:end])
            data = data[end:]
            self._handle_events()
        metrics.frames.taken += FRAMES_A_TURN - left
        if not data or not self.is_open:
            return False
        self._rest = data
        if self._taking:
            asyncio.get_running_loop().call_soon(self._read_rest)
        return True

    def _read_rest(self) -> None:
        """Read what waited for a later turn, then from the network again; nothing if the line is gone."""
        if self not in self.owner.open:
            return
        rest, self._rest = self._rest, b""
        waits = self._read(rest) or (self.is_open and not self._taking)
        if not waits and not self._transport.is_closing():
            self._transport.resume_reading()

    def _read_unopened(self, data: bytes) -> None:
        """The request; or what comes after the end, which nobody reads: whoever sends on is cut."""
        if self._goodbye is None and self._visit is None:
            self._alone = data.endswith(b"\r\n\r\n")
            self._ws.receive_data(data)
            if isinstance(self._ws.handshake_exc, InvalidMessage):
                self._transport.write(NO_UPGRADE)  # the core would hang up without a word
            self._handle_events()
            return
        self._unheard += len(data)
        if self._unheard > MAX_UNHEARD:
            self.cut()

    def _take_whole(self, data: bytes, left: int) -> tuple[bytes, int]:
        """Take the messages that came whole in one frame; what is left is for the core to make sense of.

        Nearly every message is one, and to the core it costs several times as much.
        """
        at, end, most = 0, len(data), self.owner.settings.max_frame
        while left and end - at >= SHORTEST and (kind := data[at]) in WHOLE and self._taking:
            size, body = data[at + 1] - MASKED, at + 6
            if size == 126:
                size, body = int.from_bytes(data[at + 2 : at + 4], "big"), at + 8
            if not 0 <= size <= most or size == 127 or body + size > end:
                break
            at = body + size
            left -= 1
            self._text = kind == WHOLE[0]
            self._receive(apply_mask(data[body:at], data[body - 4 : body]))
        return (data[at:] if at else data), left

    def _handle_events(self) -> None:
        for event in self._ws.events_received():
            if isinstance(event, UpgradeRequest):
                self._open(event)
            elif isinstance(event, Frame) and self.is_open:
                self._take(event)
        self._send_out()

    def _open(self, request: UpgradeRequest) -> None:
        response = self._ws.accept(request)
        if response.status_code == 101:
            try:
                headers = self._enter(Upgrade.of(request))
            except LookUpFirst as first:
                self._look_up(request, first)
                return
            except Forwarded:
                return
            except Refused as why:
                response = self._turn_away(_STATUS.get(why.code, 403), why)
            except UpgradeRefused as why:
                response = self._ws.reject(why.status, why.text)
                response.headers.update(why.headers)
            else:
                response.headers.update(headers)
        self._answer(response)

    def _answer(self, response: Response) -> None:
        # Only now: had anything failed before uvicorn hands over, nobody would tell us of the loss.
        self._state.connections.add(cast("Any", self))
        self.owner.open[self] = None
        self._ws.send_response(response)
        self.is_open = self._taking = self._ws.state is OPEN
        if self.is_open and self._alone:
            self._forget_request()
        if self._visit is not None:
            self._visit.begin()

    def _forget_request(self) -> None:
        """Give the core a fresh parser: its first one would hold on to the request as long as it lives."""
        self._ws.parser.close()
        self._ws.parser = Protocol.parse(self._ws)
        next(self._ws.parser)

    def _look_up(self, request: UpgradeRequest, first: LookUpFirst) -> None:
        """Answer when the door can say yes or no; until then nobody may speak."""

        async def open_later() -> None:
            try:
                await first.look_up()
            except Trouble as error:
                unknown: Trouble | None = error
            else:
                unknown = None
            if not self._looking_up or self._transport.is_closing():
                return
            self._looking_up = False
            if unknown is None:
                self._open(request)
            else:
                self._answer(self._turn_away(503, excuse(unknown)))
            self._send_out()
            self._read_rest()  # with what came before the answer, from those who did not wait for it

        self._state.connections.add(cast("Any", self))
        self._transport.pause_reading()
        self._looking_up = True
        self.owner.begin(open_later())

    def _enter(self, upgrade: Upgrade) -> Mapping[str, str]:
        """Let somebody in; the headers of the answer."""
        if self.address is None:
            self._admit(upgrade.request)
        door = self.owner.door(upgrade.path)
        self.key = door.key_of(upgrade.path)
        if self.key is not None and self.owner.forward(self, self.key, upgrade.request):
            raise Forwarded
        visit, headers = door.enter(self, upgrade)
        self._visit = visit
        metrics.connections.labels(visit.name).inc()
        return headers

    def _admit(self, request: UpgradeRequest) -> None:
        forwarded = request.headers.get_all("X-Forwarded-For")
        address = address_of(self.peer, forwarded, self.owner.settings.proxies)
        self.owner.limits.check_call(address, 1.0)  # a handshake is a call like any other
        self.owner.limits.admit(address)
        self.address = address

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
            if frame.opcode is Opcode.PONG and self._probe is not None and frame.data == self._probe[0]:
                self.lag, self._probe = self.owner.clock.now() - self._probe[1], None
            self.may_ask(None, FRAME_COST)
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
        else:
            self.may_ask(None, FRAME_COST)

    def _receive(self, message: Any) -> None:
        if self._visit is not None and self.is_open:
            self._visit.receive(message, text=self._text)

    def may_ask(self, player: str | None, cost: float) -> bool:
        """Whether there is enough left of everybody's allowance; who never waits is cut in the end.

        Whole messages are charged by who takes them, and every other frame as it comes.
        """
        if self.owner.limits.may_ask(self._bucket, player, self.address or "", cost):
            if self._strikes:
                self._strikes -= 1
            return True
        self._strikes += 1
        if self._strikes > STRIKES:
            self.send_away()
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
        if self.is_open:
            self._transport.write(frames)
            if self._behind:
                self._check_outbox()

    def _check_outbox(self) -> None:
        """Whoever hardly reads is clogged, and who does not read is cut; they resync when they come back."""
        unsent, most = self._transport.get_write_buffer_size(), self.owner.settings.max_outbox
        if unsent > most:
            log.warning("line_cut", player=self._visit and self._visit.player)
            metrics.lines_cut.labels("unread").inc()
            self.cut()
        elif unsent > most // 4 and not self.clogged:
            self.clogged = True
            for group in self.write_groups:
                group.disband()

    def _send_out(self) -> None:
        """What the core itself has to say: the handshake, pongs, closes, and at last the end."""
        if self.is_open and (self._ws.state is not OPEN or self._transport.is_closing()):
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
        if self.is_open and self.ending is not None:
            self.ending()
        self.is_open = self._taking = False
        self._rest = b""
        self._warn_groups()

    def _warn_groups(self) -> None:
        for group in self.write_groups:
            group.take_care()

    def _hang_up(self) -> None:
        """Say no more, but hear the other side out: bytes left unread would destroy our goodbye."""
        if not self._transport.can_write_eof():
            self._transport.close()
            return
        self._transport.write_eof()
        self._transport.resume_reading()
        if self._goodbye is None:
            self._cut_later()

    def _cut_later(self) -> None:
        clock = self.owner.clock
        self._goodbye = clock.call_at(clock.now() + CLOSE_TIMEOUT, self._transport.abort)

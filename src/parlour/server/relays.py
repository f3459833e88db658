"""Relay rooms behind their door: lines come in, envelopes go out, each made once for all who read alike."""

import secrets
from collections.abc import Callable, Mapping
from typing import Any

from websockets.frames import CloseCode

from parlour.doors.relay import (
    BAD_LASTNUM,
    COOKIE,
    FULL,
    MAX_MESSAGE,
    Copies,
    Wanted,
    cookie_id,
    made_id,
    numbered,
    plain,
    read_knock,
    tidied,
)
from parlour.errors import Code, Refused
from parlour.relay import Cut, Effects, Instant, Missed, Relay, Tell
from parlour.server import metrics
from parlour.server.clock import Clock, Handle
from parlour.server.config import Settings
from parlour.server.knocks import Knock, TurnedAway
from parlour.server.limits import is_encrypted
from parlour.server.lines import framed
from parlour.server.players import TOKEN_DAYS, Tokens
from parlour.server.sockets import Socket, Visit, write_all

JOIN_COST = 2.0
MESSAGE_COST = 0.25
BYTES_FOR_ONE = 32 * 1024
"""What a coming and a message cost of an allowance, in moves; and how many bytes cost as much as a move."""

LASTING = f"Max-Age={TOKEN_DAYS * 86400}; Path=/; HttpOnly; SameSite=Lax"


class Visitor:
    """Somebody at the door; once inside, their socket is a line of a relay."""

    __slots__ = ("_relays", "id", "last", "numbered", "room", "socket")

    name = "relay"

    def __init__(self, relays: "Relays", socket: Socket, id: str, wanted: Wanted) -> None:
        self._relays = relays
        self.socket = socket
        self.id = id
        self.room = wanted.room
        self.last = wanted.last
        self.numbered = wanted.numbered

    @property
    def player(self) -> str:
        """Ids of relays are not players; in the log they are told apart."""
        return f"relay:{self.id}"

    def begin(self) -> None:
        if self.socket.may_ask(None, JOIN_COST):
            self._relays.join(self)
        else:
            self._send_away(Code.TOO_FAST, CloseCode.POLICY_VIOLATION, "too fast")

    def receive(self, message: Any, *, text: bool) -> None:
        body = bytes(message)
        if len(body) > MAX_MESSAGE:
            self._send_away(Code.TOO_LARGE, CloseCode.MESSAGE_TOO_BIG, "")
        elif not self.socket.may_ask(None, MESSAGE_COST + len(body) / BYTES_FOR_ONE):
            # To drop a message in silence would be worse: this way they know, and can return.
            self._send_away(Code.TOO_FAST, CloseCode.POLICY_VIOLATION, "too fast")
        elif text and not self.numbered and not _is_utf8(body):
            self._send_away(Code.MALFORMED, CloseCode.INVALID_DATA, "text must be UTF-8")
        else:
            self._relays.say(self, body)

    def catch_up(self) -> None:
        """Whoever reads too slowly for too long is cut, and skips nothing before."""

    def part(self) -> None:
        """The close code says it all."""

    def end(self) -> None:
        self._relays.lose(self)

    def _send_away(self, code: Code, close: int, reason: str) -> None:
        metrics.relay_refusals.labels(code).inc()
        self.socket.close(close, reason)


class Live:
    """A relay in memory, and when it is woken."""

    __slots__ = ("alarm", "relay", "room")

    def __init__(self, room: str, relay: Relay[Socket]) -> None:
        self.room = room
        self.relay = relay
        self.alarm: Handle | None = None


Think = Callable[[Live, Visitor], Effects[Socket]]


class Relays:
    """The door to all relays, and their owner."""

    def __init__(self, clock: Clock, ids: Tokens, settings: Settings) -> None:
        self._clock = clock
        self._ids = ids
        self._settings = settings
        self._live: dict[str, Live] = {}

    # The door.

    def enter(self, socket: Socket, knock: Knock) -> tuple[Visit, Mapping[str, str]]:
        try:
            wanted = read_knock(knock.path, knock.query)
        except Refused as why:
            raise self._turned_away(400, Code(why.code), why.message + "\n") from None
        if (tidy := tidied(knock.path)) != knock.path:
            raise TurnedAway(301, "", Location=f"{tidy}?{knock.query}")
        headers: dict[str, str] = {}
        if wanted.numbered:
            id = wanted.id or made_id(*self._fresh(31))
        else:
            id, headers = self._by_cookie(knock, socket.peer)
        self._check_place(wanted.room, id, numbered=wanted.numbered)
        return Visitor(self, socket, id, wanted), headers

    def _by_cookie(self, knock: Knock, peer: str | None) -> tuple[str, dict[str, str]]:
        """The id in somebody's cookie, or a fresh one; a foreign page neither uses nor replaces it."""
        if not knock.is_ours(self._settings.origins):
            return cookie_id(*self._fresh(62)), {}
        try:
            id = self._ids.read(knock.cookie(COOKIE) or "")
        except Refused:
            id = cookie_id(*self._fresh(62))
        secure = "; Secure" if is_encrypted(peer, knock.scheme, self._settings.proxies) else ""
        return id, {"Set-Cookie": f"{COOKIE}={self._ids.issue(id)}; {LASTING}{secure}"}

    def _fresh(self, bits: int) -> tuple[int, int]:
        return int(self._clock.date()), secrets.randbits(bits)

    def _check_place(self, room: str, id: str, *, numbered: bool) -> None:
        live, limit = self._live.get(room), self._settings.relays
        if live is None and limit and len(self._live) >= limit:
            raise self._turned_away(503, Code.TOO_MANY, "Maximum number of games\n")
        if live is not None and not live.relay.has_place(id, lasts=numbered):
            raise self._turned_away(503, Code.GAME_FULL, FULL)

    def _turned_away(self, status: int, code: Code, text: str) -> TurnedAway:
        metrics.relay_refusals.labels(code).inc()
        return TurnedAway(status, text)

    # What lines do.

    def join(self, visitor: Visitor) -> None:
        """Somebody comes in, or returns."""
        live = self._live.get(visitor.room)
        if live is None:
            live = self._live[visitor.room] = self._opened(visitor.room)
            metrics.relays_live.set(len(self._live))
        self._do(live, visitor, self._join)

    def say(self, visitor: Visitor, body: bytes) -> None:
        """Somebody says something."""
        live = self._live.get(visitor.room)
        if live is not None:
            self._speak(live.relay.say(visitor.socket, body, self._now()))

    def lose(self, visitor: Visitor) -> None:
        """Somebody's line is lost."""
        live = self._live.get(visitor.room)
        if live is not None:
            self._do(live, visitor, self._lose)

    # What these are made of.

    def _opened(self, room: str) -> Live:
        return Live(room, Relay())

    def _do(self, live: Live, visitor: Visitor, think: Think) -> None:
        self._speak(think(live, visitor))
        self._settle(live)

    def _join(self, live: Live, visitor: Visitor) -> Effects[Socket]:
        socket, id, lasts = visitor.socket, visitor.id, visitor.numbered
        try:
            return live.relay.join(socket, id, self._now(), lasts=lasts, last=visitor.last)
        except Missed:
            metrics.relay_refusals.labels("bad_lastnum").inc()
            socket.close(*BAD_LASTNUM)
            return []

    def _lose(self, live: Live, visitor: Visitor) -> Effects[Socket]:
        return live.relay.lose(visitor.socket, self._now())

    def _ring(self, live: Live) -> None:
        live.alarm = None
        self._speak(live.relay.wake(self._now()))
        self._settle(live)

    def _settle(self, live: Live) -> None:
        """Forget a relay that nobody is in; be woken when somebody has been away for too long."""
        due = live.relay.due
        if not live.relay.members:
            self._forget(live)
        elif due is not None and live.alarm is None:  # an alarm that rings too early just sets the next
            live.alarm = self._clock.call_at(due, lambda: self._ring(live))

    def _forget(self, live: Live) -> None:
        if live.alarm is not None:
            live.alarm.cancel()
        self._live.pop(live.room, None)
        metrics.relays_live.set(len(self._live))

    def _now(self) -> Instant:
        return Instant(self._clock.now(), int(self._clock.date() * 1000))

    def _speak(self, effects: Effects[Socket]) -> None:
        for effect in effects:
            if isinstance(effect, Cut):
                effect.line.cut()
            else:
                self._tell(effect)

    def _tell(self, tell: Tell[Socket]) -> None:
        """Write an envelope to all who get it, made once for each generation; nobody is waited for."""
        envelope, own, rest = tell.envelope, tell.own, tell.rest
        metrics.envelopes.sent += 1
        if own.lasting or rest.lasting:
            _write(numbered(envelope), own.lasting, rest.lasting)
        if own.windows or rest.windows:
            _write(plain(envelope), own.windows, rest.windows)


def _write(copies: Copies, own: tuple[Socket, ...], rest: tuple[Socket, ...]) -> None:
    if own:
        write_all(own, framed(copies.own))
    if rest:
        write_all(rest, framed(copies.rest))


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True

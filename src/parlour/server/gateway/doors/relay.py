"""The door to relays: connections come in, envelopes go out, each encoded once for all clients alike."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from websockets.frames import CloseCode

from parlour.doors.relay import (
    BAD_LASTNUM,
    FULL,
    MAX_MESSAGE,
    RELAY_COOKIE,
    RELAY_PATH,
    Copies,
    RelayWanted,
    cookie_id,
    made_id,
    numbered,
    plain,
    read_address,
    tidied,
)
from parlour.errors import Code, Refused
from parlour.relay import (
    IDS_BYTES,
    MEMBER_MEMORY,
    PORTION,
    Cut,
    Effects,
    Missed,
    Relay,
    RelayInstant,
    Tell,
    size_of,
)
from parlour.server import metrics
from parlour.server.clock import Clock, Handle
from parlour.server.gateway.outboxes import Peer, framed
from parlour.server.gateway.upgrade import Door, Upgrade, UpgradeRefused
from parlour.server.gateway.websocket import Socket
from parlour.server.limits import Quota, is_encrypted
from parlour.server.settings import Settings
from parlour.server.tokens import TOKEN_DAYS, Tokens

JOIN_COST = 2.0
MESSAGE_COST = 0.25
BYTES_FOR_ONE = 32 * 1024
BYTES_OUT_FOR_ONE = 128 * 1024
"""What a join and a message cost of an allowance, in moves; and how many bytes that come in, or go out to all
recipients, cost as much as a move."""

PORTION_EVERY = 0.01
NO_HURRY = 0.25
"""Seconds between two parts of what a client missed, and after a time when its allowance was spent."""
GRAIN = 4096
"""Memory is counted in units of this many bytes."""

LASTING = f"Max-Age={TOKEN_DAYS * 86400}; Path=/; HttpOnly; SameSite=Lax"


class RelayConnection:
    """One connection to a relay."""

    __slots__ = ("_relays", "id", "last", "numbered", "room", "socket")

    name = "relay"

    def __init__(self, relays: "Relays", socket: Socket, id: str, wanted: RelayWanted) -> None:
        self._relays = relays
        self.socket = socket
        self.id = id
        self.room = wanted.room
        self.last = wanted.last
        self.numbered = wanted.numbered

    @property
    def player(self) -> str:
        """Ids of relays are not players; the prefix tells them apart in the log."""
        return f"relay:{self.id}"

    def begin(self) -> None:
        self._relays.join(self)

    def receive(self, message: Any, *, text: bool) -> None:
        body = bytes(message)
        if len(body) > MAX_MESSAGE:
            self.close(Code.TOO_LARGE, CloseCode.MESSAGE_TOO_BIG, "")
        elif text and not self.numbered and not _is_utf8(body):
            self.close(Code.MALFORMED, CloseCode.INVALID_DATA, "text must be UTF-8")
        else:
            self._relays.say(self, body)

    def close_too_fast(self) -> None:
        """Close the connection: it sent too much. Losing a message silently would be worse."""
        metrics.relay_refusals.labels(Code.TOO_FAST).inc()
        self.socket.send_away()

    def catch_up(self) -> None:
        """Send more of what the client missed; a client that reads too slowly for too long is closed."""
        self._relays.read_on(self)

    def part(self) -> None:
        """Send no last message when the server stops: the close code is enough."""

    def end(self) -> None:
        self._relays.lose(self)

    def close(self, code: Code, close: int, reason: str) -> None:
        """Close the connection, count why, and send a reason."""
        metrics.relay_refusals.labels(code).inc()
        self.socket.close(close, reason)


class OpenRelay:
    """A relay in memory, the address that it counts for, and its alarm."""

    __slots__ = ("address", "alarm", "counted", "relay", "room")

    def __init__(self, room: str, address: str, relay: Relay[Socket]) -> None:
        self.room = room
        self.address = address
        """The address that opened it."""
        self.relay = relay
        self.counted = 0
        """The bytes of memory that are counted for it."""
        self.alarm: Handle | None = None

    @property
    def held(self) -> int:
        """The bytes of memory that it uses."""
        return self.relay.held


Think = Callable[[OpenRelay, RelayConnection], Effects[Socket]]


class Relays(Door):
    """The door to all relays, which also owns them."""

    def __init__(
        self, clock: Clock, ids: Tokens, settings: Settings, is_owner_for_sure: Callable[[], bool]
    ) -> None:
        self._clock = clock
        self._ids = ids
        self._settings = settings
        self._is_owner_for_sure = is_owner_for_sure
        """False if another worker may own our relays by now."""
        self._in_memory: dict[str, OpenRelay] = {}
        self._open = Quota("relays", settings.relays, address=settings.address_relays)
        self._memory = Quota("bytes of relays", settings.relay_memory, address=settings.address_relay_memory)

    paths = (RELAY_PATH,)

    def key_of(self, path: str) -> str:
        return f"relay:{unquote(tidied(path))}"

    async def let_go(self, moves: Callable[[str], bool]) -> None:
        for opened in [one for room, one in self._in_memory.items() if moves(f"relay:{room}")]:
            await self._drain(opened)
            self._forget(opened)

    async def _drain(self, opened: OpenRelay) -> None:
        """Finish what is being done at a relay."""

    async def finish(self) -> None:
        """Finish open work; cancel all alarms."""
        for opened in self._in_memory.values():
            if opened.alarm is not None:
                opened.alarm.cancel()

    # The door.

    def enter(self, socket: Socket, upgrade: Upgrade) -> tuple[Peer, Mapping[str, str]]:
        try:
            wanted = read_address(upgrade.path, upgrade.query)
        except Refused as why:
            raise self._upgrade_refused(400, Code(why.code), why.message + "\n") from None
        if (tidy := tidied(upgrade.path)) != upgrade.path:
            raise UpgradeRefused(301, "", Location=f"{tidy}?{upgrade.query}")
        headers: dict[str, str] = {}
        if wanted.numbered:
            id = wanted.id or made_id(*self._fresh(31))
        else:
            id, headers = self._by_cookie(upgrade, socket.peer)
        self._check_place(wanted.room, id, socket.address or "", numbered=wanted.numbered)
        return RelayConnection(self, socket, id, wanted), headers

    def _by_cookie(self, upgrade: Upgrade, peer: str | None) -> tuple[str, dict[str, str]]:
        """The id in the client's cookie, or a new one; another site's page can neither use nor replace it."""
        if not upgrade.is_ours(self._settings, peer):
            return cookie_id(*self._fresh(62)), {}
        try:
            id = self._ids.read(upgrade.cookie(RELAY_COOKIE) or "", expires=False)
        except Refused:
            id = cookie_id(*self._fresh(62))
        secure = "; Secure" if is_encrypted(peer, upgrade.schemes, self._settings.proxies) else ""
        return id, {"Set-Cookie": f"{RELAY_COOKIE}={self._ids.issue(id)}; {LASTING}{secure}"}

    def _fresh(self, bits: int) -> tuple[int, int]:
        return int(self._clock.date()), secrets.randbits(bits)

    def _check_place(self, room: str, id: str, address: str, *, numbered: bool) -> None:
        opened = self._in_memory.get(room)
        try:
            if opened is None:
                self._open.check(address=address)
            self._memory.check(MEMBER_MEMORY + 2 * size_of(id), address=opened.address if opened else address)
        except Refused as why:
            raise self._upgrade_refused(503, Code.TOO_MANY, why.message + "\n") from None
        if opened is not None and (why_not := full(opened.relay, id, lasts=numbered)) is not None:
            raise self._upgrade_refused(503, *why_not)

    def _upgrade_refused(self, status: int, code: Code, text: str) -> UpgradeRefused:
        metrics.relay_refusals.labels(code).inc()
        return UpgradeRefused(status, text)

    # What connections do.

    def join(self, connection: RelayConnection) -> None:
        """Let a client join, or return."""
        opened = self._in_memory.get(connection.room)
        others = 0 if opened is None else opened.relay.fan_out(0)
        if not connection.socket.may_ask(
            None, JOIN_COST + 2 * others / BYTES_OUT_FOR_ONE
        ):  # the same again when it leaves
            connection.close_too_fast()
            return
        if opened is None:
            opened = self._in_memory[connection.room] = self._opened(
                connection.room, connection.socket.address or ""
            )
            self._open.count(address=opened.address)
            metrics.relays_live.set(len(self._in_memory))
        self._do(opened, connection, self._join)

    def say(self, connection: RelayConnection, body: bytes) -> None:
        """Take a message; the sender pays for all that is sent because of it."""
        opened = self._in_memory.get(connection.room)
        if opened is None:
            return
        size = len(body)
        cost = MESSAGE_COST + size / BYTES_FOR_ONE + opened.relay.fan_out(size) / BYTES_OUT_FOR_ONE
        if connection.socket.may_ask(None, cost):
            self._say(opened, connection, body)
        else:
            connection.close_too_fast()

    def read_on(self, connection: RelayConnection) -> None:
        """Send the next part of what a client missed, once it has taken the one before."""
        opened, socket = self._in_memory.get(connection.room), connection.socket
        if opened is None or not opened.relay.is_reading(socket):
            return
        if socket.behind:
            socket.clogged = True  # so that it reports when it has caught up
        elif socket.may_ask(None, PORTION / BYTES_OUT_FOR_ONE):
            self._do(opened, connection, self._read_on)
        else:
            self._read_later(connection, NO_HURRY)

    def lose(self, connection: RelayConnection) -> None:
        """Note that a connection is closed."""
        opened = self._in_memory.get(connection.room)
        if opened is not None:
            self._do(opened, connection, self._lose)

    # How that is done.

    def _opened(self, room: str, address: str) -> OpenRelay:
        return OpenRelay(room, address, Relay())

    def _do(self, opened: OpenRelay, connection: RelayConnection, think: Think) -> None:
        self._send_all(think(opened, connection), connection)
        self._settle(opened)

    def _say(self, opened: OpenRelay, connection: RelayConnection, body: bytes) -> None:
        self._send_all(opened.relay.say(connection.socket, body, self._now()))
        if not opened.counted - GRAIN < opened.relay.held <= opened.counted:
            self._count(opened)

    def _join(self, opened: OpenRelay, connection: RelayConnection) -> Effects[Socket]:
        socket, id, lasts = connection.socket, connection.id, connection.numbered
        if not self._is_owner_for_sure():  # the other one may know more
            socket.close(CloseCode.SERVICE_RESTART, "come again")
            return []
        try:
            return opened.relay.join(socket, id, self._now(), lasts=lasts, last=connection.last)
        except Missed:
            metrics.relay_refusals.labels("bad_lastnum").inc()
            socket.close(*BAD_LASTNUM)
            return []

    def _read_on(self, opened: OpenRelay, connection: RelayConnection) -> Effects[Socket]:
        try:
            return opened.relay.read_on(connection.socket)
        except Missed:  # it was deleted before the client got that far
            metrics.relay_refusals.labels("bad_lastnum").inc()
            connection.socket.close(*BAD_LASTNUM)
            return []

    def _read_later(self, connection: RelayConnection, seconds: float) -> None:
        self._clock.call_at(self._clock.now() + seconds, lambda: self.read_on(connection))

    def _lose(self, opened: OpenRelay, connection: RelayConnection) -> Effects[Socket]:
        return opened.relay.lose(connection.socket, self._now())

    def _ring(self, opened: OpenRelay) -> None:
        opened.alarm = None
        self._send_all(opened.relay.wake(self._now()))
        self._settle(opened)

    def _settle(self, opened: OpenRelay) -> None:
        """Forget an empty relay; otherwise set the alarm for members who stay away for too long."""
        due = opened.relay.due
        self._count(opened)
        if not opened.relay.members:
            self._forget(opened)
        elif due is not None and opened.alarm is None:  # an alarm that rings too early just sets the next
            opened.alarm = self._clock.call_at(due, lambda: self._ring(opened))

    def _forget(self, opened: OpenRelay) -> None:
        if opened.alarm is not None:
            opened.alarm.cancel()
        if self._in_memory.get(opened.room) is opened:
            del self._in_memory[opened.room]
            self._open.give_back(address=opened.address)
        self._memory.give_back(opened.counted, address=opened.address)
        opened.counted = 0
        metrics.relays_live.set(len(self._in_memory))

    def _count(self, opened: OpenRelay) -> None:
        """Count the memory of a relay; if there is not enough, the relay deletes its oldest envelopes."""
        try:
            self._memory.check(_grains(opened.held) - opened.counted, address=opened.address)
        except Refused:
            opened.relay.shrink(opened.counted)
        counted, opened.counted = opened.counted, _grains(opened.held)
        self._memory.change(counted, opened.counted, address=opened.address)

    def _now(self) -> RelayInstant:
        return RelayInstant(self._clock.now(), int(self._clock.date() * 1000))

    def _send_all(self, effects: Effects[Socket], connection: RelayConnection | None = None) -> None:
        for effect in effects:
            if isinstance(effect, Tell):
                self._send(effect)
            elif isinstance(effect, Cut):
                effect.line.cut()
            elif connection is not None:
                self._read_later(connection, PORTION_EVERY)

    def _send(self, tell: Tell[Socket]) -> None:
        """Send an envelope to all recipients, encoded once for each format; nobody is waited for."""
        envelope, crowd, own, rest = tell.envelope, tell.crowd, tell.own, tell.rest
        metrics.envelopes.sent += 1
        if own.lasting or rest.lasting:
            _write(numbered(envelope, crowd), own.lasting, rest.lasting)
        if own.windows or rest.windows:
            _write(plain(envelope, crowd), own.windows, rest.windows)


def _write(copies: Copies, own: tuple[Socket, ...], rest: tuple[Socket, ...]) -> None:
    if own:
        _write_all(own, framed(copies.own))
    if rest:
        _write_all(rest, framed(copies.rest))


def _grains(size: int) -> int:
    return -(-size // GRAIN) * GRAIN


def full(relay: Relay[Socket], id: str, *, lasts: bool) -> tuple[Code, str] | None:
    """The code and the sentence of the refusal, if there is no place for this id."""
    if not relay.has_place(id, lasts=lasts):
        return Code.GAME_FULL, FULL
    if not relay.can_list(id):
        return Code.TOO_LARGE, f"expected ids of at most {IDS_BYTES} bytes in one room, got more\n"
    return None


def _write_all(sockets: Sequence[Socket], frames: bytes) -> None:
    """Put the same frames behind the corks of many sockets."""
    owner = sockets[0].owner
    if not owner.corked:
        owner.pop_soon()
    corked = owner.corked
    for socket in sockets:
        if not socket.corked:
            socket.corked = True
            corked.append(socket)
        socket.waiting.append(frames)


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True

"""Outboxes of connections, and write groups: connections that get the same frames, with one write each."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

from parlour.server.clock import Clock

HOLD = 0.01
LONGEST_HOLD = 0.1
"""Seconds for which frames wait at least, and at most, for others that are about to follow: twice as long as
the last write took, so that at most a third of the time is spent on writing to crowds."""

MOST_HOLDS = 4
"""How many delays a write group waits at most while more frames are announced."""


class Peer(Protocol):
    """The server's side of a WebSocket: it takes the messages of one client."""

    @property
    def name(self) -> str:
        """The name of the protocol, for the metrics."""
        ...

    @property
    def player(self) -> str:
        """The player, for the log."""
        ...

    def begin(self) -> None:
        """The socket is open."""
        ...

    def receive(self, message: Any, *, text: bool) -> None:
        """Take a whole message: its bytes, and whether it is text."""
        ...

    def catch_up(self) -> None:
        """Catch up: the client reads again, after it was too slow."""
        ...

    def part(self) -> None:
        """The server stops: send a last message, if the protocol has one."""
        ...

    def end(self) -> None:
        """The connection is closed."""
        ...


class Outbox(Protocol):
    """Writes to one connection; a write never waits."""

    write_groups: "tuple[WriteGroup, ...]"
    """The write group of this connection. Frames that wait there go out before anything written later."""

    address: str | None
    """The address that it counts for."""

    lag: float
    """Seconds to the client and back, where that is measured."""

    def measure_lag(self) -> None:
        """Measure the lag from now on."""
        ...

    def write(self, frames: bytes, *, more: bool = False) -> None:
        """Send encoded text frames; with *more* they may wait a moment for the next."""
        ...

    def write_now(self, frames: bytes) -> None:
        """Send frames together with those that wait."""
        ...

    def hold(self, due: Callable[[], None]) -> None:
        """Have *due* written after a short delay, for this connection and maybe others."""
        ...

    def close(self, code: int, reason: str) -> None:
        """Close the connection with a close code."""
        ...

    @property
    def clogged(self) -> bool:
        """True if the client reads slower than we write."""
        ...

    @property
    def direct(self) -> "Write | None":
        """The transport's own write, while nothing is in its way; write groups are told when something is."""
        ...


Write = Callable[[bytes], None]


class WriteGroup:
    """Connections that get the same frames: the frames of a moment are one write to each.

    It lasts until one of its connections gets something else or does not read any more.
    """

    __slots__ = ("_moments", "_more", "_outboxes", "_waiting", "_writes", "together")

    def __init__(self, outboxes: Sequence[Outbox]) -> None:
        self._outboxes = outboxes
        self._writes: list[Write] | None = None
        """The transports' own writes, as long as all are free: then no connection is checked before each."""
        self._waiting: list[bytes] = []
        self._more = False
        self._moments = 0
        self.together = True
        for outbox in outboxes:
            outbox.write_groups = (*outbox.write_groups, self)

    def write(self, frames: bytes, *, more: bool = False) -> None:
        """Send frames to all of them after a delay, or after a few more if *more* are announced."""
        if not self._waiting:
            self._moments = MOST_HOLDS
            self._outboxes[0].hold(self._due)
        self._waiting.append(frames)
        self._more = more

    def _due(self) -> None:
        self._moments -= 1
        if self._more and self._moments > 0:
            self._outboxes[0].hold(self._due)
        else:
            self.pop()

    def pop(self) -> None:
        """Send the frames that wait."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        frames = b"".join(waiting)
        if self._writes is not None:
            for write in self._writes:
                write(frames)
            return
        for outbox in self._outboxes:
            outbox.write_now(frames)
        writes = [outbox.direct for outbox in self._outboxes]
        if None not in writes:
            self._writes = cast("list[Write]", writes)

    def take_care(self) -> None:
        """Check each connection from now on: something is in the way of one, or will be at once."""
        self._writes = None

    def disband(self) -> None:
        """Send the frames that wait, and then none together any more."""
        if not self.together:
            return
        self.together = False
        self.pop()
        for outbox in self._outboxes:
            outbox.write_groups = tuple(group for group in outbox.write_groups if group is not self)


class Corked(Protocol):
    """A connection with frames that are sent at the end of the turn."""

    def pop(self) -> None:
        """Send them."""
        ...


class WriteScheduler:
    """Lets connections write together: at the end of a turn of the loop, or after a short delay."""

    loop: asyncio.AbstractEventLoop

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.corked: list[Corked] = []
        """The sockets that write at the end of this turn of the loop, all at once."""
        self._held: list[Callable[[], None]] = []
        self._hold = HOLD

    def pop_soon(self) -> None:
        """Let those who have something to write do so at the end of this turn."""
        self.loop.call_soon(self._pop)

    def _pop(self) -> None:
        corked, self.corked = self.corked, []
        for socket in corked:
            socket.pop()

    def hold(self, due: Callable[[], None]) -> None:
        """Write this after a short delay, with everything else that waits for it."""
        if not self._held:
            self.loop.call_later(self._hold, self._release)
        self._held.append(due)

    def _release(self) -> None:
        held, self._held = self._held, []
        began = self.clock.now()
        for due in held:
            due()
        self._hold = min(max(HOLD, 2 * (self.clock.now() - began)), LONGEST_HOLD)


_SHORT = tuple(bytes((0x81, size)) for size in range(126))


def framed(text: bytes) -> bytes:
    """A whole WebSocket text frame; unmasked, so that one serves all clients.

    >>> framed(b"hi"), framed(b"")
    (b'\\x81\\x02hi', b'\\x81\\x00')
    """
    size = len(text)
    if size < 126:
        return _SHORT[size] + text
    if size < 65536:
        return b"\x81\x7e" + size.to_bytes(2, "big") + text
    return b"\x81\x7f" + size.to_bytes(8, "big") + text


def pushed(text: bytes) -> bytes:
    """The frame of a push, or nothing if the protocol has no message for it."""
    size = len(text)
    return _SHORT[size] + text if 0 < size < 126 else framed(text) if text else b""

"""Outboxes of connections, and write groups: connections that are told the same with one write each."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

from parlour.server.clock import Clock

HOLD = 0.01
LONGEST_HOLD = 0.1
"""Seconds for which frames wait at least, and at most, for others that are about to follow: twice as long as
writing took the last time, so that at most a third of the time is spent on telling crowds."""

MOST_HOLDS = 4
"""How many moments a choir waits at most while there is more to come."""


class Peer(Protocol):
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


class Outbox(Protocol):
    """The way to one connected program; writing to it never waits."""

    write_groups: "tuple[WriteGroup, ...]"
    """Where it is told the same as others. What they have yet to hear comes before anything written later."""

    address: str | None
    """Where it comes from: whom to count."""

    def write(self, frames: bytes, *, more: bool = False) -> None:
        """Send text frames that are ready for the wire; with *more* they may wait a moment for the next."""
        ...

    def write_now(self, frames: bytes) -> None:
        """Send frames together with whatever waits."""
        ...

    def hold(self, due: Callable[[], None]) -> None:
        """Have something done in a moment, for this line and maybe others."""
        ...

    def close(self, code: int, reason: str) -> None:
        """Say goodbye with a close code."""
        ...

    @property
    def clogged(self) -> bool:
        """The other side reads slower than we write."""
        ...

    @property
    def direct(self) -> "Write | None":
        """Straight to the other side, while nothing is in the way; the choirs are told when something is."""
        ...


Write = Callable[[bytes], None]


class WriteGroup:
    """Lines that are told the same: what is said within a moment is one write to each.

    It stays together until one of its lines is told something else or does not read any more.
    """

    __slots__ = ("_moments", "_more", "_outboxes", "_waiting", "_writes", "together")

    def __init__(self, outboxes: Sequence[Outbox]) -> None:
        self._outboxes = outboxes
        self._writes: list[Write] | None = None
        """The lines' own, as long as all are free: then nobody needs to look at each before each word."""
        self._waiting: list[bytes] = []
        self._more = False
        self._moments = 0
        self.together = True
        for outbox in outboxes:
            outbox.write_groups = (*outbox.write_groups, self)

    def write(self, frames: bytes, *, more: bool = False) -> None:
        """Tell them all, in a moment, or a few moments later where there is *more* to come."""
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
        """Tell them now what they have yet to hear."""
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
        """Something is in the way of a line, or will be at once: from now on look at each."""
        self._writes = None

    def disband(self) -> None:
        """Tell them what they have yet to hear, and then nothing more together."""
        if not self.together:
            return
        self.together = False
        self.pop()
        for outbox in self._outboxes:
            outbox.write_groups = tuple(group for group in outbox.write_groups if group is not self)


class Corked(Protocol):
    """A line with frames behind its cork."""

    def pop(self) -> None:
        """Write them."""
        ...


class WriteScheduler:
    """Lets lines write together: once in a turn of the loop, or in a moment."""

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
        """Do this in a moment, with everything else that waits for it."""
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
    """A whole WebSocket text frame; unmasked, so that one serves every reader.

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
    """The frame of a push, or nothing where a protocol has no words for it."""
    size = len(text)
    return _SHORT[size] + text if 0 < size < 126 else framed(text) if text else b""

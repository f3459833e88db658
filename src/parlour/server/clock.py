"""The rooms' clock: it runs while the server runs, and stands still while the server is down."""

import asyncio
import time
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Protocol

KEPT_CANCELLED = 100
"""So many cancelled calls are kept at least, until it is their time."""


class Handle(Protocol):
    """A planned call that can be cancelled."""

    def cancel(self) -> None: ...


class Clock(Protocol):
    """The server's time; tests hand in one that they turn themselves."""

    def start(self, at: float) -> None:
        """Start at the time at which the rooms' clock last stopped."""
        ...

    def now(self) -> float:
        """The rooms' clock, in seconds."""
        ...

    def date(self) -> float:
        """Wall time in seconds since 1970: for display, and for what goes on while the server is down."""
        ...

    def call_at(self, when: float, callback: Callable[[], None]) -> Handle:
        """Plan *callback* for a time of the rooms' clock."""
        ...


class PlannedCall:
    """A call that a clock makes when it is time."""

    __slots__ = ("_callback", "_clock")

    def __init__(self, clock: "SystemClock", callback: Callable[[], None]) -> None:
        self._clock = clock
        self._callback: Callable[[], None] | None = callback

    @property
    def is_cancelled(self) -> bool:
        """True if it was cancelled, or made."""
        return self._callback is None

    def cancel(self) -> None:
        """Make no call."""
        if self._callback is not None:
            self._callback = None
            self._clock.note_cancelled()

    def make(self) -> None:
        """Make the call, unless it was cancelled."""
        callback, self._callback = self._callback, None
        if callback is not None:
            callback()


class SystemClock:
    """The machine's monotonic time, moved on to where the rooms' clock stopped.

    All calls that are planned share one timer of the event loop, however many rooms have clocks.
    """

    def __init__(self) -> None:
        self._shift = 0.0
        self._planned: list[tuple[float, int, PlannedCall]] = []
        """A heap of planned calls, by their time and then in order."""
        self._numbers = count()
        self._cancelled = 0
        self._timer: asyncio.TimerHandle | None = None

    def start(self, at: float) -> None:
        self._shift = at - time.monotonic()

    def now(self) -> float:
        return time.monotonic() + self._shift

    def date(self) -> float:
        return time.time()

    def call_at(self, when: float, callback: Callable[[], None]) -> Handle:
        call = PlannedCall(self, callback)
        heappush(self._planned, (when, next(self._numbers), call))
        if self._planned[0][2] is call:
            self._set_timer()
        return call

    def _set_timer(self) -> None:
        """Wake up when the first call is due."""
        if self._timer is not None:
            self._timer.cancel()
        wait = max(0.0, self._planned[0][0] - self.now()) if self._planned else None
        self._timer = None if wait is None else asyncio.get_running_loop().call_later(wait, self._ring)

    def _ring(self) -> None:
        """Make the calls that are due, each in a turn of the event loop's own, and wait for the next."""
        loop, now = asyncio.get_running_loop(), self.now()
        while self._planned and (self._planned[0][0] <= now or self._planned[0][2].is_cancelled):
            _, _, call = heappop(self._planned)
            if call.is_cancelled:
                self._cancelled -= 1
            else:
                loop.call_soon(call.make)
        self._set_timer()

    def note_cancelled(self) -> None:
        """A planned call was cancelled; when most are, they are thrown out."""
        self._cancelled += 1
        if self._cancelled > len(self._planned) // 2 + KEPT_CANCELLED:
            self._planned = [one for one in self._planned if not one[2].is_cancelled]
            heapify(self._planned)
            self._cancelled = 0


class Rounds:
    """Calls a function at intervals, but skips a call that comes far too late.

    In that case the whole process stood still (a lid was closed, a machine was frozen), and what others sent
    meanwhile is still unread: nobody can be judged as silent before the next round.
    """

    TOO_LATE = 1.0
    """Seconds, for rounds that are more frequent than that."""

    def __init__(self, clock: Clock, every: float, look: Callable[[], None]) -> None:
        self._clock = clock
        self._every = every
        self._look = look
        self._due = 0.0
        self._next: Handle | None = None

    def start(self) -> None:
        """Plan the first round, one interval from now."""
        self._due = self._clock.now() + self._every
        self._next = self._clock.call_at(self._due, self._go_round)

    def stop(self) -> None:
        """Cancel all further rounds."""
        if self._next is not None:
            self._next.cancel()

    def _go_round(self) -> None:
        late = self._clock.now() - self._due
        self.start()
        if late <= max(self._every, self.TOO_LATE):
            self._look()

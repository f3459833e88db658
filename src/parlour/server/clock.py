"""The rooms' clock: it runs while the server runs, and stands still while the server is down."""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


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
        """Wall time in seconds since 1970, for display only."""
        ...

    def call_at(self, when: float, callback: Callable[[], None]) -> Handle:
        """Plan *callback* for a time of the rooms' clock."""
        ...


class SystemClock:
    """The machine's monotonic time, moved on to where the rooms' clock stopped."""

    def __init__(self) -> None:
        self._shift = 0.0

    def start(self, at: float) -> None:
        self._shift = at - time.monotonic()

    def now(self) -> float:
        return time.monotonic() + self._shift

    def date(self) -> float:
        return time.time()

    def call_at(self, when: float, callback: Callable[[], None]) -> Handle:
        return asyncio.get_running_loop().call_later(max(0.0, when - self.now()), callback)


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

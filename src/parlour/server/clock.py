"""Time for the rooms: it runs while the server does, and stands still while it is down."""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


class Handle(Protocol):
    """Something that was planned and can be called off."""

    def cancel(self) -> None: ...


class Clock(Protocol):
    """What the server knows of time; tests hand in one that they turn themselves."""

    def start(self, at: float) -> None:
        """Go on from where the rooms' clock last stopped."""
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
    """The machine's monotonic time, moved to where the rooms' clock stopped."""

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

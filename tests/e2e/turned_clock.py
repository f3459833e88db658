"""Starts the real server with a clock that a test turns: `python -m tests.e2e.turned_clock FILE serve ...`.

With each SIGUSR1 the clock goes on by as many seconds as stand in the file.
"""

import asyncio
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from parlour.cli import app
from parlour.server import app as server
from parlour.server.clock import Handle, SystemClock


class Planned:
    """Something that is due at a time of the rooms' clock, planned anew when that is turned."""

    def __init__(self, clock: "TurnedClock", when: float, callback: Callable[[], None]) -> None:
        self._clock, self._when, self._callback = clock, when, callback
        self._handle: Handle
        self.plan()

    def plan(self) -> None:
        after = max(0.0, self._when - self._clock.now())
        self._handle = asyncio.get_running_loop().call_later(after, self._run)

    def replan(self) -> None:
        self._handle.cancel()
        self.plan()

    def cancel(self) -> None:
        self._handle.cancel()
        self._clock.planned.discard(self)

    def _run(self) -> None:
        self._clock.planned.discard(self)
        self._callback()


class TurnedClock(SystemClock):
    """The machine's time, and what was added to it."""

    def __init__(self) -> None:
        super().__init__()
        self.planned: set[Planned] = set()
        self._added = 0.0

    def start(self, at: float) -> None:
        super().start(at)
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self.turn)

    def turn(self) -> None:
        self._added += float(FILE.read_text())
        for planned in list(self.planned):
            planned.replan()
        print(f"The clock was turned to {self.now():.0f}.", flush=True)  # noqa: T201 - the test waits for it

    def now(self) -> float:
        return super().now() + self._added

    def date(self) -> float:
        return super().date() + self._added

    def call_at(self, when: float, callback: Callable[[], None]) -> Handle:
        planned = Planned(self, when, callback)
        self.planned.add(planned)
        return planned


if __name__ == "__main__":
    FILE = Path(sys.argv.pop(1))
    server.SystemClock = TurnedClock  # type: ignore[attr-defined]
    app()

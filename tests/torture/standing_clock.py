"""Starts the real server with a clock that stands: `python -m tests.torture.standing_clock FILE FAULT ...`.

It shows the time that stands in the file. What was put there while no server ran has gone by, too.
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

from parlour.cli import app
from parlour.journal.sqlite import journal as in_sqlite
from parlour.server import app as server
from parlour.server.clock import Handle, SystemClock
from tests.torture.planted import FAULTS
from tests.torture.writers import WRITERS

LOOK_EVERY = 0.01
"""Seconds between two looks into the file."""
EPOCH = 1_800_000_000.0
"""The wall time at which the clock shows 0."""


def shown(file: Path) -> Path:
    """Where the clock says which time it shows."""
    return file.with_suffix(".shown")


class Planned:
    """A call that is made once the clock shows a time."""

    def __init__(self, clock: "StandingClock", when: float, callback: Callable[[], None]) -> None:
        self.when = when
        self._clock, self._callback = clock, callback

    def cancel(self) -> None:
        self._clock.planned.discard(self)

    def make(self) -> None:
        if self in self._clock.planned:
            self._clock.planned.discard(self)
            self._callback()


class StandingClock(SystemClock):
    """Time that goes by when a test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.planned: set[Planned] = set()
        self._at = 0.0

    def start(self, at: float) -> None:
        self._at = at
        self._look()

    def _look(self) -> None:
        time = float(FILE.read_text())
        if time > self._at:
            self._at = time
            for planned in sorted(self.planned, key=lambda one: one.when):
                self._make_if_due(planned)
            shown(FILE).write_text(str(time))
        asyncio.get_running_loop().call_later(LOOK_EVERY, self._look)

    def _make_if_due(self, planned: Planned) -> None:
        if planned.when <= self._at:
            asyncio.get_running_loop().call_soon(planned.make)

    def now(self) -> float:
        return self._at

    def date(self) -> float:
        return EPOCH + self._at

    def call_at(self, when: float, callback: Callable[[], None]) -> Handle:
        planned = Planned(self, when, callback)
        self.planned.add(planned)
        self._make_if_due(planned)
        return planned


if __name__ == "__main__":
    FILE, fault = Path(sys.argv.pop(1)), sys.argv.pop(1)
    if fault:
        FAULTS[fault]()
    in_sqlite.Writer = WRITERS["mortal"]  # type: ignore[attr-defined]
    server.SystemClock = StandingClock  # type: ignore[attr-defined]
    app()

"""A mark in a separate file says how far the journal was: so a journal that has lost something is noticed.

SQLite cannot notice: a missing or truncated log (`-wal`) looks to it like one that was never written. The
mark is written after the steps before it are on the disk: a journal behind its mark has lost something.
"""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from parlour.journal.base import Durability, Lost
from parlour.journal.rows import CLOCK, is_whole
from parlour.wire import digest

MARK_FILE = "parlour.mark"
MARK_EVERY = 1.0
"""Seconds between two marks at least."""
TOLERANCE: dict[Durability, float] = {"disk": 0.0, "process": 60.0}
"""Seconds of play that a loss of power may cost."""


class ProgressMark:
    """The rooms' clock when the journal was last known to be on the disk."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / MARK_FILE
        self._at: float | None = None

    def read(self) -> float | None:
        """The clock of the mark; None if it is missing or damaged."""
        try:
            clock, checksum = self._path.read_text("ascii").split()
            return float(clock) if checksum == _checksum(clock) else None
        except (OSError, ValueError):
            return None

    def is_due(self, clock: float) -> bool:
        """True if it is time for the next one."""
        return self._at is None or clock >= self._at + MARK_EVERY

    def write(self, clock: float) -> None:
        """Write the mark; if that fails, the older one is still true."""
        self._at = clock
        draft = self._path.with_suffix(".new")
        with suppress(OSError):
            draft.write_text(f"{clock!r} {_checksum(repr(clock))}\n", "ascii")
            draft.replace(self._path)

    def check(self, journal: Path, durability: Durability) -> None:
        """`Lost` if the journal does not reach its mark; only reads the journal."""
        marked, kept = self.read(), _clock_of(journal)
        if marked is None or kept is None or kept >= marked - TOLERANCE[durability]:
            return
        what = f"{journal} ends {marked - kept:.1f} s before it last did" if kept else f"{journal} is empty"
        raise Lost(
            f"{what}, as {self._path.name} tells: the file {journal.name}-wal is missing or damaged, "
            "or an older copy was put in its place. Put the right files back; or, to go on without what is "
            "lost, start once with --accept-loss"
        )


def _checksum(clock: str) -> str:
    return digest(clock.encode()).hex()[:16]


def _clock_of(journal: Path) -> float | None:
    """Where the rooms' clock stopped; None if that cannot be read."""
    if not journal.exists() or not journal.stat().st_size:
        return 0.0
    try:
        with closing(sqlite3.connect(f"{journal.resolve().as_uri()}?mode=ro", uri=True)) as db:
            if not db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
                return 0.0
            columns = [column[1] for column in db.execute("PRAGMA table_info(clock)")]
            row = db.execute(f"SELECT {', '.join(columns)} FROM clock").fetchone()  # noqa: S608 - our own
    except (sqlite3.Error, TypeError, ValueError):  # opening the journal reports it in a moment
        return None
    has_checksum = "checksum" in columns
    return float(row[0]) if row and (not has_checksum or is_whole(CLOCK, row)) else None

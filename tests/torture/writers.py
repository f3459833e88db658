"""Writers of the SQLite journal that fail as told: by the environment, or by files in the data folder."""

import os
import signal
from pathlib import Path
from typing import Any

from parlour.journal.sqlite import _Write, _Writer

DIE = "TORTURE_DIE"
"""The environment variable that says when to die: `after 7` commits, or `before 7`: in the middle of it."""


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Mortal(_Writer):
    """Dies between the write and the answer, or in the middle of the write."""

    _commits = 0

    def _commit(self, batch: list[_Write]) -> list[Any]:
        when, _, count = os.environ.get(DIE, "").partition(" ")
        self._doomed = when == "before" and self._commits + 1 == int(count)
        outcomes = super()._commit(batch)
        self._commits += 1
        if when == "after" and self._commits == int(count):
            _die()
        return outcomes

    def _move_clock(self, now: float) -> None:
        super()._move_clock(now)
        if self._doomed:
            _die()


FULL = "is-full"
READ_ONLY = "is-read-only"
"""While a file of this name lies in the data folder, the journal's file is so."""


class Moody(_Writer):
    """A disk that is full or read-only while a file says so."""

    def _commit(self, batch: list[_Write]) -> list[Any]:
        folder = self._folder()
        pages = self._db.execute("PRAGMA page_count").fetchone()[0]
        most = pages if (folder / FULL).exists() else 10**6
        self._db.execute(f"PRAGMA max_page_count = {most}")
        self._db.execute(f"PRAGMA query_only = {int((folder / READ_ONLY).exists())}")
        return super()._commit(batch)

    def _folder(self) -> Path:
        return Path(self._db.execute("PRAGMA database_list").fetchone()[2]).parent


WRITERS: dict[str, type[_Writer]] = {"mortal": Mortal, "moody": Moody}

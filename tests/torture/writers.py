"""Writers of the SQLite journal that fail as told: by the environment, or by files in the data folder."""

import os
import signal
from functools import partial
from pathlib import Path
from time import sleep
from typing import Any

from parlour.journal.sqlite.threads import Write, Writer
from parlour.journal.sqlite.writes import append

DIE = "TORTURE_DIE"
"""The environment variable that says when to die: `after` or `before` a commit, which is in the middle of it;
and which one, by its number or by a command id in it."""


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Mortal(Writer):
    """Dies between the write and the answer, or in the middle of the write."""

    _commits = 0
    _doomed = False

    def _do_all(self, batch: list[Write]) -> list[Any]:
        when, _, which = os.environ.get(DIE, "").partition(" ")
        self._commits += 1
        fatal = which in (str(self._commits), *_ids(batch))
        self._doomed = fatal and when == "before"
        outcomes = super()._do_all(batch)
        if fatal and when == "after":
            die()
        return outcomes

    def _move_clock(self, now: float) -> None:
        super()._move_clock(now)
        if self._doomed:
            die()


def _ids(batch: list[Write]) -> list[str]:
    """The ids of the commands whose steps are written here."""
    appends = [write.do for write in batch if isinstance(write.do, partial) and _is_append(write)]
    return [row[3] for do in appends for row in do.args[0]]


def _is_append(write: Write) -> bool:
    return isinstance(write.do, partial) and write.do.func is append


FULL = "is-full"
READ_ONLY = "is-read-only"
"""While a file of this name lies in the data folder, the journal's file is so."""


class Moody(Writer):
    """A disk that is full or read-only while a file says so."""

    def _do_all(self, batch: list[Write]) -> list[Any]:
        folder = self._folder()
        pages = self._db.execute("PRAGMA page_count").fetchone()[0]
        most = pages if (folder / FULL).exists() else 10**6
        self._db.execute(f"PRAGMA max_page_count = {most}")
        self._db.execute(f"PRAGMA query_only = {int((folder / READ_ONLY).exists())}")
        return super()._do_all(batch)

    def _folder(self) -> Path:
        return Path(self._db.execute("PRAGMA database_list").fetchone()[2]).parent


class Hasty(Mortal):
    """Breaks the promise: says that steps are kept, and writes them a little later, in which it mostly dies.
    The judge must notice."""

    def _run(self) -> None:
        while batch := self._batches.get():
            writes = [write for write, _ in batch]
            if all(_is_append(write) for write in writes):
                self._loop.call_soon_threadsafe(self._settle, batch, [None] * len(batch))
                sleep(0.1)
                self._do_all(writes)
            else:
                self._loop.call_soon_threadsafe(self._settle, batch, self._do_all(writes))


WRITERS: dict[str, type[Writer]] = {"mortal": Mortal, "moody": Moody, "hasty": Hasty}

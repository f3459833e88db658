"""The two threads of the journal: one writes for all rooms at once, one reads."""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, TypeVar

import msgspec

from parlour.journal.base import (
    Conflict,
    Damaged,
    DiskFailed,
)
from parlour.journal.sqlite.trouble import not_kept, unreadable
from parlour.journal.sqlite.writes import Row, insert_all

T = TypeVar("T")


class Write(NamedTuple):
    """Something that waits to be written, how far it moves the rooms' clock, and who waits for it."""

    do: Callable[[sqlite3.Connection], Any]
    now: float
    future: asyncio.Future[Any]
    row: Row | None = None
    """The step, where there is nothing else to write: many such are written with one statement."""


class Writer:
    """The thread that writes: all that was asked while it wrote the last time is one transaction."""

    def __init__(self, db: sqlite3.Connection, loop: asyncio.AbstractEventLoop) -> None:
        self._db = db
        self._loop = loop
        self._waiting: list[Write] = []
        self._busy = False
        """The thread has a batch, or is about to get one."""
        self._batches: SimpleQueue[list[Write]] = SimpleQueue()
        self._broken: DiskFailed | None = None
        # A daemon, because a server that fell over must not hang at its end: what was acknowledged is kept.
        self._thread = Thread(target=self._run, name="journal-writer", daemon=True)
        self._thread.start()

    # In the loop's thread.

    def put(
        self, do: Callable[[sqlite3.Connection], Any], now: float, row: Row | None = None
    ) -> asyncio.Future[Any]:
        """Have it written; the future is done when it is kept."""
        future = self._loop.create_future()
        self._waiting.append(Write(do, now, future, row))
        if not self._busy:
            self._busy = True
            self._loop.call_soon(self._hand_over)  # what else is asked in this turn goes with it
        return future

    def _hand_over(self) -> None:
        batch, self._waiting = self._waiting, []
        self._busy = bool(batch)
        if batch:
            self._batches.put(batch)

    def _settle(self, batch: list[Write], outcomes: list[Any]) -> None:
        """Tell everybody what came of their writes; those who gave up waiting are left alone."""
        self._hand_over()
        for write, outcome in zip(batch, outcomes, strict=True):
            if write.future.done():
                continue
            if failed(outcome):
                write.future.set_exception(outcome)
            else:
                write.future.set_result(outcome)

    async def stop(self) -> None:
        """Write what still waits, fold the log into the file, and let go of it."""
        self._hand_over()
        self._batches.put([])
        await asyncio.to_thread(self._thread.join)
        await asyncio.to_thread(self._let_go)

    # In its own thread.

    def _let_go(self) -> None:
        with closing(self._db), suppress(sqlite3.Error):  # the log holds what could not be folded in
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _run(self) -> None:
        while batch := self._batches.get():
            outcomes = self._commit(batch)
            with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
                self._loop.call_soon_threadsafe(self._settle, batch, outcomes)

    def _commit(self, batch: list[Write]) -> list[Any]:
        """What came of each write: its result, or the exception for whoever waits for it."""
        if self._broken is not None:  # after a failed fsync nobody knows what the file holds
            return [self._broken for _ in batch]
        try:
            self._db.execute("BEGIN IMMEDIATE")
            outcomes = self._attempt_all(batch)
            landed = (w.now for w, outcome in zip(batch, outcomes, strict=True) if not failed(outcome))
            self._move_clock(max(landed, default=0.0))
            self._db.execute("COMMIT")
        except (sqlite3.Error, MemoryError, OverflowError) as error:
            self._roll_back()
            why = not_kept(error)
            self._broken = why if isinstance(why, DiskFailed) else None
            return [why for _ in batch]
        return outcomes

    def _attempt_all(self, batch: list[Write]) -> list[Any]:
        done = insert_all(self._db, [write.row for write in batch if write.row is not None])
        outcomes: list[Any] = []
        for write in batch:
            if write.row is not None and done:
                done -= 1
                outcomes.append(None)
            else:
                outcomes.append(self._attempt(write))
        return outcomes

    def _attempt(self, write: Write) -> Any:
        try:
            return write.do(self._db)
        except Conflict as conflict:  # SQLite has undone the statement, which was the first of this write
            return conflict

    def _move_clock(self, now: float) -> None:
        self._db.execute("UPDATE clock SET now = ?1 WHERE now < ?1", (now,))

    def _roll_back(self) -> None:
        with suppress(sqlite3.Error):  # some failures roll back by themselves
            self._db.execute("ROLLBACK")


def failed(outcome: Any) -> bool:
    return isinstance(outcome, Exception)


class Reader:
    """The thread that reads, on a connection of its own: it sees what was kept, and waits for no writer."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._thread = ThreadPoolExecutor(1, "journal-reader")

    async def ask(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        """What *ask* finds in the file."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._look, ask)

    def stop(self) -> None:
        """Answer what was asked already, then let go of the file."""
        self._thread.shutdown()
        self._db.close()

    def _look(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return ask(self._db)
        except sqlite3.Error as error:
            raise unreadable("the journal", error) from error
        except msgspec.DecodeError as error:
            raise Damaged(f"the journal holds something that cannot be read: {error}") from error

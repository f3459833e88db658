"""The two threads of the journal: one writes for all rooms at once, one reads."""

import asyncio
import sqlite3
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from contextlib import closing, suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from parlour.journal.base import Conflict, Damage, Damaged, DiskFailed, NotKept
from parlour.journal.rows import StepRow
from parlour.journal.sqlite.checked_rows import Connection
from parlour.journal.sqlite.errors import name_of, not_kept, unreadable
from parlour.journal.sqlite.writes import insert_all, move_clock

W = TypeVar("W")
Done = Callable[[Any], None]
"""Called with the outcome of some work: its result, or an exception."""
Batch = list[tuple[W, Done]]

MOST_WRITES = 10_000
MOST_READS = 20
"""Work in one batch at most: a transaction may be large, but read results must not wait."""


class Write(NamedTuple):
    """A write that waits, and the time to which it moves the rooms' clock."""

    do: Callable[[sqlite3.Connection], Any]
    now: float
    row: StepRow | None = None
    """The step, if there is nothing else to write: many such are written with one statement."""


def note_pages(db: sqlite3.Connection, error: Exception) -> None:
    """Note it if SQLite cannot read the file's structure."""
    if name_of(error).startswith("SQLITE_CORRUPT") and isinstance(db, Connection):
        db.damages.setdefault(Damage("file", str(error)))


class QueueThread(ABC, Generic[W]):
    """A thread with a queue and a connection to the file: does in one batch what came during the last one.

    Switching between two threads costs more than most requests, so it happens once for many.
    """

    def __init__(self, name: str, db: sqlite3.Connection, loop: asyncio.AbstractEventLoop, most: int) -> None:
        self._db = db
        self._loop = loop
        self._most = most
        self._waiting: deque[tuple[W, Done]] = deque()
        self._busy = False
        """The thread has a batch, or is about to get one."""
        self._batches: SimpleQueue[Batch[W]] = SimpleQueue()
        # A daemon, because a server that crashed must not hang at its end: acknowledged writes are kept.
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    # In the loop's thread.

    def put(self, work: W, done: Done) -> None:
        """Have work done; *done* is called with its outcome."""
        self._waiting.append((work, done))
        if not self._busy:
            self._busy = True
            self._loop.call_soon(self._hand_over)  # what else is asked in this turn goes into the same batch

    def do(self, work: W) -> asyncio.Future[Any]:
        """Have work done; the future gets its outcome."""
        future = self._loop.create_future()

        def done(outcome: Any) -> None:
            if future.done():  # a cancelled future is left alone
                return
            if failed(outcome):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

        self.put(work, done)
        return future

    def _hand_over(self) -> None:
        count = min(len(self._waiting), self._most)
        self._busy = bool(count)
        if count:
            self._batches.put([self._waiting.popleft() for _ in range(count)])

    def _settle(self, batch: "Batch[W]", outcomes: list[Any]) -> None:
        """Report each outcome to whoever waits for it."""
        self._hand_over()
        for (_, done), outcome in zip(batch, outcomes, strict=True):
            try:
                done(outcome)
            except Exception as error:  # noqa: BLE001 - its own error; the others are still told
                self._loop.call_exception_handler({"message": "after a write", "exception": error})

    async def stop(self) -> None:
        """Do the waiting work, and close the file."""
        while self._waiting:
            self._hand_over()
        self._batches.put([])
        await asyncio.to_thread(self._thread.join)
        await asyncio.to_thread(self._let_go)

    # In its own thread.

    def _run(self) -> None:
        while batch := self._batches.get():
            outcomes = self._do_all([work for work, _ in batch])
            with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
                self._loop.call_soon_threadsafe(self._settle, batch, outcomes)

    @abstractmethod
    def _do_all(self, batch: list[W]) -> list[Any]:
        """The outcome of each: its result, or the exception for whoever waits for it."""

    def _let_go(self) -> None:
        self._db.close()


class Writer(QueueThread[Write]):
    """Writes: a batch is one transaction, so that many rooms share the price of one flush to the disk."""

    def __init__(self, db: sqlite3.Connection, loop: asyncio.AbstractEventLoop) -> None:
        self._broken: DiskFailed | None = None
        super().__init__("journal-writer", db, loop, MOST_WRITES)

    def _let_go(self) -> None:
        """Merge the log into the file first."""
        with closing(self._db), suppress(sqlite3.Error):  # the log holds what could not be merged
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _do_all(self, batch: list[Write]) -> list[Any]:
        if self._broken is not None:  # after a failed fsync nobody knows what the file holds
            return [self._broken for _ in batch]
        committing = False
        try:
            self._db.execute("BEGIN IMMEDIATE")
            outcomes = self._attempt_all(batch)
            landed = (w.now for w, outcome in zip(batch, outcomes, strict=True) if not failed(outcome))
            self._move_clock(max(landed, default=0.0))
            committing = True
            self._db.execute("COMMIT")
        except (sqlite3.Error, MemoryError, OverflowError) as error:
            self._roll_back()
            note_pages(self._db, error)
            why = not_kept(error, committing=committing)
            self._broken = why if isinstance(why, DiskFailed) else None
            return [why for _ in batch]
        except Exception as error:  # noqa: BLE001 - a damaged row, or a bug: it must not end all writing
            self._roll_back()
            if len(batch) == 1:
                return [blamed(error) or fault(error)]
            return [outcome for write in batch for outcome in self._do_all([write])]
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
        except Conflict as conflict:  # it happened before anything was written
            return conflict

    def _move_clock(self, now: float) -> None:
        move_clock(now, self._db)

    def _roll_back(self) -> None:
        with suppress(sqlite3.Error):  # some failures roll back by themselves
            self._db.execute("ROLLBACK")


def failed(outcome: Any) -> bool:
    return isinstance(outcome, Exception)


def blamed(error: Exception) -> Damaged | None:
    """The journal's error, if damage of the file is the cause."""
    if isinstance(error, Damaged):
        return error
    if isinstance(error, msgspec.DecodeError | UnicodeDecodeError):
        return Damaged(f"the journal holds something that cannot be read: {error}")
    return None


def fault(error: Exception) -> NotKept:
    """Wrap an unexpected error, a bug of ours, as `NotKept`: nothing was written."""
    why = NotKept(f"not kept: {type(error).__name__}")
    why.__cause__ = error
    return why


class Reader(QueueThread[Callable[[sqlite3.Connection], Any]]):
    """Reads, on a connection of its own: it sees all committed writes, and waits for no writer."""

    def __init__(self, db: sqlite3.Connection, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__("journal-reader", db, loop, MOST_READS)

    def _do_all(self, batch: list[Callable[[sqlite3.Connection], Any]]) -> list[Any]:
        return [self._look(ask) for ask in batch]

    def _look(self, ask: Callable[[sqlite3.Connection], Any]) -> Any:
        try:
            return ask(self._db)
        except sqlite3.Error as error:
            note_pages(self._db, error)
            return unreadable("the journal", error)
        except Exception as error:  # noqa: BLE001 - the error belongs to whoever asked
            return blamed(error) or error

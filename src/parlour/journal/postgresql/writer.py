"""The writing connection: all that waits is written together, and a lost connection is made again.

Nobody is told that a write failed unless that is certain: what was in flight when the connection broke is
looked up, once PostgreSQL answers again; where it does not, the outcome is not known.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

import asyncpg
from asyncpg import Connection

from parlour.journal.base import Conflict, NotKept, OutcomeUnknown, Trouble
from parlour.journal.postgresql.schema import connect
from parlour.journal.postgresql.writes import Fenced, append_alone, pass_fence
from parlour.journal.rows import StepRow

MOST_WRITES = 2000
"""Writes of one batch at most."""
RECONNECT_EVERY = 0.1
SETTLE_WITHIN = 3.0
"""Seconds after which nobody waits any longer to hear what came of a write in flight."""

KEPT_OF = """SELECT room, seq, checksum FROM steps
    WHERE (room, seq) IN (SELECT * FROM unnest($1::bigint[], $2::bigint[]))"""

Done = Callable[[Any], None]
"""Called with the outcome of a write: its result, or an exception."""
LOST = (OSError, asyncpg.InterfaceError, asyncpg.PostgresConnectionError, asyncpg.OperatorInterventionError)
"""Errors after which the connection is of no use."""


class Write(NamedTuple):
    """A write that waits, and the time to which it moves the rooms' clock."""

    do: Callable[[Connection], Awaitable[Any]]
    now: float = 0.0
    row: StepRow | None = None
    """The step, if there is nothing else to write: many such are written with one statement."""


Batch = Sequence[tuple[Write, Done]]


class Writer:
    """Writes for all rooms of this worker, one batch after the other."""

    def __init__(self, url: str, synchronous: str, me: int, fenced: Callable[[], None]) -> None:
        self._url = url
        self._settings = {"synchronous_commit": synchronous}
        self._me = me
        self._fenced = fenced
        """Called once when this worker is found to be gone."""
        self._connection = 0
        """How often this worker has connected: what an older connection still sends is not kept."""
        self._db: Connection | None = None
        self._waiting: deque[tuple[Write, Done]] = deque()
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    async def start(self) -> None:
        """Connect."""
        await self._connect()

    async def stop(self) -> None:
        """Write what waits, then close the connection."""
        while self._task is not None:
            await asyncio.wait([self._task])
        self._closed = True
        if self._db is not None:
            await self._db.close()

    def put(self, write: Write, done: Done) -> None:
        """Have something written; *done* is called with its outcome."""
        if self._closed:
            done(NotKept("the journal is not open"))
            return
        self._waiting.append((write, done))
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def do(self, write: Write) -> asyncio.Future[Any]:
        """Have something written; the future gets its outcome."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def done(outcome: Any) -> None:
            if future.done():  # a cancelled future is left alone
                return
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

        self.put(write, done)
        return future

    async def _run(self) -> None:
        """Write batch after batch, as long as something waits."""
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), MOST_WRITES))]
            alone = [one for one in batch if one[0].row is not None]
            rest = [one for one in batch if one[0].row is None]
            if alone:
                await self._write_alone(alone)
            if rest:
                await self._write_together(rest)
        self._task = None

    # Steps that have nothing beside them.

    async def _write_alone(self, batch: Batch) -> None:
        rows = [write.row for write, _ in batch if write.row is not None]
        try:
            db = await self._current()
            kept = await append_alone(db, self._fence(batch), rows)
        except LOST as error:
            outcomes = await self._looked_up(rows, error)
        except Trouble as trouble:
            outcomes = [self._noted(trouble)] * len(rows)
        except asyncpg.PostgresError as error:
            outcomes = [not_kept(error)] * len(rows)
        else:
            outcomes = [None if new else taken_already(row) for row, new in zip(rows, kept, strict=True)]
        settle(batch, outcomes)

    async def _looked_up(self, rows: Sequence[StepRow], error: Exception) -> list[Trouble | None]:
        """Find out which of these steps were kept, after the connection broke."""
        try:
            db = await asyncio.wait_for(self._connected_again(), SETTLE_WITHIN)
            there = await db.fetch(KEPT_OF, [row[0] for row in rows], [row[1] for row in rows])
        except (Trouble, TimeoutError, *LOST):
            return [unknown(error)] * len(rows)
        kept = {tuple(found) for found in there}
        return [None if (row[0], row[1], row[-1]) in kept else not_kept(error) for row in rows]

    # Everything else.

    async def _write_together(self, batch: Batch) -> None:
        """Write a batch in one transaction; if one of it cannot be, each in one of its own."""
        try:
            settle(batch, await self._transaction(batch))
        except Trouble as trouble:
            settle(batch, [self._noted(trouble)] * len(batch))
        except Exception as error:  # noqa: BLE001 - it belongs to whoever asked for this write
            if len(batch) == 1:
                settle(batch, [blamed(error)])
                return
            for one in batch:
                await self._write_together([one])

    async def _transaction(self, batch: Batch) -> list[Any]:
        """The results of all writes of a batch; `Failed` if one of them failed."""
        transaction = "0"
        try:
            db = await self._current()
            async with db.transaction():
                transaction = await pass_fence(db, self._fence(batch))
                results = [await attempt(write, db) for write, _ in batch]
        except LOST as error:
            await self._settle_transaction(transaction, error)
            results = []
        return results

    async def _settle_transaction(self, transaction: str, error: Exception) -> None:
        """Find out whether a transaction was committed, after the connection broke in it."""
        try:
            db = await asyncio.wait_for(self._connected_again(), SETTLE_WITHIN)
            status = await db.fetchval("SELECT pg_xact_status($1::text::xid8)", transaction)
        except (Trouble, TimeoutError, asyncpg.PostgresError, *LOST):
            raise unknown(error) from error
        if transaction == "0" or status != "committed":
            raise not_kept(error)
        raise unknown(error)  # it was kept, but what the writes returned is lost

    # The connection.

    def _fence(self, batch: Batch) -> tuple[int, float, int]:
        return self._me, max(write.now for write, _ in batch), self._connection

    async def _current(self) -> Connection:
        """The connection, or a new one if it was lost; `NotKept` if there is none to be had."""
        if self._db is None or self._db.is_closed():
            await self._connect()
        assert self._db is not None  # noqa: S101 - it is connected
        return self._db

    async def _connected_again(self) -> Connection:
        """A connection, as soon as there is one to be had."""
        while True:
            try:
                return await self._current()
            except NotKept:
                await asyncio.sleep(RECONNECT_EVERY)

    async def _connect(self) -> None:
        """Connect, and fence off what an older connection may still be sending; waits for it to end."""
        db = await connect(self._url, **self._settings)
        sql = "UPDATE workers SET connection = connection + 1 WHERE id = $1 AND NOT gone RETURNING connection"
        self._db, number = db, await db.fetchval(sql, self._me)
        if number is None:
            raise self._noted(Fenced("this worker was declared gone"))
        self._connection = number

    def _noted(self, trouble: Trouble) -> Trouble:
        if isinstance(trouble, Fenced):
            self._fenced()
        return trouble


class Failed(Exception):
    """One write of a batch failed: the error is its cause."""


async def attempt(write: Write, db: Connection) -> Any:
    """Do one write of a batch; `Failed` if it cannot be done, unless the connection is lost."""
    try:
        return await write.do(db)
    except LOST:
        raise
    except Exception as error:
        raise Failed from error


def settle(batch: Batch, outcomes: Sequence[Any]) -> None:
    """Report each outcome to whoever waits for it."""
    loop = asyncio.get_running_loop()
    for (_, done), outcome in zip(batch, outcomes, strict=True):
        try:
            done(outcome)
        except Exception as error:  # noqa: BLE001 - its own error; the others are still told
            loop.call_exception_handler({"message": "after a write", "exception": error})


def taken_already(row: StepRow) -> Conflict:
    return Conflict(f"step {row[1]} of room {row[0]} has no place")


def blamed(error: BaseException) -> Exception:
    """The journal's error for a failed write."""
    cause = error.__cause__ if isinstance(error, Failed) and error.__cause__ is not None else error
    if isinstance(cause, Trouble):
        return cause
    return not_kept(cause)


def not_kept(error: BaseException) -> NotKept:
    why = NotKept(f"not kept: {error!r}")
    why.__cause__ = error
    return why


def unknown(error: BaseException) -> OutcomeUnknown:
    why = OutcomeUnknown(f"it is not known whether this is kept: {error!r}")
    why.__cause__ = error
    return why

"""A journal in PostgreSQL: one connection that writes for all rooms of this worker, and a few that read.

Every write passes a fence, the row of this worker: once the worker is declared gone, nothing of it is kept.
The key (room, seq) is the second fence.
"""

import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from os import getpid
from typing import Any, TypeVar

from asyncpg import Connection
from msgspec import UNSET, UnsetType

from parlour.journal.base import (
    Chain,
    Change,
    Damage,
    Durability,
    Found,
    Kept,
    NotKept,
    Recalled,
    Record,
    RecordQuery,
    RoomQuery,
    RoomSummary,
    StepWrites,
    Stored,
)
from parlour.journal.conditions import AFTER_ALL
from parlour.journal.postgresql import writes as row_writes
from parlour.journal.postgresql.batches import Write
from parlour.journal.postgresql.checked_rows import WRITTEN, Damages
from parlour.journal.postgresql.connection import WritingConnection
from parlour.journal.postgresql.errors import ERRORS, not_kept
from parlour.journal.postgresql.readers import Readers
from parlour.journal.postgresql.reads import Reads
from parlour.journal.postgresql.schema import connect, make_ready
from parlour.journal.postgresql.turn import Turn
from parlour.journal.postgresql.writer import SETTLE_WITHIN, Writer
from parlour.journal.rows import Row, SummaryRow, row_of
from parlour.wire import Step

T = TypeVar("T")

SYNCHRONOUS: dict[Durability, str] = {"disk": "on", "process": "off"}
NEW_WORKER = """INSERT INTO workers (address, clock)
    SELECT $1, coalesce(max(clock), 0) FROM workers RETURNING id, clock"""

GONE_KEPT = 100
"""Workers that are gone and still have a row: the last ones, in case somebody wants to know."""
FORGET_GONE = """DELETE FROM workers WHERE gone AND id < $1 AND clock <= $2
    AND NOT EXISTS (SELECT FROM beats WHERE worker = id)
    AND NOT EXISTS (SELECT FROM shards WHERE id IN (owner, wanted))"""
"""Deletes old rows of workers that are gone; without a row nothing of theirs is kept, either."""


class PostgresJournal:
    """Keeps everything in one schema of a PostgreSQL database."""

    def __init__(self, url: str, durability: Durability, *, settle_within: float = SETTLE_WITHIN) -> None:
        self._url = url
        self._settle_within = settle_within
        """Seconds after which nobody waits any longer to hear what came of a write in flight."""
        self._durability = durability
        self.me = 0
        """The id of this worker: a new one each time it is opened."""
        self.cluster = ""
        """The name of the cluster that this database is of."""
        self.turn = Turn(url, shared=False)
        """Whether it is used by this process alone, or by many workers."""
        self.fenced: Callable[[], None] = lambda: None
        """Called when this worker was declared gone: nothing that it writes is kept any more."""
        self._writer: Writer | None = None
        self._readers: Readers | None = None
        self._damages: Damages = {}
        self._inspected: tuple[int, Row | None] = (0, None)
        """The table being checked, and the last row that was."""

    async def open(self) -> float:
        if self._writer is not None:
            raise RuntimeError("the journal is open already")
        try:
            self.me, clock = await self._enrol()
            line = WritingConnection(self._url, SYNCHRONOUS[self._durability], self.me)
            await line.current()
        except BaseException:
            await self.turn.give_back()
            raise
        self._damages, self._inspected = {}, (0, None)
        self._writer = Writer(line, self.me, self._note_fenced, self._settle_within, self._damages)
        self._readers = Readers(self._url)
        return clock

    async def _enrol(self) -> tuple[int, float]:
        """Become a worker, with an id of its own; also returns where the rooms' clock stopped."""
        db = await connect(self._url)
        try:
            await make_ready(db, self._url)
            await self.turn.take()
            self.cluster = await db.fetchval("SELECT value FROM about WHERE name = 'cluster'")
            me, clock = await db.fetchrow(NEW_WORKER, f"{socket.gethostname()}:{getpid()}")
            await db.execute(FORGET_GONE, me - GONE_KEPT, clock)
        except ERRORS as error:
            raise not_kept(error) from error
        finally:
            await db.close()
        return int(me), float(clock)

    def share(self) -> None:
        """Use the database together with other workers; before it is opened."""
        self.turn = Turn(self._url, shared=True)

    async def close(self) -> None:
        writer, self._writer = self._writer, None
        readers, self._readers = self._readers, None
        if writer is not None and readers is not None:
            await writer.stop()
            await readers.close()
            await self.turn.give_back()

    def _note_fenced(self) -> None:
        self.fenced()

    # Writing. Encoding errors are raised here, where they cost only their own caller.

    async def create(
        self,
        summary: RoomSummary,
        state: bytes,
        due: float | None,
        steps: Sequence[Step] = (),
        records: Sequence[Change] = (),
    ) -> int:
        row = SummaryRow.of(summary)
        do = partial(row_writes.create, room=row, state=state, due=due, steps=steps, records=records)
        number: int = await self._write(do)
        return number

    def append(self, room: int, steps: Sequence[Step], writes: StepWrites, kept: Kept) -> None:
        rows = [row_of(room, step) for step in steps]
        summary = None if writes.summary is None else SummaryRow.of(writes.summary)
        append = row_writes.Append(rows, summary, writes.state, writes.due, writes.records)
        if self._writer is None:
            kept(NotKept("the journal is not open"))
        else:
            self._writer.put(Write(None, steps[-1].now, append), kept)

    async def update_room(
        self,
        room: int,
        *,
        summary: RoomSummary | None = None,
        stored: Stored | None = None,
        due: float | UnsetType | None = UNSET,
    ) -> None:
        row = None if summary is None else SummaryRow.of(summary)
        do = partial(
            row_writes.update_room, damages=self._damages, number=room, room=row, stored=stored, due=due
        )
        await self._write(do)

    async def keep(self, *changes: Change) -> None:
        await self._write(partial(row_writes.keep, changes=changes))

    async def beat(self, now: float) -> None:
        async def nothing(_: Connection) -> None:
            """The fence, which every write passes, moves the clock."""

        await self._write(nothing, now)

    async def prune(self, before: float, limit: int) -> bool:
        do = partial(row_writes.prune, before=before, limit=limit, damages=self._damages)
        more: bool = await self._write(do)
        return more

    async def _write(self, do: Callable[[Connection], Awaitable[Any]], now: float = 0.0) -> Any:
        if self._writer is None:
            raise NotKept("the journal is not open")
        return await self._writer.do(Write(do, now))

    # Reading.

    async def replay(self, room: int, after: int = 0) -> AsyncIterator[Step]:
        chain = Chain(room, after)
        more = True
        while more:
            rows, more = await self._read(lambda reads: reads.page(room, chain.seq))
            for row in rows:
                yield chain.read(*row)

    async def stored(self, room: int, at: int | None = None) -> Stored:
        return await self._read(lambda reads: reads.stored(room, AFTER_ALL if at is None else at))

    async def recall(self, id: str) -> Recalled | None:
        return await self._read(lambda reads: reads.recall(id))

    async def find(self, which: str | int) -> Found | None:
        return await self._read(lambda reads: reads.find(which))

    async def rooms(self, query: RoomQuery) -> list[Found]:
        return await self._read(lambda reads: reads.rooms(query))

    async def room_ids(self, query: RoomQuery) -> list[str]:
        return await self._read(lambda reads: reads.room_ids(query))

    async def record(self, kind: str, key: str, group: str = "") -> Record | None:
        return await self._read(lambda reads: reads.record(kind, key, group))

    async def records(self, query: RecordQuery) -> list[Record]:
        return await self._read(lambda reads: reads.records(query))

    def damages(self) -> Sequence[Damage]:
        return tuple(self._damages)

    async def inspect(self, limit: int) -> bool:
        at, after = self._inspected
        if at == len(WRITTEN):
            return False
        after = await self._read(lambda reads: reads.walk(WRITTEN[at], after, limit))
        self._inspected = (at, after) if after is not None else (at + 1, None)
        return self._inspected[0] < len(WRITTEN)

    async def _read(self, ask: Callable[[Reads], Awaitable[T]]) -> T:
        if self._readers is None:
            raise NotKept("the journal is not open")
        return await self._readers.ask(lambda db: ask(Reads(db, self._damages)))

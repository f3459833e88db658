"""A journal in one SQLite file: a thread that writes for all rooms at once, and a thread that reads.

Everything that waits when the writer starts its next batch is one transaction, so that many rooms share the
price of one flush to the disk. The unique key (room, seq) keeps two owners of one room apart.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from msgspec import UNSET, UnsetType

from parlour.journal.base import (
    Chain,
    Change,
    Damage,
    Durability,
    Found,
    Kept,
    Lost,
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
from parlour.journal.rows import ALL_TABLES, Row, SummaryRow, row_of
from parlour.journal.sqlite import reads
from parlour.journal.sqlite import writes as row_writes
from parlour.journal.sqlite.checked_rows import Connection, walk
from parlour.journal.sqlite.file import FILE, open_file
from parlour.journal.sqlite.mark import ProgressMark
from parlour.journal.sqlite.pruning import prune
from parlour.journal.sqlite.threads import Reader, Write, Writer
from parlour.wire import Step

T = TypeVar("T")


class SqliteJournal:
    """Keeps everything in the file ``parlour.db`` of a folder."""

    def __init__(self, folder: Path, durability: Durability, *, accept_loss: bool = False) -> None:
        self._path = folder / FILE
        self._mark = ProgressMark(folder)
        self._accept_loss = accept_loss
        self._durability = durability
        self._writer: Writer | None = None
        self._reader: Reader | None = None
        self._clock = 0.0
        """The rooms' clock, as it was last noted."""
        self._damages: dict[Damage, None] = {}
        self._inspected: tuple[int, Row | None] = (0, None)
        """The table being checked, and the last row that was."""

    async def open(self) -> float:
        if self._writer is not None:
            raise RuntimeError("the journal is open already")
        writing, reading, clock = await asyncio.to_thread(self._open)
        self._damages, self._inspected, self._clock = reading.damages, (0, None), clock
        self._writer = Writer(writing, asyncio.get_running_loop())
        self._reader = Reader(reading, asyncio.get_running_loop())
        return clock

    def _open(self) -> tuple[Connection, Connection, float]:
        lost: Lost | None = None
        try:
            self._mark.check(self._path, self._durability)
        except Lost as error:
            if not self._accept_loss:
                raise
            lost = error
        writing, reading, clock = open_file(self._path, self._durability, self._mark.read())
        if lost is not None:
            reading.damages.setdefault(Damage("file", str(lost)))
            self._mark.write(clock)
        return writing, reading, clock

    async def close(self) -> None:
        writer, self._writer = self._writer, None
        reader, self._reader = self._reader, None
        if writer is not None and reader is not None:
            await reader.stop()
            await writer.stop()
            await asyncio.to_thread(self._mark.write, self._clock)

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
        number: int = await self._write(partial(row_writes.create, row, state, due, steps, records))
        return number

    def append(self, room: int, steps: Sequence[Step], writes: StepWrites, kept: Kept) -> None:
        rows = [row_of(room, step) for step in steps]
        row_of_room = None if writes.summary is None else SummaryRow.of(writes.summary)
        alone = row_of_room is None and writes.state is None and writes.due is UNSET and not writes.records
        do = partial(row_writes.append, rows, row_of_room, writes.state, writes.due, writes.records)
        if self._writer is None:
            kept(NotKept("the journal is not open"))
        else:
            self._writer.put(Write(do, steps[-1].now, rows[0] if alone and len(rows) == 1 else None), kept)

    async def update_room(
        self,
        room: int,
        *,
        summary: RoomSummary | None = None,
        stored: Stored | None = None,
        due: float | UnsetType | None = UNSET,
    ) -> None:
        row = None if summary is None else SummaryRow.of(summary)
        await self._write(partial(row_writes.update_room, room, row, stored, due))

    async def keep(self, *changes: Change) -> None:
        await self._write(partial(row_writes.keep, changes))

    async def beat(self, now: float) -> None:
        await self._write(lambda _: None, now)
        self._clock = max(self._clock, now)
        if self._mark.is_due(self._clock):  # everything up to the mark is on the disk
            await asyncio.to_thread(self._mark.write, self._clock)

    async def prune(self, before: float, limit: int) -> bool:
        more: bool = await self._write(partial(prune, before, limit))
        return more

    def _write(self, do: Callable[[sqlite3.Connection], Any], now: float = 0.0) -> asyncio.Future[Any]:
        if self._writer is None:
            raise NotKept("the journal is not open")
        return self._writer.do(Write(do, now))

    # Reading.

    async def replay(self, room: int, after: int = 0) -> AsyncIterator[Step]:
        chain = Chain(room, after)
        more = True
        while more:
            rows, more = await self._read(partial(reads.page, room, chain.seq))
            for row in rows:
                yield chain.read(*row)

    async def stored(self, room: int, at: int | None = None) -> Stored:
        return await self._read(partial(reads.stored, room, AFTER_ALL if at is None else at))

    async def recall(self, id: str) -> Recalled | None:
        return await self._read(partial(reads.recall, id))

    async def find(self, which: str | int) -> Found | None:
        return await self._read(partial(reads.find, which))

    async def rooms(self, query: RoomQuery) -> list[Found]:
        return await self._read(partial(reads.rooms, query))

    async def room_ids(self, query: RoomQuery) -> list[str]:
        return await self._read(partial(reads.room_ids, query))

    async def record(self, kind: str, key: str, group: str = "") -> Record | None:
        return await self._read(partial(reads.record, kind, key, group))

    async def records(self, query: RecordQuery) -> list[Record]:
        return await self._read(partial(reads.records, query))

    def damages(self) -> Sequence[Damage]:
        return tuple(self._damages)

    async def inspect(self, limit: int) -> bool:
        at, after = self._inspected
        if at == len(ALL_TABLES):
            return False
        after = await self._read(lambda db: walk(db, ALL_TABLES[at], after, limit))
        self._inspected = (at, after) if after is not None else (at + 1, None)
        return self._inspected[0] < len(ALL_TABLES)

    async def _read(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        if self._reader is None:
            raise NotKept("the journal is not open")
        found: T = await self._reader.do(ask)
        return found

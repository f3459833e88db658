"""Copies the rows of one SQL journal to another: as they are, with their checksums, checked on the way.

The rows cross table by table in the order of their keys. The target notes how far it has come in the same
transaction as the rows, so that a copy which was broken off goes on from there.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol

import msgspec

from parlour.journal.base import Chain, Damage, Damaged, NotKept
from parlour.journal.rows import RECORDS, ROOMS, SEATS, STATES, STEPS, Row, Table, damage_of, is_whole
from parlour.wire import digest

COPIED = (ROOMS, SEATS, RECORDS, STATES, STEPS)
PAGE = 500
"""Rows that cross together."""


class RowSource(Protocol):
    """The rows of a journal that nobody serves; they are only read."""

    name: str
    """What the journal is called, wherever it is asked from."""

    async def mark(self) -> str:
        """Something that is not the same any more once the journal was served again."""
        ...

    async def count(self, table: Table) -> int:
        """How many rows a table has."""
        ...

    def pages(self, table: Table, after: Row | None) -> AsyncIterator[Sequence[Row]]:
        """All rows after the one with this key, in the order of keys, damaged ones included."""
        ...

    async def records(self, kind: str) -> list[Row]:
        """The rows of all records of a kind; they should be few."""
        ...

    async def clock(self) -> float | None:
        """Where the rooms' clock stopped; None if that is damaged."""
        ...

    async def last_number(self) -> int:
        """The largest number that a room ever had."""
        ...

    async def aclose(self) -> None: ...


class RowTarget(Protocol):
    """A journal that is being filled."""

    async def begun(self) -> bytes | None:
        """What the last `write` noted; None if nothing is there yet."""
        ...

    async def begin(self, note: bytes) -> None:
        """Empty the tables, and note that a copy has begun."""
        ...

    async def write(self, table: Table, rows: Sequence[Row], note: bytes) -> None:
        """Write rows and the note, all or nothing."""
        ...

    async def count(self, table: Table) -> int:
        """How many rows a table has."""
        ...

    async def finish(self, clock: float, last_number: int, records: Sequence[Row]) -> None:
        """Write the clock, and records that are not copied; from then on the journal can be served."""
        ...

    async def aclose(self) -> None: ...


class CopyNote(msgspec.Struct, kw_only=True):
    """How far a copy has come."""

    source: str
    mark: str
    table: int = 0
    """The table that is being copied, by its place in `COPIED`."""
    after: Row | None = None
    """The key of its last row that was copied."""
    head: bytes | None = None
    """The digest of the last step that was copied."""
    seen: dict[str, int] = {}
    """How many rows were read of each table."""
    written: dict[str, int] = {}
    now: float = 0.0
    """The latest time of a step."""
    damages: list[Damage] = []


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(CopyNote).decode


class StepOrder:
    """Checks that each room's steps follow each other, across pages."""

    def __init__(self, note: CopyNote) -> None:
        room, seq = note.after if note.after is not None else (0, 0)
        self._chain = Chain(room, seq, note.head)
        self._note = note

    def skip(self, row: Row) -> None:
        """Pass over a damaged step: the next one is believed."""
        if row[0] == self._chain.room and row[1] == self._chain.seq + 1:
            self._chain = Chain(row[0], row[1])

    def takes(self, row: Row) -> bool:
        """True if a step follows the one before; what is missing or does not follow is noted."""
        room, seq, body = row[0], row[1], row[4]
        if room != self._chain.room:
            self._chain = Chain(room, 0, b"")
        if seq != self._chain.seq + 1:
            missing = f"room '{room}', seq '{self._chain.seq + 1}' to '{seq - 1}' (missing)"
            self._note.damages.append(Damage(STEPS.name, missing))
            self._chain = Chain(room, seq - 1)
        self._note.head = digest(body)
        try:
            step = self._chain.read(seq, body, self._note.head)
        except Damaged:
            self._note.damages.append(damage_of(STEPS, row))
            self._chain, self._note.head = Chain(room, seq), None
            return False
        self._note.now = max(self._note.now, step.now)
        return True


LeftOut = Callable[[Table, Row], bool]
"""Says which rows are not to be copied."""
Notice = Callable[[Table, int, int], None]
"""Called with a table, how many of its rows were read, and how many there are."""


class Copy:
    """One copy of all rows."""

    def __init__(
        self, source: RowSource, target: RowTarget, left_out: LeftOut, notice: Notice = lambda *_: None
    ) -> None:
        self._source, self._target = source, target
        self._left_out, self._notice = left_out, notice

    async def run(self) -> CopyNote:
        """Copy all that is left to copy; returns what was copied and what is damaged."""
        note = await self._begin()
        for place in range(note.table, len(COPIED)):
            if place != note.table:
                note.table, note.after, note.head = place, None, None
            await self._copy_table(COPIED[place], note)
        await self._compare(note)
        return note

    async def _begin(self) -> CopyNote:
        """Go on where the last copy stopped, unless it was of something else or the source has changed."""
        fresh = CopyNote(source=self._source.name, mark=await self._source.mark())
        begun = await self._target.begun()
        if begun is not None:
            note = _decode(begun)
            if note.source != fresh.source:
                raise NotKept(f"the target holds an unfinished copy of {note.source}: finish that first")
            if note.mark == fresh.mark:
                return note
        await self._target.begin(_encode(fresh))
        return fresh

    async def _copy_table(self, table: Table, note: CopyNote) -> None:
        order = StepOrder(note) if table is STEPS else None
        total = await self._source.count(table)
        self._notice(table, note.seen.get(table.name, 0), total)
        async for page in self._source.pages(table, note.after):
            rows = [row for row in page if self._is_copied(table, row, note, order)]
            note.seen[table.name] = note.seen.get(table.name, 0) + len(page)
            note.written[table.name] = note.written.get(table.name, 0) + len(rows)
            if rows:
                named = dict(zip(table.columns, rows[-1], strict=False))
                note.after = tuple(named[column] for column in table.key)
                await self._target.write(table, rows, _encode(note))
            self._notice(table, note.seen[table.name], total)

    def _is_copied(self, table: Table, row: Row, note: CopyNote, order: StepOrder | None) -> bool:
        if not is_whole(table, row):
            note.damages.append(damage_of(table, row))
            if order is not None:
                order.skip(row)
            return False
        return not self._left_out(table, row) and (order is None or order.takes(row))

    async def _compare(self, note: CopyNote) -> None:
        """`NotKept` if rows are missing on either side: an index may have lost them."""
        for table in COPIED:
            for side, count in ((self._source, note.seen), (self._target, note.written)):
                there, counted = await side.count(table), count.get(table.name, 0)
                if there != counted:
                    raise NotKept(f"{table.name}: {there} rows are there, and {counted} were copied")

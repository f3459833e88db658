"""The reads. Every row is checked; see `checked_rows`."""

from collections.abc import Sequence
from typing import Any

from asyncpg import Connection

from parlour.journal.base import (
    Chain,
    Damaged,
    Found,
    Recalled,
    Record,
    RecordQuery,
    RoomQuery,
    Stored,
)
from parlour.journal.conditions import (
    AFTER_ALL,
    BY_ID,
    BY_NUMBER,
    LAST_STEP,
    THIS_RECORD,
    which_records,
    which_rooms,
)
from parlour.journal.postgresql.checked_rows import (
    Damages,
    from_text,
    noted,
    numbered,
    read_row,
    selection,
    taken,
    whole_rows,
)
from parlour.journal.rows import RECORDS, ROOMS, SEATS, STATES, STEPS, Row, Table, found_in, record_of
from parlour.wire import digest

PAGE = 200
"""Steps that a replay reads at a time."""
SOME_RECORDS = 500
"""Records that are read at a time where only so many bytes of them are wanted."""

ReadStep = tuple[int, bytes, bytes]
"""A step: its seq, its body and that body's digest."""


class Reads:
    """Reads on one connection, and the damage that they find."""

    def __init__(self, db: Connection, damages: Damages) -> None:
        self._db = db
        self._damages = damages

    async def _look(
        self, table: Table, which: str, values: Sequence[Any], more: str = "", *, strict: bool = False
    ) -> list[Row]:
        """The whole rows that SQL finds; *strict*: `Damaged` at the first that is not."""
        rows = await self._db.fetch(selection(table, which, more), *taken(values))
        return list(whole_rows(table, rows, self._damages, strict=strict))

    # Rooms.

    def _found(self, row: Row) -> Found:
        there = found_in(row)
        if there is None:
            raise noted(ROOMS, row, self._damages)
        return there

    async def find(self, which: str | int) -> Found | None:
        condition = BY_ID if isinstance(which, str) else BY_NUMBER
        rows = await self._look(ROOMS, condition, [which], LAST_STEP, strict=True)
        return self._found(rows[0]) if rows else None

    async def rooms(self, query: RoomQuery) -> list[Found]:
        there = []
        for row in await self._look(ROOMS, *await self._asked_for(query), LAST_STEP):
            try:
                there.append(self._found(row))
            except Damaged:  # noted
                continue
        return there

    async def room_ids(self, query: RoomQuery) -> list[str]:
        which, values = await self._asked_for(query)
        rows = await self._db.fetch(numbered(f"SELECT textsend(id) FROM rooms {which}"), *taken(values))  # noqa: S608
        return [from_text(id) or "" for (id,) in rows]

    async def _asked_for(self, query: RoomQuery) -> tuple[str, list[Any]]:
        if query.player is None:
            return which_rooms(query)
        seats = await self._look(SEATS, "WHERE player = ?", [query.player])
        return which_rooms(query, [row[0] for row in seats])

    async def recall(self, id: str) -> Recalled | None:
        there = await self.find(id)
        if there is None:
            return None
        state = await self.stored(there.number, AFTER_ALL)
        chain = Chain(there.number, state.seq)
        rows = await self._look(STEPS, STEPS_AFTER, [there.number, state.seq, AFTER_ALL], strict=True)
        steps = [chain.read(*_read_step(row)) for row in rows]
        return Recalled(there, state, steps, await self._answers(there.number))

    async def page(self, room: int, after: int) -> tuple[list[ReadStep], bool]:
        """Some steps in order, and whether there may be more; `Damaged` if the first is damaged."""
        rows = await self._db.fetch(selection(STEPS, STEPS_AFTER), room, after, PAGE)
        steps: list[ReadStep] = []
        try:
            steps.extend(map(_read_step, whole_rows(STEPS, rows, self._damages, strict=True)))
        except Damaged:
            if not steps:
                raise
            return steps, True
        return steps, len(rows) == PAGE

    async def stored(self, room: int, at: int) -> Stored:
        """The newest undamaged state up to a step: the steps after it lead to the same room."""
        which = "WHERE room = ? AND seq <= ? ORDER BY seq DESC LIMIT ?"
        for most in (1, AFTER_ALL):  # nearly always the newest is whole
            for row in await self._look(STATES, which, [room, at, most]):
                return Stored(row[1], row[2])
        raise Damaged(f"room {room}: its state is not as it was written")

    async def _answers(self, room: int) -> dict[tuple[str, str], int]:
        """The seq of the answer to each (player, command id); `Damaged` if one of those steps is."""
        rows = await self._look(STEPS, "WHERE room = ? AND command_id IS NOT NULL", [room], strict=True)
        return {(player, id): seq for _, seq, player, id, *_ in rows if player is not None}

    # Records.

    async def record(self, kind: str, key: str, group: str) -> Record | None:
        rows = await self._look(RECORDS, THIS_RECORD, [kind, group, key], strict=True)
        return record_of(rows[0]) if rows else None

    async def records(self, query: RecordQuery) -> list[Record]:
        """The records in order, as far as the wanted bytes reach."""
        which, values = which_records(query)
        if query.most_bytes is None:
            rows = await self._look(RECORDS, which, values, strict=query.strict)
            return [record_of(row) for row in rows]
        return await self._records_within(query, which, values)

    async def _records_within(self, query: RecordQuery, which: str, values: list[Any]) -> list[Record]:
        """Records up to so many bytes: read a few at a time, because the rest may be long."""
        assert query.most_bytes is not None  # noqa: S101 - the caller looked
        there: list[Record] = []
        size = 0
        async with self._db.transaction(readonly=True):
            cursor = await self._db.cursor(selection(RECORDS, which), *taken(values))
            while some := await cursor.fetch(SOME_RECORDS):
                for row in whole_rows(RECORDS, some, self._damages, strict=query.strict):
                    record = record_of(row)
                    size += len(record.body)
                    if size > query.most_bytes:
                        return there
                    there.append(record)
        return there

    # Checks.

    async def walk(self, table: Table, after: Row | None, limit: int) -> Row | None:
        """Check some more rows of a table; returns where to go on, or None at its end."""
        order, marks = ", ".join(table.key), ", ".join("?" for _ in table.key)
        which = "" if after is None else f"WHERE ({order}) > ({marks})"
        values = [*(after or ()), limit]
        rows = await self._db.fetch(selection(table, f"{which} ORDER BY {order} LIMIT ?"), *taken(values))
        for _ in whole_rows(table, rows, self._damages):
            pass
        if len(rows) < limit:
            return None
        last = dict(zip(table.columns, read_row(table, rows[-1]), strict=False))
        return tuple(last[name] for name in table.key)


STEPS_AFTER = "WHERE room = ? AND seq > ? ORDER BY seq LIMIT ?"


def _read_step(row: Row) -> ReadStep:
    return row[1], row[4], digest(row[4])

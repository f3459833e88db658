"""The reads. Every row is checked; see `checked_rows`."""

import sqlite3
from collections.abc import Iterator
from typing import Any

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
from parlour.journal.rows import RECORDS, ROOMS, SEATS, STATES, STEPS, Row, found_in, record_of
from parlour.journal.sqlite.checked_rows import look, look_for, note
from parlour.wire import digest

PAGE = 200
"""Steps that a replay reads at a time."""

# Rooms.


def found(db: sqlite3.Connection, row: Row) -> Found:
    """The room of a row; `Damaged` if its summary cannot be read."""
    there = found_in(row)
    if there is None:
        raise note(db, ROOMS, row)
    return there


def find(which: str | int, db: sqlite3.Connection) -> Found | None:
    """The room that is asked for; `Damaged` if its row is."""
    row = look_for(db, ROOMS, BY_ID if isinstance(which, str) else BY_NUMBER, (which,), LAST_STEP)
    return None if row is None else found(db, row)


def rooms(query: RoomQuery, db: sqlite3.Connection) -> list[Found]:
    there: list[Found] = []
    for row in look(db, ROOMS, *rooms_asked_for(query, db), LAST_STEP):
        try:
            there.append(found(db, row))
        except Damaged:  # noted
            continue
    return there


def room_ids(query: RoomQuery, db: sqlite3.Connection) -> list[str]:
    which, values = rooms_asked_for(query, db)
    return [id for (id,) in db.execute(f"SELECT id FROM rooms {which}", values)]  # noqa: S608 - our own words


def rooms_asked_for(query: RoomQuery, db: sqlite3.Connection) -> tuple[str, list[Any]]:
    if query.player is None:
        return which_rooms(query)
    return which_rooms(query, [row[0] for row in look(db, SEATS, "WHERE player = ?", (query.player,))])


def recall(id: str, db: sqlite3.Connection) -> Recalled | None:
    there = find(id, db)
    if there is None:
        return None
    number, state = there.number, stored(there.number, AFTER_ALL, db)
    chain = Chain(number, state.seq)
    steps = [chain.read(*row) for row in step_rows(number, state.seq, AFTER_ALL, db)]
    return Recalled(there, state, steps, answers(number, db))


ReadStep = tuple[int, bytes, bytes]
"""A step: its seq, its body and that body's digest."""


def step_rows(room: int, after: int, most: int, db: sqlite3.Connection) -> Iterator[ReadStep]:
    """Steps in order; `Damaged` at the first that is not as it was written."""
    which = "WHERE room = ? AND seq > ? ORDER BY seq LIMIT ?"
    for row in look(db, STEPS, which, (room, after, most), strict=True):
        yield row[1], row[4], digest(row[4])


def page(room: int, after: int, db: sqlite3.Connection) -> tuple[list[ReadStep], bool]:
    """Some steps in order, and whether there may be more; `Damaged` if the first is not as it was written."""
    steps: list[ReadStep] = []
    try:
        for row in step_rows(room, after, PAGE, db):
            steps.append(row)  # noqa: PERF402 - the steps before the damage count
    except Damaged:
        if not steps:
            raise
        return steps, True
    return steps, len(steps) == PAGE


def stored(room: int, at: int, db: sqlite3.Connection) -> Stored:
    """The newest undamaged state up to a step: the steps after it lead to the same room."""
    for row in look(db, STATES, "WHERE room = ? AND seq <= ? ORDER BY seq DESC", (room, at)):
        return Stored(row[1], row[2])
    raise Damaged(f"room {room}: its state is not as it was written")


def answers(room: int, db: sqlite3.Connection) -> dict[tuple[str, str], int]:
    """The seq of the answer to each (player, command id).

    `Damaged` if one of those steps is: it may be the answer to a repeated command.
    """
    rows = look(db, STEPS, "WHERE room = ? AND command_id IS NOT NULL", (room,), strict=True)
    return {(player, id): seq for _, seq, player, id, *_ in rows if player is not None}


def last(db: sqlite3.Connection, room: int) -> int:
    """The seq of the room's last step."""
    seq: int = db.execute("SELECT coalesce(max(seq), 0) FROM steps WHERE room = ?", (room,)).fetchone()[0]
    return seq


# Records.


def record(kind: str, key: str, group: str, db: sqlite3.Connection) -> Record | None:
    row = look_for(db, RECORDS, THIS_RECORD, (kind, group, key))
    return None if row is None else record_of(row)


def records(query: RecordQuery, db: sqlite3.Connection) -> list[Record]:
    there: list[Record] = []
    size = 0
    for row in look(db, RECORDS, *which_records(query), strict=query.strict):
        found = record_of(row)
        size += len(found.body)
        if query.most_bytes is not None and size > query.most_bytes:
            break
        there.append(found)
    return there

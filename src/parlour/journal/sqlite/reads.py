"""The reads. Every row is checked; see `checked_rows`."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from parlour.journal.base import (
    UNREADABLE,
    Chain,
    Damaged,
    Found,
    Recalled,
    Record,
    RecordQuery,
    RoomQuery,
    RoomSummary,
    Stored,
)
from parlour.journal.sqlite.checked_rows import (
    RECORDS,
    ROOMS,
    SEATS,
    STATES,
    STEPS,
    Row,
    look,
    look_for,
    note,
)
from parlour.wire import digest

AFTER_ALL = 2**62
"""Larger than any seq."""
PAGE = 200
"""Steps that a replay reads at a time."""
NO_LIMIT = -1
"""No limit, in SQL."""

read_summary = msgspec.json.Decoder(RoomSummary).decode

LAST_STEP = ", (SELECT coalesce(max(seq), 0) FROM steps WHERE steps.room = rooms.number)"
# An id is used again only once its room has ended, so an open room is the newest of its id.
BY_ID = "WHERE id = ? ORDER BY number DESC LIMIT 1"
BY_NUMBER = "WHERE number = ?"

# Rooms.


def found(db: sqlite3.Connection, row: Row) -> Found:
    """The room of a row; `Damaged` if its summary cannot be read."""
    try:
        return Found(row[0], row[-1], read_summary(row[len(ROOMS.columns) - 1]))
    except UNREADABLE:
        raise note(db, ROOMS, row) from None


def find(which: str | int, db: sqlite3.Connection) -> Found | None:
    """The room that is asked for; `Damaged` if its row is."""
    row = look_for(db, ROOMS, BY_ID if isinstance(which, str) else BY_NUMBER, (which,), LAST_STEP)
    return None if row is None else found(db, row)


def rooms(query: RoomQuery, db: sqlite3.Connection) -> list[Found]:
    there: list[Found] = []
    for row in look(db, ROOMS, *which_rooms(query, db), LAST_STEP):
        try:
            there.append(found(db, row))
        except Damaged:  # noted
            continue
    return there


def room_ids(query: RoomQuery, db: sqlite3.Connection) -> list[str]:
    which, values = which_rooms(query, db)
    return [id for (id,) in db.execute(f"SELECT id FROM rooms {which}", values)]  # noqa: S608 - our own words


def which_rooms(query: RoomQuery, db: sqlite3.Connection) -> tuple[str, list[Any]]:
    """The SQL condition of a query for rooms."""
    terms, values = ["open"], list[Any]()
    if query.player is not None:
        numbers = [row[0] for row in look(db, SEATS, "WHERE player = ?", (query.player,))]
        terms.append(f"number IN ({marks(numbers)})")
        values += numbers
    if query.due_by is not None:
        terms.append("due <= ?")
        values.append(query.due_by)
    if query.connected:
        terms.append("connected")
    if query.held:
        terms.append("held IS NOT NULL")
    if query.other_games:
        terms.append(f"game NOT IN ({marks(query.other_games)})")
        values += query.other_games
    if query.id_in_any_case is not None:
        terms.append("id = ? COLLATE NOCASE")
        values.append(query.id_in_any_case)
    order = "number DESC" if query.due_by is None else "due"
    return f"WHERE {' AND '.join(terms)} ORDER BY {order} LIMIT ?", [*values, limit_of(query)]


def marks(values: Sequence[Any]) -> str:
    """Placeholders for values."""
    return ", ".join("?" for _ in values)


def limit_of(query: RoomQuery | RecordQuery) -> int:
    return NO_LIMIT if query.limit is None else query.limit


def recall(id: str, db: sqlite3.Connection) -> Recalled | None:
    there = find(id, db)
    if there is None:
        return None
    number, state = there.number, stored(there.number, AFTER_ALL, db)
    chain = Chain(number, state.seq)
    steps = [chain.read(*row) for row in step_rows(number, state.seq, NO_LIMIT, db)]
    return Recalled(there, state, steps, answers(number, db))


StepRow = tuple[int, bytes, bytes]
"""A step: its seq, its body and that body's digest."""


def step_rows(room: int, after: int, most: int, db: sqlite3.Connection) -> Iterator[StepRow]:
    """Steps in order; `Damaged` at the first that is not as it was written."""
    which = "WHERE room = ? AND seq > ? ORDER BY seq LIMIT ?"
    for row in look(db, STEPS, which, (room, after, most), strict=True):
        yield row[1], row[4], digest(row[4])


def page(room: int, after: int, db: sqlite3.Connection) -> tuple[list[StepRow], bool]:
    """Some steps in order, and whether there may be more; `Damaged` if the first is not as it was written."""
    steps: list[StepRow] = []
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

THIS_RECORD = "WHERE kind = ? AND in_group = ? AND key = ?"


def record_of(row: Row) -> Record:
    kind, group, key, owner, sort, due, room, body, *_ = row
    return Record(kind, key, body, group, owner, sort, due, room)


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


def which_records(query: RecordQuery) -> tuple[str, list[Any]]:
    """The SQL condition of a query for records."""
    given = {"kind = ?": query.kind, "in_group = ?": query.group, "owner = ?": query.owner}
    terms = {term: value for term, value in {**given, "due <= ?": query.due_by}.items() if value is not None}
    which = " AND ".join([*terms, *(["owner <> ''"] if query.owner else [])])  # in the order of the index
    if query.due_by is not None:
        order = "due, key"
    else:
        order = "sort DESC, key" if query.largest_first else "sort, key"
    return f"WHERE {which} ORDER BY {order} LIMIT ?", [*terms.values(), limit_of(query)]

"""The writes. Each checks first what could prevent it: a refused write leaves nothing behind.

Every row is written with its checksum; see `checked_rows`.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from typing import Any

from msgspec import UnsetType

from parlour.journal.base import (
    Change,
    Conflict,
    Drop,
    NewRecord,
    Record,
    Stored,
    Unchanged,
)
from parlour.journal.conditions import THIS_RECORD
from parlour.journal.rows import (
    CLOCK,
    RECORDS,
    ROOMS,
    SEATS,
    STATES,
    StepRow,
    SummaryRow,
    row_of,
    values_of,
    with_checksum,
)
from parlour.journal.sqlite.checked_rows import change_row, insert
from parlour.journal.sqlite.reads import last
from parlour.wire import Step

MOST_NUMBER = 2**53
"""No number is as large as this, unless it is damaged."""


ROWS_AT_ONCE = 64
"""Rows of one statement; fewer are a power of two, so that few statements are ever prepared."""


@cache
def insertion_of(count: int) -> str:
    """The statement that inserts so many steps, all or none."""
    return "INSERT INTO steps VALUES " + ", ".join(["(?, ?, ?, ?, ?, ?)"] * count)  # noqa: S608 - our own words


# Rooms and steps.


def next_number(db: sqlite3.Connection) -> int:
    """A number that no room has, nor a deleted room had."""
    there = "SELECT max(number) FROM rooms WHERE number < ?"
    given = "SELECT max(seq) FROM sqlite_sequence WHERE name = 'rooms' AND seq < ?"
    return max(int(db.execute(sql, (MOST_NUMBER,)).fetchone()[0] or 0) for sql in (there, given)) + 1


def create(
    row_of_room: SummaryRow,
    state: bytes,
    due: float | None,
    steps: Sequence[Step],
    records: Sequence[Change],
    db: sqlite3.Connection,
) -> int:
    check(records, db)
    number = next_number(db)
    values = {"number": number, **row_of_room.columns, "due": due}
    try:
        insert(db, ROOMS, *(values[name] for name in ROOMS.columns))
    except sqlite3.IntegrityError:
        raise Conflict(f"there is an open room {row_of_room.columns['id']} already") from None
    keep_state(db, number, Stored(0, state))
    seat(db, number, row_of_room.players)
    insert_all(db, [row_of(number, step) for step in steps])
    write_records(records, db)
    return number


def append(
    rows: Sequence[StepRow],
    row_of_room: SummaryRow | None,
    state: bytes | None,
    due: float | UnsetType | None,
    records: Sequence[Change],
    db: sqlite3.Connection,
) -> None:
    room, seq, *_ = rows[-1]
    check(records, db)
    try:
        db.execute(insertion_of(len(rows)), tuple(chain.from_iterable(rows)))
    except sqlite3.IntegrityError as error:
        raise Conflict(f"step {seq} of room {room} has no place: {error}") from None
    write_summary(db, room, row_of_room, due)
    if state is not None:
        keep_state(db, room, Stored(seq, state))
    write_records(records, db)


def insert_all(db: sqlite3.Connection, rows: Sequence[StepRow]) -> int:
    """Keep these steps with few statements; returns how many were kept before one met a conflict.

    Between two statements the loop's thread gets its turn, and getting it back costs more than a row does.
    """
    at = 0
    while at < len(rows):
        count = 1 << min(ROWS_AT_ONCE, len(rows) - at).bit_length() - 1
        try:
            db.execute(insertion_of(count), tuple(chain.from_iterable(rows[at : at + count])))
        except sqlite3.IntegrityError:
            break  # SQLite has undone the whole statement
        at += count
    return at


def update_room(
    room: int,
    row_of_room: SummaryRow | None,
    stored: Stored | None,
    due: float | UnsetType | None,
    db: sqlite3.Connection,
) -> None:
    if db.execute("SELECT 1 FROM rooms WHERE number = ?", (room,)).fetchone() is None:
        raise Conflict(f"there is no room {room}")
    if stored is not None and stored.seq != last(db, room):
        raise Conflict(f"room {room} is no longer at step {stored.seq}")
    write_summary(db, room, row_of_room, due)
    if stored is not None:
        keep_state(db, room, stored)


def write_summary(
    db: sqlite3.Connection, room: int, row_of_room: SummaryRow | None, due: float | UnsetType | None
) -> None:
    """Write a room's new summary, if there is one, and its deadline."""
    changes = {} if row_of_room is None else dict(row_of_room.columns)
    if not isinstance(due, UnsetType):
        changes["due"] = due
    if changes:
        change_row(db, ROOMS, room, changes)
    if row_of_room is not None:
        seated = {player for (player,) in db.execute("SELECT player FROM seats WHERE room = ?", (room,))}
        if seated != row_of_room.players:
            db.execute("DELETE FROM seats WHERE room = ?", (room,))
            seat(db, room, row_of_room.players)


def seat(db: sqlite3.Connection, room: int, players: frozenset[str]) -> None:
    for player in players:
        insert(db, SEATS, room, player)


def keep_state(db: sqlite3.Connection, room: int, stored: Stored) -> None:
    insert(db, STATES, room, stored.seq, stored.state, instead=True)


def move_clock(now: float, db: sqlite3.Connection) -> None:
    """Note the time of the rooms' clock; it never goes back."""
    db.execute("UPDATE clock SET now = ?1, checksum = ?2 WHERE now < ?1", with_checksum(CLOCK, now))


# Records.


def keep(changes: Sequence[Change], db: sqlite3.Connection) -> None:
    check(changes, db)
    write_records(changes, db)


def check(changes: Iterable[Change], db: sqlite3.Connection) -> None:
    """Check that nothing prevents these changes."""
    for one in changes:
        if isinstance(one, NewRecord) and kept_row(one, db) is not None:
            raise Conflict(f"there is a {one.kind} {one.key} already")
        if isinstance(one, Unchanged):
            was = one.record
            if kept_row(was, db) != with_checksum(RECORDS, *values_of(was)):
                raise Conflict(f"the {was.kind} {was.key} has changed")


def kept_row(record: Record, db: sqlite3.Connection) -> tuple[Any, ...] | None:
    """The row of the record with the same name, damaged or not."""
    sql = f"SELECT {RECORDS.all} FROM records {THIS_RECORD}"  # noqa: S608 - our own words
    row: tuple[Any, ...] | None = db.execute(sql, (record.kind, record.group, record.key)).fetchone()
    return row


def write_records(changes: Iterable[Change], db: sqlite3.Connection) -> None:
    for one in changes:
        match one:
            case Record():
                insert(db, RECORDS, *values_of(one), instead=True)
            case Drop():
                drop(one, db)
            case Unchanged():
                pass  # checked before
            case _:
                raise TypeError(f"{type(one).__name__} is no change")


def drop(gone: Drop, db: sqlite3.Connection) -> None:
    given = {"kind = ?": gone.kind, "in_group = ?": gone.group, "key = ?": gone.key, "sort < ?": gone.below}
    terms = {term: value for term, value in given.items() if value is not None}
    sql = f"DELETE FROM records WHERE {' AND '.join(terms)}"  # noqa: S608 - our own words
    db.execute(sql, tuple(terms.values()))

"""Rows with a checksum: how every row is written, read and checked.

A checksum is a digest of all the columns of its row, including those that are only searched by. A row that is
not as it was written is noted and treated as missing; a read of that very row raises `Damaged`.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from parlour.journal.base import Damage, Damaged
from parlour.wire import digest

Row = tuple[Any, ...]

_pack = msgspec.msgpack.Encoder().encode

BY_ROW = ("rowid",)


class Table:
    """The columns of a table: all but the checksum, the body last if there is one."""

    def __init__(
        self,
        name: str,
        columns: tuple[str, ...],
        key: tuple[str, ...],
        order: tuple[str, ...] = BY_ROW,
        *,
        has_body: bool = True,
    ) -> None:
        self.name = name
        self.columns = columns
        self.key = key
        """The columns that identify a row."""
        self.order = order
        """The column by which rows can be walked through."""
        self.has_body = has_body
        self.all = ", ".join((*columns, "checksum"))
        """The columns as SQL."""
        marks = ", ".join("?" for _ in (*columns, "checksum"))
        self.insertion = f"INTO {name} ({self.all}) VALUES ({marks})"


ROOMS = Table(
    "rooms",
    ("number", "id", "game", "open", "private", "connected", "held", "creator", "ended_at", "due", "card"),
    ("number", "id"),
)
SEATS = Table("seats", ("room", "player"), ("room", "player"), ("room", "player"), has_body=False)
STEPS = Table("steps", ("room", "seq", "player", "command_id", "body"), ("room", "seq"))
STATES = Table("states", ("room", "seq", "body"), ("room", "seq"), ("room", "seq"))
RECORDS = Table(
    "records",
    ("kind", "in_group", "key", "owner", "sort", "due", "room", "body"),
    ("kind", "in_group", "key"),
)
CLOCK = Table("clock", ("now",), (), has_body=False)

ALL_TABLES = (ROOMS, SEATS, CLOCK, RECORDS, STATES, STEPS)
"""The small ones first: they are checked before the long ones."""


class Connection(sqlite3.Connection):
    """A connection to the file, with a list of the damage found in it."""

    damages: dict[Damage, None]


# Writing.


def checksum(keys: Sequence[Any], hash: bytes) -> bytes:
    """The checksum of a row with these columns and this digest of its body; 1 and 1.0 count as the same."""
    plain = [float(value) if isinstance(value, int | float) else value for value in keys]
    return digest(_pack(plain) + hash)


def with_checksum(table: Table, *values: Any) -> Row:
    """A row with its checksum, as it is written."""
    if table.has_body:
        return (*values, checksum(values[:-1], digest(values[-1])))
    return (*values, checksum(values, b""))


def insert(db: sqlite3.Connection, table: Table, *values: Any, instead: bool = False) -> None:
    """Write a new row; *instead* of the one with the same key."""
    verb = "INSERT OR REPLACE " if instead else "INSERT "
    db.execute(verb + table.insertion, with_checksum(table, *values))


def change_row(db: sqlite3.Connection, table: Table, key: Any, changes: Mapping[str, Any]) -> None:
    """Write new values into the row with that first column; `Damaged` if it is."""
    row = look_for(db, table, f"WHERE {table.columns[0]} = ?", (key,))
    old = dict(zip(table.columns, row or (), strict=False))
    new = {**old, **changes}
    names = [name for name in old if new[name] != old[name]]
    if names:
        *_, made = with_checksum(table, *new.values())
        assign = ", ".join(f"{name} = ?" for name in (*names, "checksum"))
        sql = f"UPDATE {table.name} SET {assign} WHERE {table.columns[0]} = ?"  # noqa: S608 - our own words
        db.execute(sql, (*(new[name] for name in names), made, key))


# Reading.


def is_whole(table: Table, row: Row) -> bool:
    """True if a row (all columns, the checksum, and perhaps more) is as it was written."""
    count = len(table.columns)
    values, kept = row[:count], row[count]
    if not table.has_body:
        return bool(checksum(values, b"") == kept)
    body = values[-1]
    return isinstance(body, bytes) and bool(checksum(values[:-1], digest(body)) == kept)


def note(db: sqlite3.Connection, table: Table, row: Row) -> Damaged:
    """Note that a row is damaged, and return the error."""
    values = dict(zip(table.columns, row, strict=False))
    name = ", ".join(f"{column} {str(values[column])[:80]!r}" for column in table.key)
    if isinstance(db, Connection):
        db.damages.setdefault(Damage(table.name, name))
    return Damaged(f"{table.name}: the row with {name or 'no name'} is not as it was written")


def checked(
    db: sqlite3.Connection, table: Table, rows: Iterable[Row]
) -> Iterator[tuple[Row, Damaged | None]]:
    """Each row with its damage, if any, which is noted."""
    for row in rows:
        yield row, None if is_whole(table, row) else note(db, table, row)


def look(
    db: sqlite3.Connection,
    table: Table,
    which: str = "",
    values: Sequence[Any] = (),
    more: str = "",
    *,
    strict: bool = False,
) -> Iterator[Row]:
    """The rows that SQL finds, with the columns *more*.

    Damaged ones are left out; with *strict*, the first of them raises `Damaged`.
    """
    sql = f"SELECT {table.all}{more} FROM {table.name} {which}"  # noqa: S608 - our own words
    for row, damaged in checked(db, table, db.execute(sql, values)):
        if damaged is None:
            yield row
        elif strict:
            raise damaged


def look_for(
    db: sqlite3.Connection, table: Table, which: str, values: Sequence[Any] = (), more: str = ""
) -> Row | None:
    """The first row that SQL finds; `Damaged` if it is."""
    return next(look(db, table, which, values, more, strict=True), None)


def walk(db: sqlite3.Connection, table: Table, after: Row | None, limit: int) -> Row | None:
    """Check some more rows of a table; returns where to go on, or None at its end."""
    order = ", ".join(table.order)
    marks = ", ".join("?" for _ in table.order)
    which = "" if after is None else f"WHERE ({order}) > ({marks})"
    sql = f"SELECT {table.all}, {order} FROM {table.name} {which} ORDER BY {order} LIMIT ?"  # noqa: S608
    last: Row = ()
    count = 0
    for row, _ in checked(db, table, db.execute(sql, (*(after or ()), limit))):
        last = row[-len(table.order) :]
        count += 1
    return last if count == limit else None

"""How every row of the file is written, read and checked: see `parlour.journal.rows`.

A row that is not as it was written is noted and treated as missing; a read of that very row raises `Damaged`.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from parlour.journal.base import Damage, Damaged
from parlour.journal.rows import Row, Table, damage_of, damaged, is_whole, with_checksum


class Connection(sqlite3.Connection):
    """A connection to the file, with a list of the damage found in it."""

    damages: dict[Damage, None]


# Writing.


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


def note(db: sqlite3.Connection, table: Table, row: Row) -> Damaged:
    """Note that a row is damaged, and return the error."""
    damage = damage_of(table, row)
    if isinstance(db, Connection):
        db.damages.setdefault(damage)
    return damaged(damage)


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
    for row, error in checked(db, table, db.execute(sql, values)):
        if error is None:
            yield row
        elif strict:
            raise error


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

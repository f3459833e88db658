"""How rows are written to PostgreSQL, read and checked: see `parlour.journal.rows`.

PostgreSQL's text holds every character but NUL, which clients may send in their ids: it is escaped.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from asyncpg import Connection

from parlour.journal.base import Damage, Damaged
from parlour.journal.rows import (
    RECORDS,
    ROOMS,
    SEATS,
    STATES,
    STEPS,
    Row,
    Table,
    damage_of,
    damaged,
    is_whole,
    with_checksum,
)

Damages = dict[Damage, None]
"""The damage found, in the order of finding."""

TEXT = frozenset({"id", "game", "creator", "player", "command_id", "kind", "in_group", "key", "owner"})
"""The columns that hold text."""

_ESCAPE, _NUL = "\x1b", "\x00"
_HOLE = re.compile(r"\?")


def to_text(value: Any) -> Any:
    """A value as PostgreSQL takes it.

    >>> to_text("a\\x00b\\x1b"), to_text(7)
    ('a\\x1b0b\\x1b1', 7)
    """
    if isinstance(value, str) and (_NUL in value or _ESCAPE in value):
        return value.replace(_ESCAPE, _ESCAPE + "1").replace(_NUL, _ESCAPE + "0")
    return value


def from_text(sent: bytes | None) -> str | None:
    """The text as it was written; what damage left of it, if it is none any more.

    >>> from_text(b"a\\x1b0b\\x1b1"), from_text(b"caf\\xe9"), from_text(None)
    ('a\\x00b\\x1b', 'caf\ufffd', None)
    """
    if sent is None:
        return None
    text = sent.decode(errors="replace")
    return text.replace(_ESCAPE + "0", _NUL).replace(_ESCAPE + "1", _ESCAPE) if _ESCAPE in text else text


def asked_for(column: str) -> str:
    """A column in SQL: text comes as bytes, because asyncpg would stop at damaged text."""
    return f"textsend({column})" if column in TEXT else column


def numbered(sql: str) -> str:
    """SQL with a ``?`` for each value, as PostgreSQL wants it.

    >>> numbered("WHERE kind = ? AND key = ?")
    'WHERE kind = $1 AND key = $2'
    """
    numbers = count(1)
    return _HOLE.sub(lambda _: f"${next(numbers)}", sql)


def taken(values: Sequence[Any]) -> list[Any]:
    """Values as PostgreSQL takes them."""
    return [to_text(value) for value in values]


# Writing.


async def insert(db: Connection, table: Table, *values: Any, instead: bool = False) -> None:
    """Write a new row; *instead* of the one with the same key."""
    sql = INSERT_INSTEAD[table.name] if instead else INSERT[table.name]
    await db.execute(sql, *taken(with_checksum(table, *values)))


def insertion(table: Table) -> str:
    """The statement that inserts a row."""
    marks = ", ".join("?" for _ in (*table.columns, "checksum"))
    return numbered(f"INSERT INTO {table.name} ({table.all}) VALUES ({marks})")  # noqa: S608 - our own words


def insertion_instead(table: Table) -> str:
    """The statement that inserts a row, or changes the one with the same key."""
    rest = [name for name in (*table.columns, "checksum") if name not in table.key]
    changes = ", ".join(f"{name} = excluded.{name}" for name in rest)
    return f"{insertion(table)} ON CONFLICT ({', '.join(table.key)}) DO UPDATE SET {changes}"


def change_of(table: Table, row: Row, changes: Mapping[str, Any]) -> tuple[str, list[Any]] | None:
    """The statement that writes new values into a row that was read; None if it has them already."""
    old = dict(zip(table.columns, row, strict=False))
    new = {**old, **changes}
    names = [name for name in old if new[name] != old[name]]
    if not names:
        return None
    *_, made = with_checksum(table, *new.values())
    assign = ", ".join(f"{name} = ?" for name in (*names, "checksum"))
    sql = numbered(f"UPDATE {table.name} SET {assign} WHERE {table.columns[0]} = ?")  # noqa: S608 - our own words
    return sql, taken([*(new[name] for name in names), made, row[0]])


# Reading.


def whole_rows(
    table: Table, rows: Sequence[Sequence[Any]], damages: Damages, *, strict: bool = False
) -> Iterator[Row]:
    """The rows that are as they were written; others are noted and left out; *strict*: `Damaged`."""
    for record in rows:
        row = read_row(table, record)
        if is_whole(table, row):
            yield row
            continue
        damages.setdefault(damage := damage_of(table, row))
        if strict:
            raise damaged(damage)


def read_row(table: Table, record: Sequence[Any]) -> Row:
    """A row as it was written, from what was asked for by `selection`."""
    row = list(record)
    for index in TEXT_INDEXES[table.name]:
        row[index] = from_text(row[index])
    return tuple(row)


def noted(table: Table, row: Row, damages: Damages) -> Damaged:
    """Note that a row is damaged, and return the error."""
    damages.setdefault(damage := damage_of(table, row))
    return damaged(damage)


def selection(table: Table, which: str = "", more: str = "") -> str:
    """The statement that reads all columns of some rows."""
    columns = ", ".join(map(asked_for, (*table.columns, "checksum")))
    return numbered(f"SELECT {columns}{more} FROM {table.name} {which}")  # noqa: S608 - our own words


WRITTEN = (ROOMS, SEATS, STEPS, STATES, RECORDS)
TEXT_INDEXES = {
    table.name: [index for index, column in enumerate(table.columns) if column in TEXT] for table in WRITTEN
}
INSERT = {table.name: insertion(table) for table in WRITTEN}
INSERT_INSTEAD = {table.name: insertion_instead(table) for table in WRITTEN}
"""The statements by table, made once."""

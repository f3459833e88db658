"""Rows that carry a seal: how every row is written, and how one is read and believed.

A seal is a digest of all the columns of its row, those that are only searched by included. A row that is not
as it was written is noted, and counts as not there; whoever needs that very row hears `Damaged`.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from parlour.journal.base import UNREADABLE, Damage, Damaged
from parlour.wire import digest

T = TypeVar("T")
Row = tuple[Any, ...]

_pack = msgspec.msgpack.Encoder().encode


BY_ROW = ("rowid",)


class Table:
    """What the rows of a table have: all columns but the seal, the body last where there is one."""

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
        """What names a row; one whose content is a secret has no name."""
        self.order = order
        """By what rows can be walked through."""
        self.has_body = has_body
        self.all = ", ".join((*columns, "seal"))
        """As SQL has it."""
        marks = ", ".join("?" for _ in (*columns, "seal"))
        self.insertion = f"INTO {name} ({self.all}) VALUES ({marks})"


ROOMS = Table(
    "rooms",
    ("number", "id", "game", "open", "private", "connected", "over",
     "held", "creator", "ended_at", "due", "card"),
    ("number", "id"),
)  # fmt: skip
SEATS = Table("seats", ("room", "player"), ("room", "player"), ("room", "player"), has_body=False)
STEPS = Table("steps", ("room", "seq", "player", "command_id", "body"), ("room", "seq"))
STATES = Table("states", ("room", "seq", "body"), ("room", "seq"), ("room", "seq"))
PLAYERS = Table("players", ("id", "seen", "body"), ("id",), ("id",))
TICKETS = Table("tickets", ("id", "body"), ("id",), ("id",))
STANDINGS = Table(
    "standings", ("ladder", "player", "worth", "body"), ("ladder", "player"), ("ladder", "player")
)
RESULTS = Table("results", ("number", "player", "room", "ranked", "body"), ("number", "player"))
RELAYS = Table("relays", ("name", "last", "holder", "bytes"), ("name",), ("name",), has_body=False)
LETTERS = Table("letters", ("relay", "num", "body"), ("relay", "num"), ("relay", "num"))
KEYS = Table("keys", ("key",), ())
CLOCK = Table("clock", ("now",), (), has_body=False)

ALL_TABLES = (ROOMS, SEATS, TICKETS, PLAYERS, STANDINGS, RESULTS, RELAYS, KEYS, CLOCK, STATES, STEPS, LETTERS)
"""The small ones first: they are looked through before the long ones."""


class Connection(sqlite3.Connection):
    """A connection to the file, and the list of what was found to be damaged in it."""

    damages: dict[Damage, None]


def seal_of(keys: Sequence[Any], hash: bytes) -> bytes:
    """The seal of a row with these columns, and a body with this digest; numbers are numbers to SQLite."""
    plain = [float(value) if isinstance(value, int | float) else value for value in keys]
    return digest(_pack(plain) + hash)


def sealed(table: Table, *values: Any) -> Row:
    """A row to be written."""
    if table.has_body:
        return (*values, seal_of(values[:-1], digest(values[-1])))
    return (*values, seal_of(values, b""))


def insert(db: sqlite3.Connection, table: Table, *values: Any, instead: bool = False) -> None:
    """Write a new row; *instead* of the one with the same key."""
    verb = "INSERT OR REPLACE " if instead else "INSERT "
    db.execute(verb + table.insertion, sealed(table, *values))


def change(db: sqlite3.Connection, table: Table, key: Any, changes: Mapping[str, Any]) -> bool:
    """Write other values into a row, by its first column; False where there is none."""
    row = look_for(db, table, f"WHERE {table.columns[0]} = ?", (key,))
    if row is None:
        return False
    old = dict(zip(table.columns, row, strict=False))
    new = {**old, **changes}
    names = [name for name in table.columns if new[name] != old[name]]
    if names:
        *_, seal = sealed(table, *new.values())
        assign = ", ".join(f"{name} = ?" for name in (*names, "seal"))
        sql = f"UPDATE {table.name} SET {assign} WHERE {table.columns[0]} = ?"  # noqa: S608 - our own words
        db.execute(sql, (*(new[name] for name in names), seal, key))
    return True


def is_whole(table: Table, row: Row) -> bool:
    """Whether a row (all columns, the seal, and perhaps more) is as it was written."""
    count = len(table.columns)
    values, seal = row[:count], row[count]
    if not table.has_body:
        return bool(seal_of(values, b"") == seal)
    body = values[-1]
    return isinstance(body, bytes) and bool(seal_of(values[:-1], digest(body)) == seal)


def note(db: sqlite3.Connection, table: Table, row: Row) -> Damage:
    """Remember that a row is damaged."""
    values = dict(zip(table.columns, row, strict=False))
    name = ", ".join(f"{column} {str(values[column])[:80]!r}" for column in table.key)
    damage = Damage(table.name, name)
    if isinstance(db, Connection):
        db.damages.setdefault(damage)
    return damage


def look(
    db: sqlite3.Connection, table: Table, which: str = "", values: Sequence[Any] = (), more: str = ""
) -> Iterator[Row]:
    """The rows that SQL finds, with whatever *more* it is asked for; damaged ones are noted and left out."""
    sql = f"SELECT {table.all}{more} FROM {table.name} {which}"  # noqa: S608 - our own words
    for row in db.execute(sql, values):
        if is_whole(table, row):
            yield row
        else:
            note(db, table, row)


def look_for(
    db: sqlite3.Connection, table: Table, which: str, values: Sequence[Any] = (), more: str = ""
) -> Row | None:
    """The first row that SQL finds; `Damaged` if it is."""
    sql = f"SELECT {table.all}{more} FROM {table.name} {which}"  # noqa: S608 - our own words
    row: Row | None = db.execute(sql, values).fetchone()
    if row is not None and not is_whole(table, row):
        raise damaged(note(db, table, row))
    return row


def damaged(damage: Damage) -> Damaged:
    """The same, to be raised."""
    return Damaged(f"{damage.table}: the row with {damage.row or 'no name'} is not as it was written")


def body_of(db: sqlite3.Connection, table: Table, row: Row, decode: Callable[[bytes], T]) -> T:
    """What the body of a row says."""
    try:
        return decode(row[len(table.columns) - 1])
    except UNREADABLE:
        raise damaged(note(db, table, row)) from None


def bodies(
    db: sqlite3.Connection, table: Table, decode: Callable[[bytes], T], which: str, values: Sequence[Any]
) -> list[T]:
    """What the bodies of all the whole rows say."""
    found: list[T] = []
    for row in look(db, table, which, values):
        try:
            found.append(body_of(db, table, row, decode))
        except Damaged:  # noted
            continue
    return found


def walk(db: sqlite3.Connection, table: Table, after: Row | None, limit: int) -> Row | None:
    """Check some more rows of a table; where to go on, or None at its end."""
    order = ", ".join(table.order)
    marks = ", ".join("?" for _ in table.order)
    which = "" if after is None else f"WHERE ({order}) > ({marks})"
    sql = f"SELECT {table.all}, {order} FROM {table.name} {which} ORDER BY {order} LIMIT ?"  # noqa: S608
    last = None
    count = 0
    for row in db.execute(sql, (*(after or ()), limit)):
        count += 1
        last = row[-len(table.order) :]
        if not is_whole(table, row):
            note(db, table, row)
    return last if count == limit else None

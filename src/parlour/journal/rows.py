"""Rows with a checksum, as the tables of every SQL journal have them.

A checksum is a digest of all the columns of its row, including those that are only searched by. A row that is
not as it was written is damaged: it is noted and treated as missing.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from parlour.journal.base import UNREADABLE, Damage, Damaged, Found, Record, RoomSummary
from parlour.wire import Step, digest

Row = tuple[Any, ...]

encode = msgspec.json.Encoder().encode
read_summary = msgspec.json.Decoder(RoomSummary).decode
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


# Checksums.


def checksum(keys: Sequence[Any], hash: bytes) -> bytes:
    """The checksum of a row with these columns and this digest of its body; 1 and 1.0 count as the same."""
    plain = [float(value) if isinstance(value, int | float) else value for value in keys]
    return digest(_pack(plain) + hash)


def with_checksum(table: Table, *values: Any) -> Row:
    """A row with its checksum, as it is written."""
    if table.has_body:
        return (*values, checksum(values[:-1], digest(values[-1])))
    return (*values, checksum(values, b""))


def is_whole(table: Table, row: Row) -> bool:
    """True if a row (all columns, the checksum, and perhaps more) is as it was written."""
    count = len(table.columns)
    values, kept = row[:count], row[count]
    if not table.has_body:
        return bool(checksum(values, b"") == kept)
    body = values[-1]
    return isinstance(body, bytes) and bool(checksum(values[:-1], digest(body)) == kept)


def damage_of(table: Table, row: Row) -> Damage:
    """What is noted of a damaged row: its table, and the columns that identify it."""
    values = dict(zip(table.columns, row, strict=False))
    return Damage(table.name, ", ".join(f"{column} {str(values[column])[:80]!r}" for column in table.key))


def damaged(damage: Damage) -> Damaged:
    """The error of reading a damaged row."""
    return Damaged(f"{damage.table}: the row with {damage.row or 'no name'} is not as it was written")


# What the rows are made of.


class SummaryRow(NamedTuple):
    """A summary as its table has it: the seated players, and the columns of the room's row."""

    players: frozenset[str]
    columns: Mapping[str, Any]

    @classmethod
    def of(cls, summary: RoomSummary) -> "SummaryRow":
        players = frozenset(seat.id for seat in summary.seats if seat is not None)
        columns = {
            "id": summary.id,
            "game": summary.game,
            "open": summary.ended is None,
            "private": summary.private,
            "connected": summary.connected,
            "held": summary.held,
            "creator": summary.creator,
            "ended_at": summary.ended_at,
            "card": encode(summary),
        }
        return cls(players if summary.ended is None else frozenset(), columns)  # an ended room has no players


StepRow = tuple[int, int, str | None, str | None, bytes, bytes]
"""A step as its table has it: room, seq, player, command id, body, checksum."""


def row_of(room: int, step: Step) -> StepRow:
    """The row of a step."""
    keys = (room, step.seq, getattr(step.command, "player", None), step.id)
    return (*keys, step.body, checksum(keys, step.digest))


def values_of(record: Record) -> tuple[Any, ...]:
    """The columns of a record, without the checksum."""
    place = (record.kind, record.group, record.key, record.owner)
    return (*place, record.sort, record.due, record.room, record.body)


def record_of(row: Row) -> Record:
    """The record of a row."""
    kind, group, key, owner, sort, due, room, body, *_ = row
    return Record(kind, key, body, group, owner, sort, due, room)


def found_in(row: Row) -> Found | None:
    """The room of a row with the seq of its last step at the end; None if its summary cannot be read."""
    try:
        return Found(row[0], row[-1], read_summary(row[len(ROOMS.columns) - 1]))
    except UNREADABLE:
        return None

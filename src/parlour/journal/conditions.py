"""SQL conditions for what is asked of a journal, with a ``?`` for each value."""

from collections.abc import Sequence
from typing import Any

from parlour.journal.base import RecordQuery, RoomQuery

AFTER_ALL = 2**62
"""Larger than any seq, and no limit where a limit is asked for."""

LAST_STEP = ", (SELECT coalesce(max(seq), 0) FROM steps WHERE steps.room = rooms.number)"
# An id is used again only once its room has ended, so an open room is the newest of its id.
BY_ID = "WHERE id = ? ORDER BY number DESC LIMIT 1"
BY_NUMBER = "WHERE number = ?"
THIS_RECORD = "WHERE kind = ? AND in_group = ? AND key = ?"


def which_rooms(query: RoomQuery, numbers: Sequence[int] = ()) -> tuple[str, list[Any]]:
    """The condition of a query for rooms; *numbers* are the rooms of its player, if it names one."""
    terms, values = ["open"], list[Any]()
    if query.player is not None:
        terms.append(f"number IN ({marks(numbers) or 'NULL'})")
        values += numbers
    if query.due_by is not None:
        terms.append("due <= ?")
        values.append(query.due_by)
    if query.connected:
        terms.append("connected > 0")
    if query.held:
        terms.append("held IS NOT NULL")
    if query.other_games:
        terms.append(f"game NOT IN ({marks(query.other_games)})")
        values += query.other_games
    if query.shards is not None:
        terms.append(f"shard IN ({marks(query.shards) or 'NULL'})")
        values += query.shards
    if query.id_in_any_case is not None:
        terms.append("lower(id) = lower(?)")
        values.append(query.id_in_any_case)
    order = "number DESC" if query.due_by is None else "due"
    return f"WHERE {' AND '.join(terms)} ORDER BY {order} LIMIT ?", [*values, limit_of(query)]


def marks(values: Sequence[Any]) -> str:
    """Placeholders for values."""
    return ", ".join("?" for _ in values)


def limit_of(query: RoomQuery | RecordQuery) -> int:
    """The limit of a query, in SQL."""
    return AFTER_ALL if query.limit is None else query.limit


def which_records(query: RecordQuery) -> tuple[str, list[Any]]:
    """The condition of a query for records."""
    given = {"kind = ?": query.kind, "in_group = ?": query.group, "owner = ?": query.owner}
    terms = {term: value for term, value in {**given, "due <= ?": query.due_by}.items() if value is not None}
    which = " AND ".join([*terms, *(["owner <> ''"] if query.owner else [])])  # in the order of the index
    if query.due_by is not None:
        order = "due, key"
    else:
        order = "sort DESC, key" if query.largest_first else "sort, key"
    return f"WHERE {which} ORDER BY {order} LIMIT ?", [*terms.values(), limit_of(query)]

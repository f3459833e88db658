"""What the journal forgets, by the rooms' clock: a wall clock that jumps forgets nothing.

A call does a bounded part of the work, so that moves are not held up; the file shrinks with it.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import islice

from parlour.journal.base import Damaged
from parlour.journal.sqlite.reads import read_player
from parlour.journal.sqlite.sealed import PLAYERS, RELAYS, ROOMS, Row, body_of, change, look

SPARE_PAGES = 256
"""Free pages that stay in the file, because they are soon needed again."""
PAGES_AT_ONCE = 64
"""Pages that are given back at a time."""

SOME_STEPS = """DELETE FROM steps WHERE rowid IN
    (SELECT rowid FROM steps WHERE room = ?1 ORDER BY seq DESC LIMIT ?2)"""
REST_OF_A_ROOM = (
    "DELETE FROM states WHERE room = ?",
    "DELETE FROM seats WHERE room = ?",
    "DELETE FROM results WHERE room = ? AND NOT ranked",
    "DELETE FROM rooms WHERE number = ?",
)
SOME_LETTERS = """DELETE FROM letters WHERE relay = ?1 AND num IN
    (SELECT num FROM letters WHERE relay = ?1 ORDER BY num LIMIT ?2)"""
REST_OF_A_RELAY = ("DELETE FROM relays WHERE name = ?",)
IN_GAMES = """SELECT EXISTS (SELECT 1 FROM seats WHERE player = ?1)
    OR EXISTS (SELECT 1 FROM standings WHERE player = ?1)
    OR EXISTS (SELECT 1 FROM results WHERE player = ?1)"""


def prune(before: float, now: float, limit: int, db: sqlite3.Connection) -> bool:
    """Forget some of what is older; True where more may be left."""
    parts = [
        forget_rooms(before, limit, db),
        forget_relays(before, limit, db),
        forget_players(before, now, limit, db),
    ]
    shrink(db)
    return any(parts)


def forget_rooms(before: float, limit: int, db: sqlite3.Connection) -> bool:
    """Rooms that ended before, with the results of their games that did not count."""
    ended = look(db, ROOMS, "WHERE ended_at < ? ORDER BY ended_at", (before,))
    return forget_each(ended, limit, SOME_STEPS, REST_OF_A_ROOM, db)


def forget_relays(before: float, limit: int, db: sqlite3.Connection) -> bool:
    """Relays through which nothing has passed since."""
    quiet = look(db, RELAYS, "WHERE last < ? ORDER BY last", (before,))
    return forget_each(quiet, limit, SOME_LETTERS, REST_OF_A_RELAY, db)


def forget_each(
    rows: Iterable[Row], limit: int, some: str, rest: Sequence[str], db: sqlite3.Connection
) -> bool:
    """Forget these rows, first *some* of what belongs to each, then the *rest*; True where more may be left.

    A row that is not done with is found again by the next call.
    """
    left = limit
    for key, *_ in list(islice(rows, limit)):
        left -= db.execute(some, (key, left)).rowcount
        if left <= 0:
            return True
        for sql in rest:
            db.execute(sql, (key,))
        left -= 1
        if left <= 0:
            return True
    return False


def forget_players(before: float, now: float, limit: int, db: sqlite3.Connection) -> bool:
    """Players who were not asked for since and have no game; who stays is looked at again much later."""
    old = list(islice(look(db, PLAYERS, "WHERE seen < ? ORDER BY seen", (before,)), limit))
    for row in old:
        if db.execute(IN_GAMES, (row[0],)).fetchone()[0] or has_ended_sessions(db, row):
            change(db, PLAYERS, row[0], {"seen": now})
        else:
            db.execute("DELETE FROM players WHERE id = ?", (row[0],))
    return len(old) == limit


def has_ended_sessions(db: sqlite3.Connection, row: Row) -> bool:
    """Whether tokens of this player are not valid any more: a stranger's would be."""
    try:
        return body_of(db, PLAYERS, row, read_player).session > 0
    except Damaged:  # noted
        return True


def shrink(db: sqlite3.Connection) -> None:
    """Give pages that nothing is on back to the disk."""
    if db.execute("PRAGMA freelist_count").fetchone()[0] > SPARE_PAGES:
        for _ in range(PAGES_AT_ONCE):
            db.execute("PRAGMA incremental_vacuum(1)")  # Python's SQLite does no more than one at a time

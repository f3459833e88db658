"""Deletes ended rooms by the rooms' clock: a wall clock that jumps deletes nothing.

A call does a bounded part of the work, so that moves are not held up; the file shrinks with it.
"""

import sqlite3
from itertools import islice

from parlour.journal.rows import ROOMS
from parlour.journal.sqlite.checked_rows import look

SPARE_PAGES = 256
"""Free pages that stay in the file, because they are soon needed again."""
PAGES_AT_ONCE = 64
"""Pages that are given back at a time."""

SOME_STEPS = """DELETE FROM steps WHERE rowid IN
    (SELECT rowid FROM steps WHERE room = ?1 ORDER BY seq DESC LIMIT ?2)"""
REST_OF_A_ROOM = (
    "DELETE FROM states WHERE room = ?",
    "DELETE FROM seats WHERE room = ?",
    "DELETE FROM records WHERE room = ?",
    "DELETE FROM rooms WHERE number = ?",
)


def prune(before: float, limit: int, db: sqlite3.Connection) -> bool:
    """Delete some rooms that ended before that time; True if more may be left."""
    left = limit
    ended = look(db, ROOMS, "WHERE ended_at < ? ORDER BY ended_at", (before,))
    for number, *_ in list(islice(ended, limit)):
        left -= forget(number, left, db)
        if left <= 0:
            break
    shrink(db)
    return left <= 0


def forget(room: int, most: int, db: sqlite3.Connection) -> int:
    """Delete a room's steps, then the rest of it; returns how many steps and rooms that were.

    The next call goes on with a room that is not done.
    """
    count = db.execute(SOME_STEPS, (room, most)).rowcount
    if count == most:
        return count
    for sql in REST_OF_A_ROOM:
        db.execute(sql, (room,))
    return count + 1


def shrink(db: sqlite3.Connection) -> None:
    """Give free pages back to the disk."""
    if db.execute("PRAGMA freelist_count").fetchone()[0] > SPARE_PAGES:
        for _ in range(PAGES_AT_ONCE):
            db.execute("PRAGMA incremental_vacuum(1)")  # Python's SQLite gives back only one at a time

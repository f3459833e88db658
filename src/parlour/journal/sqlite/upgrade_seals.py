"""Upgrade to format 4: gives every row a seal; in older formats only steps, states and letters have one.

What they hold is believed as it is, but what was damaged stays so. Times by which things are forgotten were
wall time; now they are of the rooms' clock, and what is old is as if it had ended, or been used, just now.
"""

import sqlite3
from functools import partial
from typing import Any

from parlour.journal.sqlite.sealed import ALL_TABLES, LETTERS, STATES, STEPS, Table, sealed
from parlour.wire import digest

HASHED = (STEPS, STATES, LETTERS)

NEW_COLUMNS = (
    "ALTER TABLE rooms ADD COLUMN over INTEGER",
    "ALTER TABLE players ADD COLUMN seen REAL",
    "ALTER TABLE results ADD COLUMN room INTEGER",
    "ALTER TABLE results ADD COLUMN ranked INTEGER",
    "UPDATE rooms SET over = says(card, '$.outcome') IS NOT NULL",
    "UPDATE rooms SET ended_at = (SELECT now FROM clock) WHERE ended_at IS NOT NULL",
    "UPDATE players SET seen = (SELECT now FROM clock)",
    "ALTER TABLE relays ADD COLUMN holder TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE relays ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0",
    "UPDATE relays SET last = (SELECT now FROM clock)",
    "UPDATE relays SET bytes = (SELECT coalesce(sum(length(body)), 0) FROM letters WHERE relay = name)",
    "UPDATE results SET room = says(body, '$.number'), ranked = coalesce(says(body, '$.ranked'), 0)",
    "DELETE FROM results WHERE NOT ranked AND room NOT IN (SELECT number FROM rooms)",
    "CREATE INDEX quiet_players ON players (seen)",
    "CREATE INDEX results_of_room ON results (room) WHERE NOT ranked",
)


def seal_all(db: sqlite3.Connection) -> None:
    """Add what the tables lack, and seal every row; inside a transaction."""
    for sql in NEW_COLUMNS:
        db.execute(said(sql))
    for table in ALL_TABLES:
        values = ", ".join(table.columns)
        db.create_function("sealed", -1, partial(seal_if_any, table), deterministic=True)
        if table in HASHED:
            db.create_function("digest", 1, digest, deterministic=True)
            db.execute(f"ALTER TABLE {table.name} RENAME COLUMN hash TO seal")
            whole = "WHERE digest(body) = seal"
        else:
            db.execute(f"ALTER TABLE {table.name} ADD COLUMN seal BLOB")
            whole = ""
        db.execute(f"UPDATE {table.name} SET seal = sealed({values}) {whole}")  # noqa: S608 - our own words


def seal_if_any(table: Table, *row: Any) -> bytes | None:
    """The seal of a row; of one whose body is no body there is none."""
    try:
        seal: bytes = sealed(table, *row)[-1]
    except TypeError:
        return None
    return seal


def said(sql: str) -> str:
    """SQL that reads a value from encoded data; from what is no JSON it reads nothing."""
    for body in ("card", "body"):
        text = f"CAST({body} AS TEXT)"
        sql = sql.replace(f"says({body}, ", f"json_extract(CASE WHEN json_valid({text}) THEN {text} END, ")
    return sql

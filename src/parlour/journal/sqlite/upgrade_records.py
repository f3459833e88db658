"""Upgrade to format 4: the contents of several tables become records, and every row gets a checksum.

In older formats only steps, states and envelopes of relays have a digest. Other rows are accepted as they
are, but damaged ones stay damaged. Deletion went by wall time, now it goes by the rooms' clock: whatever is
old counts as ended, or used, just now.
"""

import sqlite3
from functools import partial
from typing import Any

from parlour.journal.rows import ALL_TABLES, RECORDS, STATES, STEPS, Table, with_checksum
from parlour.wire import digest

INTO = "INSERT INTO records (kind, in_group, key, owner, sort, due, room, body, checksum)"
NOW = "(SELECT now FROM clock)"
LAST = "(SELECT max(number) FROM results)"
"""Old results sort before all new ones, which are sorted by the rooms' clock."""
RANKED = "coalesce(says('$.ranked'), 0)"
RESULTS = f"""SELECT 'result', '', CAST(number AS TEXT), player, number - {LAST}, NULL,
    CASE WHEN {RANKED} THEN NULL ELSE says('$.number') END, body, NULL
    FROM results WHERE {RANKED} OR says('$.number') IN (SELECT number FROM rooms)"""  # noqa: S608 - our own
SIZE = "(SELECT coalesce(sum(length(body)), 0) FROM letters WHERE relay = name)"

CARRIED = {
    "tickets": """SELECT 'ticket', '', id, coalesce(says('$.player'), ''), coalesce(says('$.since'), 0.0),
        NULL, NULL, body, NULL FROM tickets""",
    "players": f"SELECT 'player', '', id, '', 0.0, {NOW}, NULL, body, NULL FROM players",  # noqa: S608
    "standings": "SELECT 'standing', ladder, player, player, worth, NULL, NULL, body, NULL FROM standings",
    "results": RESULTS,
    "relays": f"""SELECT 'relay', '', name, '', 0.0, {NOW}, NULL,
        CAST(json_object('bytes', {SIZE}) AS BLOB), NULL FROM relays""",  # noqa: S608 - our own words
    "letters": """SELECT 'envelope', relay, CAST(num AS TEXT), '', num, NULL, NULL, body,
        CASE WHEN digest(body) = hash THEN NULL ELSE hash END FROM letters""",
}
"""By their old tables, some of which the oldest files lack."""
UNUSED = ("rooms_by_creator", "listed_rooms")
"""Indexes that are not used any more."""


def carry_over(db: sqlite3.Connection, key: bytes) -> None:
    """Make records of the old tables, and of a new *key*; inside a transaction."""
    db.create_function("digest", 1, digest, deterministic=True)
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    for table, rows in CARRIED.items():
        if table in there:
            db.execute(f"{INTO} {said(rows)}")
    for table in CARRIED.keys() & there:
        db.execute(f"DROP TABLE {table}")
    for copy in ("1", "2"):
        db.execute(f"{INTO} VALUES ('secret', '', ?, '', 0.0, NULL, NULL, ?, NULL)", (copy, key))
    for index in UNUSED:
        db.execute(f"DROP INDEX IF EXISTS {index}")
    db.execute(f"UPDATE rooms SET ended_at = {NOW} WHERE ended_at IS NOT NULL")  # noqa: S608 - our own words


def add_checksums(db: sqlite3.Connection) -> None:
    """Give every row its checksum, unless it is known to be damaged; inside a transaction."""
    for table in ALL_TABLES:
        db.create_function("made", -1, partial(checksum_if_any, table), deterministic=True)
        if table in (STEPS, STATES):
            db.execute(f"ALTER TABLE {table.name} RENAME COLUMN hash TO checksum")
            whole = "digest(body) = checksum"
        else:
            if table is not RECORDS:
                db.execute(f"ALTER TABLE {table.name} ADD COLUMN checksum BLOB")
            whole = "checksum IS NULL"
        columns = ", ".join(table.columns)
        db.execute(f"UPDATE {table.name} SET checksum = made({columns}) WHERE {whole}")  # noqa: S608 - ours


def checksum_if_any(table: Table, *row: Any) -> bytes | None:
    """The checksum of a row; None if its body is not one."""
    try:
        checksum: bytes = with_checksum(table, *row)[-1]
    except TypeError:
        return None
    return checksum


def said(sql: str) -> str:
    """SQL that reads a value from an encoded body; NULL if that is not JSON."""
    text = "CAST(body AS TEXT)"
    return sql.replace("says(", f"json_extract(CASE WHEN json_valid({text}) THEN {text} END, ")

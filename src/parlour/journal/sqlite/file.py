"""The SQLite file: its tables, and how it is opened."""

import secrets
import sqlite3
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path

from parlour.journal.base import (
    UNREADABLE,
    Damage,
    Durability,
    Foreign,
    TooNew,
    Unfinished,
)
from parlour.journal.rows import CLOCK, STEPS
from parlour.journal.sqlite.checked_rows import Connection, insert, look
from parlour.journal.sqlite.errors import pages_damaged, unopened
from parlour.journal.sqlite.upgrade_ids import hide_ids
from parlour.journal.sqlite.upgrade_records import add_checksums, carry_over
from parlour.pseudonyms import Pseudonyms
from parlour.wire import read_step

FILE = "parlour.db"
FORMAT = 4
"""The format of the tables below; a file has its own in `user_version`."""
APPLICATION = int.from_bytes(b"Parl", "big")
"""Identifies a file as Parlour's, in `application_id`."""
COPYING = int.from_bytes(b"ParC", "big")
"""The same of a file into which a copy was begun and is not finished: no Parlour serves it."""
BUSY_TIMEOUT = 2.0
"""Seconds to wait for another process that writes to the same file."""

SMALL = 64 * 1024 * 1024
"""Bytes of a file that can be rewritten in about a second."""

SYNCHRONOUS = {"disk": "FULL", "process": "NORMAL"}

TABLES = (
    # Numbers are never used twice, even when rooms are deleted.
    """CREATE TABLE rooms (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL,
        game TEXT NOT NULL,
        open INTEGER NOT NULL,
        private INTEGER NOT NULL,
        connected INTEGER NOT NULL,
        held REAL,
        creator TEXT,
        ended_at REAL,
        due REAL,
        card BLOB NOT NULL,
        checksum BLOB
    )""",
    "CREATE UNIQUE INDEX open_rooms ON rooms (id) WHERE open",
    "CREATE INDEX due_rooms ON rooms (due) WHERE open AND due IS NOT NULL",
    "CREATE INDEX all_rooms ON rooms (id)",
    "CREATE INDEX ended_rooms ON rooms (ended_at) WHERE ended_at IS NOT NULL",
    """CREATE TABLE seats (
        room INTEGER NOT NULL REFERENCES rooms,
        player TEXT NOT NULL,
        checksum BLOB,
        PRIMARY KEY (room, player)
    ) WITHOUT ROWID""",
    "CREATE INDEX seats_of ON seats (player)",
    # In the order of arrival: the steps of one transaction lie on few pages, whichever rooms they are of.
    """CREATE TABLE steps (
        room INTEGER NOT NULL REFERENCES rooms,
        seq INTEGER NOT NULL,
        player TEXT,
        command_id TEXT,
        body BLOB NOT NULL,
        checksum BLOB NOT NULL,
        UNIQUE (room, seq)
    )""",
    "CREATE UNIQUE INDEX answers ON steps (room, player, command_id) WHERE command_id IS NOT NULL",
    """CREATE TABLE states (
        room INTEGER NOT NULL REFERENCES rooms,
        seq INTEGER NOT NULL,
        body BLOB NOT NULL,
        checksum BLOB NOT NULL,
        PRIMARY KEY (room, seq)
    ) WITHOUT ROWID""",
    "CREATE TABLE clock (now REAL NOT NULL, checksum BLOB)",
)
RECORDS = (
    """CREATE TABLE records (
        kind TEXT NOT NULL,
        in_group TEXT NOT NULL,
        key TEXT NOT NULL,
        owner TEXT NOT NULL,
        sort REAL NOT NULL,
        due REAL,
        room INTEGER,
        body BLOB NOT NULL,
        checksum BLOB,
        UNIQUE (kind, in_group, key)
    )""",
    "CREATE INDEX records_in_order ON records (kind, in_group, sort DESC, key)",
    "CREATE INDEX records_of ON records (owner, kind, sort DESC, key) WHERE owner <> ''",
    "CREATE INDEX due_records ON records (kind, due) WHERE due IS NOT NULL",
    "CREATE INDEX records_of_room ON records (room) WHERE room IS NOT NULL",
)
"""The tables of this format; files of older ones have no table of records."""


def open_file(
    path: Path, durability: Durability, marked: float | None = None
) -> tuple[Connection, Connection, float]:
    """Open a connection to write with and one to read with; also returns where the rooms' clock stopped.

    *marked* is the clock of the progress mark, for a file whose own clock is damaged.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # the file holds the secrets of all rooms
    if not path.exists():
        path.touch(mode=0o600)
    with ExitStack() as opened:
        try:
            writing, reading = (opened.enter_context(closing(connect(path))) for _ in range(2))
            reading.damages = writing.damages
            make_ready(writing, path)
            check_pages(writing, path)
            writing.execute(f"PRAGMA synchronous = {SYNCHRONOUS[durability]}")
            writing.execute("PRAGMA foreign_keys = ON")
            clock = mend_clock(writing, marked or 0.0)
            reading.execute("PRAGMA query_only = ON")
        except sqlite3.Error as error:
            raise unopened(path, error) from error
        except UnicodeDecodeError as error:  # SQLite quotes what it cannot read
            raise pages_damaged(path, error.object.decode(errors="replace")) from error
        opened.pop_all()
    return writing, reading, clock


def connect(path: Path, *, read_only: bool = False) -> Connection:
    # Each connection is used by one thread at a time, but not by the one that made it.
    db = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode={'ro' if read_only else 'rw'}",
        uri=True,
        timeout=BUSY_TIMEOUT,
        isolation_level=None,
        check_same_thread=False,
        factory=Connection,
    )
    db.text_factory = partial(str, encoding="utf-8", errors="replace")  # damage is found by the checksums
    db.damages = {}
    return db


def make_ready(db: sqlite3.Connection, path: Path) -> None:
    """Check that the file is ours and not too new, and fill it if it is new; others' files stay untouched."""
    new = is_new(db, path)
    if new:
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        db.execute("PRAGMA journal_mode = WAL")
    if new or format_of(db) < FORMAT:
        db.execute("BEGIN IMMEDIATE")
        format = 0 if is_new(db, path) else format_of(db)  # no other process was faster
        if format < FORMAT:
            upgrade(db, format)
        db.execute("COMMIT")
        if format:
            let_shrink(db, path)


def upgrade(db: sqlite3.Connection, format: int) -> None:
    """Bring the tables from *format* to the current one, or create them (0); inside a transaction."""
    for sql in RECORDS if format else (*TABLES, *RECORDS):
        db.execute(sql)
    if format:
        key = secrets.token_bytes(32)
        carry_over(db, key)
        hide_ids(db, Pseudonyms(key).hide)
        add_checksums(db)
    else:
        insert(db, CLOCK, 0.0)
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute(f"PRAGMA user_version = {FORMAT}")


def let_shrink(db: sqlite3.Connection, path: Path) -> None:
    """Turn on incremental vacuum in an older file; that rewrites the file, so only small ones."""
    if db.execute("PRAGMA auto_vacuum").fetchone()[0] == 0 and path.stat().st_size <= SMALL:
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        db.execute("VACUUM")


def check_pages(db: Connection, path: Path) -> None:
    """Check that SQLite can read the file's structure; the rows are checked when they are read.

    An index holds nothing that its table does not: a damaged one is rebuilt. Only small files are searched
    for damaged indexes, because that takes longer.
    """
    check = "PRAGMA integrity_check(100)" if path.stat().st_size <= SMALL else "PRAGMA quick_check(100)"
    faults = faults_of(db, check)
    if faults and all(" index " in fault for fault in faults):
        db.damages.setdefault(Damage("file", faults[0]))
        db.execute("REINDEX")
        faults = faults_of(db, check)
    if faults:
        raise pages_damaged(path, faults[0])


def faults_of(db: sqlite3.Connection, check: str) -> list[str]:
    """What SQLite finds; values of a wrong type are left to the row's checksum."""
    found = [" ".join(text.split()) for (text,) in db.execute(check)]
    return [text for text in found if text != "ok" and " value in " not in text]


def mend_clock(db: Connection, now: float) -> float:
    """Where the rooms' clock stopped; if its row is damaged, by the last steps or by *now*."""
    clock = [row[0] for row in look(db, CLOCK)]
    if clock:
        return float(clock[0])
    for row in look(db, STEPS, "ORDER BY rowid DESC LIMIT 1000"):
        with suppress(*UNREADABLE):
            now = max(now, read_step(row[4]).now)
    db.execute("BEGIN IMMEDIATE")
    db.execute("DELETE FROM clock")
    insert(db, CLOCK, now)
    db.execute("COMMIT")
    return now


def format_of(db: sqlite3.Connection) -> int:
    """The format of the tables in the file."""
    format: int = db.execute("PRAGMA user_version").fetchone()[0]
    return format


def is_new(db: sqlite3.Connection, path: Path) -> bool:
    # The mark is read last: a file that is being filled right now has its mark by the time it has its tables.
    tables, format, application = (
        db.execute(sql).fetchone()[0]
        for sql in ("SELECT count(*) FROM sqlite_schema", "PRAGMA user_version", "PRAGMA application_id")
    )
    if application == APPLICATION and format > FORMAT:
        raise TooNew(
            f"{path} has format {format}, and this Parlour reads formats up to {FORMAT}: "
            "start the newer Parlour that wrote it, or choose another data folder"
        )
    if application == COPYING:
        raise Unfinished(f"a copy into {path.parent} was begun and not finished: run `parlour copy` again")
    if application != APPLICATION and (application or format or tables):
        raise Foreign(f"{path} belongs to another application: choose another data folder")
    return bool(application != APPLICATION)

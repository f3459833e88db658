"""The file: its tables, and how it is opened."""

import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path

from parlour.journal.base import (
    Durability,
    Foreign,
    TooNew,
)
from parlour.journal.sqlite.trouble import unopened

FILE = "parlour.db"
FORMAT = 3
"""The version of the tables below; a file says its own in `user_version`."""
APPLICATION = int.from_bytes(b"Parl", "big")
"""How a file says that it is Parlour's, in `application_id`."""
PATIENCE = 2.0
"""Seconds to wait for another process that is writing to the same file."""

SYNCHRONOUS = {"disk": "FULL", "process": "NORMAL"}

RELAYS = (
    "CREATE TABLE relays (name TEXT PRIMARY KEY, last REAL NOT NULL) WITHOUT ROWID",
    "CREATE INDEX quiet_relays ON relays (last)",
    """CREATE TABLE letters (
        relay TEXT NOT NULL,
        num INTEGER NOT NULL,
        body BLOB NOT NULL,
        hash BLOB NOT NULL,
        PRIMARY KEY (relay, num)
    ) WITHOUT ROWID""",
)
LADDERS = (
    "CREATE TABLE tickets (id TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID",
    """CREATE TABLE standings (
        ladder TEXT NOT NULL,
        player TEXT NOT NULL,
        worth REAL NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (ladder, player)
    ) WITHOUT ROWID""",
    "CREATE INDEX leaders ON standings (ladder, worth DESC, player)",
    "CREATE INDEX standings_of ON standings (player)",
    "CREATE TABLE results (number INTEGER PRIMARY KEY, player TEXT NOT NULL, body BLOB NOT NULL)",
    "CREATE INDEX results_of ON results (player, number)",
)
LACKING = {1: RELAYS, 2: LADDERS}
"""What a file of an older format lacks to be of the next."""

TABLES = (
    # Numbers are never given twice, even when rooms are deleted one day.
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
        card BLOB NOT NULL
    )""",
    "CREATE UNIQUE INDEX open_rooms ON rooms (id) WHERE open",
    "CREATE INDEX listed_rooms ON rooms (number) WHERE open AND NOT private",
    "CREATE INDEX due_rooms ON rooms (due) WHERE open AND due IS NOT NULL",
    "CREATE INDEX all_rooms ON rooms (id)",
    "CREATE INDEX rooms_by_creator ON rooms (creator) WHERE open AND creator IS NOT NULL",
    "CREATE INDEX ended_rooms ON rooms (ended_at) WHERE ended_at IS NOT NULL",
    """CREATE TABLE seats (
        room INTEGER NOT NULL REFERENCES rooms,
        player TEXT NOT NULL,
        PRIMARY KEY (room, player)
    ) WITHOUT ROWID""",
    "CREATE INDEX seats_of ON seats (player)",
    # In the order of arrival: the steps of one transaction lie on few pages, however many rooms they are of.
    """CREATE TABLE steps (
        room INTEGER NOT NULL REFERENCES rooms,
        seq INTEGER NOT NULL,
        player TEXT,
        command_id TEXT,
        body BLOB NOT NULL,
        hash BLOB NOT NULL,
        UNIQUE (room, seq)
    )""",
    "CREATE UNIQUE INDEX answers ON steps (room, player, command_id) WHERE command_id IS NOT NULL",
    """CREATE TABLE states (
        room INTEGER NOT NULL REFERENCES rooms,
        seq INTEGER NOT NULL,
        body BLOB NOT NULL,
        hash BLOB NOT NULL,
        PRIMARY KEY (room, seq)
    ) WITHOUT ROWID""",
    "CREATE TABLE players (id TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE clock (now REAL NOT NULL)",
    "INSERT INTO clock VALUES (0.0)",
    *RELAYS,
    *LADDERS,
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)


def open_file(path: Path, durability: Durability) -> tuple[sqlite3.Connection, sqlite3.Connection, float]:
    """A connection to write with, one to read with, and where the rooms' clock stopped."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # the secrets of all rooms lie in there
    if not path.exists():
        path.touch(mode=0o600)
    with ExitStack() as opened:
        try:
            writing, reading = (opened.enter_context(closing(connect(path))) for _ in range(2))
            make_ready(writing, path)
            writing.execute(f"PRAGMA synchronous = {SYNCHRONOUS[durability]}")
            writing.execute("PRAGMA foreign_keys = ON")
            reading.execute("PRAGMA query_only = ON")
            clock: float = reading.execute("SELECT now FROM clock").fetchone()[0]
        except sqlite3.Error as error:
            raise unopened(path, error) from error
        opened.pop_all()
    return writing, reading, clock


def connect(path: Path) -> sqlite3.Connection:
    # Each connection is used by one thread at a time, but not by the one that made it.
    return sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)


def make_ready(db: sqlite3.Connection, path: Path) -> None:
    """See that the file is ours and of our time, and fill it if it is new; others' files stay untouched."""
    if is_new(db, path):
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("BEGIN IMMEDIATE")
        if is_new(db, path):  # nobody was faster
            for sql in TABLES:
                db.execute(sql)
        db.execute("COMMIT")
    if format_of(db) < FORMAT:
        db.execute("BEGIN IMMEDIATE")
        for format in range(format_of(db), FORMAT):
            for sql in LACKING[format]:
                db.execute(sql)
        db.execute(f"PRAGMA user_version = {FORMAT}")
        db.execute("COMMIT")


def format_of(db: sqlite3.Connection) -> int:
    """The version of the tables in the file."""
    format: int = db.execute("PRAGMA user_version").fetchone()[0]
    return format


def is_new(db: sqlite3.Connection, path: Path) -> bool:
    # The mark is read last: a file that somebody fills right now has its mark by the time it has its tables.
    tables, format, application = (
        db.execute(sql).fetchone()[0]
        for sql in ("SELECT count(*) FROM sqlite_schema", "PRAGMA user_version", "PRAGMA application_id")
    )
    if application == APPLICATION and format > FORMAT:
        raise TooNew(
            f"{path} has format {format}, and this Parlour reads formats up to {FORMAT}: "
            "start the newer Parlour that wrote it, or choose another data folder"
        )
    if application != APPLICATION and (application or format or tables):
        raise Foreign(f"{path} belongs to another application: choose another data folder")
    return bool(application != APPLICATION)

"""A journal's file as the source or the target of a copy: see `parlour.journal.copying`."""

import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from parlour.journal.base import Foreign, NotKept
from parlour.journal.copying import COPIED, PAGE
from parlour.journal.rows import CLOCK, RECORDS, Row, Table, is_whole
from parlour.journal.sqlite.checked_rows import Connection, insert
from parlour.journal.sqlite.errors import pages_damaged, unopened
from parlour.journal.sqlite.file import (
    APPLICATION,
    COPYING,
    FILE,
    FORMAT,
    SMALL,
    connect,
    faults_of,
    format_of,
    is_new,
    upgrade,
)
from parlour.journal.sqlite.mark import ProgressMark


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """SQLite's errors as the journal's."""
    try:
        yield
    except sqlite3.Error as error:
        raise unopened(path, error) from error
    except UnicodeDecodeError as error:  # SQLite quotes what it cannot read
        raise pages_damaged(path, error.object.decode(errors="replace")) from error


class SqliteSource:
    """The rows of a journal's file."""

    def __init__(self, folder: Path) -> None:
        self.name = str(folder.resolve())
        self._folder = folder
        self._path = folder / FILE
        if not self._path.exists():
            raise NotKept(f"there is no journal in {folder}")
        with translated(self._path):
            self._db = connect(self._path, read_only=True)
            self._check()

    def _check(self) -> None:
        if is_new(self._db, self._path):
            raise NotKept(f"there is no journal in {self._folder}")
        if (format := format_of(self._db)) < FORMAT:
            raise NotKept(
                f"{self._path} has format {format}: start `parlour serve` there once, to bring it up to date"
            )
        is_small = self._path.stat().st_size <= SMALL
        faults = faults_of(self._db, "PRAGMA integrity_check(1)" if is_small else "PRAGMA quick_check(1)")
        if faults:
            raise pages_damaged(self._path, faults[0])

    async def mark(self) -> str:
        log = self._path.with_name(f"{FILE}-wal")
        files = [file.stat() for file in (self._path, log) if file.exists() and file.stat().st_size]
        return " ".join(f"{file.st_size}:{file.st_mtime_ns}" for file in files)

    async def count(self, table: Table) -> int:
        with translated(self._path):
            return count_rows(self._db, table)

    async def pages(self, table: Table, after: Row | None) -> AsyncIterator[Sequence[Row]]:
        order, marks = ", ".join(table.key), ", ".join("?" for _ in table.key)
        which = "" if after is None else f"WHERE ({order}) > ({marks})"
        sql = f"SELECT {table.all} FROM {table.name} {which} ORDER BY {order}"  # noqa: S608 - our own words
        with translated(self._path):
            rows = self._db.execute(sql, after or ())
            while page := rows.fetchmany(PAGE):
                yield page

    async def records(self, kind: str) -> list[Row]:
        sql = f"SELECT {RECORDS.all} FROM records WHERE kind = ?"  # noqa: S608 - our own words
        with translated(self._path):
            return self._db.execute(sql, (kind,)).fetchall()

    async def clock(self) -> float | None:
        with translated(self._path):
            rows = self._db.execute(f"SELECT {CLOCK.all} FROM clock").fetchall()  # noqa: S608 - our own words
        whole = [float(row[0]) for row in rows if is_whole(CLOCK, row)]
        return whole[0] if whole else None

    async def last_number(self) -> int:
        with translated(self._path):
            return last_number(self._db)

    async def aclose(self) -> None:
        self._db.close()


class SqliteTarget:
    """A journal's file that is being filled."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / FILE
        with translated(self._path):
            if not self._path.exists():
                self._path.touch(mode=0o600)
            self._db = connect(self._path)
            self._make_ready()

    def _make_ready(self) -> None:
        application = self._db.execute("PRAGMA application_id").fetchone()[0]
        if application == COPYING:
            return
        if application == APPLICATION or not is_new(self._db, self._path):
            raise Foreign(f"{self._folder} holds a journal already: choose another data folder")
        self._db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        self._db.execute("PRAGMA journal_mode = WAL")
        with transaction(self._db):
            upgrade(self._db, 0)
            self._db.execute("CREATE TABLE copying (note BLOB NOT NULL)")
            self._db.execute(f"PRAGMA application_id = {COPYING}")

    async def begun(self) -> bytes | None:
        with translated(self._path):
            row = self._db.execute("SELECT note FROM copying").fetchone()
        return None if row is None else bytes(row[0])

    async def begin(self, note: bytes) -> None:
        with translated(self._path), transaction(self._db):
            for table in COPIED:
                self._db.execute(f"DELETE FROM {table.name}")  # noqa: S608 - our own words
            self._note(note)

    async def write(self, table: Table, rows: Sequence[Row], note: bytes) -> None:
        with translated(self._path), transaction(self._db):
            self._db.executemany("INSERT " + table.insertion, rows)
            self._note(note)

    def _note(self, note: bytes) -> None:
        self._db.execute("DELETE FROM copying")
        self._db.execute("INSERT INTO copying VALUES (?)", (note,))

    async def count(self, table: Table) -> int:
        with translated(self._path):
            return count_rows(self._db, table)

    async def finish(self, clock: float, last_number: int, records: Sequence[Row]) -> None:
        with translated(self._path):
            self._db.execute("PRAGMA synchronous = FULL")
            with transaction(self._db):
                self._db.execute("DELETE FROM clock")
                insert(self._db, CLOCK, clock)
                self._db.executemany("INSERT " + RECORDS.insertion, records)
                self._db.execute("DELETE FROM sqlite_sequence WHERE name = 'rooms'")
                self._db.execute("INSERT INTO sqlite_sequence VALUES ('rooms', ?)", (last_number,))
                self._db.execute("DROP TABLE copying")
                self._db.execute(f"PRAGMA application_id = {APPLICATION}")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        ProgressMark(self._folder).write(clock)

    async def aclose(self) -> None:
        self._db.close()


@contextmanager
def transaction(db: Connection) -> Iterator[None]:
    """All or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def count_rows(db: Connection, table: Table) -> int:
    """The rows of a table itself, whatever its indexes say."""
    return int(db.execute(f"SELECT count(*) FROM {table.name} NOT INDEXED").fetchone()[0])  # noqa: S608


def last_number(db: Connection) -> int:
    row = db.execute("SELECT max(seq) FROM sqlite_sequence WHERE name = 'rooms'").fetchone()
    return int(row[0] or 0)

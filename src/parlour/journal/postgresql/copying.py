"""The tables in PostgreSQL as the source or the target of a copy: see `parlour.journal.copying`."""

from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

from asyncpg import Connection

from parlour.journal.base import Foreign, NotKept, Trouble
from parlour.journal.copying import COPIED, PAGE
from parlour.journal.postgresql.checked_rows import read_row, selection, taken
from parlour.journal.postgresql.errors import ERRORS, said
from parlour.journal.postgresql.schema import (
    COPYING,
    check_tables,
    connect,
    make_tables,
    name_of,
    serve_lock,
    split_url,
    without_secret,
)
from parlour.journal.rows import RECORDS, ROOMS, Row, Table
from parlour.journal.shards import room_key, shard_of

TRUTH = frozenset({"open", "private"})
"""Columns that are true or false here, and a number in SQLite."""


@contextmanager
def translated(url: str) -> Iterator[None]:
    """PostgreSQL's errors as the journal's."""
    try:
        yield
    except ERRORS as error:
        raise NotKept(f"cannot copy {name_of(url)}: {without_secret(said(error), url)}") from error


async def connected(url: str) -> Connection:
    """A connection for a copy."""
    return await connect(url, {"synchronous_commit": "off"})


async def lock(db: Connection, url: str) -> None:
    """Have the tables alone until the connection ends; `NotKept` if somebody serves them."""
    if not await db.fetchval(serve_lock(shared=False)):
        raise NotKept(f"{name_of(url)} is being served or copied: stop that first")


class PostgresSource:
    """The rows of the tables, as they were when the copy began."""

    def __init__(self, url: str, db: Connection) -> None:
        self.name = name_of(url)
        self._url = url
        self._db = db

    @classmethod
    async def open(cls, url: str) -> Self:
        db = await connected(url)
        try:
            with translated(url):
                tables = "SELECT count(*) FROM pg_tables WHERE schemaname = $1"
                if not await db.fetchval(tables, split_url(url)[1]):
                    raise NotKept(f"there is no journal in {name_of(url)}")
                await check_tables(db, url)
                await lock(db, url)
                if await db.fetchval("SELECT 1 FROM about WHERE name = $1", COPYING):
                    raise NotKept(f"{name_of(url)} is an unfinished copy itself")
                await db.transaction(isolation="repeatable_read", readonly=True).start()
        except BaseException:
            db.terminate()
            raise
        return cls(url, db)

    async def _ask(self, answer: Awaitable[Any]) -> Any:
        with translated(self._url):
            return await answer

    async def mark(self) -> str:
        sql = "SELECT max(id) || ' ' || sum(written) || ' ' || max(clock) FROM workers"
        return str(await self._ask(self._db.fetchval(sql)))

    async def count(self, table: Table) -> int:
        return await count_rows(self._db, self._url, table)

    async def pages(self, table: Table, after: Row | None) -> AsyncIterator[Sequence[Row]]:
        order, marks = ", ".join(table.key), ", ".join("?" for _ in table.key)
        which = "" if after is None else f"WHERE ({order}) > ({marks})"
        sql = selection(table, f"{which} ORDER BY {order}")
        with translated(self._url):
            cursor = await self._db.cursor(sql, *taken(after or ()))
            while page := await cursor.fetch(PAGE):
                yield [read_row(table, row) for row in page]

    async def records(self, kind: str) -> list[Row]:
        rows = await self._ask(self._db.fetch(selection(RECORDS, "WHERE kind = ?"), kind))
        return [read_row(RECORDS, row) for row in rows]

    async def clock(self) -> float | None:
        return float(await self._ask(self._db.fetchval("SELECT coalesce(max(clock), 0) FROM workers")))

    async def last_number(self) -> int:
        sql = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM rooms_number_seq"
        return int(await self._ask(self._db.fetchval(sql)))

    async def aclose(self) -> None:
        self._db.terminate()


class PostgresTarget:
    """Tables that are being filled."""

    def __init__(self, url: str, db: Connection) -> None:
        self._url = url
        self._db = db

    @classmethod
    async def open(cls, url: str) -> Self:
        db = await connected(url)
        try:
            with translated(url):
                await cls._make_ready(db, url)
                await lock(db, url)
        except BaseException:
            db.terminate()
            raise
        return cls(url, db)

    @staticmethod
    async def _make_ready(db: Connection, url: str) -> None:
        full: Trouble = Foreign(
            f"{name_of(url)} holds a journal already: choose another schema by ?schema=NAME"
        )
        async with db.transaction():
            if await make_tables(db, url):
                await db.execute("INSERT INTO about VALUES ($1, '')", COPYING)
                return
            await check_tables(db, url)
            if await db.fetchval("SELECT value FROM about WHERE name = $1", COPYING) is None:
                raise full

    async def begun(self) -> bytes | None:
        with translated(self._url):
            note = await self._db.fetchval("SELECT value FROM about WHERE name = $1", COPYING)
        return str(note).encode() or None

    async def begin(self, note: bytes) -> None:
        with translated(self._url):
            async with self._db.transaction():
                await self._db.execute(f"TRUNCATE {', '.join(table.name for table in COPIED)}")
                await self._note(note)

    async def write(self, table: Table, rows: Sequence[Row], note: bytes) -> None:
        with translated(self._url):
            async with self._db.transaction():
                await self._insert(table, rows)
                await self._note(note)

    async def _insert(self, table: Table, rows: Sequence[Row]) -> None:
        await self._db.copy_records_to_table(
            table.name,
            schema_name=split_url(self._url)[1],
            columns=[*table.columns, "checksum", *(["shard"] if table is ROOMS else [])],
            records=[written(table, row) for row in rows],
        )

    async def _note(self, note: bytes) -> None:
        sql = "UPDATE about SET value = $2 WHERE name = $1"
        await self._db.execute(sql, COPYING, note.decode())

    async def count(self, table: Table) -> int:
        return await count_rows(self._db, self._url, table)

    async def finish(self, clock: float, last_number: int, records: Sequence[Row]) -> None:
        with translated(self._url):
            async with self._db.transaction():
                await self._db.execute("SET LOCAL synchronous_commit = on")
                if last_number:
                    await self._db.execute("SELECT setval('rooms_number_seq', $1)", last_number)
                await self._insert(RECORDS, records)
                sql = "INSERT INTO workers (address, gone, clock) VALUES ('copy', true, $1)"
                await self._db.execute(sql, clock)
                await self._db.execute("DELETE FROM about WHERE name = $1", COPYING)
            await self._db.execute(f"ANALYZE {', '.join(table.name for table in COPIED)}")

    async def aclose(self) -> None:
        self._db.terminate()


def written(table: Table, row: Row) -> Row:
    """A row as PostgreSQL takes it: with the shard of a room, and with true and false for one and zero."""
    names = (*table.columns, "checksum")
    values = tuple(bool(value) if name in TRUTH else value for name, value in zip(names, row, strict=True))
    shard = (shard_of(room_key(row[1])),) if table is ROOMS else ()
    return (*taken(values), *shard)


async def count_rows(db: Connection, url: str, table: Table) -> int:
    with translated(url):
        return int(await db.fetchval(f"SELECT count(*) FROM {table.name}"))  # noqa: S608 - our own words

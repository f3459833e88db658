"""Records that a command reads and writes while workers are running, without being one of them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from asyncpg import Connection

from parlour.journal.base import Change, NotKept, Record, RecordQuery
from parlour.journal.postgresql import writes as row_writes
from parlour.journal.postgresql.connection import limits_of_time
from parlour.journal.postgresql.errors import ERRORS, not_kept
from parlour.journal.postgresql.reads import Reads
from parlour.journal.postgresql.schema import connect, make_ready, name_of, serve_lock


class OutsideRecords:
    """Reads and writes records; no fence, because nobody owns what is written here."""

    def __init__(self, db: Connection) -> None:
        self._db = db

    async def records(self, query: RecordQuery) -> Sequence[Record]:
        """The records that a query finds."""
        return await Reads(self._db, {}).records(query)

    async def keep(self, *changes: Change) -> None:
        """Make these changes, all of them or none."""
        async with self._db.transaction():
            await row_writes.keep(self._db, changes)


@asynccontextmanager
async def opened_records(url: str) -> AsyncIterator[OutsideRecords]:
    """The records of a database; its tables are made if there are none."""
    db = await connect(url, limits_of_time())
    try:
        await make_ready(db, url)
        if not await db.fetchval(serve_lock(shared=True)):
            raise NotKept(f"{name_of(url)} is being copied: wait until that is done")
        yield OutsideRecords(db)
    except ERRORS as error:
        raise not_kept(error) from error
    finally:
        db.terminate()

"""The connection that writes for a worker: made again when it is lost, and what it replaces is fenced off."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from asyncpg import Connection

from parlour.journal.base import Fenced, NotKept
from parlour.journal.postgresql.errors import ERRORS, not_kept
from parlour.journal.postgresql.schema import connect, serve_lock

T = TypeVar("T")

RECONNECT_EVERY = 0.1
ANSWER_WITHIN = 2.0
"""Seconds in which PostgreSQL must answer a statement or a transaction: what takes longer is looked up."""
STATEMENT_TIMEOUT = 1.5
"""Seconds after which PostgreSQL itself gives a statement up, or a transaction that nobody goes on with."""

CLAIM = "UPDATE workers SET connection = connection + 1 WHERE id = $1 AND NOT gone RETURNING connection"
"""Fences off what an older connection may still be sending, and waits for what that has begun."""
LAST_WRITE = "SELECT written FROM workers WHERE id = $1"


def limits_of_time() -> dict[str, str]:
    """Settings by which PostgreSQL gives up what its client has given up: it would keep its locks."""
    limit = f"{int(STATEMENT_TIMEOUT * 1000)}"
    return {"statement_timeout": limit, "idle_in_transaction_session_timeout": limit}


class WritingConnection:
    """One connection at a time; of each worker only the newest can write."""

    def __init__(self, url: str, synchronous: str, me: int) -> None:
        self._url = url
        self._settings = {"synchronous_commit": synchronous, **limits_of_time()}
        self._me = me
        self._db: Connection | None = None
        self.number = 0
        """How often this worker has connected: what an older connection still sends is not kept."""
        self.is_gone = False
        """True once this worker was declared gone."""

    async def current(self) -> Connection:
        """The connection, or a new one; `NotKept` if there is none, `Fenced` if this worker may not write."""
        db = self._db if self._db is not None and not self._db.is_closed() else await self._connect()
        if self.is_gone:
            raise Fenced("this worker was declared gone")
        return db

    async def ask_again(self, question: Callable[[Connection], Awaitable[T]]) -> T:
        """The answer to a question, as soon as PostgreSQL gives one, also to a worker that is gone."""
        while True:
            try:
                db = self._db or await self._connect()
                return await question(db)
            except (NotKept, *ERRORS):
                self.drop()
                await asyncio.sleep(RECONNECT_EVERY)

    async def last_write(self) -> int | None:
        """The number of this worker's last write that is kept; no older connection can add to it any more.

        None if the worker has no row any more.
        """
        return await self.ask_again(lambda db: db.fetchval(LAST_WRITE, self._me))

    async def _connect(self) -> Connection:
        db = await connect(self._url, self._settings)
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                if not await db.fetchval(serve_lock(shared=True)):
                    raise NotKept("not kept: this journal is being copied")
                number = await db.fetchval(CLAIM, self._me)
        except ERRORS as error:
            db.terminate()
            raise not_kept(error) from error
        except BaseException:
            db.terminate()
            raise
        self._db, self.is_gone, self.number = db, number is None, number or 0
        return db

    def drop(self) -> None:
        """Give the connection up, whatever it is doing."""
        db, self._db = self._db, None
        if db is not None:
            db.terminate()

    async def close(self) -> None:
        """Say goodbye, if somebody listens."""
        if self._db is not None:
            with suppress(*ERRORS):
                await self._db.close(timeout=ANSWER_WITHIN)
        self.drop()

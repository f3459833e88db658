"""Who may use a schema: one process by itself, or many workers that share it.

A process by itself holds a lock as long as it is connected. Another one waits for its turn, and takes over
the moment that the first one dies; what a dead one may still be sending is fenced off.
"""

import asyncio
from typing import Any

import asyncpg
import structlog

from parlour.journal.base import NotKept
from parlour.journal.postgresql.errors import ERRORS
from parlour.journal.postgresql.schema import connect, split_url, without_password

log = structlog.get_logger()

BURY_ALL = "UPDATE workers SET gone = true WHERE NOT gone"
CLOSE_WITHIN = 1.0
LOOK_EVERY = 0.2
"""Seconds between two tries while another process has the turn."""


class Turn:
    """The lock of a schema, held by a connection of its own."""

    def __init__(self, url: str, *, shared: bool) -> None:
        self._url = url
        self._shared = shared
        self._db: asyncpg.Connection | None = None

    async def take(self) -> None:
        """Wait for the turn; many workers share it, but not with a process by itself."""
        self._db = db = await connect(self._url)
        _, schema = split_url(self._url)
        told = False
        while not await self._try(db, schema):
            if self._shared:
                await self.give_back()
                where = f"{without_password(self._url)}, schema {schema}"
                raise NotKept(f"a server without --bus uses {where}: stop it, or start it with --bus")
            if not told:
                log.warning("another_server_is_there", schema=schema, do="this one waits until it ends")
                told = True
            await asyncio.sleep(LOOK_EVERY)
        if not self._shared:
            await db.execute(BURY_ALL)

    async def _try(self, db: "asyncpg.Connection[Any]", schema: str) -> bool:
        lock = "pg_try_advisory_lock_shared" if self._shared else "pg_try_advisory_lock"
        return bool(await db.fetchval(f"SELECT {lock}(hashtextextended($1, 0))", f"parlour {schema}"))

    async def give_back(self) -> None:
        """Let others have their turn."""
        db, self._db = self._db, None
        if db is not None:
            try:
                await db.close(timeout=CLOSE_WITHIN)
            except ERRORS:
                db.terminate()

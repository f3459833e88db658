"""Declares workers gone from outside: by whoever has seen a process die."""

import asyncpg

from parlour.journal.base import NotKept
from parlour.journal.postgresql.schema import connect

BURY = "UPDATE workers SET gone = true WHERE address = $1 AND NOT gone"


async def bury(url: str, address: str) -> None:
    """Declare the worker of this address gone: whatever it may still send is not kept."""
    db = await connect(url)
    try:
        await db.execute(BURY, address)
    except (asyncpg.PostgresError, OSError) as error:
        raise NotKept(f"not buried: {error}") from error
    finally:
        await db.close()

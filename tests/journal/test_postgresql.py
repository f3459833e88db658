"""How rooms read from the journal in PostgreSQL."""

import asyncio

import pytest

from parlour.journal.base import Record
from parlour.journal.postgresql import PostgresJournal
from parlour.server.mailbox import Mailbox


@pytest.fixture
async def journal(postgres):
    journal = PostgresJournal(postgres.new_url(), "disk")
    await journal.open()
    yield journal
    await journal.close()


async def test_many_rooms_read_at_once_over_connections_that_are_made_for_them(journal):
    """A room waits for its reads without a task, in which asyncpg alone could not connect."""
    record = Record("kind", "key", b"body")
    await journal.keep(record)
    read = []

    async def job():
        read.append(await journal.record("kind", "key"))

    for _ in range(10):
        asyncio.get_running_loop().call_soon(Mailbox().put, job)
    async with asyncio.timeout(10):
        while len(read) < 10:  # noqa: ASYNC110 - jobs have no task to wait for
            await asyncio.sleep(0.01)
    assert read == [record] * 10

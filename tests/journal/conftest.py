"""Workers on a PostgreSQL of the tests' own."""

import pytest

from parlour.journal.postgresql.schema import connect
from tests.journal.outages import opened
from tests.postgres import Postgres


@pytest.fixture(scope="module")
def own_postgres():
    """A PostgreSQL that may be crashed."""
    server = Postgres()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def url(postgres):
    return postgres.new_url()


@pytest.fixture
async def journal(url):
    async with opened(url) as journal:
        yield journal


@pytest.fixture
async def second(journal, url):
    """Another worker on the same tables."""
    async with opened(url) as second:
        yield second


@pytest.fixture
async def db(journal, url):
    """A connection of somebody else's."""
    db = await connect(url)
    yield db
    await db.close()

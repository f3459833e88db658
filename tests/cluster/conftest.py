"""A real PostgreSQL for the tests of this folder, with a schema of its own for each."""

import pytest

from parlour.journal.postgresql import schema
from tests.cluster.crew import Crew
from tests.cluster.workers import Workers
from tests.postgres import Postgres


@pytest.fixture(scope="session")
def postgres():
    server = Postgres()
    server.start()
    yield server
    server.stop()


@pytest.fixture
async def crew(postgres):
    url = postgres.new_url()
    db = await schema.connect(url, {"synchronous_commit": "off"})
    await schema.make_ready(db, url)
    crew = Crew(url, db)
    yield crew
    await crew.end()


@pytest.fixture
async def workers():
    async with Workers(3) as three:
        yield three

"""A real PostgreSQL and NATS for the tests of this folder, with a schema of its own for each."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest

from parlour.journal.postgresql import schema
from tests.cluster.crew import Crew
from tests.cluster.guests import Line
from tests.cluster.real import Cluster, RealWorker
from tests.cluster.workers import Workers
from tests.nats import Nats
from tests.postgres import Postgres

Come = Callable[..., Awaitable[list[Line]]]


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


@pytest.fixture(scope="module")
def nats() -> Iterator[Nats]:
    server = Nats()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def cluster(tmp_path, postgres, nats) -> Iterator[Cluster]:
    """A cluster of this test's own, still without workers."""
    own = Cluster(tmp_path, postgres, nats)
    yield own
    own.end()


@pytest.fixture
async def come() -> AsyncIterator[Come]:
    """Brings people into a room, each by a worker; whoever watches takes no seat."""
    lines: list[Line] = []

    async def enter(room: str, *, watching: bool = False, **people: RealWorker) -> list[Line]:
        new = []
        for name, worker in people.items():
            line = Line(await asyncio.to_thread(worker.guest, name), room)
            lines.append(line)
            await line.connect(worker)
            answer = await line.join(**({"spectate": True} if watching else {}))
            assert answer.status == "ok", answer
            new.append(line)
        return new

    yield enter
    for line in lines:
        await line.close()

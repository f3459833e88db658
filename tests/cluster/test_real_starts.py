"""Real workers that cannot begin together: each says why and ends, and whoever was there goes on."""

import asyncio
from collections.abc import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.cluster.real import RealWorker
from tests.nats import Nats

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def guarded_nats() -> Iterator[Nats]:
    """A NATS that wants a name and a password."""
    server = Nats("--user", "parlour", "--pass", "right")
    server.start()
    yield server
    server.stop()


async def last_words(worker: RealWorker) -> str:
    """What a worker says that cannot begin."""
    worker.begin()
    assert await worker.ended() == 1
    assert "Traceback" not in worker.log
    return " ".join(worker.log.split())


async def test_a_worker_with_another_bus_does_not_begin_beside_the_others(cluster, guarded_nats):
    (first,) = await cluster.open(1)
    stranger = cluster.add(bus=guarded_nats.url.replace("//", "//parlour:right@"))
    said = await last_words(stranger)
    assert f"worker {await cluster.id_of(first)} at " in said
    assert "cannot be heard on this bus: all workers of a database need the same --bus" in said
    assert "right" not in said
    assert await first.health() == 200
    assert set((await cluster.owners()).values()) == {first}


async def test_workers_of_one_database_and_one_bus_are_one_cluster_whoever_started_them(cluster):
    first, second = await cluster.open(2)
    room = await cluster.new_room(first)
    assert (await asyncio.to_thread(second.room, room))["id"] == room


@pytest.mark.parametrize("user", ["", "parlour:wrong@"], ids=["no name", "a wrong password"])
async def test_wrong_credentials_for_the_bus_are_told_without_the_password(cluster, guarded_nats, user):
    said = await last_words(cluster.add(bus=guarded_nats.url.replace("//", f"//{user}")))
    assert f"NATS at 127.0.0.1:{guarded_nats.port} cannot be used" in said
    assert said.endswith("the user or the password is wrong")
    assert "parlour:wrong" not in said


async def test_wrong_credentials_for_the_database_are_told_without_the_password(cluster):
    cluster.url = cluster.url.replace("//postgres@", "//nobody:hush@")
    said = await last_words(cluster.add())
    assert "cannot reach the database postgresql://nobody@" in said
    assert 'role "nobody" does not exist' in said
    assert "hush" not in said


async def test_a_database_of_a_newer_version_is_left_alone(cluster):
    (first,) = await cluster.open(1)
    await cluster.ask("UPDATE about SET value = '99' WHERE name = 'format'")
    said = await last_words(cluster.add())
    assert "has format 99, and this Parlour reads formats up to" in said
    assert await first.health() == 200


async def test_metrics_of_one_worker_are_those_of_all_on_the_machine(cluster):
    first, second = await cluster.open(2)
    ids = {str(await cluster.id_of(worker)) for worker in (first, second)}
    for worker in (first, second):
        text = (await asyncio.to_thread(worker.call, "GET", "/metrics")).text
        families = {family.name: family for family in text_string_to_metric_families(text)}
        assert {sample.labels["worker"] for sample in families["parlour_rooms_live"].samples} == ids
        assert {sample.labels["worker"] for sample in families["process_cpu_seconds"].samples} == ids
        assert families["parlour_workers_silent"].samples[0].value == 0

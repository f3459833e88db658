"""Every worker lists the rooms of all, with how many watch each."""

import pytest

from tests.cluster.workers import Workers, table_of
from tests.server.world import PLAYABLE


async def watch(workers, player, at, room="ABCD"):
    person = await workers.person(player, at)
    assert (await person.join(room, spectate=True))[0] == "ok"
    return person


def listed(workers, at, room="ABCD"):
    """How many watch a room, by the list of a worker; None if it is not listed there."""
    rooms = workers.worlds[at].server.room_list.listed()
    return next((one.spectators for one in rooms if one.id == room), None)


async def shown(workers):
    """How many watch the room, by the list of each worker, a moment later."""
    await workers.wait(2)
    return [listed(workers, at) for at in workers.worlds]


@pytest.mark.parametrize("at", [1, 2])
async def test_who_watches_is_counted_in_the_lists_of_all_workers(workers, at):
    await table_of(workers, 1, 1, 2)
    assert await shown(workers) == [0, 0, 0]
    zoe = await watch(workers, "zoe", at)
    await watch(workers, "yan", 3)
    assert await shown(workers) == [2, 2, 2]
    await zoe.drop()
    assert await shown(workers) == [1, 1, 1]


async def test_a_worker_that_joins_is_told_who_watches(workers):
    await table_of(workers, 1, 1, 2)
    await watch(workers, "zoe", 2)
    await workers.start(4)
    assert await shown(workers) == [1, 1, 1, 1]


async def test_the_count_is_right_after_a_room_was_handed_over(workers):
    await table_of(workers, 1, 1, 2)
    zoe = await watch(workers, "zoe", 2)
    await workers.hand_over("ABCD", 3)
    assert await shown(workers) == [1, 1, 1]
    await zoe.drop()
    assert await shown(workers) == [0, 0, 0]


async def test_who_watched_by_a_worker_that_died_is_not_counted(workers):
    await table_of(workers, 3, 1, 2)
    await watch(workers, "zoe", 3)
    assert await shown(workers) == [1, 1, 1]
    workers.kill(3)
    await workers.wait(5)
    assert await shown(workers) == [0, 0]


async def test_a_count_that_was_lost_on_the_way_is_told_again(workers):
    await table_of(workers, 1, 1, 1)
    zoe = await watch(workers, "zoe", 1)
    await workers.wait(2)
    workers.hub.separate(1, 2)
    await zoe.drop()
    await workers.wait(1)
    workers.hub.reunite(1, 2)
    await workers.wait(8)
    assert await shown(workers) == [0, 0, 0]


async def test_an_ended_room_is_watched_by_nobody():
    async with Workers(3, games=PLAYABLE) as workers:
        await workers.worlds[1].open("probe", "ABCD")
        ann = await workers.person("ann", 2)
        assert (await ann.join("ABCD"))[0] == "ok"
        await watch(workers, "zoe", 3)
        assert await shown(workers) == [1, 1, 1]
        assert (await ann.play("ABCD", {"type": "finish"}))[0] == "ok"
        assert await shown(workers) == [None, None, None]
        for worker in workers.workers.values():
            assert worker.room_list._watching == {}

"""What one address may ask for is counted at all workers together, a second late at most."""

import pytest

from parlour.errors import Refused
from parlour.server.mail import SpentElsewhere
from parlour.server.shared_limits import MOST_TOLD
from tests.cluster.workers import Workers

ADDRESS = "203.0.113.9"


@pytest.fixture
async def workers():
    async with Workers(3, address_rate=20, address_guesses=30, address_accounts=5) as three:
        yield three


def ask(workers, at, times=1, address=ADDRESS):
    """How many of so many requests of an address are let through at a worker."""
    limits = workers.worlds[at].server.limits
    return sum(limits.may_ask(None, None, address, 1.0) for _ in range(times))


async def test_an_address_over_its_limit_at_one_worker_is_limited_at_the_others_within_a_second(workers):
    assert ask(workers, 1, 100) == 80
    await workers.wait(1)
    assert [ask(workers, at, 100) for at in (1, 2, 3)] == [20, 0, 0]
    assert ask(workers, 2, address="203.0.113.10") == 1


async def test_all_workers_together_let_no_more_through_than_one_would(workers):
    seconds = 60
    through = 0
    for _ in range(seconds):
        through += sum(ask(workers, at, 100) for at in (1, 2, 3))
        await workers.wait(1)
    at_once, each_second = 3 * 80, 20
    assert through <= at_once + seconds * each_second


async def test_whoever_is_quiet_may_ask_again_soon(workers):
    for at in (1, 2, 3):
        ask(workers, at, 1000)
    await workers.wait(9)
    assert [ask(workers, at) for at in (1, 2, 3)] == [1, 1, 1]


async def test_whoever_asks_a_little_everywhere_is_not_spoken_of(workers):
    heard: list[SpentElsewhere] = []
    for worker in workers.workers.values():
        worker.limits.take = heard.append
    workers.worlds[1].server.limits.may_ask(None, None, ADDRESS, 0.5)
    await workers.wait(2)
    assert heard == []


async def test_only_the_heaviest_are_told(workers):
    heard: list[SpentElsewhere] = []
    workers.workers[2].limits.take = heard.append
    for number in range(MOST_TOLD + 50):
        ask(workers, 1, 2 if number < 50 else 3, f"198.51.100.{number}")
    await workers.wait(1)
    (mail,) = heard
    assert set(mail.requests.values()) == {3.0}
    assert len(mail.requests) == MOST_TOLD


async def test_guesses_at_one_worker_count_at_the_others(workers):
    rooms = {at: workers.worlds[at].server.rooms for at in (1, 2)}
    for number in range(30):
        with pytest.raises(Refused, match="there is no room"):
            await rooms[1].find(f"R{number}", address=ADDRESS)
    await workers.wait(1)
    with pytest.raises(Refused, match="at most 30 rooms a minute"):
        await rooms[2].find("R31", address=ADDRESS)


async def test_accounts_that_are_opened_at_one_worker_count_at_the_others(workers):
    limits = {at: workers.worlds[at].server.limits for at in (1, 2)}
    for _ in range(5):
        limits[1].count_account(ADDRESS)
    await workers.wait(1)
    with pytest.raises(Refused, match="at most 5 new accounts an hour"):
        limits[2].count_account(ADDRESS)


async def test_where_there_is_no_limit_nobody_is_charged():
    async with Workers(2, address_rate=0, address_guesses=0) as two:
        assert ask(two, 1, 1000) == 1000
        await two.wait(1)
        assert ask(two, 2, 1000) == 1000

"""What is promised of accounts on every journal."""

import asyncio

import pytest

from parlour.errors import Refused
from parlour.server.limits import Allowances
from parlour.server.parts.accounts.accounts import Accounts
from parlour.server.parts.accounts.leaving import FORMER, delete_account, everything_about
from parlour.server.sessions import Sessions
from tests.server.world import HandClock

SOMEWHERE = "203.0.113.9"


@pytest.fixture
def worker(journal):
    """Makes workers that share the journal and nothing else."""
    clock = HandClock()

    def make():
        sessions = Sessions(journal, clock)
        return Accounts(journal, clock, sessions, Allowances(1.0, clock))

    return make


async def test_an_account_is_made_signed_in_and_deleted(journal, worker):
    one, two = worker(), worker()
    signed_in, code = await one.open("ann", "Ann", "a phone")
    again = await two.sign_in_by_code(code, "a laptop", SOMEWHERE)
    assert (again.player.id, signed_in.device, again.device) == ("ann", 1, 2)
    linked = await one.sign_in_by_link(await two.make_link("ann"), "a watch")
    mine = await everything_about(journal, linked.player)
    assert [device.name for device in mine.devices] == ["a phone", "a laptop", "a watch"]
    await delete_account(journal, two._sessions, "ann")
    known = await one._sessions.known("ann")
    assert known is not None
    assert (known.name, known.account, known.session) == (FORMER, None, 2)
    with pytest.raises(Refused, match="bad_code"):
        await one.sign_in_by_code(code, "a laptop", SOMEWHERE)
    await one.open("bob", "Ann", "a phone")


async def test_a_name_a_link_and_a_user_are_given_once_however_many_ask(journal, worker):
    workers = [worker() for _ in range(3)]
    opened = await asyncio.gather(
        *(one.open(f"guest {n}", "Ann", "") for n, one in enumerate(workers)), return_exceptions=True
    )
    assert sum(not isinstance(answer, BaseException) for answer in opened) == 1
    ((account, _), _) = next(answer for answer in opened if not isinstance(answer, BaseException))
    secret = await workers[0].make_link(account.id)
    used = await asyncio.gather(*(one.sign_in_by_link(secret, "") for one in workers), return_exceptions=True)
    assert sum(not isinstance(answer, BaseException) for answer in used) == 1
    users = await asyncio.gather(*(one.of_user("bob@example.org", "Bob", "", None) for one in workers))
    assert len({user.player.id for user in users}) == 1
    assert {user.device for user in users} == {1, 2, 3}

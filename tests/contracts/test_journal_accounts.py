"""What is promised of accounts on every journal."""

import asyncio

import pytest

from parlour.errors import Refused
from parlour.journal.base import Drop, NewRecord, RecordQuery
from parlour.server.endpoint_records import endpoints_of
from parlour.server.limits import Allowances
from parlour.server.outgoing import Outgoing
from parlour.server.parts.accounts.accounts import MOST_DEVICES, Accounts
from parlour.server.parts.accounts.leaving import FORMER, delete_account, everything_about
from parlour.server.parts.accounts.name_changes import NameChanges
from parlour.server.parts.accounts.name_records import ACCOUNT_NAME, renew_keys
from parlour.server.parts.accounts.passkeys import Passkeys
from parlour.server.parts.accounts.sites import site_at
from parlour.server.parts.notifications.endpoints import Endpoints
from parlour.server.preferences import Preferences, keep_preferences, preferences_of
from parlour.server.remote_bots import become_bot
from parlour.server.sessions import KeptPlayer, Sessions
from parlour.server.tokens import Bearer, Tokens
from tests.authenticator import Authenticator
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


async def delete(journal, at, player):
    """Have a worker delete a player who sits nowhere."""

    async def no_room(room, call):
        raise AssertionError((room, call))

    names = NameChanges(journal, at._clock, at._sessions, no_room, lambda: True)
    await delete_account(journal, at._sessions, names, player)
    await names.mailbox.drained()


async def test_an_account_is_made_signed_in_and_deleted(journal, worker):
    one, two = worker(), worker()
    signed_in, code = await one.open("ann", "Ann", "a phone")
    again = await two.sign_in_by_code(code, "a laptop", SOMEWHERE)
    assert (again.player.id, signed_in.device, again.device) == ("ann", 1, 2)
    linked = await one.sign_in_by_link(await two.make_link("ann"), "a watch")
    mine = await everything_about(journal, linked.player)
    assert [device.name for device in mine.devices] == ["a phone", "a laptop", "a watch"]
    await delete(journal, two, "ann")
    known = await one._sessions.known("ann")
    assert known is not None
    assert (known.name, known.account, known.session) == (FORMER, None, 2)
    with pytest.raises(Refused, match="bad_code"):
        await one.sign_in_by_code(code, "a laptop", SOMEWHERE)
    await one.open("bob", "Ann", "a phone")


async def test_a_device_that_gives_way_to_one_too_many_is_told_to_all_as_signed_out(worker):
    one, told = worker(), []
    _, code = await one.open("ann", "Ann", "a phone")
    one._sessions.ended = lambda *who: told.append(who)
    one._sessions.hang_up = lambda is_ended: told.append([n for n in (1, 2) if is_ended(Bearer("ann", 1, n))])
    for _ in range(MOST_DEVICES - 1):
        await one.sign_in_by_code(code, "a laptop", SOMEWHERE)
    assert told == []
    await one.sign_in_by_code(code, "one too many", SOMEWHERE)
    assert told == [[1], ("ann", 1, 1)]


async def test_what_one_worker_asked_an_authenticator_is_good_at_any_other_and_once(journal, worker):
    site, key = site_at("https://games.example"), Authenticator("https://games.example", "games.example")
    workers = [worker() for _ in range(3)]
    one, two, three = (
        Passkeys(journal, at._clock, at._sessions, at, Tokens(b"k" * 32, date=at._clock.date))
        for at in workers
    )
    ann = Bearer("ann", 0)
    made = key.create(await one.ask_for_new(ann, "Ann", site))
    signed_in, _ = await workers[1].open(ann, "Ann", "a phone", also=two.adding(ann, "a phone", made, site))
    shown = key.get(await three.ask_for_any(site))
    entered = await asyncio.gather(
        *(at.sign_in(shown, "a laptop", SOMEWHERE, site) for at in (one, two, three)), return_exceptions=True
    )
    refused = [answer.code for answer in entered if isinstance(answer, Refused)]
    assert refused == ["challenge_expired"] * 2
    assert {answer.player.id for answer in entered if not isinstance(answer, BaseException)} == {"ann"}
    assert signed_in.player.passkeys[0].id == entered_with(await one._sessions.known("ann"))


def entered_with(player):
    """The passkey that was used last."""
    return max(player.passkeys, key=lambda one: one.used).id


async def test_a_worker_that_has_not_heard_that_a_session_was_ended_does_nothing_for_it(journal, worker):
    """A stolen token of the guest neither gets a link, a code or a passkey, nor anything else."""
    site, key = site_at("https://games.example"), Authenticator("https://games.example", "games.example")
    one, two = worker(), worker()
    await two._sessions.look_up("ann")
    stolen = Bearer("ann", 0)
    passkeys = Passkeys(journal, two._clock, two._sessions, two, Tokens(b"k" * 32, date=two._clock.date))
    made = key.create(await passkeys.ask_for_new(stolen, "Ann", site))
    endpoints = Endpoints(journal, two._sessions, Outgoing(local=True))
    await one.open("ann", "Ann", "a phone")
    mine = Endpoints(journal, one._sessions, Outgoing(local=True))
    told = await mine.add_webhook(Bearer("ann", 1, 1), "http://127.0.0.1:9/", 0.0)
    assert two._sessions.player(stolen) == "ann"
    asked = [
        two.make_link(stolen),
        two.renew_code(stolen),
        two.save(stolen, "Eve"),
        two.sign_out(stolen, 1),
        two.end_all(stolen, ""),
        passkeys.add(stolen, "a stick", made, site),
        two.open(stolen, "Eve", "a stick", also=passkeys.adding(stolen, "a stick", made, site)),
        passkeys.remove(stolen, "one"),
        endpoints.add_webhook(stolen, "http://127.0.0.1:9/", 0.0),
        endpoints.remove(stolen, told.id),
        endpoints.list(stolen),
        passkeys.ask_for_new(stolen, "Ann", site),
        two._sessions.known_by(stolen),
        keep_preferences(two._sessions, stolen, Preferences(sound=False)),
        become_bot(journal, two._sessions, KeptPlayer("ann", "Ann"), stolen, bot=True),
        delete(journal, two, stolen),
    ]
    refused = await asyncio.gather(*asked, return_exceptions=True)
    assert [getattr(why, "code", why) for why in refused] == ["bad_token"] * len(asked)
    ann = await one._sessions.known("ann")
    assert ann is not None
    assert (ann.name, ann.bot, ann.passkeys, len(ann.devices), ann.session) == ("Ann", False, (), 1, 1)
    assert await endpoints_of(journal, "ann") == [told]
    assert await preferences_of(journal, "ann") == Preferences()


async def test_whoever_is_deleted_while_an_address_of_theirs_is_looked_up_is_told_nowhere(journal, worker):
    asked, answer = asyncio.Event(), asyncio.Event()

    async def look_up(host, port, owner):
        asked.set()
        await answer.wait()
        return ["8.8.8.8"]

    one, two = worker(), worker()
    endpoints = Endpoints(journal, one._sessions, Outgoing(look_up=look_up))
    await one.save(Bearer("gus", 0), "Gus")
    adding = asyncio.ensure_future(endpoints.add_webhook(Bearer("gus", 0), "https://slow.example/", 0.0))
    await asked.wait()
    await delete(journal, two, "gus")
    answer.set()
    with pytest.raises(Refused, match="bad_token"):
        await adding
    assert await endpoints_of(journal, "gus") == []


async def test_a_name_that_looks_like_the_old_one_is_the_one_that_is_kept(journal, worker):
    """By other rules it may look different, and then others must not get what looks like it."""
    one = worker()
    await one.open("bill", "Bi||", "")
    await one.save(Bearer("bill", 1, 1), "Bill")
    (record,) = await journal.records(RecordQuery(ACCOUNT_NAME))
    assert (record.key, record.body) == ("blll", b"Bill")


async def test_two_workers_give_no_two_accounts_names_that_look_the_same(journal, worker):
    """Whichever of them has read first that a name is free, and whatever it looked like before."""
    one, two = worker(), worker()
    opened = await asyncio.gather(
        one.open("ann", "Ann", ""), two.open("eve", "ANN.", ""), return_exceptions=True
    )
    assert sorted(isinstance(answer, Refused) for answer in opened) == [False, True]
    (record,) = await journal.records(RecordQuery(ACCOUNT_NAME))
    await (one if record.owner == "eve" else two).open("bea", "Bea", "")
    saved = await asyncio.gather(
        one.save(Bearer(record.owner, 1, 1), "Cyd"),
        two.save(Bearer("bea", 1, 1), "C y d"),
        return_exceptions=True,
    )
    assert sorted(isinstance(answer, Refused) for answer in saved) == [False, True]
    assert "cyd" in {one.key for one in await journal.records(RecordQuery(ACCOUNT_NAME))}


async def test_a_name_whose_key_is_just_made_anew_is_claimed_by_the_new_one(journal, worker):
    one = worker()
    await one.open("bill", "Bill", "")
    await journal.keep(Drop(ACCOUNT_NAME, key="blll"), NewRecord(ACCOUNT_NAME, "old", b"Bill", owner="bill"))
    await asyncio.gather(renew_keys(journal), one.save(Bearer("bill", 1, 1), "B i l l"))
    await renew_keys(journal)
    assert [one.key for one in await journal.records(RecordQuery(ACCOUNT_NAME))] == ["blll"]


async def test_names_get_keys_by_new_rules_and_stay_those_of_their_accounts(journal, worker):
    one = worker()
    await one.open("bill", "Bill", "")
    await journal.keep(Drop(ACCOUNT_NAME, key="blll"), NewRecord(ACCOUNT_NAME, "old", b"Bill", owner="bill"))
    await asyncio.gather(renew_keys(journal), renew_keys(journal))
    (record,) = await journal.records(RecordQuery(ACCOUNT_NAME))
    assert (record.key, record.body, record.owner) == ("blll", b"Bill", "bill")
    with pytest.raises(Refused, match="name_taken"):
        await one.open("eve", "Bi||", "")


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

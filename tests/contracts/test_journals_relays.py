"""What is promised of relays on every journal."""

import pytest

from parlour.journal.base import Conflict, NotKept, StepWrites
from parlour.server.housekeeping import delete_relay, delete_relays
from parlour.server.relay_records import (
    Held,
    KeptEnvelope,
    held_by_all,
    held_of,
    keep_envelope,
    kept_envelopes,
)
from tests.journal.made import STATE, append, listed, steps, summary


def envelopes(*nums, at=1.0, first=0):
    return [KeptEnvelope(num, at, f"letter {num}".encode(), first) for num in nums]


async def keep(journal, relay, *kept):
    for envelope in kept:
        await keep_envelope(journal, relay, envelope)


async def test_what_passed_through_a_relay_comes_back_in_order(journal):
    await keep(journal, "/g/one", *envelopes(*range(12)))
    await keep(journal, "/g/two", *envelopes(0))
    assert await kept_envelopes(journal, "/g/one") == [f"letter {num}".encode() for num in range(12)]
    assert await kept_envelopes(journal, "/g/two") == [b"letter 0"]
    assert await kept_envelopes(journal, "/g/three") == []


async def test_a_number_of_a_relay_is_given_once(journal):
    await keep(journal, "/g/one", *envelopes(0))
    with pytest.raises(Conflict):
        await keep_envelope(journal, "/g/one", KeptEnvelope(0, 1.0, b"another", 0, "eve", 99))
    assert await kept_envelopes(journal, "/g/one") == [b"letter 0"]
    assert await held_of(journal, "/g/one") == Held("", 0)


async def test_what_is_no_longer_worth_keeping_is_let_go_of(journal):
    await keep(journal, "/g/one", *envelopes(0, 1, 2), *envelopes(3, first=2))
    assert await kept_envelopes(journal, "/g/one") == [b"letter 2", b"letter 3"]


async def test_relays_are_forgotten_when_nothing_has_passed_through_them_for_long(journal):
    await keep(journal, "/g/old", *envelopes(0, at=1.0))
    await keep(journal, "/g/used", *envelopes(0, at=1.0), *envelopes(1, at=9.0))
    await delete_relays(journal, 5.0, 100)
    assert await kept_envelopes(journal, "/g/old") == []
    assert await held_of(journal, "/g/old") is None
    assert await kept_envelopes(journal, "/g/used") == [b"letter 0", b"letter 1"]


async def test_a_relay_through_which_much_passed_is_forgotten_by_and_by(journal):
    await keep(journal, "/g/old", *envelopes(*range(10)))
    assert await delete_relays(journal, 5.0, 4)
    assert len(await kept_envelopes(journal, "/g/old")) == 6
    while await delete_relays(journal, 5.0, 4):
        pass
    assert await kept_envelopes(journal, "/g/old") == []
    assert await held_of(journal, "/g/old") is None


async def test_many_relays_are_forgotten_by_and_by(journal):
    for number in range(50):
        await keep(journal, f"/g/{number}", *envelopes(0))
    while await delete_relays(journal, 5.0, 100):
        pass
    assert [await kept_envelopes(journal, f"/g/{number}") for number in range(50)] == [[]] * 50


async def test_a_relay_that_is_used_while_it_is_forgotten_stays(journal):
    await keep(journal, "/g/one", *envelopes(0, at=1.0))
    quiet = await journal.record("relay", "/g/one")
    await keep(journal, "/g/one", *envelopes(1, at=9.0))
    await delete_relay(journal, quiet, 100)
    assert await kept_envelopes(journal, "/g/one") == [b"letter 0", b"letter 1"]


async def test_where_too_much_passed_through_a_relay_the_newest_is_read(journal):
    await keep(journal, "/g/one", *envelopes(0, 1, 2))
    assert await kept_envelopes(journal, "/g/one", 24) == [b"letter 0", b"letter 1", b"letter 2"]
    assert await kept_envelopes(journal, "/g/one", 23) == [b"letter 1", b"letter 2"]
    assert await kept_envelopes(journal, "/g/one", 7) == []


async def test_it_is_known_how_much_is_kept_of_relays_and_for_whom(journal):
    assert await held_of(journal, "/g/one") is None
    assert await held_by_all(journal) == {}
    await keep(journal, "/g/one", KeptEnvelope(0, 1.0, b"x", 0, "ann", 100))
    await keep(journal, "/g/one", KeptEnvelope(1, 1.0, b"x", 0, "ann", 180))
    await keep(journal, "/g/two", KeptEnvelope(0, 9.0, b"x", 0, "ann", 20))
    await keep(journal, "/g/three", KeptEnvelope(0, 9.0, b"x", 0, "bob", 3))
    assert await held_of(journal, "/g/one") == Held("ann", 180)
    assert await held_by_all(journal) == {"ann": 200, "bob": 3}
    await delete_relays(journal, 5.0, 100)
    assert await held_by_all(journal) == {"ann": 20, "bob": 3}


async def test_relays_and_rooms_of_one_name_do_not_mix(journal):
    room = await journal.create(summary("/g/one"), STATE, None)
    for made in steps(2):
        await append(journal, room, made, StepWrites())
    await keep(journal, "/g/one", *envelopes(0))
    assert await listed(journal.replay(room)) == steps(2)


async def test_what_passed_through_a_relay_outlives_closing(journal):
    await keep(journal, "/g/one", *envelopes(0))
    await journal.close()
    with pytest.raises(NotKept):
        await keep(journal, "/g/one", *envelopes(1))
    await journal.open()
    assert await kept_envelopes(journal, "/g/one") == [b"letter 0"]

"""What every journal promises of relays."""

import pytest

from parlour.journal.base import Conflict, Held, KeptEnvelope, NotKept, StepWrites
from tests.journal.made import STATE, append, listed, steps, summary


def letters(*nums, at=1.0, first=0):
    return [KeptEnvelope(num, at, f"letter {num}".encode(), first) for num in nums]


async def test_what_passed_through_a_relay_comes_back_in_order(journal):
    for letter in letters(0, 1, 2):
        await journal.post("/g/one", letter)
    await journal.post("/g/two", letters(0)[0])
    assert await journal.posted("/g/one") == [b"letter 0", b"letter 1", b"letter 2"]
    assert await journal.posted("/g/two") == [b"letter 0"]
    assert await journal.posted("/g/three") == []


async def test_a_number_of_a_relay_is_given_once(journal):
    await journal.post("/g/one", letters(0)[0])
    with pytest.raises(Conflict):
        await journal.post("/g/one", KeptEnvelope(0, 1.0, b"another"))
    assert await journal.posted("/g/one") == [b"letter 0"]


async def test_what_is_no_longer_worth_keeping_is_let_go_of(journal):
    for letter in (*letters(0, 1, 2), *letters(3, first=2)):
        await journal.post("/g/one", letter)
    assert await journal.posted("/g/one") == [b"letter 2", b"letter 3"]


async def test_relays_are_forgotten_when_nothing_has_passed_through_them_for_long(journal):
    await journal.post("/g/old", letters(0, at=1.0)[0])
    await journal.post("/g/used", letters(0, at=1.0)[0])
    await journal.post("/g/used", letters(1, at=9.0)[0])
    await journal.prune(5.0, 100)
    assert await journal.posted("/g/old") == []
    assert await journal.posted("/g/used") == [b"letter 0", b"letter 1"]


async def test_where_too_much_passed_through_a_relay_the_newest_is_read(journal):
    for letter in letters(0, 1, 2):
        await journal.post("/g/one", letter)
    assert await journal.posted("/g/one", 24) == [b"letter 0", b"letter 1", b"letter 2"]
    assert await journal.posted("/g/one", 23) == [b"letter 1", b"letter 2"]
    assert await journal.posted("/g/one", 7) == []


async def test_it_is_known_how_much_is_kept_of_relays_and_for_whom(journal):
    assert await journal.relay_held("/g/one") is None
    assert await journal.relays_held() == {}
    await journal.post("/g/one", KeptEnvelope(0, 1.0, b"x", 0, "ann", 100))
    await journal.post("/g/one", KeptEnvelope(1, 1.0, b"x", 0, "ann", 180))
    await journal.post("/g/two", KeptEnvelope(0, 9.0, b"x", 0, "ann", 20))
    await journal.post("/g/three", KeptEnvelope(0, 9.0, b"x", 0, "bob", 3))
    assert await journal.relay_held("/g/one") == Held("ann", 180)
    assert await journal.relays_held() == {"ann": 200, "bob": 3}
    await journal.prune(5.0, 100)
    assert await journal.relays_held() == {"ann": 20, "bob": 3}


async def test_relays_and_rooms_of_one_name_do_not_mix(journal):
    room = await journal.create(summary("/g/one"), STATE, None)
    for made in steps(2):
        await append(journal, room, made, StepWrites())
    await journal.post("/g/one", letters(0)[0])
    assert await listed(journal.replay(room)) == steps(2)


async def test_what_passed_through_a_relay_outlives_closing(journal):
    await journal.post("/g/one", letters(0)[0])
    await journal.close()
    with pytest.raises(NotKept):
        await journal.post("/g/one", letters(1)[0])
    await journal.open()
    assert await journal.posted("/g/one") == [b"letter 0"]

"""Request slots: few requests at once of everybody, fewer of one player, and half of them for first tries."""

import pytest

from parlour.journal.base import Change
from parlour.server.parts.notifications import request_slots
from parlour.server.parts.notifications.request_slots import MOST, MOST_AGAIN, MOST_OF_A_PLAYER, RequestSlots
from parlour.server.parts.notifications.rules import DELIVERY, PAUSES, RETRY
from parlour.server.rooms.calling_records import GRACE
from tests.listener import Listener
from tests.server.test_notifications import ann_and_bob, club, listener, records, rooms_told, settled

__all__ = ["ann_and_bob", "club", "listener"]


def test_second_tries_leave_half_of_all_slots_to_first_ones():
    slots = RequestSlots()
    for number in range(MOST_AGAIN):
        assert slots.has_one_for(f"dead {number}", again=True)
        slots.take(f"dead {number}", again=True)
    assert not slots.has_one_for("one more", again=True)
    assert slots.has_one_for("ann", again=False)
    assert (slots.free, slots.free_again) == (MOST - MOST_AGAIN, 0)
    slots.give_back("dead 0", again=True)
    assert slots.has_one_for("one more", again=True)


def test_of_many_deliveries_of_a_player_that_wait_one_is_looked_at_after_the_other():
    slots = RequestSlots()
    assert [slots.later("bob", 0.0) for _ in range(4)] == [5.0, 6.25, 7.5, 8.75]
    assert slots.later("ann", 0.0) == 5.0
    assert [slots.later("bob", 7.0), slots.later("bob", 20.0)] == [12.0, 25.0]


async def test_an_endpoint_that_is_slow_for_one_player_does_not_hold_up_another(club, ann_and_bob, listener):
    ann, bob = ann_and_bob
    async with Listener() as slow:
        slow.hold.clear()
        await club.webhook(bob, slow.url())
        await club.webhook(ann, listener.url())
        rooms = [f"ROOM{number}" for number in range(MOST_OF_A_PLAYER + 2)]
        for room in rooms:
            await club.sit(ann, bob, id=room)
            await club.play(ann, 0, room)
        await club.world.wait(GRACE)
        await slow.wait_for(MOST_OF_A_PLAYER)
        await club.sit(bob, ann, id="MINE")
        await club.play(bob, 0, "MINE")
        await club.world.wait(GRACE)
        await listener.wait_for(1)
        assert rooms_told(listener) == ["MINE"]
        assert len(slow.received) == MOST_OF_A_PLAYER
        slow.hold.set()
        await settled(club.world)
        await club.told(GRACE)
        assert sorted(rooms_told(slow)) == rooms


@pytest.fixture
async def many(club):
    """Somebody whose opponents' webhooks have all failed once, and who they are."""
    ann, *others = [await club.member(name) for name in ("Ann", "Bob", "Cid", "Dan", "Eve", "Fay")]
    async with Listener() as failing:
        failing.says(500)
        for player in others:
            await club.webhook(player, failing.url(f"/{player}"))
            await club.sit(ann, player, id=f"ROOM{player[:4]}")
            await club.play(ann, 0, f"ROOM{player[:4]}")
        await club.told()
        assert len(failing.received) == len(others)
        failing.received.clear()
        failing.hold.clear()
        yield ann, others, failing


async def test_second_tries_that_wait_for_a_slot_cost_no_write_and_all_have_their_turn(
    club, many, monkeypatch
):
    _, others, failing = many
    monkeypatch.setattr(request_slots, "MOST_AGAIN", 2)
    keep = club.world.journal.keep
    writes: list[Change] = []

    async def count(*changes):
        writes.extend(change for change in changes if getattr(change, "kind", "") in (DELIVERY, RETRY))
        await keep(*changes)

    monkeypatch.setattr(club.world.journal, "keep", count)
    await club.world.wait(PAUSES[0])
    await failing.wait_for(2)
    await club.world.wait(PAUSES[0])
    assert (len(failing.received), len(writes)) == (2, 2)
    failing.says(200)
    failing.hold.set()
    await settled(club.world)
    assert sorted(received.path for received in failing.received) == sorted(f"/{player}" for player in others)
    assert await records(club.world, RETRY) == []


async def test_first_tries_go_first_however_many_second_ones_wait(club, many, listener, monkeypatch):
    ann, _, failing = many
    monkeypatch.setattr(request_slots, "MOST_AGAIN", 2)
    await club.world.wait(PAUSES[0])
    await failing.wait_for(2)
    await club.webhook(ann, listener.url())
    bob = await club.member("Gus")
    await club.sit(bob, ann, id="MINE")
    await club.play(bob, 0, "MINE")
    await club.world.wait(GRACE)
    await listener.wait_for(1)
    assert (rooms_told(listener), len(failing.received)) == (["MINE"], 2)

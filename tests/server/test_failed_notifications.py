"""Why the last notification did not arrive is kept, and told to whoever wanted it, at real endpoints."""

import pytest

from parlour.journal.base import RecordQuery
from parlour.server.endpoint_records import ENDPOINT, Failure, read_endpoint
from parlour.server.parts.notifications.rules import PAUSES
from tests.listener import Listener
from tests.push_receiver import PushReceiver
from tests.server.test_notifications import DAY, ann_and_bob, club, listener

__all__ = ["ann_and_bob", "club", "listener"]


async def failure_at(club, player):
    (place,) = await club.places(player)
    return place["failure"]


async def test_why_the_last_message_did_not_arrive_is_told_to_its_owner_until_one_does(
    club, ann_and_bob, listener
):
    ann, bob = ann_and_bob
    listener.says(500)
    await club.webhook(bob, listener.url())
    assert await failure_at(club, bob) is None
    await club.sit(ann, bob)
    await club.play(ann, 0)
    await club.told()
    date = club.world.clock.date()
    why = "the answer was 500, expected 200 to 299"
    assert await failure_at(club, bob) == {"date": date, "code": "bad_status", "why": why}
    listener.says(200)
    await club.told(PAUSES[0])
    assert await failure_at(club, bob) is None


async def test_an_address_that_cannot_be_reached_is_told_to_its_owner(club, ann_and_bob):
    ann, bob = ann_and_bob
    async with Listener() as gone_soon:
        await club.webhook(bob, gone_soon.url())
    await club.sit(ann, bob)
    await club.play(ann, 0)
    await club.told()
    assert (await failure_at(club, bob))["code"] == "not_reached"


@pytest.mark.parametrize("status", [404, 410])
async def test_an_endpoint_that_is_gone_is_told_to_its_owner_and_sent_nothing_more(
    club, ann_and_bob, listener, status
):
    ann, bob = ann_and_bob
    listener.says(status)
    await club.browser(bob, PushReceiver(), listener.url())
    await club.sit(ann, bob)
    await club.play(ann, 0)
    await club.told()
    failure = await failure_at(club, bob)
    assert failure["code"] == "gone"
    assert failure["why"].startswith(f"the answer was {status}: this browser is not subscribed any more")
    await club.told(DAY)
    await club.play(bob, 1)
    await club.play(ann, 2)
    await club.told()
    assert len(listener.received) == 1


async def test_an_endpoint_that_is_gone_stays_so_whatever_a_slower_answer_says(club, ann_and_bob, listener):
    ann, bob = ann_and_bob
    listener.says(410)
    await club.browser(bob, PushReceiver(), listener.url())
    (record,) = await club.world.journal.records(RecordQuery(ENDPOINT))
    await club.sit(ann, bob)
    await club.play(ann, 0)
    await club.told()
    for slower in (None, Failure(club.world.clock.date(), "not_reached", "no answer")):
        await club.world.server.notifications.endpoints.note(read_endpoint(record.body), slower)
        assert (await failure_at(club, bob))["code"] == "gone"


async def test_an_endpoint_that_is_gone_and_added_anew_is_told_again(club, ann_and_bob, listener):
    ann, bob = ann_and_bob
    receiver = PushReceiver()
    listener.says(410)
    await club.browser(bob, receiver, listener.url())
    await club.sit(ann, bob)
    await club.play(ann, 0)
    await club.told()
    listener.says(201)
    await club.browser(bob, receiver, listener.url())
    assert await failure_at(club, bob) is None
    await club.play(bob, 1)
    await club.play(ann, 2)
    await club.told()
    assert len(listener.received) == 2


async def test_places_that_are_gone_make_way_for_new_ones(club, ann_and_bob, listener):
    ann, bob = ann_and_bob
    listener.says(410)
    for n in range(10):
        await club.browser(bob, PushReceiver(), listener.url(f"/{n}"))
    await club.sit(ann, bob)
    await club.play(ann, 0)
    for _ in range(4):
        await club.told()
    assert {place["failure"]["code"] for place in await club.places(bob)} == {"gone"}
    await club.webhook(bob, listener.url("/new"))
    assert [place["kind"] for place in await club.places(bob)] == ["webhook"]

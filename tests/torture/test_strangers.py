"""The judges of relays and of the lobby see what they are there for."""

from random import Random

from tests.e2e.servers import Guest
from tests.torture.strangers import Doors, Envelope, RelayMember, Seeker, judge_lobby, judge_relay


def member(name, *visits):
    one = RelayMember(Doors(Random(1)), "/g/a", name, Random(1))
    one.visits = [[Envelope(*envelope) for envelope in visit] for visit in visits]
    return one


WELCOME = (0, 100, None, False)


def test_a_relay_that_tells_everybody_everything_once_is_good():
    ann = member("ann", [WELCOME, (1, 101, "ann 1", True), (2, 102, "bob 1", False)])
    bob = member("bob", [WELCOME, (1, 101, "ann 1", False), (2, 102, "bob 1", True)])
    assert list(judge_relay([ann, bob])) == []


def test_a_hole_is_seen():
    ann = member("ann", [WELCOME, (2, 102, "bob 2", False)])
    assert list(judge_relay([ann])) == ["ann heard [0, 2]"]


def test_a_message_that_is_told_twice_is_seen():
    ann = member("ann", [WELCOME, (1, 101, "bob 1", False)], [(1, 101, "bob 1", False)])
    assert list(judge_relay([ann])) == ["ann heard 'bob 1' 2 times"]


def test_a_message_of_which_the_sender_never_hears_is_seen():
    ann = member("ann", [WELCOME, (1, 101, "ann 1", True), (2, 102, "ann 3", True)])
    assert list(judge_relay([ann])) == ["ann was given receipts for [1, 3]"]


def test_members_who_hear_different_things_are_seen():
    ann = member("ann", [WELCOME, (1, 101, "bob 1", False)])
    cid = member("cid", [WELCOME, (1, 101, "bob 2", False)])
    assert list(judge_relay([ann, cid])) == ["cid heard 'bob 2' as 1, and others 'bob 1'"]


def test_two_relays_in_place_of_one_are_seen():
    ann, bob = member("ann", [WELCOME]), member("bob", [(0, 200, None, False)])
    assert list(judge_relay([ann, bob])) == ["the members of /g/a do not hear each other in the end"]


async def test_tickets_that_lead_to_two_rooms_and_rooms_with_three_tickets_are_seen():
    seekers = [
        Seeker(Doors(Random(1)), Guest("id", name, "token"), Random(1)) for name in ("ann", "bob", "cid")
    ]
    for number, seeker in enumerate(seekers):
        seeker.tickets[f"t{number}"] = {"ROOM"}
    assert list(judge_lobby(seekers)) == ["3 tickets lead to ROOM"]
    seekers[0].tickets["t0"] = {"ROOM", "MOOR"}
    (first, *_) = judge_lobby(seekers)
    assert first.startswith("ticket t0 of ann leads to")
    for seeker in seekers:
        await seeker.go()

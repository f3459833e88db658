"""Players' clocks when a worker is killed: they stand for as long as nobody owns the room, and not longer."""

import asyncio

import pytest

from parlour.clocks import MAX_LAG
from parlour.cluster.leases import BEAT_EVERY, LEASE
from parlour.wire import Hold
from tests.cluster.guests import Left, Line
from tests.cluster.real import Cluster, RealWorker, kept, until

pytestmark = pytest.mark.e2e

UNCERTAIN = 0.5
"""Seconds by which the clocks of two busy workers differ."""
LATE = 1.0
"""Seconds by which a busy machine may do something late."""


async def look(line: Line) -> Left:
    """What the first seat has left now: whoever joins is told."""
    assert (await line.ask("phx_leave", {})).status == "ok"
    assert (await line.join(spectate=True)).status == "ok"
    return line.time_left(0)


async def held(cluster: Cluster, room: str) -> float:
    """For how many seconds the clock of a room stood because nobody owned it."""
    there = await kept(cluster, room)
    (hold,) = [step.command for step in there.steps if isinstance(step.command, Hold)]
    return hold.seconds


async def kill_owner(owner: RealWorker, line: Line) -> float:
    """Kill the owner of a room; for how many seconds somebody there had to wait for an answer."""
    clock = asyncio.get_running_loop().time
    owner.kill()
    killed = clock()
    assert (await line.ask("chat", {"text": "still there?", "id": "1"})).status == "ok"
    return clock() - killed


def check_stood(stood: float, unanswered: float) -> None:
    """The room's clock stood for as long as nobody owned the room, and from the owner's last beat at most."""
    assert LEASE - BEAT_EVERY - UNCERTAIN <= stood <= unanswered + BEAT_EVERY + UNCERTAIN


async def test_nobody_loses_on_time_because_the_owner_died(cluster, come):
    """Five seconds for a move, and a pause of one and a half: there are still almost five left."""
    at, owner = await cluster.open(2)
    clock = {"kind": "turn", "seconds": 5}
    room = await cluster.new_room(owner, "stratego", config={"setup": "random"}, clock=clock)
    red, blue = await come(room, red=at, blue=at)
    assert red.view["phase"] == "playing"
    unanswered = await kill_owner(owner, blue)
    await asyncio.sleep(4)  # what red has left, without the pause
    legal = (await red.play("move", **{"from": 45, "to": 45})).response["legal"]
    move = next(one for one in legal if one["type"] == "move")
    assert (await red.ask("game_event", {"event": move})).status == "ok"
    check_stood(await held(cluster, room), unanswered)


async def test_the_clocks_of_players_stand_still_from_the_death_of_the_owner_until_the_room_is_adopted(
    cluster, come
):
    """And neither longer nor shorter: what has passed by our own clock is charged, but for the outage."""
    at, owner = await cluster.open(2)
    room = await cluster.new_room(owner, clock={"kind": "increment", "seconds": 60})
    ann, bob = await come(room, ann=at, bob=at)
    (zoe,) = await come(room, zoe=at, watching=True)
    before = await look(zoe)
    unanswered = await kill_owner(owner, bob)
    after = await look(zoe)
    stood = await held(cluster, room)
    check_stood(stood, unanswered)
    assert before.seconds - after.seconds == pytest.approx(after.at - before.at - stood, abs=UNCERTAIN)
    assert (await ann.play("mark", "1", cell=0)).status == "ok"


async def test_whose_owner_is_killed_with_three_seconds_left_is_flagged_after_three_more_and_not_before(
    cluster, come
):
    at, owner = await cluster.open(2)
    room = await cluster.new_room(owner, clock={"kind": "turn", "seconds": 6})
    _, bob = await come(room, ann=at, bob=at)
    begun = bob.time_left(0)
    await asyncio.sleep(begun.at + begun.seconds - 3 - asyncio.get_running_loop().time())
    killed = asyncio.get_running_loop().time()
    unanswered = await kill_owner(owner, bob)
    await until(lambda: any(one.payload.get("result") for one in bob.all("update")), "the end of the game")
    over = next(one for one in bob.all("update") if one.payload.get("result"))
    there, stood = await kept(cluster, room), await held(cluster, room)
    assert there.rooms[-1].verdict is not None
    assert there.rooms[-1].verdict.how == "flagged"
    assert over.payload["result"]["outcome"]["won"] == [bob.guest.id]
    check_stood(stood, unanswered)
    for since, left in ((begun.at, begun.seconds), (killed, 3.0)):
        assert left + MAX_LAG - UNCERTAIN <= over.at - since - stood <= left + MAX_LAG + UNCERTAIN + LATE

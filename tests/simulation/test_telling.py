"""Turns that are told although workers die in between, on a virtual clock."""

from collections import Counter
from random import Random
from typing import NamedTuple

import pytest

from parlour.journal.shards import room_key, shard_of
from parlour.server.parts.notifications.rules import PAUSES
from tests.simulation.cluster import GRACE, Cluster, Machine, simulated
from tests.simulation.loop import VirtualLoop
from tests.simulation.people import LATENCY, Person
from tests.simulation.postbox import TAKES, Received

BOOT = 6.0
SOON = 1.0
ALL_TOLD = 60.0
"""Seconds in which another worker looks for what was left, and tries once more."""
PLACES = 2
"""A webhook and a browser."""


class Scene:
    """Three workers, one of which owns a room with Ann and Bob in it, and Ann's places."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.loop = cluster, cluster.loop
        cluster.postbox.losses = 0.0
        self.pass_time(BOOT)
        machine = cluster.machines[0]
        machine.process.start(machine.parlour.rooms.creation.create("saying", None, "R1"))
        machine.process.start(machine.journal.keep(*cluster.postbox.endpoints("ann")))
        self.pass_time(SOON)
        self.ann, self.bob = [Person(cluster, name, {"R1": False}, careful=True) for name in ("ann", "bob")]
        for person in (self.ann, self.bob):
            person.come()
        self.pass_time(SOON)
        for person in (self.ann, self.bob):
            person.say("R1")
        self.pass_time(SOON)

    @property
    def owner(self) -> Machine:
        me = self.cluster.database.rows[shard_of(room_key("R1"))].owner
        return next(machine for machine in self.cluster.machines if machine.me == me)

    def pass_time(self, seconds: float) -> None:
        self.loop.run_until(self.loop.now + seconds)


class Told(NamedTuple):
    """What came of it that the owner died."""

    died: float
    received: list[Received]

    @property
    def times(self) -> set[int]:
        """How often each place was told."""
        return {*Counter(told.id for _, told in self.received).values()}


def ann_goes_and_the_owner_dies(after: float) -> Told:
    """It is Ann's turn as she goes; so much later the worker is dead that owns the room."""
    cluster = Cluster(VirtualLoop(), Random(1))
    with simulated(cluster):
        scene = Scene(cluster)
        scene.ann.go()
        scene.pass_time(after)
        died = scene.loop.now
        scene.owner.kill()
        scene.pass_time(ALL_TOLD)
        assert cluster.postbox.broken == scene.ann.broken == scene.bob.broken == []
        assert cluster.postbox.has_told_all()
        cluster.loop.close()
    return Told(died, cluster.postbox.received)


INSTANTS = [
    0.0,
    *(LATENCY + step for step in (0.0, 0.0005, 0.001, 0.002)),
    GRACE / 2,
    *(GRACE + TAKES * share for share in (0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 0.9, 1.0, 1.1, 1.5, 2.0)),
]
"""Seconds after Ann has gone: before that is written, before she is told, while she is, and after it."""


@pytest.mark.parametrize("after", INSTANTS)
def test_a_turn_is_told_once_at_each_place_whenever_the_owner_of_its_room_dies(after):
    """Only who was told by a worker that died before it heard the answer is told again, with the same id."""
    told = ann_goes_and_the_owner_dies(after)
    assert len({one.told.id for one in told.received}) == PLACES
    assert len({(one.told.room, one.told.player, one.told.date) for one in told.received}) == 1
    if told.times != {1}:
        first, again = [one.at for one in told.received[:PLACES]], [one.at for one in told.received[PLACES:]]
        assert all(at <= told.died <= at + 2 * TAKES for at in first)
        assert all(at >= max(first) + PAUSES[0] - 1 for at in again)
        assert len(again) == PLACES


def test_owners_have_died_before_and_after_the_answer_was_heard():
    times = [ann_goes_and_the_owner_dies(after).times for after in (GRACE / 2, GRACE + TAKES / 2)]
    assert times == [{1}, {2}]

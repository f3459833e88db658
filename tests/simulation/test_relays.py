"""Relays among workers that disagree about who owns them, on a virtual clock."""

from random import Random

import pytest

from parlour.journal.shards import shard_of
from tests.simulation.cluster import Cluster, simulated
from tests.simulation.loop import VirtualLoop
from tests.simulation.relays import RELAY, Member

KEY = f"relay:{RELAY}"
BOOT = 6.0


class Scene:
    """Three workers, one of which owns the relay, and somebody who comes to another one."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.loop = cluster, cluster.loop
        self.pass_time(BOOT)
        owner = cluster.database.rows[shard_of(KEY)].owner
        self.owner = next(machine for machine in cluster.machines if machine.me == owner)
        self.other = next(machine for machine in cluster.machines if machine.me != owner)
        self.member = Member(cluster, 0, "ann", Random(1))

    def come(self) -> None:
        """Come to the worker that does not own the relay."""
        self.owner.is_serving = False
        (third,) = {*self.cluster.machines} - {self.owner, self.other}
        third.is_serving = False
        self.member.come()

    def pass_time(self, seconds: float) -> None:
        self.loop.run_until(self.loop.now + seconds)


@pytest.fixture
def scene():
    cluster = Cluster(VirtualLoop(), Random(1))
    with simulated(cluster):
        yield Scene(cluster)
        cluster.loop.close()


def test_a_connection_is_passed_on_once_and_not_back_and_forth(scene):
    knows = scene.owner.network._owner_of
    scene.owner.network._owner_of = lambda _: scene.other.me
    scene.come()
    scene.pass_time(0.2)
    assert len(scene.other.network.pipes._clients) == 1
    assert not scene.member.is_in
    scene.owner.network._owner_of = knows
    scene.pass_time(0.2)
    assert scene.member.is_in


def test_who_is_taken_for_the_owner_and_is_not_sends_the_client_away(scene):
    scene.owner.network._owner_of = lambda _: scene.other.me
    scene.come()
    scene.pass_time(0.6)
    assert not scene.member.is_in
    assert not scene.other.network.pipes._clients


def test_who_came_while_a_relay_had_no_owner_is_heard_once_it_has_one(scene):
    knows = scene.other.network._owner_of
    scene.other.network._owner_of = lambda _: 0
    scene.come()
    scene.pass_time(0.2)
    scene.other.network._owner_of = knows
    scene.pass_time(0.2)
    scene.member.say()
    scene.pass_time(0.2)
    assert scene.member.has_heard("ann 1")

"""Relays among workers that disagree about who owns them, on a virtual clock."""

from random import Random

import pytest

from parlour.journal.shards import shard_of
from tests.simulation.cluster import Cluster, Machine, simulated
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
        self.let_in_by(self.other)
        self.member.come()

    def let_in_by(self, worker: Machine) -> None:
        """From now on whoever comes comes to this worker."""
        for machine in self.cluster.machines:
            machine.is_serving = machine is worker

    def pass_time(self, seconds: float) -> None:
        self.loop.run_until(self.loop.now + seconds)


@pytest.fixture
def scene(request):
    cluster = Cluster(VirtualLoop(), Random(1), relay_history=getattr(request, "param", False))
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


@pytest.mark.parametrize("scene", [True], indirect=True)
def test_an_owner_that_was_frozen_does_not_say_that_a_number_is_unknown_which_its_successor_gave(scene):
    ann = scene.member
    scene.let_in_by(scene.owner)
    ann.come()
    scene.pass_time(0.2)
    scene.owner.pause()
    scene.let_in_by(scene.other)
    scene.pass_time(3.0)  # the lease ends, and another worker owns the relay
    ann.hang_up()
    scene.pass_time(0.5)
    ann.say()
    scene.pass_time(0.2)
    assert ann.has_heard("ann 1")
    scene.let_in_by(scene.owner)
    ann.hang_up()
    scene.pass_time(0.5)
    scene.owner.resume()
    scene.pass_time(0.2)
    assert ann.forgotten == 0

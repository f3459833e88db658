"""Accounts whose holders end sessions while the database fails, on a virtual clock."""

from random import Random

from tests.simulation.accounts import AccountHolder
from tests.simulation.cluster import Cluster, simulated
from tests.simulation.loop import VirtualLoop
from tests.simulation.weather import CALM, DatabaseFaults

BOOT = 6.0
SOON = 3.0
"""Seconds in which a lost connection to the database is replaced, and everybody knows what came of it."""


class Scene:
    """Three workers, and somebody who has signed several devices in."""

    def __init__(self, cluster: Cluster, chance: Random) -> None:
        self.cluster, self.loop = cluster, cluster.loop
        self.pass_time(BOOT)
        self.holder = AccountHolder(cluster, "Xenia", chance)
        self.holder.open()
        self.pass_time(0.1)
        for _ in range(5):
            self.holder.sign_in_by_code(self.holder.deeds[0].word)
        self.pass_time(0.5)

    def pass_time(self, seconds: float) -> None:
        self.loop.run_until(self.loop.now + seconds)


def end_all_in_doubt(seed: int) -> bool | None:
    """End all sessions as the database is lost; was it kept? None: that was known at once."""
    chance = Random(seed)
    cluster = Cluster(VirtualLoop(), chance)
    with simulated(cluster):
        scene = Scene(cluster, chance)
        holder, devices = scene.holder, scene.holder.devices
        assert [device.is_in for device in devices] == [True] * 6
        cluster.database.faults = DatabaseFaults(lose=1.0)
        holder.end_all(devices[0].bearer)
        deed = holder.deeds[-1]
        scene.pass_time(0.01)
        cluster.database.faults = CALM
        scene.pass_time(SOON)
        is_valid = [holder.is_valid(device.bearer) for device in devices]
        assert [device.is_in for device in devices] == is_valid
        assert holder.broken == []
        cluster.loop.close()
    return None if deed.ended is not None else not any(is_valid[:6])


def test_connections_end_with_their_session_also_if_nobody_knows_at_first_whether_its_end_was_kept():
    assert {end_all_in_doubt(seed) for seed in range(30)} == {True, False, None}

"""How soon the rooms of a worker that died are owned again, on a virtual clock."""

from random import Random

import pytest

from parlour.cluster.leases import BEAT_EVERY, LEASE
from tests.simulation.cluster import Cluster, simulated
from tests.simulation.loop import VirtualLoop

SETTLED = 5.0
"""Seconds after which every worker has its share, and can tell who is late."""
STATEMENTS = 0.02
"""Seconds that burial and dealing take at most."""


@pytest.mark.parametrize("instant", [0.0, 0.03, 0.1, 0.17, 0.24])
@pytest.mark.parametrize("victim", [0, 1, 2])
def test_the_shards_of_a_dead_worker_are_dealt_as_soon_as_its_lease_has_ended(instant, victim):
    loop = VirtualLoop()
    cluster = Cluster(loop, Random(victim), size=1)
    cluster.restart_after = 60.0
    try:
        with simulated(cluster):
            for later in (0.08, 0.19):  # they do not beat in the same instant
                loop.run_until(later)
                cluster.start()
            loop.run_until(SETTLED + instant)
            dead = cluster.machines[victim]
            last_beat = cluster.database.beats[dead.me][0]
            assert loop.now - last_beat <= BEAT_EVERY + STATEMENTS
            dead.kill()
            owned = lambda: dead.me not in {row.owner for row in cluster.database.rows}  # noqa: E731
            assert loop.run_until(SETTLED + 4 * LEASE, owned)
            assert LEASE <= loop.now - last_beat < LEASE + STATEMENTS
    finally:
        loop.close()

"""All workers can be replaced while they are played on, and nobody loses anything by it."""

import pytest

from tests.torture.supervised import roll

pytestmark = pytest.mark.e2e


async def test_a_rolling_restart_loses_nothing_and_everybody_comes_back(tmp_path):
    outcome, crowd = await roll(tmp_path, clients=50, pace=0.5, seed=3)
    assert outcome.verdict.complaints == []
    assert outcome.faults == []
    counts = outcome.verdict.counts
    assert counts["acknowledged"] > 100, counts
    assert counts["told_1012"] >= 50
    assert len(crowd.waits.absences) == counts["returns"]

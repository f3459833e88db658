"""Workers that share rooms can be killed, frozen and cut off, and nobody who plays loses anything by it."""

import pytest

from tests.torture.cluster import Plan, torture

pytestmark = pytest.mark.e2e


async def test_two_kills_a_pause_a_cut_and_a_crash_of_the_database_lose_nothing(tmp_path):
    plan = Plan(kills=2, pauses=1, cuts=1, crashes=1, rooms=12, relays=2, seekers=2, matches=1, seed=7)
    outcome = await torture(tmp_path, plan)
    assert outcome.verdict.complaints == []
    assert outcome.faults == []
    counts = outcome.verdict.counts
    assert counts["acknowledged"] > 100, counts
    assert counts["rooms not adopted"] == 0
    assert counts["relay_messages"] > 100, counts
    assert counts["seated"] > 2, counts
    assert outcome.adoptions

"""A move that was acknowledged survives kill -9, and nothing was ever told that a restart forgot."""

import pytest

from tests.torture.kills import Plan, torture

pytestmark = pytest.mark.e2e


async def test_ten_kills_at_random_instants_lose_nothing(tmp_path):
    verdict = await torture(tmp_path, Plan(kills=10, rooms=24, each=3, window=0.3, seed=7))
    assert verdict.complaints == []
    assert verdict.counts["acknowledged"] > 100, verdict.counts
    assert verdict.counts["alarms"] == 0


async def test_a_server_that_speaks_before_it_writes_is_found_out(tmp_path):
    verdict = await torture(tmp_path, Plan(kills=3, rooms=12, each=3, window=0.5, seed=7, kind="hasty"))
    assert verdict.complaints, (
        verdict.counts
    )  # which of its promises it broke is up to the instant of each kill

"""What was acknowledged survives the death of the server and of its database, and everybody is back."""

import signal

import pytest

from tests.torture.kills import Plan, torture
from tests.torture.restarts import restart

pytestmark = pytest.mark.e2e


async def test_kills_and_a_crash_of_the_database_lose_nothing(tmp_path):
    plan = Plan(kills=3, crashes=1, rooms=12, each=3, window=0.3, outage=0.5, seed=7, journal="postgresql")
    verdict = await torture(tmp_path, plan)
    assert verdict.complaints == []
    assert verdict.counts["acknowledged"] > 50, verdict.counts
    assert verdict.counts["alarms"] == 0


async def test_everybody_is_back_after_a_restart_with_postgresql(tmp_path):
    story = await restart(tmp_path, clients=40, how=signal.SIGKILL, seed=7, journal="postgresql")
    assert story.complaints == []
    assert story.counts["acknowledged"] > 20, story.counts
    assert story.counts["alarms"] == 0

"""A server that goes down with everybody connected has them all back soon, and has lost nothing."""

import signal

import pytest

from tests.torture.restarts import restart
from tests.torture.starts import measure_start

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
async def test_everybody_is_back_after_a_restart_and_nothing_is_lost(tmp_path, how):
    story = await restart(tmp_path, clients=100, how=how, seed=7)
    assert story.complaints == []
    assert story.exit_code == (0 if how == signal.SIGTERM else -9)
    assert story.down < 10
    assert story.back < 30
    assert story.counts["acknowledged"] > 50, story.counts
    assert story.counts["alarms"] == 0
    assert story.counts["told_1012"] == (story.counts["clients"] if how == signal.SIGTERM else 0)


def test_all_rooms_can_be_played_soon_after_kill_9(tmp_path):
    story = measure_start(tmp_path, rooms=200, times=1)
    assert story.playable < story.bare + 2, story

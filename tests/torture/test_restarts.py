"""A server that goes down with everybody connected has them all back soon, and has lost nothing."""

import asyncio
import signal

import pytest

from tests.cluster.guests import Line
from tests.e2e.servers import Server
from tests.torture.restarts import restart
from tests.torture.starts import measure_start

LOST_AT_MOST = 2.0
"""Seconds: the rooms' clock is noted once a second, and what ran since then is nobody's loss."""

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


async def test_kill_9_and_the_time_that_a_server_is_down_cost_no_player_anything(tmp_path):
    server = Server(tmp_path)
    server.start()
    try:
        ann, bob = [Line(server.guest(name), "ABCD") for name in ("Ann", "Bob")]
        server.open_room("tictactoe", id="ABCD", clock={"kind": "increment", "seconds": 60})
        for line in (ann, bob):
            await line.connect(server)
            await line.join()
        before = bob.seconds_left(0)
        server.kill()
        await asyncio.sleep(3)  # it is down
        begun = asyncio.get_running_loop().time()
        server.start()
        await bob.connect(server)
        await bob.join()
        up = asyncio.get_running_loop().time() - begun
        assert -0.1 <= before - bob.seconds_left(0) + LOST_AT_MOST <= up + LOST_AT_MOST
    finally:
        server.kill()


def test_all_rooms_can_be_played_soon_after_kill_9(tmp_path):
    story = measure_start(tmp_path, rooms=200, times=1)
    assert story.playable < story.bare + 2, story

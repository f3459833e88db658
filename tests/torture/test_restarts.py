"""A server that goes down with everybody connected has them all back soon, and has lost nothing."""

import asyncio
import json
import signal
import sqlite3
from contextlib import closing

import pytest

from parlour.clocks import MAX_LAG
from tests.cluster.guests import Line
from tests.cluster.real import until
from tests.e2e.servers import Server
from tests.torture.restarts import restart
from tests.torture.starts import measure_start

LOST_AT_MOST = 2.0
"""Seconds: the rooms' clock is noted once a second, and what ran since then is nobody's loss."""
THREE = 3.25
"""Seconds that the kept clock has left before the server is killed: by the next write there are less."""

pytestmark = pytest.mark.e2e


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


async def test_three_seconds_that_are_left_at_kill_9_are_left_after_it(tmp_path):
    server = Server(tmp_path)
    server.start()
    time = asyncio.get_running_loop().time
    try:
        ann, bob = [Line(server.guest(name), "ABCD") for name in ("Ann", "Bob")]
        server.open_room("tictactoe", id="ABCD", clock={"kind": "turn", "seconds": 6})
        for line in (ann, bob):
            await line.connect(server)
        await ann.join()
        asked = time()
        await bob.join()
        told = bob.clocks["now"]
        over = told + bob.seconds_left(0)
        await until(lambda: over - kept_clock(tmp_path) < THREE, "some three seconds that are left")
        seen = kept_clock(tmp_path)
        server.kill()
        noted = kept_clock(tmp_path)
        assert seen <= noted <= told + time() - asked, "nothing that was noted is lost, and it is never ahead"
        kept, begun = over - noted, time()
        server.start()
        up = time() - begun
        await until(lambda: server.room("ABCD")["status"] == "over", "the end of the time")
        ended = time()
        assert ended - begun >= kept, "Ann had all of it"
        down, *_, flag = steps_after(tmp_path, noted)
        assert (down["command"]["do"], flag["command"]["do"]) == ("disconnect", "flag")
        assert noted <= down["now"] <= noted + up, "and it went on from there as the server was up again"
        assert over + MAX_LAG <= flag["now"] <= noted + ended - begun
    finally:
        server.kill()


def kept_clock(data):
    """The rooms' clock in the journal: a server that is killed now goes on from there."""
    with closing(sqlite3.connect(f"file:{data / 'parlour.db'}?mode=ro", uri=True)) as journal:
        (now,) = journal.execute("SELECT now FROM clock").fetchone()
    return now


def steps_after(data, now):
    """The steps of the room that were made after a time of that clock."""
    with closing(sqlite3.connect(f"file:{data / 'parlour.db'}?mode=ro", uri=True)) as journal:
        bodies = journal.execute("SELECT body FROM steps ORDER BY seq").fetchall()
    return [step for (body,) in bodies if (step := json.loads(body))["now"] >= now]


def test_all_rooms_can_be_played_soon_after_kill_9(tmp_path):
    story = measure_start(tmp_path, rooms=200, times=1)
    assert story.playable < story.bare + 2, story

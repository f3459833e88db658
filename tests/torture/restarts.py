"""A server goes down with everybody connected, and comes up again: how long it takes, and what it costs."""

import asyncio
import signal
from collections import Counter
from pathlib import Path
from random import Random

import msgspec

from tests.e2e.conftest import ALARMS
from tests.torture.habits import Habits
from tests.torture.kept import Complaint
from tests.torture.load import Crowd, Keeping, new_server


class Restart(msgspec.Struct, frozen=True):
    """What came of a restart."""

    complaints: list[Complaint]
    counts: Counter[str]
    exit_code: int
    down: float
    """Seconds until the old process was gone."""
    up: float
    """Seconds from the start of the new one until it was open."""
    back: float
    """Seconds from the start of the new one until everybody was back and synced."""


async def restart(
    data: Path, *, clients: int, how: signal.Signals, seed: int, journal: str = "sqlite"
) -> Restart:
    """So many clients with a connection each play, two to a room, while their server is replaced."""
    keeping = Keeping(journal, data)
    server = new_server(data, *keeping.options)
    crowd = Crowd(server, Habits(pace=max(0.2, clients / 250), cuts=0.0), seed)
    clock = asyncio.get_running_loop().time
    try:
        server.start()
        crowd.gather(clients // 2, each=1)
        async with crowd.playing():
            await crowd.all_synced()
            await asyncio.sleep(Random(seed).uniform(1, 2))
            begun = clock()
            code = await asyncio.to_thread(server.stop, how)
            down = clock() - begun
            crowd.world.up.clear()
            crowd.forget_where_they_were()
            begun = clock()
            await crowd.start_server()
            up = clock() - begun
            await crowd.all_synced()
            back = clock() - begun
        await asyncio.to_thread(server.stop)
        complaints, counts = await keeping.check(crowd.diaries)
    finally:
        if server.running:
            server.kill()
        keeping.end()
    counts.update(clients=len(crowd.visitors), told_1012=sum(visitor.restarts for visitor in crowd.visitors))
    counts.update(alarms=sum(server.log.count(word) for word in ALARMS))
    return Restart(complaints, counts, code, down, up, back)

"""Workers of one supervisor, under play: they are killed one by one, or replaced by a rolling restart."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from random import Random

from parlour.journal.shards import room_key, shard_of
from tests.cluster.real import Cluster, until
from tests.nats import Nats
from tests.postgres import Postgres
from tests.torture.cluster import ClusterCrowd, Outcome, judge, services
from tests.torture.habits import Habits
from tests.torture.strangers import Doors

WORKERS = 3
ROLLED_WITHIN = 120.0
"""Seconds that a rolling restart may take on a busy machine."""


class SupervisedCluster(Cluster):
    """Workers that share one port, and their supervisor."""

    def __init__(self, folder: Path, postgres: Postgres, nats: Nats) -> None:
        super().__init__(folder, postgres, nats)
        self.supervisor = self.add("--workers", str(WORKERS))

    def _are_all(self, living: set[int]) -> bool:
        return len(living) == WORKERS

    async def pids(self) -> dict[int, int]:
        """The processes of the living workers, by their ids."""
        rows = await self.ask("SELECT id, address FROM workers WHERE NOT gone ORDER BY id")
        return {row["id"]: int(row["address"].rpartition(":")[2]) for row in rows}

    async def rooms_of(self, worker: int, rooms: set[str]) -> list[str]:
        """Those of these rooms that a worker owns."""
        rows = await self.ask("SELECT shard FROM shards WHERE owner = $1", worker)
        shards = {row["shard"] for row in rows}
        return [room for room in rooms if shard_of(room_key(room)) in shards]


class Play:
    """A supervised cluster and the crowd that plays there."""

    def __init__(self, cluster: SupervisedCluster, crowd: ClusterCrowd) -> None:
        self.cluster = cluster
        self.crowd = crowd
        self.counts: Counter[str] = Counter()

    async def judge(self) -> Outcome:
        return await judge(self.cluster, self.crowd, self.counts, [])


@asynccontextmanager
async def open_play(folder: Path, habits: Habits, rooms: int, seed: int) -> AsyncIterator[Play]:
    """Three workers on one port, and a crowd, two to a room."""
    async with services() as (postgres, nats):
        cluster = SupervisedCluster(folder, postgres, nats)
        try:
            await cluster.supervisor.open()
            await cluster.all_shared()
            doors = Doors(Random(seed))
            doors.note_open([cluster.supervisor])
            crowd = ClusterCrowd(doors, cluster.supervisor, habits, seed)
            await asyncio.to_thread(crowd.gather, rooms, 1)
            yield Play(cluster, crowd)
        finally:
            if cluster.supervisor.running:
                await asyncio.to_thread(cluster.supervisor.stop)


async def kill_some(folder: Path, kills: int, rooms: int, seed: int) -> Outcome:
    """Kill so many workers, each when all is well; their supervisor reports their death at once."""
    chance = Random(seed)
    async with open_play(folder, Habits(pace=0.1, chats=0.5, cuts=0.0), rooms, seed) as play:
        cluster, crowd = play.cluster, play.crowd
        async with crowd.playing():
            for _ in range(kills):
                await crowd.all_synced()
                await cluster.all_shared()
                await asyncio.sleep(chance.uniform(0, 0.5))
                worker, pid = chance.choice([*(await cluster.pids()).items()])
                owned = await cluster.rooms_of(worker, {diary.room for diary in crowd.diaries})
                os.kill(pid, signal.SIGKILL)
                crowd.waits.begin(owned)
                play.counts["rooms not adopted"] += await crowd.waits.all_adopted()
                play.counts["kill"] += 1
                await until(partial(_is_gone, cluster, worker), "a burial")
        return await play.judge()


async def _is_gone(cluster: SupervisedCluster, worker: int) -> bool:
    return worker not in await cluster.pids()


async def roll(folder: Path, clients: int, pace: float, seed: int) -> tuple[Outcome, ClusterCrowd]:
    """Replace all workers by SIGHUP while so many clients play, two to a room."""
    habits = Habits(pace=pace, cuts=0.0, forgets=0.0)
    async with open_play(folder, habits, clients // 2, seed) as play:
        cluster, crowd = play.cluster, play.crowd
        async with crowd.playing():
            await crowd.all_synced()
            await asyncio.sleep(2 * pace)
            before = set(await cluster.pids())
            crowd.waits.forget()
            cluster.supervisor.signal(signal.SIGHUP)
            await until(
                lambda: "workers_replaced" in cluster.supervisor.log, "other workers", patience=ROLLED_WITHIN
            )
            assert not before & set(await cluster.pids())
            await cluster.all_shared()
            await crowd.all_synced()
        return await play.judge(), crowd

"""Workers for tests: some in this process, some in processes that can be killed and stopped."""

import asyncio
import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from inspect import isawaitable
from typing import Any

from parlour.cluster.leases import Leases
from parlour.cluster.watch import Pace
from parlour.journal.postgresql import schema
from parlour.journal.shards import SHARDS

PACE = Pace(lease=0.6, beat_every=0.1)


async def until(seen: Callable[[], Any], seconds: float = 60.0) -> Any:
    """Wait until something is so, and return it."""
    async with asyncio.timeout(seconds):
        while True:
            value = seen()
            if isawaitable(value):
                value = await value
            if value:
                return value
            await asyncio.sleep(0.005)


async def register(db: Any, address: str = "here", clock: float = 0.0) -> int:
    """The id of a new worker, as its journal gets it when it is opened."""
    sql = "INSERT INTO workers (address, clock) VALUES ($1, $2) RETURNING id"
    return int(await db.fetchval(sql, address, clock))


class Clock:
    """A rooms' clock that runs, and can be set forward."""

    def __init__(self, at: float = 0.0) -> None:
        self._shift = at - time.monotonic()
        self.jumps: list[float] = []

    def now(self) -> float:
        return time.monotonic() + self._shift

    def jump(self, to: float) -> None:
        assert to > self.now(), "a clock never goes back"
        self._shift = to - time.monotonic()
        self.jumps.append(to)


class Member:
    """A worker in this process, and its diary."""

    def __init__(self, url: str, me: int, clock: Clock, pace: Pace) -> None:
        self.me = me
        self.clock = clock
        self.leases = Leases(url, me, clock.now, clock.jump, pace)
        self.leases.taken, self.leases.asked, self.leases.fenced = self._taken, self._asked, self._fenced
        self.shards: set[int] = set()
        self.gaps: list[float] = []
        self.diary: list[tuple[str, int, float]] = []
        """What happened, to which shard, and when by the machine's clock."""
        self.before_giving: Callable[[int], Any] | None = None
        self.fenced = 0

    def _taken(self, shards: set[int], seconds: float) -> None:
        assert all(self.leases._owners[shard] == self.me for shard in shards)
        self.gaps.append(seconds)
        self.shards |= shards
        self.diary += [("taken", shard, time.time()) for shard in shards]

    async def _asked(self, shard: int) -> None:
        if self.before_giving is not None:
            await self.before_giving(shard)
        self.shards.remove(shard)
        self.diary.append(("given", shard, time.time()))

    def _fenced(self) -> None:
        self.fenced += 1
        self.shards.clear()

    async def die(self) -> None:
        """End without a word, as a process does that was killed."""
        heart = self.leases._heart
        heart._do(heart._end)
        await heart.joined()


class Process:
    """A worker in a process of its own, and what it has printed."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.me = 0
        self.shards: set[int] = set()
        self.fenced = 0
        self.fresh_when_fenced: bool | None = None
        self._listening = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            match json.loads(line):
                case {"me": me}:
                    self.me = me
                case {"taken": shards}:
                    self.shards |= set(shards)
                case {"given": shard}:
                    self.shards.discard(shard)
                case {"fenced": owned, "fresh": fresh}:
                    self.fenced += 1
                    self.shards, self.fresh_when_fenced = set(owned), fresh
                case other:
                    raise AssertionError(f"unexpected: {other}")

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    async def end(self) -> None:
        with suppress(ProcessLookupError):
            self.process.kill()
        await self._listening
        await self.process.wait()


class Crew:
    """The workers of one test, and its database."""

    def __init__(self, url: str, db: Any) -> None:
        self.url = url
        self.db = db
        self.members: list[Member] = []
        self.processes: list[Process] = []

    async def add(self, clock: float = 0.0, pace: Pace = PACE) -> Member:
        """A worker that has begun."""
        member = Member(self.url, await register(self.db), Clock(clock), pace)
        self.members.append(member)
        await member.leases.start()
        return member

    async def spawn(self, pace: Pace = PACE) -> Process:
        """A worker in a process of its own that has begun."""
        command = [sys.executable, "-m", "tests.cluster.process", self.url, *map(str, pace)]
        process = Process(await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE))
        self.processes.append(process)
        await until(lambda: process.me)
        return process

    async def share(self, *workers: Member | Process) -> None:
        """Wait until these workers share all shards evenly, and all have seen it."""
        least = SHARDS // len(workers)

        def is_fair() -> bool:
            shares = [worker.shards for worker in workers]
            fair = all(least <= len(share) <= least + 1 for share in shares)
            return fair and len(set().union(*shares)) == SHARDS == sum(map(len, shares))

        await until(is_fair)
        seen = [worker.leases for worker in workers if isinstance(worker, Member)]
        await until(lambda: all(leases._owners == seen[0]._owners for leases in seen))

    async def owners(self) -> list[int | None]:
        return [row["owner"] for row in await self.db.fetch("SELECT owner FROM shards ORDER BY shard")]

    async def gone(self) -> set[int]:
        return {row["id"] for row in await self.db.fetch("SELECT id FROM workers WHERE gone")}

    async def buried(self, worker: int) -> None:
        """Wait until a worker is gone."""

        async def is_gone() -> bool:
            return worker in await self.gone()

        await until(is_gone)

    async def rounds(self, member: Member, count: int) -> None:
        """Wait until a worker has beaten and looked that many times more."""
        for _ in range(count):
            await until(lambda look=member.leases._look: member.leases._look is not look)  # type: ignore[misc]

    async def reconnect(self) -> None:
        """After a crash of PostgreSQL."""
        self.db.terminate()
        self.db = await schema.connect(self.url, {"synchronous_commit": "off"})

    async def end(self) -> None:
        for process in self.processes:
            await process.end()
        for member in self.members:
            await member.leases.stop(patience=0)
        await self.db.close()

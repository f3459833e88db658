"""The server is killed at random instants, again and again, while a crowd plays."""

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import msgspec

from tests.e2e.conftest import ALARMS
from tests.postgres import Postgres
from tests.torture.checker import Verdict
from tests.torture.habits import Habits
from tests.torture.load import Crowd, Keeping, new_server
from tests.torture.writers import DIE

WAYS = {"anywhere": 10, "after": 5, "before": 2, "starting": 3}
"""How a server dies, and how often: at any instant, between a write and its answers, in the middle of a
write, or before it is open."""


FAULTS = ("job_failed", "call_failed", "game_failed", "room_damaged")
"""Words that the log of a server without its database has no reason to have."""


class Reaper:
    """Starts the server again and again, and each time decides how it dies."""

    def __init__(self, crowd: Crowd, plan: "Plan", postgres: Postgres | None) -> None:
        self.crowd = crowd
        self.postgres = postgres
        self.server = crowd.server
        self.chance = Random(plan.seed)
        self.window = plan.window
        """Seconds in which an open server is killed."""
        self.outage = plan.outage
        self.deaths: Counter[str] = Counter()

    async def kill(self) -> None:
        """From an open server to an open server."""
        (way,) = self.chance.choices(list(WAYS), list(WAYS.values()))
        if way == "starting":
            await self._kill_soon()
            self.server.begin()
            await asyncio.sleep(self.chance.uniform(0, 1))
            await self._finish()
        elif way in ("after", "before"):
            await self._kill_soon()
            try:
                await self._start(f"{way} {self.chance.randint(2, 200)}")
            except AssertionError:  # its hour came before it was open; one that never opens fails below
                way = "starting"
            else:
                if await asyncio.to_thread(self.server.wait, 5) is None:
                    way = "anywhere"
                await self._finish()
        else:
            await self._kill_soon()
        self.deaths[way] += 1
        await self._start("")

    async def crash(self) -> None:
        """The database dies under an open server, and is back a moment later."""
        assert self.postgres is not None
        await asyncio.sleep(self.chance.uniform(0, self.window))
        await asyncio.to_thread(self.postgres.crash)
        await asyncio.sleep(self.chance.uniform(0, self.outage))
        await asyncio.to_thread(self.postgres.start)
        self.deaths["database"] += 1
        await self.crowd.all_synced()

    async def _kill_soon(self) -> None:
        await asyncio.sleep(self.chance.uniform(0, self.window))
        await self._finish()

    async def _finish(self) -> None:
        self.crowd.world.up.clear()
        await asyncio.to_thread(self.server.kill)

    async def _start(self, fate: str) -> None:
        self.server.environment[DIE] = fate
        await self.crowd.start_server()


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How much a server has to bear."""

    kills: int
    rooms: int
    each: int
    """Rooms that a visitor plays in, over one connection."""
    window: float
    """Seconds in which an open server is killed."""
    seed: int
    kind: str = "mortal"
    """Which writer the server has."""
    journal: str = "sqlite"
    crashes: int = 0
    """How often its database dies besides."""
    outage: float = 4.0
    """Seconds for which the database is away at most; a write waits for it for 3."""

    @property
    def fates(self) -> list[str]:
        """What is done to it, in order."""
        fates = ["kill"] * self.kills + ["crash"] * self.crashes
        Random(self.seed).shuffle(fates)
        return fates


async def torture(data: Path, plan: Plan, note: Callable[[int], None] = lambda _: None) -> Verdict:
    """Kill a server so many times, noting each; what the judge says of it, and figures."""
    keeping = Keeping(plan.journal, data)
    server = new_server(data, *keeping.options, kind=plan.kind)
    crowd = Crowd(server, Habits(), plan.seed)
    crowd.world.shaky = plan.crashes > 0
    reaper = Reaper(crowd, plan, keeping.postgres)
    try:
        server.start()
        crowd.gather(plan.rooms, plan.each)
        async with crowd.playing():
            await crowd.all_synced()
            for number, fate in enumerate(plan.fates):
                await (reaper.kill() if fate == "kill" else reaper.crash())
                note(number + 1)
        await asyncio.to_thread(server.stop)
        verdict = await keeping.check(crowd.diaries)
    finally:
        if server.running:
            server.kill()
        keeping.end()
    verdict.counts.update({f"killed {way}": count for way, count in reaper.deaths.items()})
    verdict.counts.update(connections=len(crowd.visitors))
    words = FAULTS if plan.crashes else ALARMS
    verdict.counts.update(alarms=sum(server.log.count(word) for word in words))
    return verdict

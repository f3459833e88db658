"""Workers that share rooms are killed, frozen and cut off, and so are their bus and database, under play."""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from parlour.journal.shards import room_key, shard_of
from tests.cluster.cutting import CuttingProxy
from tests.cluster.real import Cluster, RealWorker, until
from tests.e2e.servers import Guest
from tests.nats import Nats
from tests.postgres import Postgres
from tests.torture.checker import Verdict, check_rows
from tests.torture.habits import Habits
from tests.torture.kept import read_database
from tests.torture.load import Crowd, invite
from tests.torture.strangers import Doors, Strangers
from tests.torture.visitors import Table, Visitor
from tests.torture.waits import TimedDiary, Waits, spread

ALARMS = (
    "job_failed", "call_failed", "game_failed", "room_damaged", "not_told", "mail_failed", "part_failed",
    "step_not_told", "bus_callback_failed", "leases_failed", "after a change of owners", "after a write",
)  # fmt: skip
"""Words that the log of a worker never has, whatever is done to it."""
FROZEN = 3.0
"""Seconds for which a worker is frozen: twice its lease."""
ADOPTED_SOON = 2.0
GONE = "this worker was declared gone by the others"
COME_AGAIN = ("not_saved", "outcome_unknown")
"""Why somebody may be sent away at the door: the room has no owner at the moment, or it cannot be read."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How much a cluster has to bear."""

    kills: int = 100
    pauses: int = 30
    cuts: int = 30
    crashes: int = 10
    workers: int = 3
    rooms: int = 48
    each: int = 3
    """Rooms that a visitor plays in, over one connection."""
    pace: float = 0.1
    """Seconds between two deeds of a visitor."""
    relays: int = 4
    seekers: int = 4
    """People who look for somebody to play with."""
    matches: int = 2
    """Matches of GammonX at a time."""
    seed: int = 1


class Roamer(Visitor):
    """A visitor who tries another door when a room cannot be entered at the moment."""

    turned_away = 0

    def _joined(self, table: Table, reply: Any) -> None:
        if reply["status"] == "error" and reply["response"]["code"] in COME_AGAIN:
            self.turned_away += 1
            raise ConnectionResetError
        super()._joined(table, reply)


class ClusterCrowd(Crowd):
    """Visitors around many workers."""

    def __init__(self, doors: Doors, server: RealWorker, habits: Habits, seed: int) -> None:
        super().__init__(server, habits, seed)
        self.world = self.doors = doors
        self.waits = Waits()

    def _invite(self, guest: Guest, rooms: Sequence[str], *, spectate: bool = False) -> None:
        tables = [Table(guest.id, room, spectate=spectate) for room in rooms]
        for table in tables:
            table.diary = TimedDiary(guest.id, table.diary.room, self.waits)
        chance = Random(self.chance.random())
        self.visitors.append(Roamer(self.world, guest.token, tables, self.habits, chance))

    def open(self) -> None:
        """The doors are."""


class Torturer:
    """Does one harm after the other, and waits after each until all is well again."""

    def __init__(self, cluster: Cluster, crowd: ClusterCrowd, proxy: CuttingProxy, chance: Random) -> None:
        self.cluster = cluster
        self.crowd = crowd
        self.proxy = proxy
        self.chance = chance
        self.counts: Counter[str] = Counter()
        self.complaints: list[str] = []

    async def do(self, harm: str) -> None:
        """One harm, and until everybody plays again with all workers."""
        await asyncio.sleep(self.chance.uniform(0, 0.5))
        await getattr(self, harm)()
        self.counts[harm] += 1
        await until(self._are_all_back, "equal shares of the rooms")
        await self.crowd.all_synced()

    # Harms.

    async def kill(self) -> None:
        """A worker dies without a word; it is started again once its rooms are played elsewhere."""
        worker = self.chance.choice(self.cluster.workers)
        owners = await self.cluster.owners()
        rooms = {diary.room for diary in self.crowd.diaries}
        worker.signal(signal.SIGKILL)
        self.crowd.waits.begin([room for room in rooms if owners[shard_of(room_key(room))] is worker])
        await asyncio.to_thread(worker.kill)
        self._note_open()
        await self._end_adoption()

    async def pause(self) -> None:
        """A worker stands still for longer than its lease; it must find out that it is gone, and end.

        On a busy machine the others may not be sure of it in time: then it just goes on.
        """
        worker = self.chance.choice(self.cluster.workers)
        me = await self.cluster.id_of(worker)
        worker.signal(signal.SIGSTOP)
        self._note_open(but=worker)
        await asyncio.sleep(FROZEN)
        worker.signal(signal.SIGCONT)
        if await until(lambda: self.cluster.fate(me), "a beat of the worker, or its burial") == "gone":
            await self._expect_end(worker, GONE)
        else:
            self.counts["woke in time"] += 1

    async def cut(self) -> None:
        """The bus is away, for all or for one."""
        way = self.chance.choice(("kill_bus", "freeze_bus", "cut_one", "cut_one_for_long"))
        self.counts[way] += 1
        await getattr(self, f"_{way}")()

    async def _kill_bus(self) -> None:
        self.cluster.nats.kill()
        await asyncio.sleep(self.chance.uniform(0.1, 2))
        await asyncio.to_thread(self.cluster.nats.start)

    async def _freeze_bus(self) -> None:
        self.cluster.nats.pause()
        await asyncio.sleep(self.chance.uniform(0.1, 2.2))
        self.cluster.nats.resume()

    async def _cut_one(self) -> None:
        self.proxy.cut()
        await asyncio.sleep(self.chance.uniform(0.1, 2))
        self.proxy.mend()

    async def _cut_one_for_long(self) -> None:
        self.proxy.cut()
        await self._expect_end(self.cluster.workers[0], "no bus for 3 s: this worker hands its rooms over")
        self.proxy.mend()

    async def crash(self) -> None:
        """The database crashes, and recovers."""
        await asyncio.to_thread(self.cluster.postgres.crash)
        await asyncio.sleep(self.chance.uniform(0, 1.5))
        await asyncio.to_thread(self.cluster.postgres.start)

    async def _end_adoption(self) -> None:
        self.counts["rooms not adopted"] += await self.crowd.waits.all_adopted()

    # Workers that ended.

    async def _expect_end(self, worker: RealWorker, sentence: str) -> None:
        code = await worker.ended()
        if code != 1 or sentence not in worker.log:
            self.complaints.append(f"expected {sentence!r} and 1, got {code}: {worker.log[-500:]}")
        self._note_open()

    async def _are_all_back(self) -> bool:
        """Whether all workers share the rooms; one that ends late, on a busy machine, is started again."""
        await self._restart_ended()
        return await self.cluster.is_shared()

    async def _restart_ended(self) -> None:
        for worker in self.cluster.workers:
            if worker.running and worker.wait(0) is not None:
                await asyncio.to_thread(worker.kill)
                last = worker.log.splitlines()[-1]
                if GONE in last:
                    self.counts["buried alive"] += 1
                else:
                    self.complaints.append(f"ended by itself: {last}")
        self._note_open()
        ended = [worker for worker in self.cluster.workers if not worker.running]
        await asyncio.gather(*(worker.open() for worker in ended))
        self._note_open()

    def _note_open(self, but: RealWorker | None = None) -> None:
        workers = self.cluster.workers
        self.crowd.doors.note_open([one for one in workers if one.running and one is not but])


class Outcome(msgspec.Struct, frozen=True):
    """What came of a torture."""

    verdict: Verdict
    adoptions: list[float]
    faults: list[str]
    """What workers did that they should not have done."""

    @property
    def good(self) -> bool:
        return not self.verdict.complaints and not self.faults and not self.verdict.counts["alarms"]

    def figures(self) -> str:
        """How soon rooms went on after their owner was killed."""
        return f"rooms taken over: {spread(self.adoptions, ADOPTED_SOON)}"


@asynccontextmanager
async def services() -> AsyncIterator[tuple[Postgres, Nats]]:
    """A database and a bus; both end, whatever goes wrong with the other."""
    postgres, nats = Postgres(), Nats()
    with ExitStack() as stack:
        for service in (postgres, nats):
            stack.callback(service.stop)
            await asyncio.to_thread(service.start)
        yield postgres, nats


async def torture(folder: Path, plan: Plan, note: Callable[[int, str], None] = lambda *_: None) -> Outcome:
    """Do all of it in an order drawn by chance, noting each; what the judge says of it, and figures."""
    async with AsyncExitStack() as stack:
        postgres, nats = await stack.enter_async_context(services())
        proxy = CuttingProxy(nats.port)
        await proxy.start()
        stack.push_async_callback(proxy.stop)
        cluster = Cluster(folder, postgres, nats)
        stack.callback(cluster.end)
        return await _torture(cluster, proxy, plan, note)


async def _torture(
    cluster: Cluster, proxy: CuttingProxy, plan: Plan, note: Callable[[int, str], None]
) -> Outcome:
    chance = Random(plan.seed)
    cluster.add(bus=proxy.url)
    await cluster.workers[0].open()
    await cluster.open(plan.workers - 1)
    doors = Doors(Random(chance.random()))
    doors.note_open(cluster.workers)
    crowd = ClusterCrowd(doors, cluster.workers[0], Habits(pace=plan.pace, chats=0.5), plan.seed)
    await asyncio.to_thread(crowd.gather, plan.rooms, plan.each)
    torturer = Torturer(cluster, crowd, proxy, chance)
    harms = ["kill"] * plan.kills + ["pause"] * plan.pauses + ["cut"] * plan.cuts + ["crash"] * plan.crashes
    chance.shuffle(harms)
    guests = await asyncio.to_thread(invite, cluster.workers[0], plan.seekers)
    strangers = Strangers(doors, guests, plan.relays, plan.matches, chance)
    async with strangers.living(), crowd.playing():
        await crowd.all_synced()
        for number, harm in enumerate(harms):
            await torturer.do(harm)
            note(number + 1, harm)
    faults = [*torturer.complaints, *strangers.complaints()]
    return await judge(cluster, crowd, torturer.counts + strangers.counts(), faults)


async def judge(cluster: Cluster, crowd: ClusterCrowd, counts: Counter[str], faults: list[str]) -> Outcome:
    """Stop all workers, and compare what everybody was told with what is kept."""
    for worker in cluster.workers:
        code = await asyncio.to_thread(worker.stop)
        if code:
            faults.append(f"stopped with {code}: {worker.log[-500:]}")
    verdict = check_rows(await read_database(cluster.url), crowd.diaries, roams=True)
    logs = [worker.log for worker in cluster.workers]
    verdict.counts.update(counts)
    verdict.counts.update(
        connections=len(crowd.visitors),
        alarms=sum(log.count(word) for log in logs for word in ALARMS),
        told_1012=sum(visitor.restarts for visitor in crowd.visitors),
        turned_away=sum(visitor.turned_away for visitor in crowd.visitors if isinstance(visitor, Roamer)),
    )
    lines = [line for log in logs for line in log.splitlines()]
    faults += [line[:500] for line in lines if any(word in line for word in ALARMS)]
    return Outcome(verdict, crowd.waits.took, faults)

"""Several workers in one process, on one clock, with one journal: for tests of what they do together."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from parlour.cluster.members import NOBODY, Asked, Fenced, Taken, ignore_asked, ignore_fenced, ignore_taken
from parlour.cluster.members import LivingWorker as Listed
from parlour.cluster.memory_bus import Hub, MemoryBus
from parlour.journal.memory import MemoryJournal
from parlour.journal.shards import SHARDS, room_key, shard_of
from parlour.server.worker import Worker
from tests.server.world import HandClock, Person, World


class Table:
    """Who owns which shard, as PostgreSQL would say."""

    def __init__(self) -> None:
        self.owners = [NOBODY] * SHARDS
        self.members: dict[int, TableMembers] = {}

    def change(self) -> None:
        for member in self.members.values():
            member.changed()

    def join(self, member: "TableMembers") -> None:
        self.members[member.me] = member
        nobodys = {shard for shard, owner in enumerate(self.owners) if owner == NOBODY}
        for shard in nobodys:
            self.owners[shard] = member.me
        member.taken(nobodys, 0.0)
        self.change()

    def bury(self, me: int, gap: float) -> None:
        """A worker is dead: the others get its shards in turn."""
        del self.members[me]
        heirs = list(self.members)
        shares: dict[int, set[int]] = {heir: set() for heir in heirs}
        for number, shard in enumerate([shard for shard, owner in enumerate(self.owners) if owner == me]):
            self.owners[shard] = heirs[number % len(heirs)]
            shares[self.owners[shard]].add(shard)
        for heir, share in shares.items():
            self.members[heir].taken(share, gap)
        self.change()

    async def move(self, shard: int, to: int) -> None:
        """A living worker hands a shard over."""
        await self.members[self.owners[shard]].asked(shard)
        self.take(shard, to)

    def take(self, shard: int, to: int) -> None:
        """A worker gets a shard, whether or not its owner knows."""
        self.owners[shard] = to
        self.members[to].taken({shard}, 0.0)
        self.change()


class TableMembers:
    """One worker's look at the table."""

    def __init__(self, table: Table, me: int) -> None:
        self.me = me
        self.taken: Taken = ignore_taken
        self.asked: Asked = ignore_asked
        self.fenced: Fenced = ignore_fenced
        self.changed: Callable[[], None] = ignore_fenced
        self.fresh = True
        self.address = "here:1"
        self._table = table

    def owner_of(self, key: str) -> int:
        return self._table.owners[shard_of(key)]

    def owners(self) -> list[int]:
        return self._table.owners

    def shards(self) -> list[int]:
        return [shard for shard, owner in enumerate(self._table.owners) if owner == self.me]

    def is_fresh(self) -> bool:
        return self.fresh

    def workers(self) -> list[Listed]:
        return [
            Listed(me, member.address, 0.0, len(member.shards()))
            for me, member in self._table.members.items()
        ]

    def look_now(self) -> None: ...

    async def start(self) -> None:
        self._table.join(self)

    async def stop(self) -> None: ...


class Workers:
    """Workers that share a journal: each with clients of its own."""

    def __init__(self, count: int = 2, seed: int = 1, **settings: Any) -> None:
        self.clock = HandClock()
        self.journal = MemoryJournal(Path("unused"), "process")
        self.table = Table()
        self.hub = Hub(self.clock, random.Random(seed))
        self.settings = settings
        self.worlds: dict[int, World] = {}
        self.workers: dict[int, Worker] = {}
        self.clocks: dict[int, HandClock] = {}
        """The clocks of workers whose date is another."""
        self._count = count
        self._quiet: dict[int, Callable[[], Awaitable[None]]] = {}

    async def __aenter__(self) -> "Workers":
        for me in range(1, self._count + 1):
            await self.start(me)
        return self

    async def __aexit__(self, *_: object) -> None:
        for worker in self.workers.values():
            worker.leave()
        for world in self.worlds.values():
            await world.server.bots.stop()

    async def start(self, me: int) -> World:
        """Another worker begins."""
        world = self.worlds[me] = World(
            journal=self.journal, clock=self.clocks.get(me, self.clock), **self.settings
        )
        members, bus = TableMembers(self.table, me), MemoryBus(self.hub, me)
        self._quiet[me], world.quiet = world.quiet, self.quiet  # type: ignore[method-assign]
        self.workers[me] = worker = Worker(world.server, members, bus)
        worker.join()
        await bus.start()
        now = self.clock.now()
        await world.server.start()
        self.clock.start(now)
        await members.start()
        await self.quiet()
        return world

    def kill(self, me: int, gap: float = 1.5) -> None:
        """A worker dies without a word; the others notice."""
        self.die(me)
        self.table.bury(me, gap)

    def die(self, me: int) -> None:
        """A worker dies without a word, and nobody knows yet."""
        self.hub.kill(me)
        self.workers.pop(me).leave()
        world = self.worlds.pop(me)
        world.dead = True
        for room in world.server.rooms.in_memory():
            room.stop_timers()
        if world.server.rooms._heart is not None:
            world.server.rooms._heart.cancel()

    async def hand_over(self, room: str, to: int) -> None:
        """The owner of a room gives it to another worker."""
        await self.hand_over_shard(shard_of(room_key(room)), to)

    async def hand_over_shard(self, shard: int, to: int) -> None:
        """The owner of a shard gives it to another worker."""
        if self.table.owners[shard] == to:
            return
        moving = asyncio.ensure_future(self.table.move(shard, to))
        while not moving.done():
            await self.quiet()
        await moving
        await self.quiet()

    def owner(self, room: str) -> int:
        return self.table.owners[shard_of(room_key(room))]

    async def person(self, player: str, at: int) -> Person:
        """Somebody with a socket at that worker."""
        return await self.worlds[at].person(player)

    async def quiet(self) -> None:
        """Wait until nothing is under way between the workers and within them."""
        for _ in range(5):
            await asyncio.sleep(0)
            while self.clock.turn_to_next(self.clock.now()):  # noqa: ASYNC110 - turns are meant
                await asyncio.sleep(0)
            for me in self.worlds:
                await self._quiet[me]()

    async def wait(self, seconds: float) -> None:
        """Let time pass."""
        until = self.clock.now() + seconds
        while self.clock.turn_to_next(until):
            await self.quiet()
        self.clock.start(until)

    async def let_pass(self, seconds: float) -> None:
        """Let time pass, and do not wait for rooms that are busy."""
        until = self.clock.now() + seconds
        await asyncio.sleep(0)
        while self.clock.turn_to_next(until):  # noqa: ASYNC110 - turns are meant
            await asyncio.sleep(0)


def moves(person):
    """The cells that somebody heard being marked, with the number of the step."""
    return [(payload["seq"], payload["payload"]["cell"]) for _, payload in person.heard("game_event")]


async def table_of(workers, owner=1, ann=1, bob=2, **more):
    """A game of noughts and crosses at that owner, with players at these workers."""
    await workers.worlds[owner].open("tictactoe", **more)
    while workers.owner("ABCD") != owner:
        await workers.hand_over("ABCD", owner)
    people = [await workers.person("ann", ann), await workers.person("bob", bob)]
    for person in people:
        assert (await person.join("ABCD"))[0] == "ok"
    return people


async def play(person, cell, id=None):
    return await person.play("ABCD", {"type": "mark", "cell": cell}, id)

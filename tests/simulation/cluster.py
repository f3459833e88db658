"""The simulated cluster: machines that run the real server, without sockets, over a bus and a database."""

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from random import Random
from typing import Any, cast

from parlour.cluster import heart, leases, watch
from parlour.cluster.memory_bus import Hub, MemoryBus
from parlour.game import Game
from parlour.journal import shards
from parlour.journal.base import Trouble
from parlour.server import joining
from parlour.server.api.forwarding import Forwarding
from parlour.server.clock import Handle as ClockHandle
from parlour.server.components import Components, Replaceable
from parlour.server.gateway.doors.registry import DOORS, DoorNeeds
from parlour.server.gateway.pipes import DATA
from parlour.server.gateway.sockets import Sockets
from parlour.server.gateway.upgrade import Door
from parlour.server.network import Network
from parlour.server.parts.notifications import notifications
from parlour.server.rooms import calling_records
from parlour.server.rooms.ownership import OwnsNothing
from parlour.server.settings import Settings
from parlour.server.tokens import Tokens
from tests.server.world import InPlace
from tests.simulation.database import Database
from tests.simulation.game import Pairs, Saying
from tests.simulation.journal import WorkerJournal
from tests.simulation.leases import LeaseTable, SimulatedLeases
from tests.simulation.loop import Handle, Process, VirtualLoop
from tests.simulation.postbox import Postbox, Posting

SHARDS = 6
"""Few, since dealing them takes most of the time of a schedule."""
RESTART = 0.3
"""Seconds after which a process that has ended by itself is started again."""
TURN = 1e-6
"""Seconds that a turn of the loop takes at least: who looks too early gets there in the end."""
GRACE = 0.1
"""Seconds after which whoever is away is told of their turn: sooner than they come back."""
HOP = 0.0003
"""Seconds that a frame takes at least."""
joining_module: Any = joining
"""The same; what it makes is replaced while a simulation runs."""
GAMES: dict[str, Game[Any]] = {"saying": Saying(), "pairs": Pairs()}


class WorldClock:
    """The time of the network."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop

    def now(self) -> float:
        return self._loop.now

    def call_at(self, when: float, callback: Callable[[], None]) -> Handle:
        return self._loop.plan(Handle(self._loop.world, callback, ()), when + HOP)


class RoomsClock:
    """A worker's clock, as the system clock would be."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._loop = process.loop
        self._shift = 0.0

    def start(self, at: float) -> None:
        self._shift = at - self._loop.now

    def now(self) -> float:
        return self._loop.now + self._shift

    def date(self) -> float:
        return 1735689600.0 + self._loop.now

    def call_at(self, when: float, callback: Callable[[], None]) -> ClockHandle:
        return self._process.call_later(max(TURN, when - self.now()), callback)


def readable(message: bytes) -> str:
    """A message as a trace shows it: the same each time, so without the date of an HTTP answer."""
    if not message.startswith(DATA):
        return message.decode()
    return repr(re.sub(rb"Date: [^\r]*\r\n", b"", message[1:]))


class ProcessBus(MemoryBus):
    """A worker's end of the hub, within its process."""

    def __init__(self, hub: Hub, me: int, process: Process) -> None:
        super().__init__(hub, me)
        self._process = process
        self.trace: Callable[[str], None] | None = None

    def send(self, worker: int, message: bytes) -> None:
        if self.trace is not None:
            self.trace(f"worker {self.me} sends to {worker}: {readable(message)}")
        super().send(worker, message)

    def _do(self, callback: Callable[[], None]) -> None:
        self._process.call_soon(callback)

    def _call_later(self, delay: float, callback: Callable[[], None]) -> None:
        self._process.call_later(delay, callback)


class NoCalls:
    """The HTTP calls of a worker that has none."""


class Machine:
    """One run of a worker, from its start to its end."""

    def __init__(self, cluster: "Cluster", name: int) -> None:
        self.name = name
        self.cluster = cluster
        self.process = Process(cluster.loop, f"worker {name}")
        self.heart = Process(cluster.loop, f"heart {name}")
        self.journal = WorkerJournal(cluster.database, self.process)
        self.clock = RoomsClock(self.process)
        self.parlour = Components(
            GAMES,
            self.journal,
            self.clock,
            cluster.settings,
            Replaceable(cluster.draw_seed, InPlace(), outgoing=Posting(cluster.postbox, self.process)),
        )
        self.parlour.environment.ownership = OwnsNothing()
        self.doors = [self._open(name) for name in ("relay", "phoenix")]
        self.sockets = Sockets(self.doors, self.clock, self.parlour.limits, cluster.settings)
        self.parlour.sessions.connected = self.sockets.bearers
        self.parlour.sessions.hang_up = self.sockets.hang_up
        self.network = Network(self.sockets, cast("Forwarding", NoCalls()), self.doors)
        self.is_serving = False
        self.lines: dict[Any, None] = {}
        """The open connections of clients."""
        self._stopping = asyncio.Event()

    @property
    def me(self) -> int:
        return self.journal.me

    def _open(self, name: str) -> Door:
        needs = DoorNeeds(self.parlour, self.cluster.tokens, self.parlour.limits, self.cluster.settings)
        door = DOORS[name](needs)
        assert door is not None
        return door

    async def run(self) -> None:
        """Serve until told to stop, as `parlour serve` does."""
        try:
            await self.parlour.start()
            others = joining.among_workers(self.parlour, self.network, self.cluster.settings, self.give_up)
            self.cluster.joins(self)
            async with others:
                self.is_serving = not self._stopping.is_set()
                await self._stopping.wait()
                self.is_serving = False
                self._hang_up()
            for door in self.doors:
                await door.finish()
            await self.parlour.stop()
        except Trouble:
            self.is_serving = False
        self.cluster.ended(self)

    def give_up(self, _: Trouble) -> None:
        """Stop; after a while in any case."""
        self._stopping.set()
        self.process.call_later(self.cluster.settings.stop_timeout, self.kill)

    def kill(self) -> None:
        """Die without a last word."""
        if not self.process.is_alive:
            return
        self.process.kill()
        self.heart.kill()
        self.is_serving = False
        if self.me in self.cluster.hub._buses:
            self.cluster.hub.kill(self.me)
        for line in tuple(self.lines):
            line.break_off()
        self.cluster.ended(self)

    def pause(self) -> None:
        self.process.pause()
        self.heart.pause()

    def resume(self) -> None:
        self.process.resume()
        self.heart.resume()

    def _hang_up(self) -> None:
        for line in tuple(self.lines):
            line.shut_down()


class Cluster:
    """All machines, and what they share."""

    def __init__(
        self, loop: VirtualLoop, chance: Random, size: int = 3, *, relay_history: bool = False
    ) -> None:
        self.loop, self.chance = loop, chance
        self.database = Database(loop, chance, SHARDS)
        self.postbox = Postbox(self.database, Random(chance.random()))
        self.tokens = Tokens(bytes(32), date=lambda: 1735689600.0 + loop.now)
        self.hub = Hub(WorldClock(loop), chance)
        often, soon = chance.choice((4, 50)), chance.choice((0.7, 60.0))
        self.settings = Settings(
            bot_pace=0.0,
            store_every=often,
            rest_after=soon,
            stop_timeout=6.0,
            relay_history=relay_history,
        )
        self.machines: list[Machine] = []
        """Those that run, dead ones excluded."""
        self.size = size
        self.trace: Callable[[str], None] | None = None
        self.restart_after = RESTART
        self.told: dict[str, int] = {}
        """The last step of each room that anybody has heard of."""
        self._names = count(1)
        self._seeds = count(1)
        for _ in range(size):
            self.start()

    def draw_seed(self) -> bytes:
        return next(self._seeds).to_bytes(32, "big")

    def start(self) -> None:
        machine = Machine(self, next(self._names))
        self.machines.append(machine)
        machine.process.start(machine.run())

    def joins(self, machine: Machine) -> None:
        """A machine is about to join the others: with these leases, and this bus."""

        def make_leases(_url: str, me: int, now: Any, jump: Any) -> SimulatedLeases:
            return SimulatedLeases(machine.process, machine.heart, me, now, jump)

        def make_bus(_url: str, _cluster: str, me: int) -> ProcessBus:
            return self._bus(me, machine)

        joining_module.Leases, joining_module.NatsBus = make_leases, make_bus

    def _bus(self, me: int, machine: Machine) -> ProcessBus:
        bus = ProcessBus(self.hub, me, machine.process)
        bus.trace = self.trace
        return bus

    def ended(self, machine: Machine) -> None:
        """A machine has ended: another is started in its place."""
        if machine in self.machines:
            self.machines.remove(machine)
            machine.process.is_alive = machine.heart.is_alive = False
            for line in tuple(machine.lines):
                line.break_off()
            self.loop.world.call_later(self.restart_after, self.start)

    @property
    def serving(self) -> list[Machine]:
        return [machine for machine in self.machines if machine.is_serving]


@contextmanager
def simulated(cluster: Cluster) -> Iterator[None]:
    """Let the real code use the virtual clock and the simulated database."""
    table = LeaseTable(cluster.database)
    loop = cluster.loop
    replaced: list[tuple[Any, str, Any]] = [
        (heart, "monotonic", loop.time),
        (leases, "monotonic", loop.time),
        (calling_records, "GRACE", GRACE),
        (notifications, "GRACE", GRACE),
        (heart, "connect", table.connect),
        (heart, "lease_table", table),
        (watch, "lease_table", table),
        (watch, "monotonic", loop.time),
        (leases, "SHARDS", SHARDS),
        (shards, "SHARDS", SHARDS),
        (joining, "Leases", joining_module.Leases),
        (joining, "NatsBus", joining_module.NatsBus),
        (joining, "list_workers", table.list_workers),
    ]
    before = [(module, name, getattr(module, name)) for module, name, _ in replaced]
    for module, name, value in replaced:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


__all__ = ["GAMES", "SHARDS", "Cluster", "Machine", "simulated"]

"""Makes this process one of many workers: leases in its database, and a bus to the others."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import cast

from parlour.cluster.bus import BusFailed
from parlour.cluster.lease_table import list_workers
from parlour.cluster.leases import LEASE, Leases
from parlour.cluster.nats_bus import NatsBus
from parlour.journal.base import Trouble
from parlour.journal.postgresql import PostgresJournal
from parlour.server.components import Components
from parlour.server.network import Network
from parlour.server.settings import Settings
from parlour.server.worker import Worker

CUT_OFF = 3.0
"""Seconds without the bus after which a worker gives up its rooms, since others may reach them."""


ANSWER_WITHIN = 0.5
TRIES = 8
"""How long, and how often, a worker that begins waits for an answer of another on the bus."""


class Gone(Trouble):
    """This worker has to stop: it was declared gone, or is cut off from the others."""


class Cut:
    """Notices when the bus is away for too long."""

    def __init__(self, too_long: Callable[[], None]) -> None:
        self._too_long = too_long
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """The bus is away."""
        self.end()
        self._timer = asyncio.get_running_loop().call_later(CUT_OFF, self._too_long)

    def end(self) -> None:
        """The bus is back."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


async def meet_others(worker: Worker, url: str) -> None:
    """Make sure that the bus leads to the other workers of this database, if there are any."""
    others = await beating(url)
    for _ in range(TRIES):
        if not others or await worker.greetings.meet(others, ANSWER_WITHIN):
            return
        still = await beating(url)  # whoever has died meanwhile cannot answer
        others = {id: address for id, address in others.items() if id in still}
    for id, address in others.items():
        raise Trouble(
            f"worker {id} at {address} shares this database and cannot be heard on this bus: "
            "all workers of a database need the same --bus"
        )


async def beating(url: str) -> dict[int, str]:
    """The addresses of the workers that have given a sign of life within a lease."""
    workers = await list_workers(url)
    return {one.id: one.address for one in workers if one.silent is not None and one.silent < LEASE}


@asynccontextmanager
async def among_workers(
    parlour: Components, network: Network, settings: Settings, give_up: Callable[[Trouble], None]
) -> AsyncIterator[None]:
    """Be one of many workers, from when the journal is open until before it closes."""
    clock, journal = parlour.clock, cast("PostgresJournal", parlour.journal)
    members = Leases(settings.journal, journal.me, clock.now, clock.start)
    bus = NatsBus(settings.bus, journal.cluster, journal.me)
    worker = Worker(parlour, members, bus)
    worker.join()
    worker.network = network
    network.join(journal.me, worker.owner_of, bus.send)
    cut = Cut(lambda: give_up(Gone(f"no bus for {CUT_OFF:g} s: this worker hands its rooms over")))

    async def leave() -> None:
        await members.stop()
        worker.leave()
        await bus.stop()

    def fence() -> None:
        worker.note_gone()
        give_up(Gone("this worker was declared gone by the others"))

    members.fenced = journal.fenced = fence
    bus.cut, bus.joined_again = cut.begin, cut.end
    try:
        await bus.start()
    except BusFailed as error:
        raise Trouble(str(error)) from error
    parlour.leave = leave
    await meet_others(worker, settings.journal)
    await members.start()
    yield
    cut.end()
    members.fenced = journal.fenced = lambda: None

"""Makes this process one of many workers: leases in its database, and a bus to the others."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from parlour.cluster.bus import BusFailed
from parlour.cluster.leases import Leases
from parlour.cluster.members import ignore_fenced
from parlour.cluster.nats_bus import NatsBus
from parlour.journal.base import Trouble
from parlour.journal.postgresql import PostgresJournal
from parlour.server.components import Components
from parlour.server.settings import Settings
from parlour.server.worker import Worker

CUT_OFF = 3.0
"""Seconds without the bus after which a worker gives up its rooms, since others may reach them."""


class Gone(Trouble):
    """This worker has to stop: it was declared gone, or is cut off from the others."""


@asynccontextmanager
async def among_workers(
    parlour: Components, journal: PostgresJournal, settings: Settings, give_up: Callable[[Trouble], None]
) -> AsyncIterator[None]:
    """Be one of many workers, from when the journal is open until before it closes."""
    clock = parlour.clock
    members = Leases(settings.journal, journal.me, clock.now, clock.start)
    bus = NatsBus(settings.bus, journal.cluster, journal.me)
    worker = Worker(parlour, members, bus)
    worker.join()
    cutting: list[asyncio.TimerHandle] = []

    def cut_off() -> None:
        give_up(Gone(f"no bus for {CUT_OFF:g} s: this worker hands its rooms over"))

    def begin_cut() -> None:
        cutting.append(asyncio.get_running_loop().call_later(CUT_OFF, cut_off))

    def end_cut() -> None:
        while cutting:
            cutting.pop().cancel()

    members.fenced = journal.fenced = lambda: give_up(Gone("this worker was declared gone by the others"))
    bus.cut, bus.joined_again = begin_cut, end_cut
    try:
        await bus.start()
    except BusFailed as error:
        raise Trouble(str(error)) from error
    await members.start()
    yield
    end_cut()
    members.fenced = journal.fenced = ignore_fenced  # from here on we are gone by our own will
    await members.stop()
    worker.leave()
    await bus.stop()

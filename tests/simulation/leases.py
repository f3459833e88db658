"""Leases over the simulated database: the real heart and members, without thread and connection."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import inf
from typing import Any

from parlour.cluster.dealing import Change
from parlour.cluster.heart import Ended, Heart
from parlour.cluster.lease_table import Beat, Look
from parlour.cluster.leases import PACE, Leases
from parlour.cluster.members import LivingWorker
from parlour.journal.base import NotKept
from tests.simulation.database import LOCK_TIMEOUT, Database
from tests.simulation.loop import Process


class Connection:
    """A connection of a heart."""

    def terminate(self) -> None: ...

    async def close(self, **_: float) -> None: ...


class LeaseTable:
    """What a heart asks of the database: takes the place of `parlour.cluster.lease_table`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def connect(self, _url: str, _settings: Any = None) -> Connection:
        await self._database.ask(lambda: None)
        return Connection()

    async def beat(self, _: Connection, me: int, clock: float, *, ready: bool) -> Beat | None:
        return await self._database.ask(partial(self._database.beat, me, clock, ready))

    async def look(self, _: Connection) -> Look:
        return await self._database.ask(self._database.look)

    async def list_workers(self, _url: str) -> list[LivingWorker]:
        try:
            return (await self._database.ask(self._database.look)).workers()
        except OSError as error:
            raise NotKept(str(error)) from error

    async def begin_leases(self, _: Connection, clock: float) -> None:
        await self._database.ask(partial(self._database.begin_leases, clock))

    async def bury(self, _: Connection, worker: int, silent: float) -> bool:
        if self._database.workers[worker].is_locked:
            await asyncio.sleep(LOCK_TIMEOUT)
        return await self._database.ask(partial(self._database.bury, worker, silent))

    async def forget(self, _: Connection, clock: float) -> None: ...

    async def deal(self, _: Connection, changes: Sequence[Change]) -> bool:
        return await self._database.ask(partial(self._database.deal, changes))

    async def hand_over(self, _: Connection, me: int, shards: Iterable[int]) -> bool:
        return await self._database.ask(partial(self._database.hand_over, me, sorted(shards)))

    async def resign(self, _: Connection, me: int, clock: float) -> bool:
        return await self._database.ask(partial(self._database.resign, me, clock))


class SimulatedHeart(Heart):
    """A heart whose thread is a simulated process: it beats on while the worker's loop is busy."""

    process: Process

    def start(self) -> None:
        self._loop = self.process  # type: ignore[assignment]
        self.process.start(self._live_on())

    async def joined(self) -> None: ...

    async def _live_on(self) -> None:
        try:
            await self._live()
        finally:
            self.renewed = -inf
            self._tell(Ended(self._fenced))


class SimulatedLeases(Leases):
    """The members as one worker knows them: *process* is that of its loop, *heart* that of its thread."""

    def __init__(
        self,
        process: Process,
        heart: Process,
        me: int,
        now: Callable[[], float],
        jump: Callable[[float], None],
    ) -> None:
        super().__init__("", me, now, jump)
        self._process = process
        self._heart = SimulatedHeart("", me, now, PACE, self._post)
        self._heart.process = heart

    async def start(self) -> None:
        self._loop = self._process  # type: ignore[assignment]
        self._heart.start()
        await self._seen.wait()

"""Real workers in processes of their own, with a real PostgreSQL and NATS between them."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import asyncpg

from parlour.journal.base import NotKept
from parlour.journal.postgresql import schema
from parlour.journal.shards import SHARDS, room_key, shard_of
from tests.e2e.servers import Server
from tests.nats import Nats
from tests.postgres import Postgres
from tests.torture.kept import Kept, read_database, rebuild

PATIENCE = 60.0
"""Seconds after which what a test waits for will not come."""
LOOK_EVERY = 0.02
ADOPTED_WITHIN = 6.0
"""Seconds; it takes some 1.6 on a machine that has nothing else to do."""
AWAKE = 0.5
"""Seconds without a beat after which a worker may be asleep."""
FATE = """SELECT gone, extract(epoch FROM clock_timestamp() - at)::float8 AS silent
    FROM workers LEFT JOIN beats ON worker = id WHERE id = $1"""


async def until(look: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
    """What *look* returns, or what it returns to be awaited, as soon as that is something."""
    clock = asyncio.get_running_loop().time
    late = clock() + patience
    while True:
        found = look()
        if isinstance(found, Awaitable):
            found = await found
        if found:
            return found
        assert clock() < late, f"expected {what} within {patience:g} s"
        await asyncio.sleep(LOOK_EVERY)


class RealWorker(Server):
    """One worker of a cluster."""

    async def open(self) -> None:
        """Run it; returns when it is open."""
        await asyncio.to_thread(self.start)

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, and do not wait for what comes of it."""
        os.kill(self.pid, number)

    async def ended(self, patience: float = PATIENCE) -> int:
        """The exit code, as soon as it has ended."""
        code = await asyncio.to_thread(self.wait, patience)
        assert code is not None, f"expected the worker to end within {patience:g} s:\n{self.log}"
        await asyncio.to_thread(self.kill)  # reads its last words
        return code

    async def health(self) -> int:
        """The status of `/health`."""
        return (await asyncio.to_thread(self.call, "GET", "/health")).status_code


class Cluster:
    """Workers that share a schema of a database and a bus."""

    def __init__(self, folder: Path, postgres: Postgres, nats: Nats, url: str | None = None) -> None:
        self.folder = folder
        self.postgres = postgres
        self.nats = nats
        self.url = url or postgres.new_url()
        self.workers: list[RealWorker] = []
        self._rooms = 0

    def add(self, *options: str, bus: str | None = None) -> RealWorker:
        """A worker that has not been started."""
        chosen = ("--journal", self.url, "--bus", bus or self.nats.url, *options)
        worker = RealWorker(self.folder / f"worker-{len(self.workers)}", *chosen)
        self.workers.append(worker)
        return worker

    async def open(self, count: int, *options: str) -> list[RealWorker]:
        """Start so many workers; returns when each has its share of the rooms."""
        new = [self.add(*options) for _ in range(count)]
        await asyncio.gather(*(worker.open() for worker in new))
        await self.all_shared()
        return new

    def end(self) -> None:
        """Kill whoever still runs."""
        for worker in self.workers:
            if worker.running:
                worker.signal(signal.SIGCONT)
                worker.kill()

    # What the database says.

    async def ask(self, sql: str, *arguments: Any) -> list[asyncpg.Record]:
        db = await until(self._connect, "an answer of PostgreSQL")
        try:
            return list(await db.fetch(sql, *arguments))
        finally:
            await db.close()

    async def _connect(self) -> Any:
        with suppress(NotKept):  # a busy machine takes its time
            return await schema.connect(self.url)

    async def all_shared(self) -> None:
        """Wait until every running worker owns an equal share, and nothing is about to change hands."""
        await until(self.is_shared, "equal shares of the rooms")

    async def is_shared(self) -> bool:
        rows = await self.ask(
            """SELECT count(shard) AS shards, count(wanted) AS wanted, address FROM workers
            LEFT JOIN shards ON owner = id WHERE NOT gone GROUP BY id, address"""
        )
        living = {_pid(row["address"]) for row in rows}
        even = all(abs(row["shards"] - SHARDS / len(rows)) < 2 for row in rows)
        return self._are_all(living) and even and not any(row["wanted"] for row in rows)

    def _are_all(self, living: set[int]) -> bool:
        """True if these processes are all workers that run."""
        return living == {worker.pid for worker in self.workers if worker.running}

    async def owners(self) -> dict[int, RealWorker | None]:
        """The worker that owns each shard; None if it is not one of those that run."""
        rows = await self.ask("SELECT shard, address FROM shards LEFT JOIN workers ON id = owner")
        by_pid = {worker.pid: worker for worker in self.workers if worker.running}
        return {row["shard"]: by_pid.get(_pid(row["address"] or "")) for row in rows}

    async def owner(self, room: str) -> RealWorker | None:
        return (await self.owners())[shard_of(room_key(room))]

    async def id_of(self, worker: RealWorker) -> int:
        """The id that a running worker has in the database."""
        rows = await self.ask("SELECT id, address FROM workers ORDER BY id DESC")
        return next(int(row["id"]) for row in rows if _pid(row["address"]) == worker.pid)

    async def fate(self, id: int) -> str | None:
        """`gone` or `awake`, as the database knows a worker; None if it has not beaten lately."""
        (row,) = await self.ask(FATE, id)
        if row["gone"]:
            return "gone"
        return "awake" if row["silent"] is not None and row["silent"] < AWAKE else None

    async def new_room(self, owner: RealWorker, game: str = "tictactoe", **more: Any) -> str:
        """A room that this worker owns."""
        owners = await self.owners()
        while True:
            self._rooms += 1
            room = f"room-{self._rooms}"
            if owners[shard_of(room_key(room))] is owner:
                await asyncio.to_thread(owner.open_room, game, id=room, **more)
                return room


async def kept(cluster: Cluster, room: str) -> Kept:
    """The room as it is kept: every step once, without a gap, each after the one before."""
    (rows,) = [rows for rows in await read_database(cluster.url) if rows.id == room]
    found, complaints = rebuild(rows)
    assert not complaints
    assert found is not None
    return found


def _pid(address: str) -> int:
    """The process at this address; 0 if there is none."""
    return int(address.rpartition(":")[2] or 0)

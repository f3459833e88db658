"""The thread that keeps a worker's lease: it beats over one connection, and keeps watch over another."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from math import inf
from threading import Thread
from time import monotonic
from typing import Any, NamedTuple, cast

import asyncpg
import structlog

from parlour.cluster import lease_table
from parlour.cluster.lease_table import Connection
from parlour.cluster.watch import News, Pace, Watch, unless_locked
from parlour.journal.base import NotKept
from parlour.journal.postgresql.schema import connect

log = structlog.get_logger()

AWAY = (
    NotKept,
    OSError,
    TimeoutError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # if PostgreSQL says that it stops in the moment in which we ask
)
"""The errors of a database that cannot be reached, or does not do what it should."""


LOOK_PATIENCE = 10.0
"""Seconds that a look may take: what it changes waits for the disk, and beats go on meanwhile."""


class Task(NamedTuple):
    """Something that is done over and over."""

    name: str
    do: Callable[[Connection], Awaitable[None]]
    now: asyncio.Event
    """Do it at once."""
    next: Callable[[float], float]
    """When it is to be done again at the latest, if it began at that time."""
    patience: float
    """Seconds after which its connection is given up."""


class Ahead(NamedTuple):
    """The rooms' clock of another worker is ahead of ours."""

    clock: float


class Ended(NamedTuple):
    """The thread has ended: it was stopped, or this worker is gone."""

    fenced: bool


class Heart:
    """Renews a lease from a thread of its own, so that a busy server does not lose it.

    Beats have a connection for themselves, too: burials, deals and hand-overs wait for the disk, and
    sometimes for each other. The thread is where *tell* is called and *now*, the rooms' clock, is asked.
    """

    def __init__(
        self,
        url: str,
        me: int,
        now: Callable[[], float],
        pace: Pace,
        tell: Callable[[News | Ahead | Ended], None],
    ) -> None:
        self._url = url
        self._me = me
        self._now = now
        self._pace = pace
        self._tell = tell
        self.renewed = -inf
        """When the last beat that was kept was sent, by our own monotonic clock."""
        self._beaten = self._beating_since = -inf
        """By PostgreSQL's clock: our last beat, and the first of those that came without a gap."""
        self._watch = Watch(me, now, pace, tell)
        self._leave_by = inf
        self._fenced = self._ended = False
        self._connections: set[Connection] = set()
        self._away: set[str] = set()
        self._beat_now, self._look_now = asyncio.Event(), asyncio.Event()
        self._one_at_a_time = asyncio.Lock()
        """Held while a beat is under way: the last one comes before we resign."""
        self._loop: asyncio.AbstractEventLoop | None = None
        # A daemon, because a server that crashed must not hang at its end: it is buried all the same.
        self._thread = Thread(target=self._run, name="leases", daemon=True)

    # In any thread.

    def start(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread.start()

    def nudge(self) -> None:
        """Read the tables of workers and shards now instead of at the next beat."""
        self._do(self._look_now.set)

    def give(self, shard: int) -> None:
        """Hand a shard over: the server has given it up."""
        self._do(self._watch.given.add, shard)
        self.nudge()

    def keep(self, shard: int) -> None:
        """Ask for a shard again later: the server could not give it up."""
        self._do(self._watch.asked.discard, shard)

    def bury(self, worker: int) -> None:
        """Bury a worker without waiting for its lease to end: it is known to be dead."""
        self._do(self._watch.condemned.add, worker)
        self.nudge()

    def leave(self, patience: float) -> None:
        """Hand everything over and resign, after that many seconds in any case."""
        self._do(self._leave, monotonic() + patience)

    async def joined(self) -> None:
        await asyncio.to_thread(self._thread.join)

    def _do(self, action: Callable[..., object], *arguments: Any) -> None:
        """Have something done in the thread."""
        if self._loop is None:  # it has not begun
            action(*arguments)
            return
        with suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(action, *arguments)

    # In its own thread.

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=self._get_loop) as runner:
                runner.run(self._live())
        finally:
            self.renewed = -inf
            self._tell(Ended(self._fenced))

    def _get_loop(self) -> asyncio.AbstractEventLoop:
        return cast("asyncio.AbstractEventLoop", self._loop)

    def _leave(self, by: float) -> None:
        self._leave_by = by
        self._watch.leaving = True
        self._wake()
        self._get_loop().call_later(by + self._pace.lease - monotonic(), self._drop_connections)

    def _end(self, *, fenced: bool = False) -> None:
        if not self._ended:
            self._ended, self._fenced = True, fenced
            self._wake()

    def _wake(self) -> None:
        self._beat_now.set()
        self._look_now.set()

    @property
    def _is_over(self) -> bool:
        return self._ended or monotonic() > self._leave_by + self._pace.lease

    async def _live(self) -> None:
        every = self._pace.beat_every
        patience = self._pace.lease
        beats = Task("beat", self._beat, self._beat_now, lambda began: began + every, patience)
        looks = Task("look", self._look, self._look_now, self._next_look, max(LOOK_PATIENCE, patience))
        async with asyncio.TaskGroup() as both:
            both.create_task(self._keep_on(beats))
            both.create_task(self._keep_on(looks))

    async def _keep_on(self, task: Task) -> None:
        """Do a task until all is over; over a new connection if one fails."""
        while not self._is_over:
            try:
                async with asyncio.timeout(self._pace.lease):
                    db = await self._connect()
                await self._keep_on_over(db, task)
            except AWAY as error:
                self._note_away(task.name, f"{type(error).__name__}: {error}")
                if task.now is self._beat_now:  # whatever keeps a beat from passing keeps looks from it, too
                    self._drop_connections()
                await asyncio.sleep(self._pace.beat_every)
            except Exception as error:  # a bug of ours: without a lease there are no rooms, so begin again
                log.exception("leases_failed", exc_info=error)
                self._end(fenced=True)

    async def _keep_on_over(self, db: Connection, task: Task) -> None:
        self._connections.add(db)
        try:
            while not self._is_over:
                began = monotonic()
                task.now.clear()
                async with asyncio.timeout(task.patience):
                    await task.do(db)
                self._note_away(task.name, None)
                with suppress(TimeoutError):
                    async with asyncio.timeout(max(0.0, task.next(began) - monotonic())):
                        await task.now.wait()
            await db.close(timeout=self._pace.lease)
        finally:
            self._connections.discard(db)
            db.terminate()

    def _drop_connections(self) -> None:
        for db in self._connections:
            db.terminate()

    async def _connect(self) -> Connection:
        settings = {
            "application_name": f"parlour-worker-{self._me}",
            "synchronous_commit": "off",
            # Looks go on while a burial waits for a write of the late worker.
            "lock_timeout": f"{self._pace.beat_every * 500:.0f}ms",
        }
        return await connect(self._url, settings)

    async def _beat(self, db: Connection) -> None:
        if not self._watch.has_looked:
            return
        async with self._one_at_a_time:
            if self._is_over:
                return
            sent = monotonic()
            beat = await lease_table.beat(db, self._me, self._now(), ready=self._can_take)
        if beat is None:
            self._end(fenced=True)
            return
        self.renewed = sent
        # If we were late ourselves, or PostgreSQL's clock was set, the others may have had no chance to beat.
        if not 0 <= beat.at - self._beaten <= self._pace.lease / 2:
            self._beating_since = beat.at
        self._beaten = beat.at
        if beat.clock is not None and beat.clock > self._now():
            self._tell(Ahead(beat.clock))
        self._look_now.set()

    @property
    def _can_take(self) -> bool:
        """True while we see what we are given, and want it."""
        return not self._watch.leaving and monotonic() - self._watch.looked < self._pace.lease

    def _next_look(self, began: float) -> float:
        """A look follows every beat; by itself it comes when a lease ends, or when there are no beats."""
        return min(began + 2 * self._pace.beat_every, self._watch.lease_ends)

    async def _look(self, db: Connection) -> None:
        if not self._watch.has_looked:
            await self._watch.first_look(db)
            self._beat_now.set()
            return
        await self._watch.go_round(db, judge=self._beaten - self._beating_since >= self._pace.lease)
        if self._watch.robbed:
            self._end(fenced=True)
        elif self._watch.leaving and (not self._watch.mine or monotonic() > self._leave_by):
            await self._resign(db)

    async def _resign(self, db: Connection) -> None:
        async with self._one_at_a_time:
            if await unless_locked(lease_table.resign(db, self._me, self._now())):
                self._end()

    def _note_away(self, what: str, error: str | None) -> None:
        if (what in self._away) != bool(error):
            self._away ^= {what}
            log.warning(f"cannot_{what}" if error else f"can_{what}_again", worker=self._me, error=error)

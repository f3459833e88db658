"""The thread that keeps a worker's lease: it beats, buries the late, deals shards, and says what it saw."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from math import inf
from threading import Thread
from time import monotonic
from typing import Any, NamedTuple, TypeVar, cast

import asyncpg
import structlog

from parlour.cluster import lease_table
from parlour.cluster.dealing import Crew, deal
from parlour.cluster.lease_table import NO_LOOK, Connection, Look
from parlour.cluster.members import NOBODY
from parlour.journal.base import NotKept
from parlour.journal.postgresql.schema import connect

T = TypeVar("T")
log = structlog.get_logger()

AWAY = (NotKept, OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError)
"""The errors of a database that cannot be reached, or does not do what it should."""
STARTING = 60.0
"""Seconds for which a worker may be silent that has not begun yet: it owns nothing that anybody waits for."""


class Pace(NamedTuple):
    """After how many seconds without a beat a worker is buried, and how often it beats."""

    lease: float
    beat_every: float


class News(NamedTuple):
    """What a look has shown."""

    look: Look
    taken: dict[float, set[int]]
    """Shards that are ours now, by the seconds that nobody had them."""
    asked: set[int]
    """Shards of ours that another worker is to have."""


class Ahead(NamedTuple):
    """The rooms' clock of another worker is ahead of ours."""

    clock: float


class Ended(NamedTuple):
    """The thread has ended: it was stopped, or this worker is gone."""

    fenced: bool


class Heart:
    """Renews a lease from a thread and connection of its own, so that a busy server does not lose it.

    What it has to tell is told in its thread; the rooms' clock, *now*, is asked in its thread as well.
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
        self._began = -inf
        self._next_end = inf
        """When the next lease of another worker ends unless it is renewed, by our own monotonic clock."""
        self._beaten = self._watched_since = -inf
        """By PostgreSQL's clock: our last beat, and the first of those that came without a gap."""
        self._look = NO_LOOK
        self._mine: set[int] = set()
        self._asked: set[int] = set()
        """Shards of ours that the server was asked for."""
        self._given: set[int] = set()
        """Shards that the server has given up; their rows are still to be changed."""
        self._condemned: set[int] = set()
        """Workers that are known to be dead."""
        self._waits: dict[int, int] = {}
        """How often the burial of a worker had to wait for a write of it."""
        self._leave_by = inf
        self._fenced = self._ended = self._is_away = False
        self._nudged = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        # A daemon, because a server that crashed must not hang at its end: it is buried all the same.
        self._thread = Thread(target=self._run, name="leases", daemon=True)

    # In any thread.

    def start(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread.start()

    def nudge(self) -> None:
        """Beat and look at once."""
        self._do(self._nudged.set)

    def give(self, shard: int) -> None:
        """Hand a shard over: the server has given it up."""
        self._do(self._given.add, shard)
        self.nudge()

    def keep(self, shard: int) -> None:
        """Ask for a shard again later: the server could not give it up."""
        self._do(self._asked.discard, shard)

    def bury(self, worker: int) -> None:
        """Bury a worker without waiting for its lease to end: it is known to be dead."""
        self._do(self._condemned.add, worker)
        self.nudge()

    def leave(self, patience: float) -> None:
        """Hand everything over and resign, after that many seconds in any case."""
        self._do(setattr, self, "_leave_by", monotonic() + patience)
        self.nudge()

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
        except Exception as error:  # a bug of ours: without a lease there are no rooms, so begin again
            log.exception("leases_failed", exc_info=error)
            self._fenced = True
        finally:
            self.renewed = -inf
            self._tell(Ended(self._fenced))

    def _get_loop(self) -> asyncio.AbstractEventLoop:
        return cast("asyncio.AbstractEventLoop", self._loop)

    @property
    def _leaving(self) -> bool:
        return self._leave_by < inf

    @property
    def _is_over(self) -> bool:
        return self._ended or self._fenced or monotonic() > self._leave_by + self._pace.lease

    async def _live(self) -> None:
        while not self._is_over:
            try:
                await self._beat_over_one_connection()
            except AWAY as error:
                self._note_away(f"{type(error).__name__}: {error}")
                await asyncio.sleep(self._pace.beat_every)

    async def _beat_over_one_connection(self) -> None:
        async with asyncio.timeout(self._pace.lease):
            db = await connect(
                self._url,
                application_name=f"parlour-worker-{self._me}",
                synchronous_commit="off",
                # Beats go on while a burial waits for a write of the late worker.
                lock_timeout=f"{self._pace.beat_every * 500:.0f}ms",
            )
        self._beaten = -inf
        try:
            while not self._is_over:
                self._began = monotonic()
                async with asyncio.timeout(self._pace.lease):
                    await self._go_round(db)
                self._note_away(None)
                await self._pause()
        except BaseException:
            db.terminate()
            raise
        await db.close(timeout=self._pace.lease)

    async def _pause(self) -> None:
        wait = min(self._began + self._pace.beat_every, self._next_end) - monotonic()
        with suppress(TimeoutError):
            async with asyncio.timeout(0 if self._is_over else max(0, wait)):
                await self._nudged.wait()
        self._nudged.clear()

    async def _go_round(self, db: Connection) -> None:
        if not self._look.rows:  # before the first beat, so that whose shards we are dealt is known
            self._look = await lease_table.look(db)
        await self._beat(db)
        if self._fenced:
            return
        await self._hand_over(db)
        look = await lease_table.look(db)
        if await self._bury_late(db, look):
            look = await lease_table.look(db)
        if await self._deal(db, look):
            look = await lease_table.look(db)
        self._compare(look)
        self._next_end = monotonic() + self._shortest_lease(look)
        if self._leaving and (not self._mine or monotonic() > self._leave_by):
            self._ended = await _unless_locked(lease_table.resign(db, self._me, self._now())) is True

    async def _beat(self, db: Connection) -> None:
        beat = await lease_table.beat(db, self._me, self._now(), ready=not self._leaving)
        if beat is None:
            self._fenced = True
            return
        self.renewed = self._began
        # If we were late ourselves, or PostgreSQL's clock was set, the others may have had no chance to beat.
        if not 0 <= beat.at - self._beaten <= self._pace.lease / 2:
            self._watched_since = beat.at
        self._beaten = beat.at
        if beat.clock is not None and beat.clock > self._now():
            self._tell(Ahead(beat.clock))

    async def _hand_over(self, db: Connection) -> None:
        given = set(self._given)
        if not given:
            return
        if await _unless_locked(lease_table.hand_over(db, self._me, given)):
            self._given -= given
            self._asked -= given
            self._mine -= given

    async def _bury_late(self, db: Connection, look: Look) -> bool:
        if any(seen.silent is None for seen in look.living.values()):
            await lease_table.begin_leases(db, self._now())
        late = self._late(look)
        buried = False
        for worker in sorted(late, key=lambda worker: self._waits.get(worker, 0)):
            done = await _unless_locked(lease_table.bury(db, worker, late[worker]))
            if done is None:
                self._waits[worker] = self._waits.get(worker, 0) + 1
                break
            if done:
                log.warning("worker_buried", worker=worker, silent=look.living[worker].silent, by=self._me)
                buried = True
        if buried:
            await lease_table.forget(db, self._now())
        return buried

    def _late(self, look: Look) -> dict[int, float]:
        """The workers to bury, and how long they must have been silent."""
        self._condemned &= set(look.living)
        late = dict.fromkeys(self._condemned, 0.0)
        if self._beaten - self._watched_since < self._pace.lease:
            return late
        begun = _begun(look)
        for worker, seen in look.living.items():
            silence = self._pace.lease if worker in begun else max(STARTING, self._pace.lease)
            if seen.silent is not None and seen.silent >= silence:
                late.setdefault(worker, silence)
        return late

    def _shortest_lease(self, look: Look) -> float:
        """Seconds until somebody may be late: whoever is dead is buried then, and not a beat later."""
        silences = [seen.silent for seen in look.living.values() if seen.silent is not None]
        return min((self._pace.lease - one for one in silences if one < self._pace.lease), default=inf)

    async def _deal(self, db: Connection, look: Look) -> bool:
        changes = deal(look.rows, self._crew(look))
        return bool(changes) and await _unless_locked(lease_table.deal(db, changes)) is True

    def _crew(self, look: Look) -> Crew:
        """Who takes part: shards are given to those who beat now, and evened out while nobody is late."""
        soon = self._pace.lease / 2
        prompt = {w for w, seen in look.living.items() if seen.silent is not None and seen.silent < soon}
        takers = {worker for worker in prompt if look.living[worker].ready}
        if self._leaving:
            return Crew(set(look.living), takers - {self._me}, leaving=self._me, even=False)
        return Crew(set(look.living), takers, even=_begun(look) <= prompt)

    def _compare(self, look: Look) -> None:
        """Tell what is different from the last look."""
        mine = look.shards_of(self._me)
        if not self._mine - self._given <= mine:  # we were buried, or the database lost what it had promised
            self._fenced = True
            return
        taken: dict[float, set[int]] = {}
        now = self._now()
        for shard in mine - self._mine:
            taken.setdefault(_unowned(self._look.rows[shard].owner, look, now), set()).add(shard)
        asked = {shard for shard in mine if self._leaving or look.rows[shard].wanted != NOBODY} - self._asked
        self._mine, self._look = mine, look
        self._asked |= asked
        self._tell(News(look, taken, asked))

    def _note_away(self, error: str | None) -> None:
        if self._is_away != bool(error):
            self._is_away = bool(error)
            log.warning("lease_not_renewed" if error else "lease_renewed_again", worker=self._me, error=error)


def _begun(look: Look) -> set[int]:
    """The workers that take shards, or have some."""
    return {row.owner for row in look.rows} & set(look.living) | {
        worker for worker, seen in look.living.items() if seen.ready
    }


def _unowned(owner: int, look: Look, now: float) -> float:
    """How long nobody had the shards of a worker, if it is gone.

    By the rooms' clock, so that the time does not count in which no worker ran at all.
    """
    last = look.gone.get(owner)
    return 0.0 if last is None or last.clock is None else max(0.0, now - last.clock)


async def _unless_locked(work: Awaitable[T]) -> T | None:
    """None if somebody else has held the row or the table for too long; there is another time."""
    try:
        return await work
    except asyncpg.LockNotAvailableError:
        return None

"""Looks who is alive and who owns what: buries the late, deals shards, and says what is different."""

from collections.abc import Awaitable, Callable
from math import inf
from time import monotonic
from typing import NamedTuple, TypeVar

import asyncpg
import structlog

from parlour.cluster import lease_table
from parlour.cluster.dealing import Crew, deal
from parlour.cluster.lease_table import NO_LOOK, Connection, Look
from parlour.cluster.members import NOBODY

T = TypeVar("T")
log = structlog.get_logger()

STARTING = 60.0
"""Seconds for which a worker may be silent that has not begun yet: it owns nothing that anybody waits for."""

SURELY = 0.001
"""Seconds after the end of a lease when it is over by any clock."""


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


class Watch:
    """One worker's view of all workers and shards, and what it does about it, round by round."""

    def __init__(self, me: int, now: Callable[[], float], pace: Pace, tell: Callable[[News], None]) -> None:
        self._me = me
        self._now = now
        self._pace = pace
        self._tell = tell
        self.looked = -inf
        """When the last round ended, by our own monotonic clock."""
        self.lease_ends = inf
        """When the first worker will be late, unless it beats before; by the same clock."""
        self.leaving = False
        """Give up everything."""
        self.robbed = False
        """Shards of ours were taken: we were buried, or the database has lost what it had promised."""
        self.mine: set[int] = set()
        self.given: set[int] = set()
        """Shards that the server has given up; their rows are still to be changed."""
        self.asked: set[int] = set()
        """Shards that the server was asked for, and the given ones among them."""
        self.condemned: set[int] = set()
        """Workers that are known to be dead."""
        self.waits: dict[int, int] = {}
        """How often the burial of a worker had to wait for a write of it."""
        self._look = NO_LOOK

    async def first_look(self, db: Connection) -> None:
        """Look before the first beat: so it is known whose shards we are dealt."""
        self._look = await lease_table.look(db)
        self.looked = monotonic()

    @property
    def has_looked(self) -> bool:
        return bool(self._look.rows)

    async def go_round(self, db: Connection, *, judge: bool) -> None:
        """Do what there is to do, and tell what is different; *judge* is true if anybody can be late."""
        await self._hand_over(db)
        look = await lease_table.look(db)
        if await self._bury_late(db, look, judge=judge):
            look = await lease_table.look(db)
        if await self._deal(db, look):
            look = await lease_table.look(db)
        self.lease_ends = monotonic() + self._soonest_end(look) + SURELY
        self._compare(look)
        self.looked = monotonic()

    async def _hand_over(self, db: Connection) -> None:
        given = set(self.given)
        if not given:
            return
        if await unless_locked(lease_table.hand_over(db, self._me, given)):
            self.given -= given
            self.asked -= given
            self.mine -= given

    async def _bury_late(self, db: Connection, look: Look, *, judge: bool) -> bool:
        if any(seen.silent is None for seen in look.living.values()):
            await lease_table.begin_leases(db, self._now())
        self.condemned &= set(look.living)
        late = dict.fromkeys(self.condemned, 0.0)
        if judge:
            late = self._late(look) | late
        buried = False
        for worker in sorted(late, key=lambda worker: self.waits.get(worker, 0)):
            done = await unless_locked(lease_table.bury(db, worker, late[worker]))
            if done is None:
                self.waits[worker] = self.waits.get(worker, 0) + 1
                break
            if done:
                log.warning("worker_buried", worker=worker, silent=look.living[worker].silent, by=self._me)
                buried = True
        if buried:
            await lease_table.forget(db, self._now())
        return buried

    def _late(self, look: Look) -> dict[int, float]:
        """The workers that are late, and how long they must have been silent for that."""
        return {worker: lease for worker, (silent, lease) in self._leases(look).items() if silent >= lease}

    def _soonest_end(self, look: Look) -> float:
        """Seconds until somebody is late who is not yet."""
        left = [lease - silent for silent, lease in self._leases(look).values()]
        return min((seconds for seconds in left if seconds > 0), default=inf)

    def _leases(self, look: Look) -> dict[int, tuple[float, float]]:
        """How long each worker has been silent, and how long it may be."""
        begun, starting = _begun(look), max(STARTING, self._pace.lease)
        return {
            worker: (seen.silent, self._pace.lease if worker in begun else starting)
            for worker, seen in look.living.items()
            if seen.silent is not None
        }

    async def _deal(self, db: Connection, look: Look) -> bool:
        changes = deal(look.rows, self.crew(look))
        return bool(changes) and await unless_locked(lease_table.deal(db, changes)) is True

    def crew(self, look: Look) -> Crew:
        """The workers to deal to: only those with a recent beat get shards; rebalance if none is late."""
        soon = self._pace.lease / 2
        prompt = {w for w, seen in look.living.items() if seen.silent is not None and seen.silent < soon}
        takers = {worker for worker in prompt if look.living[worker].ready}
        if self.leaving:
            return Crew(set(look.living), takers - {self._me}, leaving=self._me, even=False)
        return Crew(set(look.living), takers, even=_begun(look) <= prompt)

    def _compare(self, look: Look) -> None:
        """Tell what is different from the last look."""
        mine = look.shards_of(self._me)
        if not self.mine - self.given <= mine:
            self.robbed = True
            return
        now = self._now()
        taken: dict[float, set[int]] = {}
        for shard in mine - self.mine:
            taken.setdefault(_unowned(self._look.rows[shard].owner, look, now), set()).add(shard)
        asked = {shard for shard in mine if self.leaving or look.rows[shard].wanted != NOBODY} - self.asked
        self.mine, self._look = mine, look
        self.asked |= asked
        self._tell(News(look, taken, asked))


def _begun(look: Look) -> set[int]:
    """The workers that take shards, or have some."""
    ready = {worker for worker, seen in look.living.items() if seen.ready}
    return ready | {row.owner for row in look.rows} & set(look.living)


def _unowned(owner: int, look: Look, now: float) -> float:
    """How long nobody had the shards of a worker, if it is gone.

    By the rooms' clock, so that the time does not count in which no worker ran at all.
    """
    last = look.gone.get(owner)
    return 0.0 if last is None or last.clock is None else max(0.0, now - last.clock)


async def unless_locked(work: Awaitable[T]) -> T | None:
    """None if somebody else has held the row or the table for too long; there is another time."""
    try:
        return await work
    except asyncpg.LockNotAvailableError:
        return None

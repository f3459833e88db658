"""The members of a cluster by leases in PostgreSQL: whoever beats is alive, and only the gone are robbed."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any, cast

import structlog

from parlour.cluster.heart import Ahead, Ended, Heart
from parlour.cluster.lease_table import NO_LOOK
from parlour.cluster.members import (
    NOBODY,
    Asked,
    Fenced,
    LivingWorker,
    Taken,
    ignore_asked,
    ignore_fenced,
    ignore_taken,
)
from parlour.cluster.watch import News, Pace
from parlour.journal.shards import SHARDS, shard_of

log = structlog.get_logger()

LEASE = 1.5
"""Seconds without a beat after which a worker is buried."""
BEAT_EVERY = 0.25
PACE = Pace(LEASE, BEAT_EVERY)
PATIENCE = 5.0
"""Seconds that giving up all shards may take at the end."""


class Leases:
    """This worker among the others of its database, in which it has the id *me* already.

    *now* is the rooms' clock, and is asked in another thread; *jump* moves it forward to that of a worker
    that is ahead. All else happens in the server's loop.
    """

    def __init__(
        self,
        url: str,
        me: int,
        now: Callable[[], float],
        jump: Callable[[float], None],
        pace: Pace = PACE,
    ) -> None:
        self.me = me
        self.taken: Taken = ignore_taken
        self.asked: Asked = ignore_asked
        self.fenced: Fenced = ignore_fenced
        self.changed: Callable[[], None] = ignore_fenced
        self._now = now
        self._jump = jump
        self._pace = pace
        self._heart = Heart(url, me, now, pace, self._post)
        self._owners = [NOBODY] * SHARDS
        self._look = NO_LOOK
        self._giving: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._seen = asyncio.Event()
        self._ended = asyncio.Event()

    def owner_of(self, key: str) -> int:
        return self._owners[shard_of(key)]

    def owners(self) -> Sequence[int]:
        return self._owners

    def shards(self) -> list[int]:
        return [shard for shard, owner in enumerate(self._owners) if owner == self.me]

    def is_fresh(self) -> bool:
        """True if the lease was renewed so lately that nobody can have buried us yet."""
        return monotonic() - self._heart.renewed < self._pace.lease - self._pace.beat_every

    def workers(self) -> list[LivingWorker]:
        return self._look.workers()

    def look_now(self) -> None:
        self._heart.nudge()

    def bury(self, worker: int) -> None:
        """Declare a worker gone at once: whoever started it has seen it die."""
        self._heart.bury(worker)

    async def start(self) -> None:
        """Begin to beat; returns after the first look, or when it is over already.

        That must be within a minute after the worker has got its id, or it is taken for dead.
        """
        self._loop = asyncio.get_running_loop()
        self._heart.start()
        await self._seen.wait()

    async def stop(self, patience: float = PATIENCE) -> None:
        """Hand all shards over, and be gone; shards that cannot be given up in time are taken by others."""
        if self._loop is None:
            return
        self._heart.leave(patience)
        await self._ended.wait()
        for task in self._giving:
            task.cancel()
        await self._heart.joined()

    def _post(self, message: News | Ahead | Ended) -> None:
        """From the thread to the server's loop."""
        with suppress(RuntimeError):  # the loop is closed, and nobody listens any more
            cast("asyncio.AbstractEventLoop", self._loop).call_soon_threadsafe(self._hear, message)

    def _hear(self, message: News | Ahead | Ended) -> None:
        match message:
            case News():
                self._see(message)
            case Ahead(clock):
                if clock > self._now():
                    self._call(self._jump, clock)
            case Ended(fenced):
                self._end(fenced=fenced)

    def _see(self, news: News) -> None:
        self._look = news.look
        self._owners = [row.owner for row in news.look.rows]
        for seconds, shards in news.taken.items():
            self._call(self.taken, shards, seconds)
        self._call(self.changed)
        for shard in news.asked:
            task = asyncio.get_running_loop().create_task(self._give_up(shard))
            self._giving.add(task)
            task.add_done_callback(self._giving.discard)
        self._seen.set()

    async def _give_up(self, shard: int) -> None:
        try:
            await self.asked(shard)
        except Exception:
            log.exception("shard_not_given_up", shard=shard)
            self._heart.keep(shard)
        else:
            self._heart.give(shard)

    def _end(self, *, fenced: bool) -> None:
        self._owners = [NOBODY if owner == self.me else owner for owner in self._owners]
        self._seen.set()
        self._ended.set()
        if fenced:
            self._call(self.fenced)

    def _call(self, callback: Callable[..., None], *arguments: Any) -> None:
        """Call the server; an error of its own must not keep it from hearing the rest."""
        try:
            callback(*arguments)
        except Exception as error:  # noqa: BLE001
            asyncio.get_running_loop().call_exception_handler(
                {"message": "after a change of owners", "exception": error}
            )

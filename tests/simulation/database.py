"""A model of PostgreSQL that many workers share: rooms, leases, and the fence that every write passes.

Each statement happens in one instant, somewhere between question and answer. Whatever a worker has sent may
happen while the worker is paused or dead; its burial waits for a transaction of its own that is open.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import asyncpg
import msgspec

from parlour.cluster.dealing import Change, Row
from parlour.cluster.lease_table import Beat, Look, Seen
from parlour.cluster.members import NOBODY
from parlour.journal.base import Fenced, Trouble
from parlour.journal.memory import MemoryJournal
from parlour.journal.shards import room_key, shard_of
from parlour.wire import Act, Chat, Leave, Step, read_step
from tests.simulation.loop import Process, VirtualLoop
from tests.simulation.weather import CALM

T = TypeVar("T")

LOCK_TIMEOUT = 0.125
"""Seconds for which a burial waits for the lock on a worker's row."""
BLINK = 0.0004
"""Seconds that a write takes at least: nobody is told in the turn of the loop in which they asked."""


class WorkerRow:
    """A worker, as the table has it."""

    def __init__(self, clock: float) -> None:
        self.gone = False
        self.clock = clock
        self.writer: Process | None = None
        """Who has a transaction open that has locked this row."""

    @property
    def is_locked(self) -> bool:
        return self.writer is not None and self.writer.is_alive


class Database:
    """All that is kept."""

    def __init__(self, loop: VirtualLoop, chance: Random, shards: int) -> None:
        self.loop = loop
        self.chance = chance
        self.faults = CALM
        self.store = MemoryJournal(Path("unused"), "process")
        finish(self.store.open())
        self.workers: dict[int, WorkerRow] = {}
        self.beats: dict[int, tuple[float, float, bool]] = {}
        self.rows = [Row(NOBODY)] * shards
        self.has_fence = True
        self.broken: list[str] = []
        """Rules that were seen to be broken."""
        self.outages = 0
        self._is_down = False
        self._frozen_until = 0.0
        self._frozen: list[Callable[[], None]] = []
        """What arrived meanwhile."""
        self.trace: Callable[[str], None] = lambda _: None

    # Faults that are made by hand.

    def crash(self) -> None:
        """All connections are lost, and the beats, which are not logged."""
        self._is_down = True
        self.outages += 1
        self.beats.clear()
        for worker in self.workers.values():
            worker.writer = None

    def recover(self) -> None:
        self._is_down = False

    def freeze(self, seconds: float) -> None:
        """Answer nothing for a while; no longer than this, whatever was said before."""
        self._frozen_until = self.loop.now + seconds
        self.loop.world.call_later(seconds, self._thaw)

    def _thaw(self) -> None:
        if self.loop.now >= self._frozen_until:
            waiting, self._frozen = self._frozen, []
            for arrive in waiting:
                arrive()

    # Statements.

    async def ask(self, do: Callable[[], T]) -> T:
        """Carry out a statement, and return its answer to the process that asked."""
        if self.loop.now >= self._frozen_until and self.chance.random() >= self.faults.slow:
            self.check_up()
            return do()
        process, answer = self.loop.current, self.loop.create_future()
        self.travel(do, lambda outcome: process.call_later(self.delay(), settle, answer, outcome))
        result: T = await answer
        return result

    def travel(self, do: Callable[[], Any], answered: Callable[[Any], object]) -> None:
        """Carry out a statement when it has arrived; *answered* gets the result or the error."""

        def arrive() -> None:
            if self.loop.now < self._frozen_until:
                self._frozen.append(arrive)
                return
            try:
                self.check_up()
                outcome: Any = do()
            except (Trouble, OSError, asyncpg.PostgresError) as error:
                outcome = error
            answered(outcome)

        self.loop.world.call_later(self.delay(), arrive)

    def check_up(self) -> None:
        if self._is_down:
            raise ConnectionRefusedError("the database is down")

    def delay(self) -> float:
        if self.faults.slow and self.chance.random() < self.faults.slow:
            return BLINK + self.faults.delay * self.chance.random()
        return BLINK

    # Who may write what.

    def register(self) -> tuple[int, float]:
        """A new worker: its id, and the rooms' clock."""
        clock = max((worker.clock for worker in self.workers.values()), default=0.0)
        me = len(self.workers) + 1
        self.workers[me] = WorkerRow(clock)
        return me, clock

    def pass_fence(self, me: int, now: float) -> None:
        """Check that a worker may write, and move its clock."""
        worker = self.workers[me]
        if worker.gone and self.has_fence:
            raise Fenced("this worker was declared gone")
        worker.clock = max(worker.clock, now)

    def check_owner(self, me: int, number: int) -> None:
        """Note a step of somebody who does not own the room, or is gone."""
        kept = self.store._rooms.get(number)
        if kept is None:
            return
        room = kept.summary.id
        owner = self.rows[shard_of(room_key(room))].owner
        if owner != me or self.workers[me].gone:
            self.trace(f"worker {me} is no owner of {room}")
            self.broken.append(f"worker {me} made step {kept.seq + 1} of room {room}, which {owner} owns")

    # What is kept of a room.

    def seq_of(self, room: str) -> int:
        """The number of its last step."""
        kept = self.store._rooms.get(self.store._by_id.get(room, 0))
        return 0 if kept is None else len(kept.steps)

    def words(self, room: str) -> list[str]:
        """What was said in it, as often as it was."""
        kept = self.store._rooms.get(self.store._by_id.get(room, 0))
        steps = () if kept is None else (read_step(body) for body, _ in kept.steps.values())
        return [word for word in map(word_of, steps) if word is not None]

    def steps(self, room: str) -> list[Step]:
        """All steps."""

        async def read() -> list[Step]:
            return [step async for step in self.store.replay(self.store._by_id.get(room, 0))]

        return finish(read())

    # The tables of leases, as `parlour.cluster.lease_table` asks for them.

    def beat(self, me: int, clock: float, ready: bool) -> Beat | None:
        if self.workers[me].gone:
            return None
        before = self.beats.get(me)
        clock = clock if before is None else max(clock, before[1])
        self.beats[me] = (self.loop.now, clock, ready)
        return Beat(self.loop.now, max(one for _, one, _ in self.beats.values()))

    def look(self) -> Look:
        living: dict[int, Seen] = {}
        gone: dict[int, Seen] = {}
        now = self.loop.now
        for id, worker in self.workers.items():
            at, clock, ready = self.beats.get(id, (None, None, None))
            if worker.gone and at is None:
                continue
            silent = None if at is None else now - at
            (gone if worker.gone else living)[id] = Seen(id, "", worker.gone, silent, clock, ready)
        return Look(tuple(self.rows), living, gone)

    def begin_leases(self, clock: float) -> None:
        for id, worker in self.workers.items():
            if not worker.gone:
                self.beats.setdefault(id, (self.loop.now, clock, False))

    def bury(self, worker: int, silent: float) -> bool:
        row = self.workers[worker]
        if row.is_locked:
            raise asyncpg.LockNotAvailableError("canceling statement due to lock timeout")
        beat = self.beats.get(worker)
        if row.gone or silent > (0.0 if beat is None else self.loop.now - beat[0]):
            return False
        row.gone = True
        return True

    def deal(self, changes: Sequence[Change]) -> bool:
        done = False
        self.trace(f"dealt: {changes}")
        for shard, before, after in changes:
            if self.rows[shard] == before:
                self.rows[shard] = after
                done = True
        return done

    def hand_over(self, me: int, shards: Sequence[int]) -> bool:
        self.trace(f"worker {me} hands over {shards}")
        for shard in shards:
            owner, wanted = self.rows[shard]
            if owner == me:
                alive = wanted in self.workers and not self.workers[wanted].gone
                self.rows[shard] = Row(wanted if alive else NOBODY)
        return True

    def resign(self, me: int, clock: float) -> bool:
        row = self.workers[me]
        if row.is_locked:
            raise asyncpg.LockNotAvailableError("canceling statement due to lock timeout")
        if all(row.owner != me for row in self.rows):
            self.beats.pop(me, None)
        row.gone, row.clock = True, max(row.clock, clock)
        return True


def word_of(step: Step) -> str | None:
    """What only this command says."""
    match step.command:
        case Act(event=event):
            word: str = msgspec.json.decode(event)["word"]
            return word
        case Chat(text=text):
            return text
        case Leave():
            return step.id
        case _:
            return None


def settle(future: asyncio.Future[Any], outcome: Any) -> None:
    """Give an outcome to whoever still waits for it."""
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


def finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    raise AssertionError("it waits")

"""One worker's journal in the simulated database: batches of writes, one after the other, that may fail."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, TypeVar

from msgspec import UNSET, UnsetType

from parlour.journal.base import (
    Change,
    Damage,
    Fenced,
    Found,
    Kept,
    NotKept,
    OutcomeUnknown,
    Recalled,
    Record,
    RecordQuery,
    RoomQuery,
    RoomSummary,
    StepWrites,
    Stored,
    Trouble,
)
from parlour.wire import Step
from tests.simulation.database import BLINK, Database, finish, settle
from tests.simulation.loop import Process

T = TypeVar("T")

SETTLES = 0.6
"""The share of lost connections after which the database can be asked what came of the writes."""
LATEST = 1.0
"""Seconds after a lost connection within which what was sent over it may still happen."""


class Write(NamedTuple):
    """A write that waits."""

    do: Callable[[], Any]
    done: Callable[[Any], None]
    now: float = 0.0
    alone: bool = False
    """It is one step and nothing beside it: one statement, in which the worker has no part."""
    room: int | None = None
    """The room of the step."""


class WorkerJournal:
    """The journal as one worker sees it."""

    def __init__(self, database: Database, process: Process) -> None:
        self._database, self._process = database, process
        self._store = database.store
        self.me = 0
        self.cluster = "simulated"
        self.fenced: Callable[[], None] = lambda: None
        self._waiting: list[Write] = []
        self._busy = False

    async def open(self) -> float:
        self.me, clock = await self._read(self._database.register)
        return clock

    async def close(self) -> None:
        """Nothing is left to do."""

    # Writing.

    async def create(
        self,
        summary: RoomSummary,
        state: bytes,
        due: float | None,
        steps: Sequence[Step] = (),
        records: Sequence[Change] = (),
    ) -> int:
        number: int = await self._write(
            lambda: finish(self._store.create(summary, state, due, steps, records))
        )
        return number

    def append(self, room: int, steps: Sequence[Step], writes: StepWrites, kept: Kept) -> None:
        do = partial(self._store._append, room, steps, writes)
        alone = len(steps) == 1 and writes == StepWrites()
        self._put(Write(do, kept, steps[-1].now, alone, room))

    async def update_room(
        self,
        room: int,
        *,
        summary: RoomSummary | None = None,
        stored: Stored | None = None,
        due: float | UnsetType | None = UNSET,
    ) -> None:
        await self._write(
            lambda: finish(self._store.update_room(room, summary=summary, stored=stored, due=due))
        )

    async def keep(self, *changes: Change) -> None:
        await self._write(lambda: finish(self._store.keep(*changes)))

    async def beat(self, now: float) -> None:
        await self._write(lambda: None, now)

    async def prune(self, before: float, limit: int) -> bool:
        return False

    async def _write(self, do: Callable[[], Any], now: float = 0.0) -> Any:
        future = self._database.loop.create_future()
        self._put(Write(do, partial(settle, future), now))
        return await future

    def _put(self, write: Write) -> None:
        self._waiting.append(write)
        if not self._busy:
            self._busy = True
            self._process.call_soon(self._send)

    def _send(self) -> None:
        """Send all that waits: the steps alone with one statement, the rest in a transaction after it."""
        alone = [write for write in self._waiting if write.alone]
        batch = alone or self._waiting
        self._waiting = [write for write in self._waiting if not write.alone] if alone else []
        faults, chance = self._database.faults, self._database.chance
        if faults.refuse and chance.random() < faults.refuse:
            self._process.call_later(BLINK, self._answer, batch, NotKept("refused"))
        elif faults.lose and chance.random() < faults.lose:
            self._lose(batch)
        else:
            Transaction(self, batch).send()

    def _answer(self, batch: list[Write], outcome: Any) -> None:
        """Tell what came of a batch, and go on with the next."""
        self._tell(batch, [outcome] * len(batch) if isinstance(outcome, Exception) else outcome)
        self._go_on()

    def _tell(self, batch: list[Write], outcomes: list[Any]) -> None:
        if any(isinstance(outcome, Fenced) for outcome in outcomes):
            self.fenced()
        for write, outcome in zip(batch, outcomes, strict=True):
            write.done(outcome)

    def _go_on(self) -> None:
        self._busy = bool(self._waiting)
        if self._busy:
            self._send()

    # A lost connection.

    def _lose(self, batch: list[Write]) -> None:
        """The connection is lost: the writes happen or not, at once or late, and nobody knows for a while."""
        database, process = self._database, self._process
        chance, transaction = database.chance, Transaction(self, batch)
        landed: list[Any] = []

        def land() -> None:
            with suppress(Trouble, OSError):
                transaction.begin()
                landed.extend(transaction.apply(late=True))

        landing = LATEST * chance.random() ** 3
        if chance.random() < 0.5:
            database.loop.world.call_later(landing, land)
        if chance.random() < SETTLES:
            process.call_later(landing + BLINK, lambda: self._settle(batch, landed))
            return
        told = LATEST * chance.random()
        unknown = [OutcomeUnknown("the connection was lost")] * len(batch)
        process.call_later(told, self._tell, batch, unknown)
        # The next connection fences off what the last one may still be sending.
        process.call_later(max(told, landing) + BLINK, self._go_on)

    def _settle(self, batch: list[Write], landed: list[Any]) -> None:
        """Ask what came of the writes: steps alone are found, results of a transaction are not."""
        if not landed:
            self._answer(batch, NotKept("the connection was lost"))
        elif batch[0].alone:
            self._answer(batch, landed)
        else:
            self._answer(batch, OutcomeUnknown("the connection was lost"))

    # Reading.

    async def _read(self, do: Callable[[], T]) -> T:
        try:
            return await self._database.ask(do)
        except OSError as error:
            raise NotKept(f"the journal cannot be read: {error}") from error

    async def replay(self, room: int, after: int = 0) -> AsyncIterator[Step]:
        async def read() -> list[Step]:
            return [step async for step in self._store.replay(room, after)]

        for step in await self._read(lambda: finish(read())):
            yield step

    async def stored(self, room: int, at: int | None = None) -> Stored:
        return await self._read(lambda: finish(self._store.stored(room, at)))

    async def recall(self, id: str) -> Recalled | None:
        return await self._read(lambda: finish(self._store.recall(id)))

    async def find(self, which: str | int) -> Found | None:
        return await self._read(lambda: finish(self._store.find(which)))

    async def rooms(self, query: RoomQuery) -> list[Found]:
        return await self._read(lambda: finish(self._store.rooms(query)))

    async def room_ids(self, query: RoomQuery) -> list[str]:
        return await self._read(lambda: finish(self._store.room_ids(query)))

    async def record(self, kind: str, key: str, group: str = "") -> Record | None:
        return await self._read(lambda: finish(self._store.record(kind, key, group)))

    async def records(self, query: RecordQuery) -> list[Record]:
        return await self._read(lambda: finish(self._store.records(query)))

    async def inspect(self, limit: int) -> bool:
        return False

    def damages(self) -> Sequence[Damage]:
        return ()


class Transaction:
    """A batch of writes on its way, over one connection."""

    def __init__(self, journal: WorkerJournal, batch: list[Write]) -> None:
        self._journal, self._batch = journal, batch
        self._database, self._process = journal._database, journal._process
        self._outages = self._database.outages

    def send(self) -> None:
        self._database.travel(self.begin, self._begun)

    def begin(self) -> None:
        """Pass the fence, and lock the worker's row until the end of the transaction."""
        self._check_connection()
        me = self._journal.me
        self._database.pass_fence(me, max(write.now for write in self._batch))
        self._database.workers[me].writer = self._process

    def apply(self, *, late: bool = False) -> list[Any]:
        """Carry out all writes in the instant of the commit; what comes *late* may have lost its owner."""
        self._check_connection()
        self._database.workers[self._journal.me].writer = None
        return [self._carry_out(write, late=late) for write in self._batch]

    def _carry_out(self, write: Write, *, late: bool) -> Any:
        try:
            if write.room is not None and not late:
                self._database.check_owner(self._journal.me, write.room)
            return write.do()
        except Trouble as trouble:
            return trouble

    def _check_connection(self) -> None:
        self._database.check_up()
        if self._outages != self._database.outages:
            raise ConnectionError("the connection was lost")

    def _begun(self, outcome: Any) -> None:
        if isinstance(outcome, Exception):
            self._end(outcome)
        elif self._batch[0].alone:
            self._end(self.apply())
        else:  # the worker goes on with it, as soon as it runs
            self._process.call_later(BLINK, self._database.travel, self.apply, self._end)

    def _end(self, outcome: Any) -> None:
        self._process.call_later(self._database.delay(), self._answer, outcome)

    def _answer(self, outcome: Any) -> None:
        if isinstance(outcome, ConnectionRefusedError):
            outcome = NotKept("no connection")
        elif isinstance(outcome, OSError) or self._outages != self._database.outages:
            outcome = OutcomeUnknown("the connection was lost")
        self._journal._answer(self._batch, outcome)

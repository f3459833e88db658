"""Writes for all rooms of a worker: all that waits is written together, on one connection.

Nobody is told that a write failed unless that is certain: what was in flight when the connection broke, or
took too long, is looked up as soon as PostgreSQL answers again; where it does not, the outcome is not known.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from parlour.journal.base import Fenced, NotKept, Trouble
from parlour.journal.postgresql.batches import Batch, Done, Sending, Write, sending_of
from parlour.journal.postgresql.checked_rows import Damages
from parlour.journal.postgresql.connection import ANSWER_WITHIN, WritingConnection
from parlour.journal.postgresql.errors import (
    blamed,
    is_lost,
    is_of_one_write,
    is_read_only,
    may_succeed,
    not_kept,
    unknown,
)

MOST_STEPS = 2000
"""Steps that one statement writes at most."""
MOST_TOGETHER = 100
"""Other writes of one transaction at most: each takes some answers of PostgreSQL's, one after the other."""
SETTLE_WITHIN = 3.0
"""Seconds after its beginning when nobody waits any longer to hear what came of a write."""
TRIES = 3
"""How often a transaction is tried that another worker's was in the way of."""


class Writer:
    """Writes one batch after the other."""

    def __init__(
        self,
        line: WritingConnection,
        me: int,
        fenced: Callable[[], None],
        settle_within: float,
        damages: Damages,
    ) -> None:
        self._line = line
        self._me = me
        self._fenced = fenced
        """Called once when this worker is found to be gone."""
        self._settle_within = settle_within
        self._damages = damages
        """The damage found in rows that were to be changed."""
        self._is_gone = False
        self._written = 0
        """How many batches were sent: each leaves its number behind the fence, if it is kept."""
        self._steps: deque[tuple[Write, Done]] = deque()
        """Steps that wait, with nothing beside them."""
        self._others: deque[tuple[Write, Done]] = deque()
        """All else that waits. (Nobody waits for two writes at once that must be in order.)"""
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    async def stop(self) -> None:
        """Write what waits, then close the connection."""
        while self._task is not None:
            await asyncio.wait([self._task])
        self._closed = True
        await self._line.close()

    def put(self, write: Write, done: Done) -> None:
        """Have something written; *done* is called with its outcome."""
        if self._closed:
            done(NotKept("the journal is not open"))
            return
        (self._others if write.row is None else self._steps).append((write, done))
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def do(self, write: Write) -> asyncio.Future[Any]:
        """Have something written; the future gets its outcome."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def done(outcome: Any) -> None:
            if future.done():  # a cancelled future is left alone
                return
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

        self.put(write, done)
        return future

    async def _run(self) -> None:
        """Write batch after batch, as long as something waits."""
        while self._steps or self._others:
            for waiting, most in ((self._steps, MOST_STEPS), (self._others, MOST_TOGETHER)):
                if batch := [waiting.popleft() for _ in range(min(len(waiting), most))]:
                    settle(batch, await self._outcomes(batch))
        self._task = None

    async def _outcomes(self, batch: Batch) -> Sequence[Any]:
        """Write a batch; if one of it cannot be written, each by itself."""
        error: Exception | None = None
        for _ in range(TRIES):
            try:
                return await self._attempt(batch)
            except Trouble as trouble:
                return [self._noted(trouble)] * len(batch)
            except Exception as found:  # noqa: BLE001 - it belongs to whoever asked for this write
                error = found
                if not may_succeed(error):
                    break
        assert error is not None  # noqa: S101 - it was tried
        if is_read_only(error):
            self._line.drop()  # another PostgreSQL may have taken over
        if len(batch) == 1 or not is_of_one_write(error):
            return [blamed(error)] * len(batch)
        return [outcome for one in batch for outcome in await self._outcomes([one])]

    async def _attempt(self, batch: Batch) -> list[Any]:
        """The outcomes of a batch, also of one whose connection broke; raises why all of it was not kept."""
        if self._is_gone:
            raise Fenced("this worker was declared gone")
        db = await self._line.current()
        sending, deadline = (
            sending_of(batch, self._damages),
            asyncio.get_running_loop().time() + self._settle_within,
        )
        self._written += 1
        fence = (self._me, max(write.now for write, _ in batch), self._line.number, self._written)
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                return await sending.send(db, fence)
        except Exception as error:
            if not is_lost(error):
                raise
            return await self._settled(sending, error, deadline)

    async def _settled(self, sending: Sending, error: Exception, deadline: float) -> list[Any]:
        """Find out what became of a batch after its connection was lost."""
        self._line.drop()
        try:
            async with asyncio.timeout_at(deadline):
                written = await self._line.last_write()
                if written == self._written:
                    return await self._line.ask_again(sending.look_up)
                if (
                    written is None
                ):  # gone so long that it is forgotten, and the number of its last write with it
                    raise unknown(error)
        except TimeoutError:
            self._refuse_waiting()
            raise unknown(error) from None
        raise Fenced("this worker was declared gone") if self._line.is_gone else not_kept(error)

    def _refuse_waiting(self) -> None:
        """PostgreSQL does not answer: what was not sent yet does not wait for it."""
        refused = [*self._steps, *self._others]
        self._steps.clear()
        self._others.clear()
        settle(refused, [NotKept("not kept: PostgreSQL does not answer")] * len(refused))

    def _noted(self, trouble: Trouble) -> Trouble:
        if isinstance(trouble, Fenced) and not self._is_gone:
            self._is_gone = True
            self._fenced()
        return trouble


def settle(batch: Batch, outcomes: Sequence[Any]) -> None:
    """Report each outcome to whoever waits for it."""
    loop = asyncio.get_running_loop()
    for (_, done), outcome in zip(batch, outcomes, strict=True):
        try:
            done(outcome)
        except Exception as error:  # noqa: BLE001 - its own error; the others are still told
            loop.call_exception_handler({"message": "after a write", "exception": error})

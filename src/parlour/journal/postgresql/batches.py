"""Writes that are sent to PostgreSQL together: how they are sent, and how they are found again."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, Protocol

from asyncpg import Connection

from parlour.journal.base import Conflict, Drop
from parlour.journal.postgresql.checked_rows import Damages
from parlour.journal.postgresql.errors import Failed, is_lost
from parlour.journal.postgresql.writes import Append, Fence, append, append_alone, pass_fence
from parlour.journal.rows import StepRow

KEPT_OF = """SELECT checksum FROM steps
    WHERE (room, seq) IN (SELECT * FROM unnest($1::bigint[], $2::bigint[]))"""

Done = Callable[[Any], None]
"""Called with the outcome of a write: its result, or an exception."""


class Write(NamedTuple):
    """A write that waits, and the time to which it moves the rooms' clock."""

    do: Callable[[Connection], Awaitable[Any]] | None
    """Writes it; None for an append."""
    now: float = 0.0
    append: Append | None = None

    @property
    def row(self) -> StepRow | None:
        """The step, if there is nothing else to write: many such are written with one statement."""
        return self.append.rows[0] if self.append is not None and self.append.is_alone else None


Batch = Sequence[tuple[Write, Done]]


class Sending(Protocol):
    """A batch on its way."""

    async def send(self, db: Connection, fence: Fence) -> list[Any]:
        """Write it; returns the outcome of each write."""
        ...

    async def look_up(self, db: Connection) -> list[Any]:
        """The same outcomes, for a batch that is known to be kept."""
        ...


class StepsAlone:
    """Steps that have nothing beside them."""

    def __init__(self, rows: Sequence[StepRow]) -> None:
        self._rows = rows

    async def send(self, db: Connection, fence: Fence) -> list[Conflict | None]:
        return self._outcomes(await append_alone(db, fence, self._rows))

    async def look_up(self, db: Connection) -> list[Conflict | None]:
        rooms, seqs = ([row[column] for row in self._rows] for column in (0, 1))
        return self._outcomes([checksum for (checksum,) in await db.fetch(KEPT_OF, rooms, seqs)])

    def _outcomes(self, kept: Sequence[bytes]) -> list[Conflict | None]:
        """The outcomes by the checksums that are kept; of the same step twice, the first counts."""
        left, outcomes = set(kept), list[Conflict | None]()
        for row in self._rows:
            taken = Conflict(f"step {row[1]} of room {row[0]} has no place")
            outcomes.append(None if row[-1] in left else taken)
            left.discard(row[-1])
        return outcomes


class Together:
    """Writes of any kind in one transaction."""

    def __init__(self, writes: Sequence[Write], damages: Damages) -> None:
        self._writes = writes
        self._damages = damages
        self._results: list[Any] = []

    async def send(self, db: Connection, fence: Fence) -> list[Any]:
        await db.execute("BEGIN")
        try:
            await pass_fence(db, fence)
            self._results = await self._attempt(db)
        except Exception as error:
            if not is_lost(error):
                await db.execute("ROLLBACK")
            raise
        await db.execute("COMMIT")
        return self._results

    async def _attempt(self, db: Connection) -> list[Any]:
        """Make all writes; `Failed` if one cannot be made, unless the connection is lost."""
        at_once, others = apart(self._writes)
        results: dict[int, Any] = {}
        try:
            if at_once:
                await append(db, self._damages, at_once)
            for index in others:
                results[index] = await self._do(self._writes[index], db)
        except Exception as error:
            if is_lost(error):
                raise
            raise Failed from error
        return [results.get(index) for index in range(len(self._writes))]

    async def _do(self, write: Write, db: Connection) -> Any:
        if write.append is not None:
            return await append(db, self._damages, [write.append])
        assert write.do is not None  # noqa: S101 - it is one or the other
        return await write.do(db)

    async def look_up(self, db: Connection) -> list[Any]:  # noqa: ARG002 - they were known before the commit
        return self._results


def apart(writes: Sequence[Write]) -> tuple[list[Append], list[int]]:
    """The appends that have nothing in common, to be written at once; and where the others are."""
    touched: set[object] = set()
    at_once, others = list[Append](), list[int]()
    for index, write in enumerate(writes):
        touches = set() if write.append is None else write.append.touches
        if write.append is None or touches & touched or any(isinstance(one, Drop) for one in touches):
            others.append(index)
        else:
            touched |= touches
            at_once.append(write.append)
    return at_once, others


def sending_of(batch: Batch, damages: Damages) -> Sending:
    """How a batch is sent: it is all steps alone, or all other writes."""
    rows = [write.row for write, _ in batch if write.row is not None]
    return StepsAlone(rows) if rows else Together([write for write, _ in batch], damages)

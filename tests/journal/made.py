"""Summaries and steps to keep, made up."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec

from parlour.game import Send
from parlour.journal.base import Journal, Player, RoomSummary, StepWrites, Trouble
from parlour.lobby import Ticket
from parlour.wire import Act, Step

ANN, BOB = Player("p_ann", "Ann"), Player("p_bob", "Bob")

TICKET = Ticket("t1", ANN.id, ANN.name, "tictactoe", {"size": 3}, 1.5, "ranked", rating=1612.5)

STATE = b'{"cells":"........."}'


def summary(id: str = "ABCD", **changes: Any) -> RoomSummary:
    """A room for two with nobody in it."""
    facts: dict[str, Any] = {
        "game": "tictactoe",
        "created": 1.0,
        "seats": (None, None),
        "status": "waiting",
        "seed_hash": "5eed",
    }
    return RoomSummary(id=id, **facts | changes)


def step(
    seq: int, before: bytes = b"", *, player: str = ANN.id, id: str | None = None, now: float = 0.0
) -> Step:
    """A move, and what it told everybody."""
    event = msgspec.Raw(b'{"type":"mark","cell":%d}' % seq)
    told = (Send("all", {"cell": seq}),)
    return Step(seq, now, 1.5, 1, Act(player, event), before, id, draws=(seq, 6), effects=told)


def steps(count: int, *, player: str = ANN.id) -> list[Step]:
    """The first steps of a room, each following the one before."""
    made: list[Step] = []
    for seq in range(1, count + 1):
        made.append(step(seq, made[-1].digest if made else b"", player=player))
    return made


async def listed(kept: AsyncIterator[Step]) -> list[Step]:
    """All of a replay."""
    return [step async for step in kept]


async def append(journal: Journal, room: int, step: Step | Sequence[Step], writes: StepWrites) -> None:
    """Have a step kept, or some, and wait for that."""
    steps = [step] if isinstance(step, Step) else step
    done: asyncio.Future[Trouble | None] = asyncio.get_running_loop().create_future()
    journal.append(room, steps, writes, lambda trouble: None if done.done() else done.set_result(trouble))
    if (trouble := await done) is not None:
        raise trouble

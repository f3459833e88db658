"""Wakes a room: reads the last stored state from the journal, and replays the steps after it."""

from functools import partial
from typing import Any

import msgspec
import structlog
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.journal.base import Damaged, Found, Recalled, RoomSummary
from parlour.room import Room, replay
from parlour.server.rooms.environment import Environment
from parlour.server.rooms.events import SummaryChanged
from parlour.server.rooms.stored_room import thaw

log = structlog.get_logger()


class Waked(msgspec.Struct, frozen=True):
    """A room as it was read from the journal."""

    game: Game[Any]
    room: Room[Any]
    found: Found
    answers: dict[tuple[str, str], int]
    stored: int
    """The seq of the stored state that the replay began with."""
    last: float | None = None
    """When its last step was made, where rooms change their owners."""


async def wake(environment: Environment, id: str) -> Waked:
    """Read a room from the journal; refused if there is none that can go on."""
    recalled = await environment.journal.recall(id)
    if recalled is None:
        raise Refused(Code.UNKNOWN_ROOM, f"there is no room {id[:64]}")
    summary = recalled.found.summary
    if summary.ended is not None:
        raise Refused(Code.ROOM_ENDED, f"room {id} is over ({summary.ended})")
    game = environment.kept_game(summary.game)
    last = None
    if environment.ownership.is_shared:
        last = await _compare_with_last_step(environment, game, recalled)
    room = await _rebuild(environment, game, recalled)
    return Waked(game, room, recalled.found, recalled.answers, recalled.stored.seq, last)


async def _compare_with_last_step(
    environment: Environment, game: Game[Any], recalled: Recalled
) -> float | None:
    """If another worker's clock was ahead of ours when it made the last step, go on from there.

    If its rules were newer than ours, the room waits for a worker that has them. Gives the time of that step.
    """
    last = recalled.steps[-1:]
    if not last and recalled.stored.seq > 0:
        replayed = environment.journal.replay(recalled.found.number, after=recalled.stored.seq - 1)
        last = [step async for step in replayed]
    if last and last[-1].now > environment.clock.now():
        environment.clock.start(last[-1].now)
    if last and last[-1].rules > game.version:
        await hold_room(environment, recalled.found)
        here = f"this worker has its rules in version {game.version}"
        raise Refused(Code.UNKNOWN_GAME, f"{here}, and the room was played by version {last[-1].rules}")
    return last[-1].now if last else None


async def hold_room(environment: Environment, found: Found) -> None:
    """Stop the clock of a room whose game, or whose version of it, is not here, until it is back."""
    summary = found.summary
    if summary.held is None:
        log.warning("game_missing", room=summary.id, game=summary.game)
        held = replace(summary, held=environment.clock.now())
        await environment.journal.update_room(found.number, summary=held, due=None)


async def _rebuild(environment: Environment, game: Game[Any], recalled: Recalled) -> Room[Any]:
    """Replay the steps; if today's rules lead to other steps, the room ends."""
    summary = recalled.found.summary
    try:
        return _replay(environment, game, recalled)
    except Refused as why:
        if why.code in (Code.GAME_ERROR, Code.GAME_OVERRAN):
            raise  # a bug of today may be fixed tomorrow
        log.warning("rules_changed", room=summary.id, error=why.message)
        await end_room(environment, recalled.found.number, summary, "rules_changed")
        raise Refused(Code.RULES_CHANGED, "the rules have changed since; the room is closed") from None


def _replay(environment: Environment, game: Game[Any], recalled: Recalled) -> Room[Any]:
    """The room after all kept steps; the journal has checked that none is forged."""
    id = recalled.found.summary.id
    room = environment.ask_game(game, id, partial(thaw, game, recalled.stored.state))
    for step in recalled.steps:
        if step.before != room.head:
            raise Damaged(f"step {step.seq} does not follow the one before it")
        room = environment.ask_game(game, id, partial(replay, game, room, step, environment.patience))
    return room


async def end_room(environment: Environment, number: int, summary: RoomSummary, why: str) -> None:
    """End a room that cannot take another step; its history stays."""
    now = environment.clock.now()
    over = replace(summary, status="ended", ended=why, ended_at=now, connected=0, held=None)
    await environment.journal.update_room(number, summary=over, due=None)
    environment.publish(SummaryChanged(over))

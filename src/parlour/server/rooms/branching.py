"""Opens a new room that begins with the first steps of another: back to a step, and on from there."""

import asyncio
from functools import partial
from typing import Any

from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.journal.base import Found
from parlour.room import Instant, Room, apply
from parlour.server.rooms.creation import Begun, RoomCreation
from parlour.server.rooms.environment import Environment
from parlour.server.rooms.history import BREATH
from parlour.server.rooms.stored_room import freeze, thaw
from parlour.server.rooms.summary import Opening
from parlour.wire import Hold, Step


class Branching:
    """Plays the first commands of a room once more, in a room of their own.

    The luck is the same, and so are the players and the times. The rules are today's: a game that was
    changed meanwhile shows what becomes of the same moves.
    """

    def __init__(self, environment: Environment, creation: RoomCreation) -> None:
        self._env = environment
        self._creation = creation

    async def branch(self, found: Found, seq: int) -> Found:
        """Open a room that goes on from this step of another; nothing happens to the other."""
        if seq > found.seq:
            raise Refused(Code.MALFORMED, f"expected a step from 0 to {found.seq}, got {seq}", path="$.step")
        game = self._env.kept_game(found.summary.game)
        stored = await self._env.journal.stored(found.number, at=0)
        first = self._env.ask_game(game, found.summary.id, partial(thaw, game, stored.state))
        room, steps = await self._play(game, first, found, seq)
        if room.ended is not None:
            raise Refused(Code.ROOM_ENDED, f"step {seq} ended the room ({room.ended}); choose an earlier one")
        old = Opening.of(found.summary)
        opening = Opening(
            self._env.clock.date(), private=True, creator=old.creator, listed=False, address=old.address,
            watching=old.watching, apart=old.apart, clock=old.clock,
        )  # fmt: skip

        def begin(id: str) -> Begun:
            frozen = self._env.ask_game(game, id, partial(freeze, replace(first, id=id)))
            return Begun(replace(room, id=id), frozen, steps)

        return await self._creation.open(game, begin, None, opening)

    async def _play(
        self, game: Game[Any], room: Room[Any], found: Found, seq: int
    ) -> tuple[Room[Any], list[Step]]:
        """The room after these commands, and its steps; the time since then has not passed in it."""
        steps: list[Step] = []
        then: float | None = None
        async for kept in self._env.journal.replay(found.number):
            if kept.seq > seq:
                then = kept.now if then is None else then
                break
            then = kept.now
            room, step = self._again(game, room, kept)
            steps.append(step)
            if kept.seq % BREATH == 0:
                await asyncio.sleep(0)
        at = self._env.instant()
        if then is not None and room.ended is None and at.now > then:
            hold = partial(apply, game, room, Hold(at.now - then), at)
            room, step = self._env.ask_game(game, room.id, hold)
            steps.append(step)
        return room, steps

    def _again(self, game: Game[Any], room: Room[Any], kept: Step) -> tuple[Room[Any], Step]:
        fresh = self._env.instant()
        at = Instant(kept.now, kept.date, kept.seed or fresh.seed, patience=fresh.patience)
        play = partial(apply, game, room, kept.command, at, id=kept.id, spared=kept.spared)
        try:
            return self._env.ask_game(game, room.id, play)
        except Refused as why:
            told = f"step {kept.seq} cannot be made under today's rules: {why.message}"
            raise Refused(Code.RULES_CHANGED, told) from None

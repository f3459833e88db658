"""Asks bots for moves when a room needs one, and sends their moves to the room."""

import asyncio
from functools import partial
from typing import Any, Protocol

import msgspec
import structlog

from parlour.errors import Code, Refused
from parlour.server.bots.pool import BotFailed
from parlour.server.bots.questions import anything
from parlour.server.bots.worker import Question
from parlour.server.clock import Clock
from parlour.server.rooms.calls import AskHint, MoveBot, RoomCall
from parlour.server.rooms.events import BotAsked, RoomEvent
from parlour.server.tasks import Tasks

log = structlog.get_logger()


class Thinker(Protocol):
    """Where bots think: processes, or a stand-in for tests."""

    async def ask(self, question: Question) -> msgspec.Raw | None:
        """The bot's event, or None for nothing; `BotFailed` if there is no answer."""
        ...

    async def stop(self) -> None:
        """Stop thinking."""
        ...


class AskedRooms(Protocol):
    """The rooms whose bots are asked."""

    async def call(self, room: str, call: RoomCall) -> Any:
        """Have a room carry something out in its turn."""
        ...

    def has(self, id: str, load: str) -> bool:
        """True if the room is awake, and has been since it was given this load."""
        ...


class Hint(msgspec.Struct, frozen=True):
    """What a bot would do in the player's place; None: nothing."""

    bot: str
    event: Any


class Bots:
    """Hears which bots have to move, and asks them."""

    def __init__(self, rooms: AskedRooms, clock: Clock, thinker: Thinker, pace: float) -> None:
        self._rooms = rooms
        self.call = rooms.call
        """Has a room carry out a call, wherever the room is."""
        self._clock = clock
        self._thinker = thinker
        self._pace = pace
        self._thoughts = Tasks()
        self._stopped = False

    @property
    def thinking(self) -> tuple[asyncio.Task[None], ...]:
        """The tasks of bots that think right now."""
        return tuple(self._thoughts)

    async def stop(self) -> None:
        """Stop all thinking."""
        self._stopped = True
        for thought in self.thinking:
            thought.cancel()
        if self._thoughts:
            await asyncio.wait(self.thinking)
        await self._thinker.stop()

    def hear(self, event: RoomEvent) -> None:
        """Start thinking when a room asks a bot."""
        if isinstance(event, BotAsked) and not self._stopped:
            self._thoughts.start(self._think(event))

    async def _think(self, asked: BotAsked) -> None:
        """Ask the bot, then move, but not before people have seen the step before, unless time is short."""
        seen = self._clock.now() + self._pace
        event = await self._answer(asked.question)
        held = seen - self._clock.now()
        if held > 0 and (asked.until is None or seen < asked.until):
            move = MoveBot(asked.player, asked.question, event, 0.0 if asked.until is None else held)
            self._clock.call_at(seen, partial(self._move_later, asked, move))
        else:
            await self._move(asked, MoveBot(asked.player, asked.question, event))

    def _move_later(self, asked: BotAsked, move: MoveBot) -> None:
        if not self._stopped:
            self._thoughts.start(self._move(asked, move))

    async def _move(self, asked: BotAsked, move: MoveBot) -> None:
        if not self._rooms.has(asked.room, asked.load):
            return  # it rests; when it wakes it asks again
        try:
            await self._rooms.call(asked.room, move)
        except Refused as why:  # the room is gone; a refused move is handled by the room itself
            log.info("bot_too_late", room=asked.room, player=move.player, why=why.code)

    async def _answer(self, question: Question) -> msgspec.Raw | None:
        try:
            return await self._thinker.ask(question)
        except BotFailed as error:
            log.error("bot_failed", game=question.game, bot=question.bot, error=str(error), trace=error.trace)
            return anything(question)

    async def hint(self, room: str, player: str, bot: str | None = None) -> Hint:
        """What a bot would do in this player's place, for those who play alone or against bots."""
        question = await self.call(room, AskHint(player, bot))
        try:
            event = await self._thinker.ask(question)
        except BotFailed as error:
            log.error("bot_failed", game=question.game, bot=question.bot, error=str(error), trace=error.trace)
            raise Refused(Code.GAME_ERROR, "the bot failed on this; there is no hint") from None
        return Hint(question.bot, event)

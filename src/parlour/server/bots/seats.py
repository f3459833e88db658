"""Bots at the seats: asked when they can do something, and what they do is done in the room's lane."""

import asyncio
import re
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from inspect import getfile
from typing import Any, Protocol, TypeVar

import msgspec
import structlog

from parlour.bots import bots_of
from parlour.bots.chance import choose_any
from parlour.errors import Code, Refused
from parlour.game import Chance, Game
from parlour.games import GAMES
from parlour.journal.base import Player
from parlour.room import Room, seal
from parlour.server.bots.pool import BotFailed
from parlour.server.bots.worker import Question
from parlour.server.rooms.registry import RoomRegistry
from parlour.server.rooms.summary import NOT_WRITTEN, Live, Owner
from parlour.server.tasks import Tasks
from parlour.wire import Act, Join

T = TypeVar("T")
log = structlog.get_logger()

PREFIX = "bot:"
"""How the ids of bots begin; no token is ever signed for such a one."""


class Thinker(Protocol):
    """Where bots think."""

    async def ask(self, question: Question) -> msgspec.Raw | None:
        """What the bot does, or None for nothing; `BotFailed` where it cannot say."""
        ...

    async def stop(self) -> None:
        """Think no more."""
        ...


class Hosting(Owner, Protocol):
    """What the owner of the rooms does for bots."""

    async def in_mailbox(self, room: str, job: Callable[[Live], Awaitable[T]]) -> T:
        """Do something in a room's turn, and wait for what comes of it."""
        ...


class Seated(msgspec.Struct, frozen=True):
    """A bot that took a seat, and the step in which it did."""

    player: Player
    seat: int
    seq: int


class Hint(msgspec.Struct, frozen=True):
    """What a bot would do in one's place; None: nothing."""

    bot: str
    event: Any


class Bots:
    """Seats bots, and lets them play."""

    def __init__(self, owner: Hosting, registry: RoomRegistry, thinker: Thinker, pace: float) -> None:
        self._owner = owner
        self._registry = registry
        self._thinker = thinker
        self._pace = pace
        self._busy: set[tuple[Live, str]] = set()
        """The bots who have not yet done what they were asked."""
        self._thoughts = Tasks()
        self._stopped = False

    @property
    def thinking(self) -> tuple[asyncio.Task[None], ...]:
        """What bots think about right now."""
        return tuple(self._thoughts)

    async def stop(self) -> None:
        """Nobody thinks any more."""
        self._stopped = True
        for thought in self.thinking:
            thought.cancel()
        if self._thoughts:
            await asyncio.wait(self.thinking)
        await self._thinker.stop()

    # Sitting down.

    async def seat(self, room: str, bot: str | None = None, by: str | None = None) -> Seated:
        """Give a bot a seat, the best one unless another is named; *by* somebody who may, or None for us."""
        return await self._owner.in_mailbox(room, lambda live: self._seat(live, bot, by))

    async def _seat(self, live: Live, bot: str | None, by: str | None) -> Seated:
        if by is not None and live.here.seat(by) is None and live.opening.creator != by:
            raise Refused(Code.NOT_SEATED, "only somebody who sits in the room or opened it can add a bot")
        player = newcomer(live.here.players, chosen(live.game, bot))
        thought = await self._owner.step(live, Join(player.id, player.name, bot=True))
        seat = live.here.seat_number(player.id)
        assert seat is not None  # noqa: S101 - it just sat down
        return Seated(player, seat, thought.step.seq)

    # Playing.

    def notice(self, live: Live) -> None:
        """Something happened in a room: bots who can do something now begin to think. Runs in its lane."""
        if live.room is None or self._stopped:
            return
        for player in live.room.bots:
            if (live, player) not in self._busy and (question := self._question(live, player)):
                self._begin(live, player, question)

    def _begin(self, live: Live, player: str, question: Question) -> None:
        self._busy.add((live, player))
        self._thoughts.start(self._think(live, player, question))

    async def _think(self, live: Live, player: str, question: Question) -> None:
        """Think; then do it in the room's lane, but not before people have seen what happened before."""
        clock = self._owner.clock
        seen = clock.now() + self._pace
        event = await self._ask(question)
        do = partial(live.mailbox.put, partial(self._do, live, player, question, event))
        if seen > clock.now():
            clock.call_at(seen, do)
        else:
            do()

    async def _ask(self, question: Question) -> msgspec.Raw | None:
        try:
            return await self._thinker.ask(question)
        except BotFailed as error:
            log.error("bot_failed", game=question.game, bot=question.bot, error=str(error))
            return anything(question)

    async def _do(self, live: Live, player: str, question: Question, event: msgspec.Raw | None) -> None:
        """Do what the bot said, if it is still what it was asked; runs in the lane."""
        self._busy.discard((live, player))
        if self._question(live, player) != question:
            self.notice(live)
        elif event is not None:
            try:
                await self._owner.step(live, Act(player, event))
            except Refused as why:
                await self._try_otherwise(live, player, question, why)

    async def _try_otherwise(self, live: Live, player: str, question: Question, why: Refused) -> None:
        if why.code == Code.GAME_OVERRAN:
            await self._owner.condemn(live, why)
            return
        log.warning("bot_refused", room=live.id, player=player, why=why.message)
        if why.code in NOT_WRITTEN:
            self._registry.try_again(live, why, partial(self._notice_again, live))
            return
        try:
            await self._owner.step(live, Act(player, anything(question)))
        except Refused as again:
            log.error("bot_stuck", room=live.id, player=player, why=again.message)

    async def _notice_again(self, live: Live) -> None:
        self.notice(live)

    def _question(self, live: Live, player: str) -> Question | None:
        """What this bot has to decide; None while it is not for it to do anything."""
        room = live.room
        if room is None or room.ended is not None or room.outcome is not None or room.seat(player) is None:
            return None
        try:
            return self._asked(live, player, player.split(":")[1])
        except Refused:  # a bug of the game's, which is in the log
            return None

    def _asked(self, live: Live, player: str, bot: str) -> Question | None:
        return self._owner.ask_game(
            live.game, live.id, partial(question_of, live.game, live.here, player, bot)
        )

    # Hints.

    async def hint(self, room: str, player: str, bot: str | None = None) -> Hint:
        """What a bot would do in this player's place, for those who play alone or against bots."""
        question = await self._owner.in_mailbox(room, lambda live: self._for_hint(live, player, bot))
        try:
            event = await self._thinker.ask(question)
        except BotFailed as error:
            log.error("bot_failed", game=question.game, bot=question.bot, error=str(error))
            raise Refused(Code.GAME_ERROR, "the bot failed on this; there is no hint") from None
        return Hint(question.bot, event)

    async def _for_hint(self, live: Live, player: str, bot: str | None) -> Question:
        room = live.here
        if room.seat(player) is None:
            raise Refused(Code.NOT_SEATED, "only somebody with a seat can ask for a hint")
        if any(seat is not None and seat.player != player and not seat.bot for seat in room.seats):
            raise Refused(Code.ILLEGAL_MOVE, "hints are for those who play alone or against bots")
        question = self._asked(live, player, chosen(live.game, bot))
        if question is None:
            raise Refused(Code.NOT_YOUR_TURN, "there is nothing for you to do now")
        return question


def chosen(game: Game[Any], bot: str | None) -> str:
    """The name of a bot of this game; its best where none is named."""
    bots = bots_of(game)
    if bot is None:
        return list(bots)[-1]
    if bot not in bots:
        expected = " or ".join(bots)
        raise Refused(Code.UNKNOWN_BOT, f"$.bot: expected {expected}, got {bot[:40]!r}", path="$.bot")
    return bot


def newcomer(there: Sequence[str | None], bot: str) -> Player:
    """A bot as a player who is not there yet."""
    id, number = f"{PREFIX}{bot}", 1
    while id in there:
        number += 1
        id = f"{PREFIX}{bot}:{number}"
    return Player(id, bot_name(id), bot=True)


def bot_name(id: str) -> str:
    """What a bot is called.

    >>> bot_name("bot:random"), bot_name("bot:fond_of_rock:2")
    ('Random bot', 'Fond of rock bot 2')
    """
    kind, _, number = id.removeprefix(PREFIX).partition(":")
    return f"{kind.replace('_', ' ').capitalize()} bot {number}".strip()


def is_bot(id: str, games: Iterable[Game[Any]]) -> bool:
    """Whether a bot of one of these games can have this id."""
    kind, _, number = id.removeprefix(PREFIX).partition(":")
    is_numbered = number == "" or (number.isdecimal() and str(int(number)) == number and int(number) > 1)
    return f"{PREFIX}{kind}:{number}".rstrip(":") == id and is_numbered and kind in _kinds(games)


def check_no_bot(name: str, games: Iterable[Game[Any]]) -> str:
    """A person's name, unless it looks like a bot's.

    >>> from parlour.games import GAMES
    >>> check_no_bot("Robot", GAMES.values())
    'Robot'
    >>> check_no_bot("random  Bot 2", GAMES.values())
    Traceback (most recent call last):
    ...
    parlour.errors.Refused: ('invalid_name', "expected a person's name, got a bot's: 'random  Bot 2'")
    """
    called = re.sub(r" \d+$", "", _seen(name))
    if called in {_seen(bot_name(PREFIX + kind)) for kind in _kinds(games)}:
        why = f"expected a person's name, got a bot's: {name!r}"
        raise Refused(Code.INVALID_NAME, why, path="$.name")
    return name


def _kinds(games: Iterable[Game[Any]]) -> set[str]:
    """The bots that can play here, whichever game it is."""
    return {bot for game in games for bot in bots_of(game)}


def _seen(name: str) -> str:
    """A name as the eye takes it: letters in other forms, capitals and spaces make no difference."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def question_of(game: Game[Any], room: Room[Any], player: str, bot: str) -> Question | None:
    """What a player sees and could do; None where that is nothing, or the game does not say."""
    legal = list(game.legal_events(room.state, player) or ())
    if not legal:
        return None
    own = type(GAMES.get(game.name)) is not type(game)
    file = getfile(type(game)) if own else None
    return Question(game.name, bot, seal(game.view(room.state, player)), seal(legal), file)


def anything(question: Question) -> msgspec.Raw:
    """Some legal event, for when the bot has nothing to say that helps."""
    seed = bytes(question.view) + bytes(question.legal)
    legal = msgspec.json.decode(question.legal, type=list[msgspec.Raw])
    return msgspec.Raw(choose_any(None, legal, Chance(seed, 0)))

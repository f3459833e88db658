"""A room in memory that owns itself: everything that happens to it comes through its mailbox, one by one.

Gateways ask by `post`, parts and HTTP calls by `call`; nobody else sets its fields.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Protocol

import structlog

from parlour.clocks import SetClock
from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.journal.base import Found, Stored, Trouble
from parlour.room import Room, read_terms
from parlour.sanitize import check_id, clean_text
from parlour.server import metrics
from parlour.server.border import (
    Accepted,
    Announced,
    Ask,
    AskRoom,
    ComeAgain,
    EnterRoom,
    LeaveRoom,
    LookRoom,
    Rejected,
    Resync,
    RoomClosed,
)
from parlour.server.bots.players import chosen
from parlour.server.bots.questions import question_of
from parlour.server.bots.worker import Question
from parlour.server.clock import Handle
from parlour.server.mailbox import HELD, Held
from parlour.server.refusals import NOT_WRITTEN, OUTCOME_NOT_KNOWN, excuse
from parlour.server.rooms.calls import SeatedPerson
from parlour.server.rooms.environment import Environment
from parlour.server.rooms.events import BotAsked, RoomEnded
from parlour.server.rooms.moving import MovableRoom
from parlour.server.rooms.roster import Place
from parlour.server.rooms.step_writes import Thought
from parlour.server.rooms.stepping import is_same
from parlour.server.rooms.stored_room import freeze, thaw
from parlour.server.rooms.summary import Opening, sitting_in
from parlour.server.rooms.waking import Waked, end_room, wake
from parlour.wire import Chat, Command, Hold, Push, Step, asker

log = structlog.get_logger()

TRY_AGAIN_AFTER = 1.0
"""Seconds until something is tried again that must happen and could not be kept."""
SOON = 2.0
"""Seconds before an alarm for which a room does not leave memory."""

Turn = Coroutine[Any, Any, None]


class Rooms(Protocol):
    """What a room asks of the registry that it is in."""

    stopping: bool

    def forget(self, room: "RoomActor") -> None:
        """The room is no longer in memory."""
        ...

    def note_unreadable(self, id: str, why: Refused | Trouble) -> None:
        """A room could not be loaded: its timers do not wake it again."""
        ...

    def note_readable(self, id: str) -> None:
        """A room can be loaded again."""
        ...

    def gap_since(self, id: str, last: float | None) -> float:
        """For how long nobody had owned a room when we took it over, if that was after its last step."""
        ...

    async def open_for(self, ask: EnterRoom) -> None:
        """Open the room that somebody at a door asks for, and let them in."""
        ...


class RoomActor(MovableRoom):
    """One room, from when it is loaded until it rests or ends."""

    __slots__ = ("_alarm", "_alarm_at", "_asked_bots", "_rest", "_rooms", "load")

    def __init__(self, id: str, load: str, environment: Environment, rooms: Rooms) -> None:
        super().__init__(id, load, environment)
        self.load = load
        """Different each time the room is loaded."""
        self._rooms = rooms
        self._lost: frozenset[int] = frozenset()
        self._alarm: Handle | None = None
        self._alarm_at = 0.0
        """The time for which `_alarm` is set, by the rooms' clock."""
        self._rest: Handle | None = None
        self._asked_bots: frozenset[str] = frozenset()
        """The bots who have not yet answered what they were asked."""
        self._gap: float | None = None
        self._moved = False

    def begin(self, gap: float | None = None) -> None:
        """Wake the room; whatever is put into its mailbox from now on waits for that.

        *gap* is how long nobody owned it, if it was taken over from another worker.
        """
        self._gap = gap
        self.mailbox.put(self._wake)

    # What others may know without asking.

    @property
    def is_here(self) -> bool:
        """True if the room is loaded."""
        return self._room is not None

    def plays(self, game: str) -> bool:
        """True if the room is loaded and of this game."""
        return self._room is not None and self._room.game == game

    @property
    def game(self) -> Game[Any]:
        return self._game

    @property
    def number(self) -> int:
        return self._number

    @property
    def opening(self) -> Opening:
        return self._opening

    @property
    def found(self) -> Found | None:
        """The room as the journal knows it, if it is loaded."""
        if self._room is None or self._summary is None:
            return None
        return Found(self._number, self._room.seq, self._summary)

    @property
    def is_stored(self) -> bool:
        """True if its state has not changed since it was stored."""
        return self._room is None or self._room.seq == self._stored

    @property
    def is_attended(self) -> bool:
        """True if somebody with a seat, or whoever opened the room, is connected; bots do not count."""
        if self._room is None:
            return False
        bots, creator = self._room.bots, self._opening.creator
        if any(player not in bots for player in self._room.connected):
            return True
        return creator is not None and self._roster.has(creator)

    def people(self) -> tuple[SeatedPerson, ...]:
        """The people who sit here and are connected; nobody if the room is not loaded."""
        seats = () if self._room is None else self._room.seats
        here = [seat for seat in seats if seat is not None and seat.connected and not seat.bot]
        return tuple(SeatedPerson(seat.player, seat.name) for seat in here)

    @property
    def spectators(self) -> int:
        """How many people watch."""
        return len(self._roster.spectators)

    # What gateways ask.

    def post(self, ask: Ask) -> None:
        """Accept a request of a gateway; it is answered when the room gets to it."""
        match ask:
            case AskRoom():
                self._introduce_again(ask)
                self.mailbox.put(partial(self._ask, ask))
            case EnterRoom():
                self.mailbox.put(partial(self._enter, ask))
            case LeaveRoom():
                if ask.lost:
                    self._lost |= {ask.client}
                self.mailbox.put(partial(self._leave, ask))
            case LookRoom():
                self.mailbox.put(partial(self._look, ask))
            case Resync():
                self.mailbox.put(partial(self._resync, ask))

    def _look(self, ask: LookRoom) -> None:
        if self._has_moved(ask.number):
            return
        try:
            if self._roster.places.get(ask.client) is None:
                raise self._not_joined()
            self._check_lease()
        except Refused as why:
            self._env.tell(Rejected.by(ask.number, why))
        else:
            self._env.tell(Accepted(ask.number, self.here.seq))

    def _not_joined(self) -> Refused:
        return Refused(Code.NOT_JOINED, f"join room {self.id} first")

    def _ask(self, ask: AskRoom) -> Turn | Held | None:
        """Do a command that somebody with a place asks for, unless it was done before."""
        if self._has_moved(ask.number):
            return None
        try:
            place = self._roster.places.get(ask.client)
            if place is None:
                raise self._not_joined()
            command, id = ask.command, ask.id
            if type(command) is Chat:  # under the name that its sender has here
                command = Chat(place.player, place.name, clean_text(command.text), place.account)
            if id is not None:
                check_id(id)
                before = self._answers.get((place.player, id))
                if before is not None:
                    return self._answer_again(ask.number, command, before)
            if ask.seq is not None or ask.looked_at is not None:
                self._check_fresh(place, ask)
            thought = self._think(command, id)
        except Refused as why:
            return self._reject(ask.number, why)
        self._write((thought,), (), partial(self._answer, ask.number, thought))
        return HELD

    def _answer(self, number: int, thought: Thought, trouble: Trouble | None) -> None:
        """The write is done, or has failed: say so, and go on with what waits."""
        if trouble is not None:
            self.mailbox.release(lambda: self._answer_trouble(number, thought, trouble))
            return
        warning = None if thought.failure is None else thought.failure.told()
        self._env.tell(Accepted(number, thought.step.seq, warning))
        self.mailbox.release()

    async def _answer_trouble(self, number: int, thought: Thought, trouble: Trouble) -> None:
        self._env.tell(Rejected.by(number, await self._recover(thought, trouble)))

    async def _answer_again(self, number: int, command: Command, seq: int) -> None:
        try:
            self._env.tell(Accepted(number, await self._same_step(command, seq)))
        except Refused as why:
            self._env.tell(Rejected.by(number, why))

    async def _same_step(self, command: Command, seq: int) -> int:
        """The seq of a step that did this command before; refused if it did another one."""
        try:
            async for step in self._env.journal.replay(self._number, after=seq - 1):
                if not is_same(step.command, command):
                    raise Refused(Code.ID_REUSED, f"another command was accepted under this id as step {seq}")
                break
        except Trouble:  # it cannot be read, but something was kept: this must not be refused as not saved
            raise Refused(Code.OUTCOME_UNKNOWN, OUTCOME_NOT_KNOWN) from None
        return seq

    def _reject(self, number: int, why: Refused) -> Turn | None:
        self._env.tell(Rejected.by(number, why))
        return self._fail(why) if why.code == Code.GAME_OVERRAN else None

    def _check_fresh(self, place: Place, ask: AskRoom) -> None:
        """Refuse a command for a position that is not there any more, and show the one that is."""
        seen = ask.seq if ask.seq is not None else ask.looked_at
        assert seen is not None  # noqa: S101 - the caller looked
        if self._changed_at.get(place.perspective, 0) <= seen <= self.here.seq:
            return
        if ask.looked_at is None:
            self._show(place)
            metrics.refusals.labels(self._game.name, Code.STALE).inc()
        why = f"what you saw at step {seen} has changed; this is step {self.here.seq}"
        raise Refused(Code.STALE, why, path="$.seq")

    # What parts and HTTP calls ask.

    async def in_turn(self, job: Callable[["RoomActor"], Awaitable[Any]]) -> Any:
        """Do something in the room's turn, and wait for what comes of it."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        async def do() -> None:
            try:
                _ = self.here  # or a refusal: there is no such room
                result = await job(self)
            except (Refused, Trouble) as error:
                why = excuse(error)
                if not answer.done():  # the asker may have gone
                    answer.set_exception(why)
                await self._fail(why)
            else:
                if not answer.done():
                    answer.set_result(result)
            finally:
                answer.cancel()

        self.mailbox.put(do)
        return await answer

    async def perform(self, command: Command, id: str | None) -> int:
        """Do a command for somebody without a connection; gives the seq. Runs in the room's turn."""
        id = check_id(id)
        before = None if id is None else self._answers.get((asker(command) or "", id))
        if before is not None:
            return await self._same_step(command, before)
        return (await self.step(command, id=id)).step.seq

    def check_game(self, think: Callable[[], Any]) -> Any:
        """Run the game's code; whatever it raises comes out as a refusal."""
        return self._ask_game(think)

    def waits_for_company(self, ticket: str | None = None) -> bool:
        """True if somebody waits in here for company, by this ticket or any, and has not found it yet."""
        vacancy = self._env.reservations.vacancies.get(self.id)
        if vacancy is None or ticket not in (None, vacancy.ticket.id):
            return False
        return len(sitting_in(self.here)) < vacancy.ticket.seats

    async def steps(self) -> list[Step]:
        """All steps of the room."""
        return [step async for step in self._env.journal.replay(self._number)]

    async def use_rules(self, game: Game[Any]) -> None:
        """Store the room as it is, and go on from there under new rules."""
        if self._room is None or self._game is game or self._room.game != game.name:
            return
        try:
            frozen = await self._store()
            room = self._env.ask_game(game, self.id, partial(thaw, game, frozen))
        except Trouble as error:
            self._retry(Refused(Code.NOT_SAVED, str(error)), partial(self.use_rules, game))
            return
        except Refused as why:
            log.warning("rules_changed", room=self.id, error=why.message)
            await self._end_broken(
                Refused(Code.RULES_CHANGED, "the rules have changed since; the room is closed")
            )
            return
        self._game, self._room = game, room
        self.see_anew()

    def see_anew(self) -> None:
        """Show everybody everything as the rules show it now; where they fail at that, what they had."""
        for perspective in self._roster.perspectives:
            self._seen[perspective] = self._see(perspective)
        self.show_anew()

    def show_anew(self) -> None:
        """Show everybody everything once more."""
        for place in self._roster:
            self._show(place, reset=True)

    # Bots.

    def ask_bots(self) -> None:
        """Ask the bots who can do something now and are not thinking already."""
        if self._room is None:
            return
        for player in (*self._room.bots, *self._room.stood_in_for):
            if player not in self._asked_bots and (question := self.question(player)) is not None:
                self._asked_bots |= {player}
                until = self._room.out_of_time(player)
                self._env.publish(BotAsked(self.id, self.load, player, question, until))

    def bot_answered(self, player: str) -> None:
        """A bot has answered, and can be asked again."""
        self._asked_bots -= {player}

    def question(self, player: str) -> Question | None:
        """What this bot has to decide, or a bot for a player whose time is over; None while it is nothing."""
        room = self._room
        if room is None or room.ended is not None or room.outcome is not None:
            return None
        is_bot = player in room.bots
        if not is_bot and player not in room.stood_in_for:
            return None
        bot = player.split(":")[1] if is_bot else chosen(self._game, None)
        try:
            question: Question | None = self._ask_game(
                partial(question_of, self._game, room, player, bot, answers=is_bot)
            )
        except Refused:  # a bug of the game's, which is in the log
            return None
        return question

    def ask_bots_later(self, why: Refused) -> None:
        """Ask the bots again in a while, because what one did could not be kept."""

        async def ask() -> None:
            self.ask_bots()

        self._retry(why, ask)

    # Alarms.

    def _stepped(self, room: Room[Any]) -> None:
        if room.ended is not None:
            self._close(Refused(Code.ROOM_ENDED, f"room {self.id} is over ({room.ended})"), ended=True)
            return
        self._set_alarm()
        if room.bots or room.stood_in_for:
            self.ask_bots()

    def _set_alarm(self) -> None:
        """Ring when the room wants to be woken; an alarm that rings too early just sets the next one."""
        due = None if self._room is None or self._rooms.stopping else self._room.next_due
        if self._alarm is not None:
            if due is not None and self._alarm_at <= due:
                return
            self._alarm.cancel()
            self._alarm = None
        if due is not None:
            self._alarm_at = due
            self._alarm = self._env.clock.call_at(due, lambda: self.mailbox.put(self._ring))

    async def _ring(self) -> None:
        """One command at a time: those who wait come before the next one that is due."""
        self._alarm = None
        command = None if self._room is None else self._room.due(self._env.clock.now())
        try:
            if command is not None:
                await self.step(command)
        except Refused as why:
            self._retry(why, self._ring)
        else:
            self._set_alarm()

    def _retry(self, why: Refused, job: Callable[[], Awaitable[None]]) -> None:
        if self._room is None or self._rooms.stopping:
            return
        if why.code == Code.GAME_OVERRAN:
            self.mailbox.put(lambda: self._fail(why))
            return
        log.error("will_try_again", room=self.id, error=why.message)
        clock = self._env.clock
        clock.call_at(clock.now() + TRY_AGAIN_AFTER, lambda: self.mailbox.put(job))  # type: ignore[arg-type]

    # Waking, resting, ending.

    async def _wake(self) -> None:
        """Read the room from the journal, and see who is not here any more."""
        if not self._env.ownership.owns(self.id):  # it was handed over before it was woken
            self._move_away()
            return
        try:
            waked = await wake(self._env, self.id)
        except (Refused, Trouble) as error:
            self._rooms.note_unreadable(self.id, error)
            self._close(excuse(error))
            return
        self._take(waked)
        self._rooms.note_readable(self.id)
        await self._go_on()
        await self._set_clock()
        if self._gap is None:
            await self._hold(self._rooms.gap_since(self.id, waked.last))
            await self._settle()
        else:
            await self._take_over(self._gap)
        self._set_alarm()
        self._rest_later()
        self.ask_bots()

    def _take(self, waked: Waked) -> None:
        self._game, self._room = waked.game, waked.room
        self._number, self._summary = waked.found.number, waked.found.summary
        self._opening = Opening.of(waked.found.summary)
        self._answers, self._stored = waked.answers, waked.stored

    async def _go_on(self) -> None:
        """If the room's clock was held because its game was missing, let it go on."""
        if self._summary is None or self._summary.held is None:
            return
        try:
            await self.step(Hold(self._env.clock.now() - self._summary.held))
        except Refused as why:
            self._retry(why, self._go_on)

    async def _set_clock(self) -> None:
        """If the game had a timer of its own when the room was opened, give the players clocks instead."""
        room, game = self._room, self._game
        if room is None or room.ended is not None or room.clocks is not None:
            return
        try:
            _, clock = self._env.ask_game(game, self.id, partial(read_terms, game, room.config, None))
            if clock is not None:
                await self.step(SetClock(clock))
        except Refused as why:
            if why.code in (*NOT_WRITTEN, Code.GAME_OVERRAN):
                self._retry(why, self._set_clock)
            else:  # today's rules cannot read the settings of then: they have no clock in them either
                log.warning("clock_not_set", room=self.id, error=why.message)

    async def _recover(self, thought: Thought, trouble: Trouble) -> Refused:
        """Reload the room from the journal, which is right; returns the refusal for whoever asked."""
        log.error("step_lost", room=self.id, seq=thought.step.seq, exc_info=trouble.__cause__)
        self._env.note_trouble(trouble)
        seq = self.here.seq
        try:
            self._take(await wake(self._env, self.id))
        except (Refused, Trouble) as error:
            log.error("room_lost", room=self.id, error=str(error))
        else:
            if self.here.seq == seq:
                return excuse(trouble)
            # The step is there after all, or another owner's.
        self._close(Refused(Code.NOT_SAVED, "the room is being loaded again; try again"))
        self._env.tell_all(ComeAgain(self.id), self._roster)
        self._roster.clear()
        return Refused(Code.OUTCOME_UNKNOWN, OUTCOME_NOT_KNOWN)

    def _rest_later(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
        clock = self._env.clock
        self._rest = clock.call_at(
            clock.now() + self._env.settings.rest_after, lambda: self.mailbox.put(self._try_to_rest)
        )

    async def _try_to_rest(self) -> None:
        """Leave memory, unless somebody is here, waits, an alarm rings soon, or a bot thinks on its clock."""
        if self._room is None or self._roster.places or self._rooms.stopping:
            return
        due = self._room.next_due
        soon = due is not None and due <= self._env.clock.now() + SOON
        charged = bool(self._asked_bots) and self._room.clocks is not None
        if not soon and not charged and not self.mailbox.waiting:
            await self.store()
            if not self.mailbox.waiting:
                why = Refused(Code.NOT_SAVED, "the room has just gone to rest; try again")
                self._close(why)
                return
        self._rest_later()

    async def store(self) -> None:
        """Store the room's state; if that fails nothing is lost, because the steps are there."""
        if self._room is None or self._room.ended is not None:
            return
        try:
            await self._store()
        except (Refused, Trouble) as error:
            log.error("not_kept", room=self.id, what="state", error=str(error))

    async def _store(self) -> bytes:
        room = self.here
        frozen: bytes = self._ask_game(partial(freeze, room))
        stored = Stored(room.seq, frozen)
        await self._env.journal.update_room(self._number, stored=stored, due=room.next_due)
        self._stored, self._due = room.seq, room.next_due
        return frozen

    async def _open_first(self, ask: EnterRoom) -> None:
        await self._rooms.open_for(ask)

    async def _fail(self, why: Refused) -> None:
        if why.code == Code.GAME_OVERRAN:
            await self._end_broken(why)

    async def _end_broken(self, why: Refused) -> None:
        """End a room whose game cannot be trusted to go on; its history is kept for inspection."""
        number, summary = self._number, self._summary
        if self._room is None or summary is None:
            return
        if self._roster.places:
            self._env.tell_all(Announced(self.id, Push("shutdown", {"reason": why.code})), self._roster)
        self._shut(why)
        try:
            await end_room(self._env, number, summary, why.code)
        except Trouble as error:
            self._env.note_trouble(error)
        self._leave_memory(ended=True)  # only now: else somebody who comes would wake it as it was

    def _close(self, why: Refused, *, ended: bool = False) -> None:
        """Drop the room from memory and refuse all requests; if it *ended*, send away everybody in it."""
        self._shut(why, closes=ended)
        self._leave_memory(ended=ended)

    def _shut(self, why: Refused, *, closes: bool = True) -> None:
        """Take no step any more: whoever asks from now on is refused."""
        if closes and self._roster.places:
            self._env.tell_all(RoomClosed(self.id), self._roster)
            self._roster.clear()
        self._room, self._refusal = None, why
        self.stop_timers()

    def _leave_memory(self, *, ended: bool) -> None:
        self._rooms.forget(self)
        if ended:
            self._env.publish(RoomEnded(self.id))

    def stop_timers(self) -> None:
        """Nothing rings any more."""
        for handle in (self._alarm, self._rest, self._recount):
            if handle is not None:
                handle.cancel()
        self._alarm = self._rest = self._recount = None

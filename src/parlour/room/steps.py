"""What each command makes of a room: the room after it, and the step to keep.

`open_room` makes a room, `apply` thinks one command through, `replay` does it again from what was kept.
There is no clock and no I/O here: the time and fresh chance of a step are handed in as an `Instant`.
"""

from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from parlour.clocks import Claim, Clocks, ClockSettings, Flag, SetClock
from parlour.errors import Code, Refused
from parlour.game import AWAY_TOO_LONG, GAME, Chance, Game, Joined, Moment, Outcome, Send, Update
from parlour.luck import AddedLuck, AddLuck, mixed
from parlour.offers import Answer, Offer, Resign, after_move, resigned
from parlour.room.timing import TimedTurn, flagged, has_turns, lists_moves
from parlour.room.topics import ALL, talk_topic, topics_of
from parlour.room.turn import not_seated
from parlour.room.values import DEFAULT_PATIENCE, TIMING, Alarm, Asked, Instant, Patience, Room, Seat
from parlour.wire import (
    Act,
    Chat,
    Command,
    Connect,
    Disconnect,
    Hold,
    Join,
    Leave,
    Rematch,
    Rename,
    RevealedSeed,
    Ring,
    Shutdown,
    Step,
)

S = TypeVar("S")


def open_room(
    game: Game[S],
    id: str,
    config: Any,
    at: Instant,
    *,
    apart: bool = False,
    clock: ClockSettings | None = None,
) -> Room[S]:
    """A new room; a config that makes no sense is refused here and hurts nobody."""
    checked, clock = read_terms(game, config, clock)
    places = places_of(game, checked)
    seats = (None,) * (places.stop - 1)
    chance = Chance(at.seed, 0)
    state = game.init(checked, Moment(at.now, at.date, chance, seats, clock=clock))
    alarms = {}
    waits = [
        seconds for seconds in (game.timeouts.game, at.patience.empty) if isinstance(seconds, float | int)
    ]
    if waits:
        alarms["idle"] = Alarm(at.now + min(waits), Shutdown("game_timeout"))
    config = msgspec.to_builtins(checked)
    return Room(
        id,
        game.name,
        config,
        state,
        seats,
        places.start,
        at.seed,
        alarms=alarms,
        apart=apart,
        fresh=not chance.draws,
        clocks=None if clock is None else Clocks.wound_up(clock, len(seats)),
        timing=1 if clock is None else TIMING,
    )


def read_terms(game: Game[Any], config: Any, clock: ClockSettings | None) -> tuple[Any, ClockSettings | None]:
    """The config and the clock of a room, checked; a setting of the game for time counts without a clock."""
    checked, own = game.take_clock(game.read_config({} if config is None else config))
    clock = own if clock is None else clock
    if clock is not None and clock.kind != "none" and not has_turns(game):
        why = f"{game.display_name} does not say whose turn it is, so its players have no clocks"
        raise Refused(Code.INVALID_CONFIG, why, path="$.clock")
    if clock is not None and clock.has_bots and not lists_moves(game):
        why = f"{game.display_name} does not list what can be done, so no bot moves for anybody"
        raise Refused(Code.INVALID_CONFIG, why, path="$.clock")
    return checked, clock


def places_of(game: Game[Any], config: Any) -> range:
    """How many can play in a room with this config; never others than the game declares."""
    places = game.seats_for(config)
    if not places or places.step != 1 or not (places[0] in game.seats and places[-1] in game.seats):
        raise ValueError(f"{game.name}: expected seats_for to give a part of {game.seats}, got {places}")
    return places


def ask_to_join(
    game: Game[S], room: Room[S], player: str, at: Instant, *, spectate: bool, luck: str | None = None
) -> Asked[S]:
    """What the game answers to somebody without a seat: a seat, or topics to watch by; or it refuses."""
    added = room.added if spectate else room.added_with(player, luck)
    chance = Chance(mixed(room.seed, added), room.seq + 1)
    clock = None if room.clocks is None else room.clocks.settings
    moment = Moment(room.clock(at.now), at.date, chance, room.players, at.rules, at.kept, clock)
    return Asked(at, _welcome(game, room.state, player, moment, spectate=spectate), chance)


def _welcome(game: Game[S], state: S, player: str, moment: Moment, *, spectate: bool) -> Joined[S]:
    joined = game.join_game(state, player, spectate, moment)
    if joined.seat is None:
        if joined.update != Update(state):
            raise TypeError(f"{game.name}: joining without a seat must change nothing")
    elif not 0 <= joined.seat < len(moment.seats) or moment.seats[joined.seat] is not None:
        raise TypeError(f"{game.name}: gave seat {joined.seat}, which is not free")
    return joined


def apply(  # noqa: PLR0913 - each is one thing that is known of a command
    game: Game[S],
    room: Room[S],
    command: Command,
    at: Instant,
    *,
    id: str | None = None,
    spared: bool = False,
    asked: Asked[S] | None = None,
) -> tuple[Room[S], Step]:
    """Think *command* through: the room after it, and the step to keep. An exception changes nothing.

    With *spared* the game is not asked: for what must happen although its callback failed on it.
    *asked* is the game's answer to a `Join`, if it was asked before, at the same instant.
    """
    if room.ended is not None:
        raise Refused(Code.ROOM_ENDED, f"the room is over ({room.ended})")
    turn = _Turn(game, room, at, spared=spared, asked=asked)
    turn.do(command)
    return turn.finish(command, id)


def perform_without_game(
    game: Game[S], room: Room[S], command: Command, at: Instant, why: Refused, id: str | None = None
) -> tuple[Room[S], Step]:
    """The room's own part of what must happen although the game refused it or failed on it (*why*).

    Whatever need not happen stays refused; so does all that a game overran on: it is not to go on.
    """
    if why.code == Code.GAME_OVERRAN or not room.must(command):
        raise why
    return apply(game, room, command, at, id=id, spared=True)


def replay(game: Game[S], room: Room[S], kept: Step, patience: Patience = DEFAULT_PATIENCE) -> Room[S]:
    """The room after a kept step; refused when today's rules make another step of it."""
    at = _instant_of(kept, patience)
    room, step = apply(game, room, kept.command, at, id=kept.id, spared=kept.spared)
    if step.body != kept.body:
        why = f"step {kept.seq} plays differently under version {game.version} of {game.name}"
        raise Refused(Code.RULES_CHANGED, why)
    return room


def draw_sizes(
    game: Game[S], room: Room[S], kept: Step, patience: Patience = DEFAULT_PATIENCE
) -> tuple[int, ...]:
    """From how many possibilities each draw of a kept step was made; *room* is the one before it."""
    turn = _Turn(game, room, _instant_of(kept, patience), spared=kept.spared, asked=None)
    turn.do(kept.command)
    return tuple(turn.chance.sizes)


def _instant_of(kept: Step, patience: Patience) -> Instant:
    """The moment at which a kept step was made."""
    return Instant(kept.now, kept.date, kept.seed or b"", kept.rules, kept.effects, patience)


def _shown(room: Room[Any]) -> RevealedSeed:
    """The seed that the step after this room makes public."""
    return RevealedSeed(room.shown[-1].last + 1 if room.shown else 0, room.seq + 1, room.seed, room.added)


class _Turn(TimedTurn[S]):
    """One command on its way through the room: what each command does."""

    __slots__ = ()

    def do(self, command: Command) -> None:  # noqa: C901, PLR0912 - a table of all commands
        match command:
            case Act():
                self.act(command)
            case Chat():
                self.chat(command)
            case Join():
                self.join(command)
            case Connect():
                self.connect(command.player)
            case Disconnect():
                self.disconnect(command.player)
            case Rename():
                self.rename(command)
            case Leave():
                self.leave(command)
            case Rematch():
                self.rematch(command.player)
            case Offer() | Answer() | Resign():
                self.negotiate(command)
            case AddLuck():
                self.add_luck(command)
            case Ring():
                self.ring(command)
            case Flag() | Claim() | SetClock():
                self.time(command)
            case Hold():
                self.behind += command.seconds
            case Shutdown():
                self.shutdown(command.reason)

    def finish(self, command: Command, id: str | None) -> tuple[Room[S], Step]:
        room = self.room
        outcome = self.outcome()
        self.clear_offers(outcome)
        shows = outcome is not None and room.outcome is None
        anew = outcome is None and room.outcome is not None
        if anew:
            self.seats = [seat and replace(seat, again=False) for seat in self.seats]
        if self.ended is None:
            self.run_clocks(command, outcome)
            if self.game.timeouts.game == "server":
                self.last(playing=outcome is None)
            self.wait_by_clocks()
        at, seats = self.at, tuple(self.seats)
        played = not anew and (room.played or isinstance(command, Act))
        step = Step(
            seq=room.seq + 1,
            now=at.now,
            date=at.date,
            rules=self.game.version if at.rules is None else at.rules,
            command=command,
            before=room.head,
            id=id,
            draws=tuple(self.chance.draws),
            effects=tuple(self.effects),
            seed=at.seed if shows else None,
            spared=self.spared,
        )
        after = Room(
            id=room.id,
            game=room.game,
            config=room.config,
            state=self.state,
            seats=room.seats if room.seats == seats else seats,
            least=room.least,
            seed=self.at.seed if shows else room.seed,
            seq=step.seq,
            head=step.digest,
            alarms=self.alarms,
            outcome=outcome,
            shown=(_shown(room),) if shows else room.shown,
            behind=self.behind,
            postponed=self.postponed,
            ended=self.ended,
            apart=room.apart,
            offers=self.offers,
            verdict=self.verdict,
            past=self.past,
            fresh=shows or (room.fresh and not self.chance.draws),
            added=() if shows else self.added,
            awaited=self.awaited,
            clocks=self.clocks,
            called=self.call_absent(outcome),
            timing=room.timing,
            played=played,
            begun=played and (room.begun or all(seat is not None and seat.connected for seat in seats)),
        )
        return after, step

    def outcome(self) -> Outcome | None:
        """How the game ended; it stays as it was when people get up and others sit down afterwards."""
        before = self.room.outcome
        if self.verdict is not None and self.room.verdict is None:
            return self.verdict.outcome
        if self.state is self.room.state:
            return before
        outcome = self.game.outcome(self.state)
        if self.verdict is not None:
            if outcome is not None or self.game.outcome(self.room.state) is None:
                return before
            self.verdict = None  # the game had ended, too, and has begun anew by itself
        if outcome is None or before is not None:
            return outcome and before
        return msgspec.convert(msgspec.to_builtins(outcome), Outcome)  # a wrong one must not reach the card

    # What each command does.

    def join(self, command: Join) -> None:
        if self.room.seat(command.player) is not None:
            raise Refused(Code.ILLEGAL_MOVE, "you have a seat already")
        self.room.check_kept(command.player)
        self.added = self.room.added_with(command.player, command.luck)
        if self.asked is not None:
            joined = self.asked.joined
        else:
            self.chance = Chance(mixed(self.room.seed, self.added), self.room.seq + 1)
            joined = _welcome(self.game, self.state, command.player, self.moment(), spectate=False)
        self.take_seat(command, joined)
        if self.room.awaited:
            self.awaited = tuple(one for one in self.awaited if one.player != command.player)
            self.seat_awaited_bots()

    def take_seat(self, command: Join, joined: Joined[S]) -> None:
        if joined.seat is None:
            raise TypeError(f"{self.game.name}: a join without a seat is no step")
        topics = topics_of(command.player, joined, apart=self.room.apart)
        marks = {"bot": command.bot, "remote": command.remote, "account": command.account}
        self.sit(joined, Seat(command.player, command.name, topics, **marks))
        if command.bot:  # it is here at once, and keeps no room alive
            self.come(joined.seat, command.player)
            return
        self.await_return(command.player)
        self.refresh()

    def seat_awaited_bots(self) -> None:
        """Bots sit down with the last person: before, a game could draw without what that person adds."""
        if all(one.bot for one in self.awaited):
            for one in self.awaited:
                self.take_seat(
                    one, _welcome(self.game, self.state, one.player, self.moment(), spectate=False)
                )
            self.awaited = ()

    def connect(self, player: str) -> None:
        self.come(self.number(player), player)
        self.alarms.pop(f"away:{player}", None)
        self.alarms.pop("nobody", None)

    def come(self, number: int, player: str) -> None:
        self.update(self.game.player_connected(self.state, player, self.moment()))
        self.seats[number] = replace(self.taken(number), connected=True)

    def disconnect(self, player: str) -> None:
        number = self.number(player)
        self.seats[number] = replace(self.taken(number), connected=False)
        self.await_return(player)
        self.notice_empty()
        if not self.spared:
            self.update(self.game.player_disconnected(self.state, player, self.moment()))

    def act(self, command: Act) -> None:
        seat = self.room.seat(command.player)
        if seat is None:
            raise not_seated()
        if not seat.connected and not command.stand_in:
            raise Refused(Code.NOT_JOINED, "only somebody who is connected can play")
        self.check_playable()
        self.check_time(command)
        event = self.game.read_event(command.event)
        self.remember(command.player)
        self.update(self.game.handle_event(self.state, command.player, event, self.moment()))
        self.offers = after_move(self.offers, command.player)
        if not seat.bot and not command.stand_in:
            self.refresh()

    def chat(self, command: Chat) -> None:
        said = {"from": command.player, "name": command.name, "text": command.text, "at": self.at.date}
        if command.account:
            said["account"] = True
        topic = talk_topic(seated=self.room.seat(command.player) is not None, apart=self.room.apart)
        self.effects.append(Send(topic, said, "chat"))

    def rename(self, command: Rename) -> None:
        number = self.number(command.player)
        self.seats[number] = replace(self.taken(number), name=command.name, account=command.account)

    def leave(self, command: Leave) -> None:
        number, update = self.number(command.player), None
        if not self.spared:
            update = self.game.leave_game(self.state, command.player, command.why, self.moment())
        keeps_seat = update is not None and update.keeps_seat
        if command.loses is True and not keeps_seat:
            self.lose_by_leaving(command)
        else:
            if update is not None:
                self.update(update)
            if not keeps_seat:
                self.seats[number] = None
        self.alarms.pop(f"away:{command.player}", None)
        self.notice_empty()

    def lose_by_leaving(self, command: Leave) -> None:
        """Whoever leaves has lost, and keeps the seat, so that the result is theirs."""
        who, others = command.player, self.playing()
        gone = command.why == "away_too_long"
        self.decide(flagged(who, others, AWAY_TOO_LONG) if gone else resigned(who, others))

    def rematch(self, player: str) -> None:
        if self.room.outcome is None:
            raise Refused(Code.NOT_OVER, "a rematch can be asked for when the game is over")
        number = self.number(player)
        self.seats[number] = replace(self.taken(number), again=True)
        present = [seat for seat in self.seats if seat is not None]
        if len(present) >= self.room.least and all(seat.again or seat.bot for seat in present):
            self.begin_again(present)

    def begin_again(self, present: list[Seat]) -> None:
        """A fresh game for the same people, everybody one seat on."""
        self.stop_timers()
        self.alarms.pop("end", None)
        self.postponed = self.verdict = None
        self.seats = [None] * len(self.seats)
        self.state = self.game.init(self.game.read_config(self.room.config), self.moment())
        for seat in (*present[1:], present[0]):
            joined = _welcome(self.game, self.state, seat.player, self.moment(), spectate=False)
            if joined.seat is None:
                raise TypeError(f"{self.game.name}: a rematch must seat everybody again")
            topics = topics_of(seat.player, joined, apart=self.room.apart)
            self.sit(joined, replace(seat, topics=topics, again=False))
        self.send(Send(ALL, kind="sync"))
        self.refresh()

    def add_luck(self, command: AddLuck) -> None:
        """Take random bytes of a player into the seed, once for each seat and before the first draw."""
        self.number(command.player)
        if not self.room.fresh:
            raise Refused(
                Code.TOO_LATE, "random bytes are added before the first draw, and luck was drawn already"
            )
        if any(one.player == command.player for one in self.added):
            raise Refused(Code.ILLEGAL_MOVE, "you have added your random bytes already")
        self.added = (*self.added, AddedLuck(command.player, command.luck))

    def ring(self, command: Ring) -> None:
        key = f"later:{command.key}"
        alarm = self.alarms.pop(key, None)
        if alarm is None:
            raise Refused(Code.ILLEGAL_MOVE, f"there is no timer {command.key!r} that could ring")
        if command.every is not None:
            # Ticks keep their rhythm, but those that were slept through are not made up for.
            late = self.now >= alarm.due + command.every
            due = (self.now if late else alarm.due) + command.every
            self.alarms[key] = Alarm(due, command)
        if not self.spared:
            event = self.game.read_timer(command.event)
            self.update(self.game.handle_event(self.state, GAME, event, self.moment()))

    def shutdown(self, reason: str) -> None:
        if not self.spared:
            self.update(self.game.handle_game_shutdown(self.state, self.moment()))
        self.send(Send(ALL, {"reason": reason}, "shutdown"))
        self.alarms.clear()
        self.ended = reason

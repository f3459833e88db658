"""The game that a room runs: who may do what, what everybody is told, and what they see."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from parlour.clocks import Absence, ClockSettings
from parlour.errors import Code, Refused
from parlour.game import AWAY_TOO_LONG, GAME, Event, Game, Joined, Moment, Outcome, Send, Timeouts, Update
from parlour.games.backgammon.match import (
    ROOM_CLOCKS,
    Grade,
    Match,
    MatchConfig,
    accept,
    decline,
    drawn_match,
    end_turn,
    export,
    move,
    new_match,
    offer,
    out_of_time,
    resign_game,
    resign_match,
    roll,
    route_of,
    say_ready,
    swap_dice,
    undo,
)
from parlour.games.backgammon.moves import Way, die_for, without
from parlour.games.backgammon.news import settled, tell
from parlour.games.backgammon.notation import listed
from parlour.games.backgammon.observation import observed
from parlour.games.backgammon.old_timers import (
    AwayTooLong,
    HalfTime,
    OldTimer,
    TimeUp,
    is_of_then,
    timers_of_then,
)
from parlour.games.backgammon.picture import HIDE_PIPS, PICK_UP, draw
from parlour.games.backgammon.resigning import (
    Price,
    accept_resignation,
    prices,
    refuse_resignation,
    resign_for,
)
from parlour.games.backgammon.settings import SET_UP
from parlour.games.backgammon.variants import BAR
from parlour.scene import Choice, Control, Scene


class Ready(Event, frozen=True):
    """The next game may begin."""


class Roll(Event, frozen=True):
    """Roll both dice."""


class Move(Event, frozen=True):
    """Move a checker, by one die or several; points count from your own side, 25 is the bar, 0 is off."""

    start: Annotated[int, Meta(ge=1, le=25)] = msgspec.field(name="from")
    end: Annotated[int, Meta(ge=0, le=24)] = msgspec.field(name="to")


class SwapDice(Event, frozen=True):
    """Let a click on a checker play the other die first."""


class Undo(Event, frozen=True):
    """Take the last step of this turn back."""


class EndTurn(Event, frozen=True):
    """Hand the dice over."""


class Double(Event, frozen=True):
    """Offer the cube."""


class Accept(Event, frozen=True):
    """Take the cube and play on."""


class Decline(Event, frozen=True):
    """Give the game up for what the cube says."""


class ResignGame(Event, frozen=True, omit_defaults=True):
    """Give this game up, for the most that it could still cost, or for less if the other side agrees."""

    grade: Grade | None = None


class AcceptResignation(Event, frozen=True):
    """Win this game for what the other side offers."""


class RefuseResignation(Event, frozen=True):
    """Play on for more."""


class ResignMatch(Event, frozen=True):
    """Give the whole match up."""


Answer = AcceptResignation | RefuseResignation
Action = (
    Ready
    | Roll
    | Move
    | SwapDice
    | Undo
    | EndTurn
    | Double
    | Accept
    | Decline
    | ResignGame
    | Answer
    | ResignMatch
)


PHASES = {Ready: "ready", Roll: "roll", Double: "roll", Accept: "double", Decline: "double"}
"""When something can be done; everything else belongs to ``move``."""
EXPECTED = {
    "ready": "say ready",
    "roll": "roll, or double where that is allowed",
    "move": "move, undo or end_turn",
    "double": "accept or decline",
}


class Backgammon(Game[Match]):
    """Two players, one of five games or three in turn, for a score."""

    name = "backgammon"
    display_name = "Backgammon"
    seats = range(2, 3)
    version = ROOM_CLOCKS
    timeouts = Timeouts(game="server", away=None, nobody=None)
    offers = ("pause",)
    first_move = (
        "Press Ready, then Roll. A click on a checker plays the larger die; click the dice to swap them."
    )
    lucky = True
    State = Match
    Event = Action
    Timer = OldTimer
    Config = MatchConfig
    set_up = SET_UP

    def has_draws(self, config: MatchConfig) -> bool:
        """Only in cash: tavli adds up three games, and in plakoto both mothers can be pinned."""
        return config.match == "cash" and config.variant in ("plakoto", "tavli")

    def init(self, config: MatchConfig, moment: Moment) -> Match:
        return new_match(config, timed_turns=moment.clock is not None and moment.clock.kind == "turn")

    def take_clock(self, config: MatchConfig) -> tuple[MatchConfig, ClockSettings | None]:
        turn, away = config.turn_seconds, config.absence_seconds
        if turn is None and away is None:
            return config, None
        absence = None if away is None else Absence(float(away))
        clock = ClockSettings("none" if turn is None else "turn", float(turn or 0), away=absence)
        return replace(config, turn_seconds=None, absence_seconds=None), clock

    def join_game(self, state: Match, player: str, spectate: bool, moment: Moment) -> Joined[Match]:  # noqa: FBT001
        joined = super().join_game(state, player, spectate, moment)
        if joined.seat is None or not joined.update.state.seated:
            return joined
        return replace(joined, update=Update(joined.update.state, tuple(timers_of_then(moment))))

    def leave_game(self, state: Match, player: str, why: str, moment: Moment) -> Update[Match]:
        """Before both have come, or after the match, the seat is free; between, the match is given up."""
        seat = state.seat(player)
        if seat is None or not state.on:
            return super().leave_game(state, player, why, moment)
        update = settled(state, resign_match(state, seat, "left"), tell("left", seat=seat), moment)
        return replace(update, keeps_seat=True)

    def player_connected(self, state: Match, player: str, moment: Moment) -> Update[Match]:
        return Update(state, tuple(timers_of_then(moment)))

    def player_disconnected(self, state: Match, player: str, moment: Moment) -> Update[Match]:
        return Update(state, tuple(timers_of_then(moment)))

    def handle_event(self, state: Match, sender: str, event: Any, moment: Moment) -> Update[Match]:
        if sender == GAME:
            return _rung(state, event, moment)
        seat = state.seat(sender)
        assert seat is not None  # noqa: S101 - the room hands on events of seated players only
        _check(state, seat, event)
        return settled(state, *_done(state, seat, event, moment), moment)

    def view(self, state: Match, viewer: str | None) -> dict[str, object]:
        """There are no secrets; only the long list of ways to play is for the one who may."""
        board, seat = state.board, state.seat(viewer)
        playing = state.phase == "move" and seat == state.turn
        view: dict[str, object] = {
            "variant": board.variant,
            "phase": state.phase,
            "you": seat,
            "turn": None if state.phase in ("ready", "over") else state.turn,
            "turn_number": state.number,
            "awaited": state.awaited if state.seated else (),
            "dice": state.dice,
            "left": state.left,
            "played": state.played,
            "ways": [listed(way) for way in state.ways] if playing else [],
            "checkers": board.counts,
            "pinned": board.pinned,
            "pips": (board.pips(0), board.pips(1)),
            "cube": state.cube if board.rules.cube else None,
            "may_double": state.may_double,
            "match": {
                "variant": state.settings.variant,
                "type": state.settings.match,
                "target": state.target,
                "score": state.score,
                "crawford": state.crawford,
                "games": [
                    {"variant": game.variant, "winner": game.winner, "points": game.points, "how": game.how}
                    for game in state.games
                ],
            },
        }
        if state.resigning is not None:
            view["resigning"] = state.resigning
        if state.phase == "over":
            view["record"] = export(state)
        return view

    def observe(self, state: Match, viewer: str | None) -> dict[str, tuple[float, ...]]:
        return observed(state, state.seat(viewer) or 0)

    def actions(self, config: MatchConfig) -> list[Action]:
        """All but what is always a way out."""
        others = (Ready, Roll, Double, Accept, Decline, EndTurn, AcceptResignation, RefuseResignation)
        moves = [Move(start, end) for start in range(1, BAR + 1) for end in range(BAR)]
        return [*moves, *(kind() for kind in others)]

    def match_score(self, state: Match) -> tuple[int, ...]:
        return state.score if state.is_for_a_score else ()

    def scene(self, state: Match, viewer: str | None) -> Scene:
        seat = state.seat(viewer)
        drops: dict[int, dict[int, Move]] = {}
        clicks: dict[str, Action] = {}
        if seat is not None and seat in state.awaited and state.seated:
            for start, end in state.routes:
                drops.setdefault(start, {})[end] = Move(start, end)
            if state.phase == "move" and not drops:
                clicks["dice"] = EndTurn()
            elif len(set(state.left)) == 2:
                clicks["dice"] = SwapDice()
            if state.invites_double:
                clicks["cube"] = Double()
        controls = () if seat is None or not state.on else tuple(_controls(state, seat))
        choices = (HIDE_PIPS,) if seat is None else (AUTO_ROLL, AUTO_END, PICK_UP, HIDE_PIPS)
        return replace(draw(state, seat, drops, clicks), controls=controls, choices=choices)

    def diagram(self, text: str) -> Scene:
        return draw(drawn_match(text), None, {}, {})

    def legal_events(self, state: Match, player: str) -> Iterable[Action]:  # noqa: C901 - a table
        """All that brings the game on; to undo and to resign is always a way out, too."""
        seat = state.seat(player)
        if seat is not None and seat == state.answering:
            yield from (AcceptResignation(), RefuseResignation())
        if seat not in state.awaited or not state.seated:
            return
        match state.phase:
            case "ready":
                yield Ready()
            case "roll":
                yield Roll()
                if state.may_double:
                    yield Double()
            case "double":
                yield Accept()
                yield Decline()
            case "over":
                pass
            case "move":
                moves = [Move(*step) for step in state.routes]
                yield from moves or (EndTurn(),)

    def to_move(self, state: Match) -> tuple[str, ...]:
        return tuple(player for seat in state.clocks_run_for if (player := state.player(seat)) is not None)

    def turn_id(self, state: Match) -> object:
        return state.turn_id

    def handle_flag(self, state: Match, player: str, moment: Moment) -> Update[Match] | None:
        """Whose time for a turn is over loses the game; whose time for the match is over, the match."""
        if moment.clock is None or moment.clock.kind != "turn":
            return None
        return settled(state, out_of_time(state, moment.rules), tell("time_up", seats=state.awaited), moment)

    def handle_verdict(self, state: Match, outcome: Outcome, moment: Moment) -> Update[Match]:
        """The match has the score that it would have if the loser had given it up."""
        loser = state.seat(outcome.lost[0]) if outcome.lost else None
        if loser is None or is_of_then(moment):
            return Update(state)
        return settled(state, resign_match(state, loser, outcome.why), None, moment)

    def outcome(self, state: Match) -> Outcome | None:
        """In a cash match every point counts; in one to a score only who gets there first."""
        if state.phase != "over":
            return None
        players = tuple(state.player(seat) or "" for seat in (0, 1))
        winner = state.winner
        if winner is None:
            return Outcome(drew=players, why=state.final)
        won, lost = players[winner], players[1 - winner]
        ahead = abs(state.score[0] - state.score[1])
        points = {won: float(ahead), lost: float(-ahead)} if state.target is None else {}
        return Outcome(won=(won,), lost=(lost,), why=state.final, points=points)


# What can be pressed in a browser.

AUTO_ROLL = Choice("auto_roll", "Roll by itself, unless I may double")
AUTO_END = Choice("auto_end", "End my turn by itself")


def _controls(match: Match, seat: int) -> Iterator[Control]:
    if seat == match.answering and match.resigning:
        yield Control(
            "accept_resignation", f"Accept {_counted(match.resigning.points)}", AcceptResignation(), main=True
        )
        yield Control("refuse_resignation", "Refuse", RefuseResignation())
    if seat in match.awaited:
        yield from _actions(match)
    if match.phase != "ready":
        yield from _resignations(match, seat)
    if match.phase == "ready" or match.target is not None or len(match.plan) > 1:
        question = "Give the whole match up?"
        yield Control("resign_match", "Resign match", ResignMatch(), confirm=question, aside=True)


def _resignations(match: Match, seat: int) -> Iterator[Control]:
    """For what this game may be given up; all but the last the other side may refuse."""
    *offers, last = prices(match, seat)
    for price in offers:
        if match.resigning is None or match.resigning.seat != seat or match.resigning.grade != price.grade:
            question = f"Offer to lose this game for {_counted(price.points)}? {{{1 - seat}}} may refuse."
            yield _resignation(price, f"Resign {price.grade}", question)
    name = f"Resign {last.grade}" if offers else "Resign game"
    yield _resignation(last, name, f"Give this game up for {_counted(last.points)}?")


def _resignation(price: Price, name: str, question: str) -> Control:
    return Control(f"resign_{price.grade}", name, ResignGame(price.grade), confirm=question, aside=True)


def _counted(points: int) -> str:
    return f"{points} point{'s' * (points > 1)}"


def _actions(match: Match) -> Iterator[Control]:  # noqa: C901 - a table
    """What is to be done now, besides moving checkers."""
    match match.phase:
        case "ready":
            yield Control("ready", "Ready", Ready(), main=True, key=" ")
        case "roll":
            yield Control(
                "roll", "Roll", Roll(), main=True, key=" ", auto="" if match.invites_double else AUTO_ROLL.id
            )
            if match.invites_double:
                yield Control("double", f"Double to {2 * match.cube.value}", Double(), key="d")
        case "move":
            if not match.routes:
                yield Control("end_turn", "End the turn", EndTurn(), main=True, key=" ", auto=AUTO_END.id)
            if match.played:
                yield Control("undo", "Undo", Undo(), key="u")
        case "double":
            value = match.cube.value
            yield Control("accept", f"Take at {2 * value}", Accept(), main=True)
            yield Control("decline", "Drop", Decline(), confirm=f"Lose this game at {value}?")
        case "over":
            pass


# What a player asks for.


def _check(match: Match, seat: int, event: Action) -> None:
    """Whether this player may do such a thing now at all."""
    if match.phase == "over":
        raise Refused(Code.ILLEGAL_MOVE, "the match is over; ask for a rematch")
    if not match.seated:
        raise Refused(Code.NOT_YOUR_TURN, "the match begins when both players are here")
    match event:
        case ResignMatch():
            pass
        case ResignGame():
            if match.phase == "ready":
                raise Refused(Code.ILLEGAL_MOVE, "no game is being played that could be given up")
        case AcceptResignation() | RefuseResignation():
            if seat != match.answering:
                raise Refused(Code.NO_SUCH_OFFER, "nobody offers you to resign this game")
        case _:
            _check_turn(match, seat, event)


def _check_turn(match: Match, seat: int, event: Action) -> None:
    """Whether it is for this player to do something, and such a thing."""
    expected = EXPECTED[match.phase]
    if seat not in match.awaited:
        raise Refused(Code.NOT_YOUR_TURN, f"it is for your opponent to {expected}")
    if PHASES.get(type(event), "move") != match.phase:
        got = event.__struct_config__.tag
        raise Refused(Code.ILLEGAL_MOVE, f"expected {expected}, got {got}")


def _done(match: Match, seat: int, event: Action, moment: Moment) -> tuple[Match, Send]:  # noqa: C901, PLR0911, PLR0912
    """The match after it, and what everybody hears; a resignation stands only until somebody plays on."""
    if match.resigning is not None and not isinstance(
        event, ResignGame | AcceptResignation | RefuseResignation
    ):
        match = replace(match, resigning=None)
    match event:
        case Ready():
            return say_ready(match, seat, moment.chance), tell("ready", seat=seat)
        case Roll():
            after = roll(match, moment.chance)
            return after, tell("rolled", seat=seat, dice=after.dice)
        case Move():
            route = route_of(match, event.start, event.end, moment.rules)
            return move(match, route), tell("moved", seat=seat, steps=list(_steps(match, route)))
        case SwapDice():
            return swap_dice(match), tell("dice_swapped", seat=seat)
        case Undo():
            after, (start, end) = undo(match), match.played[-1]
            return after, tell("undone", seat=seat, step={"from": start, "to": end})
        case EndTurn():
            return end_turn(match), tell("turn_ended", seat=seat)
        case Double():
            return offer(match), tell("double_offered", seat=seat, value=2 * match.cube.value)
        case Accept():
            return accept(match), tell("double_accepted", seat=seat, value=2 * match.cube.value)
        case Decline():
            return decline(match), tell("double_declined", seat=seat)
        case ResignGame() | AcceptResignation() | RefuseResignation():
            return _resigned(match, seat, event)
        case ResignMatch():
            return resign_match(match, seat), tell("match_resigned", seat=seat)


def _resigned(match: Match, seat: int, event: ResignGame | Answer) -> tuple[Match, Send]:
    """A resignation, or an answer to one."""
    match event:
        case AcceptResignation():
            return accept_resignation(match), tell("game_resigned", seat=1 - seat)
        case RefuseResignation():
            return refuse_resignation(match), tell("resignation_refused", seat=seat)
        case ResignGame():
            grade = event.grade
            after = resign_game(match, seat) if grade is None else resign_for(match, seat, grade)
            if (offer := after.resigning) is None:
                return after, tell("game_resigned", seat=seat)
            return after, tell("resignation_offered", seat=seat, grade=grade, points=offer.points)


def _steps(match: Match, route: Way) -> Iterator[dict[str, object]]:
    """The steps that a move stands for, and the dice that they took."""
    board, left, seat = match.board, match.left, match.turn
    for before, step in zip((None, *route), route, strict=False):
        board = board if before is None else board.play(seat, before)
        die = die_for(step, left)
        yield {"from": step.start, "to": step.end, "die": die, "hit": board.meets(seat, step.end)}
        left = without(left, die)


def _rung(match: Match, event: OldTimer, moment: Moment) -> Update[Match]:
    """A timer of older rules; today the room's clock runs instead, and what was planned counts no more."""
    if not is_of_then(moment):
        return Update(match)
    match event:
        case HalfTime():
            return Update(match, moment.kept)
        case TimeUp():
            after = out_of_time(match, moment.rules)
            return settled(match, after, tell("time_up", seats=match.awaited), moment)
        case AwayTooLong(seat):
            after = resign_match(match, seat, AWAY_TOO_LONG)
            return settled(match, after, tell("away_too_long", seat=seat), moment)

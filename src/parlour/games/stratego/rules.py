"""The rules of Stratego: who may do what, and when; what everybody is told, and what each may see."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal

from msgspec import Meta
from msgspec.structs import asdict, replace

from parlour.clocks import LEAST, ClockSettings
from parlour.errors import Code, Refused
from parlour.game import (
    AWAY_TOO_LONG,
    GAME,
    OUT_OF_TIME,
    Cancel,
    Chance,
    Config,
    Effect,
    End,
    Event,
    Game,
    Joined,
    Later,
    Moment,
    Outcome,
    Send,
    Timeouts,
    Update,
)
from parlour.games.stratego.board import BLUE, HOMES, NOTHING, RED, SIDES, SQUARES, seen_ranks
from parlour.games.stratego.formations import FORMATIONS, draw_up, random_army, read_formation
from parlour.games.stratego.picture import SPOTS, draw, draw_part
from parlour.games.stratego.position import WHY, Last, Position, Reason, Rules
from parlour.scene import Control, Option, Scene
from parlour.set_up import Card, Label, SetUp

HIDDEN_FLAGS = 3
"""From this version on a random start has no flag in the front row."""
ROOM_CLOCKS = 4
"""From this version on the time for a move is the room's; before, the game had a timer for it."""
WEEK = 7 * 86400.0
"""How long a room waits for a second player, or after the end for another game."""

RULES = Rules.__struct_fields__
PRESETS = {
    "classic": Rules(),
    "ogetarts": Rules(lakes=False, setup="random", two_squares=False, restart_after=10),
}

ROOM_VERDICTS: dict[str, Reason] = {OUT_OF_TIME: "time", AWAY_TOO_LONG: "away"}
"""Why the room decided a game, and what that is called here."""

Seconds = Annotated[int, Meta(ge=0, le=7 * 86400)]


class StrategoConfig(Config, frozen=True):
    """A preset, and what should differ from it."""

    preset: Annotated[
        Literal["classic", "ogetarts"],
        Meta(
            description="ogetarts: no lakes, random setup, no two-square rule, a new game 10 s after the end"
        ),
    ] = "classic"
    lakes: Annotated[bool | None, Meta(description="two lakes in the middle, which nobody crosses")] = None
    setup: Annotated[
        Literal["arrange", "random"] | None,
        Meta(description="arrange: both draw up their own side in secret; random: chance does"),
    ] = None
    two_squares: Annotated[
        bool | None, Meta(description="no piece goes to and fro between two squares more than three times")
    ] = None
    arrange_seconds: Annotated[
        Seconds | None, Meta(description="then the pieces stand as they do; 0: no limit")
    ] = None
    turn_seconds: Annotated[
        Seconds | None,
        Meta(
            description="instead, give the room a clock of kind turn", extra_json_schema={"deprecated": True}
        ),
    ] = None
    quiet_limit: Annotated[
        Annotated[int, Meta(ge=0, le=10_000)] | None,
        Meta(description="so many moves without a fight are a draw; 0: no limit"),
    ] = None
    restart_after: Annotated[
        Seconds | None, Meta(description="so long after the end a new game begins by itself; 0: it does not")
    ] = None

    @property
    def rules(self) -> Rules:
        """The preset's, with what differs."""
        own = {name: value for name, value in asdict(self).items() if name in RULES and value is not None}
        return replace(PRESETS[self.preset], **own)


SET_UP = SetUp(
    cards="preset",
    labels={
        "preset": Label(
            "Rules",
            "",
            choices={
                "classic": Card("Classic", "Two lakes, and each draws up their army in secret."),
                "ogetarts": Card("Quick start", "No lakes, armies by chance, the next game by itself."),
            },
        ),
        "lakes": Label("Lakes", "Two in the middle, which nobody crosses.", empty="as above", group="Rules"),
        "setup": Label(
            "Setup",
            "",
            empty="as above",
            group="Rules",
            choices={"arrange": Card("Each draws up their own"), "random": Card("By chance")},
        ),
        "two_squares": Label(
            "Two-square rule",
            "No piece goes to and fro between two squares more than three times.",
            empty="as above",
            group="Rules",
        ),
        "quiet_limit": Label("A draw after", "Without a fight. 0: never.", "moves", "as above", "Rules"),
        "restart_after": Label(
            "The next game after", "It begins by itself. 0: it does not.", "seconds", "as above", "Rules"
        ),
        "arrange_seconds": Label(
            "Time to draw up",
            "Then the pieces stand as they do. 0: no limit.",
            "seconds",
            "as above",
            "Rules",
        ),
    },
)

Square = Annotated[int, Meta(ge=0, le=SQUARES - 1)]


class Move(Event, frozen=True, rename={"start": "from", "end": "to"}):
    """Move a piece; squares count from 0 to 99, row by row from red's side, the same for both."""

    start: Square
    end: Square


class Swap(Event, frozen=True):
    """While arranging: let two of my pieces change places."""

    one: Square
    other: Square


class Form(Event, frozen=True):
    """While arranging: draw up in a well-known formation."""

    formation: Literal["corner", "centre", "storm", "wall"]


class Arrange(Event, frozen=True):
    """While arranging: draw up in a formation of my own, forty ranks as I see them, the front row first."""

    pieces: Annotated[str, Meta(max_length=200)]


class Ready(Event, frozen=True):
    """I have arranged my pieces."""


class Resign(Event, frozen=True):
    """The other side wins."""


class OfferDraw(Event, frozen=True):
    """Offer a draw, or take the offer of the other side."""


class DeclineDraw(Event, frozen=True):
    """Turn down the offer of the other side."""


class Reset(Event, frozen=True):
    """After the end: a new game, in rooms where one begins by itself anyway."""


class TimeUp(Event, frozen=True):
    """The time to arrange is over, or by older rules the time to move."""


Formation = Swap | Form | Arrange
Deed = Move | Swap | Form | Arrange | Ready | Resign | OfferDraw | DeclineDraw | Reset


class Stratego(Game[Position]):
    """Capture the flag; who comes first is red and begins."""

    name = "stratego"
    display_name = "Stratego"
    seats = range(2, 3)
    version = ROOM_CLOCKS
    timeouts = Timeouts(game="server", away=None, nobody=None)
    offers = ("resign", "draw", "pause")
    first_move = (
        "Click one of your pieces, then where it goes. Before the game you swap them so; then press Ready."
    )
    lucky = True
    State = Position
    Event = Deed
    Timer = TimeUp | Reset
    Config = StrategoConfig
    set_up = SET_UP

    def init(self, config: StrategoConfig, moment: Moment) -> Position:
        return Position(rules=config.rules)

    def take_clock(self, config: StrategoConfig) -> tuple[StrategoConfig, ClockSettings | None]:
        if not config.turn_seconds:
            return config, None
        return replace(config, turn_seconds=None), ClockSettings("turn", max(LEAST, config.turn_seconds))

    # Who plays.

    def join_game(self, state: Position, player: str, spectate: bool, moment: Moment) -> Joined[Position]:  # noqa: FBT001
        joined = super().join_game(state, player, spectate, moment)
        if joined.seat is None:
            return joined
        seated = joined.update.state
        if None in (seated.player(RED), seated.player(BLUE)):
            return replace(joined, update=Update(seated, (End(WEEK),)))
        return replace(joined, update=_dealt(seated, moment))

    def leave_game(self, state: Position, player: str, why: str, moment: Moment) -> Update[Position]:
        """Who is alone can go. With an opponent it is giving up, and the seat with its ranks stays theirs."""
        if state.phase == "waiting":
            return super().leave_game(state, player, why, moment)
        if state.phase == "over":
            return Update(state, keeps_seat=True)
        resigned = state.ended(1 - moment.seats.index(player), "resigned")
        return replace(_ended(resigned), keeps_seat=True)

    # What they do.

    def handle_event(self, state: Position, sender: str, event: Any, moment: Moment) -> Update[Position]:
        if sender == GAME:
            return _dealt(state, moment) if isinstance(event, Reset) else _timed_out(state, moment)
        side = moment.seats.index(sender)
        if isinstance(event, Reset):
            return _reset(state, moment)
        if isinstance(event, Formation):
            return Update(_arranged(state, side, event))
        if isinstance(event, Ready):
            return _readied(state, side, moment)
        if isinstance(event, Move):
            return _moved(state, side, event, moment)
        return _given_up(state, side, event)

    def handle_verdict(self, state: Position, outcome: Outcome, moment: Moment) -> Update[Position]:
        """All ranks are shown, as after any other end."""
        winner = moment.seats.index(outcome.won[0]) if outcome.won else None
        if winner is None:
            return _ended(state.ended(None, "agreed"))
        return _ended(state.ended(winner, ROOM_VERDICTS.get(outcome.why, "resigned")))

    def legal_events(self, state: Position, player: str) -> Iterable[Deed]:
        side = state.seat(player)
        if side is None:
            return []
        if state.phase == "arranging" and not state.ready[side]:
            # Any two pieces may be swapped, too: 780 ways that a list would help nobody to find.
            return [*(Form(name) for name in FORMATIONS), Ready()]  # type: ignore[arg-type]
        if state.phase == "playing" and side == state.turn:
            return [Move(start, end) for start, end in state.moves(side)]
        if state.phase == "over" and state.rules.restart_after:
            return [Reset()]
        return []

    def to_move(self, state: Position) -> tuple[str, ...]:
        """Drawing up has its own time; without, the clock runs of whoever is not ready once the other is."""
        sides: tuple[int, ...] = ()
        if state.phase == "playing":
            sides = (state.turn,)
        elif state.phase == "arranging" and any(state.ready) and not state.rules.arrange_seconds:
            sides = (state.ready.index(False),)
        return tuple(player for side in sides if (player := state.player(side)) is not None)

    def turn_id(self, state: Position) -> object:
        """Red has time to be ready, and then to move."""
        return state.phase

    # What they see.

    def view(self, state: Position, viewer: str | None) -> dict[str, object]:
        """Everything but the ranks that are not one's own and were never shown; after the end all."""
        seat, ending = state.seat(viewer), state.ending
        playing = state.phase == "playing"
        return {
            "phase": state.phase,
            "you": _name(seat),
            "turn": SIDES[state.turn] if playing else None,
            "board": state.rows(seat),
            "ids": state.ids(seat),
            "lost": dict(zip(SIDES, state.lost, strict=True)),
            "fallen": {name: [piece.id for piece in state.fallen[side]] for side, name in enumerate(SIDES)},
            "ready": dict(zip(SIDES, state.ready, strict=True)),
            "last": state.last and state.last.told(),
            "quiet": state.quiet,
            "offer": _name(state.offer),
            "until": state.until,
            "winner": ending and _name(ending.winner),
            "reason": ending and ending.reason,
        }

    def observe(self, state: Position, viewer: str | None) -> dict[str, tuple[float, ...]]:
        """Ranks from 0 to 1 as red sees the board, and -1 for one that is not known."""
        side = state.seat(viewer) or RED
        ranks = seen_ranks(state.cells, state.open_to(state.seat(viewer)))
        if side == BLUE:
            ranks = (ranks[BLUE][::-1], ranks[RED][::-1])
        arranging = float(state.phase == "arranging")
        quiet = min(1.0, state.quiet / (state.rules.quiet_limit or 200))
        return {
            "mine": ranks[0],
            "theirs": ranks[1],
            "others": (float(side == state.turn), arranging, quiet),
        }

    def actions(self, config: StrategoConfig) -> list[Deed]:
        """Straight lines, and what can be done while arranging."""
        lines = [
            Move(start, end)
            for start in range(SQUARES)
            for end in range(SQUARES)
            if start != end and (start % 10 == end % 10 or start // 10 == end // 10)
        ]
        return [*lines, *(Form(name) for name in FORMATIONS), Ready()]  # type: ignore[arg-type]

    def scene(self, state: Position, viewer: str | None) -> Scene:
        side = state.seat(viewer)
        drops: Mapping[int, Mapping[str, Any]] = {} if side is None else _drops(state, side)
        controls = () if side is None else tuple(_controls(state, side))
        return replace(draw(state, side, drops), controls=controls)

    def diagram(self, text: str) -> Scene:
        return draw_part(text)

    def outcome(self, state: Position) -> Outcome | None:
        if state.ending is None:
            return None
        winner, why = state.ending.winner, WHY[state.ending.reason]
        red, blue = (state.player(side) or "" for side in (RED, BLUE))
        if winner is None:
            return Outcome(drew=(red, blue), why=why)
        won, lost = (red, blue) if winner == RED else (blue, red)
        return Outcome(won=(won,), lost=(lost,), why=why)

    def resample(self, state: Position, viewer: str | None, chance: Chance) -> Position:
        """Other ranks for the pieces of the other side (for spectators: of both) that were never shown."""
        return state.reimagined(state.seat(viewer), chance)


def _name(side: int | None) -> str | None:
    return None if side is None else SIDES[side]


def _tell(type: str, **said: object) -> Send:
    return Send("all", {"type": type, **said})


# What can be done in a browser.


def _drops(state: Position, side: int) -> Mapping[int, Mapping[str, Any]]:
    """For each square from which a piece may go, the spots where it may, and the events."""
    if state.phase == "arranging" and not state.ready[side]:
        return _swaps(side)
    drops: dict[int, dict[str, Any]] = {}
    if state.phase == "playing" and side == state.turn:
        for start, end in state.moves(side):
            drops.setdefault(start, {})[SPOTS[end]] = Move(start, end)
    return drops


@cache
def _swaps(side: int) -> Mapping[int, Mapping[str, Any]]:
    """Each piece of a side may change places with any other."""
    home = HOMES[side]
    return {one: {SPOTS[other]: Swap(one, other) for other in home if other != one} for one in home}


def _controls(state: Position, side: int) -> Iterator[Control]:
    """The buttons beside the board."""
    if state.phase == "arranging" and not state.ready[side]:
        yield Control("ready", "Ready", Ready(), main=True)
        options = tuple(Option(name.capitalize(), Form(name)) for name in FORMATIONS)  # type: ignore[arg-type]
        yield Control("formation", "Formation", options=options)
    if state.offer == 1 - side:
        yield Control("accept", "Agree to a draw", OfferDraw())
        yield Control("decline", "Decline", DeclineDraw())
    if state.phase == "over" and state.rules.restart_after:
        yield Control("reset", "New game", Reset(), main=True)


# Beginning.


def _dealt(state: Position, moment: Moment) -> Update[Position]:
    """Both are here: their pieces lie at random, and may first be arranged where the rules say so.

    Not before: whoever gets up from a table where they were alone has seen no rank of it.
    """
    cells = NOTHING
    for side in (RED, BLUE):
        cells = draw_up(
            cells, side, random_army(moment.chance, hides_flag=(moment.rules or HIDDEN_FLAGS) >= HIDDEN_FLAGS)
        )
    dealt = Position(players=state.players, rules=state.rules, phase="arranging", cells=cells)
    fresh = (End(None), Cancel("restart"), Send("all", kind="sync"))
    if state.rules.setup == "random":
        return _begun(dealt, moment, *fresh)
    seconds = state.rules.arrange_seconds
    if not seconds:
        return Update(dealt, (*fresh, Cancel("clock")))
    timed = replace(dealt, until=moment.date + seconds, since=moment.now)
    return Update(timed, (*fresh, Later("clock", seconds, TimeUp())))


def _begun(state: Position, moment: Moment, *before: Effect) -> Update[Position]:
    """The board stands; red begins."""
    return _turned(state.begun(), moment, *before, _tell("begun"))


def _turned(state: Position, moment: Moment, *before: Effect) -> Update[Position]:
    """Somebody has moved: it is over, or the other side is to move."""
    if state.ending is not None:
        return _ended(state, *before)
    timers = () if state.until is None else (Cancel("clock"),)
    return Update(replace(state, until=None), (*before, *(_timers_of_then(moment) or timers)))


def _timers_of_then(moment: Moment) -> tuple[Effect, ...]:
    """The timer for a move that a step set by older rules, while it is played again."""
    if moment.rules is None or moment.rules >= ROOM_CLOCKS:
        return ()
    timers = (effect for effect in moment.kept if isinstance(effect, Later | Cancel))
    return tuple(effect for effect in timers if effect.key == "clock")


def _arranged(state: Position, side: int, event: Formation) -> Position:
    """This side drawn up in another way, which nobody else sees."""
    _refuse_unless_arranging(state, side)
    if isinstance(event, Form):
        return replace(state, cells=draw_up(state.cells, side, read_formation(FORMATIONS[event.formation])))
    if isinstance(event, Arrange):
        return replace(state, cells=draw_up(state.cells, side, read_formation(event.pieces)))
    if event.one not in HOMES[side] or event.other not in HOMES[side] or event.one == event.other:
        raise Refused(Code.ILLEGAL_MOVE, "two different pieces of your own can change places")
    cells = list(state.cells)
    cells[event.one], cells[event.other] = cells[event.other], cells[event.one]
    return replace(state, cells=tuple(cells))


def _readied(state: Position, side: int, moment: Moment) -> Update[Position]:
    _refuse_unless_arranging(state, side)
    told = _tell("ready", side=SIDES[side])
    if state.ready[1 - side]:
        return _begun(state, moment, told)
    return Update(replace(state, ready=(side == RED, side == BLUE)), (told,))


def _refuse_unless_arranging(state: Position, side: int) -> None:
    if state.phase == "waiting":
        raise Refused(Code.ILLEGAL_MOVE, "pieces are arranged when both players are here")
    if state.phase != "arranging":
        raise Refused(Code.ILLEGAL_MOVE, "the time to arrange pieces is over")
    if state.ready[side]:
        raise Refused(Code.ILLEGAL_MOVE, "you have said that you are ready")


# Playing.


def _moved(state: Position, side: int, event: Move, moment: Moment) -> Update[Position]:
    _refuse_unless_playing(state)
    if side != state.turn:
        raise Refused(Code.NOT_YOUR_TURN, f"it is {SIDES[state.turn]}'s turn")
    state.check(side, event.start, event.end)
    after = state.play(event.start, event.end)
    assert isinstance(after.last, Last)  # noqa: S101 - there was a move
    return _turned(after, moment, _tell("moved", **after.last.told()))


def _refuse_unless_playing(state: Position) -> None:
    match state.phase:
        case "waiting":
            raise Refused(Code.NOT_YOUR_TURN, "the game begins when both players are here")
        case "arranging":
            raise Refused(Code.NOT_YOUR_TURN, "the game begins when both have arranged their pieces")
        case "over":
            raise Refused(Code.ILLEGAL_MOVE, "the game is over")
        case "playing":
            pass


def _timed_out(state: Position, moment: Moment) -> Update[Position]:
    """Time to arrange is up: the pieces stand as they do.

    By older rules a side has lost when its time to move is up; today the room's clock runs instead.
    """
    if state.phase == "arranging":
        return _begun(state, moment)
    if moment.rules is None or moment.rules >= ROOM_CLOCKS:
        return Update(state)
    return _ended(state.ended(1 - state.turn, "time"))


# Ending.


def _given_up(state: Position, side: int, event: Resign | OfferDraw | DeclineDraw) -> Update[Position]:
    """What ends a game without a move, or might."""
    if isinstance(event, Resign) and state.phase == "arranging":
        return _ended(state.ended(1 - side, "resigned"))
    _refuse_unless_playing(state)
    match event:
        case Resign():
            return _ended(state.ended(1 - side, "resigned"))
        case OfferDraw():
            if state.offer == 1 - side:
                return _ended(state.ended(None, "agreed"))
            if state.offer == side:
                raise Refused(Code.ILLEGAL_MOVE, "your offer stands until the other side answers or moves")
            return Update(replace(state, offer=side, declined=None), (_tell("offered", side=SIDES[side]),))
        case DeclineDraw():
            if state.offer != 1 - side:
                raise Refused(Code.ILLEGAL_MOVE, "nobody has offered you a draw")
            return Update(state.without_offer(), (_tell("declined", side=SIDES[side]),))


def _ended(state: Position, *before: Effect) -> Update[Position]:
    """Everybody is told who won; then there is time to play again."""
    assert state.ending is not None  # noqa: S101 - the caller ended it
    told = _tell("over", winner=_name(state.ending.winner), reason=state.ending.reason)
    again = state.rules.restart_after
    restart = (Later("restart", again, Reset()),) if again else ()
    return Update(state, (*before, told, Cancel("clock"), End(WEEK), *restart))


def _reset(state: Position, moment: Moment) -> Update[Position]:
    """A player need not wait for the new game; where none begins by itself, both are asked."""
    if state.phase != "over":
        raise Refused(Code.NOT_OVER, "a new game can begin when this one is over")
    if not state.rules.restart_after:
        raise Refused(Code.ILLEGAL_MOVE, "here a new game begins when both ask for a rematch")
    return _dealt(state, moment)

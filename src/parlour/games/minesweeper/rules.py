"""Minesweeper: one player opens the field cell by cell, others may watch."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import (
    Chance,
    Config,
    Effect,
    End,
    Event,
    Game,
    Joined,
    Moment,
    Outcome,
    Send,
    Timeouts,
    Update,
)
from parlour.games.minesweeper.field import FLAGS, HIDE, NUMBERS, OPEN, Field
from parlour.games.minesweeper.worlds import draw_mines
from parlour.scene import Clock, Control, Piece, Scene, Side, Spot
from parlour.set_up import Card, Label, SetUp

SAID = {"#": "closed", "!": "flag", "F": "flag", "*": "mine", "X": "mine, opened", ".": "clear"}

VALUES = {"#": -1.0, "F": -0.75, "X": -0.5, **{drawn: number / 8 for number, drawn in enumerate(NUMBERS)}}
"""The cells as numbers."""

CLICKS = 2
"""The version that tells which cells were clicked; before, only those that were opened."""
AFTER_GAME = 120.0
AFTER_LEAVE = 5.0
"""How many seconds the room waits for somebody to play on."""

PRESETS = {
    "beginner": (9, 9, 10),
    "intermediate": (16, 16, 40),
    "advanced": (30, 16, 99),
    "custom": (10, 10, 10),
}

Length = Annotated[int, Meta(ge=1, le=99)]


class MinesweeperConfig(Config, frozen=True):
    """A preset, and what should differ from it."""

    preset: Annotated[
        Literal["beginner", "intermediate", "advanced", "custom"],
        Meta(description="9 x 9 and 10 mines, 16 x 16 and 40, 30 x 16 and 99, or (custom) 10 x 10 and 10"),
    ] = "beginner"
    width: Annotated[Length | None, Meta(description="in place of the preset's")] = None
    height: Annotated[Length | None, Meta(description="in place of the preset's")] = None
    mines: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="in place of the preset's; fewer than there are cells"),
    ] = None


SET_UP = SetUp(
    cards="preset",
    labels={
        "preset": Label(
            "Field",
            "",
            choices={
                "beginner": Card("Beginner", "9 by 9 cells, 10 mines."),
                "intermediate": Card("Intermediate", "16 by 16 cells, 40 mines."),
                "advanced": Card("Expert", "30 by 16 cells, 99 mines."),
                "custom": Card("Your own", "10 by 10 cells, 10 mines, or what you say below."),
            },
        ),
        "width": Label("Width", "", "cells", "as the field above"),
        "height": Label("Height", "", "cells", "as the field above"),
        "mines": Label("Mines", "Fewer than there are cells.", "mines", "as the field above"),
    },
)


class At(Event, frozen=True):
    """Something done to one cell; both coordinates count from 1."""

    x: int
    y: int


class Open(At, frozen=True):
    """Open a closed cell; the first one is always safe."""


class Flag(At, frozen=True):
    """Put a flag on a closed cell, or take it away."""


class Chord(At, frozen=True):
    """Open everything closed around a number that has all its flags."""


class Restart(Event, frozen=True):
    """A blank field, at any time."""


Move = Open | Flag | Chord | Restart


class Minesweeper(Game[Field]):
    """One player against the field."""

    name = "minesweeper"
    display_name = "Minesweeper"
    version = CLICKS
    seats = range(1, 2)
    spectators = 100
    timeouts = Timeouts(game="server", away=None, nobody=None)
    first_move = "Click any cell: the first is never a mine. A number says how many mines lie around it."
    lucky = True
    State = Field
    Event = Move
    Config = MinesweeperConfig
    set_up = SET_UP

    def init(self, config: MinesweeperConfig, moment: Moment) -> Field:
        width, height, mines = _measures(config)
        if mines >= width * height:
            why = f"$.config.mines: expected fewer than the {width} x {height} cells, got {mines}"
            raise Refused(Code.INVALID_CONFIG, why, path="$.config.mines")
        return Field(width, mines, "#" * (width * height))

    def join_game(self, state: Field, player: str, spectate: bool, moment: Moment) -> Joined[Field]:  # noqa: FBT001
        joined = super().join_game(state, player, spectate, moment)
        if joined.seat is None:
            return replace(joined, topics=("audience",))
        stay = End(AFTER_GAME if state.over else None)
        return Joined(("players",), joined.seat, replace(joined.update, effects=(stay,)))

    def leave_game(self, state: Field, player: str, why: str, moment: Moment) -> Update[Field]:
        return replace(super().leave_game(state, player, why, moment), effects=(End(AFTER_LEAVE),))

    def handle_event(self, state: Field, sender: str, event: Move, moment: Moment) -> Update[Field]:
        if isinstance(event, Restart):
            blank = Field(state.width, state.mines, "#" * len(state.cells), players=state.players)
            return Update(blank, (End(None), Send("all", kind="sync")))
        if state.over:
            raise Refused(Code.ILLEGAL_MOVE, "the game is over; restart for another")
        cell = state.cell(event.x, event.y)
        match event:
            case Flag():
                return _flagged(state.flag(cell), cell)
            case Chord():
                return _opened(state, state.chord(cell), moment)
            case Open():
                laid = state.lay(cell, moment.chance) if state.status == "init" else state
                return _opened(state, laid.open(cell), moment)

    def view(self, state: Field, viewer: str | None) -> dict[str, object]:
        """The same for everybody: the rows as they are drawn, and until it is over without what they hide.

        Which cells were opened by hand and which of them ended the game is told by column and row.
        """
        return {
            "width": state.width,
            "height": state.height,
            "mines": state.mines,
            "flags": state.flags,
            "status": state.status,
            "start_time": state.start_time,
            "end_time": state.end_time,
            "elapsed": state.elapsed,
            "rows": state.rows if state.over else [row.translate(HIDE) for row in state.rows],
            "clicked": [tuple(state.place(cell).values()) for cell in state.clicked],
            "ended_by": [tuple(state.place(cell).values()) for cell in state.ended_by],
        }

    def scene(self, state: Field, viewer: str | None) -> Scene:
        """The same for everybody, but only the player can do something."""
        seen = state.cells if state.over else state.cells.translate(HIDE)
        plays = state.seat(viewer) is not None
        return Scene(
            state.width,
            state.height,
            spots=_spots(state, seen, plays=plays and not state.over),
            pieces=_pieces(state, seen),
            controls=(_again(state),) if plays else (),
            status=_status(state, plays=plays),
            turn=() if state.over else (0,),
            second="Flag mode" if plays and not state.over else "",
            sides=(Side(text=f"{state.flags} of {state.mines} flags"),),
            clocks=(_clock(state),),
            log=tuple(_line(cell, state.width) for cell in state.clicked),
        )

    def diagram(self, text: str) -> Scene:
        return self.scene(Field.parse(text), None)

    def legal_events(self, state: Field, player: str) -> Iterable[Move]:
        if state.seat(player) is not None:
            if not state.over:
                yield from _legal(state)
            yield Restart()

    def observe(self, state: Field, viewer: str | None) -> dict[str, tuple[float, ...]]:
        """A closed cell is -1, a flag -0.75, an opened mine -0.5, and a number from 0 to 1."""
        seen = state.cells.translate(HIDE)
        return {
            "cells": tuple([VALUES[cell] for cell in seen]),
            "flags": (min(1.0, state.flags / state.mines),),
        }

    def actions(self, config: MinesweeperConfig) -> list[Move]:
        """All but a restart, which only begins anew."""
        width, height, _ = _measures(config)
        places = [(x, y) for y in range(1, height + 1) for x in range(1, width + 1)]
        return [kind(x, y) for kind in (Open, Flag, Chord) for x, y in places]

    def outcome(self, state: Field) -> Outcome | None:
        player = tuple(player for player in state.players if player)
        match state.status:
            case "win":
                return Outcome(won=player, why="every safe cell is open")
            case "lose":
                return Outcome(lost=player, why="a mine was opened")
            case _:
                return None

    def resample(self, state: Field, viewer: str | None, chance: Chance) -> Field:
        """Other places for the mines, as likely as each other for all that the open numbers say."""
        if state.status != "play":
            return state
        return state.with_mines(draw_mines(state.cells, state.width, state.mines, state.mined, chance))


def _measures(config: MinesweeperConfig) -> tuple[int, int, int]:
    """Width, height and mines: the preset's, with what differs."""
    width, height, mines = PRESETS[config.preset]
    return config.width or width, config.height or height, config.mines or mines


def _flagged(after: Field, cell: int) -> Update[Field]:
    """What follows when a flag was put down or taken away."""
    return Update(after, (_tell("flag", **after.place(cell), flagged=after.cells[cell] in FLAGS),))


def _opened(before: Field, after: Field, moment: Moment) -> Update[Field]:
    """What follows when cells were opened."""
    after = _timed(after, moment)
    return Update(after, tuple(_news(before, after, moment.rules or CLICKS)))


def _timed(field: Field, moment: Moment) -> Field:
    """The clock starts with the first cell that is opened and stops with the last."""
    if field.start_time is None:
        field = replace(field, start_time=moment.date, started=moment.now)
    if field.over:
        field = replace(field, end_time=moment.date, elapsed=round(moment.now - field.started, 3))
    return field


def _news(before: Field, after: Field, rules: int) -> Iterator[Effect]:
    """What everybody hears of it, in the order in which it happened."""
    if before.status == "init":
        yield _tell("start_game", start_time=after.start_time)
    opened = [
        cell for cell, drawn in enumerate(after.cells) if drawn in OPEN and before.cells[cell] not in OPEN
    ]
    if rules >= CLICKS:
        clicked = after.clicked[len(before.clicked) :]
        yield _tell("click", cells=[after.place(cell) for cell in clicked])
    yield _tell("open", cells=[_shown(after, cell) for cell in opened])
    if after.over:
        cells = [after.place(cell) for cell in after.ended_by]
        by = {"ended_by": cells} if rules >= CLICKS else {}
        yield _tell("game_over", status=after.status, end_time=after.end_time, **by)
        yield _tell("show_mines", cells=[after.place(cell) for cell in sorted(after.mined)])
        yield End(AFTER_GAME)


def _shown(field: Field, cell: int) -> dict[str, int | bool]:
    """An opened cell as it is told; a mine has no number."""
    drawn = field.cells[cell]
    known = {"mine": True} if drawn == "X" else {"value": NUMBERS.index(drawn)}
    return {**field.place(cell), **known}


def _tell(type: str, **said: object) -> Send:
    return Send("all", {"type": type, **said})


def _legal(field: Field) -> Iterator[Move]:
    """What can be done to each cell."""
    for cell, drawn in enumerate(field.cells):
        place = field.place(cell)
        if drawn in "#*":
            yield Open(**place)
        if drawn not in NUMBERS:
            yield Flag(**place)
        elif drawn != "." and _chordable(field, cell, drawn):
            yield Chord(**place)


def _chordable(field: Field, cell: int, number: str) -> bool:
    around = [field.cells[near] for near in field.around(cell)]
    return sum(near in FLAGS for near in around) == int(number) and ("#" in around or "*" in around)


# The scene.


def _spots(field: Field, seen: str, *, plays: bool) -> tuple[Spot, ...]:
    width = field.width
    ready = _ready(field) if plays else set()
    clicked = set(field.clicked) if field.over else set()
    last = set(field.ended_by or field.clicked[-1:])
    return tuple(
        _spot(
            cell,
            width,
            drawn,
            plays and (drawn not in NUMBERS or cell in ready),
            cell in clicked,
            cell in last,
        )
        for cell, drawn in enumerate(seen)
    )


def _ready(field: Field) -> set[int]:
    """The numbers that can be chorded; they are beside a flag."""
    flags = [cell for cell, drawn in enumerate(field.cells) if drawn in FLAGS]
    beside = {near for flag in flags for near in field.around(flag) if field.cells[near] in NUMBERS[1:]}
    return {cell for cell in beside if _chordable(field, cell, field.cells[cell])}


@lru_cache(maxsize=1 << 15)
def _spot(cell: int, width: int, drawn: str, can: bool, clicked: bool, last: bool) -> Spot:  # noqa: FBT001
    """A cell as it is seen; kept, since most cells look as they did before.

    The last click is marked; when it is over, what was opened by hand looks otherwise than the rest.
    """
    y, x = divmod(cell, width)
    opened = drawn in OPEN
    click: Move | None = None
    if can and drawn not in FLAGS:
        click = Chord(x + 1, y + 1) if opened else Open(x + 1, y + 1)
    return Spot(
        f"c{cell}",
        x,
        y,
        fill="red" if drawn == "X" else "paper" if clicked else "sunken" if opened else "raised",
        text=drawn if drawn in NUMBERS[1:] else "",
        tone=NUMBERS.index(drawn) if drawn in NUMBERS else 0,
        label=f"column {x + 1}, row {y + 1}: {SAID.get(drawn, drawn)}{', clicked' if clicked else ''}",
        mark="last" if last else None,
        click=click,
        second=Flag(x + 1, y + 1) if can and not opened else None,
    )


@lru_cache(maxsize=1 << 15)
def _line(cell: int, width: int) -> str:
    """A cell that was opened by hand, as the log tells it."""
    return f"column {cell % width + 1}, row {cell // width + 1}"


def _pieces(field: Field, seen: str) -> tuple[Piece, ...]:
    won = field.status == "win"
    return tuple(
        Piece(f"p{cell}", "flag" if won or drawn in FLAGS else "mine", f"c{cell}", mark=_fault(field, drawn))
        for cell, drawn in enumerate(seen)
        if drawn in "F!*X"
    )


def _fault(field: Field, drawn: str) -> Literal["wrong"] | None:
    return "wrong" if field.over and drawn == "!" else None


def _again(field: Field) -> Control:
    confirm = "Give this field up?" if field.status == "play" else ""
    return Control("again", "New field", Restart(), main=field.over, key="n", confirm=confirm)


def _clock(field: Field) -> Clock:
    if field.status == "play":
        return Clock(0, at=field.started)
    return Clock(field.elapsed or 0)


def _status(field: Field, *, plays: bool) -> str:
    match field.status:
        case "init":
            return "Open any cell: the first is safe" if plays else "{0} has not begun yet"
        case "play":
            return "Open what is safe, flag what is not" if plays else "{0} is playing"
        case "win":
            return f"{'You cleared' if plays else '{0} cleared'} the field in {field.elapsed or 0:.0f} s"
        case "lose":
            return "Boom: that was a mine"

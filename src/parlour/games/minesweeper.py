"""Minesweeper: one player opens the field cell by cell, others may watch.

A field is drawn with one character a cell, in tests, in journals and on the wire:

    ``#``  closed                        ``*``  closed, a mine
    ``!``  flagged, but no mine          ``F``  flagged, a mine
    ``.``  open, no mine around it       ``X``  a mine that was opened
    ``1`` to ``8``  open, so many mines around it

While a game goes on, nobody can tell ``*`` from ``#`` or ``!`` from ``F``: a view draws them alike.
"""

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
    State,
    Timeouts,
    Update,
)
from parlour.scene import Clock, Control, Piece, Scene, Side, Spot

NUMBERS = ".12345678"
SAID = {"#": "closed", "!": "flag", "F": "flag", "*": "mine", "X": "mine, opened", ".": "clear"}
OPEN = NUMBERS + "X"
MINES = "*FX"
FLAGS = "F!"

LAY = str.maketrans("#!", "*F")
CLEAR = str.maketrans("*F", "#!")
FLIP = str.maketrans("#*!F", "!F#*")
HIDE = str.maketrans("*!", "#F")
"""What becomes of a closed cell: a mine is laid, or cleared; a flag comes or goes; the secret is covered."""

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
Status = Literal["init", "play", "win", "lose"]


class Settings(Config, frozen=True):
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


class Field(State, frozen=True):
    """The field, its cells counted row by row from 0; the mines are laid when the first is opened.

    >>> print(Field.parse("* # # / # # # / # # #").open(8))
    * 1 .
    1 1 .
    . . .
    """

    width: int
    mines: int
    cells: str
    start_time: float | None = None
    """Wall time, for display, as is the end."""
    end_time: float | None = None
    started: float = 0.0
    """On the room's clock."""
    elapsed: float | None = None
    """How long the game took by the room's clock."""

    @classmethod
    def parse(cls, drawn: str, mines: int | None = None) -> "Field":
        """A field as it is drawn, its rows on lines of their own or between slashes."""
        rows = ["".join(row.split()) for row in drawn.strip().replace("/", "\n").splitlines()]
        if len({len(row) for row in rows}) != 1 or not rows[0] or set("".join(rows)) - set(f"#*F!X{NUMBERS}"):
            raise ValueError(f"expected rows of one length made of #*F!X.12345678, got {rows}")
        cells = "".join(rows)
        return cls(len(rows[0]), sum(map(cells.count, MINES)) if mines is None else mines, cells)

    def __str__(self) -> str:
        return "\n".join(" ".join(row) for row in self.rows)

    @property
    def height(self) -> int:
        return len(self.cells) // self.width

    @property
    def rows(self) -> list[str]:
        """The cells as they are drawn, mines and all."""
        return [self.cells[at : at + self.width] for at in range(0, len(self.cells), self.width)]

    @property
    def flags(self) -> int:
        """How many flags stand."""
        return sum(map(self.cells.count, FLAGS))

    @property
    def mined(self) -> set[int]:
        """The cells with a mine."""
        return {cell for cell, drawn in enumerate(self.cells) if drawn in MINES}

    @property
    def status(self) -> Status:
        """Lost with the first mine opened, won with the last other cell; flags do not matter."""
        if "X" in self.cells:
            return "lose"
        if not any(mine in self.cells for mine in MINES):
            return "init"
        return "play" if "#" in self.cells or "!" in self.cells else "win"

    @property
    def over(self) -> bool:
        """Won or lost."""
        return self.status in ("win", "lose")

    def cell(self, x: int, y: int) -> int:
        """The number of the cell at these coordinates, which count from 1."""
        if not (1 <= x <= self.width and 1 <= y <= self.height):
            raise Refused(Code.ILLEGAL_MOVE, f"{x}, {y} is off the field of {self.width} x {self.height}")
        return x - 1 + (y - 1) * self.width

    def place(self, cell: int) -> dict[str, int]:
        """The coordinates of a cell, as they are told."""
        return {"x": cell % self.width + 1, "y": cell // self.width + 1}

    def around(self, cell: int) -> tuple[int, ...]:
        """The up to eight neighbours of a cell."""
        return neighbourhoods(self.width, self.height)[cell]

    def lay(self, first: int, chance: Chance) -> "Field":
        """Mines at random, but none at the first cell to open nor, where there is room, around it."""
        roomy = len(self.cells) - self.mines >= 9
        safe = {first, *self.around(first)} if roomy else {first}
        free = [cell for cell in range(len(self.cells)) if cell not in safe]
        return self.with_mines(chance.sample(free, self.mines))

    def with_mines(self, mined: Iterable[int]) -> "Field":
        """The same to look at, with mines under just these of its closed cells."""
        cells = list(self.cells.translate(CLEAR))
        for cell in mined:
            cells[cell] = cells[cell].translate(LAY)
        return replace(self, cells="".join(cells))

    def flag(self, cell: int) -> "Field":
        """Put a flag on a closed cell, or take it away."""
        if self.cells[cell] in NUMBERS:
            raise Refused(Code.ILLEGAL_MOVE, "that cell is open; flags go on closed ones")
        turned = self.cells[cell].translate(FLIP)
        return replace(self, cells=self.cells[:cell] + turned + self.cells[cell + 1 :])

    def open(self, cell: int) -> "Field":
        """Open a closed cell."""
        if self.cells[cell] in NUMBERS:
            raise Refused(Code.ILLEGAL_MOVE, "that cell is already open")
        if self.cells[cell] in FLAGS:
            raise Refused(Code.ILLEGAL_MOVE, "that cell has a flag; take it away first")
        return self._open([cell])

    def chord(self, cell: int) -> "Field":
        """Open what is closed around a number that has all its flags."""
        number = NUMBERS.find(self.cells[cell])
        if number < 1:
            raise Refused(Code.ILLEGAL_MOVE, "only an open number can be chorded")
        around = self.around(cell)
        flags = sum(self.cells[near] in FLAGS for near in around)
        if flags != number:
            raise Refused(Code.ILLEGAL_MOVE, f"around that {number} there are {flags} flags, not {number}")
        closed = [near for near in around if self.cells[near] in "#*"]
        if not closed:
            raise Refused(Code.ILLEGAL_MOVE, f"around that {number} there is nothing left to open")
        return self._open(closed)

    def _open(self, waiting: list[int]) -> "Field":
        """Open these; a cell without a mine around opens its neighbours too, but none that has a flag."""
        cells, mined, around = list(self.cells), self.mined, neighbourhoods(self.width, self.height)
        while waiting:
            cell = waiting.pop()
            if cells[cell] == "*":
                cells[cell] = "X"
            elif cells[cell] == "#":
                number = len(mined.intersection(around[cell]))
                cells[cell] = NUMBERS[number]
                if number == 0:
                    waiting.extend(around[cell])
        return replace(self, cells="".join(cells))


@lru_cache(maxsize=16)
def neighbourhoods(width: int, height: int) -> tuple[tuple[int, ...], ...]:
    """For each cell the cells around it.

    >>> neighbourhoods(3, 2)[0]
    (1, 3, 4)
    """

    def around(cell: int) -> Iterator[int]:
        y, x = divmod(cell, width)
        for row in range(max(y - 1, 0), min(y + 2, height)):
            for column in range(max(x - 1, 0), min(x + 2, width)):
                if (column, row) != (x, y):
                    yield row * width + column

    return tuple(tuple(around(cell)) for cell in range(width * height))


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
    seats = range(1, 2)
    spectators = 100
    timeouts = Timeouts(game=300, away=15, nobody=60)
    State = Field
    Event = Move
    Config = Settings

    def init(self, config: Settings, moment: Moment) -> Field:
        width, height, mines = PRESETS[config.preset]
        width, height, mines = config.width or width, config.height or height, config.mines or mines
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
        """The same for everybody: the rows as they are drawn, and until it is over without what they hide."""
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
            sides=(Side(text=f"{state.flags} of {state.mines} flags"),),
            clocks=(_clock(state),),
        )

    def legal_events(self, state: Field, player: str) -> Iterable[Move]:
        if state.seat(player) is not None:
            if not state.over:
                yield from _legal(state)
            yield Restart()

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
        """Other places for the mines that no number tells of; those beside an open cell stay there."""
        if state.status != "play":
            return state
        opened = {cell for cell, drawn in enumerate(state.cells) if drawn in NUMBERS}
        seen = opened.union(*map(state.around, opened))
        unseen = [cell for cell in range(len(state.cells)) if cell not in seen]
        known = state.mined & seen
        return state.with_mines([*known, *chance.sample(unseen, state.mines - len(known))])


def _flagged(after: Field, cell: int) -> Update[Field]:
    """What follows when a flag was put down or taken away."""
    return Update(after, (_tell("flag", **after.place(cell), flagged=after.cells[cell] in FLAGS),))


def _opened(before: Field, after: Field, moment: Moment) -> Update[Field]:
    """What follows when cells were opened."""
    after = _timed(after, moment)
    return Update(after, tuple(_news(before, after)))


def _timed(field: Field, moment: Moment) -> Field:
    """The clock starts with the first cell that is opened and stops with the last."""
    if field.start_time is None:
        field = replace(field, start_time=moment.date, started=moment.now)
    if field.over:
        field = replace(field, end_time=moment.date, elapsed=round(moment.now - field.started, 3))
    return field


def _news(before: Field, after: Field) -> Iterator[Effect]:
    """What everybody hears of it, in the order in which it happened."""
    if before.status == "init":
        yield _tell("start_game", start_time=after.start_time)
    opened = [
        cell for cell, drawn in enumerate(after.cells) if drawn in OPEN and before.cells[cell] not in OPEN
    ]
    yield _tell("open", cells=[_shown(after, cell) for cell in opened])
    if after.over:
        yield _tell("game_over", status=after.status, end_time=after.end_time)
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
    return tuple(
        _spot(cell, width, drawn, plays and (drawn not in NUMBERS or cell in ready))
        for cell, drawn in enumerate(seen)
    )


def _ready(field: Field) -> set[int]:
    """The numbers that can be chorded; they are beside a flag."""
    flags = [cell for cell, drawn in enumerate(field.cells) if drawn in FLAGS]
    beside = {near for flag in flags for near in field.around(flag) if field.cells[near] in NUMBERS[1:]}
    return {cell for cell in beside if _chordable(field, cell, field.cells[cell])}


@lru_cache(maxsize=1 << 15)
def _spot(cell: int, width: int, drawn: str, can: bool) -> Spot:  # noqa: FBT001
    """A cell as it is seen; kept, since most cells look as they did before."""
    y, x = divmod(cell, width)
    opened = drawn in OPEN
    click: Move | None = None
    if can and drawn not in FLAGS:
        click = Chord(x + 1, y + 1) if opened else Open(x + 1, y + 1)
    return Spot(
        f"c{cell}",
        x,
        y,
        fill="red" if drawn == "X" else "sunken" if opened else "raised",
        text=drawn if drawn in NUMBERS[1:] else "",
        tone=NUMBERS.index(drawn) if drawn in NUMBERS else 0,
        label=f"column {x + 1}, row {y + 1}: {SAID.get(drawn, drawn)}",
        click=click,
        second=Flag(x + 1, y + 1) if can and not opened else None,
    )


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

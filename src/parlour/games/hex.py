"""Hex: two players, a board of hexagons, and a chain from one side to the other."""

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Annotated, NamedTuple

from msgspec import Meta
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import Config, Event, Game, Moment, Outcome, Send, State, Timeouts, Update
from parlour.scene import Control, Mark, Narrow, Piece, Scene, Side, Spot, hex_grid
from parlour.set_up import Label, Preset, SetUp

STONES = "RB"
COLOURS = ("red", "blue")
WAYS = ("from the top to the bottom", "from left to right")
AROUND = ((0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1))
"""The six neighbours of a cell: how far they are along a row, and down."""


class HexConfig(Config, frozen=True):
    """How large the board is, and whether the second player may take the first stone over."""

    size: Annotated[int, Meta(ge=3, le=19, description="cells on each side of the board")] = 11
    swap: Annotated[bool, Meta(description="blue may take red's first stone over instead of a move")] = True


SET_UP = SetUp(
    presets=(
        Preset("7 x 7", {"size": 7}, "Ten minutes, to learn it.", "Board"),
        Preset("11 x 11", {}, "The usual board.", "Board"),
        Preset("14 x 14", {"size": 14}, "For those who know it well.", "Board"),
    ),
    labels={
        "size": Label("Board", "Cells on each side.", "cells", group="Board"),
        "swap": Label(
            "Swap", "Blue may take red's first stone over, so that red begins fairly.", group="Rules"
        ),
    },
)


class Board(State, frozen=True):
    """A rhombus of cells, row by row: R, B, or a dot where nobody has been.

    >>> print(Board.parse("R . . / . B . / . . ."))
    R . .
     . B .
      . . .
    """

    size: int = 11
    swap: bool = True
    cells: str = "." * 121
    played: tuple[int, ...] = ()
    """The cells in the order in which they were taken; a stone that was taken over comes twice."""
    swapped: bool = False

    @classmethod
    def start(cls, size: int, *, swap: bool = True) -> "Board":
        """An empty board."""
        return cls(size=size, swap=swap, cells="." * size**2)

    @classmethod
    def parse(cls, drawn: str) -> "Board":
        """A board as it is drawn, its rows on lines of their own or between slashes; red has begun."""
        rows = [row.split() for row in drawn.replace("/", "\n").split("\n") if row.strip()]
        cells = "".join(cell for row in rows for cell in row)
        if any(len(row) != len(rows) for row in rows) or set(cells) - set(f"{STONES}."):
            raise ValueError(f"expected as many rows as columns, made of R, B and dots, got {drawn!r}")
        red, blue = ([at for at, cell in enumerate(cells) if cell == stone] for stone in STONES)
        played = tuple(cell for pair in zip(red, blue, strict=False) for cell in pair)
        return cls(size=len(rows), cells=cells, played=(*played, *(red + blue)[len(played) :][:1]))

    def __str__(self) -> str:
        rows = (self.cells[at : at + self.size] for at in range(0, len(self.cells), self.size))
        return "\n".join(" " * number + " ".join(row) for number, row in enumerate(rows))

    @property
    def full(self) -> bool:
        """Both players are here."""
        return None not in (self.player(0), self.player(1))

    @property
    def turn(self) -> int:
        """Whose turn it is: 0 for red, who begins, 1 for blue."""
        return len(self.played) % 2

    @property
    def chain(self) -> tuple[int, ...]:
        """The stones by which somebody has won, from side to side."""
        return chain_of(self.cells, self.size)

    @property
    def winner(self) -> int | None:
        """Who has connected their sides."""
        chain = self.chain
        return STONES.index(self.cells[chain[0]]) if chain else None

    @property
    def can_swap(self) -> bool:
        """Red has put the first stone, and blue may take it over."""
        return self.swap and len(self.played) == 1

    def name(self, cell: int) -> str:
        """A cell as players write it: its column as a letter, its row as a number."""
        return f"{chr(97 + cell % self.size)}{1 + cell // self.size}"

    def with_stone(self, cell: int) -> "Board":
        """The board after the one on turn has put a stone there."""
        cells = self.cells[:cell] + STONES[self.turn] + self.cells[cell + 1 :]
        return replace(self, cells=cells, played=(*self.played, cell))

    def with_swap(self) -> "Board":
        """The first stone is blue's, mirrored, so that it is worth to blue what it was to red."""
        (first,) = self.played
        mirrored = first % self.size * self.size + first // self.size
        cells = "." * mirrored + "B" + "." * (len(self.cells) - mirrored - 1)
        return replace(self, cells=cells, played=(first, mirrored), swapped=True)


@cache
def neighbours(size: int) -> tuple[tuple[int, ...], ...]:
    """For each cell of a board of this size the cells beside it."""
    return tuple(
        tuple(x + dx + size * (y + dy) for dx, dy in AROUND if 0 <= x + dx < size and 0 <= y + dy < size)
        for y in range(size)
        for x in range(size)
    )


@cache
def edges(size: int, seat: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The cells along the two sides that a player connects: red top and bottom, blue left and right."""
    if seat == 0:
        return tuple(range(size)), tuple(range(size**2 - size, size**2))
    return tuple(range(0, size**2, size)), tuple(range(size - 1, size**2, size))


@lru_cache(maxsize=256)
def chain_of(cells: str, size: int) -> tuple[int, ...]:
    """The shortest chain that connects somebody's sides; nothing where nobody's are."""
    for seat, stone in enumerate(STONES):
        start, end = edges(size, seat)
        came = {cell: cell for cell in start if cells[cell] == stone}
        waiting = list(came)
        for cell in waiting:
            if cell in end:
                return tuple(_way_back(came, cell))
            for near in neighbours(size)[cell]:
                if cells[near] == stone and near not in came:
                    came[near] = cell
                    waiting.append(near)
    return ()


def _way_back(came: dict[int, int], cell: int) -> list[int]:
    way = [cell]
    while came[cell] != cell:
        cell = came[cell]
        way.append(cell)
    return way


class Put(Event, frozen=True):
    """Put a stone on a free cell; cells count from 0, row by row from the top left."""

    cell: Annotated[int, Meta(ge=0, le=19 * 19 - 1)]


class Swap(Event, frozen=True):
    """Blue's first turn: take red's stone over instead of putting one."""


class Hex(Game[Board]):
    """Red connects the top and the bottom, blue the left and the right; somebody always does."""

    name = "hex"
    display_name = "Hex"
    seats = range(2, 3)
    timeouts = Timeouts(game="server", away=None, nobody=None)
    offers = ("resign", "takeback")
    first_move = "Click any free cell: whoever joins their own two sides by a chain of stones wins."
    State = Board
    Event = Put | Swap
    Config = HexConfig
    set_up = SET_UP

    def has_draws(self, config: HexConfig) -> bool:
        return False

    def init(self, config: HexConfig, moment: Moment) -> Board:
        return Board.start(config.size, swap=config.swap)

    def handle_event(self, state: Board, sender: str, event: Put | Swap, moment: Moment) -> Update[Board]:
        if state.winner is not None:
            raise Refused(Code.ILLEGAL_MOVE, "the game is over")
        if None in moment.seats:
            raise Refused(Code.NOT_YOUR_TURN, "the game begins when both players are here")
        if sender != state.player(state.turn):
            raise Refused(Code.NOT_YOUR_TURN, f"it is {COLOURS[state.turn]}'s turn")
        if isinstance(event, Swap):
            if not state.can_swap:
                raise Refused(
                    Code.ILLEGAL_MOVE,
                    "only red's first stone can be taken over, and only by blue's first turn",
                )
            after = state.with_swap()
            return Update(after, (Send("all", {"type": "swapped", "cell": after.played[-1]}),))
        if event.cell >= len(state.cells):
            last = len(state.cells) - 1
            raise Refused(
                Code.ILLEGAL_MOVE, f"expected a cell from 0 to {last}, got {event.cell}", path="$.cell"
            )
        if state.cells[event.cell] != ".":
            raise Refused(Code.ILLEGAL_MOVE, f"{state.name(event.cell)} is taken", path="$.cell")
        told = Send("all", {"type": "put", "cell": event.cell, "colour": COLOURS[state.turn]})
        return Update(state.with_stone(event.cell), (told,))

    def view(self, state: Board, viewer: str | None) -> dict[str, object]:
        seat, winner = state.seat(viewer), state.winner
        return {
            "size": state.size,
            "cells": state.cells,
            "turn": None if winner is not None else COLOURS[state.turn],
            "you": None if seat is None else COLOURS[seat],
            "last": state.played[-1] if state.played else None,
            "can_swap": state.can_swap,
            "swap": state.swap,
            "winner": None if winner is None else COLOURS[winner],
            "chain": state.chain,
        }

    def scene(self, state: Board, viewer: str | None) -> Scene:
        seat = state.seat(viewer)
        mine = bool(self.legal_events(state, viewer))
        free = () if seat is None or state.winner is not None else range(len(state.cells))
        puts = {cell: Put(cell) for cell in free if state.cells[cell] == "."}
        rim, narrow = frame(state.size)
        swaps = mine and state.can_swap
        swap = Control("swap", "Take the red stone over", Swap())
        return Scene(
            *WIDE.extent(state.size),
            spots=(*rim, *hex_grid(state.size, state.size, x=MARGIN, y=MARGIN, click=puts, fill="light")),
            pieces=tuple(_stones(state, Swap() if swaps else None)),
            controls=(swap,) if swaps else (),
            waiting=not mine,
            status=_status(state, seat),
            turn=() if state.winner is not None or not state.full else (state.turn,),
            sides=(Side("counter", "top to bottom"), Side("counter", "left to right")),
            cue="move" if state.winner is None else "win",
            log=tuple(_log(state)),
            narrow=narrow,
        )

    def diagram(self, text: str) -> Scene:
        return self.scene(Board.parse(text), None)

    def legal_events(self, state: Board, player: str | None) -> list[Put | Swap]:
        if state.winner is not None or not state.full or player != state.player(state.turn):
            return []
        puts = [Put(cell) for cell, stone in enumerate(state.cells) if stone == "."]
        return [*puts, Swap()] if state.can_swap else [*puts]

    def observe(self, state: Board, viewer: str | None) -> dict[str, tuple[float, ...]]:
        """Whose stones are where, and which way this viewer's chain goes."""
        seat = state.seat(viewer) or 0
        stones = [tuple([float(cell == stone) for cell in state.cells]) for stone in "RB."]
        others = (float(seat == 0), float(state.turn == seat), float(state.can_swap))
        return {"mine": stones[seat], "theirs": stones[1 - seat], "free": stones[2], "others": others}

    def actions(self, config: HexConfig) -> list[Put | Swap]:
        """A stone on each cell of this board, and the swap where there is one."""
        puts = [Put(cell) for cell in range(config.size**2)]
        return [*puts, Swap()] if config.swap else [*puts]

    def outcome(self, state: Board) -> Outcome | None:
        winner = state.winner
        if winner is None:
            return None
        won, lost = (state.player(seat) or "" for seat in (winner, 1 - winner))
        return Outcome(won=(won,), lost=(lost,), why=f"a chain {WAYS[winner]}")


# What a browser draws.

MARGIN = 1.05
"""Around the cells, for the coloured rim and the names of columns and rows."""
RIM = 0.26
"""How far the rim looks out from under the cells."""
STEP = 3**0.5 / 2
"""From one row of hexagons to the next."""
Vector = tuple[float, float]


class Layout(NamedTuple):
    """How the cells lie: the size of one, the way to the next in its row and in its column, the way out."""

    size: Vector
    along: Vector
    down: Vector
    out: tuple[Vector, Vector]
    """Over red's first side, and over blue's."""
    names: tuple[Vector, Vector]
    """From a cell at the edge to the name of its column, and of its row."""

    def box(self, cell: int, board: int, away: Vector = (0, 0)) -> tuple[float, float, float, float]:
        """Where a cell is, or something that lies *away* from it."""
        column, row = cell % board, cell // board
        x, y = (MARGIN + column * self.along[at] + row * self.down[at] + away[at] for at in (0, 1))
        return x, y, *self.size

    def beyond(self, seat: int, side: int, far: float) -> Vector:
        """So far out over a side of the board."""
        x, y = self.out[seat]
        return (x * far, y * far) if side == 0 else (-x * far, -y * far)

    def name_box(self, cell: int, board: int, seat: int) -> tuple[float, float, float, float]:
        """Where the name of a column or a row stands."""
        x, y, w, h = self.box(cell, board, self.names[seat])
        return x + w / 2 - 0.3, y + h / 2 - 0.22, 0.6, 0.44

    def extent(self, board: int) -> Vector:
        """The width and the height of a whole board."""
        x, y, w, h = self.box(board**2 - 1, board)
        return x + w + MARGIN, y + h + MARGIN


WIDE = Layout((1, 1 / STEP), (1, 0), (0.5, STEP), ((0, -1), (-STEP, 0.5)), ((0, -1.08), (-1.1, 0.1)))
TALL = Layout((1 / STEP, 1), (STEP, 0.5), (0, 1), ((0.5, -STEP), (-1, 0)), ((0.45, -0.9), (-1.05, 0)))
"""For an upright phone: the board stands on its corner; red's sides are still the upper and the lower."""


@cache
def frame(size: int) -> tuple[tuple[Spot, ...], Narrow]:
    """What lies around the cells of a board, and all of it for an upright phone."""
    rims = {
        f"rim{seat}{side}-{cell}": (seat, side, cell)
        for seat in (1, 0)
        for side in (0, 1)
        for cell in edges(size, seat)[side]
    }
    names = {
        f"name{seat}-{cell}": (seat, cell, chr(97 + at) if seat == 0 else str(1 + at))
        for seat in (0, 1)
        for at, cell in enumerate(edges(size, seat)[0])
    }
    boxes = {
        layout: {
            id: layout.box(cell, size, layout.beyond(seat, side, RIM))
            for id, (seat, side, cell) in rims.items()
        }
        | {id: layout.name_box(cell, size, seat) for id, (seat, cell, _) in names.items()}
        for layout in (WIDE, TALL)
    }
    spots = [Spot("felt", 0, 0, *WIDE.extent(size), fill="felt")]
    spots += [Spot(id, *boxes[WIDE][id], shape="hex", owner=seat) for id, (seat, _, _) in rims.items()]
    spots += [Spot(id, *boxes[WIDE][id], fill="none", text=text) for id, (_, _, text) in names.items()]
    cells = {f"c{cell}": TALL.box(cell, size) for cell in range(size**2)}
    felt = {"felt": (0.0, 0.0, *TALL.extent(size))}
    return tuple(spots), Narrow(*TALL.extent(size), felt | cells | boxes[TALL])


def _stones(board: Board, swap: Swap | None) -> Iterator[Piece]:
    """The stones in the order in which they came; the one that was taken over went elsewhere."""
    played = board.played[1:] if board.swapped else board.played
    for number, cell in enumerate(played):
        seat = STONES.index(board.cells[cell])
        won, last = cell in board.chain, board.played[-1] == cell
        mark: Mark | None = "win" if won else "last" if last else None
        yield Piece(
            f"s{number}", "counter", f"c{cell}", owner=seat, label=COLOURS[seat], mark=mark, click=swap
        )


def _log(board: Board) -> Iterator[str]:
    for turn, cell in enumerate(board.played):
        what = (
            f"takes the stone over, {board.name(cell)}" if board.swapped and turn == 1 else board.name(cell)
        )
        yield f"{{{turn % 2}}}: {what}"


def _status(board: Board, seat: int | None) -> str:
    """What this seat, or somebody who watches, wants to know first."""
    winner = board.winner
    if winner is not None:
        return (
            f"You win: a chain {WAYS[winner]}"
            if winner == seat
            else f"{{{winner}}} wins: a chain {WAYS[winner]}"
        )
    if not board.full:
        return "Waiting for another player"
    if board.turn != seat:
        return f"Waiting for {{{board.turn}}}"
    return "Your turn: put a stone, or take the red one over" if board.can_swap else "Your turn"

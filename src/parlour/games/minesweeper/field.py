"""The field: its cells, and what opening, flagging and chording make of it.

A field is drawn with one character a cell, in tests, in journals and on the wire:

    ``#``  closed                        ``*``  closed, a mine
    ``!``  flagged, but no mine          ``F``  flagged, a mine
    ``.``  open, no mine around it       ``X``  a mine that was opened
    ``1`` to ``8``  open, so many mines around it

While a game goes on, nobody can tell ``*`` from ``#`` or ``!`` from ``F``: a view draws them alike.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal

from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import Chance, State

NUMBERS = ".12345678"
OPEN = NUMBERS + "X"
MINES = "*FX"
FLAGS = "F!"

LAY = str.maketrans("#!", "*F")
CLEAR = str.maketrans("*F", "#!")
FLIP = str.maketrans("#*!F", "!F#*")
HIDE = str.maketrans("*!", "#F")
"""What becomes of a closed cell: a mine is laid, or cleared; a flag comes or goes; the secret is covered."""

Status = Literal["init", "play", "win", "lose"]


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
    clicked: tuple[int, ...] = ()
    """The cells that were opened by hand and not by a cascade, in that order."""

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
    def ended_by(self) -> tuple[int, ...]:
        """The cells that ended the game: the mines that were opened, or the last click of all."""
        if self.status == "win":
            return self.clicked[-1:]
        return tuple(cell for cell, drawn in enumerate(self.cells) if drawn == "X")

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
        if flags == 1 and number != 1:
            raise Refused(Code.ILLEGAL_MOVE, f"around that {number} there is 1 flag, not {number}")
        if flags != number:
            raise Refused(Code.ILLEGAL_MOVE, f"around that {number} there are {flags} flags, not {number}")
        closed = [near for near in around if self.cells[near] in "#*"]
        if not closed:
            raise Refused(Code.ILLEGAL_MOVE, f"around that {number} there is nothing left to open")
        return self._open(closed)

    def _open(self, waiting: list[int]) -> "Field":
        """Open these; a cell without a mine around opens its neighbours too, but none that has a flag."""
        cells, mined, around = list(self.cells), self.mined, neighbourhoods(self.width, self.height)
        clicked = (*self.clicked, *waiting)
        while waiting:
            cell = waiting.pop()
            if cells[cell] == "*":
                cells[cell] = "X"
            elif cells[cell] == "#":
                number = len(mined.intersection(around[cell]))
                cells[cell] = NUMBERS[number]
                if number == 0:
                    waiting.extend(around[cell])
        return replace(self, cells="".join(cells), clicked=clicked)


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

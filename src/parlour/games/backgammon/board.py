"""The board: where the checkers of both sides are, as a value that can be drawn and read.

It is drawn as x sees it, whose way is from the upper right around to the lower right. ``2x`` are two checkers
of x, ``1xo`` is one that pins an o:

    >>> print(Board.start("backgammon"))
    5x  .   .   .   3o  .   |  5o  .   .   .   .   2x
    5o  .   .   .   3x  .   |  5x  .   .   .   .   2o

What is neither on the board nor on the bar is off:

    >>> print(Board.parse("portes", ". . . . . . | . . . . . . / . . . . . . | 2x . . . . 1o / bar 1o"))
    .   .   .   .   .   .   |  .   .   .   .   .   .
    .   .   .   .   .   .   |  2x  .   .   .   .   1o
    bar 1o, off 13x 13o
"""

import re
from typing import NamedTuple

import msgspec

from parlour.games.backgammon.variants import (
    BAR,
    CHECKERS,
    HOME,
    MOTHER,
    OFF,
    VARIANTS,
    Counts,
    Variant,
    places,
)

SIDES = "xo"

_ROWS = (range(13, 25), range(12, 0, -1))
_CELL = re.compile(r"\.|([1-9]\d*)(x|o|xo|ox)")
_REST = re.compile(r"(bar|off)((?: \d+[xo])+)")


class Step(NamedTuple):
    """One checker moved by one die, counted from the mover's own side."""

    start: int
    end: int


class Board(msgspec.Struct, frozen=True):
    """Side 0 is x, side 1 is o; each counts the points from its own end."""

    variant: str
    counts: tuple[Counts, Counts]
    pinned: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    """The points where a side's checker is held under the other's."""

    @classmethod
    def start(cls, variant: str) -> "Board":
        """As the game begins."""
        counts = VARIANTS[variant].start
        return cls(variant, (counts, counts))

    @property
    def rules(self) -> Variant:
        return VARIANTS[self.variant]

    def pips(self, side: int) -> int:
        """How many pips a side still has to go."""
        counts = self.counts[side]
        return sum(map(int.__mul__, range(BAR), counts)) + self.rules.bar_pips * counts[BAR]

    def winner(self) -> int | None:
        """Who has borne all off."""
        return next((side for side in (0, 1) if self.counts[side][OFF] == CHECKERS), None)

    @property
    def drawn(self) -> bool:
        """Plakoto: both mothers are pinned, nobody can win any more."""
        return MOTHER in self.pinned[0] and MOTHER in self.pinned[1]

    def grade(self, loser: int) -> int:
        """How badly it is lost: 0 with a checker off, 1 without (gammon), 2 with one far back."""
        counts = self.counts[loser]
        if counts[OFF]:
            return 0
        far_back = any(counts[BAR - HOME :])  # the other side's whole home, and the bar
        return min(1 + far_back, len(self.rules.wins) - 1)

    def meets(self, side: int, point: int) -> bool:
        """Whether a checker of *side* that lands there comes upon a lone one of the other."""
        facing = self.rules.facing[point]
        return point != OFF and self.counts[1 - side][facing] == 1 and facing not in self.pinned[1 - side]

    def play(self, side: int, step: Step) -> "Board":
        """The board after a step, which must be legal."""
        rules = self.rules
        mine, theirs = list(self.counts[side]), list(self.counts[1 - side])
        pinned = set(self.pinned[1 - side])
        if self.meets(side, step.end):
            rules.land(theirs, pinned, rules.facing[step.end])
        mine[step.start] -= 1
        mine[step.end] += 1
        if not mine[step.start]:
            pinned.discard(rules.facing[step.start])
        both, pins = (tuple(mine), tuple(theirs)), (self.pinned[side], tuple(sorted(pinned)))
        return Board(self.variant, both if side == 0 else both[::-1], pins if side == 0 else pins[::-1])

    # A text notation.

    @classmethod
    def parse(cls, variant: str, drawn: str) -> "Board":
        """A board as it is drawn, its rows on lines of their own or between slashes."""
        reading = _Reading(VARIANTS[variant])
        rows = [" ".join(row.split()) for row in drawn.strip().replace("/", "\n").splitlines()]
        for row, points in zip(rows, _ROWS, strict=False):
            cells = row.replace("|", " ").split()
            if len(cells) != len(points):
                raise ValueError(f"expected twelve points in a row, got {row!r}")
            for cell, point in zip(cells, points, strict=True):
                reading.read(cell, point)
        for rest in ", ".join(rows[2:]).split(", "):
            reading.read_rest(rest)
        return reading.board()

    def __str__(self) -> str:
        rows = []
        for points in _ROWS:
            cells = [f"{self._cell(point):<4}" for point in points]
            rows.append("".join((*cells[:6], "|  ", *cells[6:])).rstrip())
        rests = [
            name + self._rest(place) for name, place in (("bar", BAR), ("off", OFF)) if self._rest(place)
        ]
        return "\n".join([*rows, ", ".join(rests)] if rests else rows)

    def _cell(self, point: int) -> str:
        """What stands on a point, counted from x's side."""
        facing = self.rules.facing[point]
        x, o = self.counts[0][point], self.counts[1][facing]
        if x and o:
            return f"{o}ox" if point in self.pinned[0] else f"{x}xo"
        return f"{x}x" if x else f"{o}o" if o else "."

    def _rest(self, place: int) -> str:
        counts = [self.counts[side][place] for side in (0, 1)]
        return "".join(f" {count}{mark}" for count, mark in zip(counts, SIDES, strict=True) if count)


class _Reading:
    """A drawn board on its way to be one."""

    def __init__(self, rules: Variant) -> None:
        self.rules = rules
        self.counts: tuple[dict[int, int], dict[int, int]] = ({}, {})
        self.pinned: tuple[list[int], list[int]] = ([], [])
        self.off: dict[int, int] = {}

    def read(self, cell: str, point: int) -> None:
        """A cell, by its number from x's side."""
        found = _CELL.fullmatch(cell)
        if found is None:
            raise ValueError(f"expected a dot or checkers like 2x or 1xo, got {cell!r}")
        if found[1] is None:
            return
        seen = (point, self.rules.facing[point])
        side = SIDES.index(found[2][0])
        self.counts[side][seen[side]] = int(found[1])
        if len(found[2]) > 1:
            self.counts[1 - side][seen[1 - side]] = 1
            self.pinned[1 - side].append(seen[1 - side])

    def read_rest(self, rest: str) -> None:
        """Who is on the bar or off."""
        found = _REST.fullmatch(rest)
        if found is None and rest:
            raise ValueError(f"expected something like 'bar 1x' or 'off 2x 3o', got {rest!r}")
        for count, mark in re.findall(r"(\d+)([xo])", rest):
            side = SIDES.index(mark)
            if rest.startswith("bar"):
                self.counts[side][BAR] = int(count)
            else:
                self.off[side] = int(count)

    def board(self) -> Board:
        for side in (0, 1):
            off = CHECKERS - sum(self.counts[side].values())
            if off < 0 or off != self.off.get(side, off):
                raise ValueError(f"expected {CHECKERS} checkers of {SIDES[side]} in all, got others")
            self.counts[side][OFF] = off
        x, o = map(places, self.counts)
        pins = tuple(sorted(self.pinned[0])), tuple(sorted(self.pinned[1]))
        return Board(self.rules.name, (x, o), pins)

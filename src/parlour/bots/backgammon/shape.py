"""One side's checkers by themselves: what matters about them, kept, for they come up again and again."""

from functools import lru_cache

import msgspec

from parlour.games.backgammon.board import Board
from parlour.games.backgammon.variants import BAR, HOME, VARIANTS, Counts

Points = tuple[int, ...]


class Shape(msgspec.Struct, frozen=True):
    """Where the checkers of a side are, and what they hold."""

    counts: Counts
    pinned: Points
    pips: int
    rear: int
    """The point of the last checker."""
    there: int
    """Where checkers are that can move: bit p for point p."""
    held: int
    """The points closed to the other side: bit p for its point p."""
    wall: int
    """The same in the order in which the other side comes along: bit 25 - p for its point p."""
    blots: Points
    """Where a lone checker can be hit or pinned."""
    home: int
    """How many points of the home are held."""


@lru_cache(maxsize=1 << 15)
def shape(variant: str, counts: Counts, pinned: Points = (), pinning: Points = ()) -> Shape:
    """The shape of a side of which checkers are *pinned* on these points, and others are *pinning* on those.

    >>> shape("backgammon", Board.start("backgammon").counts[0]).pips
    167
    """
    rules = VARIANTS[variant]
    free = [count - (point in pinned) for point, count in enumerate(counts)]
    there = [point for point in range(1, BAR + 1) if free[point]]
    holding = [point for point in there if point < BAR and (free[point] >= rules.holds or point in pinning)]
    return Shape(
        counts,
        pinned,
        pips=sum(map(int.__mul__, range(BAR), counts)) + rules.bar_pips * counts[BAR],
        rear=max((point for point in range(1, BAR + 1) if counts[point]), default=0),
        there=sum(1 << point for point in there),
        held=sum(1 << rules.facing[point] for point in holding),
        wall=sum(1 << (BAR - rules.facing[point]) for point in holding),
        blots=tuple(point for point in there if point < BAR and point not in holding),
        home=sum(point <= HOME for point in holding),
    )


def shapes(board: Board, side: int) -> tuple[Shape, Shape]:
    """This side's, and the other's."""
    variant, (mine, theirs) = board.variant, board.counts[:: 1 - 2 * side]
    if not any(board.pinned):
        return shape(variant, mine), shape(variant, theirs)
    pinned, facing = board.pinned[:: 1 - 2 * side], board.rules.facing
    above = [tuple(facing[point] for point in points) for points in pinned]
    return shape(variant, mine, pinned[0], above[1]), shape(variant, theirs, pinned[1], above[0])

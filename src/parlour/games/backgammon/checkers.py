"""Which checker is where: the rules only count them, but a browser lets each one glide."""

from collections.abc import Iterator

import msgspec

from parlour.games.backgammon.board import Board, Step
from parlour.games.backgammon.variants import BAR, CHECKERS, hit

Places = tuple[tuple[int, int], ...]
"""Each checker of a side with its place; who came last to a place stands last, and lies on top."""


class Checkers(msgspec.Struct, frozen=True):
    """The checkers of both sides, numbered from 0; side by side with a `Board` they move along."""

    places: tuple[Places, Places]

    @classmethod
    def on(cls, board: Board) -> "Checkers":
        """Checkers for a board, the ones farthest behind first.

        >>> Checkers.on(Board.start("backgammon")).places[0][:3]
        ((0, 24), (1, 24), (2, 13))
        """
        x, o = (tuple(zip(range(CHECKERS), _places(counts), strict=True)) for counts in board.counts)
        return cls((x, o))

    def play(self, board: Board, side: int, step: Step) -> "Checkers":
        """After a step on this board: the uppermost of its point moves, and whom it hits goes to the bar."""
        sides, other = list(self.places), 1 - side
        if board.rules.land is hit and board.meets(side, step.end):
            sides[other] = _moved(sides[other], board.rules.facing[step.end], BAR)
        sides[side] = _moved(sides[side], step.start, step.end)
        return Checkers((sides[0], sides[1]))

    def moved(self, since: "Checkers", side: int) -> tuple[int, ...]:
        """The checkers of a side that stand elsewhere than before."""
        return tuple(number for number, _ in sorted(set(self.places[side]) - set(since.places[side])))


def _places(counts: tuple[int, ...]) -> Iterator[int]:
    for place in reversed(range(len(counts))):
        yield from [place] * counts[place]


def _moved(places: Places, start: int, end: int) -> Places:
    number = next(number for number, place in reversed(places) if place == start)
    return (*(pair for pair in places if pair[0] != number), (number, end))

"""What a board is worth to the side that has just moved.

`plain` and `simple` count in pips. `worth` is in logits: 0 is an even game, and one more makes winning e
times as likely against losing. The weights of backgammon began as a logistic regression on some hundred games
of self-play and were then merged and rounded by hand; those of plakoto and fevga are set by hand.
"""

from collections.abc import Callable
from functools import lru_cache
from math import exp

from parlour.bots.backgammon.dice import SEEN, hindrance, shots
from parlour.bots.backgammon.shape import Shape, shapes
from parlour.games.backgammon.board import Board
from parlour.games.backgammon.variants import BAR, CHECKERS, HOME, MOTHER, OFF, Counts

WON = 10.0
PIPS = 30.0
"""So many pips ahead make the chance to win e times the chance to lose."""
SAFER = 0.2
"""How much less a lone checker is in danger whose side rolls first."""


def plain(board: Board, side: int) -> float:
    """What somebody sees who has just learned it. It is no fun to hit: else two such would never end."""
    mine = board.counts[side]
    return 5.0 * mine[OFF] - board.pips(side) + 2.0 * sum(count >= 2 for count in mine[1:BAR])


def simple(board: Board, side: int) -> float:
    """What a book for beginners says: hold points, most of all at home, leave nobody alone, hit and pin."""
    return _thumb(board, side) - _thumb(board, 1 - side)


def _thumb(board: Board, side: int) -> float:
    counts, holds = board.counts[side], board.rules.holds
    held = sum(count >= holds for count in counts[1:BAR]) + sum(
        count >= holds for count in counts[1 : HOME + 1]
    )
    alone = sum(0 < count < holds for count in counts[1:BAR])
    pinned = sum(8.0 + point for point in board.pinned[side])
    return 5.0 * counts[OFF] - board.pips(side) + 2.0 * (held - alone) - pinned


def worth(board: Board, side: int) -> float:
    """All that is good for this side, less all that is good for the other, who rolls next."""
    mine, theirs = shapes(board, side)
    if mine.counts[OFF] == CHECKERS:
        return WON
    if board.drawn:
        return 0.0
    judge = JUDGES.get(board.variant, _judge_points)
    return judge(mine, theirs)


def chance_to_win(board: Board, side: int) -> float:
    """How likely the side that has just moved wins.

    >>> round(chance_to_win(Board.start("backgammon"), 0), 2)
    0.46
    """
    return 1 / (1 + exp(-worth(board, side)))


# Backgammon, tavla, portes: what is hit must begin anew.


def _judge_points(mine: Shape, theirs: Shape) -> float:
    """A lead counts for more the shorter the way is; before that, what is held and what is in danger."""
    lead = theirs.pips - mine.pips
    race = lead * (5.66 / (theirs.pips + mine.pips + 20) - 0.0103)
    own = _points(mine.counts) - _points(theirs.counts)
    if mine.rear + theirs.rear <= BAR:
        return race + own - 0.24
    return race + own + _dangers(theirs, mine, SAFER) - _dangers(mine, theirs, 1.0) - 0.18


@lru_cache(maxsize=1 << 15)
def _points(counts: Counts) -> float:
    """Points in a row are good, and so is who is off; heaps and whoever is out of play are not."""
    held = [count >= 2 for count in counts]
    best = row = 0
    for point in range(2, 19):
        row = row + 1 if held[point] else 0
        best = max(best, row)
    return (
        0.24 * counts[OFF]
        + 0.09 * best
        + 0.15 * sum(held[1:3])
        + 0.18 * held[HOME]
        - 0.05 * sum(held[8:19])
        - 0.16 * sum(held[19:BAR])
        + 0.04 * sum(counts[19:])
        - 0.10 * (counts[1] + counts[2])
        - 0.02 * sum(max(0, count - 3) for count in counts[1:BAR])
    )


def _dangers(mine: Shape, theirs: Shape, danger: float) -> float:
    """What may be hit, who waits on the bar, and how the last checkers are walled in."""
    lost = hit = 0.0
    for point in mine.blots:
        if seen := theirs.there >> (BAR - point + 1) & SEEN:
            rolls = shots(seen, mine.held >> (BAR - point + 1) & SEEN)
            lost += rolls * (BAR - point)
            hit += rolls
    if theirs.counts[BAR]:
        danger /= 2  # who has to enter first hits half as often
    return (
        danger * (0.021 * lost + 0.09 * theirs.home * hit) / 36
        + mine.counts[BAR] * (0.07 + 0.0125 * theirs.home**2)
        + 0.47 * _trapped(mine, theirs)
    )


def _trapped(mine: Shape, theirs: Shape) -> float:
    """How many checkers cannot go on, each by the share of its way that the wall before it takes."""
    wall = theirs.wall
    return sum([count * hindrance(wall >> shift & SEEN) for count, shift in mine.way])


# Plakoto: what is pinned waits until it is let go.

MOTHERS = 60.0
"""What the mother is worth besides: who loses it hardly wins."""
LATER = 1
"""Who is safe from this roll, but not past the other side, is pinned by one of 36 later."""


def _judge_pins(mine: Shape, theirs: Shape) -> float:
    return (_lead(mine, theirs) + _pins(mine, theirs, 1.0) - _pins(theirs, mine, SAFER)) / PIPS


def _lead(mine: Shape, theirs: Shape) -> float:
    return theirs.pips - mine.pips + 5.0 * (mine.counts[OFF] - theirs.counts[OFF])


def _pins(mine: Shape, theirs: Shape, danger: float) -> float:
    """Whoever is held far from home is held for long; lone checkers on the way can be."""
    held = sum(map(_pin, mine.pinned))
    points = 2.0 * sum(count >= 2 for count in mine.counts[1:BAR])
    return points - held - danger * _threats(mine, theirs) - 3.0 * _trapped(mine, theirs)


def _pin(point: int) -> float:
    """What it costs to be pinned there."""
    return 8.0 + 1.2 * point + MOTHERS * (point == MOTHER)


def _threats(mine: Shape, theirs: Shape) -> float:
    loss = 0.0
    for point in mine.blots:
        if ahead := theirs.there >> (BAR - point + 1):
            rolls = shots(ahead & SEEN, mine.held >> (BAR - point + 1) & SEEN)
            loss += (rolls + LATER) * _pin(point)
    return loss / 36


# Fevga: every checker is a wall.


def _judge_blocks(mine: Shape, theirs: Shape) -> float:
    return (_lead(mine, theirs) + _blocks(mine, theirs) - _blocks(theirs, mine)) / PIPS


def _blocks(mine: Shape, theirs: Shape) -> float:
    """Every point held is closed to the other side, most of all those before its checkers."""
    return _walls(mine.counts) - 3.0 * _trapped(mine, theirs)


@lru_cache(maxsize=1 << 15)
def _walls(counts: Counts) -> float:
    good, row = 0.0, 0
    for point in range(1, BAR):
        row = row + 1 if counts[point] else 0
        good += (1.5 + 0.8 * row) * (row > 0) - 0.4 * max(0, counts[point] - 3)
    return good


JUDGES: dict[str, Callable[[Shape, Shape], float]] = {"plakoto": _judge_pins, "fevga": _judge_blocks}
"""Where it is not as in backgammon."""

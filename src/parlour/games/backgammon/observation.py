"""A match as numbers, for programs that learn."""

from math import log2
from typing import get_args

from parlour.games.backgammon.board import Board
from parlour.games.backgammon.match import HIGHEST_CUBE, Match, Phase
from parlour.games.backgammon.variants import BAR, CHECKERS, VARIANTS

MOST_DICE = 4
PHASES = {phase: tuple([float(other == phase) for other in get_args(Phase)]) for phase in get_args(Phase)}
VARIANT = {name: tuple([float(other == name) for other in VARIANTS]) for name in VARIANTS}
"""A 1 among 0s for each phase, and for each variant."""
SHARES = tuple([count / CHECKERS for count in range(CHECKERS + 1)])
NO_PINS = (0.0,) * BAR


def observed(match: Match, seat: int) -> dict[str, tuple[float, ...]]:
    """All from 0 to 1 as this seat sees it: checkers by place, dice, whose turn, the cube and the score."""
    board, left = match.board, match.left
    mine, theirs = (match.score[side] for side in (seat, 1 - seat))
    owner = match.cube.owner
    return {
        "mine": _places(board, seat),
        "theirs": _places(board, 1 - seat),
        "my_pins": _pins(board, seat),
        "their_pins": _pins(board, 1 - seat),
        "dice": tuple([die / 6 for die in (*left, 0, 0, 0, 0)[:MOST_DICE]]),
        "phase": PHASES[match.phase],
        "turn": (float(match.turn == seat),),
        "cube": (log2(match.cube.value) / log2(HIGHEST_CUBE), float(owner == seat), float(owner == 1 - seat)),
        "variant": VARIANT[board.variant],
        "score": (mine / (1 + mine), theirs / (1 + theirs)),
    }


def _places(board: Board, side: int) -> tuple[float, ...]:
    return tuple([SHARES[count] for count in board.counts[side]])


def _pins(board: Board, side: int) -> tuple[float, ...]:
    pinned = board.pinned[side]
    return tuple([float(point in pinned) for point in range(BAR)]) if pinned else NO_PINS

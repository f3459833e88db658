"""A match as numbers, for programs that learn."""

from math import log2
from typing import get_args

from parlour.games.backgammon.board import Board
from parlour.games.backgammon.match import HIGHEST_CUBE, Match, Phase
from parlour.games.backgammon.variants import BAR, CHECKERS, VARIANTS

MOST_DICE = 4
PHASES = get_args(Phase)


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
        "phase": tuple([float(match.phase == phase) for phase in PHASES]),
        "turn": (float(match.turn == seat),),
        "cube": (log2(match.cube.value) / log2(HIGHEST_CUBE), float(owner == seat), float(owner == 1 - seat)),
        "variant": tuple([float(board.variant == variant) for variant in VARIANTS]),
        "score": (mine / (1 + mine), theirs / (1 + theirs)),
    }


def _places(board: Board, side: int) -> tuple[float, ...]:
    return tuple([count / CHECKERS for count in board.counts[side]])


def _pins(board: Board, side: int) -> tuple[float, ...]:
    pinned = board.pinned[side]
    return tuple([float(point in pinned) for point in range(BAR)])

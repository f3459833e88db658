"""How a bot answers a resignation: by what playing on would bring it on average."""

from math import exp

from parlour.bots.backgammon.worth import chance_to_win
from parlour.games.backgammon.board import Board
from parlour.games.backgammon.variants import BAR, CHECKERS, HOME, OFF

THEIR_HOME = BAR - HOME - 1
"""Beyond this point is the other side's home."""
ROLL = 8.17
"""How many pips a roll is worth on average."""
STEEP = 2.0
"""How fast a lead in rolls becomes a certainty."""
GREED = 0.05
"""So much more, in points of the cube, playing on must bring to be worth the trouble."""


def is_enough(board: Board, side: int, points: int, cube: int, *, my_turn: bool) -> bool:
    """Whether *side* wins no more by playing on than the points that it is offered."""
    win = 1 - chance_to_win(board, 1 - side) if my_turn else chance_to_win(board, side)
    return points >= cube * (win * win_value(board, side) - (1 - win) * board.rules.wins[0] - GREED)


def win_value(board: Board, side: int) -> float:
    """What a win of this side counts on average, without the cube.

    >>> round(win_value(Board.start("backgammon"), 0), 1)
    1.0
    """
    counts, wins = board.counts[1 - side], board.rules.wins
    if counts[OFF]:
        return float(wins[0])
    mine = max(board.pips(side) / ROLL, (CHECKERS - board.counts[side][OFF]) / 2) + 0.5
    last = min(place for place in range(1, BAR + 1) if counts[place])
    homeward = sum(count * max(0, place - HOME) for place, count in enumerate(counts)) + min(last, HOME)
    gammon = _likely(homeward / ROLL - mine)
    away = sum(count * max(0, place - THEIR_HOME) for place, count in enumerate(counts))
    backgammon = min(gammon, _likely(away / ROLL - mine)) if away else 0.0
    return wins[0] + gammon * (wins[1] - wins[0]) + backgammon * (wins[-1] - wins[1])


def _likely(rolls: float) -> float:
    """How likely somebody comes too late who needs so many rolls more than the other."""
    return 1 / (1 + exp(-STEEP * rolls))

"""Stratego with some sense: it takes what it beats, spares what it needs, and goes forward."""

from collections.abc import Mapping, Sequence
from typing import Any

from parlour.game import Bot, BotWithAnswers, Chance
from parlour.games.stratego.board import (
    BOMB,
    FLAG,
    HOMES,
    MARSHAL,
    MINER,
    RANKS,
    RED,
    SCOUT,
    SIDES,
    SPY,
    fight,
)
from parlour.games.stratego.formations import FORMATIONS, read_formation

WORTH = {SPY: 5, SCOUT: 2, MINER: 6, BOMB: 4, FLAG: 1000, MARSHAL: 20}
"""What a piece is worth; the others are worth their rank."""


def play_sensibly(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """Draw up in a formation and say ready; then the move that promises most."""
    board = [word for row in view["board"] for word in row.split()]
    if view["phase"] == "arranging":
        return _arrange(board, SIDES.index(view["you"]), legal, chance)
    moves = [event for event in legal if event["type"] == "move"]
    if not moves:
        return legal[0]
    last = view["last"]
    return max(moves, key=lambda move: _promise(board, move, last) + chance.below(1000) / 1000)


def _arrange(board: Sequence[str], side: int, legal: Sequence[Any], chance: Chance) -> Any:
    home = list(HOMES[side])
    ranks = "".join(board[square][1] for square in (reversed(home) if side == RED else home))
    forms = [event for event in legal if event["type"] == "form"]
    if forms and ranks not in map(read_formation, FORMATIONS.values()):
        return chance.choice(forms)
    return next(event for event in legal if event["type"] == "ready")


def _promise(board: Sequence[str], move: Any, last: Any) -> float:
    """What a move is good for."""
    start, end = board[move["from"]], board[move["to"]]
    mine = RANKS.index(start[1])
    back = last is not None and (move["to"], move["from"]) == (last["from"], last["to"])
    forward: int = (move["to"] // 10 - move["from"] // 10) * (1 if start[0] in "rR" else -1)
    if end == ".":
        return 0.6 * forward - (2 if back else 0) - (0.3 * mine if mine >= 8 else 0)
    theirs = RANKS.index(end[1])
    if theirs:
        result = fight(mine, theirs)
        gain, loss = _worth(theirs), _worth(mine)
        return {"won": 10 + gain, "both fell": gain - loss, "lost": -5 - loss}[result]
    return _gamble(mine, moved=end.endswith(("'", "^"))) + 0.2 * forward


def _gamble(mine: int, *, moved: bool) -> float:
    """Whether to attack what nobody has seen: with what is cheap, and with miners what never moved."""
    if mine == SPY:
        return -2.0
    if mine == MINER:
        return -1.0 if moved else 3.0
    if mine >= 8:
        return 2.0 if moved else -4.0
    return 1.5 if moved or mine == SCOUT else 0.5


def _worth(rank: int) -> int:
    return WORTH.get(rank, rank)


def agrees_unless_ahead(view: Any, offer: str) -> bool:
    """Agree to a draw unless the other side has lost more, and to everything else."""
    mine, theirs = (
        sum(_worth(RANKS.index(rank)) for rank in view["lost"][side])
        for side in sorted(SIDES, key=lambda side: side != view["you"])
    )
    return offer != "draw" or theirs <= mine


BOTS: Mapping[str, Bot] = {"sensible": BotWithAnswers(play_sensibly, agrees_unless_ahead)}

"""Noughts and crosses: casually, or without a mistake, every game from here on being looked at."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from parlour.game import Bot, BotWithAnswers, Chance
from parlour.games.tictactoe import MARKS, line_of


def play_casually(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """Three in a row if that can be had, then what stops the other's, then anything: who sets a trap wins."""
    cells, mark = view["cells"], view["you"]
    for whose in (mark, _other(mark)):
        if ends := [event for event in legal if line_of(_marked(cells, event["cell"], whose))]:
            return chance.choice(ends)
    return chance.choice(legal)


def play_perfectly(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """One of the moves that lead to the best end that can be forced."""
    cells, mark = view["cells"], view["you"]
    worth = {event["cell"]: -_worth(_marked(cells, event["cell"], mark), _other(mark)) for event in legal}
    best = max(worth.values())
    return chance.choice([event for event in legal if worth[event["cell"]] == best])


@cache
def _worth(cells: str, mark: str) -> int:
    """How it ends for the one who is on turn, if nobody makes a mistake: 1 won, 0 drawn, -1 lost."""
    if line_of(cells):
        return -1  # it was the other who made the line
    free = [cell for cell, there in enumerate(cells) if there == "."]
    return max((-_worth(_marked(cells, cell, mark), _other(mark)) for cell in free), default=0)


def _marked(cells: str, cell: int, mark: str) -> str:
    return cells[:cell] + mark + cells[cell + 1 :]


def _other(mark: str) -> str:
    return MARKS[1 - MARKS.index(mark)]


def takes_what_it_cannot_better(view: Any, offer: str) -> bool:
    """Agree to a draw unless a win can be forced, and to everything else."""
    to_move = view["turn"]
    worth = _worth(view["cells"], to_move)
    return offer != "draw" or (worth if to_move == view["you"] else -worth) <= 0


BOTS: Mapping[str, Bot] = {
    "casual": BotWithAnswers(play_casually, takes_what_it_cannot_better),
    "perfect": BotWithAnswers(play_perfectly, takes_what_it_cannot_better),
}

"""Backgammon and its relatives at three levels.

All of them look at every way to play the roll and take the best by what the board is worth after it: easy by
the race and little else, medium by what a book for beginners says, hard by all that it knows, and the best
few of its ways by what the other side can make of them with each roll.

What is looked at is bounded by numbers and not by time, so that the same question has the same answer on
every machine.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from parlour.bots.backgammon.dice import ROLLS
from parlour.bots.backgammon.worth import chance_to_win, plain, simple, worth
from parlour.game import Chance
from parlour.games.backgammon.board import Board
from parlour.games.backgammon.moves import Way, rolled, ways

Worth = Callable[[Board, int], float]
"""What a board is worth to the side that has just moved."""

CANDIDATES = 4
NEAR = 0.3
"""So many ways are looked at further, if they are worth not much less than the best."""
TAKE = 0.25
"""A double is taken by whoever wins one game of four: to play on then costs no more than to decline."""
DOUBLE = 0.7
TOO_GOOD = 0.9
"""Between these a double is offered; above, the game itself may bring more."""


def play_easily(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """By the race, and by not standing alone."""
    return _decide(view, legal, chance, plain)


def play_well(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """By the race and a few rules of thumb."""
    return _decide(view, legal, chance, simple)


def play_ahead(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """By all that a board is worth; the best few are looked at one roll further."""
    return _decide(view, legal, chance, worth, ahead=True)


def _decide(view: Any, legal: Sequence[Any], chance: Chance, value: Worth, *, ahead: bool = False) -> Any:
    types = {event["type"]: event for event in legal}
    board, side = board_of(view), view["you"]
    if "move" in types:
        return _move(legal, chance, _choose(board, side, tuple(view["left"]), value, ahead=ahead))
    if "accept" in types:
        return types["accept" if chance_to_win(board, side) >= TAKE else "decline"]
    if "double" in types and DOUBLE <= 1 - chance_to_win(board, 1 - side) < TOO_GOOD:
        return types["double"]
    return types.get("roll") or legal[0]


def board_of(view: Any) -> Board:
    """The board that a view shows."""
    counts, pinned = (tuple(map(tuple, view[name])) for name in ("checkers", "pinned"))
    return Board(view["variant"], counts, pinned)  # type: ignore[arg-type]


def _choose(board: Board, side: int, dice: tuple[int, ...], value: Worth, *, ahead: bool) -> Way:
    """The way to play that is worth most."""
    found = [(value(end, side), way, end) for way, end in _ends(board, side, dice)]
    found.sort(key=lambda one: -one[0])
    best = [one for one in found[:CANDIDATES] if one[0] >= found[0][0] - NEAR] if ahead else found[:1]
    if len(best) > 1 and best[0][2].winner() is None:
        best.sort(key=lambda one: -_after_reply(one[2], side))
    return best[0][1]


def _ends(board: Board, side: int, dice: tuple[int, ...]) -> Iterator[tuple[Way, Board]]:
    """Each way to play, and the board after it; what ways have in common is played once."""
    boards: dict[Way, Board] = {(): board}
    for way in ways(board, side, dice):
        for number, step in enumerate(way, 1):
            if way[:number] not in boards:
                boards[way[:number]] = boards[way[: number - 1]].play(side, step)
        yield way, boards[way]


@lru_cache(maxsize=64)
def _after_reply(board: Board, side: int) -> float:
    """How likely a side wins if the other plays each roll as well as it can.

    The few last answers are kept: a turn is asked for move by move, and the same boards are its ends.
    """
    return (
        1 - sum(often * _best_reply(board, 1 - side, rolled(one, other)) for one, other, often in ROLLS) / 36
    )


def _best_reply(board: Board, side: int, dice: tuple[int, ...]) -> float:
    ends = [end for _, end in _ends(board, side, dice)] or [board]
    return chance_to_win(max(ends, key=lambda end: worth(end, side)), side)


def _move(legal: Sequence[Any], chance: Chance, way: Way) -> Any:
    """The first step of a way, as one of the moves that are offered."""
    for step in way:
        for event in legal:
            if (event["from"], event["to"]) == step:
                return event
    return chance.choice(legal)

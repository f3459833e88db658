"""Backgammon and its relatives at three levels.

All of them look at the ways to play a roll and take the best by what the board is worth after it: easy by
the race and little else, and it overlooks half of them; medium by what a book for beginners says, and it
overlooks some; hard by all that it knows, and the best few by what the other side can make of them.

What is looked at is bounded by numbers and not by time, so that the same question has the same answer on
every machine.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from parlour.bots.backgammon.resigning import is_enough
from parlour.bots.backgammon.worth import chance_to_win, plain, simple, worth
from parlour.game import Bot, Chance
from parlour.games.backgammon.board import Board
from parlour.games.backgammon.moves import Way, rolled, ways

Worth = Callable[[Board, int], float]
"""What a board is worth to the side that has just moved."""

CANDIDATES = 3
NEAR = 0.1
"""So many ways are looked at further, if they are worth not much less than the best."""
REPLIES = tuple(rolled(one, other) for one in range(2, 7) for other in range(1, one))
"""The rolls that the other side may have then."""
TAKE = 0.25
"""A double is taken by whoever wins one game of four: to play on then costs no more than to decline."""
DOUBLE = 0.7
TOO_GOOD = 0.9
"""Between these a double is offered; above, the game itself may bring more."""


def play_easily(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """By the race, and by not standing alone; it overlooks every other way, and never gives up."""
    types = {event["type"]: event for event in legal}
    if "accept_resignation" in types:
        return types[_answer(view)]
    if "move" in types:
        return first_move(legal, chance, _glance(view, chance, plain, overlooks=2))
    return types.get("accept") or types.get("roll") or legal[0]


def play_well(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """By the race and a few rules of thumb; it overlooks one way in four."""
    types = {event["type"]: event for event in legal}
    if "accept_resignation" in types:
        return types[_answer(view)]
    if "move" in types:
        return first_move(legal, chance, _glance(view, chance, simple, overlooks=4))
    return _wager(view, legal)


def play_ahead(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """By all that a board is worth; the best few are looked at one roll further."""
    types = {event["type"]: event for event in legal}
    if "accept_resignation" in types:
        return types[_answer(view)]
    if "move" in types:
        return first_move(legal, chance, _choose(board_of(view), view["you"], tuple(view["left"])))
    return _wager(view, legal)


def _wager(view: Any, legal: Sequence[Any]) -> Any:
    """What to do but move: roll, or double if the time is right; answer a double by what can still be won."""
    types = {event["type"]: event for event in legal}
    board, side = board_of(view), view["you"]
    if "accept" in types:
        return types["accept" if chance_to_win(board, side) >= TAKE else "decline"]
    if "double" in types and DOUBLE <= 1 - chance_to_win(board, 1 - side) < TOO_GOOD:
        return types["double"]
    return types.get("roll") or legal[0]


def _answer(view: Any) -> str:
    """What to say to a resignation, the same at all levels: nobody lets go what is won already."""
    board, side, cube = board_of(view), view["you"], view["cube"]
    points, value = view["resigning"]["points"], 1 if cube is None else cube["value"]
    enough = is_enough(board, side, points, value, my_turn=view["turn"] == side)
    return "accept_resignation" if enough else "refuse_resignation"


def board_of(view: Any) -> Board:
    """The board that a view shows."""
    counts, pinned = (tuple(map(tuple, view[name])) for name in ("checkers", "pinned"))
    return Board(view["variant"], counts, pinned)  # type: ignore[arg-type]


def _glance(view: Any, chance: Chance, value: Worth, *, overlooks: int) -> Way:
    """The way that is worth most among those seen; one in so many is overlooked."""
    ends = list(each_end(board_of(view), view["you"], tuple(view["left"])))
    seen = [end for end in ends if chance.below(overlooks)] or ends
    return max(seen, key=lambda end: value(end[1], view["you"]))[0]


def _choose(board: Board, side: int, dice: tuple[int, ...]) -> Way:
    """The way that is worth most; among those that are close, the one after which the other can do least."""
    found = [(worth(end, side), way, end) for way, end in each_end(board, side, dice)]
    found.sort(key=lambda one: -one[0])
    best = [one for one in found[:CANDIDATES] if one[0] >= found[0][0] - NEAR]
    if len(best) > 1 and best[0][2].winner() is None:
        best.sort(key=lambda one: -_after_reply(one[2], side))
    return best[0][1]


def each_end(board: Board, side: int, dice: tuple[int, ...]) -> Iterator[tuple[Way, Board]]:
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

    Doubles are left out: they come once in six times, and have more ways than all other rolls together.
    The few last answers are kept: a turn is asked for move by move, and the same boards are its ends.
    """
    return 1 - sum(_best_reply(board, 1 - side, dice) for dice in REPLIES) / len(REPLIES)


def _best_reply(board: Board, side: int, dice: tuple[int, ...]) -> float:
    ends = [end for _, end in each_end(board, side, dice)] or [board]
    return chance_to_win(max(ends, key=lambda end: worth(end, side)), side)


def first_move(legal: Sequence[Any], chance: Chance, way: Way) -> Any:
    """The first step of a way, as one of the moves that are offered."""
    for step in way:
        for event in legal:
            if (event["from"], event["to"]) == step:
                return event
    return chance.choice(legal)


BOTS: Mapping[str, Bot] = {"easy": play_easily, "medium": play_well, "hard": play_ahead}
"""The weakest first."""

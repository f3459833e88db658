"""Backgammon and its relatives at three levels.

All of them look at every way to play the roll and take the best by what the board is worth after it: easy by
the race and little else, medium by all that it knows, hard also by what the other side can make of it with
each roll.
"""

from collections.abc import Callable, Sequence
from typing import Any

from parlour.game import Chance
from parlour.games.backgammon.board import Board
from parlour.games.backgammon.moves import Way, rolled, ways
from parlour.games.backgammon.variants import BAR, HOME, MOTHER, OFF

Worth = Callable[[Board, int], float]
"""What a board is worth to a side."""

CANDIDATES = 4
"""So many ways are looked at further."""
ROLLS = [(one, other, 1 if one == other else 2) for one in range(1, 7) for other in range(1, one + 1)]
"""Each roll, and how often it comes in 36."""
SAFER = 0.35
"""How much less a lone checker is in danger whose side moves first."""
TAKE = -60.0
DOUBLE = 35.0
"""Where, in pips or what is worth as much, a double is still taken, and where it is offered."""


def play_easily(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """By the race, and by not standing alone."""
    return _decide(view, legal, chance, plain, deep=False)


def play_well(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """By all that a board is worth."""
    return _decide(view, legal, chance, worth, deep=False)


def play_ahead(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """The best few are looked at one roll further."""
    return _decide(view, legal, chance, worth, deep=True)


def _decide(view: Any, legal: Sequence[Any], chance: Chance, value: Worth, *, deep: bool) -> Any:
    types = {event["type"]: event for event in legal}
    board, side = board_of(view), view["you"]
    if "move" in types:
        return _move(legal, chance, _choose(view, board, side, value, deep=deep))
    if "accept" in types:
        return types["accept" if value(board, side) > TAKE else "decline"]
    if "double" in types and DOUBLE < value(board, side) < 3 * DOUBLE:
        return types["double"]
    return types.get("roll") or legal[0]


def board_of(view: Any) -> Board:
    """The board that a view shows."""
    counts, pinned = (tuple(map(tuple, view[name])) for name in ("checkers", "pinned"))
    return Board(view["variant"], counts, pinned)  # type: ignore[arg-type]


def _choose(view: Any, board: Board, side: int, value: Worth, *, deep: bool) -> Way:
    """The way to play that is worth most."""
    found = []
    for way in ways(board, side, tuple(view["left"])):
        after = board
        for step in way:
            after = after.play(side, step)
        found.append((value(after, side), after, way))
    found.sort(key=lambda one: one[0], reverse=True)
    if not deep or len(found) < 2 or found[0][1].winner() is not None:
        return found[0][2]
    return max(found[:CANDIDATES], key=lambda one: _ahead(one[1], side, value))[2]


def _ahead(board: Board, side: int, value: Worth) -> float:
    """What a board is worth if the other side plays each roll as well as it can."""
    total = 0.0
    for one, other, often in ROLLS:
        total -= often * _best_reply(board, 1 - side, rolled(one, other), value)
    return total / 36


def _best_reply(board: Board, side: int, dice: tuple[int, ...], value: Worth) -> float:
    best = None
    for way in ways(board, side, dice):
        after = board
        for step in way:
            after = after.play(side, step)
        worth_now = value(after, side)
        best = worth_now if best is None or worth_now > best else best
    return value(board, side) if best is None else best


def _move(legal: Sequence[Any], chance: Chance, way: Way) -> Any:
    """The first step of a way, as one of the moves that are offered."""
    for step in way:
        for event in legal:
            if (event["from"], event["to"]) == step:
                return event
    return chance.choice(legal)


# What a board is worth, in pips or what is worth as much.


def race(board: Board, side: int) -> float:
    """Who is ahead in the race."""
    return float(board.pips(1 - side) - board.pips(side)) + 5 * board.counts[side][OFF]


def plain(board: Board, side: int) -> float:
    """What somebody sees who has just learned it. It is no fun to hit: else two such would never end."""
    mine = board.counts[side]
    return 5.0 * mine[OFF] - board.pips(side) + 2.0 * sum(count >= 2 for count in mine[1:BAR])


def worth(board: Board, side: int) -> float:
    """The race, and what makes the next turns better or worse; *side* has just moved, so it is in danger."""
    return race(board, side) + _shape(board, side, 1.0) - _shape(board, 1 - side, SAFER)


def _shape(board: Board, side: int, danger: float) -> float:
    if board.variant == "plakoto":
        return _pins(board, side, danger)
    if board.variant == "fevga":
        return _blocks(board, side)
    return _points(board, side, danger)


def _points(board: Board, side: int, danger: float) -> float:
    """Held points are good, most of all at home and in a row; lone checkers within reach are not."""
    mine, theirs = board.counts[side], board.counts[1 - side]
    good, run = 0.0, 0
    for point in range(1, BAR):
        if mine[point] >= 2:
            run += 1
            good += (5.0 if point <= HOME else 3.0 if point <= 12 else 1.5) + run
        else:
            run = 0
            if mine[point] == 1:
                good -= danger * _shots(theirs, BAR - point) * (BAR - point) / 30
    closed = sum(mine[point] >= 2 for point in range(1, HOME + 1))
    return good + theirs[BAR] * closed * 3.0


def _shots(theirs: Sequence[int], facing: int) -> float:
    """How likely, in 36 rolls or so, somebody from behind comes to this point of theirs."""
    near = sum(2.0 for away in range(1, 7) if facing + away <= BAR and theirs[facing + away])
    return 5 * near + sum(1.5 for away in range(7, 13) if facing + away <= BAR and theirs[facing + away])


def _pins(board: Board, side: int, danger: float) -> float:
    """Plakoto: whoever is held far from home is held for long; lone checkers on the way can be."""
    mine, theirs = board.counts[side], board.counts[1 - side]
    held = sum(8.0 + 1.2 * point for point in board.pinned[1 - side])
    held += 60.0 if MOTHER in board.pinned[1 - side] else 0.0
    free = [point for point in range(1, BAR) if mine[point] == 1 and point not in board.pinned[side]]
    risk = sum((4 + point) * _shots(theirs, BAR - point) / 60 for point in free)
    mother = 6.0 if mine[MOTHER] == 1 and MOTHER not in board.pinned[side] else 0.0
    return held + sum(2.0 for point in range(1, BAR) if mine[point] >= 2) - danger * (risk + mother)


def _blocks(board: Board, side: int) -> float:
    """Fevga: every point held is closed to the other side; in a row they are a wall, and heaps are wasted."""
    mine = board.counts[side]
    good, run = 0.0, 0
    for point in range(1, BAR):
        run = run + 1 if mine[point] else 0
        good += (1.5 + 0.8 * run) if mine[point] else 0.0
        good -= 0.4 * max(0, mine[point] - 3)
    return good

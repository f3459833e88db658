"""Minesweeper by what the numbers say: it opens what must be safe, and guesses only where it must."""

from collections.abc import Mapping, Sequence
from typing import Any

from parlour.game import Bot, Chance
from parlour.games.minesweeper.field import NUMBERS, neighbourhoods

Clue = tuple[frozenset[int], int]
"""Among these closed cells lie so many mines."""

ROUNDS = 8
"""How often clues are compared with each other."""


def solve(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """Open a cell that must be safe; without one, the cell that is least likely to be mined."""
    width, cells = view["width"], "".join(view["rows"])
    opens = {event["x"] - 1 + (event["y"] - 1) * width: event for event in legal if event["type"] == "open"}
    if not opens:  # flags on all that is closed: take one away
        flags = [event for event in legal if event["type"] == "flag"]
        return chance.choice(flags) if flags else None
    if not set(cells) & set(NUMBERS):
        return opens.get(len(cells) // 2 + width // 2) or chance.choice(list(opens.values()))
    closed = frozenset(cell for cell, drawn in enumerate(cells) if drawn not in NUMBERS)
    safe, mined, clues = deduce(cells, width, [(closed, view["mines"])])
    sure = [cell for cell in opens if cell in safe]
    if sure:
        return opens[chance.choice(sure)]
    risks = {cell: _risk(cell, clues) for cell in opens if cell not in mined}
    least = min(risks.values(), default=0.0)
    return opens[chance.choice([cell for cell, risk in risks.items() if risk == least] or list(opens))]


def deduce(cells: str, width: int, known: Sequence[Clue] = ()) -> tuple[set[int], set[int], list[Clue]]:
    """What must be safe, what must be mined, and the clues that are left; flags are not believed.

    >>> deduce("1#1" + ".#.", 3)[1] == set()
    True
    """
    clues = {*known, *_clues(cells, width)}
    safe: set[int] = set()
    mined: set[int] = set()
    for _ in range(ROUNDS):
        for there, count in clues:
            if count == 0:
                safe |= there
            elif count == len(there):
                mined |= there
        lesser = {(there - safe - mined, count - len(there & mined)) for there, count in clues}
        lesser = {clue for clue in lesser if clue[0]}
        if (after := lesser | _differences(lesser)) == clues:
            break
        clues = after
    return safe, mined, list(clues)


def _clues(cells: str, width: int) -> list[Clue]:
    around = neighbourhoods(width, len(cells) // width)
    return [
        (frozenset(near for near in around[cell] if cells[near] not in NUMBERS), NUMBERS.index(drawn))
        for cell, drawn in enumerate(cells)
        if drawn in NUMBERS[1:]
    ]


def _differences(clues: set[Clue]) -> set[Clue]:
    """What a clue says beyond another that it contains."""
    small = [clue for clue in clues if len(clue[0]) <= 8]
    by_cell: dict[int, list[Clue]] = {}
    for clue in small:
        by_cell.setdefault(min(clue[0]), []).append(clue)
    found = set()
    for there, count in small:
        for cell in there:
            for part, fewer in by_cell.get(cell, ()):
                if part < there:
                    found.add((there - part, count - fewer))
    return found


def _risk(cell: int, clues: Sequence[Clue]) -> float:
    """The worst that a clue says of this cell."""
    near = [count / len(there) for there, count in clues if cell in there and len(there) <= 8]
    wide = [count / len(there) for there, count in clues if cell in there]
    return max(near or wide, default=1.0)


BOTS: Mapping[str, Bot] = {"solver": solve}

"""The rules once more, as plainly and slowly as can be, to hold the real ones against.

Points are counted 0 to 23 as x goes. A point is negative for x, positive for o. Nothing is shared with the
rules under test but what a board looks like at the end: `position` turns theirs into ours.
"""

from functools import lru_cache
from typing import NamedTuple

from parlour.games.backgammon.board import Board


class Position(NamedTuple):
    fields: tuple[int, ...]
    pinned: tuple[int, ...]
    bar: tuple[int, int]
    off: tuple[int, int]


def position(board: Board) -> Position:
    """A board of the rules under test."""
    fields, pinned = [0] * 24, [0] * 24
    for side, sign in ((0, -1), (1, 1)):
        for point in range(1, 25):
            index = place(board.variant, side, point)
            count = board.counts[side][point]
            if point in board.pinned[side]:
                pinned[index] = sign
                count -= 1
            fields[index] += sign * count
    bar, off = ((board.counts[0][i], board.counts[1][i]) for i in (25, 0))
    return Position(tuple(fields), tuple(pinned), bar, off)


def place(variant: str, side: int, point: int) -> int:
    """Where a side's point lies: x goes up from 0, o down from 23, but in fevga up from 12 and around."""
    if side == 0:
        return 24 - point
    return (24 - point + 12) % 24 if variant == "fevga" else point - 1


def all_after(variant: str, start: Position, side: int, dice: tuple[int, int]) -> set[Position]:
    """Every position in which a turn with these dice may end."""
    if dice[0] == dice[1]:
        ends, more = {start}, {start}
        for _ in range(4):
            more = {after for before in more for after in steps(variant, before, side, dice[0])}
            ends = more or ends
        return ends
    both, one = set[Position](), {}
    for first, second in (dice, dice[::-1]):
        one[first] = steps(variant, start, side, first)
        both |= {after for middle in one[first] for after in steps(variant, middle, side, second)}
    return both or one[max(dice)] or one[min(dice)] or {start}


@lru_cache(maxsize=1 << 16)
def most(variant: str, at: Position, side: int, left: tuple[int, ...]) -> int:
    """How many of these dice can be played, if they are played as well as can be."""
    return max(
        (
            1 + most(variant, after, side, without(left, die))
            for die in set(left)
            for after in steps(variant, at, side, die)
        ),
        default=0,
    )


def firsts(variant: str, at: Position, side: int, left: tuple[int, ...]) -> set[tuple[int, int]]:
    """Every step, as from and to, that begins a longest turn; with one die of two, the higher."""
    longest = most(variant, at, side, left)
    found = {
        (point, max(point - die, 0)): die
        for die in sorted(set(left))
        for point in range(1, 26)
        if (after := step(variant, at, side, point, die)) is not None
        and 1 + most(variant, after, side, without(left, die)) == longest
    }
    if longest == 1 and len(left) == 2 and max(left) in found.values():
        return {move for move, die in found.items() if die == max(left)}
    return set(found)


def without(left: tuple[int, ...], die: int) -> tuple[int, ...]:
    at = left.index(die)
    return left[:at] + left[at + 1 :]


def steps(variant: str, at: Position, side: int, die: int) -> set[Position]:
    """Every position after one step with this die."""
    return {after for point in range(1, 26) if (after := step(variant, at, side, point, die)) is not None}


def step(variant: str, at: Position, side: int, point: int, die: int) -> Position | None:
    sign = -1 if side == 0 else 1
    mine = [count_at(variant, at, side, other, sign) for other in range(26)]
    if not mine[point]:
        return None
    hitting = variant in ("backgammon", "tavla", "portes")
    if hitting and mine[25] and point != 25:
        return None
    if variant == "fevga" and not may_run(mine, at.off[side], point):
        return None
    if point <= die:
        return bear_off(variant, at, side, point, die, mine)
    fields, pinned, bar = list(at.fields), list(at.pinned), list(at.bar)
    target = place(variant, side, point - die)
    theirs = max(0, -sign * fields[target])
    if theirs >= (1 if variant == "fevga" else 2) or (theirs and pinned[target]):
        return None
    take(variant, fields, pinned, bar, side, point)
    if theirs:
        fields[target] = 0
        if hitting:
            bar[1 - side] += 1
        else:
            pinned[target] = -sign
    fields[target] += sign
    if variant == "fevga" and 7 <= point - die <= 12:
        zone = [place(variant, side, other) for other in range(7, 13)]
        if all(fields[index] * sign > 0 for index in zone):
            return None
    return Position(tuple(fields), tuple(pinned), tuple(bar), at.off)  # type: ignore[arg-type]


def count_at(variant: str, at: Position, side: int, point: int, sign: int) -> int:
    if point in (0, 25):
        return at.bar[side] if point else 0
    return max(0, sign * at.fields[place(variant, side, point)])


def may_run(mine: list[int], off: int, point: int) -> bool:
    """Fevga: until one checker is in the second half, only the first one that left the hand moves."""
    if off or any(mine[1:13]):
        return True
    on_board = [other for other in range(1, 25) if mine[other]]
    runner = min(on_board) if sum(mine[1:25]) > 1 else 25
    return point == runner


def bear_off(variant: str, at: Position, side: int, point: int, die: int, mine: list[int]) -> Position | None:
    sign = -1 if side == 0 else 1
    if any(mine[7:]) or sign in at.pinned:
        return None
    if point != die and any(mine[point + 1 :]):
        return None
    fields, pinned, bar, off = list(at.fields), list(at.pinned), list(at.bar), list(at.off)
    take(variant, fields, pinned, bar, side, point)
    off[side] += 1
    return Position(tuple(fields), tuple(pinned), tuple(bar), tuple(off))  # type: ignore[arg-type]


def take(variant: str, fields: list[int], pinned: list[int], bar: list[int], side: int, point: int) -> None:
    """A checker leaves its place; one that was pinned under it is free again."""
    if point == 25:
        bar[side] -= 1
        return
    index = place(variant, side, point)
    fields[index] += 1 if side == 0 else -1
    if not fields[index]:
        fields[index], pinned[index] = pinned[index], 0

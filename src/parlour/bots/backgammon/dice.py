"""What all rolls together can do: how likely a checker is hit, and how freely one can go.

Points are given as windows: numbers whose bit d - 1 stands for the point that is d pips away.
"""

from functools import lru_cache

ROLLS = tuple((one, other, 1 if one == other else 2) for one in range(1, 7) for other in range(1, one + 1))
"""Each roll, and how often it comes in 36."""
WINDOW = 12
"""So far a window looks; what only high doubles reach is left out."""
SEEN = (1 << WINDOW) - 1


@lru_cache(maxsize=1 << 16)
def shots(hitters: int, held: int) -> int:
    """How many of 36 rolls bring one of these *hitters* here, where the points *held* are closed to them.

    One pip away: any one. Seven away and six of those held: only 6-1 from the side that is open.

    >>> shots(0b1, 0), shots(0b1000000, 0), shots(0b1000000, 0b0101110)
    (11, 6, 2)
    """
    away = [distance for distance in range(1, WINDOW + 1) if hitters >> (distance - 1) & 1]
    return sum(often for one, other, often in ROLLS if any(_reaches(one, other, d, held) for d in away))


def _reaches(one: int, other: int, distance: int, held: int) -> bool:
    """Whether a checker so far away comes here by one die or several."""
    if one == other:
        steps, rest = divmod(distance, one)
        between = range(one, distance, one)
        return rest == 0 and steps <= 4 and not any(held >> (point - 1) & 1 for point in between)
    if distance in (one, other):
        return True
    return distance == one + other and not (held >> (one - 1) & held >> (other - 1) & 1)


@lru_cache(maxsize=1 << WINDOW)
def freedom(held: int) -> float:
    """How far, on average, one checker gets by a roll where these points before it are *held*.

    >>> round(freedom(0), 2), freedom(0b111111)
    (7.94, 0.0)
    """
    return sum(often * _farthest(one, other, held) for one, other, often in ROLLS) / 36


def _farthest(one: int, other: int, held: int) -> int:
    best = 0
    for order in ((one,) * 4,) if one == other else ((one, other), (other, one)):
        at = 0
        for die in order:
            if at + die > WINDOW or held >> (at + die - 1) & 1:
                break
            at += die
        best = max(best, at)
    return best

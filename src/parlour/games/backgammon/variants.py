"""The five games as values: what differs between them stands here, and nowhere else.

Each side counts the points from its own end: the number of a point is how many pips it is from there to being
borne off. So everybody begins at or near 24 and goes down to the home, 6 to 1. 25 is the bar (in fevga the
hand), 0 is off.
"""

from collections.abc import Callable

import msgspec

BAR = 25
OFF = 0
CHECKERS = 15
HOME = 6
"""The highest point of the home."""

Counts = tuple[int, ...]
"""How many checkers one side has on each of its places, 0 (off) to 25 (bar)."""

Landing = Callable[[list[int], set[int], int], None]
"""What becomes of a lone checker that is landed on: its side's counts and pins, and the point."""


def hit(theirs: list[int], _pinned: set[int], point: int) -> None:
    """It goes to the bar."""
    theirs[point] -= 1
    theirs[BAR] += 1


def pin(_theirs: list[int], pinned: set[int], point: int) -> None:
    """It is held where it is until the last checker above it leaves."""
    pinned.add(point)


def keep_off(_theirs: list[int], _pinned: set[int], point: int) -> None:
    """It cannot be: one checker holds the point."""
    raise ValueError(f"point {point} is held")


ACROSS = (0, *(25 - point for point in range(1, 25)), 0)
"""The two sides go in opposite directions: my 24 is your 1."""
AROUND = (0, *(point + 12 if point <= 12 else point - 12 for point in range(1, 25)), 0)
"""Both sides go the same way around, half a lap apart: my 24 is your 12."""


def places(checkers: dict[int, int]) -> Counts:
    """Counts from the places that are not empty."""
    return tuple(checkers.get(place, 0) for place in range(BAR + 1))


class Variant(msgspec.Struct, frozen=True):
    """One game of the family."""

    name: str
    start: Counts
    land: Landing
    holds: int = 2
    """So many checkers hold a point against the other side."""
    facing: Counts = ACROSS
    """Which point the other side calls mine."""
    enter_first: bool = True
    """While a checker is on the bar, no other moves."""
    bar_pips: int = 25
    first_runs: bool = False
    """Until the first checker has passed the other side's start, no other moves."""
    no_prime: range = range(0)
    """These points may not all be held at once; a move may not end so."""
    wins: tuple[int, ...] = (1, 2)
    """What a single win counts, a gammon, a backgammon."""
    cube: bool = False


CLASSIC = places({24: 2, 13: 5, 8: 3, 6: 5})

BACKGAMMON = Variant("backgammon", CLASSIC, hit, wins=(1, 2, 3), cube=True)
TAVLA = Variant("tavla", CLASSIC, hit)
PORTES = Variant("portes", CLASSIC, hit)
PLAKOTO = Variant("plakoto", places({24: 15}), pin)
FEVGA = Variant(
    "fevga",
    places({BAR: 14, 24: 1}),
    keep_off,
    holds=1,
    facing=AROUND,
    enter_first=False,
    bar_pips=24,
    first_runs=True,
    no_prime=range(7, 13),
)

VARIANTS = {variant.name: variant for variant in (BACKGAMMON, TAVLA, PORTES, PLAKOTO, FEVGA)}
PASSED = 12
"""In fevga: from this point on a checker has passed the other side's start."""
MOTHER = 24
"""In plakoto: the point where all begin; who is pinned there has lost its mother."""

"""What a roll allows: every longest way to play it, each set of moves once.

Nearly always only one thing matters: which points are open, and that does not change during a turn. Then the
ways can be counted out (`_pairs` and `_chains`). Where the order of the moves matters, because checkers may
be borne off, one waits on the bar, or fevga's runner or prime is near, every order is tried (`_tried`).
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise, permutations

from parlour.games.backgammon.board import Board, Step
from parlour.games.backgammon.variants import BAR, HOME, OFF, PASSED, Variant

Way = tuple[Step, ...]
Dice = tuple[int, ...]
"""The dice that are left to play, the higher first; a double counts four times."""

STEPS = tuple(tuple(Step(start, max(start - die, OFF)) for start in range(BAR + 1)) for die in range(7))
"""For each die, the step from each point."""
CHAINS = tuple(
    tuple(
        tuple(tuple(STEPS[die][start - die * i] for i in range(length)) for length in range(5))
        for start in range(BAR + 1)
    )
    for die in range(7)
)
"""For each die, start and length, so many steps of one checker; read only where they stay on the board."""


DOWN = range(BAR, OFF, -1)
"""All places from which a checker can move."""


def rolled(first: int, second: int) -> Dice:
    """The dice to play.

    >>> rolled(3, 5), rolled(2, 2)
    ((5, 3), (2, 2, 2, 2))
    """
    return (first,) * 4 if first == second else (max(first, second), min(first, second))


def die_for(step: Step, dice: Dice) -> int:
    """The die that a step takes: the exact one, or to bear off the smallest that is large enough, or 0.

    >>> die_for(Step(8, 5), (5, 3)), die_for(Step(4, 0), (6, 5))
    (3, 5)
    """
    if step.end != OFF:
        return step.start - step.end
    return min((die for die in dice if die >= step.start), default=0)


def without(dice: Dice, die: int) -> Dice:
    """The dice that are left after this one."""
    at = dice.index(die)
    return dice[:at] + dice[at + 1 :]


@lru_cache(maxsize=1024)
def left_of(dice: tuple[int, ...], played: Way) -> Dice:
    """The dice of a roll that are still to be played after these steps.

    >>> left_of((3, 5), (Step(8, 5),))
    (5,)
    """
    left = rolled(*dice)
    for step in played:
        left = without(left, die_for(step, left))
    return left


@lru_cache(maxsize=512)
def ways(board: Board, side: int, dice: Dice) -> tuple[Way, ...]:
    """All longest ways to play these dice: both if possible, else the higher; of a double all that go.

    Each set of moves is listed once, in an order in which it can be played, moves of one checker together.
    """
    if not dice:
        return ()
    eyes = Eyes(board, side)
    if eyes.order_matters(dice):
        return tuple(_tried(eyes, dice))
    found = _chains(eyes, dice) if dice[0] == dice[-1] else _pairs(eyes, *dice)
    if eyes.near_prime(len(dice)):
        found = [way for steps in found if (way := _without_prime(eyes, steps, dice))] or [
            *_tried(eyes, dice)
        ]
    return tuple(found)


class Eyes:
    """The board as the one who moves sees it."""

    def __init__(self, board: Board, side: int) -> None:
        rules, theirs, pinned = board.rules, board.counts[1 - side], board.pinned[side]
        self.rules: Variant = rules
        self.counts = list(board.counts[side])
        """The checkers that are free to move, by place."""
        self.open = [theirs[facing] < rules.holds for facing in rules.facing]
        """Where one may land; it stays so all turn, whatever is hit or let go."""
        self.held = bool(pinned)
        """A checker is pinned, so that none may be borne off."""
        for point in pinned:
            self.counts[point], self.open[point] = 0, False

    def order_matters(self, dice: Dice) -> bool:
        """Whether this turn may bring more than moves to open points."""
        counts, rules = self.counts, self.rules
        if not self.held and sum(counts[HOME + 1 :]) < len(dice):
            return True
        if counts[BAR] and rules.enter_first:
            return dice[0] != dice[-1]
        return rules.first_runs and not self.passed

    def near_prime(self, steps: int) -> bool:
        """Whether so many steps could hold every point of which one must be left."""
        prime = self.rules.no_prime
        zone = slice(prime.start, prime.stop)
        return (
            bool(prime) and all(self.open[zone]) and sum(map(bool, self.counts[zone])) + steps >= len(prime)
        )

    def goes_freely(self, dice: Dice) -> bool:
        """Whether any checker may move, and nothing but open points matters."""
        return not (self.counts[BAR] or self.order_matters(dice) or self.near_prime(len(dice)))

    @property
    def passed(self) -> bool:
        """Fevga: the first checker is past the other side's start, or off."""
        return any(self.counts[OFF : PASSED + 1])

    def steps(self, die: int) -> Iterator[Step]:
        """The steps that this die allows now."""
        for start in self._starts():
            if self.counts[start] and self._fits(start, die):
                yield STEPS[die][start]

    def allows(self, start: int, die: int) -> bool:
        """Whether a checker that is there may move by this die now."""
        return start in self._starts() and self._fits(start, die)

    def _fits(self, start: int, die: int) -> bool:
        """Whether there is a place to go to from there by this die."""
        return self._may_go(start, start - die) if start > die else self._may_leave(start, die)

    def _starts(self) -> Sequence[int]:
        """From where a checker may move, the farthest behind first; sometimes it is for one alone."""
        if self.rules.enter_first and self.counts[BAR]:
            return (BAR,)
        if self.rules.first_runs and not self.passed:
            return (self._runner(),)
        return DOWN

    def _runner(self) -> int:
        """Fevga: where the first checker is; the one that lay on its point from the beginning stays there."""
        counts = self.counts
        if sum(counts[1:BAR]) <= 1:
            return BAR
        return next(point for point in range(1, BAR) if counts[point])

    def _may_go(self, start: int, end: int) -> bool:
        return self.open[end] and not (self.rules.no_prime and self._makes_prime(start, end))

    def _may_leave(self, start: int, die: int) -> bool:
        """To be borne off: all are home, and the die fits, or is large enough for the highest."""
        if self.held or any(self.counts[HOME + 1 :]):
            return False
        return start == die or start == self._highest()

    def _highest(self) -> int:
        for point in DOWN:
            if self.counts[point]:
                return point
        return OFF

    def _makes_prime(self, start: int, end: int) -> bool:
        zone, counts = self.rules.no_prime, self.counts
        return end in zone and all(counts[point] - (point == start) or point == end for point in zone)

    def play(self, step: Step) -> None:
        """Move the checker; what it hits or pins changes nothing for the one who moves."""
        self.counts[step.start] -= 1
        self.counts[step.end] += 1

    def take_back(self, step: Step) -> None:
        self.counts[step.end] -= 1
        self.counts[step.start] += 1

    def playable(self, way: Way, dice: Dice) -> bool:
        """Whether the steps can be played in this order."""
        done = 0
        for step in way:
            die = die_for(step, dice)
            if die not in dice or not self.counts[step.start] or not self.allows(step.start, die):
                break
            self.play(step)
            dice, done = without(dice, die), done + 1
        for step in reversed(way[:done]):
            self.take_back(step)
        return done == len(way)

    def begins(self, route: Way, way: Way, dice: Dice) -> bool:
        """Whether these steps are of this way, and can be played before all the rest of it."""
        rest = list(way)
        for step in route:
            if step not in rest:
                return False
            rest.remove(step)
        return any(self.playable((*route, *order), dice) for order in set(permutations(rest)))

    def playable_somehow(self, steps: Way, dice: Dice) -> bool:
        """Whether there is any order in which they can be played."""
        if not steps:
            return True
        for number, step in enumerate(steps):
            die = die_for(step, dice)
            if die in dice and self.counts[step.start] and self.allows(step.start, die):
                self.play(step)
                found = self.playable_somehow(steps[:number] + steps[number + 1 :], without(dice, die))
                self.take_back(step)
                if found:
                    return True
        return False


def _pairs(eyes: Eyes, high: int, low: int) -> list[Way]:
    """Two dice, nothing but open points: any step with one, any with the other, or both with one checker."""
    counts, opened = eyes.counts, eyes.open
    highs = [point for point in range(BAR, high, -1) if counts[point] and opened[point - high]]
    lows = [point for point in range(BAR, low, -1) if counts[point] and opened[point - low]]
    found: list[Way] = []
    for start in highs:
        step, middle = STEPS[high][start], start - high
        for other in lows:
            if other == start and counts[start] == 1:
                continue
            second = STEPS[low][other]
            found.append((second, step) if second.end == start else (step, second))
        if not counts[middle] and middle > low and opened[middle - low]:
            found.append((step, STEPS[low][middle]))
    for start in lows:
        middle = start - low
        if not counts[middle] and middle > high and opened[middle - high]:
            found.append((STEPS[low][start], STEPS[high][middle]))
    return found or [(STEPS[high][start],) for start in highs] or [(STEPS[low][start],) for start in lows]


def _chains(eyes: Eyes, dice: Dice) -> list[Way]:
    """A double, nothing but open points: so many steps shared out among the checkers."""
    counts, opened, die = eyes.counts, eyes.open, dice[0]
    one, left = CHAINS[die], len(dice)
    way: Way = ()
    waiting = counts[BAR] if eyes.rules.enter_first else 0
    if waiting and (not opened[BAR - die] or waiting >= left):
        return [one[BAR][1] * left] if opened[BAR - die] else []
    if waiting > 1:
        # All but the last enter; the last one is like any other checker, except that it must move.
        way, left = one[BAR][1] * (waiting - 1), left - waiting + 1
        counts[BAR - die] += waiting - 1
        counts[BAR] = 1
    reach = [0] * (BAR + 1)
    for point in range(die + 1, BAR + 1):
        if opened[point - die]:
            reach[point] = min(1 + reach[point - die], left)
    left = min(left, sum(map(int.__mul__, counts, reach)))
    return _shared(die, counts, reach, left, way, enter=bool(waiting)) if left else []


def _shared(die: int, counts: list[int], reach: list[int], left: int, way: Way, *, enter: bool) -> list[Way]:
    """The ways to share steps out: *reach* is how many each checker could make; to *enter*, the first must.

    It does not matter which checker makes a step. So of all ways to share the same steps out one is taken:
    where the checker that is farthest behind goes as far as it can. After it, another that begins on its path
    must end on its path, too; otherwise the two would have been one longer path and one shorter.
    """
    chains, found = CHAINS[die], list[Way]()
    starts = [point for point in range(BAR, die, -1) if counts[point] and reach[point]]
    on_path = {
        start: [
            (ahead, point)
            for ahead, point in enumerate(range(start, die, -die))
            if reach[point] and counts[point]
        ]
        for start in starts
    }
    """For each of them those that begin on its path, and how many steps ahead."""

    def share(at: int, until: int, used: int, left: int, way: Way) -> None:
        for number in range(at, until):
            start = starts[number]
            if used < counts[start] and reach[start]:
                if reach[start] >= left:
                    found.append(way + chains[start][left])
                for length in range(1, min(reach[start], left - 1) + 1):
                    before = [(point, reach[point]) for ahead, point in on_path[start] if ahead <= length]
                    for (ahead, point), (_, free) in zip(on_path[start], before, strict=False):
                        reach[point] = min(free, length - ahead)
                    share(number, len(starts), used + 1, left - length, way + chains[start][length])
                    for point, free in before:
                        reach[point] = free
            used = 0

    share(0, 1 if enter else len(starts), 0, left, way)
    return found


def _without_prime(eyes: Eyes, way: Way, dice: Dice) -> Way | None:
    """The steps in an order that never holds all points of a forbidden prime, if there is one."""
    ends = [step.end for step in way]
    if any(not eyes.counts[point] and point not in ends for point in eyes.rules.no_prime):
        return way  # one of the points stays empty
    return _in_order(eyes, way, dice) if eyes.playable_somehow(way, dice) else None


def _in_order(eyes: Eyes, way: Way, dice: Dice) -> Way:
    """The steps in this order if they can be played so, otherwise in the best in which they can."""
    if eyes.playable(way, dice):
        return way
    return next(order for order in _orders(tuple(sorted(way))) if eyes.playable(order, dice))


def _tried(eyes: Eyes, dice: Dice) -> Iterator[Way]:
    """Every order of steps, tried out; of those with the same steps one that keeps checkers moving."""
    found: dict[Way, Dice] = {}
    """Each set of steps, and the dice that are left after it."""
    seen: set[tuple[Way, Dice]] = set()
    one_order = dice[0] == dice[-1] and not eyes.rules.first_runs
    """Of a double, what can be played at all can be played from the checkers farthest behind on."""

    def explore(way: Way, left: Dice) -> None:
        steps = tuple(sorted(way))
        if (steps, left) in seen:
            return
        seen.add((steps, left))
        if way and (steps not in found or left > found[steps]):
            found[steps] = left
        for die in dict.fromkeys(left):
            for step in tuple(eyes.steps(die)):
                if way and one_order and step.start > way[-1].start:
                    continue
                eyes.play(step)
                explore((*way, step), without(left, die))
                eyes.take_back(step)

    explore((), dice)
    for steps in _longest(found, dice):
        yield _in_order(eyes, _together(steps), dice)


def _together(steps: Way) -> Way:
    """The steps with those of one checker together, which is not always an order in which they can be played.

    >>> _together((Step(18, 16), Step(20, 18), Step(22, 20), Step(22, 20)))
    (Step(start=22, end=20), Step(start=20, end=18), Step(start=18, end=16), Step(start=22, end=20))
    """
    left = sorted(steps)
    way = [left.pop()]
    while left:
        goes_on = [step for step in left if step.start == way[-1].end]
        way.append(goes_on[0] if goes_on else left[-1])
        left.remove(way[-1])
    return tuple(way)


def _longest(found: dict[Way, Dice], dice: Dice) -> list[Way]:
    """The sets of steps that use the most dice, and if that is one of two, then the higher if possible."""
    most = max(map(len, found), default=0)
    longest = [steps for steps in found if len(steps) == most]
    if most == 1 and len(dice) == 2:
        return [steps for steps in longest if dice[0] not in found[steps]] or longest
    return longest


@lru_cache(maxsize=4096)
def _orders(steps: Way) -> tuple[Way, ...]:
    """The orders of these steps, first those where checkers keep moving, the one farthest behind first."""

    def runs(way: Way) -> tuple[int, int]:
        """How many runs of one checker there are, and (less is better) how long the longest is."""
        goes_on = "".join(".+"[a.end == b.start] for a, b in pairwise(way))
        return goes_on.count("."), -max(map(len, goes_on.split(".")))

    return tuple(sorted(sorted(set(permutations(steps)), reverse=True), key=runs))


# What a player may do now, and what it means.


@lru_cache(maxsize=512)
def routes(board: Board, side: int, dice: Dice, *, whole: bool = True) -> dict[Step, Way]:
    """Every move that a player may make now, as from and to, with the steps that it stands for.

    After each of them the rest of some longest way can still be played; without *whole* that is not looked
    at, as it was not by the first version of these rules. One checker may make several steps in one move.
    Where two ways lead to the same point, the player expects the one that hits on its way, and otherwise the
    higher die first.
    """

    def expected(route: Way) -> tuple[int, int, Way]:
        return len(route), -_hits(board, side, route), route

    if not dice:
        return {}
    eyes = Eyes(board, side)
    if dice[0] == dice[-1] and eyes.goes_freely(dice):
        return {Step(way[0].start, way[-1].end): way for way in sorted(_alone(eyes, dice), key=expected)}
    all_ways = ways(board, side, dice)
    can_begin = _beginning(eyes, dice, all_ways, whole=whole)
    steps = sorted(set(chain.from_iterable(all_ways)))
    found: dict[Step, Way] = {step: (step,) for step in steps if can_begin((step,))}
    for route in sorted(_paths(all_ways), key=expected):
        move = Step(route[0].start, route[-1].end)
        if move not in found and can_begin(route):
            found[move] = route
    return found


def _alone(eyes: Eyes, dice: Dice) -> Iterator[Way]:
    """A double or one die, nothing but open points: how far each checker can go by itself.

    However far it goes, the steps that are left over can still be made by the others, or by itself.
    """
    counts, opened, die = eyes.counts, eyes.open, dice[0]
    for start in range(die + 1, BAR):
        if counts[start]:
            end = start - die
            for length in range(1, len(dice) + 1):
                if end <= OFF or not opened[end]:
                    break
                yield CHAINS[die][start][length]
                end -= die


def _beginning(eyes: Eyes, dice: Dice, all_ways: tuple[Way, ...], *, whole: bool) -> Callable[[Way], bool]:
    """Tells whether one checker can make these steps now, and the rest of some longest way after them."""
    if eyes.goes_freely(dice):
        return lambda route: bool(eyes.counts[route[0].start])  # whoever is there goes over open points
    if not whole or not (eyes.order_matters(dice) or eyes.near_prime(len(dice))):
        return lambda route: eyes.playable(route, dice)
    return lambda route: eyes.playable(route, dice) and any(eyes.begins(route, way, dice) for way in all_ways)


def _paths(all_ways: tuple[Way, ...]) -> set[Way]:
    """The several steps that one checker makes in these ways, one after the other."""
    paths = set[Way]()
    for way in all_ways:
        if len(way) == 2:
            if way[0].end == way[1].start:
                paths.add(way)
            continue
        follows = {step.start: step for step in way}
        for step in way:
            path: Way = (step,)
            while (last := path[-1]).end in follows:
                path = (*path, follows[last.end])
                paths.add(path)
    return paths


def _hits(board: Board, side: int, way: Way) -> int:
    """How many lone checkers are met on the way to the last point, where every route ends alike."""
    return sum(board.meets(side, step.end) for step in way[:-1])

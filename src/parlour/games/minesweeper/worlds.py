"""Where the mines may lie for all that the open numbers say, each possibility as likely as the others.

Closed cells beside the same numbers are alike: such a *group* matters only by how many mines it has. Groups
that share numbers are counted through one after the other, remembering only how many mines each number still
lacks. That gives the exact number of possibilities, by how many mines they use, and from it a fair draw.
Where there would be too much to remember, a Markov chain redraws a few neighbouring groups at a time instead.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import comb
from typing import NamedTuple

from parlour.game import Chance
from parlour.games.minesweeper.field import NUMBERS, neighbourhoods

MOST_STATES = 5_000
"""More different things to remember than this, and a part of the field is not counted through."""
PATCH = 10
SWEEPS = 8
"""So many groups are redrawn together where that is so, and so often each of them on average."""

Lacking = tuple[int, ...]
"""How many mines each number that is half counted through still lacks."""
Ways = dict[int, int]
"""In how many ways it can be, by how many mines that takes."""


class Group(NamedTuple):
    """Closed cells that are beside the same numbers."""

    cells: tuple[int, ...]
    clues: tuple[int, ...]
    """The open cells whose numbers count these."""


class TooMuch(Exception):
    """There is too much to remember."""


def draw_mines(cells: str, width: int, mines: int, now: Iterable[int], chance: Chance) -> list[int]:
    """Places for all mines that look the same; *now* is one such world, from which a chain begins."""
    seen = "".join(drawn if drawn in NUMBERS else "#" for drawn in cells)
    return survey(seen, width, mines).draw(frozenset(now), chance)


@lru_cache(maxsize=32)
def survey(cells: str, width: int, mines: int) -> "Survey":
    """What can be said of a field before anything is drawn; kept, since bots draw many worlds of it."""
    return Survey(cells, width, mines)


class Survey:
    """A field as it is seen: its groups, in parts that share no number, and the open sea."""

    def __init__(self, cells: str, width: int, mines: int) -> None:
        around = neighbourhoods(width, len(cells) // width)
        beside: dict[tuple[int, ...], list[int]] = {}
        for cell, drawn in enumerate(cells):
            if drawn not in NUMBERS:
                beside.setdefault(tuple(n for n in around[cell] if cells[n] in NUMBERS), []).append(cell)
        self.sea = tuple(beside.pop((), ()))
        self.mines = mines
        self.numbers = {cell: NUMBERS.index(drawn) for cell, drawn in enumerate(cells) if drawn in NUMBERS}
        self.counted: list[Count] = []
        self.uncounted: list[list[Group]] = []
        for part in _parts([Group(tuple(there), clues) for clues, there in beside.items()]):
            try:
                self.counted.append(Count(part, self.numbers))
            except TooMuch:
                self.uncounted.append(part)
        self._after = self._add_up()

    def _add_up(self) -> list[Ways]:
        """In how many ways the counted parts from each on, and the sea, hold so many mines."""
        after: list[Ways] = [{k: comb(len(self.sea), k) for k in range(min(len(self.sea), self.mines) + 1)}]
        for count in reversed(self.counted):
            ways: Ways = {}
            for used, here in count.ways.items():
                for rest, there in after[0].items():
                    if used + rest <= self.mines:
                        ways[used + rest] = ways.get(used + rest, 0) + here * there
            after.insert(0, ways)
        return after

    def draw(self, now: frozenset[int], chance: Chance) -> list[int]:
        """One of the possibilities."""
        drawn: list[int] = []
        for part in self.uncounted:
            held = sum(len(now.intersection(group.cells)) for other in self.uncounted for group in other)
            fixed = held - sum(len(now.intersection(group.cells)) for group in part)
            now = self._wander(part, now, fixed, chance)
        for group in (group for part in self.uncounted for group in part):
            drawn += chance.sample(group.cells, len(now.intersection(group.cells)))
        left = self.mines - len(drawn)
        for count, after in zip(self.counted, self._after[1:], strict=True):
            possible = {used: ways * after.get(left - used, 0) for used, ways in count.ways.items()}
            used = _weighted(possible, chance)
            drawn += count.draw(used, chance)
            left -= used
        return drawn + chance.sample(self.sea, left)

    def _wander(self, part: list[Group], now: frozenset[int], fixed: int, chance: Chance) -> frozenset[int]:
        """Redraw a few neighbouring groups at a time, all else being as it is."""
        for _ in range(SWEEPS * len(part) // PATCH + 1):
            patch = _patch(part, chance)
            rest = [group for group in part if group not in patch]
            there = now.intersection(cell for group in rest for cell in group.cells)
            clues = {clue for group in patch for clue in group.clues}
            lacks = {clue: self.numbers[clue] for clue in clues}
            for group in rest:
                for clue in clues.intersection(group.clues):
                    lacks[clue] -= len(there.intersection(group.cells))
            count, left = Count(patch, lacks), self.mines - fixed - len(there)
            possible = {used: ways * self._after[0].get(left - used, 0) for used, ways in count.ways.items()}
            now = there.union(count.draw(_weighted(possible, chance), chance))
        return now


class Count:
    """The groups of one part, counted through in an order that leaves little to remember."""

    def __init__(self, groups: Sequence[Group], numbers: Mapping[int, int]) -> None:
        self._groups = _in_order(groups)
        self._numbers = numbers
        last = {clue: at for at, group in enumerate(self._groups) for clue in group.clues}
        room = {clue: sum(len(g.cells) for g in groups if clue in g.clues) for clue in last}
        self._open: list[tuple[int, ...]] = [()]
        """Before each group, the numbers that are half counted through."""
        self._tables: list[dict[Lacking, Ways]] = [{(): {0: 1}}]
        for at, group in enumerate(self._groups):
            for clue in group.clues:
                room[clue] -= len(group.cells)
            known = (*self._open[-1], *(clue for clue in group.clues if clue not in self._open[-1]))
            self._open.append(tuple(clue for clue in known if last[clue] > at))
            self._tables.append(self._table(at, group, known, room))
            if len(self._tables[-1]) > MOST_STATES:
                raise TooMuch
        self.ways: Ways = self._tables[-1].get((), {})

    def _table(
        self, at: int, group: Group, known: Sequence[int], room: Mapping[int, int]
    ) -> dict[Lacking, Ways]:
        """What may be lacking after this group, and in how many ways it came to that."""
        table: dict[Lacking, Ways] = {}
        opened, after = len(self._open[at]), set(self._open[at + 1])
        new = tuple(self._numbers[clue] for clue in known[opened:])
        touched = [clue in group.clues for clue in known]
        stays = [clue in after for clue in known]
        rooms = [room[clue] for clue in known]
        many = [comb(len(group.cells), count) for count in range(len(group.cells) + 1)]
        for lacking, ways in self._tables[at].items():
            before = lacking + new
            most = min((n for n, touch in zip(before, touched, strict=True) if touch), default=0)
            least = max(
                (n - r for n, r, touch in zip(before, rooms, touched, strict=True) if touch), default=0
            )
            for count in range(max(least, 0), min(most, len(group.cells)) + 1):
                left = tuple(
                    n - count if touch else n
                    for n, touch, stay in zip(before, touched, stays, strict=True) if stay
                )  # fmt: skip
                into = table.setdefault(left, {})
                for used, number in ways.items():
                    into[used + count] = into.get(used + count, 0) + number * many[count]
        return table

    def draw(self, used: int, chance: Chance) -> list[int]:
        """Places for so many mines: from the last group to the first, each by what can have been before."""
        drawn: list[int] = []
        lacking: Lacking = ()
        for at in range(len(self._groups) - 1, -1, -1):
            group = self._groups[at]
            counts: dict[int, int] = {}
            for count in range(min(len(group.cells), used) + 1):
                before = self._before(at, count, lacking)
                ways = 0 if before is None else self._tables[at].get(before, {}).get(used - count, 0)
                counts[count] = ways * comb(len(group.cells), count)
            count = _weighted(counts, chance)
            drawn += chance.sample(group.cells, count)
            lacking, used = self._before(at, count, lacking) or (), used - count
        return drawn

    def _before(self, at: int, count: int, lacking: Lacking) -> Lacking | None:
        """What lacked before a group that has so many mines; None where that cannot be."""
        left = dict(zip(self._open[at + 1], lacking, strict=True))
        clues = self._groups[at].clues
        for clue in clues:
            if clue not in self._open[at] and left.get(clue, 0) + count != self._numbers[clue]:
                return None
        return tuple(left.get(clue, 0) + (count if clue in clues else 0) for clue in self._open[at])


def _parts(groups: Sequence[Group]) -> list[list[Group]]:
    """The groups in parts that share no number."""
    by_clue: dict[int, list[Group]] = {}
    for group in groups:
        for clue in group.clues:
            by_clue.setdefault(clue, []).append(group)
    left, parts = dict.fromkeys(groups), []
    while left:
        part, waiting = [], [next(iter(left))]
        while waiting:
            group = waiting.pop()
            if group in left:
                del left[group]
                part.append(group)
                waiting += [near for clue in group.clues for near in by_clue[clue]]
        parts.append(part)
    return parts


def _in_order(groups: Sequence[Group]) -> list[Group]:
    """The groups so that few numbers are half counted through at any time."""
    left, order, begun = list(groups), list[Group](), set[int]()
    waiting = {clue: sum(clue in group.clues for group in groups) for group in groups for clue in group.clues}

    def cost(group: Group) -> tuple[int, int]:
        opens = sum(clue not in begun for clue in group.clues)
        return opens - sum(waiting[clue] == 1 for clue in group.clues), opens

    while left:
        near = [group for group in left if not begun.isdisjoint(group.clues)] or left
        best = min(near, key=cost)
        left.remove(best)
        order.append(best)
        for clue in best.clues:
            waiting[clue] -= 1
            begun.add(clue)
        begun = {clue for clue in begun if waiting[clue]}
    return order


def _patch(part: Sequence[Group], chance: Chance) -> list[Group]:
    """A few groups of a part that are near each other."""
    patch = [chance.choice(part)]
    clues = set(patch[0].clues)
    for group in chance.shuffle(part):
        if len(patch) < PATCH and group not in patch and not clues.isdisjoint(group.clues):
            patch.append(group)
            clues.update(group.clues)
    return patch


def _weighted(ways: Mapping[int, int], chance: Chance) -> int:
    """One of the keys, as likely as it has ways."""
    total = sum(ways.values())
    spare = max(total.bit_length() - 62, 0)  # beyond what can be drawn at once, and far too little to matter
    at = chance.below(total >> spare) << spare
    for key, number in ways.items():
        at -= number
        if at < 0:
            return key
    raise AssertionError("some way is drawn")

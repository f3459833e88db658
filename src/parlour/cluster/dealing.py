"""Deals shards to workers: what the gone had goes to the living, and everybody gets an equal share."""

from collections.abc import Sequence, Set
from typing import NamedTuple

from parlour.cluster.members import NOBODY


class Row(NamedTuple):
    """Who owns a shard, and who is to have it next; `NOBODY` where there is none."""

    owner: int
    wanted: int = NOBODY

    @property
    def heir(self) -> int:
        """The owner of the shard once a pending hand-over is done."""
        return self.wanted or self.owner


class Change(NamedTuple):
    """A row that is to be changed, if it still is what it was."""

    shard: int
    before: Row
    after: Row


class Crew(NamedTuple):
    """The workers among whom shards are dealt."""

    living: Set[int]
    """Workers that are not declared gone: they keep a shard until they hand it over."""
    takers: Set[int]
    """The living who can be given more."""
    leaving: int = NOBODY
    """A living worker that is to keep nothing."""
    even: bool = True
    """Even out the shares; if not, only shards that nobody alive has are dealt."""


def deal(rows: Sequence[Row], crew: Crew) -> list[Change]:
    """The changes that give every shard a living owner, and every worker an equal share, give or take one.

    Two shards; 7 is gone, and 8 and 9 live:

    >>> for change in deal([Row(7), Row(8)], Crew(living={8, 9}, takers={8, 9})):
    ...     print(change.shard, change.after)
    0 Row(owner=9, wanted=0)

    A living owner keeps its shards until it has given them up:

    >>> for change in deal([Row(8), Row(8)], Crew(living={8, 9}, takers={8, 9})):
    ...     print(change.shard, change.after)
    1 Row(owner=8, wanted=9)
    """
    hands = _Hands(rows, crew)
    if crew.takers:
        hands.deal_free()
        hands.empty(crew.leaving)
        if crew.even:
            hands.even_out()
    return hands.changes()


class _Hands:
    """The shards that each worker has or is to have, while they are dealt."""

    def __init__(self, rows: Sequence[Row], crew: Crew) -> None:
        self._before = rows
        self._after = [_tidied(row, crew.living) for row in rows]
        self._takers = crew.takers
        self._shares: dict[int, list[int]] = {worker: [] for worker in crew.takers}
        for shard, row in enumerate(self._after):
            self._shares.setdefault(row.heir if row.owner in crew.living else NOBODY, []).append(shard)
        self._free = self._shares.pop(NOBODY, [])

    def deal_free(self) -> None:
        for shard in self._free:
            self._give(shard, Row(self._poorest()))

    def empty(self, leaving: int) -> None:
        for shard in self._shares.pop(leaving, []):
            owner = self._after[shard].owner
            self._give(shard, Row(owner, self._poorest()) if owner == leaving else Row(owner))

    def even_out(self) -> None:
        while (shard := self._surplus()) is not None:
            owner = self._after[shard].owner
            self._shares[owner].remove(shard)
            self._give(shard, Row(owner, self._poorest()))

    def changes(self) -> list[Change]:
        compared = enumerate(zip(self._before, self._after, strict=True))
        return [Change(shard, before, after) for shard, (before, after) in compared if before != after]

    def _poorest(self) -> int:
        return min(self._takers, key=lambda worker: (len(self._shares[worker]), worker))

    def _surplus(self) -> int | None:
        """A shard that the richest worker has and the poorest should have."""
        richest = max(self._shares, key=lambda worker: (len(self._shares[worker]), worker))
        if len(self._shares[richest]) - len(self._shares[self._poorest()]) < 2:
            return None
        return next((s for s in reversed(self._shares[richest]) if self._after[s] == Row(richest)), None)

    def _give(self, shard: int, row: Row) -> None:
        self._after[shard] = row
        self._shares.setdefault(row.heir, []).append(shard)


def _tidied(row: Row, living: Set[int]) -> Row:
    """Without a wish for somebody who is gone, or who has the shard already."""
    if row.owner in living and (row.wanted not in living or row.wanted == row.owner):
        return Row(row.owner)
    return row

"""Request slots: how many requests are made at the same time, so that slow endpoints hold nobody else up."""

from collections import Counter

MOST = 100
MOST_OF_A_PLAYER = 4
MOST_AGAIN = MOST // 2
"""Requests at the same time: of everybody, of one player, and of those that have failed before."""


class RequestSlots:
    """Counts the requests that are made now."""

    def __init__(self) -> None:
        self._taken: Counter[str] = Counter()
        """By player."""
        self._again = 0

    @property
    def free(self) -> int:
        """How many more there may be."""
        return MOST - self._taken.total()

    def has_one_for(self, player: str, *, again: bool) -> bool:
        """Whether a request of this player may be made; *again*: it has failed before."""
        return self._taken[player] < MOST_OF_A_PLAYER and not (again and self._again >= MOST_AGAIN)

    def take(self, player: str, *, again: bool) -> None:
        """Count a request that begins."""
        self._taken[player] += 1
        self._again += again

    def give_back(self, player: str, *, again: bool) -> None:
        """Count a request that is answered, or given up."""
        self._taken[player] -= 1
        self._taken += Counter()  # forgets those with none
        self._again -= again

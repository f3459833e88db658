"""Request slots: how many requests are made at the same time, of all, of one player, and of second tries."""

from collections import Counter

MOST = 100
MOST_OF_A_PLAYER = 4
MOST_AGAIN = MOST // 2
"""Requests at the same time: of everybody, of one player, and of those that have failed before."""
LATER = 5.0
"""Seconds after which a delivery is looked at again whose player has enough under way."""


class RequestSlots:
    """Counts the requests that are made now."""

    def __init__(self) -> None:
        self._taken: Counter[str] = Counter()
        """By player."""
        self._again = 0
        self._later: dict[str, float] = {}
        """When the last delivery of a player is looked at that found no slot."""

    @property
    def free(self) -> int:
        """How many more there may be."""
        return MOST - self._taken.total()

    @property
    def free_again(self) -> int:
        """How many more there may be of those that have failed before."""
        return min(self.free, MOST_AGAIN - self._again)

    def has_one_for(self, player: str, *, again: bool) -> bool:
        """Whether a request of this player may be made; *again*: it has failed before."""
        return self._taken[player] < MOST_OF_A_PLAYER and not (again and self._again >= MOST_AGAIN)

    def later(self, player: str, now: float) -> float:
        """When to look again at a delivery that found no slot: one of a player after the other.

        However many a player has, they cost less than a write a second while they wait.
        """
        self._later = {one: until for one, until in self._later.items() if until > now}
        before = self._later.get(player, now)
        until = self._later[player] = max(now + LATER, before + LATER / MOST_OF_A_PLAYER)
        return until

    def take(self, player: str, *, again: bool) -> None:
        """Count a request that begins."""
        self._taken[player] += 1
        self._again += again

    def give_back(self, player: str, *, again: bool) -> None:
        """Count a request that is answered, or given up."""
        self._taken[player] -= 1
        self._taken += Counter()  # forgets those with none
        self._again -= again

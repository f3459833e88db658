"""Which rooms this process owns: all of them, unless it is one of many (then `server/worker.py` knows)."""

from typing import Protocol


class Ownership(Protocol):
    """What rooms must know about the other workers."""

    is_shared: bool
    """True if other workers own rooms of the same journal."""
    settle_after: float
    """Seconds that players have to come back to a room that was taken over before they count as away."""

    def owns(self, room: str) -> bool:
        """True if a room, by its id, is for this worker to own."""
        ...

    def is_fresh(self) -> bool:
        """True while nobody else can own our rooms: they may be shown without a write."""
        ...

    def shards(self) -> tuple[int, ...] | None:
        """The shards whose rooms this worker owns; None: all."""
        ...

    def does_chores(self) -> bool:
        """True if this worker cleans up for all."""
        ...


class SoleOwner:
    """The one process of a server: everything is its own."""

    is_shared = False
    settle_after = 0.0

    def owns(self, room: str) -> bool:  # noqa: ARG002
        return True

    def is_fresh(self) -> bool:
        return True

    def shards(self) -> tuple[int, ...] | None:
        return None

    def does_chores(self) -> bool:
        return True


class OwnsNothing(SoleOwner):
    """One of many workers, before it knows which rooms are its own."""

    is_shared = True

    def owns(self, room: str) -> bool:  # noqa: ARG002
        return False

    def shards(self) -> tuple[int, ...] | None:
        return ()

    def does_chores(self) -> bool:
        return False

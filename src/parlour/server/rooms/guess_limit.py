"""Limits guessing: whoever asks for many unknown rooms is not told which unlisted ones exist."""

from parlour.errors import Code, Refused
from parlour.journal.base import RoomSummary
from parlour.server.clock import Clock
from parlour.server.limits import Allowances

UNGUESSABLE = 12
"""The length from which an id cannot be guessed."""
FORGET_EVERY = 60.0
"""Seconds after which addresses that are quiet again are removed."""


class Guesses:
    """Counts requests for unknown rooms, by address."""

    def __init__(self, clock: Clock, per_minute: float) -> None:
        self._clock = clock
        self._per_minute = per_minute
        self.by_address = Allowances(per_minute / 60, clock, seconds=60, dearest=1.0)
        self._forget_at = 0.0

    def missed(self, id: str, address: str | None) -> Refused:
        """The refusal for an unknown room: that there is none, or that the address has asked too often."""
        if (now := self._clock.now()) >= self._forget_at:
            self._forget_at = now + FORGET_EVERY
            self.by_address.forget_full()
        if address is not None and not self.by_address.take(address, 1.0):
            return self._too_often()
        return Refused(Code.UNKNOWN_ROOM, f"there is no room {id[:64]}")

    def check(self, summary: RoomSummary | None, player: str | None, address: str | None) -> None:
        """Refuse an address that has asked too often, whether the room exists or not (None).

        Rooms that may be listed are no secret; seated players and whoever opened a room know it anyway.
        """
        if address is None or (summary is not None and _is_known(summary, player, address)):
            return
        if not self.by_address.has(address, 1.0):
            raise self._too_often()

    def _too_often(self) -> Refused:
        most = f"at most {self._per_minute:g} rooms a minute that are not there"
        return Refused(Code.TOO_FAST, f"{most}; wait a moment and try again")


def _is_known(summary: RoomSummary, player: str | None, address: str) -> bool:
    """True if an answer about this room gives nothing away."""
    if (summary.listed and not summary.private) or len(summary.id) >= UNGUESSABLE:
        return True
    sits = any(seat is not None and seat.id == player for seat in summary.seats)
    return sits or summary.creator in (player, f"address:{address}")

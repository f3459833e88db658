"""Clocks of a room: how much time each seat has, whose time runs, and when it is over.

All times are on the game's clock, which stands still while the server is down and while the game is paused.
"""

from collections.abc import Collection
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from parlour.game import OUT_OF_TIME, Outcome
from parlour.offers import Verdict

MAX_LAG = 0.2
"""Seconds of a move that are given back at most, because it was on its way for so long."""

ClockKind = Literal["turn", "increment", "delay"]
AtZero = Literal["lose", "claim", "bot"]
"""What happens to whose time is over: they have lost, another may claim that, or a bot makes the move."""


class ClockSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How time is given: for each turn, or for the game with seconds that a turn adds or does not count."""

    kind: ClockKind
    seconds: Annotated[float, Meta(ge=5, le=30 * 86400)]
    """For a turn (``turn``), or for the whole game."""
    extra: Annotated[float, Meta(ge=0, le=3600)] = 0.0
    """Added after each turn (``increment``), or free at the start of each (``delay``)."""
    at_zero: AtZero = "lose"
    """What happens to whose time is over."""

    def __post_init__(self) -> None:
        if self.kind == "turn" and self.extra:
            raise ValueError("a clock for each turn has no extra time")


class SeatClock(msgspec.Struct, frozen=True, omit_defaults=True):
    """The time of one seat."""

    left: float
    """Seconds, as they were when its turn began."""
    since: float | None = None
    """When its turn began; None: its time does not run."""
    out: bool = False
    """Its time is over, and its turn is not: another may claim the game, or a bot moves."""


class Clocks(msgspec.Struct, frozen=True, omit_defaults=True):
    """The clocks of all seats."""

    settings: ClockSettings
    seats: tuple[SeatClock, ...]
    started: bool = False
    """Everybody has been here once: from then on time runs."""

    @classmethod
    def wound_up(cls, settings: ClockSettings, seats: int) -> "Clocks":
        """The clocks at the start of a game."""
        return cls(settings, (SeatClock(settings.seconds),) * seats)

    def out_at(self, seat: int) -> float | None:
        """When the time of a seat is over, if it runs."""
        one = self.seats[seat]
        if one.since is None:
            return None
        return one.since + one.left + (self.settings.extra if self.settings.kind == "delay" else 0.0)

    @property
    def next_out(self) -> "Out | None":
        """Whose time is over first, and when."""
        outs = [Out(at, seat) for seat in range(len(self.seats)) if (at := self.out_at(seat)) is not None]
        return min(outs, default=None)

    def run(self, seats: Collection[int], now: float) -> "Clocks":
        """These seats are to move: their time runs, and whoever was before them has paid for the turn."""
        ran = tuple([self._run(one, now, runs=seat in seats) for seat, one in enumerate(self.seats)])
        return self if ran == self.seats else replace(self, seats=ran)

    def _run(self, one: SeatClock, now: float, *, runs: bool) -> SeatClock:
        if runs:
            return one if one.since is not None or one.out else SeatClock(one.left, now)
        if one.out:
            return SeatClock(self._left(0.0, 0.0))
        return one if one.since is None else SeatClock(self._left(one.left, max(0.0, now - one.since)))

    def _left(self, left: float, turn: float) -> float:
        """What is left to a seat after a turn of so many seconds."""
        match self.settings.kind:
            case "turn":
                return self.settings.seconds
            case "increment":
                return left - turn + self.settings.extra
            case "delay":
                return left - max(0.0, turn - self.settings.extra)

    def give_back(self, seat: int, seconds: float, now: float) -> "Clocks":
        """So many seconds of this seat's turn were not its fault: a move was on its way, say."""
        one = self.seats[seat]
        if one.since is None or seconds <= 0:
            return self
        return self._with(seat, replace(one, since=min(now, one.since + seconds)))

    def mark_out(self, seat: int) -> "Clocks":
        """The time of this seat is over, and it neither loses nor pays for the rest of its turn."""
        return self._with(seat, SeatClock(0.0, out=True))

    def refill(self, seat: int, now: float) -> "Clocks":
        """The time of this seat was over and its game goes on: it begins again."""
        return self._with(seat, SeatClock(self.settings.seconds, now))

    def _with(self, seat: int, one: SeatClock) -> "Clocks":
        return replace(self, seats=(*self.seats[:seat], one, *self.seats[seat + 1 :]))


class Out(NamedTuple):
    """The end of somebody's time."""

    at: float
    seat: int


class Claim(msgspec.Struct, frozen=True, tag_field="do", tag="claim"):
    """Win against a player whose time is over, where the room leaves that to the others."""

    player: str


class ClaimWin(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a client sends to claim the game."""

    id: str | None = None


class Flag(msgspec.Struct, frozen=True, tag_field="do", tag="flag"):
    """A player's time is over."""

    player: str


def flagged(player: str, players: Collection[str]) -> Verdict:
    """The verdict when a player's time is over."""
    others = tuple(other for other in players if other != player)
    return Verdict("flagged", Outcome(won=others, lost=(player,), why=OUT_OF_TIME))

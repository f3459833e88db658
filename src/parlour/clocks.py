"""Clocks of a room: how much time each seat has to think and to be away, whose runs, and when it is over.

All times are on the game's clock, which stands still while the server is down and while the game is paused.
"""

from collections.abc import Collection
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta
from msgspec.structs import force_setattr, replace

MAX_LAG = 0.2
"""Seconds of a move that are given back at most, because it was on its way for so long."""

ClockKind = Literal["turn", "increment", "delay", "none"]
AtZero = Literal["lose", "claim", "bot"]
"""What happens to whose time is over: they have lost, another may claim that, or a bot makes the move."""
NO_TIME = 0.0
LEAST = 5.0
"""Seconds that there are at least, for a turn, a game or to be away."""
Seconds = Annotated[float, Meta(ge=LEAST, le=30 * 86400)]


def make_float(struct: msgspec.Struct, *names: str) -> None:
    """Whole seconds as they will be read back: a step that is played again must come out byte for byte."""
    for name in names:
        if type(getattr(struct, name)) is int:
            force_setattr(struct, name, float(getattr(struct, name)))


class Absence(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How long a player may be away in a game, all told; the time to think stands still meanwhile."""

    seconds: Seconds
    at_zero: AtZero = "lose"
    """What happens to whoever is away for longer."""

    def __post_init__(self) -> None:
        make_float(self, "seconds")


class ClockSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How time is given: for each turn, or for the game with seconds that a turn adds or does not count."""

    kind: ClockKind
    """``none``: everybody thinks as long as they like, and only who is away has a limit."""
    seconds: Seconds = NO_TIME
    """For a turn (``turn``), or for the whole game."""
    extra: Annotated[float, Meta(ge=0, le=3600)] = 0.0
    """Added after each turn (``increment``), or free at the start of each (``delay``)."""
    at_zero: AtZero = "lose"
    """What happens to whose time is over."""
    away: Absence | None = None
    """How long players may be away; None: whoever is away thinks like everybody else."""

    def __post_init__(self) -> None:
        make_float(self, "seconds", "extra")
        if not self.seconds:
            force_setattr(self, "seconds", NO_TIME)  # the very default, which is left out when it is written
        if self.kind == "none" and (self.seconds or self.extra or self.at_zero != "lose"):
            raise ValueError("a clock of kind none has only a time to be away")
        if self.kind == "none" and self.away is None:
            raise ValueError("a clock of kind none needs a time to be away")
        if self.kind != "none" and not self.seconds:
            raise ValueError(f"a clock of kind {self.kind} needs seconds")
        if self.kind == "turn" and self.extra:
            raise ValueError("a clock for each turn has no extra time")

    @property
    def has_bots(self) -> bool:
        """True if bots may come to make moves for people."""
        return "bot" in (self.at_zero, self.away and self.away.at_zero)


class SeatClock(msgspec.Struct, frozen=True, omit_defaults=True):
    """The time of one seat: to think, or to be away."""

    left: float
    """Seconds, as they were when its turn, or its absence, began."""
    since: float | None = None
    """When that began; None: its time does not run."""
    out: bool = False
    """Its time is over and nothing has come of it: another may claim the game, or a bot moves."""
    spent: float = 0.0
    """Seconds of its turn so far, where the turn goes on and its time stands still."""


class Clocks(msgspec.Struct, frozen=True, omit_defaults=True):
    """The clocks of all seats."""

    settings: ClockSettings
    seats: tuple[SeatClock, ...]
    """The time to think."""
    started: bool = False
    """Everybody has been here once: from then on time runs."""
    away: tuple[SeatClock, ...] = ()
    """The time to be away, where that is limited."""

    @classmethod
    def wound_up(cls, settings: ClockSettings, seats: int) -> "Clocks":
        """The clocks at the start of a game."""
        away = () if settings.away is None else (SeatClock(settings.away.seconds),) * seats
        return cls(settings, (SeatClock(settings.seconds),) * seats, away=away)

    def out_at(self, seat: int) -> float | None:
        """When the time of a seat to think is over, if it runs."""
        one = self.seats[seat]
        if one.since is None:
            return None
        return one.since + one.left + (self.settings.extra if self.settings.kind == "delay" else 0.0)

    @property
    def next_out(self) -> "Out | None":
        """Whose time is over first, and when; a move that was made in time may still be on its way then."""
        outs = [
            Out(at + MAX_LAG, seat)
            for seat in range(len(self.seats))
            if (at := self.out_at(seat)) is not None
        ]
        away = [
            Out(one.since + one.left, seat, gone=True)
            for seat, one in enumerate(self.away)
            if one.since is not None
        ]
        return min(outs + away, default=None)

    def late(self, at_zero: AtZero) -> list[int]:
        """The seats whose time is over, where this follows of it."""
        settings = self.settings
        think = self.seats if settings.at_zero == at_zero else ()
        away = self.away if settings.away is not None and settings.away.at_zero == at_zero else ()
        return sorted({seat for row in (think, away) for seat, one in enumerate(row) if one.out})

    def run(self, to_move: Collection[int], gone: Collection[int], now: float) -> "Clocks":
        """Let the time of those run who are to move, and of those who are gone; the others' turns are over.

        As long as somebody may be away, their time to think stands still.
        """
        away = tuple([self._leave(one, now, gone=seat in gone) for seat, one in enumerate(self.away)])
        stands = {seat for seat, one in enumerate(away) if one.since is not None}
        seats = self.seats
        if self.settings.kind != "none":
            seats = tuple(
                [
                    self._think(one, now, stands=seat in stands) if seat in to_move else self._pay(one, now)
                    for seat, one in enumerate(seats)
                ]
            )
        return self if (seats, away) == (self.seats, self.away) else replace(self, seats=seats, away=away)

    def end_turns(self, now: float) -> "Clocks":
        """All turns are over, also of whoever is to move again."""
        return replace(self, seats=tuple([self._pay(one, now) for one in self.seats]))

    def _think(self, one: SeatClock, now: float, *, stands: bool) -> SeatClock:
        """A seat that is to move."""
        if one.out or stands == (one.since is None):
            return one
        return (
            SeatClock(one.left, spent=_passed(one, now)) if stands else SeatClock(one.left, now - one.spent)
        )

    def _pay(self, one: SeatClock, now: float) -> SeatClock:
        """A seat whose turn is over, if it had one."""
        if one.out:
            return SeatClock(self._left(0.0, 0.0))
        if one.since is None and not one.spent:
            return one
        return SeatClock(self._left(one.left, _passed(one, now)))

    def _left(self, left: float, turn: float) -> float:
        """What is left to a seat after a turn of so many seconds."""
        match self.settings.kind:
            case "turn" | "none":
                return self.settings.seconds
            case "increment":
                return left - turn + self.settings.extra
            case "delay":
                return left - max(0.0, turn - self.settings.extra)

    def _leave(self, one: SeatClock, now: float, *, gone: bool) -> SeatClock:
        """The time to be away of a seat; whoever comes back after it was over has all of it again."""
        if one.out:
            return one if gone else SeatClock(self._allowed)
        if gone == (one.since is not None):
            return one
        return SeatClock(one.left, now) if gone else SeatClock(max(0.0, one.left - _passed(one, now)))

    @property
    def _allowed(self) -> float:
        """The whole time to be away."""
        return 0.0 if self.settings.away is None else self.settings.away.seconds

    def give_back(self, seat: int, seconds: float, now: float) -> "Clocks":
        """So many seconds of this seat's turn were not its fault: a move was on its way, say."""
        one = self.seats[seat]
        if one.since is None or seconds <= 0:
            return self
        return replace(self, seats=_with(self.seats, seat, replace(one, since=min(now, one.since + seconds))))

    def mark_out(self, seat: int, *, gone: bool = False) -> "Clocks":
        """The time of this seat is over, and it neither loses nor pays for the rest of its turn."""
        out = SeatClock(0.0, out=True)
        if gone:
            return replace(self, away=_with(self.away, seat, out))
        return replace(self, seats=_with(self.seats, seat, out))

    def refill(self, seat: int, now: float) -> "Clocks":
        """The time of this seat was over and its game goes on: it begins again."""
        return replace(self, seats=_with(self.seats, seat, SeatClock(self.settings.seconds, now)))


def _passed(one: SeatClock, now: float) -> float:
    """Seconds of a turn or an absence so far."""
    return one.spent if one.since is None else max(0.0, now - one.since)


def _with(row: tuple[SeatClock, ...], seat: int, one: SeatClock) -> tuple[SeatClock, ...]:
    return (*row[:seat], one, *row[seat + 1 :])


class Out(NamedTuple):
    """The end of somebody's time."""

    at: float
    seat: int
    gone: bool = False
    """Of the time to be away."""


class Claim(msgspec.Struct, frozen=True, tag_field="do", tag="claim"):
    """Win against a player whose time is over, where the room leaves that to the others."""

    player: str


class ClaimWin(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a client sends to claim the game."""

    id: str | None = None


class Flag(msgspec.Struct, frozen=True, tag_field="do", tag="flag", omit_defaults=True):
    """A player's time is over."""

    player: str
    gone: bool = False
    """The time to be away."""


class SetClock(msgspec.Struct, frozen=True, tag_field="do", tag="set_clock"):
    """Give a room clocks whose game had a timer of its own, by older rules."""

    clock: ClockSettings

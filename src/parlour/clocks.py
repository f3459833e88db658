"""Clocks of a room: how much time each seat has to think and to be away, whose runs, and when it is over.

All times are on the game's clock, which stands still while the server is down and while the game is paused.
"""

from collections.abc import Collection, Sequence
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

    @property
    def has_turn(self) -> bool:
        """Whether it is in a turn, also one whose time stands still."""
        return self.since is not None or self.out or self.spent > 0


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

    def out_at(self, seat: int, *, gone: bool = False) -> float | None:
        """When the time of a seat to think, or to be away, is over, if it runs."""
        one = (self.away if gone else self.seats)[seat]
        if one.since is None:
            return None
        free = self.settings.extra if self.settings.kind == "delay" and not gone else 0.0
        return one.since + one.left + free

    @property
    def next_out(self) -> "Out | None":
        """Whose time is over first, and when; a move that was made in time may still be on its way then."""
        outs = [
            Out(at + MAX_LAG, seat)
            for seat in range(len(self.seats))
            if (at := self.out_at(seat)) is not None
        ]
        away = [
            Out(at, seat, gone=True)
            for seat in range(len(self.away))
            if (at := self.out_at(seat, gone=True)) is not None
        ]
        return min(outs + away, default=None)

    def late(self, at_zero: AtZero) -> list[int]:
        """The seats whose time is over, where this follows of it."""
        settings = self.settings
        think = self.seats if settings.at_zero == at_zero else ()
        away = self.away if settings.away is not None and settings.away.at_zero == at_zero else ()
        return sorted({seat for row in (think, away) for seat, one in enumerate(row) if one.out})

    def ended(self, to_move: Collection[int], idle: Collection[int], *, every: bool) -> frozenset[int]:
        """The seats whose turn has ended: *every* turn, or that of those who are not to move any more."""
        return frozenset(
            [
                seat
                for seat, one in enumerate(self.seats)
                if one.has_turn and seat not in idle and (every or seat not in to_move)
            ]
        )

    def run(
        self,
        to_move: Collection[int],
        gone: Collection[int],
        now: float,
        *,
        ended: Collection[int] = (),
        idle: Collection[int] = (),
    ) -> "Clocks":
        """Let the time of those run who are to move, and of those who are gone; *ended* turns are paid for.

        The time of *idle* seats stands, where nobody sits or nobody plays; their turns go on later. As long
        as somebody may be away, their time to think stands still.
        """
        away = tuple(
            [
                _charged_away(one, now)
                if seat in idle and seat in gone
                else self._leave(one, now, gone=seat in gone)
                for seat, one in enumerate(self.away)
            ]
        )
        runs = {seat for seat in to_move if seat not in idle and (not away or away[seat].since is None)}
        seats = self.seats
        if self.settings.kind != "none":
            given_up = self.given_up(ended)
            paid = [
                self._pay(one, now, given_up=seat in given_up) if seat in ended else one
                for seat, one in enumerate(self.seats)
            ]
            seats = tuple(
                [_going_on(one, now) if seat in runs else _stopped(one, now) for seat, one in enumerate(paid)]
            )
        return self if (seats, away) == (self.seats, self.away) else replace(self, seats=seats, away=away)

    def given_up(self, ended: Collection[int]) -> frozenset[int]:
        """The seats among these whose turn was given up: it stood still, and not because they are away."""
        return frozenset(
            [
                seat
                for seat in ended
                if self.seats[seat].since is None
                and not self.seats[seat].out
                and not (self.away and self.away[seat].since is not None)
            ]
        )

    def _pay(self, one: SeatClock, now: float, *, given_up: bool) -> SeatClock:
        """A seat whose turn has ended: what a turn adds is added for one that was played to its end."""
        over = self._charged(one, now)
        return over if given_up else replace(over, left=over.left + self._added)

    def _charged(self, one: SeatClock, now: float) -> SeatClock:
        """A seat without its turn so far, which has cost what it took and adds nothing."""
        if self.settings.kind == "turn":
            return SeatClock(self.settings.seconds)
        return SeatClock(0.0 if one.out else one.left - self._cost(_passed(one, now)))

    def _cost(self, seconds: float) -> float:
        """What so many seconds of one turn take off the time for the game."""
        match self.settings.kind:
            case "increment":
                return seconds
            case "delay":
                return max(0.0, seconds - self.settings.extra)
            case _:
                return 0.0

    @property
    def _added(self) -> float:
        """What a turn adds that was played to its end."""
        return self.settings.extra if self.settings.kind == "increment" else 0.0

    def taken_back(
        self, then: "Clocks", at: float, turns: Sequence[int], given_up: Sequence[int], now: float
    ) -> "Clocks | None":
        """The clocks after a takeback to how they were *then*, at that time.

        So many *turns* have ended since, and so many of these were *given_up*. The turns of then go on, and
        nothing was added for those that are taken back; what they took is gone. None if that leaves somebody
        without time.
        """
        if self.settings.kind == "none":
            return self
        seats = []
        for seat, (one, was, count) in enumerate(zip(self.seats, then.seats, turns, strict=True)):
            paid = count - (given_up[seat] if given_up else 0)
            back = self._back(one, was, at, now, ended=count > 0, paid=paid)
            if not one.out and back.left <= self._cost(back.spent) and self.settings.kind != "turn":
                return None
            seats.append(back)
        return replace(self, seats=tuple(seats))

    def _back(
        self, one: SeatClock, was: SeatClock, at: float, now: float, *, ended: bool, paid: int
    ) -> SeatClock:
        if was.has_turn and not ended:  # this turn was not taken back
            return _stopped(one, now)
        charged = self._charged(one, now) if one.has_turn else one
        left = charged.left - paid * self._added
        if not was.has_turn:
            return SeatClock(left)
        if was.out:
            return was
        spent = _passed(was, at)
        return SeatClock(left + self._cost(spent), spent=spent)

    def _leave(self, one: SeatClock, now: float, *, gone: bool) -> SeatClock:
        """The time to be away of a seat; whoever comes back after it was over has all of it again."""
        if one.out:
            return one if gone else SeatClock(self._allowed)
        if gone == (one.since is not None):
            return one
        return SeatClock(one.left, now) if gone else _charged_away(one, now)

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


def _going_on(one: SeatClock, now: float) -> SeatClock:
    """A seat whose turn begins or goes on."""
    return one if one.out or one.since is not None else SeatClock(one.left, now - one.spent)


def _stopped(one: SeatClock, now: float) -> SeatClock:
    """A seat whose time stands still from now on."""
    return one if one.since is None else SeatClock(one.left, spent=_passed(one, now))


def _charged_away(one: SeatClock, now: float) -> SeatClock:
    """The time to be away of a seat without the absence so far."""
    return one if one.since is None else SeatClock(max(0.0, one.left - _passed(one, now)))


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

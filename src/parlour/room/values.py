"""What a room is made of: its seats, its alarms, its clock and its state, all of it plain values."""

import hashlib
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from parlour.clocks import AtZero, Clocks, Flag
from parlour.errors import Code, Refused
from parlour.game import Chance, Effect, Joined, Outcome
from parlour.luck import AddedLuck, mixed
from parlour.offers import Offers, Verdict
from parlour.wire import Command, Disconnect, Join, Leave, RevealedSeed, Ring, Shutdown

S = TypeVar("S")

MustHappen = Disconnect | Leave | Ring | Flag | Shutdown
"""What a room does even if the game's callback fails on it."""


class Patience(msgspec.Struct, frozen=True):
    """How many seconds the server lets rooms last; None: for ever."""

    playing: float | None = 14 * 86400.0
    """After the last step of a game that leaves this to the server, while somebody has a seat in it."""
    empty: float | None = 3600.0
    """A room in which nobody ever sat; where the game leaves it to the server, also one that is over."""


DEFAULT_PATIENCE = Patience()
"""What a server has unless told otherwise."""


class Instant(msgspec.Struct, frozen=True):
    """What the world hands to a step: the room's clock, wall time, and a fresh seed in case one is needed."""

    now: float
    date: float
    seed: bytes
    rules: int | None = None
    """The version of the rules that made it, where it happened before and is played again."""
    kept: tuple[Effect, ...] = ()
    """What it caused then."""
    patience: Patience = DEFAULT_PATIENCE


class Seat(msgspec.Struct, frozen=True, omit_defaults=True):
    """A player's place in the game."""

    player: str
    name: str
    topics: tuple[str, ...]
    connected: bool = False
    again: bool = False
    """Has asked for a rematch."""
    bot: bool = False
    """Always connected, ready for every rematch, and nobody whom a room would wait for."""
    remote: bool = False
    """A bot that plays over the network: it is marked as one, and otherwise treated like a person."""
    account: bool = False
    """Somebody with an account; other people are guests."""


class Alarm(msgspec.Struct, frozen=True):
    """A command that the room gives itself when it is time."""

    due: float
    """On the room's clock."""
    command: Ring | Leave | Flag | Shutdown


TIMING = 2
"""The rules by which the clocks of new rooms run; a room keeps those by which it was opened."""

FLAG = "flag"
"""The alarm for when a player's time is over."""


def is_timer(key: str) -> bool:
    """True if an alarm is on the game's clock: a timer of its own, or the end of a player's time."""
    return key.startswith("later:") or key == FLAG


class Past(msgspec.Struct, Generic[S], frozen=True, omit_defaults=True):
    """What there was before a player's move, for a game whose moves can be taken back."""

    player: str
    state: S
    now: float
    timers: dict[str, Alarm]
    clocks: Clocks | None = None
    """The players' clocks then."""
    turns: tuple[int, ...] = ()
    """How many turns of each seat have ended since."""
    given_up: tuple[int, ...] = ()
    """How many of these were given up, so that nothing was added for them; empty if none was."""


class Room(msgspec.Struct, Generic[S], frozen=True, omit_defaults=True):
    """All there is to know about a running room; a journal can keep it, a step replaces it."""

    id: str
    game: str
    config: Any
    state: S
    seats: tuple[Seat | None, ...]
    least: int
    """How many must sit for the game to be played."""
    seed: bytes
    """Secret until an outcome shows it."""
    seq: int = 0
    head: bytes = b""
    """The digest of the last step."""
    alarms: dict[str, Alarm] = {}
    outcome: Outcome | None = None
    shown: tuple[RevealedSeed, ...] = ()
    """The seed that the last outcome made public; earlier ones stand in the steps."""
    behind: float = 0.0
    """How far the room's clock is behind the server's."""
    postponed: float | None = None
    """When the game wanted the room to end, which waits for a player who is connected or still plays."""
    ended: str | None = None
    """Why the room is over for good."""
    apart: bool = False
    """Players and spectators talk apart: neither hears the others."""
    offers: Offers = Offers()
    verdict: Verdict | None = None
    """How the room decided the game; it counts instead of what the game says."""
    fresh: bool = False
    """Nothing was drawn from the seed yet, so that players can still add to it."""
    added: tuple[AddedLuck, ...] = ()
    """What players added to the seed, in order."""
    past: tuple[Past[S], ...] = ()
    """Before each of the last moves, where they can be taken back."""
    clocks: Clocks | None = None
    """The time of each seat, where players have clocks."""
    timing: int = 1
    """By which rules the clocks run: since 2, a turn that did not end is never paid for."""
    awaited: tuple[Join, ...] = ()
    """Those who were paired for this room and sit down when they come, bots with the last of them."""
    called: dict[str, int] = {}
    """The players who were away when their turn began, or left in it, and the step since when that is so."""
    played: bool = False
    """Somebody has played in this game."""
    begun: bool = False
    """Somebody has, and all were here at once since then: whoever leaves a ranked game now has lost it."""

    def seat(self, player: str | None) -> Seat | None:
        """This player's seat, if they have one."""
        for seat in self.seats:
            if seat is not None and seat.player == player:
                return seat
        return None

    def seat_number(self, player: str | None) -> int | None:
        """Where this player sits, if anywhere."""
        for number, seat in enumerate(self.seats):
            if seat is not None and seat.player == player:
                return number
        return None

    @property
    def players(self) -> tuple[str | None, ...]:
        """Who sits where."""
        return tuple([s.player if s is not None else None for s in self.seats])

    @property
    def connected(self) -> list[str]:
        """The seated players who are here."""
        return [s.player for s in self.seats if s is not None and s.connected]

    @property
    def bots(self) -> list[str]:
        """The bots who sit here."""
        return [s.player for s in self.seats if s is not None and s.bot]

    def late(self, at_zero: AtZero) -> list[str]:
        """The players whose time is over, where this follows of it."""
        late = [] if self.clocks is None else self.clocks.late(at_zero)
        return [player for player in (self.players[seat] for seat in late) if player is not None]

    @property
    def stood_in_for(self) -> list[str]:
        """The players for whom a bot makes the move, because their time is over."""
        return self.late("bot")

    @property
    def seed_hash(self) -> str:
        """What is public of the seed from the start."""
        return hashlib.sha256(self.seed).hexdigest()

    def added_with(self, player: str, luck: str | None) -> tuple[AddedLuck, ...]:
        """What is added to the seed once a player brings these bytes; too late or twice, they are not."""
        if luck is None or not self.fresh or any(one.player == player for one in self.added):
            return self.added
        return (*self.added, AddedLuck(player, luck))

    def awaits(self, player: str) -> bool:
        """True if this player was paired for the room, and has not sat down yet."""
        return any(one.player == player for one in self.awaited)

    def check_kept(self, player: str) -> None:
        """Refuse a seat that is kept for somebody who was paired for this room."""
        if self.awaited and not self.awaits(player) and self.seats.count(None) <= len(self.awaited):
            why = "the free seat is kept for somebody who is on the way; you can watch"
            raise Refused(Code.SEAT_KEPT, why)

    @property
    def key(self) -> bytes:
        """What luck is drawn with: the seed, and what players added to it."""
        return mixed(self.seed, self.added)

    @property
    def status(self) -> str:
        """Where the room stands: waiting, playing, over (the game), ended (the room)."""
        if self.ended is not None:
            return "ended"
        if self.outcome is not None:
            return "over"
        return "playing" if len(self.seats) - self.seats.count(None) >= self.least else "waiting"

    @property
    def next_due(self) -> float | None:
        """When the room wants to be woken, on the server's clock."""
        alarms = self.running
        return min([alarm.due for alarm in alarms.values()]) + self.behind if alarms else None

    @property
    def running(self) -> dict[str, Alarm]:
        """The alarms that can ring: in a pause, none of the game's own."""
        if self.offers.paused is None:
            return self.alarms
        return {key: alarm for key, alarm in self.alarms.items() if not is_timer(key)}

    @property
    def waits_by_clocks(self) -> bool:
        """True while the time of a player runs out: then that is how long the room waits for them."""
        return FLAG in self.alarms and self.offers.paused is None

    def clock(self, now: float) -> float:
        """The game's clock at this time of the server's; in a pause it stands still."""
        return now - self.behind if self.offers.paused is None else self.offers.paused

    def away_until(self, player: str) -> float | None:
        """When somebody is away for too long, on the room's clock; None while nobody waits for that."""
        alarm = self.alarms.get(f"away:{player}")
        return None if alarm is None else alarm.due

    def out_of_time(self, player: str) -> float | None:
        """When the time of a player is over, on the server's clock; None while it does not run."""
        seat = self.seat_number(player)
        if self.clocks is None or seat is None or self.offers.paused is not None:
            return None
        out = self.clocks.out_at(seat)
        return None if out is None else out + self.behind

    def must(self, command: Command) -> bool:
        """Whether this happens even if the game fails on it; who has no seat can neither leave nor go."""
        if self.ended is not None or not isinstance(command, MustHappen):
            return False
        return not isinstance(command, Disconnect | Leave) or self.seat(command.player) is not None

    def due(self, now: float) -> Command | None:
        """The command of the alarm that should have rung first, if one is due."""
        alarms = self.running.items()
        ripe = [(alarm.due, key) for key, alarm in alarms if alarm.due + self.behind <= now]
        return self.alarms[min(ripe)[1]].command if ripe else None


class Asked(NamedTuple, Generic[S]):
    """What a game answered to somebody who wants to join, when, and what it drew for that."""

    at: Instant
    joined: Joined[S]
    chance: Chance

"""One command on its way through a room: what it has changed so far, and what changes are made of."""

from typing import Any, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import Cancel, Chance, Effect, End, Game, Joined, Later, Moment, Send, Update
from parlour.room.values import Alarm, Asked, Instant, Room, Seat, is_timer
from parlour.wire import Leave, Ring, Shutdown

S = TypeVar("S")

END_GRACE = 60.0
"""Seconds that somebody has to come back to a room whose announced end they have outstayed."""


def seal(payload: Any) -> msgspec.Raw:
    """Plain data as it is kept and told, encoded once; the same in every process, also sets."""
    return msgspec.Raw(_encode(payload))


_encode = msgspec.json.Encoder(order="deterministic").encode


def not_seated() -> Refused:
    """What those are told who only watch."""
    return Refused(Code.NOT_SEATED, "only somebody with a seat can do that; you are watching")


class Turn(Generic[S]):
    """One command on its way through the room: what it has changed so far."""

    __slots__ = (
        "added", "alarms", "asked", "at", "awaited", "behind", "chance", "clocks", "effects", "ended",
        "game", "now", "offers", "past", "postponed", "room", "seats", "spared", "state", "verdict",
    )  # fmt: skip

    def __init__(
        self, game: Game[S], room: Room[S], at: Instant, *, spared: bool, asked: Asked[S] | None
    ) -> None:
        self.game = game
        self.asked = asked
        self.room = room
        self.at = at
        self.now = at.now - room.behind
        self.spared = spared
        self.state = room.state
        self.seats = list(room.seats)
        self.alarms = dict(room.alarms)
        self.effects: list[Effect] = []
        self.chance = Chance(room.key, room.seq + 1) if asked is None else asked.chance
        self.behind = room.behind
        self.postponed = room.postponed
        self.ended: str | None = None
        self.offers = room.offers
        self.verdict = room.verdict
        self.past = room.past
        self.added = room.added
        self.awaited = room.awaited
        self.clocks = room.clocks

    @property
    def clock(self) -> float:
        """The game's clock, which stands still in a pause."""
        return self.now if self.offers.paused is None else self.offers.paused

    def moment(self) -> Moment:
        players = tuple([s.player if s is not None else None for s in self.seats])
        clock = None if self.clocks is None else self.clocks.settings
        return Moment(self.clock, self.at.date, self.chance, players, self.at.rules, self.at.kept, clock)

    def number(self, player: str) -> int:
        number = self.room.seat_number(player)
        if number is None:
            raise not_seated()
        return number

    def taken(self, number: int) -> Seat:
        seat = self.seats[number]
        assert seat is not None  # noqa: S101 - number() found it
        return seat

    def sit(self, joined: Joined[S], seat: Seat) -> None:
        assert joined.seat is not None  # noqa: S101 - the caller looked
        self.seats[joined.seat] = seat
        self.update(joined.update)

    def update(self, update: Update[S]) -> None:
        if not isinstance(update, Update):
            raise TypeError(
                f"{self.game.name}: expected a callback to return an Update, got {type(update).__name__}"
            )
        self.state = update.state
        for effect in update.effects:
            self.cause(effect)

    def cause(self, effect: Effect) -> None:
        match effect:
            case Send(kind="game_event" | "sync"):
                self.send(effect)
            case Send():
                raise TypeError(f"{self.game.name}: a game sends game_event or sync, not {effect.kind}")
            case Later():
                sealed = replace(effect, event=seal(effect.event))
                self.alarms[f"later:{effect.key}"] = Alarm(
                    self.clock + effect.seconds, Ring(effect.key, sealed.event, effect.every)
                )
                self.effects.append(sealed)
            case Cancel():
                self.alarms.pop(f"later:{effect.key}", None)
                self.effects.append(effect)
            case End():
                self.postponed = None
                self.set_alarm("end", effect.after, Shutdown("game_ended"))
                self.effects.append(effect)

    def send(self, effect: Send) -> None:
        if type(effect.to) is not str:
            raise TypeError(f"a topic to send to: expected a str, got {effect.to!r}")
        self.effects.append(Send(effect.to, seal(effect.payload), effect.kind))

    def refresh(self) -> None:
        """Somebody joined or did something: the game's patience begins anew."""
        if self.game.timeouts.game != "server":
            self.set_alarm("idle", self.game.timeouts.game, Shutdown("game_timeout"))

    def last(self, *, playing: bool) -> None:
        """Let a room last as the server has it: no end under a connected player, nor under a running game."""
        people = [seat.connected for seat in self.seats if seat is not None and not seat.bot]
        here, patience = True in people, self.at.patience
        announced = self.alarms.pop("end", None)
        end, self.postponed = self.postponed if announced is None else announced.due, None
        if here or (people and playing):
            self.postponed = end
        elif end is not None:
            due = end if announced is not None else max(end, self.now + END_GRACE)
            self.alarms["end"] = Alarm(due, Shutdown("game_ended"))
        wait = patience.playing if people and (playing or end is not None) else patience.empty
        self.set_alarm("idle", None if here else wait, Shutdown("game_timeout"))

    def await_return(self, player: str) -> None:
        """A seat is kept for a while for somebody who is not here (yet)."""
        self.set_alarm(f"away:{player}", self.game.timeouts.away, Leave(player, "away_too_long"))

    def notice_empty(self) -> None:
        """The room does not wait long once its last player is gone; a later leave buys it no time."""
        here = any(seat is not None and seat.connected and not seat.bot for seat in self.seats)
        if not here and "nobody" not in self.alarms:
            self.set_alarm("nobody", self.game.timeouts.nobody, Shutdown("nobody_here"))

    def set_alarm(self, key: str, seconds: float | None, command: Ring | Leave | Shutdown) -> None:
        if seconds is None:
            self.alarms.pop(key, None)
        else:
            self.alarms[key] = Alarm(self.now + seconds, command)

    def stop_timers(self) -> None:
        """Nothing that the game planned will ring."""
        for key in [key for key in self.alarms if is_timer(key)]:
            del self.alarms[key]

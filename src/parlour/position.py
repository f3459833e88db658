"""A game between two moves as a value, for those who look ahead: each move gives another one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from parlour.errors import Code, Refused
from parlour.game import GAME, Cancel, Chance, Game, Later, Moment, Outcome, Update

DATE = 1735689600.0
"""What the wall clock shows to rules that are asked what would be."""

Timer = tuple[float, Any, float | None]
"""When it rings, with which event, and every so many seconds."""


class Position:
    """State, clock and timers of a game; it is never changed."""

    __slots__ = ("game", "now", "outcome", "seats", "state", "timers")

    def __init__(
        self,
        game: Game[Any],
        state: Any,
        seats: tuple[str | None, ...],
        now: float = 0.0,
        timers: Mapping[str, Timer] | None = None,
    ) -> None:
        self.game = game
        self.state = state
        self.seats = seats
        self.now = now
        self.timers = timers or {}
        self.outcome: Outcome | None = game.outcome(state)

    def play(self, seat: int, event: Any, chance: Chance) -> "Position":
        """The position after an event of the player in this seat."""
        moment = Moment(self.now, DATE + self.now, chance, self.seats)
        update = self.game.handle_event(self.state, self.seats[seat] or "", event, moment)
        return self._after(update, self.now, self.timers)

    def ring(self, chance: Chance) -> "Position | None":
        """The position after the next timer of the game; None if there is none."""
        if not self.timers:
            return None
        timers = dict(self.timers)
        key = min(timers, key=lambda key: (timers[key][0], key))
        due, event, every = timers.pop(key)
        if every is not None:
            timers[key] = (due + every, event, every)
        now = max(self.now, due)
        read = self.game.read_timer(msgspec.json.encode(event))
        moment = Moment(now, DATE + now, chance, self.seats)
        return self._after(self.game.handle_event(self.state, GAME, read, moment), now, timers)

    def legal(self, seat: int) -> list[Any]:
        """All that the player in this seat could do now."""
        player = self.seats[seat]
        if player is None or self.outcome is not None:
            return []
        return list(self.game.legal_events(self.state, player) or ())

    def is_same(self, other: "Position") -> bool:
        """Whether everything that may follow from both is the same."""
        return self is other or (
            self.state == other.state and self.timers == other.timers and self.now == other.now
        )

    def _after(self, update: Update[Any], now: float, timers: Mapping[str, Timer]) -> "Position":
        if update.effects:
            changed = dict(timers)
            for effect in update.effects:
                if type(effect) is Later:
                    changed[effect.key] = (now + effect.seconds, effect.event, effect.every)
                elif type(effect) is Cancel:
                    changed.pop(effect.key, None)
            timers = changed
        return Position(self.game, update.state, self.seats, now, timers)


def gains(outcome: Outcome | None, players: Sequence[str | None]) -> tuple[float, ...]:
    """What each player gets in the end: the points of the outcome; else 1, -1 or 0."""
    if outcome is None:
        return (0.0,) * len(players)
    if outcome.points:
        return tuple([float(outcome.points.get(player or "", 0.0)) for player in players])
    return tuple([float((player in outcome.won) - (player in outcome.lost)) for player in players])


Clock = Callable[[], float]
"""Seconds, for those who may think for so long."""


def stand_still() -> float:
    """A clock for tables: whoever thinks there takes no time, and so always thinks the same."""
    return 0.0


class BotWithWorlds(msgspec.Struct, frozen=True):
    """A bot that looks ahead: it gets a position that it cannot tell from the true one, and its own seat."""

    look: Callable[[Position, int, Chance, Clock], Any]
    secrets: bool = True
    """False: the game hides nothing, although it has a view of its own."""

    def __call__(self, *_question: Any) -> Any:
        raise Refused(Code.GAME_ERROR, "expected a world for a bot that looks ahead, got only a view")

    def ask(
        self,
        game: Game[Any],
        state: Any,
        player: str,
        seats: Sequence[str | None],
        chance: Chance,
        clock: Clock = stand_still,
    ) -> Any:
        """What it does in this true state, which it never gets: another one is drawn before it looks.

        Nor does it get the timers that run, since their events may tell something.
        """
        hides = self.secrets and type(game).view is not Game.view
        if hides and type(game).resample is Game.resample:
            why = "expected resample of a game that has a view of its own, or a bot with secrets=False"
            raise Refused(Code.GAME_ERROR, f"{game.name}: {why}")
        world = game.resample(state, player, chance)
        return self.look(Position(game, world, tuple(seats)), list(seats).index(player), chance, clock)

"""A table without a room: the rules alone, a clock that jumps, and luck by a seed; made for many games."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec

from parlour.errors import Code, Refused
from parlour.game import GAME, Cancel, Chance, Game, Later, Moment, Outcome, Update
from parlour.room import places_of

NEW_YEAR = 1735689600.0
"""The date at which every table is opened."""

Does = Literal["act", "join", "connect", "disconnect", "leave", "verdict"]

encode = msgspec.json.Encoder(order="sorted").encode
"""JSON that is the same for a value and for what is read back of it."""


class Step(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One thing that happened at a table, with all that is needed to let it happen again."""

    at: float = 0.0
    """On the table's clock."""
    seat: int | None = None
    """Who did it; None: a timer of the game, or all together."""
    event: Any = None
    draws: tuple[int, ...] = ()
    does: Does = "act"
    why: str = ""
    """Why somebody left."""
    verdict: Outcome | None = None
    """How the players ended it among themselves."""
    views: tuple[Any, ...] = ()
    """What each seat saw before it."""
    legal: tuple[Any, ...] = ()
    """What this seat could have done."""


class ScriptedChance(Chance):
    """Luck that was drawn before."""

    __slots__ = ("_script",)

    def __init__(self, script: list[int]) -> None:
        super().__init__(b"", 0)
        self._script = script

    def below(self, n: int) -> int:
        if not self._script:
            raise Refused(Code.MALFORMED, f"expected one more draw, below {n}, got none")
        number = self._script.pop(0)
        if not 0 <= number < n:
            raise Refused(Code.MALFORMED, f"expected a draw below {n}, got {number}")
        self.draws.append(number)
        self.sizes.append(n)
        return number


class Timer(msgspec.Struct, frozen=True):
    """An event of the game itself, and when it is due."""

    due: float
    event: Any
    every: float | None


class Table:
    """One game and those who play it; time stands still while anybody can do something.

    The same seed brings the same luck: the third roll of a game is the same, whatever was played before it.
    """

    rules: int | None = None
    """By which version of the rules it was played, where that is not today's."""
    seats: tuple[str | None, ...]
    """Who sits where."""
    state: Any

    def __init__(
        self, game: Game[Any], config: Any = None, *, seed: int = 0, players: Sequence[str] | None = None
    ) -> None:
        self.open(game, config, seed=seed)
        for player in players or [str(number + 1) for number in range(len(self.seats))]:
            self.join(player)
            self.connect(player)

    @classmethod
    def scripted(
        cls, game: Game[Any], config: Any, draws: Sequence[int], rules: int | None = None
    ) -> "Table":
        """A table at which nobody sits yet, whose luck is what was drawn before, by these rules."""
        table = cls.__new__(cls)
        table.rules = None if rules == game.version else rules
        table.open(game, config, script=list(draws))
        return table

    def resume(self, state: Any, seats: Sequence[str | None]) -> None:
        """Go on from this position, with these people."""
        self.seats = tuple(seats)
        self.state = state

    def open(self, game: Game[Any], config: Any, *, seed: int = 0, script: list[int] | None = None) -> None:
        """Set up, with nobody at the table; a config that makes no sense is refused."""
        self.game = game
        self.config = game.read_config({} if config is None else config)
        self.seats = (None,) * (places_of(game, self.config).stop - 1)
        self.now = 0.0
        self.outcome: Outcome | None = None
        self.timers: dict[str, Timer] = {}
        self.steps: list[Step] = []
        self._key = hashlib.sha256(str(seed).encode()).digest()
        self._lucky_steps = 0
        self.script = script
        """What the next steps draw, where they happened before."""
        chance = self._chance()
        self.state = game.init(self.config, self._moment(chance))
        self.opening = tuple(chance.draws)
        """What was drawn to set the game up."""
        self._lucky_steps += bool(chance.draws)

    # What happens.

    def act(self, player: str, event: Any) -> None:
        """Play an event, given as an event of the game or as plain data; `Refused` if it cannot be played."""
        if self.outcome is not None:
            raise Refused(Code.GAME_OVER, "expected a game that goes on, but it is over")
        if player not in self.seats:
            raise Refused(Code.NOT_SEATED, f"expected one of {', '.join(self.active)}, got {player}")
        self.play(self.seats.index(player), self.game.read_event(msgspec.json.encode(event)))

    def play(self, seat: int, event: Any) -> None:
        """An event that is known to be one of the game's own, by whoever sits there."""
        chance = self._chance()
        update = self.game.handle_event(self.state, self.seats[seat] or "", event, self._moment(chance))
        self._take(update, Step(self.now, seat, event, tuple(chance.draws)))

    def ring_timer(self) -> bool:
        """Let the clock go to the next timer of the game, and that ring; False if there is none."""
        if not self.timers:
            return False
        key = min(self.timers, key=lambda key: (self.timers[key].due, key))
        timer = self.timers.pop(key)
        self.now = max(self.now, timer.due)
        if timer.every is not None:
            self.timers[key] = Timer(timer.due + timer.every, timer.event, timer.every)
        self.play_timer(timer.event)
        return True

    def play_timer(self, event: Any) -> None:
        """An event of the game itself."""
        read = self.game.read_timer(encode(event))
        chance = self._chance()
        update = self.game.handle_event(self.state, GAME, read, self._moment(chance))
        self._take(update, Step(self.now, None, read, tuple(chance.draws)))

    def join(self, player: str) -> int:
        """Somebody sits down; the seat that the game gives."""
        chance = self._chance()
        joined = self.game.join_game(self.state, player, False, self._moment(chance))  # noqa: FBT003
        if joined.seat is None or self.seats[joined.seat] is not None:
            raise Refused(Code.GAME_ERROR, f"{self.game.name}: expected a free seat, got {joined.seat}")
        self.seats = (*self.seats[: joined.seat], player, *self.seats[joined.seat + 1 :])
        self._take(joined.update, Step(self.now, joined.seat, None, tuple(chance.draws), "join"))
        return joined.seat

    def connect(self, player: str) -> None:
        """Somebody who sits is here."""
        self._call(self.game.player_connected, player, "connect")

    def disconnect(self, player: str) -> None:
        """Somebody who sits is away."""
        self._call(self.game.player_disconnected, player, "disconnect")

    def leave(self, player: str, why: str = "manual") -> None:
        """Somebody gives the seat up; the game may keep it for them."""
        seat, chance = self._seat(player), self._chance()
        update = self.game.leave_game(self.state, player, why, self._moment(chance))
        if not update.keeps_seat:
            self.seats = (*self.seats[:seat], None, *self.seats[seat + 1 :])
        self._take(update, Step(self.now, seat, None, tuple(chance.draws), "leave", why))

    def decide(self, outcome: Outcome) -> None:
        """The players end it among themselves: somebody resigned, or all agreed."""
        chance = self._chance()
        update = self.game.handle_verdict(self.state, outcome, self._moment(chance))
        self._take(update, Step(self.now, None, None, tuple(chance.draws), "verdict", "", outcome))
        self.outcome = outcome

    # What there is to know.

    @property
    def active(self) -> list[str]:
        """Everybody who sits, while the game goes on."""
        return [] if self.outcome is not None else [player for player in self.seats if player is not None]

    def legal(self, player: str) -> list[Any]:
        """All that this player could do now."""
        return list(self.game.legal_events(self.state, player) or ())

    def sees(self, viewer: str | None) -> Any:
        """The view of a player, or of those without a seat (None), as the plain data that a client gets."""
        return msgspec.json.decode(msgspec.json.encode(self.game.view(self.state, viewer)))

    # How it is done.

    def _call(self, callback: Callable[..., Update[Any]], player: str, does: Does) -> None:
        seat, chance = self._seat(player), self._chance()
        update = callback(self.state, player, self._moment(chance))
        self._take(update, Step(self.now, seat, None, tuple(chance.draws), does))

    def _seat(self, player: str) -> int:
        if player not in self.seats:
            raise Refused(Code.NOT_SEATED, f"expected somebody who sits here, got {player}")
        return self.seats.index(player)

    def _chance(self) -> Chance:
        return Chance(self._key, self._lucky_steps) if self.script is None else ScriptedChance(self.script)

    def _moment(self, chance: Chance) -> Moment:
        return Moment(self.now, NEW_YEAR + self.now, chance, self.seats, self.rules)

    def _take(self, update: Update[Any], step: Step) -> None:
        """What came of a step."""
        self.state = update.state
        for effect in update.effects:
            if type(effect) is Later:
                self.timers[effect.key] = Timer(self.now + effect.seconds, effect.event, effect.every)
            elif type(effect) is Cancel:
                self.timers.pop(effect.key, None)
        if step.draws:
            self._lucky_steps += 1
        self.steps.append(step)
        if self.outcome is None:
            self.outcome = self.game.outcome(self.state)

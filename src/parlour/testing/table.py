"""A table to play at in tests: a room without a server, whose clock goes when told to."""

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from parlour.clocks import ClockSettings
from parlour.errors import Refused
from parlour.game import Game, Joined, Outcome, Send
from parlour.pictures import scene_of
from parlour.room import Instant, Room, apply, ask_to_join, is_timer, open_room, topics_of
from parlour.scene import Scene
from parlour.sim.table import NEW_YEAR
from parlour.wire import Act, Command, Connect, Disconnect, Join, Leave, Step

WATCHER = "watcher"
MOST_SEEDS = 50_000
"""How many seeds are tried until one draws what a test asks for."""


class Table:
    """One room, and what was done in it. The same *luck* deals the same cards."""

    def __init__(
        self, game: Game[Any], config: Any = None, *, luck: int = 0, clock: ClockSettings | None = None
    ) -> None:
        self.game = game
        self.luck = luck
        self.now = 0.0
        """The room's clock in seconds."""
        self.steps: list[Step] = []
        self.opening: Room[Any] = open_room(game, "ABCD", config, self.instant(), clock=clock)
        self.room = self.opening
        self._wanted: tuple[int, ...] = ()

    @property
    def state(self) -> Any:
        """The game's state, secrets included."""
        return self.room.state

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended, if it has."""
        return self.room.outcome

    @property
    def active(self) -> list[str]:
        """Those who may play now: nobody, where the room has stopped or decided the game."""
        room = self.room
        return [] if room.verdict is not None or room.offers.paused is not None else room.connected

    def instant(self) -> Instant:
        """The present, with a fresh seed for every step."""
        seed = hashlib.sha256(f"{self.luck}:{len(self.steps)}".encode()).digest()
        return Instant(self.now, NEW_YEAR + self.now, seed)

    # What people do.

    def sit(self, *players: str) -> "Table":
        """They join and are here; the table, for one line less."""
        for player in players:
            self.do(Join(player, player.capitalize()))
            self.do(Connect(player))
        return self

    def act(self, player: str, event: Any) -> Step:
        """Play an event, given as an event of the game or as plain data."""
        return self.do(Act(player, msgspec.Raw(msgspec.json.encode(event))))

    def leave(self, player: str) -> Step:
        """Give the seat up."""
        return self.do(Leave(player))

    def disconnect(self, player: str) -> Step:
        """Lose the last connection; the seat is kept."""
        return self.do(Disconnect(player))

    def watch(self, player: str) -> Joined[Any]:
        """Come without wanting a seat."""
        return ask_to_join(self.game, self.room, player, self.instant(), spectate=True).joined

    def do(self, command: Command) -> Step:
        """Any command of `parlour.wire`."""
        self.room, step = self._search(command) if self._wanted else self._apply(self.room, command)
        self.steps.append(step)
        return step

    # Time and luck.

    def wait(self, seconds: float) -> list[Step]:
        """Let the clock go and every timer ring in its time; what that did."""
        until, before = self.now + seconds, len(self.steps)
        while (due := self.room.next_due) is not None and due <= until:
            self.ring()
        self.now = until
        return self.steps[before:]

    def ring(self) -> Step:
        """Let the clock go until the next timer rings: the game's own, or the end of the room's patience."""
        due = self.room.next_due
        if due is None:
            raise AssertionError("expected a timer that can ring, but there is none")
        self.now = max(self.now, due)
        command = self.room.due(self.now)
        if command is None:
            raise AssertionError("expected a timer that is due, but there is none")
        return self.do(command)

    def ring_timer(self) -> bool:
        """Let the clock go to the next timer of the game's own, if it has one."""
        timers = [alarm.due for key, alarm in self.room.alarms.items() if is_timer(key)]
        if timers:
            self.wait(max(0.0, min(timers) - self.now))
        return bool(timers) and self.why_ended() is None

    def draw_next(self, *numbers: int) -> "Table":
        """Let the next step that draws by chance draw these: each is what `Chance.below` gives, so 0 is a 1.

        The room's seed is searched for, so ask for a few dice, not for a deck of cards.
        """
        self._wanted = numbers
        return self

    def lay_out(self, state: Any) -> "Table":
        """Go on from this position, with the same people."""
        self.room = replace(self.room, state=replace(state, players=self.room.players))
        return self

    # What comes of it.

    def sees(self, viewer: str | None) -> Any:
        """The view of a player, or of those without a seat (None), as the plain data that a client gets."""
        return msgspec.json.decode(msgspec.json.encode(self.game.view(self.state, viewer)))

    def scene(self, viewer: str | None) -> Scene:
        """What the browser of a player, or of those without a seat (None), draws."""
        return scene_of(self.game, self.state, viewer)

    def legal(self, player: str) -> list[Any]:
        """All that this player could do now."""
        return legal(self.game, self.state, player)

    def heard(self, player: str | None, steps: int = 1) -> list[Any]:
        """What the last steps told this player, or those without a seat (None), as plain data."""
        topics = self._topics(player)
        sent = [effect for step in self.steps[-steps:] for effect in step.effects if isinstance(effect, Send)]
        return [
            msgspec.json.decode(msgspec.json.encode(effect.payload))
            for effect in sent
            if effect.to in topics and effect.kind == "game_event"
        ]

    def refusal(self, player: str, event: Any) -> Refused:
        """Why this event is refused, which it must be, and without a trace."""
        before = self.room
        try:
            self.act(player, event)
        except Refused as why:
            assert self.room is before
            return why
        raise AssertionError(f"expected {event} to be refused, but it was played")

    def why_ended(self) -> str | None:
        """Why the room is over for good, if it is."""
        return self.room.ended

    def _topics(self, player: str | None) -> tuple[str, ...]:
        seat = self.room.seat(player)
        return topics_of(WATCHER, self.watch(WATCHER)) if seat is None else seat.topics

    def _apply(self, room: Room[Any], command: Command) -> tuple[Room[Any], Step]:
        return apply(self.game, room, command, self.instant())

    def _search(self, command: Command) -> tuple[Room[Any], Step]:
        """The command under the first seed that draws what was asked for; later, where it draws nothing."""
        for number in range(MOST_SEEDS):
            seed = hashlib.sha256(f"{self.luck}:{len(self.steps)}:{number}".encode()).digest()
            room, step = self._apply(replace(self.room, seed=seed), command)
            if not step.draws:
                return room, step
            if step.draws[: len(self._wanted)] == self._wanted:
                self._wanted = ()
                return room, step
        raise AssertionError(f"expected a step that draws {self._wanted}; in {MOST_SEEDS} tries none did")


def refused(code: str, think: Callable[..., Any], *arguments: Any) -> Refused:
    """Why this call is refused, which it must be, with this code."""
    try:
        think(*arguments)
    except Refused as why:
        if why.code == code:
            return why
        raise AssertionError(f"expected a refusal with the code {code}, got {why}") from why
    raise AssertionError(f"expected a refusal with the code {code}, but there was none")


def legal(game: Game[Any], state: Any, player: str) -> list[Any]:
    """All that this player could do now."""
    return list(game.legal_events(state, player) or ())


def told(step: Step) -> list[Any]:
    """What a step tells everyone, without what it sets off."""
    return [effect["payload"] for effect in effects(step) if effect["type"] == "send"]


def effects(step: Step) -> list[Any]:
    """What a step causes, as plain data."""
    plain: list[Any] = msgspec.json.decode(step.body).get("effects", [])
    return plain

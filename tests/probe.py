"""A game that remembers what it was asked, and misbehaves on demand."""

from typing import Any

from msgspec.structs import replace

from parlour import (
    GAME,
    Cancel,
    Config,
    End,
    Event,
    Game,
    Joined,
    Later,
    Moment,
    Outcome,
    Refused,
    Send,
    State,
    Timeouts,
    Update,
)
from parlour.scene import Scene


class Memory(State, frozen=True):
    """What happened so far."""

    calls: tuple[str, ...] = ()
    over: bool = False
    broken: tuple[str, ...] = ()
    clinging: bool = False

    def note(self, call: str) -> "Memory":
        return replace(self, calls=(*self.calls, call))


class Tell(Event, frozen=True):
    to: str = "all"
    words: tuple[str, ...] = ("hello",)


class Plan(Event, frozen=True):
    key: str
    seconds: float
    every: float | None = None


class CallOff(Event, frozen=True):
    key: str


class Finish(Event, frozen=True):
    after: float | None = 0.0


class Refuse(Event, frozen=True):
    pass


class Crash(Event, frozen=True):
    pass


class Break(Event, frozen=True):
    """From now on these callbacks fail."""

    callbacks: tuple[str, ...]


class Cling(Event, frozen=True):
    """From now on whoever leaves keeps the seat."""


class Win(Event, frozen=True):
    pass


class Draw(Event, frozen=True):
    """Draw a number by chance."""


class Resync(Event, frozen=True):
    pass


class Ping(Event, frozen=True):
    """Only a timer sends this."""

    key: str


class ProbeConfig(Config, frozen=True):
    size: int = 3


class Probe(Game[Memory]):
    name = "probe"
    display_name = "Probe"
    seats = range(2, 4)
    spectators = 2
    timeouts = Timeouts(game=300, away=120, nobody=60)
    State = Memory
    Event = Tell | Plan | CallOff | Finish | Refuse | Crash | Break | Cling | Win | Draw | Resync
    Timer = Ping
    Config = ProbeConfig

    def init(self, config: ProbeConfig, moment: Moment) -> Memory:
        if config.size < 0:
            raise Refused("invalid_config", f"expected a size of 0 or more, got {config.size}")
        if config.size > 1000:
            raise RuntimeError("a bug in init")
        return Memory()

    def join_game(self, state: Memory, player: str, spectate: bool, moment: Moment) -> Joined[Memory]:
        if player == "banned":
            raise Refused("banned", "you may not come in")
        joined = super().join_game(state, player, spectate, moment)
        if joined.seat is None:
            return Joined(("audience",), None, joined.update)
        told = Send("all", {"joined": player})
        return Joined(("players", "all"), joined.seat, Update(joined.update.state, (told,)))

    def leave_game(self, state: Memory, player: str, why: str, moment: Moment) -> Update[Memory]:
        self.fail(state, "leave_game")
        if state.clinging:
            return Update(state.note(f"kept {player} {why}"), keeps_seat=True)
        left = super().leave_game(state, player, why, moment).state
        return Update(left.note(f"left {player} {why}"), (Send("all", {"left": player}),))

    def player_connected(self, state: Memory, player: str, moment: Moment) -> Update[Memory]:
        self.fail(state, "player_connected")
        return Update(state.note(f"connected {player}"))

    def player_disconnected(self, state: Memory, player: str, moment: Moment) -> Update[Memory]:
        self.fail(state, "player_disconnected")
        return Update(state.note(f"disconnected {player}"))

    def handle_event(self, state: Memory, sender: str, event: Any, moment: Moment) -> Update[Memory]:
        if sender == GAME:
            self.fail(state, "timer")
            return Update(state.note(f"rang {event.key}"), (Send("all", {"rang": event.key}),))
        match event:
            case Tell():
                return Update(state.note("told"), tuple(Send(event.to, word) for word in event.words))
            case Plan():
                return Update(state, (Later(event.key, event.seconds, Ping(event.key), event.every),))
            case CallOff():
                return Update(state, (Cancel(event.key),))
            case Finish():
                return Update(state, (End(event.after),))
            case Refuse():
                raise Refused("no_thanks", "not like this")
            case Crash():
                raise RuntimeError("a bug in handle_event")
            case Break():
                return Update(replace(state, broken=event.callbacks))
            case Cling():
                return Update(replace(state, clinging=True))
            case Win():
                return Update(replace(state, over=not state.over))
            case Draw():
                return Update(state.note(f"drew {moment.chance.below(1_000_000)}"))
            case Resync():
                return Update(state, (Send("all", kind="sync"),))
            case _:
                raise AssertionError(event)

    def handle_game_shutdown(self, state: Memory, moment: Moment) -> Update[Memory]:
        self.fail(state, "handle_game_shutdown")
        return Update(state.note("shut down"), (Send("all", {"goodbye": True}),))

    def view(self, state: Memory, viewer: str | None) -> Any:
        self.fail(state, "view")
        return {"calls": len(state.calls), "you": viewer}

    def outcome(self, state: Memory) -> Outcome | None:
        return Outcome(drew=tuple(p for p in state.players if p), why="enough") if state.over else None

    def scene(self, state: Memory, viewer: str | None) -> Scene:
        self.fail(state, "scene")
        return super().scene(state, viewer)

    def fail(self, state: Memory, callback: str) -> None:
        if callback in state.broken:
            raise RuntimeError(f"a bug in {callback}")

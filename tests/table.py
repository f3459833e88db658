"""A table to play at in tests: a room whose clock goes when told to and whose luck is a number."""

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from parlour.errors import Refused
from parlour.game import Game, Joined
from parlour.room import Instant, Room, apply, ask_to_join, open_room
from parlour.wire import Act, Command, Connect, Disconnect, Join, Leave, Step

SMALL: dict[str, Any] = {
    "minesweeper": {"preset": "custom", "width": 5, "height": 4, "mines": 3},
    "backgammon": {"variant": "portes"},
    "stratego": {"preset": "ogetarts", "quiet_limit": 30, "turn_seconds": 60},
}
"""Configs that make short games, for games that have long ones by default."""

NEW_YEAR = 1735689600.0


class Table:
    """One room, and what was done in it."""

    def __init__(self, game: Game[Any], config: Any = None, *, luck: int = 0) -> None:
        self.game = game
        self.luck = luck
        self.now = 0.0
        self.steps: list[Step] = []
        self.opening: Room[Any] = open_room(game, "ABCD", config, self.instant())
        self.room = self.opening

    @property
    def state(self) -> Any:
        return self.room.state

    def instant(self) -> Instant:
        """The present, with a fresh seed for every step."""
        seed = hashlib.sha256(f"{self.luck}:{len(self.steps)}".encode()).digest()
        return Instant(self.now, NEW_YEAR + self.now, seed)

    def do(self, command: Command) -> Step:
        self.room, step = apply(self.game, self.room, command, self.instant())
        self.steps.append(step)
        return step

    def sit(self, *players: str) -> "Table":
        """They join and are here; the table, for one line less."""
        for player in players:
            self.do(Join(player, player.capitalize()))
            self.do(Connect(player))
        return self

    def lay_out(self, state: Any) -> "Table":
        """Go on from this position, with the same people."""
        players = self.room.players
        self.room = replace(self.room, state=replace(state, players=players))
        return self

    def act(self, player: str, event: Any) -> Step:
        """Play an event, given as an event of the game or as plain data."""
        return self.do(Act(player, msgspec.Raw(msgspec.json.encode(event))))

    def leave(self, player: str) -> Step:
        return self.do(Leave(player))

    def disconnect(self, player: str) -> Step:
        return self.do(Disconnect(player))

    def watch(self, player: str) -> Joined[Any]:
        """Come without wanting a seat."""
        return ask_to_join(self.game, self.room, player, self.instant(), spectate=True).joined

    def why_ended(self) -> str | None:
        """Why the room is over for good, if it is."""
        return self.room.ended

    def wait(self, seconds: float) -> list[Step]:
        """Let the clock go and every alarm ring in its time; what that did."""
        until, before = self.now + seconds, len(self.steps)
        while (due := self.room.next_due) is not None and due <= until:
            self.now = max(self.now, due)
            command = self.room.due(self.now)
            assert command is not None
            self.do(command)
        self.now = until
        return self.steps[before:]


def refusal(table: Table, player: str, event: Any) -> Refused:
    """Why this event is refused, which it must be, and without a trace."""
    before = table.room
    try:
        table.act(player, event)
    except Refused as refused:
        assert table.room is before
        return refused
    raise AssertionError(f"expected {event} to be refused, but it was played")


def refused(code: str, think: Callable[[], Any]) -> Refused:
    """Why this is refused, which it must be, with this code."""
    with pytest.raises(Refused) as why:
        think()
    assert why.value.code == code
    return why.value


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

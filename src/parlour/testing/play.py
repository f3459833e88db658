"""Play by chance in a room: a table with everybody at it, all that can happen there, and the same again."""

from typing import Any

import msgspec

from parlour.errors import Refused
from parlour.game import Chance, Game
from parlour.leakcheck.crowd import LeakCrowd
from parlour.room import Room, replay
from parlour.sim.play import plain
from parlour.testing.table import Table, legal
from parlour.wire import Act, read_step

PLAYERS = ("ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal")


def full_table(game: Game[Any], config: Any = None, *, luck: int = 0) -> Table:
    """A table with somebody in every seat."""
    table = Table(game, config, luck=luck)
    seats = len(table.room.seats)
    names = [*PLAYERS, *(f"player{number}" for number in range(len(PLAYERS) + 1, seats + 1))]
    return table.sit(*names[:seats])


def viewers(table: Table) -> tuple[str | None, ...]:
    """Whoever sits, and None for everybody else."""
    return (*filter(None, table.room.players), None)


class Wanderer:
    """Lets happen what can happen in a room: people play, come, go, talk, make offers and wait."""

    def __init__(self, table: Table, chance: Chance) -> None:
        self.table = table
        self.crowd = LeakCrowd(table.game, len(table.room.seats), chance)
        seated = [player for player in table.room.players if player is not None]
        self.crowd.people = [*seated, *self.crowd.people][: len(table.room.seats) + 1]

    def go(self, steps: int) -> None:
        """So many things happen, unless the room ends before."""
        for _ in range(steps):
            if self.table.why_ended() is None:
                self.step()

    def step(self) -> None:
        """One thing happens. Legal play must be accepted; what else is refused must leave no trace."""
        table, pause = self.table, self.crowd.pause()
        due = table.room.next_due
        if due is not None and due <= table.now + pause:
            table.ring()
            return
        table.now += pause
        command = self.crowd.next(table.room, table.instant())
        before = table.room
        if command is None:
            table.ring()
            return
        may = isinstance(command, Act) and command.player in table.active
        listed = (
            plain(legal(table.game, table.state, command.player)) if isinstance(command, Act) and may else []
        )
        try:
            table.do(command)
        except Refused as why:
            assert table.room is before
            if isinstance(command, Act) and msgspec.json.decode(command.event) in listed:
                event = bytes(command.event).decode()
                raise AssertionError(
                    f"expected {event} of {command.player} to be accepted, because legal_events lists it, "
                    f"but it is refused: {why.message}"
                ) from why


def check_replay(table: Table) -> None:
    """The steps of a table, as a journal keeps them, played again lead to the same room."""
    kept: Any = Room
    room = msgspec.json.decode(msgspec.json.encode(table.opening), type=kept[table.game.State])
    assert room == table.opening, "the state at the start is another one when it is read back"
    for body in [step.body for step in table.steps]:
        room = replay(table.game, room, read_step(body))
    assert room == table.room, "played again, the same steps led to another state"

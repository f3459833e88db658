"""Play by chance: legal moves to the end, bots against each other, and all that can happen in a room."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from parlour.errors import Refused
from parlour.game import Bot, Chance, Game, Outcome
from parlour.leakcheck.crowd import LeakCrowd
from parlour.room import Room, replay
from parlour.testing.table import Table, legal
from parlour.wire import Act, read_step

PLAYERS = ("ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal")
MOST_STEPS = 20_000
"""A game that takes more steps than this does not end."""


def plain(thing: Any) -> Any:
    """What a client, or a bot, gets of it: JSON read back."""
    return msgspec.json.decode(msgspec.json.encode(thing))


def full_table(game: Game[Any], config: Any = None, *, luck: int = 0) -> Table:
    """A table with somebody in every seat."""
    table = Table(game, config, luck=luck)
    seats = len(table.room.seats)
    names = [*PLAYERS, *(f"player{number}" for number in range(len(PLAYERS) + 1, seats + 1))]
    return table.sit(*names[:seats])


def chance_of(seed: int) -> Chance:
    """Luck for whoever plays, not for the room."""
    return Chance(f"play {seed}".encode(), 0)


def viewers(table: Table) -> tuple[str | None, ...]:
    """Whoever sits, and None for everybody else."""
    return (*filter(None, table.room.players), None)


def play_on(table: Table, chance: Chance) -> bool:
    """One legal event of somebody who is here; False where nobody can do anything."""
    for player in chance.shuffle(_who_may_play(table)):
        if choices := legal(table.game, table.state, player):
            table.act(player, chance.choice(choices))
            return True
    return False


def _who_may_play(table: Table) -> list[str]:
    """Nobody, where the room has stopped or decided the game."""
    room = table.room
    return [] if room.verdict is not None or room.offers.paused is not None else room.connected


def play_to_end(
    table: Table, chance: Chance, look: Callable[[], None] = lambda: None, most: int = MOST_STEPS
) -> Outcome:
    """Legal play until there is an outcome, a look after each move; timers ring where nobody can play."""
    while table.outcome is None:
        if len(table.steps) >= most:
            raise AssertionError(f"expected an outcome of random play, but after {most} steps there is none")
        if not play_on(table, chance) and not _ring_of_game(table):
            raise AssertionError(
                "expected an outcome, a legal event or a timer of the game, but there is none: "
                "legal_events lists nothing for anybody, and outcome is None"
            )
        look()
    return table.outcome


def _ring_of_game(table: Table) -> bool:
    """Let the next timer of the game ring, if it has one."""
    timers = [alarm.due for key, alarm in table.room.alarms.items() if key.startswith("later:")]
    if timers:
        table.wait(max(0.0, min(timers) - table.now))
    return bool(timers) and table.why_ended() is None


def play_bots(table: Table, bots: list[Bot], luck: int = 0, most: int = 5000) -> Iterator[tuple[str, Any]]:
    """Let bots play, one in each seat, until there is an outcome; who did what.

    A bot gets plain data, as from a server: its view and what it could do.
    """
    seats = [player for player in table.room.players if player is not None]
    for number in range(most):
        if table.outcome is not None:
            return
        for seat, bot in zip(seats, bots, strict=False):
            events = legal(table.game, table.state, seat)
            event = (
                bot(table.sees(seat), plain(events), Chance(f"{luck}:{number}:{seat}".encode(), 0))
                if events
                else None
            )
            if event is not None:
                table.act(seat, event)
                yield seat, event
                break
        else:
            if not _ring_of_game(table):
                raise AssertionError("expected an outcome, but no bot does anything, and no timer will ring")
    raise AssertionError(f"expected an outcome, but after {most} moves of bots there is none")


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
        may = isinstance(command, Act) and command.player in _who_may_play(table)
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

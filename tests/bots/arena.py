"""Where bots play each other: real rooms, so that they see what they would see at a server."""

from time import thread_time
from typing import Any, NamedTuple

import msgspec

from parlour.bots import bots_of
from parlour.game import Chance
from parlour.games import GAMES
from tests.table import SMALL, Table, legal


class Answer(NamedTuple):
    """What it took a bot to say what it does, in seconds of CPU, and where."""

    seconds: float
    bot: str
    view: Any


NONE = Answer(0.0, "", None)


def plain(thing):
    return msgspec.json.decode(msgspec.json.encode(thing))


class Contest(NamedTuple):
    """A whole game between two bots."""

    table: Table
    slowest: Answer

    @property
    def won(self) -> tuple[str, ...]:
        assert self.table.room.outcome is not None
        return self.table.room.outcome.won


def contest(game: str, names: tuple[str, str], luck: int, config=None, most: int = 5000) -> Contest:
    """A whole game between two bots; the first has the first seat."""
    rules = GAMES[game]
    bots, slowest = bots_of(rules), NONE
    table = Table(rules, config if config is not None else SMALL.get(game), luck=luck)
    seats = ("one", "two")[: len(table.room.seats)]
    table.sit(*seats)
    for number in range(most):
        if table.room.outcome is not None:
            return Contest(table, slowest)
        for seat, name in zip(seats, names, strict=False):
            events = legal(rules, table.state, seat)
            if events:
                chance = Chance(f"{luck}:{number}:{seat}".encode(), 0)
                view, could = plain(rules.view(table.state, seat)), plain(events)
                begin = thread_time()
                event = bots[name](view, could, chance)
                slowest = max(slowest, Answer(thread_time() - begin, name, view), key=lambda one: one[0])
                table.act(seat, event)
                break
    raise AssertionError(f"no end in {most} moves")


class Meeting(NamedTuple):
    """How two bots met: what they played, and who should be the better."""

    game: str
    config: Any
    better: str
    worse: str

    def play(self, luck: int) -> tuple[float, Answer]:
        """One game: 1 if the better bot wins, a half for a draw; the seats change with the luck."""
        names = (self.better, self.worse) if luck % 2 == 0 else (self.worse, self.better)
        played = contest(self.game, names, luck, self.config)
        won = 0.5 if not played.won else float(played.won == (("one", "two")[luck % 2],))
        return won, played.slowest


def family(variant: str, better: str, worse: str) -> Meeting:
    """Two levels of the backgammon family."""
    return Meeting("backgammon", {"variant": variant}, better, worse)

"""Where bots play each other: real rooms, so that they see what they would see at a server."""

from collections.abc import Sequence
from time import thread_time
from typing import Any, NamedTuple

from parlour.bots import bots_of
from parlour.game import Bot, Chance, Outcome
from parlour.games import GAMES
from parlour.testing import Table, play_bots
from tests.samples import SMALL


class Answer(NamedTuple):
    """What it took a bot to say what it does, in seconds of CPU, and where."""

    seconds: float
    bot: str
    view: Any


NONE = Answer(0.0, "", None)
PLAYERS = ("one", "two", "three", "four", "five")


class Contest(NamedTuple):
    """A whole game between two bots."""

    outcome: Outcome
    slowest: Answer


def contest(game: str, names: Sequence[str], luck: int, config=None, most: int = 5000) -> Contest:
    """A whole game between bots; the first has the first seat."""
    rules, slowest = GAMES[game], NONE

    def timed(name: str) -> Bot:
        bot = bots_of(rules)[name]

        def play(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
            nonlocal slowest
            begin = thread_time()
            event = bot(view, legal, chance)
            slowest = max(slowest, Answer(thread_time() - begin, name, view), key=lambda one: one[0])
            return event

        return play

    table = Table(rules, config if config is not None else SMALL.get(game), luck=luck)
    table.sit(*PLAYERS[: len(table.room.seats)])
    for _ in play_bots(table, [timed(name) for name in names], luck, most):
        pass
    assert table.room.outcome is not None
    return Contest(table.room.outcome, slowest)


class Meeting(NamedTuple):
    """How two kinds of bots meet: what they play, and who should be the better."""

    game: str
    config: Any
    better: str
    worse: str

    def play(self, luck: int) -> tuple[float, Answer]:
        """One game: 1 if the better bot wins, a half for a draw; its seat changes with the luck.

        In all other seats are bots of the worse kind.
        """
        seats = len(Table(GAMES[self.game], self.config).room.seats)
        names = [self.better if seat == luck % seats else self.worse for seat in range(seats)]
        played = contest(self.game, names, luck, self.config)
        outcome, mine = played.outcome, PLAYERS[luck % seats]
        return (mine in outcome.won) + (mine in outcome.drew) / 2, played.slowest


def family(variant: str, better: str, worse: str) -> Meeting:
    """Two levels of the backgammon family."""
    return Meeting("backgammon", {"variant": variant}, better, worse)

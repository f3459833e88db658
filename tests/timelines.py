"""Tables with clocks: a timeline says who moved after how many seconds, ``ann 3, bob 5``."""

import msgspec

from parlour.clocks import Absence, ClockSettings
from parlour.game import Timeouts, Update
from parlour.games import GAMES
from parlour.offers import Answer, Offer
from parlour.testing import Table
from parlour.wire import Act
from tests.probe import Probe

ANN, BOB = "ann", "bob"


class AnnThinks(Probe):
    """A game in which it is always Ann's turn."""

    offers: tuple[str, ...] = ("pause",)
    seats = range(2, 3)
    timeouts = Timeouts(game=None)

    def to_move(self, state):
        return [ANN]


class Forgiving(AnnThinks):
    """The end of the time means nothing in it."""

    def handle_flag(self, state, player, moment):
        return Update(state)


class Impatient(AnnThinks):
    """It gives up players and rooms in no time, as an author may have it."""

    timeouts = Timeouts(game=50, away=20, nobody=10)


class Failing(AnnThinks):
    """It cannot handle the end of the time."""

    def handle_flag(self, state, player, moment):
        raise ZeroDivisionError


def clock(kind, seconds, extra=0.0):
    return ClockSettings(kind, seconds, extra)


def seated(settings, game=None):
    return Table(game or GAMES["tictactoe"], clock=settings).sit(ANN, BOB)


def mark(table, player, lag=0.0):
    """Take the first free cell."""
    event = msgspec.json.encode(table.legal(player)[0])
    return table.do(Act(player, msgspec.Raw(event), lag))


def play(table, timeline):
    for move in filter(None, timeline.split(", ")):
        player, seconds = move.split()
        table.wait(float(seconds))
        mark(table, player)
    return table


def left(table):
    """What each seat has left at this moment; a delay that runs is counted with it."""
    clocks, now = table.room.clocks, table.room.clock(table.now)
    free = clocks.settings.extra if clocks.settings.kind == "delay" else 0.0
    return [
        round(clocks.out_at(seat) - now if one.since is not None else one.left - max(0, one.spent - free), 3)
        for seat, one in enumerate(clocks.seats)
    ]


def away(seconds=60, at_zero="lose", think=None):
    named = dict(zip(("kind", "seconds", "extra"), think or ("none",), strict=False))
    return ClockSettings(**named, away=Absence(seconds, at_zero))


def left_away(table):
    """How long each seat may still be away."""
    now = table.room.clock(table.now)
    return [
        round(one.left - (0 if one.since is None else now - one.since), 3) for one in table.room.clocks.away
    ]


def pause(table, seconds):
    """Both agree to a pause, and then to go on."""
    table.do(Offer(ANN, "pause"))
    table.do(Answer(BOB, "pause", accept=True))
    table.now += seconds
    table.do(Offer(BOB, "resume"))
    table.do(Answer(ANN, "resume", accept=True))

"""Where bots play each other: real rooms, so that they see what they would see at a server."""

import msgspec

from parlour.bots import bots_of
from parlour.game import Chance
from parlour.games import GAMES
from tests.table import SMALL, Table, legal


def plain(thing):
    return msgspec.json.decode(msgspec.json.encode(thing))


def contest(game: str, names: tuple[str, str], luck: int, config=None, most: int = 5000) -> Table:
    """A whole game between two bots; the first has the first seat."""
    rules = GAMES[game]
    table = Table(rules, config if config is not None else SMALL.get(game), luck=luck)
    seats = ("one", "two")[: len(table.room.seats)]
    table.sit(*seats)
    for number in range(most):
        if table.room.outcome is not None:
            return table
        for seat, name in zip(seats, names, strict=False):
            events = legal(rules, table.state, seat)
            if events:
                chance = Chance(f"{luck}:{number}:{seat}".encode(), 0)
                event = bots_of(rules)[name](plain(rules.view(table.state, seat)), plain(events), chance)
                table.act(seat, event)
                break
    raise AssertionError(f"no end in {most} moves")


def wins(variant: str, better: str, worse: str, luck: int) -> bool:
    """Whether the better bot wins a game of the backgammon family; seats change with the luck."""
    names = (better, worse) if luck % 2 == 0 else (worse, better)
    table = contest("backgammon", names, luck, {"variant": variant})
    assert table.room.outcome is not None
    return (("one", "two")[luck % 2],) == table.room.outcome.won

"""Stratego, played: arranging in secret, moves, a fight, trays, the end."""

from typing import Any

from parlour.games.stratego import Stratego
from parlour.games.stratego.rules import Arrange, Form, Move, Ready, Swap
from parlour.testing import Table
from tests.scenes import Moments

CARELESS = """
    7 6 8 M 5 6 9 7 8 F
    2 S 4 5 2 6 3 2 5 4
    2 B 3 2 4 B 3 6 2 B
    B 3 5 2 B 3 4 2 B 7
"""


def stratego() -> Moments:
    """What Ann, who is red, sees; Bob has put his flag into the front row."""
    table = Table(Stratego()).sit("ann", "bob")
    table.act("bob", Arrange(CARELESS))
    table.act("ann", Form("corner"))
    moments = [("Both arrange", table.game.scene(table.state, "ann"))]

    def do(player: str, event: Any, title: str = "") -> None:
        table.now += 3.5
        table.act(player, event)
        if title:
            moments.append((title, table.game.scene(table.state, "ann")))

    do("ann", Swap(0, 37), "Two pieces changed places")
    do("bob", Ready())
    do("ann", Ready(), "The game begins")
    do("ann", Move(38, 68), "A scout attacks and falls")
    do("bob", Move(60, 50), "A hidden piece moves")
    do("ann", Move(39, 49))
    do("bob", Move(50, 40))
    do("ann", Move(49, 59))
    do("bob", Move(40, 41), "The captain stands before the flag")
    do("ann", Move(59, 69), "The flag falls")
    return moments

"""Backgammon, played: a roll, moves, a double, the bar; and a pin of plakoto, fevga's hands."""

from typing import Any

from msgspec.structs import replace

from parlour.games.backgammon import Backgammon
from parlour.games.backgammon.board import Board
from parlour.games.backgammon.checkers import Checkers
from parlour.games.backgammon.match import Cube, Match
from parlour.games.backgammon.play import Accept, Double, EndTurn, Move, Ready
from parlour.testing import Table
from tests.scenes import Moments

LATER = """
    .   .   .   .   .   .   |  .   6o  .   .   3o  .
    .   .   .   .   .   2x  |  7x  .   .   .   .   .
    bar 2x
"""
PIN = """
    .   .   .   .   .   .   |  .   .   .   .   .   12x
    .   .   .   .   .   .   |  .   3xo .   .   .   14o
"""
HANDS = """
    .   1x  .   .   .   .   |  .   .   .   .   .   2x
    2o  .   .   .   .   1o  |  .   .   .   .   1x  .
    bar 11x 12o
"""


def backgammon() -> Moments:
    """What Ann, who is x, sees; at the end boards of plakoto and fevga."""
    table = Table(Backgammon(), {"match": "five_points"}).sit("ann", "bob")
    game, moments = table.game, Moments()

    def see(title: str, viewer: str | None = "ann") -> None:
        moments.append((title, game.scene(table.state, viewer)))

    def do(player: str, *events: Any) -> None:
        for event in events:
            table.now += 2.5
            table.act(player, event)

    def lay(**fields: Any) -> None:
        table.lay_out(replace(table.state, **fields))

    see("Before the game")
    do("bob", Ready())
    do("ann", Ready())
    lay(turn=0, number=2)
    see("To roll, or to double")
    lay(phase="move", dice=(6, 1))
    see("A roll")
    do("ann", Move(13, 7))
    see("13/7")
    do("ann", Move(8, 7))
    see("8/7")
    do("ann", EndTurn())
    do("bob", Double())
    see("A double is offered")
    do("ann", Accept())
    see("The cube is Ann's")
    lay(**laid("backgammon", LATER), phase="move", turn=0, dice=(4, 3))
    see("On the bar, many borne off")
    lay(cube=Cube(4, 1), phase="roll", turn=1, dice=())
    do("bob", Double())
    see("A double is offered again")
    lay(**laid("plakoto", PIN), phase="move", turn=1, dice=(2, 2), cube=Cube())
    see("Plakoto: a pin", None)
    lay(**laid("fevga", HANDS), phase="move", turn=0, dice=(5, 2))
    see("Fevga: both go the same way around")
    return moments


def laid(variant: str, drawn: str) -> dict[str, Any]:
    """The fields of a match for a board in the middle of a game."""
    board = Board.parse(variant, drawn)
    fields = {"board": board, "before": board, "checkers": Checkers.on(board), "played": (), "last": None}
    assert set(fields) <= set(Match.__struct_fields__)
    return fields

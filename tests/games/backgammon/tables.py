"""Tables for the tests of matches: laid out in some position, with Ann to move."""

from msgspec.structs import replace

from parlour.clocks import ClockSettings
from parlour.games.backgammon import Backgammon
from parlour.games.backgammon.board import Board
from parlour.games.backgammon.checkers import Checkers
from parlour.games.backgammon.play import (
    Move,
    Ready,
)
from parlour.testing import Table
from tests.games.backgammon.boards import X, read

GAME = Backgammon()
ANN, BOB = "ann", "bob"
"""Ann plays x, Bob plays o."""


def table(luck: int = 0, clock: ClockSettings | None = None, **config: object) -> Table:
    return Table(GAME, config, luck=luck, clock=clock).sit(ANN, BOB)


def begun(luck: int = 0, clock: ClockSettings | None = None, **config: object) -> Table:
    """A table where the first game has begun and it is Ann's turn."""
    at = table(luck, clock, **config)
    both(at, Ready())
    return at.lay_out(replace(at.state, turn=X))


def both(at: Table, event: object) -> None:
    for player in (ANN, BOB):
        at.act(player, event)


def playing(
    drawn: str, dice: tuple[int, int], variant: str = "backgammon", turn: int = X, **more: object
) -> Table:
    """A table where this has been rolled in this position."""
    at = begun(variant=variant)
    board = Board.parse(variant, drawn)
    laid = replace(at.state, board=board, before=board, checkers=Checkers.on(board))
    return at.lay_out(replace(laid, phase="move", turn=turn, dice=dice, **more))


def move(at: Table, steps: str, player: str = ANN) -> Table:
    for step in read(steps):
        at.act(player, Move(*step))
    return at


def why_not(at: Table, player: str, event: object) -> tuple[str, str]:
    refused = at.refusal(player, event)
    return refused.code, refused.message


LAST_X = """
    .   .   .   .   .   .   |  .   .   .   .   .   .
    {}  .   .   .   .   .   |  .   .   .   .   .   1x
    {}
"""
"""One more step and x has won; o stands somewhere."""

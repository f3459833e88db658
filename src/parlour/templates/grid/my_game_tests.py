"""Tests of My game: run them with pytest."""

from parlour.templates.grid.my_game import MyGame, Put
from parlour.testing import GameContract, Table


class TestMyGame(GameContract):
    """What every game must do."""

    game = MyGame()


def test_three_in_a_row_win() -> None:
    table = Table(MyGame()).sit("ann", "bob")
    for player, square in zip(("ann", "bob") * 3, (0, 4, 1, 5, 2), strict=False):
        table.act(player, Put(square))
    assert table.outcome is not None
    assert table.outcome.won == ("ann",)


def test_nobody_moves_twice_in_a_row() -> None:
    table = Table(MyGame()).sit("ann", "bob")
    table.act("ann", Put(0))
    assert table.refusal("ann", Put(1)).code == "not_your_turn"


def test_a_square_is_taken_once() -> None:
    table = Table(MyGame()).sit("ann", "bob")
    table.act("ann", Put(0))
    assert table.refusal("bob", Put(0)).code == "illegal_move"

"""Tests of My game: run them with pytest."""

from parlour.templates.hex.my_game import SIZE, Board, MyGame, Take
from parlour.testing import GameContract, Table


class TestMyGame(GameContract):
    """What every game must do."""

    game = MyGame()


def test_a_chain_from_top_to_bottom_wins() -> None:
    down, across = range(0, SIZE * SIZE, SIZE), range(1, SIZE * SIZE, SIZE)
    played = [cell for pair in zip(down, across, strict=True) for cell in pair][:-2]
    table = Table(MyGame()).sit("ann", "bob").lay_out(Board(tuple(played)))
    table.act("ann", Take(SIZE * (SIZE - 1)))
    assert table.outcome is not None
    assert table.outcome.won == ("ann",)


def test_a_cell_is_taken_once() -> None:
    table = Table(MyGame()).sit("ann", "bob")
    table.act("ann", Take(0))
    assert table.refusal("bob", Take(0)).code == "illegal_move"


def test_nobody_moves_twice_in_a_row() -> None:
    table = Table(MyGame()).sit("ann", "bob")
    table.act("ann", Take(0))
    assert table.legal("ann") == []

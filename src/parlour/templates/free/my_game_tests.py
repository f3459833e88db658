"""Tests of My game: run them with pytest."""

from parlour.templates.free.my_game import MyGame, Take
from parlour.testing import GameContract, Table


class TestMyGame(GameContract):
    """What every game must do."""

    game = MyGame()


def test_whoever_takes_the_last_stick_wins() -> None:
    table = Table(MyGame(), {"sticks": 5}).sit("ann", "bob")
    table.act("ann", Take(2))
    table.act("bob", Take(3))
    assert table.outcome is not None
    assert table.outcome.won == ("bob",)


def test_everybody_hears_how_many_were_taken() -> None:
    table = Table(MyGame()).sit("ann", "bob")
    table.act("ann", Take(2))
    assert table.heard("bob") == [{"type": "taken", "count": 2}]


def test_nobody_takes_more_than_there_is() -> None:
    table = Table(MyGame(), {"sticks": 5}).sit("ann", "bob")
    table.act("ann", Take(3))
    assert table.refusal("bob", Take(3)).code == "illegal_move"

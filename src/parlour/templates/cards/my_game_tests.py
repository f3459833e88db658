"""Tests of My game: run them with pytest."""

from parlour.templates.cards.my_game import Deal, MyGame, Play
from parlour.testing import GameContract, Table


class TestMyGame(GameContract):
    """What every game must do."""

    game = MyGame()


def dealt(*hands: tuple[int, ...]) -> Table:
    """A table where Ann and Bob hold these cards."""
    return Table(MyGame()).sit("ann", "bob").lay_out(Deal(hands))


def test_the_higher_card_takes_the_trick_and_begins_the_next() -> None:
    table = dealt((3, 4), (9, 1))
    table.act("ann", Play(3))
    table.act("bob", Play(9))
    assert table.state.taken == (0, 1)
    assert table.legal("bob") == [Play(1)]


def test_most_tricks_win() -> None:
    table = dealt((9,), (1,))
    table.act("ann", Play(9))
    table.act("bob", Play(1))
    assert table.outcome is not None
    assert table.outcome.won == ("ann",)


def test_nobody_sees_the_hand_of_another() -> None:
    one, two = dealt((3, 4), (9, 1)), dealt((3, 4), (8, 2))
    assert one.sees("ann") == two.sees("ann")
    assert one.sees(None) == two.sees(None)
    assert one.sees("bob") != two.sees("bob")

"""The rules of Hex, one sentence each; boards are drawn, and lean to the right as they do on the table."""

from textwrap import dedent

import pytest

from parlour.errors import Code
from parlour.games.hex import Board, Hex, Put, Swap, chain_of, neighbours
from parlour.testing import Table, legal, refused


def seated(config=None) -> Table:
    return Table(Hex(), config).sit("ann", "bob")


def small(**config) -> Table:
    return seated({"size": 3, **config})


def laid_out(drawn: str) -> Table:
    return small(swap=False).lay_out(Board.parse(drawn))


def play(table: Table, *cells: int) -> Table:
    for cell in cells:
        table.act(("ann", "bob")[table.state.turn], Put(cell))
    return table


# The board.


def test_the_board_has_eleven_cells_on_each_side_unless_a_room_wants_another():
    assert len(Table(Hex()).state.cells) == 121
    assert len(Table(Hex(), {"size": 5}).state.cells) == 25


@pytest.mark.parametrize("size", [2, 20])
def test_a_board_has_three_to_nineteen_cells_on_each_side(size):
    refused("invalid_config", lambda: Table(Hex(), {"size": size}))


def test_a_cell_in_the_middle_has_six_neighbours_a_sharp_corner_two_and_a_blunt_one_three():
    beside = neighbours(3)
    assert sorted(beside[4]) == [1, 2, 3, 5, 6, 7]
    assert sorted(beside[0]) == [1, 3]
    assert sorted(beside[2]) == [1, 4, 5]


# Taking turns.


def test_red_begins_and_the_two_take_turns():
    table = small(swap=False)
    assert refused(Code.NOT_YOUR_TURN, lambda: table.act("bob", Put(0))).message == "it is red's turn"
    table.act("ann", Put(4))
    assert refused(Code.NOT_YOUR_TURN, lambda: table.act("ann", Put(0))).message == "it is blue's turn"
    table.act("bob", Put(0))
    assert str(table.state) == dedent("""\
        B . .
         . R .
          . . .""")


def test_nobody_plays_before_both_are_here():
    table = Table(Hex()).sit("ann")
    why = refused(Code.NOT_YOUR_TURN, lambda: table.act("ann", Put(0)))
    assert why.message == "the game begins when both players are here"


def test_a_stone_stays_where_it_is_and_its_cell_is_taken():
    table = play(small(swap=False), 4)
    assert refused(Code.ILLEGAL_MOVE, lambda: table.act("bob", Put(4))).message == "b2 is taken"


def test_nobody_plays_off_the_board():
    why = refused(Code.ILLEGAL_MOVE, lambda: small().act("ann", Put(9)))
    assert why.message == "expected a cell from 0 to 8, got 9"


# Swapping.


def test_blue_may_take_the_first_stone_over_and_it_lies_mirrored():
    table = play(small(), 1)
    table.act("bob", Swap())
    assert str(table.state) == dedent("""\
        . . .
         B . .
          . . .""")
    assert legal(table.game, table.state, "ann")
    assert not legal(table.game, table.state, "bob")


def test_a_stone_on_the_long_diagonal_stays_where_it_is_when_it_is_taken_over():
    table = play(small(), 4)
    table.act("bob", Swap())
    assert table.state.cells == "....B...."


def test_only_the_first_stone_can_be_taken_over_and_only_at_once():
    table = small()
    refused(Code.ILLEGAL_MOVE, lambda: table.act("ann", Swap()))
    play(table, 0, 1, 3)
    refused(Code.ILLEGAL_MOVE, lambda: table.act("bob", Swap()))


def test_a_stone_that_was_taken_over_is_not_taken_back():
    table = play(small(), 1)
    table.act("bob", Swap())
    play(table, 0)
    refused(Code.ILLEGAL_MOVE, lambda: table.act("bob", Swap()))


def test_a_room_may_play_without_swapping():
    table = play(small(swap=False), 4)
    refused(Code.ILLEGAL_MOVE, lambda: table.act("bob", Swap()))
    assert Swap() not in legal(table.game, table.state, "bob")


# Winning.


def test_red_wins_by_a_chain_from_the_top_to_the_bottom():
    table = laid_out("""
        . R B
         . R B
          . . .
    """)
    table.act("ann", Put(7))
    outcome = table.room.outcome
    assert outcome is not None
    assert (outcome.won, outcome.lost) == (("ann",), ("bob",))
    assert outcome.why == "a chain from the top to the bottom"


def test_blue_wins_by_a_chain_from_left_to_right_however_it_winds():
    drawn = """
        R R . R
         . B B .
          B . . B
           R . . .
    """
    cells = "".join(drawn.split())
    assert chain_of(cells, 4) == ()
    joined = cells[:10] + "B" + cells[11:]
    assert chain_of(joined, 4) == (11, 10, 6, 5, 8)


def test_the_other_two_sides_are_no_use_to_red():
    board = Board.parse("R R R / B B . / . . .")
    assert board.winner is None


def test_cells_that_only_touch_at_a_tip_are_not_connected():
    board = Board.parse("R . . / B R . / . B R")
    assert board.winner is None


def test_when_the_game_is_over_nobody_plays():
    table = laid_out("""
        . R B
         . R B
          . . .
    """)
    table.act("ann", Put(7))
    assert refused(Code.ILLEGAL_MOVE, lambda: table.act("bob", Put(0))).message == "the game is over"


def test_a_full_board_has_a_winner():
    """Whatever is put where: there is no draw."""
    for pattern in range(512):
        cells = "".join("RB"[pattern >> cell & 1] for cell in range(9))
        assert chain_of(cells, 3), cells


# What is seen.


def test_the_log_names_cells_by_letter_and_number():
    table = play(small(), 1)
    table.act("bob", Swap())
    play(table, 8)
    assert table.game.scene(table.state, None).log == ("{0}: b1", "{1}: takes the stone over, a2", "{0}: c3")


def test_the_stone_that_was_taken_over_is_the_same_piece_in_another_place_and_colour():
    table = play(small(), 1)
    (before,) = table.game.scene(table.state, "bob").pieces
    assert before.click == Swap()
    table.act("bob", Swap())
    (after,) = table.game.scene(table.state, "bob").pieces
    assert (before.id, before.spot, before.owner) == ("s0", "c1", 0)
    assert (after.id, after.spot, after.owner) == ("s0", "c3", 1)


def test_the_chain_that_won_is_marked():
    table = laid_out("""
        . R B
         . R B
          . . .
    """)
    table.act("ann", Put(7))
    scene = table.game.scene(table.state, "bob")
    assert {piece.spot for piece in scene.pieces if piece.mark == "win"} == {"c1", "c4", "c7"}
    assert scene.status == "{0} wins: a chain from the top to the bottom"


def test_a_board_that_is_no_rhombus_is_not_read():
    with pytest.raises(ValueError, match="expected as many rows as columns"):
        Board.parse("R . / .")

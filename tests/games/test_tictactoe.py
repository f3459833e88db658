"""Noughts and crosses, rule by rule."""

from functools import cache

import pytest
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import Chance, Moment, Outcome
from parlour.games.tictactoe import Board, Mark, TicTacToe
from parlour.testing import Table, told

GAME = TicTacToe()
ANN, BOB = "ann", "bob"
PRESENT = Moment(0.0, 0.0, Chance(bytes(32), 1), (ANN, BOB))


def drawn(cells: str) -> Board:
    return replace(Board.parse(cells), players=(ANN, BOB))


def mark(board: Board, cell: int) -> Board:
    """The board after whoever's turn it is has marked a cell."""
    return GAME.handle_event(board, board.player(board.turn) or "", Mark(cell), PRESENT).state


def test_a_board_is_drawn_as_it_is_read():
    board = Board.parse("""
        X O .
        . X .
        . . .
    """)
    assert Board.parse(str(board)) == board == Board("XO..X....")


@pytest.mark.parametrize("drawn", ["", "X", "X O / . .", "? . . / . . . / . . .", ". . . . . . . . . ."])
def test_what_is_no_board_cannot_be_drawn(drawn):
    with pytest.raises(ValueError, match="expected nine cells"):
        Board.parse(drawn)


def test_x_begins_and_the_marks_alternate():
    table = Table(GAME).sit(ANN, BOB)
    table.act(ANN, {"type": "mark", "cell": 4})
    table.act(BOB, {"type": "mark", "cell": 0})
    assert str(table.state) == "O . .\n. X .\n. . ."
    assert GAME.view(table.state, None)["turn"] == "X"


def test_the_first_to_sit_down_is_x():
    state = Table(GAME).sit(ANN, BOB).state
    assert [GAME.view(state, player)["you"] for player in (ANN, BOB, None)] == ["X", "O", None]


def test_everybody_hears_of_a_mark():
    step = Table(GAME).sit(ANN, BOB).act(ANN, Mark(4))
    assert told(step) == [{"type": "marked", "cell": 4, "mark": "X"}]


def test_nobody_plays_before_both_are_there():
    assert Table(GAME).sit(ANN).refusal(ANN, Mark(0)).code == Code.NOT_YOUR_TURN


def test_nobody_plays_on_alone():
    table = Table(GAME).sit(ANN, BOB)
    table.leave(BOB)
    assert table.refusal(ANN, Mark(0)).code == Code.NOT_YOUR_TURN
    assert GAME.legal_events(table.state, ANN) == []


def test_who_sits_down_in_a_game_takes_it_up_where_it_stands():
    table = Table(GAME).sit(ANN, BOB)
    table.act(ANN, Mark(4))
    table.leave(BOB)
    table.sit("cat").act("cat", Mark(0))
    assert str(table.state) == "O . .\n. X .\n. . ."


def test_nobody_plays_out_of_turn():
    refused = Table(GAME).sit(ANN, BOB).refusal(BOB, Mark(0))
    assert (refused.code, refused.message) == (Code.NOT_YOUR_TURN, "it is X's turn")


def test_a_spectator_does_not_play():
    table = Table(GAME).sit(ANN, BOB)
    table.watch("cat")
    assert table.refusal("cat", Mark(0)).code == Code.NOT_SEATED


def test_a_taken_cell_stays_taken():
    table = Table(GAME).sit(ANN, BOB)
    table.act(ANN, Mark(4))
    refused = table.refusal(BOB, Mark(4))
    assert (refused.code, refused.message) == (Code.ILLEGAL_MOVE, "cell 4 is taken")


@pytest.mark.parametrize("cell", [-1, 9, "4", 4.5, None, True])
def test_a_cell_is_a_number_from_0_to_8(cell):
    refused = Table(GAME).sit(ANN, BOB).refusal(ANN, {"type": "mark", "cell": cell})
    assert (refused.code, refused.path) == (Code.MALFORMED, "$.cell")


@pytest.mark.parametrize(
    "board",
    [
        "X X X / O O . / . . .",
        "O O . / X X X / . . .",
        ". . . / O O . / X X X",
        "X O . / X O . / X . .",
        "O X . / O X . / . X .",
        ". O X / . O X / . . X",
        "X O . / O X . / . . X",
        ". O X / O X . / X . .",
    ],
)
def test_three_in_any_row_column_or_diagonal_win(board):
    assert GAME.outcome(drawn(board)) == Outcome(won=(ANN,), lost=(BOB,), why="three in a row")


def test_o_can_win_too():
    board = drawn("O O O / X X . / X . .")
    assert GAME.outcome(board) == Outcome(won=(BOB,), lost=(ANN,), why="three in a row")
    assert GAME.view(board, BOB)["winner"] == "O"


def test_a_full_board_without_three_in_a_row_is_a_draw():
    board = drawn("X O X / X O O / O X X")
    assert GAME.outcome(board) == Outcome(drew=(ANN, BOB), why="the board is full")


def test_the_last_cell_can_still_win():
    board = mark(drawn("X X . / O O X / X O O"), 2)
    assert GAME.outcome(board) == Outcome(won=(ANN,), lost=(BOB,), why="three in a row")


def test_nobody_plays_after_the_end():
    with pytest.raises(Refused, match=r"illegal_move.*the game is over"):
        mark(drawn("X X X / O O . / . . ."), 5)
    assert GAME.legal_events(drawn("X X X / O O . / . . ."), BOB) == []


def test_who_is_to_move_may_mark_every_free_cell():
    board = drawn("X O X / . O . / . . .")
    assert GAME.legal_events(board, ANN) == [Mark(3), Mark(5), Mark(6), Mark(7), Mark(8)]
    assert GAME.legal_events(board, BOB) == []


def test_the_winner_is_still_the_winner_when_others_take_the_seats():
    table = Table(GAME).sit(ANN, BOB)
    for player, cell in ((ANN, 0), (BOB, 3), (ANN, 1), (BOB, 4), (ANN, 2)):
        table.act(player, Mark(cell))
    table.leave(ANN)
    table.sit("cat")
    assert table.room.outcome == Outcome(won=(ANN,), lost=(BOB,), why="three in a row")


def test_there_are_255168_games_and_5478_positions():
    """The counts that everybody who enumerates this game arrives at."""

    @cache
    def games(cells: str) -> int:
        """How many games there are from here; how it came to these cells does not matter."""
        board = drawn(cells)
        legal = GAME.legal_events(board, board.player(board.turn) or "")
        return sum(games(mark(board, event.cell).cells) for event in legal) or 1

    assert games("." * 9) == 255_168
    assert games.cache_info().currsize == 5_478


def test_a_stroke_in_the_winners_colour_goes_through_three_in_a_row_and_no_other():
    def strokes(cells: str) -> list[tuple[float, ...]]:
        lines = GAME.scene(drawn(cells), None).lines
        return [(line.x, line.y, line.to_x, line.to_y) for line in lines if line.owner == 1]

    assert strokes("X O . / . X . / . . .") == []
    ((x, y, to_x, to_y),) = strokes("X O . / X O . / . O X")
    assert (x, to_x) == (1.5, 1.5)
    assert 0 < y < 0.5 < 2.5 < to_y < 3

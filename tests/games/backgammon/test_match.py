"""Matches, rule by rule: beginning, turns, taking back."""

import pytest
from msgspec.structs import replace

from parlour.errors import Code
from parlour.games.backgammon.board import Board
from parlour.games.backgammon.match import Played
from parlour.games.backgammon.play import (
    Double,
    EndTurn,
    Move,
    Ready,
    ResignGame,
    Roll,
    Undo,
)
from parlour.testing import Table, legal, told
from tests.games.backgammon.boards import O, X, draw
from tests.games.backgammon.tables import ANN, BOB, GAME, begun, both, move, playing, table, why_not

# How a game begins.


def test_a_game_begins_when_both_have_said_that_they_are_ready():
    at = table()
    at.act(BOB, Ready())
    assert at.state.phase == "ready"
    at.act(ANN, Ready())
    assert at.state.phase == "roll"
    assert told(at.steps[-1])[1]["type"] == "game_started"


def test_nobody_is_ready_before_both_are_here():
    at = Table(GAME).sit(ANN)
    assert not legal(GAME, at.state, ANN)
    assert why_not(at, ANN, Ready()) == (Code.NOT_YOUR_TURN, "the match begins when both players are here")


def test_nobody_is_ready_twice():
    at = table()
    at.act(ANN, Ready())
    assert why_not(at, ANN, Ready()) == (Code.NOT_YOUR_TURN, "it is for your opponent to say ready")


def test_chance_picks_who_begins_the_first_game_and_rolls_afresh():
    starters = set()
    for luck in range(10):
        at = table(luck)
        both(at, Ready())
        assert at.state.dice == ()
        assert legal(GAME, at.state, at.state.player(at.state.turn)) == [Roll(), Double()]
        starters.add(at.state.turn)
    assert starters == {X, O}


def test_with_opening_dice_each_rolls_one_and_the_higher_begins_and_plays_both():
    starters = set()
    for luck in range(20):
        at = table(luck, opening_dice=True)
        both(at, Ready())
        state = at.state
        assert state.phase == "move"
        assert state.dice[0] != state.dice[1]
        assert state.turn == (X if state.dice[0] > state.dice[1] else O)
        assert at.refusal(state.player(state.turn), Double()).code == Code.ILLEGAL_MOVE
        starters.add(state.turn)
    assert starters == {X, O}


@pytest.mark.parametrize(("winner", "starter"), [(X, X), (O, O), (None, X)])
def test_the_winner_begins_the_next_game_and_after_a_draw_x(winner, starter):
    for luck in range(3):
        at = table(luck, match="five_points", variant="plakoto")
        at.lay_out(replace(at.state, games=(Played("plakoto", winner, 1, "single"),)))
        both(at, Ready())
        assert at.state.turn == starter


def test_tavli_is_portes_plakoto_and_fevga_in_turn_and_then_from_the_beginning():
    at = table(variant="tavli", match="seven_points")
    variants = []
    for _ in range(5):
        both(at, Ready())
        variants.append(at.state.board.variant)
        assert at.state.board == Board.start(variants[-1])
        at.lay_out(replace(at.state, score=(0, 0)))  # so that nobody wins the match
        at.act(ANN, ResignGame())
    assert variants == ["portes", "plakoto", "fevga", "portes", "plakoto"]


# A turn.


def test_a_turn_is_a_roll_moves_and_its_end():
    at = begun(luck=1)
    at.act(ANN, Roll())
    dice = at.state.dice
    assert told(at.steps[-1]) == [{"type": "rolled", "seat": X, "dice": list(dice)}]
    while moves := [event for event in legal(GAME, at.state, ANN) if isinstance(event, Move)]:
        at.act(ANN, moves[0])
    assert at.state.left == ()
    at.act(ANN, EndTurn())
    assert (at.state.turn, at.state.phase, at.state.number, at.state.dice) == (O, "roll", 2, ())


def test_a_turn_cannot_end_while_something_can_be_played():
    at = playing(str(Board.start("portes")), (6, 1), "portes")
    assert why_not(at, ANN, EndTurn()) == (Code.ILLEGAL_MOVE, "there are dice to play: 6, 1")
    move(at, "13/7")
    assert why_not(at, ANN, EndTurn()) == (Code.ILLEGAL_MOVE, "there are dice to play: 1")
    move(at, "8/7")
    at.act(ANN, EndTurn())


def test_who_cannot_move_can_only_end_the_turn():
    at = playing(
        """
        .   .   .   .   .   .   |  2o  2o  2o  2o  2o  2o
        .   .   .   .   .   .   |  5x  .   .   .   .   .
        bar 1x
        """,
        (6, 1),
    )
    assert legal(GAME, at.state, ANN) == [EndTurn()]
    at.act(ANN, EndTurn())
    assert at.state.turn == O


def test_a_move_of_several_steps_tells_each_with_its_die():
    at = playing(
        """
        .   .   .   .   .   .   |  .   .   .   .   1o  1x
        .   .   .   .   .   .   |  .   .   .   .   .   .
        """,
        (4, 1),
    )
    at.act(ANN, {"type": "move", "from": 24, "to": 19})
    assert told(at.steps[-1]) == [
        {
            "type": "moved",
            "seat": X,
            "steps": [
                {"from": 24, "to": 23, "die": 1, "hit": True},
                {"from": 23, "to": 19, "die": 4, "hit": False},
            ],
        }
    ]
    assert at.state.left == ()


def test_a_move_that_belongs_to_no_way_is_refused():
    at = playing(str(Board.start("portes")), (6, 1), "portes")
    assert why_not(at, ANN, Move(13, 10)) == (Code.ILLEGAL_MOVE, "13/10 is no move of a way to play 6, 1")
    assert why_not(at, ANN, Move(25, 24)) == (Code.ILLEGAL_MOVE, "bar/24 is no move of a way to play 6, 1")


# To undo.


UNDONE = [
    (
        "backgammon",
        """
        .   .   .   .   .   .   |  1o  .   .   .   1o  1x
        .   .   .   .   .   .   |  .   .   .   .   .   2o
        off 14x 11o
        """,
        (4, 1),
        "24/23 23/19",
    ),
    (
        "plakoto",
        """
        .   .   .   .   .   .   |  1xo .   .   .   .   .
        .   .   .   .   .   .   |  .   .   .   .   .   2o
        off 14x 12o
        """,
        (4, 1),
        "19/15 15/14",
    ),
    (
        "portes",
        """
        1o  .   .   .   .   .   |  .   .   .   .   .   .
        .   .   .   .   .   .   |  .   1x  .   1x  1x  .
        off 12x 14o
        """,
        (6, 3),
        "5/off 3/off",
    ),
]


@pytest.mark.parametrize(("variant", "drawn", "dice", "steps"), UNDONE)
def test_undoing_takes_back_one_step_after_the_other_with_all_that_it_did(variant, drawn, dice, steps):
    at = playing(drawn, dice, variant)
    before = at.state
    assert str(before.board) == draw(drawn)
    states = [before]
    for step in steps.split():
        move(at, step)
        states.append(at.state)
    for state in reversed(states[:-1]):
        at.act(ANN, Undo())
        assert at.state == state


def test_after_undoing_another_way_can_be_played():
    at = playing(str(Board.start("portes")), (6, 2), "portes")
    move(at, "13/7")
    at.act(ANN, Undo())
    assert told(at.steps[-1]) == [{"type": "undone", "seat": X, "step": {"from": 13, "to": 7}}]
    move(at, "24/18 18/16")
    at.act(ANN, EndTurn())
    assert at.state.log == ((X, "62: 24/16"),)


def test_of_a_combined_move_each_step_is_undone_alone():
    at = playing(str(Board.start("portes")), (6, 2), "portes")
    at.act(ANN, Move(24, 16))
    at.act(ANN, Undo())
    assert at.state.left == (2,)


def test_what_was_not_done_cannot_be_undone():
    at = playing(str(Board.start("portes")), (6, 1), "portes")
    assert why_not(at, ANN, Undo()) == (Code.ILLEGAL_MOVE, "there is nothing to undo")
    move(at, "13/7 8/7")
    at.act(ANN, EndTurn())
    assert why_not(at, ANN, Undo())[0] == Code.NOT_YOUR_TURN
    assert why_not(at, BOB, Undo())[0] == Code.ILLEGAL_MOVE

"""Resigning a game: for all that it could cost, or for less if the other side agrees."""

import pytest
from msgspec.structs import replace

from parlour.errors import Code
from parlour.games.backgammon.board import Board
from parlour.games.backgammon.match import Cube, Match, Resignation
from parlour.games.backgammon.play import (
    AcceptResignation,
    RefuseResignation,
    ResignGame,
    ResignMatch,
    Roll,
)
from parlour.games.backgammon.resigning import prices, worst
from parlour.testing import Table, legal, told
from tests.games.backgammon.boards import X
from tests.games.backgammon.tables import ANN, BOB, GAME, LAST_X, begun, playing, table, why_not

PAST_EACH_OTHER = """
    .   .   .   .   .   .   |  .   .   .   3o  6o  6o
    .   .   .   .   .   8x  |  7x  .   .   .   .   .
"""


def costs(at: Table, seat: int) -> dict[str, int]:
    return dict(prices(at.state, seat))


def result(at: Table) -> tuple[int | None, int, str]:
    state: Match = at.state
    last = state.games[-1]
    return last.winner, last.points, last.how


def entries(at: Table, player: str) -> dict[str, str]:
    controls = GAME.scene(at.state, player).controls
    return {control.text: control.confirm for control in controls if control.aside}


# What can be offered.


@pytest.mark.parametrize(
    ("variant", "grades"),
    [
        ("backgammon", {"single": 1, "gammon": 2, "backgammon": 3}),
        *((variant, {"single": 1, "gammon": 2}) for variant in ("tavla", "portes", "plakoto", "fevga")),
    ],
)
def test_a_game_can_be_given_up_for_whatever_it_can_cost(variant, grades):
    assert costs(begun(variant=variant), X) == grades


def test_with_a_checker_off_nothing_but_a_single_game_can_be_lost():
    at = playing(LAST_X.format("14o", "off 14x 1o"), (6, 5), cube=Cube(2, X))
    assert costs(at, 1) == {"single": 2}


def test_who_has_passed_everybody_and_left_their_home_loses_no_backgammon():
    assert worst(Board.parse("backgammon", PAST_EACH_OTHER), 0) == 1
    assert worst(Board.start("backgammon"), 0) == 2


def test_nothing_is_offered_beyond_what_ends_the_match():
    at = begun(variant="backgammon", match="five_points")
    at.lay_out(replace(at.state, score=(0, 3)))
    assert costs(at, X) == {"single": 1, "gammon": 2}


def test_the_menu_says_what_each_costs_and_what_may_be_refused():
    assert entries(begun(), ANN) == {
        "Resign single": "Offer to lose this game for 1 point? {1} may refuse.",
        "Resign gammon": "Offer to lose this game for 2 points? {1} may refuse.",
        "Resign backgammon": "Give this game up for 3 points?",
    }
    at = playing(LAST_X.format("14o", "off 14x 1o"), (6, 5))
    assert entries(at, BOB) == {"Resign game": "Give this game up for 1 point?"}


# What becomes of it.


def test_the_most_that_a_game_could_cost_needs_nobodys_consent():
    at = begun()
    at.act(ANN, ResignGame("backgammon"))
    assert result(at) == (1, 3, "resigned")


def test_less_than_that_is_an_offer_and_the_game_stands_still_for_nobody():
    at = begun()
    step = at.act(BOB, ResignGame("single"))
    assert told(step) == [{"type": "resignation_offered", "seat": 1, "grade": "single", "points": 1}]
    assert (at.state.phase, at.state.games) == ("roll", ())
    assert GAME.view(at.state, None)["resigning"] == Resignation(1, "single", 1)
    assert legal(GAME, at.state, ANN)[:2] == [AcceptResignation(), RefuseResignation()]
    assert Roll() in legal(GAME, at.state, ANN)


def test_what_was_offered_is_won_by_accepting_it():
    at = begun()
    at.act(BOB, ResignGame("gammon"))
    step = at.act(ANN, AcceptResignation())
    assert result(at) == (0, 2, "resigned")
    assert told(step)[0] == {"type": "game_resigned", "seat": 1}


def test_the_cube_counts():
    at = begun()
    at.lay_out(replace(at.state, cube=Cube(4, X)))
    at.act(BOB, ResignGame("single"))
    at.act(ANN, AcceptResignation())
    assert result(at) == (0, 4, "resigned")


def test_who_refuses_plays_on_and_is_not_asked_the_same_again_before_a_move():
    at = begun()
    at.act(BOB, ResignGame("single"))
    at.act(ANN, RefuseResignation())
    assert why_not(at, BOB, ResignGame("single")) == (
        Code.OFFER_DECLINED,
        "to resign a single was refused; offer it again after a move",
    )
    assert "Resign single" not in entries(at, BOB)
    at.act(BOB, ResignGame("gammon"))
    at.act(ANN, Roll())
    at.act(BOB, ResignGame("single"))
    assert at.state.answering == 0


@pytest.mark.parametrize("player", [ANN, BOB])
def test_whoever_plays_on_puts_an_end_to_an_offer(player):
    at = begun()
    at.act(player, ResignGame("single"))
    at.act(ANN, Roll())
    assert at.state.resigning is None
    assert why_not(at, BOB, AcceptResignation()) == (
        Code.NO_SUCH_OFFER,
        "nobody offers you to resign this game",
    )


def test_nobody_accepts_their_own_resignation():
    at = begun()
    at.act(BOB, ResignGame("single"))
    assert why_not(at, BOB, AcceptResignation())[0] == Code.NO_SUCH_OFFER


def test_what_the_position_does_not_allow_is_refused_with_what_it_does():
    at = playing(LAST_X.format("14o", "off 14x 1o"), (6, 5))
    assert why_not(at, BOB, ResignGame("gammon")) == (
        Code.ILLEGAL_MOVE,
        "expected to resign a single as things stand, got a gammon",
    )


def test_an_offer_ends_with_its_game():
    at = begun(match="five_points")
    at.act(BOB, ResignGame("single"))
    at.act(BOB, ResignGame())
    assert at.state.resigning is None
    one = begun()
    one.act(BOB, ResignGame("single"))
    one.act(ANN, ResignMatch())
    assert one.state.resigning is None


def test_there_is_nothing_to_resign_before_a_game_has_begun():
    assert why_not(table(), ANN, ResignGame("single"))[0] == Code.ILLEGAL_MOVE


# What is seen of it.


def test_both_are_told_and_whoever_is_asked_can_press_the_answer():
    at = begun()
    at.act(BOB, ResignGame("single"))
    asked, asking = GAME.scene(at.state, ANN), GAME.scene(at.state, BOB)
    assert asked.status == "{1} resigns for 1 point"
    assert [control.text for control in asked.controls][:2] == ["Accept 1 point", "Refuse"]
    assert asking.status == "You offer 1 point: {0} is to answer, or play on"
    assert asked.turn == (0,)
    at.act(ANN, RefuseResignation())
    assert GAME.scene(at.state, BOB).status == "{0} plays on for more than 1 point"


def test_whoever_is_asked_while_the_other_is_to_move_is_called_too():
    at = begun()
    at.act(ANN, ResignGame("single"))
    assert GAME.scene(at.state, BOB).turn == (0, 1)


def test_a_resignation_without_a_grade_costs_what_it_always_did():
    at = playing(PAST_EACH_OTHER, (6, 5))
    at.act(ANN, ResignGame())
    assert result(at) == (1, 3, "resigned")

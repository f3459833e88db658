"""What everybody sees, and how it is written down."""

from math import comb
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from parlour.games.backgammon.board import Board
from parlour.games.backgammon.match import Cube, export
from parlour.games.backgammon.moves import ways
from parlour.games.backgammon.notation import listed, written
from parlour.games.backgammon.play import Accept, Decline, Double, EndTurn, Ready, ResignGame, ResignMatch
from tests.games.backgammon.boards import O, X, read
from tests.games.backgammon.tables import ANN, BOB, GAME, begun, both, move, playing

# Views.


def test_whoever_is_to_move_sees_all_ways_to_play_and_nobody_else():
    at = playing(str(Board.start("plakoto")), (6, 1), "plakoto")
    assert GAME.view(at.state, ANN)["ways"] == ["24/18 24/23", "24/18 18/17", "24/23 23/17"]
    assert GAME.view(at.state, BOB)["ways"] == []
    assert GAME.view(at.state, None)["ways"] == []


@settings(max_examples=50)
@given(st.randoms(use_true_random=False), st.integers(1, 6), st.sampled_from(["portes", "plakoto", "fevga"]))
def test_the_list_of_ways_is_never_longer_than_128_kb(rng, die, variant):
    # Four steps of a double shared out among fifteen checkers: there are no more ways, whatever the position.
    most = comb(15 + 4 - 1, 4)
    assert most * len('"bar/24 24/23 23/22 22/21",') < 128 * 1024
    places = [0] * 26
    for point in rng.sample(range(1 if variant == "plakoto" else 7, 25), 15):
        places[point] += 1
    board = Board(variant, (tuple(places), (15, *[0] * 25)))
    found = ways(board, X, (die,) * 4)
    assert len(found) <= most
    assert len(msgspec.json.encode([listed(way) for way in found])) < 128 * 1024


def test_a_view_counts_each_sides_checkers_from_its_own_end():
    at = playing(
        """
        .   .   .   .   .   .   |  .   .   .   .   .   2x
        .   .   .   .   .   .   |  .   .   .   .   .   .
        bar 1o, off 13x 14o
        """,
        (6, 1),
    )
    view: Any = GAME.view(at.state, None)
    x, o = view["checkers"]
    assert {place: count for place, count in enumerate(x) if count} == {24: 2, 0: 13}
    assert {place: count for place, count in enumerate(o) if count} == {25: 1, 0: 14}
    assert view["pips"] == (48, 25)


def test_a_view_shows_the_dice_and_which_are_left():
    at = move(playing(str(Board.start("portes")), (2, 2), "portes"), "24/22")
    view = GAME.view(at.state, BOB)
    assert (view["dice"], view["left"], view["played"]) == ((2, 2), (2, 2, 2), ((24, 22),))


def test_a_view_shows_the_cube_where_there_is_one():
    at = begun()
    assert GAME.view(at.state, BOB)["cube"] == Cube(1, None)
    assert GAME.view(at.state, BOB)["may_double"]
    assert GAME.view(begun(variant="tavla").state, BOB)["cube"] is None


def test_a_view_shows_the_score_and_every_game():
    at = begun(variant="tavli", match="five_points")
    at.act(ANN, ResignGame())
    assert GAME.view(at.state, None)["match"] == {
        "variant": "tavli",
        "type": "five_points",
        "target": 5,
        "score": (0, 2),
        "crawford": False,
        "games": [{"variant": "portes", "winner": O, "points": 2, "how": "resigned"}],
    }


def test_when_the_match_is_over_everybody_sees_its_record():
    at = begun()
    assert "record" not in GAME.view(at.state, None)
    at.act(ANN, ResignMatch())
    assert GAME.view(at.state, None)["record"] == export(at.state)


# Moves written down.


@pytest.mark.parametrize(
    ("variant", "drawn", "steps", "text"),
    [
        ("portes", "start", "24/18 13/12", "24/18 13/12"),
        ("portes", "start", "13/12 24/18", "24/18 13/12"),
        ("portes", "start", "24/18 18/12", "24/12"),
        ("portes", "start", "8/4 8/4 6/2 6/2", "8/4(2) 6/2(2)"),
        ("portes", ". . . . . . | . . . . 1o 1x / . . . . . . | . . . . . .", "24/23 23/19", "24/23*/19"),
        ("portes", ". . . . . . | 1o . . . . 1x / . . . . . . | . . . . . .", "24/23 23/19", "24/19*"),
        (
            "portes",
            ". . . . . . | . . . . . . / . . . . . . | . . . . . . / bar 2x",
            "bar/20 bar/20",
            "bar/20(2)",
        ),
        ("portes", ". . . . . . | . . . . . . / . . . . . . | . 2x . . . .", "5/off 5/off", "5/off(2)"),
        ("plakoto", ". . . . . . | 1o . . . . 1x / . . . . . . | . . . . . .", "24/19", "24/19*"),
    ],
)
def test_a_turn_is_written_in_the_usual_notation(variant, drawn, steps, text):
    board = Board.start(variant) if drawn == "start" else Board.parse(variant, drawn)
    assert written(board, X, read(steps)) == text


def test_a_match_is_exported_as_other_programs_read_it():
    at = begun(match="five_points")
    at.lay_out(replace(at.state, phase="move", dice=(3, 1)))
    move(at, "8/5 6/5")
    at.act(ANN, EndTurn())
    at.act(BOB, Double())
    at.act(ANN, Accept())
    at.lay_out(replace(at.state, phase="move", dice=(6, 6)))
    move(at, "24/18 24/18 13/7 13/7", BOB)
    at.act(BOB, EndTurn())
    at.act(ANN, Double())
    at.act(BOB, Decline())
    both(at, Ready())
    at.act(BOB, ResignMatch())
    lines = export(at.state).splitlines()
    assert [line.rstrip() for line in lines] == [
        " 5 point match",
        "",
        ' Game 1 ; [Variant "Backgammon"]',
        " ann : 0                                 bob : 0",
        "  1) 31: 8/5 6/5                          Doubles => 2",
        "  2)  Takes                              66: 24/18(2) 13/7(2)",
        "  3)  Doubles => 4                        Drops",
        "      ann wins 2 (declined)",
        "",
        ' Game 2 ; [Variant "Backgammon"]',
        " ann : 2                                 bob : 0",
        "      ann wins 3 (resigned)",
    ]

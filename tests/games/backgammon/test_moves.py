"""What a roll allows, rule by rule; the boards are x's, whose point 24 is in the upper right corner."""

import pytest

from parlour.games.backgammon.board import Board
from parlour.games.backgammon.moves import Eyes
from parlour.games.backgammon.variants import VARIANTS
from tests.games.backgammon.boards import O, X, after, draw, moves, plays, read, route

HITTING = ["backgammon", "tavla", "portes"]


@pytest.fixture(params=HITTING)
def hitting(request):
    """The three games in which a lone checker is hit."""
    return request.param


# The board.


@pytest.mark.parametrize(
    ("variant", "drawn"),
    [
        (
            "backgammon",
            """
            5x  .   .   .   3o  .   |  5o  .   .   .   .   2x
            5o  .   .   .   3x  .   |  5x  .   .   .   .   2o
            """,
        ),
        (
            "plakoto",
            """
            .   .   .   .   .   .   |  .   .   .   .   .   15x
            .   .   .   .   .   .   |  .   .   .   .   .   15o
            """,
        ),
        (
            "fevga",
            """
            .   .   .   .   .   .   |  .   .   .   .   .   1x
            1o  .   .   .   .   .   |  .   .   .   .   .   .
            bar 14x 14o
            """,
        ),
    ],
)
def test_a_game_begins_like_this(variant, drawn):
    assert str(Board.start(variant)) == draw(drawn)
    assert Board.parse(variant, drawn) == Board.start(variant)


@pytest.mark.parametrize(
    ("variant", "pips"), [*((name, 167) for name in HITTING), ("plakoto", 360), ("fevga", 360)]
)
def test_a_pip_is_one_point_of_the_way_home(variant, pips):
    board = Board.start(variant)
    assert (board.pips(X), board.pips(O)) == (pips, pips)


def test_a_checker_on_the_bar_has_the_whole_board_before_it():
    board = Board.parse("backgammon", ". . . . . . | . . . . . . / . . . . . . | . . . . . 2x / bar 1x")
    assert board.pips(X) == 25 + 2


def test_pinned_checkers_count_their_pips_too():
    board = Board.parse("plakoto", ". . . . . . | . . . . . 2ox / . . . . . . | . . . . . .")
    assert board.pips(X) == 24
    assert board.pips(O) == 2


@pytest.mark.parametrize(
    "drawn",
    [
        ". . .",
        "3y . . . . . | . . . . . . / . . . . . . | . . . . . .",
        "0x . . . . . | . . . . . . / . . . . . . | . . . . . .",
        "16x . . . . . | . . . . . . / . . . . . . | . . . . . .",
        "1x . . . . . | . . . . . . / . . . . . . | . . . . . . / off 13x",
        "1x . . . . . | . . . . . . / . . . . . . | . . . . . . / lost 13x",
        "1xx . . . . . | . . . . . . / . . . . . . | . . . . . .",
    ],
)
def test_a_board_that_makes_no_sense_cannot_be_read(drawn):
    with pytest.raises(ValueError, match="expected"):
        Board.parse("portes", drawn)


# Both dice, or else the higher.


def test_both_dice_must_be_played_if_there_is_a_way(hitting):
    # 24/18 is blocked, but after 24/19 the 6 can be played, too.
    board = """
        .   .   .   .   .   2o  |  .   .   .   .   .   1x
        .   .   .   .   .   .   |  .   .   .   .   .   .
    """
    assert plays(hitting, board, (6, 5)) == ["24/19 19/13"]
    # With a second checker the 5 alone would go, but then the 6 would be lost.
    board = """
        2o  .   .   .   .   .   |  .   .   .   .   .   1x
        .   .   .   .   .   .   |  1x  .   .   .   .   .
    """
    assert plays(hitting, board, (6, 5)) == ["24/18 6/1"]


def test_if_only_one_die_can_be_played_it_is_the_higher(hitting):
    board = """
        2o  .   .   .   .   .   |  .   .   .   .   .   1x
        .   .   .   .   .   .   |  .   .   .   .   .   .
    """
    assert plays(hitting, board, (6, 5)) == ["24/18"]


def test_if_the_higher_cannot_be_played_it_is_the_lower(hitting):
    board = """
        2o  .   .   .   .   2o  |  .   .   .   .   .   1x
        .   .   .   .   .   .   |  .   .   .   .   .   .
    """
    assert plays(hitting, board, (6, 5)) == ["24/19"]


def test_of_a_double_as_many_as_possible_are_played(hitting):
    board = """
        .   .   2o  .   .   .   |  .   .   .   .   .   2x
        .   .   .   .   .   .   |  2o  .   .   .   .   .
    """
    assert plays(hitting, board, (3, 3)) == ["24/21 21/18 24/21 21/18"]
    assert plays(hitting, board, (6, 6)) == ["24/18 18/12 24/18 18/12"]
    assert plays(hitting, board.replace("2x", "1x"), (3, 3)) == ["24/21 21/18"]


def test_where_nothing_can_be_played_there_is_no_way(hitting):
    board = """
        .   .   .   .   .   2o  |  2o  .   .   .   .   1x
        .   .   .   .   .   .   |  .   .   .   .   .   .
    """
    assert plays(hitting, board, (6, 5)) == []
    assert plays(hitting, board, (6, 6)) == []


# How ways are listed.


def test_a_set_of_moves_is_listed_once_whatever_the_order(hitting):
    board = """
        1x  .   .   .   .   .   |  .   .   .   .   .   1x
        .   .   .   .   .   .   |  .   .   .   .   .   .
    """
    apart, together = (
        ["13/11 24/23", "24/22 13/12"],
        ["13/11 11/10", "13/12 12/10", "24/22 22/21", "24/23 23/21"],
    )
    assert plays(hitting, board, (2, 1)) == sorted(apart + together)


def test_the_moves_of_one_checker_stand_together(hitting):
    board = """
        .   .   1x  .   .   .   |  .   .   .   .   .   1x
        .   .   .   .   .   .   |  .   .   .   .   .   .
    """
    assert plays(hitting, board, (2, 2)) == [
        "15/13 13/11 11/9 9/7",
        "24/22 15/13 13/11 11/9",
        "24/22 22/20 15/13 13/11",
        "24/22 22/20 20/18 15/13",
        "24/22 22/20 20/18 18/16",
    ]


def test_which_of_two_checkers_makes_a_step_makes_no_other_way():
    # 22/20 may be the first checker going on or the second one.
    board = """
        .   .   .   .   .   .   |  .   .   .   1x  .   1x
        .   .   .   .   .   .   |  .   .   .   .   .   .
    """
    assert plays("portes", board, (2, 2)) == [
        "22/20 20/18 18/16 16/14",
        "24/22 22/20 20/18 18/16",
        "24/22 22/20 20/18 22/20",
    ]


# Moves that stand for several.


SEED = """
    .   .   .   1x  .   .   |  .   .   .   .   .   1x
    .   .   .   .   .   .   |  .   .   .   .   .   .
"""


@pytest.mark.parametrize(
    ("move", "steps"),
    [
        ("24/22", "24/22"),
        ("24/20", "24/22 22/20"),
        ("24/18", "24/22 22/20 20/18"),
        ("24/16", "24/22 22/20 20/18 18/16"),
        ("16/10", "16/14 14/12 12/10"),
        ("24/14", None),
        ("24/21", None),
        ("22/20", None),
        ("24/off", None),
    ],
)
def test_a_move_may_stand_for_all_the_steps_of_one_checker(hitting, move, steps):
    assert route(hitting, SEED, (2, 2), move) == steps


def test_of_two_ways_to_a_point_the_one_that_hits_is_meant(hitting):
    board = """
        .   .   .   .   .   .   |  .   1o  .   .   .   1x
        .   .   .   .   .   .   |  .   .   .   .   .   .
    """
    assert route(hitting, board, (4, 1), "24/19") == "24/20 20/19"
    assert (
        route(hitting, board.replace(" 1o  .   .   .", " .   .   .   1o"), (4, 1), "24/19") == "24/23 23/19"
    )


def test_of_two_ways_that_hit_nothing_the_higher_die_comes_first(hitting):
    board = """
        .   .   .   .   .   .   |  .   .   .   .   .   1x
        .   .   .   .   .   .   |  .   .   .   .   .   .
    """
    assert route(hitting, board, (4, 1), "24/19") == "24/20 20/19"


def test_one_step_comes_before_two(hitting):
    board = """
        .   .   .   .   .   .   |  .   .   .   .   .   .
        .   .   .   .   .   .   |  .   .   1x  .   1x  .
    """
    assert route(hitting, board, (4, 2), "4/off") == "4/off"
    assert route(hitting, board, (3, 1), "4/off") == "4/1 1/off"


def test_a_combined_move_must_leave_the_rest_of_the_roll_playable(hitting):
    # After bar/24 the other checker must enter, too.
    board = """
        .   .   .   .   .   .   |  .   .   .   .   .   .
        .   .   .   .   .   .   |  .   .   .   .   .   .
        bar 2x
    """
    assert route(hitting, board, (2, 1), "bar/22") is None
    assert route(hitting, board, (1, 1), "bar/23") is None
    assert route(hitting, board, (1, 1), "bar/24") == "bar/24"


# Backgammon, tavla, portes: hitting, the bar.


def test_two_checkers_hold_a_point(hitting):
    board = """
        .   .   .   .   .   .   |  2o  .   .   .   .   1x
        .   .   .   .   .   .   |  .   .   .   .   .   .
    """
    assert moves(hitting, board, (5, 1)) == ["24/18"]
    assert plays(hitting, board, (5, 1)) == ["24/23 23/18"]


def test_a_lone_checker_is_hit_and_goes_to_the_bar(hitting):
    board = """
        .   .   .   .   .   .   |  1o  .   .   .   .   1x
        .   .   .   .   .   .   |  .   .   .   .   .   2o
    """
    assert after(hitting, board, "24/19") == draw("""
        .   .   .   .   .   .   |  1x  .   .   .   .   .
        .   .   .   .   .   .   |  .   .   .   .   .   2o
        bar 1o, off 14x 12o
    """)


def test_a_checker_may_hit_and_go_on(hitting):
    board = """
        .   .   .   .   .   .   |  1o  .   .   .   1o  1x
        .   .   .   .   .   .   |  .   .   .   .   .   .
    """
    assert after(hitting, board, "24/23 23/19") == draw("""
        .   .   .   .   .   .   |  1x  .   .   .   .   .
        .   .   .   .   .   .   |  .   .   .   .   .   .
        bar 2o, off 14x 13o
    """)


def test_whoever_is_on_the_bar_enters_first(hitting):
    board = """
        .   .   .   .   .   .   |  .   .   .   .   .   1x
        .   .   .   .   .   .   |  .   .   .   .   .   .
        bar 1x
    """
    assert plays(hitting, board, (2, 1)) == [
        "bar/23 23/22",
        "bar/23 24/23",
        "bar/24 24/22",
    ]


def test_all_on_the_bar_enter_before_anything_else_moves(hitting):
    board = """
        .   .   .   .   .   .   |  .   .   .   .   .   1x
        .   .   .   .   .   .   |  .   .   .   .   .   .
        bar 2x
    """
    assert plays(hitting, board, (2, 1)) == ["bar/24 bar/23"]
    assert moves(hitting, board, (3, 3)) == [
        "bar/19(2)",
        "bar/22 bar/16",
        "bar/22 bar/19 24/21",
        "bar/22(2) 24/18",
    ]


def test_more_on_the_bar_than_dice_just_enter(hitting):
    board = """
        .   .   .   .   .   .   |  .   .   .   .   .   1x
        .   .   .   .   .   .   |  .   .   .   .   .   .
        bar 5x
    """
    assert plays(hitting, board, (3, 3)) == ["bar/22 bar/22 bar/22 bar/22"]


def test_who_cannot_enter_cannot_move(hitting):
    board = """
        .   .   .   .   .   .   |  .   .   .   .   2o  1x
        .   .   .   .   .   .   |  .   .   .   .   .   .
        bar 1x
    """
    assert plays(hitting, board, (2, 2)) == []


def test_who_cannot_enter_all_enters_who_can_and_moves_no_other(hitting):
    board = """
        .   .   .   .   .   .   |  .   .   .   .   2o  1x
        .   .   .   .   .   .   |  .   .   .   .   .   .
        bar 2x
    """
    assert plays(hitting, board, (2, 1)) == ["bar/24"]


def test_the_other_side_goes_the_other_way(hitting):
    board = """
        .   .   .   .   .   .   |  .   .   .   .   .   .
        .   .   .   .   .   .   |  .   .   .   .   .   1o
    """
    assert plays(hitting, board, (6, 5), side=O) == ["24/18 18/13", "24/19 19/13"]
    assert after(hitting, board, "24/18 18/13", side=O) == draw("""
        .   .   .   .   .   .   |  .   .   .   .   .   .
        1o  .   .   .   .   .   |  .   .   .   .   .   .
        off 15x 14o
    """)


# Bearing off, in all games.


@pytest.mark.parametrize("variant", list(VARIANTS))
def test_nobody_bears_off_before_all_are_home(variant):
    board = """
        .   .   .   .   .   .   |  .   .   .   .   .   .
        .   .   .   .   .   1x  |  .   .   .   .   .   1x
    """
    assert plays(variant, board, (2, 1)) == ["7/5 1/off", "7/5 5/4", "7/6 6/4"]


@pytest.mark.parametrize("variant", list(VARIANTS))
def test_a_die_bears_off_from_its_own_point_or_moves_within(variant):
    board = """
        .   .   .   .   .   .   |  .   .   .   .   .   .
        .   .   .   .   .   .   |  1x  .   1x  .   .   1x
    """
    assert plays(variant, board, (4, 4)) == ["4/off 6/2 2/off 1/off"]
    assert plays(variant, board, (6, 2)) == ["6/4 4/off", "6/off 4/2"]


@pytest.mark.parametrize("variant", list(VARIANTS))
def test_a_larger_die_bears_off_only_from_the_highest_point(variant):
    board = """
        .   .   .   .   .   .   |  .   .   .   .   .   .
        .   .   .   .   .   .   |  .   1x  .   1x  .   .
    """
    assert plays(variant, board, (6, 4)) == ["5/1 3/off", "5/off 3/off"]


def test_a_die_that_bore_one_off_moves_no_other():
    # 6/3 and then 3/off with the 6; in the other order the 3 would be used up.
    board = """
        .   .   .   .   .   .   |  .   .   .   .   .   .
        .   .   .   .   .   .   |  1x  .   .   1x  .   .
    """
    assert plays("portes", board, (6, 3)) == ["6/3 3/off", "6/off 3/off"]
    eyes = Eyes(Board.parse("portes", board), X)
    assert eyes.playable(read("6/3 3/off"), (6, 3))
    assert not eyes.playable(read("3/off 6/3"), (6, 3))
    assert not eyes.playable(read("3/off 6/3 3/off"), (6, 3))


# Plakoto.


def test_plakoto_a_lone_checker_is_pinned_not_hit():
    board = """
        .   .   .   .   .   .   |  1o  .   .   .   .   2x
        .   .   .   .   .   .   |  .   .   .   .   .   2o
    """
    assert after("plakoto", board, "24/19") == draw("""
        .   .   .   .   .   .   |  1xo .   .   .   .   1x
        .   .   .   .   .   .   |  .   .   .   .   .   2o
        off 13x 12o
    """)


def test_plakoto_a_pinned_checker_cannot_move_and_its_point_is_closed_to_its_side():
    board = """
        .   .   .   .   .   .   |  1ox .   .   .   .   1x
        .   .   .   .   .   .   |  .   .   .   .   .   .
    """
    assert plays("plakoto", board, (5, 1)) == ["24/23 23/18"]
    assert moves("plakoto", board, (2, 1)) == ["24/21"]


def test_plakoto_whoever_pins_may_bring_more():
    board = """
        .   .   .   .   .   .   |  1xo .   .   .   .   1x
        .   .   .   .   .   .   |  .   .   .   .   .   .
    """
    assert "24/19" in {step for way in plays("plakoto", board, (5, 1)) for step in way.split()}
    assert after("plakoto", board, "24/19") == draw("""
        .   .   .   .   .   .   |  2xo .   .   .   .   .
        .   .   .   .   .   .   |  .   .   .   .   .   .
        off 13x 14o
    """)


def test_plakoto_the_last_to_leave_sets_the_pinned_one_free():
    board = """
        .   .   .   .   .   .   |  2xo .   .   .   .   .
        .   .   .   .   .   .   |  .   .   .   .   .   .
    """
    assert after("plakoto", board, "19/18").startswith(".   .   .   .   .   1x  |  1xo ")
    assert after("plakoto", board, "19/18 19/17") == draw("""
        .   .   .   .   1x  1x  |  1o  .   .   .   .   .
        .   .   .   .   .   .   |  .   .   .   .   .   .
        off 13x 14o
    """)


def test_plakoto_bearing_off_sets_free_as_well():
    board = """
        .   .   .   .   .   .   |  .   .   .   .   .   .
        .   .   .   .   .   .   |  .   .   .   1xo .   .
    """
    assert after("plakoto", board, "3/off") == draw("""
        .   .   .   .   .   .   |  .   .   .   .   .   .
        .   .   .   .   .   .   |  .   .   .   1o  .   .
        off 15x 14o
    """)


def test_plakoto_two_checkers_hold_a_point():
    board = """
        .   .   .   .   .   .   |  2o  .   .   .   .   1x
        .   .   .   .   .   .   |  .   .   .   .   .   .
    """
    assert plays("plakoto", board, (5, 5)) == []


def test_plakoto_nobody_bears_off_while_one_is_pinned():
    board = """
        .   .   .   .   .   .   |  .   .   .   .   .   .
        .   .   .   .   .   .   |  2x  .   1ox .   .   .
    """
    assert plays("plakoto", board, (6, 6)) == []
    assert moves("plakoto", board, (6, 5)) == ["6/1"]


def test_plakoto_a_lone_mother_under_the_other_ends_nothing_but_two_end_the_game():
    one = Board.parse("plakoto", ". . . . . . | . . . . . 1ox / . . . . . . | . . . . . 1o")
    both = Board.parse("plakoto", ". . . . . . | . . . . . 1ox / . . . . . . | . . . . . 1xo")
    assert not one.drawn
    assert both.drawn


# Fevga.


def test_fevga_both_go_the_same_way_around():
    start = str(Board.start("fevga"))
    assert after("fevga", start, "bar/19 19/13", side=X) == draw("""
        1x  .   .   .   .   .   |  .   .   .   .   .   1x
        1o  .   .   .   .   .   |  .   .   .   .   .   .
        bar 13x 14o
    """)
    assert after("fevga", start, "bar/19 19/13", side=O) == draw("""
        .   .   .   .   .   .   |  .   .   .   .   .   1x
        1o  .   .   .   .   .   |  .   .   .   .   .   1o
        bar 14x 13o
    """)
    assert after("fevga", start, "bar/19 19/13 13/11", side=O) == draw("""
        .   .   .   .   .   .   |  .   .   .   .   1o  1x
        1o  .   .   .   .   .   |  .   .   .   .   .   .
        bar 14x 13o
    """)


def test_fevga_one_checker_holds_a_point():
    board = """
        .   .   .   .   .   .   |  1o  .   .   .   .   1x
        .   .   .   .   .   .   |  .   .   .   .   .   1x
    """
    assert plays("fevga", board, (5, 5)) == []


def test_fevga_the_first_checker_out_of_the_hand_runs_alone():
    start = str(Board.start("fevga"))
    assert plays("fevga", start, (2, 1)) == ["bar/23 23/22", "bar/24 24/22"]
    board = """
        .   .   .   .   .   .   |  1x  .   .   .   .   1x
        1o  .   .   .   .   .   |  .   .   .   .   .   .
        bar 13x 14o
    """
    assert plays("fevga", board, (2, 1)) == ["19/17 17/16", "19/18 18/16"]


def test_fevga_when_the_runner_has_passed_the_others_start_all_may_move_in_the_same_turn():
    board = """
        1x  .   .   .   .   .   |  .   .   .   .   .   1x
        1o  .   .   .   .   .   |  .   .   .   .   .   .
        bar 13x 14o
    """
    assert plays("fevga", board, (2, 1)) == ["13/11 11/10", "13/11 24/23", "13/11 bar/24"]


def test_fevga_nobody_must_leave_the_hand_first():
    board = """
        .   .   .   .   .   .   |  .   .   .   .   .   1x
        .   1x  .   .   .   .   |  .   .   .   .   .   .
        bar 1x
    """
    assert {way.split()[0] for way in plays("fevga", board, (1, 1))} == {"bar/24", "24/23", "11/10"}


def test_fevga_nobody_bears_off_while_the_hand_is_not_empty():
    board = """
        .   .   .   .   .   .   |  .   .   .   .   .   1o
        .   .   .   .   .   .   |  .   .   .   .   .   2x
        bar 1x
    """
    assert plays("fevga", board, (1, 1)) == []


FIVE_OF_SIX = """
    1x  .   .   .   .   .   |  .   .   .   .   .   .
    .   1x  1x  1x  1x  1x  |  .   .   .   .   .   .
"""


def test_fevga_nobody_may_hold_the_whole_start_of_the_other():
    assert route("fevga", FIVE_OF_SIX, (2, 1), "13/12") is None
    assert route("fevga", FIVE_OF_SIX, (2, 1), "13/11") == "13/11"


def test_fevga_who_first_gives_one_of_the_six_up_may_take_the_last():
    with_it = [way for way in plays("fevga", FIVE_OF_SIX, (2, 1)) if "13/12" in way]
    assert with_it == ["10/8 13/12", "11/9 13/12", "7/5 13/12", "8/6 13/12", "9/7 13/12"]


def test_fevga_a_checker_of_the_other_among_the_six_sets_the_rest_free():
    board = """
        1x  .   .   .   .   .   |  .   .   .   .   .   .
        .   1x  1x  1x  1x  1o  |  .   .   .   .   .   .
    """
    assert route("fevga", board, (2, 1), "13/12") == "13/12"


def test_fevga_six_in_a_row_elsewhere_are_fine():
    board = """
        .   1x  1x  1x  1x  1x  |  1x  .   .   .   .   .
        .   .   .   .   .   .   |  .   .   .   .   .   1x
    """
    assert route("fevga", board, (6, 1), "19/13") == "19/13"

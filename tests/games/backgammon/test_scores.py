"""Matches, rule by rule: what a win counts, the cube, scores, giving up."""

import pytest
from msgspec.structs import replace

from parlour.errors import Code
from parlour.game import Outcome
from parlour.games.backgammon.board import Board
from parlour.games.backgammon.match import Cube, Match, Played
from parlour.games.backgammon.play import (
    Accept,
    Decline,
    Double,
    EndTurn,
    Move,
    Ready,
    ResignGame,
    ResignMatch,
    Roll,
    Undo,
)
from parlour.testing import Table, legal, told
from parlour.wire import Rematch
from tests.games.backgammon.boards import O, X, draw
from tests.games.backgammon.tables import ANN, BOB, GAME, LAST_X, begun, both, move, playing, table, why_not

# What a win counts.


def test_with_a_checker_off_a_game_is_lost_simply():
    assert score(LAST_X.format("14o", "off 14x 1o")) == (1, "single")


@pytest.mark.parametrize("variant", ["backgammon", "tavla", "portes", "plakoto"])
def test_without_a_checker_off_it_is_a_gammon(variant):
    assert score(LAST_X.format("15o", "off 14x"), variant) == (2, "gammon")


def test_without_a_checker_off_it_is_a_gammon_in_fevga_too():
    assert score(LAST_X.format("15o", "off 14x"), "fevga") == (2, "gammon")


@pytest.mark.parametrize("point", range(1, 7))
def test_with_a_checker_in_the_winners_home_it_is_a_backgammon_on_every_point_of_it(point):
    counts = [0] * 26
    counts[13], counts[25 - point] = 14, 1
    x = [0] * 26
    x[0], x[point % 6 + 1] = 14, 1
    at = playing(str(Board("backgammon", (tuple(x), tuple(counts)))), (6, 6))
    at.act(ANN, Move(point % 6 + 1, 0))
    assert result(at) == (3, "backgammon")


def test_with_a_checker_on_the_bar_it_is_a_backgammon():
    assert score(LAST_X.format("14o", "bar 1o, off 14x")) == (3, "backgammon")


@pytest.mark.parametrize("variant", ["tavla", "portes"])
def test_only_backgammon_knows_a_backgammon(variant):
    assert score(LAST_X.format("14o", "bar 1o, off 14x"), variant) == (2, "gammon")


def test_the_cube_multiplies_what_a_win_counts():
    at = playing(LAST_X.format("15o", "off 14x"), (6, 5), cube=Cube(4, X))
    move(at, "1/off")
    assert result(at) == (8, "gammon")


def score(drawn: str, variant: str = "backgammon") -> tuple[int, str]:
    return result(move(playing(drawn, (6, 5), variant), "1/off"))


def won(at: Table) -> tuple[str, ...]:
    assert at.room.outcome is not None
    return at.room.outcome.won


def result(at: Table) -> tuple[int, str]:
    game = at.state.games[-1]
    assert game.winner == X
    assert at.state.score == (game.points, 0)
    return game.points, game.how


def test_the_last_checker_off_ends_the_game_at_once():
    at = move(playing(LAST_X.format("14o", "off 14x 1o"), (6, 5)), "1/off")
    assert told(at.steps[-1])[1:] == [
        {"type": "game_ended", "winner": X, "points": 1, "how": "single"},
        {"type": "match_ended", "score": [1, 0]},
    ]
    assert at.room.outcome == Outcome(
        won=(ANN,), lost=(BOB,), why="1 \N{EN DASH} 0 (single)", points={ANN: 1.0, BOB: -1.0}
    )


def test_both_mothers_pinned_is_a_draw_at_once_for_nothing():
    at = playing(
        """
        .   .   .   .   .   .   |  .   .   .   .   .   1ox
        .   .   .   .   .   .   |  .   .   .   .   1x  1o
        """,
        (6, 1),
        "plakoto",
    )
    move(at, "2/1")
    assert at.state.games[-1].how == "draw"
    assert at.state.score == (0, 0)
    assert at.room.outcome == Outcome(drew=(ANN, BOB), why="0 \N{EN DASH} 0")


# The cube.


def test_a_double_is_offered_before_the_roll_and_whoever_takes_it_owns_the_cube():
    at = begun()
    at.act(ANN, Double())
    assert told(at.steps[-1]) == [{"type": "double_offered", "seat": X, "value": 2}]
    assert legal(GAME, at.state, ANN) == []
    assert legal(GAME, at.state, BOB) == [Accept(), Decline()]
    at.act(BOB, Accept())
    assert at.state.cube == Cube(2, O)
    assert legal(GAME, at.state, ANN) == [Roll()]
    assert why_not(at, ANN, Double()) == (Code.ILLEGAL_MOVE, "the cube is your opponent's")


def test_the_owner_of_the_cube_may_double_again():
    at = begun()
    at.lay_out(replace(at.state, cube=Cube(2, X)))
    at.act(ANN, Double())
    at.act(BOB, Accept())
    assert at.state.cube == Cube(4, O)


def test_who_declines_a_double_loses_what_the_cube_said_before():
    at = begun()
    at.lay_out(replace(at.state, cube=Cube(2, X)))
    at.act(ANN, Double())
    at.act(BOB, Decline())
    assert result(at) == (2, "declined")


def test_in_a_cash_match_every_point_counts_and_in_one_to_a_score_only_who_gets_there_first():
    at = begun()
    at.lay_out(replace(at.state, cube=Cube(2, X)))
    at.act(ANN, Double())
    at.act(BOB, Decline())
    assert at.room.outcome is not None
    assert at.room.outcome.points == {ANN: 2.0, BOB: -2.0}
    at = begun(match="five_points")
    at.lay_out(replace(at.state, cube=Cube(2, X), score=(3, 1)))
    at.act(ANN, Double())
    at.act(BOB, Decline())
    assert at.state.score == (5, 1)
    assert at.room.outcome is not None
    assert at.room.outcome.points == {}


def test_the_cube_goes_to_64_and_no_higher():
    at = begun()
    at.lay_out(replace(at.state, cube=Cube(32, X)))
    assert Double() in legal(GAME, at.state, ANN)
    at.lay_out(replace(at.state, cube=Cube(64, X)))
    assert Double() not in legal(GAME, at.state, ANN)
    assert why_not(at, ANN, Double()) == (Code.ILLEGAL_MOVE, "the cube stands at 64, it goes no higher")


@pytest.mark.parametrize("variant", ["tavla", "portes", "plakoto", "fevga"])
def test_only_backgammon_has_a_cube(variant):
    at = begun(variant=variant)
    assert why_not(at, ANN, Double()) == (Code.ILLEGAL_MOVE, f"{variant} has no doubling cube")


def one_point_away(crawford: bool, *before: Played) -> Table:
    at = table(match="five_points", crawford=crawford)
    won = sum(game.points for game in before)
    at.lay_out(replace(at.state, games=before, score=(won, 0)))
    both(at, Ready())
    return at


FOUR = Played("backgammon", X, 4, "gammon")
NONE = Played("backgammon", None, 0, "draw")


def test_with_crawford_nobody_doubles_in_the_first_game_in_which_somebody_is_one_point_away():
    at = one_point_away(True, FOUR)
    assert legal(GAME, at.state, ANN) == [Roll()]
    assert why_not(at, ANN, Double()) == (Code.ILLEGAL_MOVE, "this is the Crawford game: no doubling")


def test_after_the_crawford_game_everybody_doubles_again():
    at = one_point_away(True, FOUR, NONE)
    assert legal(GAME, at.state, ANN) == [Roll(), Double()]


def test_without_crawford_everybody_doubles_always():
    at = one_point_away(False, FOUR)
    assert legal(GAME, at.state, ANN) == [Roll(), Double()]


# Several games for a score.


def test_a_cash_match_is_one_game_of_each_kind_and_the_points_are_added_up():
    at = table(variant="tavli")
    for loser in (ANN, BOB, ANN):
        assert at.room.outcome is None
        both(at, Ready())
        at.act(loser, ResignGame())
    assert at.state.score == (2, 4)
    assert [game.variant for game in at.state.games] == ["portes", "plakoto", "fevga"]
    assert at.room.outcome == Outcome(
        won=(BOB,), lost=(ANN,), why="4 \N{EN DASH} 2 (resigned)", points={BOB: 2.0, ANN: -2.0}
    )


def test_a_cash_match_may_be_drawn():
    at = table(variant="tavli")
    games = (Played("portes", X, 2, "gammon"), Played("plakoto", None, 0, "draw"))
    at.lay_out(replace(at.state, games=games, score=(2, 0)))
    both(at, Ready())
    at.act(ANN, ResignGame())
    assert at.room.outcome == Outcome(drew=(ANN, BOB), why="2 \N{EN DASH} 2 (resigned)")


@pytest.mark.parametrize(("type_", "points"), [("five_points", 5), ("seven_points", 7)])
def test_a_match_for_points_goes_on_until_somebody_has_them(type_, points):
    at = table(variant="tavla", match=type_)
    games = 0
    while at.room.outcome is None:
        both(at, Ready())
        at.act(BOB, ResignGame())
        games += 1
    assert games == (points + 1) // 2
    assert at.state.score == (2 * games, 0)
    assert won(at) == (ANN,)


def test_a_match_full_of_draws_still_goes_on():
    at = table(variant="tavli", match="five_points")
    at.lay_out(replace(at.state, games=(NONE,) * 20))
    both(at, Ready())
    assert at.state.phase == "roll"
    assert at.state.board.variant == "fevga"


def test_a_rematch_is_a_new_match_with_the_seats_changed():
    at = begun()
    at.act(ANN, ResignMatch())
    for player in (ANN, BOB):
        at.do(Rematch(player))
    assert at.state.players == (BOB, ANN)
    assert (at.state.phase, at.state.score, at.state.games) == ("ready", (0, 0), ())


# Giving up.


@pytest.mark.parametrize(
    ("variant", "points"), [("backgammon", 3), ("tavla", 2), ("portes", 2), ("plakoto", 2), ("fevga", 2)]
)
def test_who_gives_a_game_up_loses_the_most_that_it_could_still_cost(variant, points):
    at = begun(variant=variant)
    at.act(BOB, ResignGame())
    assert result(at) == (points, "resigned")


def test_who_has_a_checker_off_gives_up_a_single_game():
    at = playing(LAST_X.format("14o", "off 14x 1o"), (6, 5), cube=Cube(2, X))
    at.act(BOB, ResignGame())
    assert result(at) == (2, "resigned")


def test_there_is_no_game_to_give_up_before_it_has_begun():
    at = table()
    assert why_not(at, ANN, ResignGame()) == (
        Code.ILLEGAL_MOVE,
        "no game is being played that could be given up",
    )


@pytest.mark.parametrize(("variant", "points"), [("backgammon", 3), ("tavla", 2), ("tavli", 6)])
def test_who_gives_a_cash_match_up_loses_all_games_that_are_left(variant, points):
    for at in (begun(variant=variant), table(variant=variant)):
        at.act(BOB, ResignMatch())
        assert at.state.score == (points, 0)
        assert [game.variant for game in at.state.games] == list(at.state.plan)
        assert won(at) == (ANN,)


def test_who_gives_a_cash_match_up_has_lost_it_however_far_ahead():
    at = table(variant="tavli")
    games = (Played("portes", O, 2, "gammon"), Played("plakoto", O, 2, "gammon"))
    at.lay_out(replace(at.state, games=games, score=(0, 4)))
    both(at, Ready())
    at.act(BOB, ResignMatch())
    assert at.state.score == (5, 4)
    assert won(at) == (ANN,)


def test_who_gives_a_match_for_points_up_gives_the_points_that_are_missing():
    at = table(match="five_points")
    at.lay_out(replace(at.state, games=(Played("backgammon", X, 2, "gammon"),), score=(2, 0)))
    both(at, Ready())
    at.act(BOB, ResignMatch())
    assert at.state.score == (5, 0)
    assert [game.points for game in at.state.games] == [2, 3]


def test_a_match_can_be_given_up_between_two_games():
    at = table(match="five_points", variant="tavli")
    both(at, Ready())
    at.act(BOB, ResignGame())
    at.act(ANN, ResignMatch())
    assert at.state.score == (2, 5)
    assert [game.variant for game in at.state.games] == ["portes", "plakoto"]


def test_who_leaves_before_both_are_here_frees_the_seat():
    at = Table(GAME).sit(ANN)
    at.leave(ANN)
    assert at.room.players == (None, None)
    at.sit(BOB)
    assert at.state.players == (BOB, None)


def test_who_leaves_later_gives_the_match_up_and_keeps_the_seat():
    for at in (table(), begun()):
        at.leave(ANN)
        assert at.room.players == (ANN, BOB)
        assert won(at) == (BOB,)
        assert at.state.ended == "left"


def test_after_the_match_who_leaves_frees_the_seat():
    at = begun()
    at.act(ANN, ResignMatch())
    at.leave(ANN)
    assert at.room.players == (None, BOB)


# What cannot be done.


@pytest.mark.parametrize(
    ("phase", "player", "event", "code"),
    [
        ("ready", ANN, Roll(), Code.ILLEGAL_MOVE),
        ("ready", ANN, Move(24, 23), Code.ILLEGAL_MOVE),
        ("ready", ANN, Accept(), Code.ILLEGAL_MOVE),
        ("roll", ANN, Ready(), Code.ILLEGAL_MOVE),
        ("roll", ANN, Move(24, 23), Code.ILLEGAL_MOVE),
        ("roll", ANN, EndTurn(), Code.ILLEGAL_MOVE),
        ("roll", ANN, Undo(), Code.ILLEGAL_MOVE),
        ("roll", ANN, Accept(), Code.ILLEGAL_MOVE),
        ("roll", BOB, Roll(), Code.NOT_YOUR_TURN),
        ("roll", BOB, Double(), Code.NOT_YOUR_TURN),
        ("roll", BOB, Ready(), Code.NOT_YOUR_TURN),
        ("move", ANN, Roll(), Code.ILLEGAL_MOVE),
        ("move", ANN, Double(), Code.ILLEGAL_MOVE),
        ("move", BOB, Move(24, 23), Code.NOT_YOUR_TURN),
        ("move", BOB, EndTurn(), Code.NOT_YOUR_TURN),
        ("double", ANN, Roll(), Code.NOT_YOUR_TURN),
        ("double", ANN, Accept(), Code.NOT_YOUR_TURN),
        ("double", BOB, Roll(), Code.ILLEGAL_MOVE),
        ("double", BOB, Double(), Code.ILLEGAL_MOVE),
    ],
)
def test_what_does_not_belong_here_is_refused_with_what_does(phase, player, event, code):
    at = begun()
    at.lay_out(replace(at.state, phase=phase, dice=(6, 1) if phase == "move" else ()))
    refused = at.refusal(player, event)
    assert refused.code == code
    assert any(word in refused.message for word in ("expected", "opponent"))


@pytest.mark.parametrize(
    "event", [Ready(), Roll(), Move(24, 23), Undo(), EndTurn(), Double(), ResignGame(), ResignMatch()]
)
def test_after_the_match_nothing_can_be_done(event):
    at = begun()
    at.act(ANN, ResignMatch())
    for player in (ANN, BOB):
        assert why_not(at, player, event) == (Code.ILLEGAL_MOVE, "the match is over; ask for a rematch")
        assert legal(GAME, at.state, player) == []


@pytest.mark.parametrize(("start", "end"), [(0, 1), (26, 25), (24, -1), (24, 25), (1.5, 1), ("bar", 24)])
def test_a_move_is_between_places_that_there_are(start, end):
    at = playing(str(Board.start("portes")), (6, 1), "portes")
    refused = at.refusal(ANN, {"type": "move", "from": start, "to": end})
    assert refused.code == Code.MALFORMED
    assert refused.path in ("$.from", "$.to")


def test_a_match_is_a_value_that_can_be_drawn():
    at = playing(str(Board.start("backgammon")), (6, 1))
    assert isinstance(at.state, Match)
    assert str(at.state) == draw("""
        5x  .   .   .   3o  .   |  5o  .   .   .   .   2x
        5o  .   .   .   3x  .   |  5x  .   .   .   .   2o
        backgammon, 0 : 0, x to move, dice (6, 1), left (6, 1), cube 1
    """)

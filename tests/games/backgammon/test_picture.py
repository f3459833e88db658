"""What a browser draws of a match."""

import random
from typing import Any

import pytest
from msgspec.structs import replace

from parlour.errors import Code
from parlour.games.backgammon.board import Board
from parlour.games.backgammon.checkers import Checkers
from parlour.games.backgammon.match import Cube
from parlour.games.backgammon.play import (
    Accept,
    Decline,
    Double,
    EndTurn,
    Move,
    Ready,
    ResignMatch,
    Roll,
    SwapDice,
    Undo,
)
from parlour.scene import Piece, Scene
from parlour.testing import Table, legal, refused, scene_faults
from tests.games.backgammon.boards import O, X
from tests.games.backgammon.tables import ANN, BOB, GAME, begun, both, move, playing, table


def seen(at: Table, viewer: str | None = ANN) -> Scene:
    scene = GAME.scene(at.state, viewer)
    assert not list(scene_faults(scene))
    return scene


def on(scene: Scene, spot: str) -> list[Piece]:
    """What lies there, the lowest first."""
    return sorted((piece for piece in scene.pieces if piece.spot == spot), key=lambda piece: piece.at)


def piece(scene: Scene, id: str) -> Piece:
    return next(piece for piece in scene.pieces if piece.id == id)


def controls(scene: Scene) -> list[str]:
    return [control.id for control in scene.controls]


def test_everybody_sees_their_own_home_at_the_lower_right():
    at = begun()
    for viewer, seat in ((ANN, X), (BOB, O), (None, X)):
        scene = seen(at, viewer)
        assert {piece.owner for piece in on(scene, "p6")} == {seat}
        assert len(on(scene, "p6")) == 5
        six = next(spot for spot in scene.spots if spot.id == "p6")
        assert (six.x, six.y, six.shape) == (7.3, 6.5, "up")
        off = next(spot for spot in scene.spots if spot.id == f"off{seat}")
        assert off.y > 6


def test_the_uppermost_checker_of_a_point_can_be_put_wherever_a_move_leads():
    at = playing(str(Board.start("portes")), (6, 2), "portes")
    scene = seen(at)
    assert [bool(piece.drops) for piece in on(scene, "p24")] == [False, True]
    assert on(scene, "p24")[-1].drops == {
        "p18": Move(24, 18),
        "p22": Move(24, 22),
        "p16": Move(24, 16),
    }
    assert not any(piece.drops for piece in seen(at, BOB).pieces)
    assert not any(piece.drops for piece in seen(at, None).pieces)


def test_a_checker_is_borne_off_into_ones_own_tray():
    at = playing(
        """
        1o  .   .   .   .   .   |  .   .   .   .   .   .
        .   .   .   .   .   .   |  .   1x  .   1x  1x  .
        """,
        (6, 3),
    )
    assert on(seen(at), "p5")[0].drops == {"p2": Move(5, 2), "off0": Move(5, 0)}


def test_a_checker_that_moves_stays_the_same_and_so_does_whom_it_hits():
    at = playing(
        """
        .   .   .   .   .   .   |  1o  .   .   .   .   2x
        .   .   .   .   .   .   |  .   .   .   .   .   2o
        """,
        (5, 1),
    )
    before = seen(at)
    mover, victim = on(before, "p24")[-1].id, on(before, "p19")[0].id
    move(at, "24/19")
    after = seen(at)
    assert (piece(after, mover).spot, piece(after, victim).spot) == ("p19", "bar1")
    assert piece(after, mover).mark == "last"
    at.act(ANN, Undo())
    assert (piece(seen(at), mover).spot, piece(seen(at), victim).spot) == ("p24", "p19")


def test_whoever_is_pinned_peeps_out_from_under():
    at = playing(
        """
        .   .   .   .   .   .   |  2xo .   .   .   .   1x
        .   .   .   .   .   .   |  .   .   .   .   .   .
        """,
        (5, 1),
        "plakoto",
    )
    assert [piece.owner for piece in on(seen(at), "p19")] == [O, X, X]
    assert [piece.owner for piece in on(seen(at, BOB), "p6")] == [O, X, X]
    assert on(seen(at), "p19")[-1].drops


def test_dice_that_were_played_are_pale():
    at = playing(str(Board.start("portes")), (2, 2), "portes")
    move(at, "24/22 13/11")
    dice = on(seen(at), "dice0")
    assert [(die.text, die.dim) for die in dice] == [("2", True), ("2", True), ("2", False), ("2", False)]
    at = move(playing(str(Board.start("portes")), (6, 2), "portes"), "24/22")
    assert [(die.text, die.dim) for die in on(seen(at), "dice0")] == [("6", False), ("2", True)]


def test_the_cube_lies_in_the_middle_or_with_its_owner_and_only_where_there_is_one():
    at = begun()
    assert [piece.text for piece in on(seen(at), "cube")] == ["1"]
    at.act(ANN, Double())
    assert [piece.text for piece in on(seen(at), "cube")] == ["2"]
    at.act(BOB, Accept())
    assert [piece.text for piece in on(seen(at), "cube1")] == ["2"]
    assert not [piece for piece in seen(begun(variant="tavla")).pieces if piece.look == "cube"]


def test_what_can_be_done_now_can_be_pressed():
    at = table(variant="backgammon", match="five_points")
    assert controls(seen(at)) == ["ready", "resign_match"]
    both(at, Ready())
    at.lay_out(replace(at.state, turn=X, number=2))
    resign = ["resign_single", "resign_gammon", "resign_backgammon", "resign_match"]
    assert controls(seen(at)) == ["roll", "double", *resign]
    assert controls(seen(at, BOB)) == resign
    assert controls(seen(at, None)) == []
    at.act(ANN, Double())
    assert controls(seen(at, BOB))[:2] == ["accept", "decline"]
    at.act(BOB, Accept())
    at.lay_out(replace(at.state, phase="move", dice=(6, 1)))
    assert controls(seen(at))[0] == "resign_single"
    move(at, "13/7")
    assert controls(seen(at))[0] == "undo"
    move(at, "8/7")
    assert controls(seen(at))[:2] == ["end_turn", "undo"]
    assert on(seen(at), "dice0")[0].click == EndTurn()
    at.act(ANN, ResignMatch())
    assert controls(seen(at)) == []


def test_whoever_may_double_can_click_the_cube():
    at = in_the_second_turn()
    assert on(seen(at), "cube")[0].click == Double()
    assert on(seen(at, BOB), "cube")[0].click is None


def in_the_second_turn() -> Table:
    """A table where the other has had a turn."""
    at = begun()
    return at.lay_out(replace(at.state, number=2))


def test_no_button_offers_a_double_before_the_first_roll_of_a_game_though_the_rules_accept_one():
    at = begun()
    assert controls(seen(at))[:2] == ["roll", "resign_single"]
    assert on(seen(at), "cube")[0].click is None
    assert seen(at).status == "Your turn: roll"
    assert legal(GAME, at.state, ANN) == [Roll(), Double()]
    at.act(ANN, Double())
    at.act(BOB, Accept())
    assert at.state.cube == Cube(2, O)


SCORES = [
    ({"match": "five_points"}, (3, 1), ANN, ["3 \N{EN DASH} 1", "to 5"]),
    ({"match": "five_points"}, (3, 1), BOB, ["1 \N{EN DASH} 3", "to 5"]),
    ({"match": "seven_points"}, (0, 6), None, ["0 \N{EN DASH} 6", "to 7"]),
    ({"variant": "tavli"}, (2, 0), ANN, ["2 \N{EN DASH} 0", ""]),
    ({}, (0, 0), ANN, []),
]


@pytest.mark.parametrize(("config", "score", "viewer", "said"), SCORES)
def test_the_board_shows_how_a_match_stands_and_how_many_points_it_takes(config, score, viewer, said):
    at = table(**config)
    at.lay_out(replace(at.state, score=score))
    assert [spot.text for spot in seen(at, viewer).spots if spot.id in ("score", "target")] == said


STATUS = [
    ({"number": 2}, ANN, "Your turn: roll, or double"),
    ({}, BOB, "{0} is to roll"),
    ({}, None, "{0} is to roll"),
    ({"cube": Cube(2, O)}, ANN, "Your turn: roll"),
    ({"phase": "move", "dice": (6, 1)}, ANN, "Your turn: 6 and 1"),
    ({"phase": "move", "dice": (6, 1)}, BOB, "{0} is to move"),
    ({"phase": "double"}, BOB, "{0} doubles to 2"),
    ({"phase": "double"}, ANN, "{1} may take a double to 2"),
    ({"phase": "ready"}, ANN, "Ready for a game of backgammon?"),
    ({"phase": "ready"}, None, "Before the game: both get ready"),
    ({"phase": "ready", "ready": (True, False)}, ANN, "{1} is not ready yet"),
    ({"phase": "over", "score": (2, 1), "ended": "gammon"}, ANN, "You win: 2 \N{EN DASH} 1 (gammon)"),
    ({"phase": "over", "score": (2, 1), "ended": "gammon"}, BOB, "{0} wins: 2 \N{EN DASH} 1 (gammon)"),
    ({"phase": "over", "score": (1, 2), "ended": "gammon"}, None, "{1} wins: 2 \N{EN DASH} 1 (gammon)"),
    ({"phase": "over", "score": (2, 2), "ended": "draw"}, None, "A draw: 2 \N{EN DASH} 2"),
]


@pytest.mark.parametrize(("fields", "viewer", "status"), STATUS)
def test_one_sentence_says_what_to_do_or_what_it_waits_for(fields, viewer, status):
    at = begun()
    at.lay_out(replace(at.state, **fields))
    assert seen(at, viewer).status == status


def test_one_sentence_says_why_there_is_nothing_to_move():
    drawn = """
        .   .   .   .   .   .   |  2o  2o  2o  2o  2o  2o
        .   .   .   .   .   .   |  5x  .   .   .   .   .
        bar 1x
    """
    assert seen(playing(drawn, (6, 1))).status == "6 and 1: you cannot move"
    entering = drawn.replace("2o  2o  2o  2o  2o  2o", "2o  2o  2o  2o  2o  . ")
    assert seen(playing(entering, (6, 1))).status == "Your turn: enter from the bar"


def test_the_log_tells_the_whole_match_turn_by_turn():
    at = begun(match="five_points")
    at.lay_out(replace(at.state, phase="move", dice=(3, 1)))
    move(at, "8/5 6/5")
    at.act(ANN, EndTurn())
    at.act(BOB, Double())
    at.act(ANN, Decline())
    told = ("{0} 31: 8/5 6/5", "{1} Doubles => 2", "{0} Drops", "backgammon: {1} wins 1 (declined)")
    assert seen(at).log == told
    both(at, Ready())
    assert seen(at).log == told


@pytest.mark.parametrize("variant", ["portes", "plakoto", "fevga"])
def test_the_checkers_are_always_where_the_board_counts_them(variant):
    rng = random.Random(variant)
    at = begun(variant=variant)
    for _ in range(250):
        player = at.state.player(at.state.awaited[0])
        at.act(player, rng.choice(legal(GAME, at.state, player)))
        if at.room.outcome is not None:
            break
        for side in (X, O):
            places = [place for _, place in at.state.standing.places[side]]
            assert tuple(places.count(place) for place in range(26)) == at.state.board.counts[side]
            numbers = [number for number, _ in at.state.standing.places[side]]
            assert sorted(numbers) == list(range(15))
        seen(at, player)
    assert at.state.number > 20


def test_checkers_are_numbered_from_behind():
    places = Checkers.on(Board.start("fevga")).places[O]
    assert places[:2] == ((0, 25), (1, 25))
    assert places[-1] == (14, 24)


def test_a_roll_can_go_by_itself_where_there_is_nothing_to_double_and_so_can_the_end_of_a_turn():
    at = in_the_second_turn()
    assert [choice.id for choice in seen(at).choices] == ["auto_roll", "auto_end", "pick_up", "hide_pips"]
    assert [choice.id for choice in seen(at, None).choices] == ["hide_pips"]
    assert set(autos(seen(at)).values()) == {""}
    assert autos(seen(begun(variant="tavla")))["roll"] == "auto_roll"
    at.lay_out(replace(at.state, phase="move", dice=(6, 1)))
    assert set(autos(seen(at)).values()) == {""}
    move(at, "13/7 8/7")
    assert autos(seen(at))["end_turn"] == "auto_end"


def autos(scene: Scene) -> dict[str, str]:
    return {control.id: control.auto for control in scene.controls}


def test_one_pip_is_one():
    at = playing(
        """
        .   .   .   .   .   .   |  .   .   .   .   .   1o
        .   .   .   .   .   .   |  .   .   .   .   .   1x
        off 14x 14o
        """,
        (6, 1),
    )
    assert [side.text for side in seen(at).sides] == ["1 pip", "1 pip"]


def test_pip_counts_can_be_hidden():
    assert {side.unless for side in seen(begun()).sides} == {"hide_pips"}


def test_a_click_plays_the_larger_die_first_and_a_click_on_the_dice_swaps_them():
    at = begun()
    at.lay_out(replace(at.state, phase="move", turn=X, dice=(2, 5)))

    def clicks() -> dict[str, Any]:
        return {piece.spot: piece.click for piece in seen(at).pieces if piece.look == "disc" and piece.click}

    def dice() -> list[str]:
        pieces = sorted((piece for piece in seen(at).pieces if piece.look == "die"), key=lambda die: die.at)
        return [die.text for die in pieces]

    assert (clicks()["p13"], clicks()["p6"], dice()) == (Move(13, 8), Move(6, 4), ["5", "2"])
    at.act(ANN, SwapDice())
    assert (clicks()["p13"], dice()) == (Move(13, 11), ["2", "5"])
    assert {piece.unless for piece in seen(at).pieces if piece.drops} == {"pick_up"}
    at.act(ANN, Move(13, 11))
    assert clicks()["p13"] == Move(13, 8)
    refused(Code.ILLEGAL_MOVE, lambda: at.act(ANN, SwapDice()))
    at.act(ANN, Move(13, 8))
    assert [die.click for die in seen(at).pieces if die.look == "die"] == [EndTurn(), EndTurn()]
    at.act(ANN, EndTurn())
    assert not at.state.small_first


def test_a_click_bears_a_checker_off_where_the_larger_die_can():
    drawn = """
        .   .   .   .   .   .   |  2o  2o  2o  2o  2o  2o
        .   .   .   .   .   .   |  .   2x  .   .   2x  .
    """
    clicks = {piece.spot: piece.click for piece in seen(playing(drawn, (5, 1))).pieces if piece.click}
    assert (clicks["p5"], clicks["p2"]) == (Move(5, 0), Move(2, 1))

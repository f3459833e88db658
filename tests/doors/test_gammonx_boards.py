"""GammonX' boards: everybody plays white, from field 0 up to 23, whichever side and variant it is."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from parlour.doors.gammonx.board import board_state, move_sequences, place_of
from parlour.doors.gammonx.payloads import Viewer, dice_rolls, show
from parlour.doors.gammonx.terms import read_guid
from parlour.errors import Refused
from parlour.games.backgammon.board import Board
from parlour.games.backgammon.match import Cube, MatchConfig, Played, new_match
from parlour.pseudonyms import Pseudonyms
from parlour.wire import Company, Sitter
from tests.doors.hall import guid
from tests.doors.plain import plain_view

START = [-2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2]
ANN, BOB = Sitter("ann", "Ann"), Sitter("bob", "Bob")
BOTH = Company((ANN, BOB))
OTHERS = Pseudonyms(bytes(32)).in_match


def views(variant: str, drawn: str = "", **more: Any) -> tuple[Any, Any]:
    """What both see of a match with this board."""
    match = new_match(MatchConfig(variant=variant))  # type: ignore[arg-type]
    board = Board.parse(variant, drawn) if drawn else Board.start(variant)
    match = replace(match, players=("ann", "bob"), board=board, before=board, **more)
    return plain_view(match, "ann"), plain_view(match, "bob")


@pytest.mark.parametrize("variant", ["backgammon", "tavla", "portes"])
def test_both_see_the_same_board_at_the_start(variant):
    for seat, view in enumerate(views(variant)):
        assert board_state(view, seat)["fields"] == START


def test_plakoto_begins_with_all_on_field_0_and_fevga_half_a_lap_apart():
    for seat in (0, 1):
        plakoto, fevga = (board_state(views(name)[seat], seat) for name in ("plakoto", "fevga"))
        assert plakoto["fields"] == [-15, *[0] * 22, 15]
        assert plakoto["pinnedFields"] == [0] * 24
        assert fevga["fields"] == [-1, *[0] * 11, 1, *[0] * 11]
        assert (fevga["homeBarCountWhite"], fevga["homeBarCountBlack"], fevga["pinnedFields"]) == (
            14,
            14,
            None,
        )


def test_what_is_mine_is_white_and_what_is_theirs_is_black():
    drawn = """
        .  .  .  .  .  .  |  .  .  .  .  .  3x
        .  .  .  .  .  .  |  .  2o .  .  .  .
        bar 1o, off 12x 12o
    """
    ann, bob = (board_state(view, seat) for seat, view in enumerate(views("backgammon", drawn)))
    assert (ann["fields"][0], ann["fields"][19]) == (-3, 2)
    assert (bob["fields"][23], bob["fields"][4]) == (3, -2)
    bars = [(board["homeBarCountWhite"], board["homeBarCountBlack"]) for board in (ann, bob)]
    offs = [(board["bearOffCountWhite"], board["bearOffCountBlack"]) for board in (ann, bob)]
    assert (bars, offs) == ([(0, 1), (1, 0)], [(12, 12), (12, 12)])


def test_a_pinned_checker_is_seen_beside_the_board_and_only_the_upper_one_on_it():
    drawn = """
        .  .  .  .  .  .  |  .  .  .  .  1xo .
        .  .  .  .  .  .  |  .  .  .  .  .   .
        off 14x 14o
    """
    ann, bob = (board_state(view, seat) for seat, view in enumerate(views("plakoto", drawn)))
    assert (ann["fields"][1], ann["pinnedFields"][1]) == (-1, 1)
    assert (bob["fields"][22], bob["pinnedFields"][22]) == (1, -1)


def test_the_cube_is_mine_or_not():
    for owner, told in ((None, (False, False)), (0, (True, False)), (1, (False, True))):
        boards = [board_state(v, seat) for seat, v in enumerate(views("backgammon", cube=Cube(2, owner)))]
        assert tuple(board["doublingCubeOwner"] for board in boards) == told
    assert board_state(views("tavla")[0], 0)["doublingCubeValue"] == 0


@pytest.mark.parametrize("variant", ["backgammon", "plakoto", "fevga"])
def test_both_are_shown_the_same_moves_each_from_their_side(variant):
    dice = (2, 1)
    ann, bob = views(variant, phase="move", turn=0, dice=dice)
    mine, theirs = move_sequences(ann, 0), move_sequences(bob, 1)
    assert mine
    lap = 12 if variant == "fevga" else None

    def turned(field: int) -> int:
        special = {-1: 24, -100: 100}
        return special.get(field, (field + lap) % 24 if lap else 23 - field)

    assert theirs == [
        {"moves": [{"from": turned(move["from"]), "to": turned(move["to"])} for move in way["moves"]]}
        for way in mine
    ]


@pytest.mark.parametrize(("left", "used"), [((5, 2), []), ((5,), [2]), ((2,), [5]), ((), [5, 2])])
def test_the_die_that_was_played_is_the_used_one(left, used):
    rolls = dice_rolls((5, 2), left)
    assert [die["roll"] for die in rolls] == [5, 2]
    assert [die["roll"] for die in rolls if die["used"]] == used


@pytest.mark.parametrize(("left", "used"), [(4, 0), (3, 0), (2, 1), (1, 1), (0, 2)])
def test_a_double_has_two_dice_and_each_is_used_by_two_moves(left, used):
    assert [die["used"] for die in dice_rolls((3, 3), (3,) * left)] == [True] * used + [False] * (2 - used)


@pytest.mark.parametrize(("won_by", "active"), [((), 0), ((1,), 1), ((1, 0), 0), ((1, None), 0)])
def test_between_games_the_active_turn_is_the_last_winners_and_never_nobodys(won_by, active):
    games = tuple(Played("backgammon", winner, 1, "single") for winner in won_by)
    for view, me in zip(views("backgammon", games=games), (ANN, BOB), strict=True):
        seen = show(Viewer(guid("match"), guid(me.player), OTHERS), view, BOTH)
        state = msgspec.json.decode(seen.game)
        assert state["activeTurn"] == seen.players[active]
        assert state["phase"] == (6 if won_by else 98)


@pytest.mark.parametrize("field", [-2, 24, 100, 1000, -99])
def test_fields_that_are_not_mine_are_refused(field):
    with pytest.raises(Refused, match="expected a field from 0 to 23"):
        place_of(field, "from")


def test_whoever_came_another_way_has_an_id_all_the_same():
    view = views("backgammon")[0]
    here, there = (show(Viewer(guid(match), guid("ann"), OTHERS), view, BOTH) for match in ("m", "n"))
    assert here.players[0] == there.players[0] == guid("ann"), "one's own is the one that one has said"
    assert here.players[1] != there.players[1], "another one in every match"
    assert [read_guid(seen.players[1], "id") for seen in (here, there)] == [
        seen.players[1] for seen in (here, there)
    ]


def test_nobody_without_a_seat_sees_a_match_by_this_door():
    match = replace(new_match(MatchConfig()), players=("ann", "bob"))
    with pytest.raises(Refused, match="only the two players"):
        show(Viewer(guid("match"), guid("eve"), OTHERS), plain_view(match, None), BOTH)

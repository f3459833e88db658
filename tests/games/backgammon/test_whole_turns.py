"""A move is accepted only as part of a whole way: no order of accepted moves ends a turn too early."""

from random import Random

import msgspec
import pytest
from hypothesis import given, settings

from parlour.bots import BOTS
from parlour.errors import Refused
from parlour.game import Chance
from parlour.games.backgammon.board import Board
from parlour.games.backgammon.match import Match, end_turn, move, route_of
from parlour.games.backgammon.moves import rolled
from parlour.games.backgammon.play import EndTurn, Move
from parlour.games.backgammon.variants import VARIANTS
from tests.games.backgammon import naive
from tests.games.backgammon.boards import X, positions
from tests.games.backgammon.tables import ANN, GAME, playing, why_not

ONLY_ONE_ORDER = """
    .   .   1o  .   .   2o  |  2o  .   3o  .   .   .
    .   1o  1o  3o  .   .   |  .   1x  .   5x  3x  2o
    off 6x
"""
"""With 4-3 the only way is 5/2 3/off: with the 3 borne off, the 4 could not be played."""


def test_a_move_after_which_the_other_die_could_not_be_played_is_refused():
    at = playing(ONLY_ONE_ORDER, (4, 3))
    assert why_not(at, ANN, Move(3, 0)) == ("illegal_move", "3/off is no move of a way to play 4, 3")
    assert GAME.legal_events(at.state, ANN) is not None
    assert list(GAME.legal_events(at.state, ANN)) == [Move(5, 2)]
    at.act(ANN, Move(5, 2))
    assert list(GAME.legal_events(at.state, ANN)) == [Move(3, 0)]
    at.act(ANN, Move(3, 0))
    assert list(GAME.legal_events(at.state, ANN)) == [EndTurn()]


def test_a_browser_offers_only_what_is_part_of_a_whole_way():
    at = playing(ONLY_ONE_ORDER, (4, 3))
    drops = {(piece.spot, tuple(piece.drops)) for piece in GAME.scene(at.state, ANN).pieces if piece.drops}
    assert len(drops) == 1


@pytest.mark.parametrize("level", list(BOTS["backgammon"]))
def test_a_bot_begins_with_a_move_of_a_whole_way(level):
    at = playing(ONLY_ONE_ORDER, (4, 3))
    view, legal = (msgspec.to_builtins(seen) for seen in (GAME.view(at.state, ANN), (Move(5, 2),)))
    assert BOTS["backgammon"][level](view, legal, Chance(bytes(32), 1)) == legal[0]


# Every order of accepted moves, in every variant, held against the plain rules.


def assert_every_turn_is_whole(board: Board, side: int, dice: tuple[int, int]) -> None:
    """Play all that is accepted, in every order: at each moment it is just what the plain rules ask for."""
    at = playing(str(board), dice, board.variant, turn=side).state
    longest = naive.most(board.variant, naive.position(board), side, rolled(*dice))
    seen, waiting = set[tuple[Board, tuple[int, ...]]](), [at]
    while waiting:
        match = waiting.pop()
        if (match.board, match.left) in seen:
            continue
        seen.add((match.board, match.left))
        wanted = naive.firsts(board.variant, naive.position(match.board), side, match.left)
        assert {step for step, route in match.routes.items() if len(route) == 1} == wanted
        assert may_end(match) == (len(match.played) == longest)
        for start, end in match.routes:
            after = move(match, route_of(match, start, end))
            if after.phase == "move":
                waiting.append(after)
            else:  # won, or drawn: nothing is left to be played
                assert after.games


def may_end(match: Match) -> bool:
    try:
        end_turn(match)
    except Refused:
        return False
    return True


def bearing_off(rng: Random, variant: str) -> tuple[Board, tuple[int, int]]:
    """A few checkers at home, points of the other side among them; every other time so that order matters."""
    facing, dice = VARIANTS[variant].facing, (rng.randint(1, 6), rng.randint(1, 6))
    mine = [rng.randint(1, 6) for _ in range(rng.randint(2, 5))]
    held = [point for point in rng.sample(range(1, 8), 2) if point not in mine]
    high, low = max(dice), min(dice)
    if low < high < 6 and rng.random() < 0.5:
        # Who stands highest can play the lower die only, and that would also bear another off.
        first = rng.randint(high + 1, 6)
        held = [first - high]
        mine = [first, low, *(point for point in mine if point <= high)]
        mine = [point for point in mine if point not in held]
    theirs = [facing[point] for point in held for _ in range(2)]
    x, o = ([15 - len(points), *map(points.count, range(1, 26))] for points in (mine, theirs))
    return Board(variant, (tuple(x), tuple(o))), dice


@pytest.mark.parametrize("variant", list(VARIANTS))
def test_bearing_off_whatever_is_accepted_the_turn_ends_as_long_as_the_longest_way(variant):
    rng = Random(variant)
    for _ in range(150):
        board, dice = bearing_off(rng, variant)
        assert_every_turn_is_whole(board, X, dice)


@settings(max_examples=30)
@given(positions())
def test_whatever_is_accepted_in_any_position_the_turn_ends_as_long_as_the_longest_way(case):
    assert_every_turn_is_whole(*case)

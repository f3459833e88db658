"""What is true of every roll in every position, held against rules written down a second time."""

from collections import Counter
from itertools import pairwise, permutations
from pathlib import Path

import pytest
from hypothesis import given, settings

from parlour.games.backgammon.board import Board
from parlour.games.backgammon.moves import Eyes, Way, die_for, rolled, routes, ways, without
from parlour.games.backgammon.variants import VARIANTS
from tests.games.backgammon import naive
from tests.games.backgammon.boards import play, positions

TABLE = Path(__file__).with_name("first_rolls.txt")
ROLLS = [(high, low) for high in range(1, 7) for low in range(1, high + 1)]

many = settings(max_examples=40)


# The first roll.


def first_rolls() -> str:
    """For each roll and variant: the positions that it may lead to, and the ways to play it."""
    lines = ["roll " + "".join(f"{name:>16}" for name in VARIANTS)]
    lines.append("     " + "  positions ways" * len(VARIANTS))
    for high, low in ROLLS:
        cells = []
        for name in VARIANTS:
            start = Board.start(name)
            found = ways(start, 0, rolled(high, low))
            cells.append(f"{len({play(start, 0, way) for way in found}):>11}{len(found):>5}")
        lines.append(f"{high}-{low}  " + "".join(cells))
    return "\n".join(lines) + "\n"


def test_the_first_roll_leads_to_as_many_positions_as_it_always_did():
    assert first_rolls() == TABLE.read_text()


@pytest.mark.parametrize("variant", list(VARIANTS))
def test_the_first_roll_leads_to_just_the_positions_that_the_plain_rules_know(variant):
    board = Board.start(variant)
    for side in (0, 1):
        for dice in ROLLS:
            assert reached(board, side, dice) == naive.all_after(variant, naive.position(board), side, dice)


def reached(board: Board, side: int, dice: tuple[int, int]) -> set[naive.Position]:
    found = {naive.position(play(board, side, way)) for way in ways(board, side, rolled(*dice))}
    return found or {naive.position(board)}


# Any roll.


@many
@given(positions())
def test_a_roll_leads_to_just_the_positions_that_the_plain_rules_know(case):
    board, side, dice = case
    assert reached(board, side, dice) == naive.all_after(board.variant, naive.position(board), side, dice)


@many
@given(positions())
def test_no_checker_is_lost_or_won(case):
    board, side, dice = case
    for way in ways(board, side, rolled(*dice)):
        assert [sum(counts) for counts in play(board, side, way).counts] == [15, 15]


@many
@given(positions())
def test_every_way_can_be_played_in_its_order_and_no_way_can_be_extended(case):
    board, side, dice = case
    for way in ways(board, side, rolled(*dice)):
        at, left = board, rolled(*dice)
        for step in way:
            die = die_for(step, left)
            legal = naive.steps(board.variant, naive.position(at), side, die)
            at, left = at.play(side, step), without(left, die)
            assert naive.position(at) in legal
        assert not any(naive.steps(board.variant, naive.position(at), side, die) for die in left)


@many
@given(positions())
def test_no_set_of_moves_is_listed_twice(case):
    board, side, dice = case
    found = [tuple(sorted(way)) for way in ways(board, side, rolled(*dice))]
    assert len(set(found)) == len(found)


@many
@given(positions())
def test_every_order_of_the_same_moves_that_can_be_played_ends_in_the_same_position(case):
    board, side, dice = case
    eyes = Eyes(board, side)
    for way in ways(board, side, rolled(*dice))[:40]:
        orders = [order for order in set(permutations(way)) if eyes.playable(order, rolled(*dice))]
        assert way in orders
        assert {play(board, side, order) for order in orders} == {play(board, side, way)}


@many
@given(positions())
def test_the_moves_of_one_checker_stand_together_wherever_they_can(case):
    board, side, dice = case
    eyes = Eyes(board, side)
    for way in ways(board, side, rolled(*dice))[:40]:
        orders = [order for order in set(permutations(way)) if eyes.playable(order, rolled(*dice))]
        assert kept_together(way) == max(map(kept_together, orders))


def kept_together(way: Way) -> int:
    return sum(one.end == next_.start for one, next_ in pairwise(way))


@many
@given(positions())
def test_after_any_move_the_rest_of_a_longest_way_can_be_played(case):
    board, side, dice = case
    everything = ways(board, side, rolled(*dice))
    longest = max(map(len, everything), default=0)
    for move, route in routes(board, side, rolled(*dice)).items():
        assert (route[0].start, route[-1].end) == move
        left = rolled(*dice)
        for step in route:
            left = without(left, die_for(step, left))
        after = play(board, side, route)
        rest = ways(after, side, left)
        assert max(map(len, rest), default=0) == longest - len(route)
        begun = {tuple(sorted(way)) for way in everything if not Counter(route) - Counter(way)}
        assert begun >= {tuple(sorted(route + way)) for way in rest}


@many
@given(positions())
def test_every_step_that_begins_a_longest_way_is_a_move(case):
    board, side, dice = case
    found = routes(board, side, rolled(*dice))
    for way in ways(board, side, rolled(*dice)):
        assert found[way[0]] == way[:1]


@many
@given(positions())
def test_a_board_can_be_drawn_and_read_again(case):
    board, _, _ = case
    assert Board.parse(board.variant, str(board)) == board

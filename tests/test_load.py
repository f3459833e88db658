"""How the load that a server sustains is looked for, without a server."""

import math

import pytest

from benchmarks.load import GRAIN, Table, most_sustained, percentile


class Told:
    """A match whose server tells of each move with one word."""

    lines = ()

    def __init__(self) -> None:
        self.moves: list[int] = []

    def tells(self, message: bytes) -> bool:
        return message == b"told"

    def move(self, number: int, told: bytes) -> None:
        self.moves.append(number)


@pytest.mark.parametrize("most", [0, 1, 3, 499, 500, 501, 1000, 3900, 7999, 8000])
def test_the_search_comes_as_near_as_its_grain(most):
    found = most_sustained(lambda count: count <= most)
    assert found <= most <= max(found + 1, found * (1 + GRAIN))


def test_the_search_ends_at_the_most_that_can_be_tried():
    assert most_sustained(lambda _: True, first=500, most=1800) == 1800


def test_what_is_never_told_is_later_than_everything():
    assert percentile([0.001] * 99, 100) == 0.001
    assert percentile([0.001] * 98, 100) == math.inf


def test_only_the_other_seat_says_how_long_a_move_took():
    table = Table(Told())  # type: ignore[arg-type]
    table.move(5.0)
    assert table.hear(0, b"told") is None
    assert not table.is_told
    assert table.hear(1, b"something else") is None
    assert table.hear(1, b"told") == 5.0
    assert table.is_told


def test_what_is_told_before_the_first_move_is_about_somebody_who_came():
    assert Table(Told()).hear(1, b"told") is None  # type: ignore[arg-type]


def test_a_game_goes_on_after_its_last_mark():
    match = Told()
    table = Table(match)  # type: ignore[arg-type]
    for _ in range(10):
        table.move(0.0)
    assert match.moves == [0, 1, 2, 3, 4, 5, 6, 7, 0, 1]

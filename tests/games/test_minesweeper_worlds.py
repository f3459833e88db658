"""Other places for the mines: each that fits what is seen is as likely as the others."""

from collections import Counter
from itertools import combinations
from math import sqrt

import pytest
from msgspec import to_builtins
from msgspec.json import encode
from msgspec.structs import replace

from parlour.bots.minesweeper import solve
from parlour.game import Chance, Moment
from parlour.games.minesweeper import Field, Minesweeper, Open, worlds
from parlour.games.minesweeper.field import NUMBERS
from parlour.games.minesweeper.worlds import draw_mines, survey
from parlour.testing import Table
from tests.dishonest import Peeping

FIELDS = [
    "1 # # / # # # / # # *",
    ". 1 # # / 1 2 # # / # # # * / # # * #",
    "* 2 # / # # 2 / . 1 1",
    "1 1 1 # # / 1 * 2 2 # / # 3 # # * / # # # * #",
    "! # F * / 1 2 # # / . 1 # *",
    "# # # * / # # # #",
]
"""Seen from above; the mines that are drawn are one way among several."""


def field_of(drawn):
    """A field whose numbers are right for its mines."""
    field = Field.parse(drawn)
    cells = list(field.cells)
    for cell, was in enumerate(cells):
        if was in NUMBERS:
            cells[cell] = NUMBERS[len(field.mined.intersection(field.around(cell)))]
    return replace(field, cells="".join(cells))


def possible(field):
    """Every way to lay the mines that looks the same, by trying all."""
    closed = [cell for cell, drawn in enumerate(field.cells) if drawn not in NUMBERS]
    numbers = [
        (set(field.around(cell)), NUMBERS.index(drawn))
        for cell, drawn in enumerate(field.cells)
        if drawn in NUMBERS
    ]
    tries = map(frozenset, combinations(closed, field.mines))
    return [mined for mined in tries if all(len(mined & near) == number for near, number in numbers)]


def draws(field, many):
    """How often each way to lay the mines was drawn."""
    chance = Chance(bytes(32), 1)
    drawn = (draw_mines(field.cells, field.width, field.mines, field.mined, chance) for _ in range(many))
    return Counter(map(frozenset, drawn))


@pytest.mark.parametrize("drawn", FIELDS)
def test_all_possibilities_are_counted_and_no_other(drawn):
    field = field_of(drawn)
    seen = "".join(cell if cell in NUMBERS else "#" for cell in field.cells)
    assert survey(seen, field.width, field.mines)._after[0][field.mines] == len(possible(field))


@pytest.mark.parametrize("drawn", FIELDS)
def test_every_possibility_is_as_likely_as_the_others(drawn):
    field = field_of(drawn)
    ways = possible(field)
    many = 40 * len(ways)
    counted = draws(field, many)
    assert counted.keys() <= set(ways)
    variance = sum((counted[way] - 40) ** 2 for way in ways) / 40  # chi-square, with one way less
    assert abs(variance - (len(ways) - 1)) <= 5 * sqrt(2 * max(len(ways) - 1, 1))


@pytest.mark.parametrize("drawn", FIELDS)
def test_where_too_much_would_have_to_be_remembered_a_chain_comes_near_the_same(drawn, monkeypatch):
    monkeypatch.setattr(worlds, "MOST_STATES", 3)
    monkeypatch.setattr(worlds, "PATCH", 4)
    survey.cache_clear()
    field = field_of(drawn)
    ways, counted = possible(field), draws(field, 400)
    survey.cache_clear()
    assert counted.keys() <= set(ways)
    for cell in range(len(field.cells)):
        share = sum(cell in way for way in ways) / len(ways)
        found = sum(count for way, count in counted.items() if cell in way) / 400
        assert abs(found - share) < 0.12


def test_the_mines_that_no_number_tells_of_could_be_anywhere_out_there():
    field = Field.parse("""
        * 1 # # #
        1 1 # * #
        # # # F !
    """)
    imagined = [Minesweeper().resample(field, "ann", Chance(bytes(32), step)) for step in range(100)]
    assert all(Minesweeper().view(other, "ann") == Minesweeper().view(field, "ann") for other in imagined)
    assert {frozenset(other.mined) for other in imagined} == {
        frozenset({0, a, b}) for a in (3, 4, 8, 9, 13, 14) for b in (3, 4, 8, 9, 13, 14) if a != b
    }


@pytest.mark.parametrize("drawn", ["# # / # #", "# # ! / # # #", "X 1 # / 1 1 *", "F 1 / 1 1", "* 1 / 1 1"])
def test_there_is_nothing_to_imagine_before_the_mines_are_laid_and_after_they_are_shown(drawn):
    field = Field.parse(drawn, mines=1)
    assert Minesweeper().resample(field, None, Chance(bytes(32), 1)) == field


@pytest.mark.parametrize("luck", range(10))
def test_what_is_imagined_makes_the_same_numbers(luck):
    table = Table(Minesweeper(), {"width": 16, "height": 16, "mines": 40}, luck=luck).sit("ann")
    table.act("ann", Open(1, 1))
    other = Minesweeper().resample(table.state, "ann", Chance(bytes(32), luck))
    assert other != table.state
    assert len(other.mined) == 40
    for cell, drawn in enumerate(other.cells):
        if drawn in ".12345678":
            assert ".12345678".index(drawn) == len(other.mined.intersection(other.around(cell)))


# Bots that look at other worlds.


class Solo:
    """One player at an advanced field, whose mines lie as the seed has it."""

    def __init__(self, game, seed):
        self.game = game
        self.moment = Moment(0.0, 0.0, Chance(bytes([seed]) * 32, 1), ("ann",))
        self.chance = Chance(bytes([seed]) * 32, 2)
        blank = game.init(game.Config(preset="advanced"), self.moment)
        self.field = replace(blank, players=("ann",))
        self.open(15 + 8 * 30)

    def open(self, cell):
        event = Open(**self.field.place(cell))
        self.field = self.game.handle_event(self.field, "ann", event, self.moment).state

    def sampling_bot(self, many):
        """Opens what is mined least often in so many other worlds; whether that won."""
        while not self.field.over:
            mined = Counter[int]()
            for _ in range(many):
                mined.update(self.game.resample(self.field, "ann", self.chance).mined)
            closed = [cell for cell, drawn in enumerate(self.field.cells) if drawn in "#*"]
            least = min(mined[cell] for cell in closed)
            best = [cell for cell in closed if mined[cell] == least]
            beside = [c for c in best if any(self.field.cells[n] in NUMBERS for n in self.field.around(c))]
            for cell in beside if beside and least == 0 else best[:1]:
                if not self.field.over and self.field.cells[cell] in "#*":
                    self.open(cell)
        return self.field.status == "win"

    def solver(self):
        """Whether the bot that comes with the game wins."""
        while not self.field.over:
            legal = to_builtins(list(self.game.legal_events(self.field, "ann")))
            event = solve(self.game.view(self.field, "ann"), legal, self.chance)
            event = self.game.read_event(encode(event))
            self.field = self.game.handle_event(self.field, "ann", event, self.moment).state
        return self.field.status == "win"


SEEDS = range(1, 6)


@pytest.mark.play
def test_a_bot_that_draws_worlds_knows_no_more_than_one_that_reads_the_numbers():
    solved = sum(Solo(Minesweeper(), seed).solver() for seed in SEEDS)
    sampled = sum(Solo(Minesweeper(), seed).sampling_bot(20) for seed in SEEDS)
    assert sampled <= solved + 2 < len(SEEDS)


def test_a_bot_wins_every_game_where_the_worlds_show_the_true_mines():
    assert all(Solo(Peeping(), seed).sampling_bot(20) for seed in SEEDS)

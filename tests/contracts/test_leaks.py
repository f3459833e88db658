"""No game tells anybody what they may not know; a game is checked by being in the registry."""

import pytest

from parlour.game import Game
from parlour.games import GAMES
from parlour.leakcheck import check
from tests.contracts.test_games import SETUPS, Setup

HIDES_NOTHING = {"tictactoe", "backgammon", "hex"}
"""Everybody sees the whole board. Any other game has a `resample` that says what is hidden."""


@pytest.fixture(params=list(SETUPS))
def setup(request: pytest.FixtureRequest) -> Setup:
    return SETUPS[request.param]


def compare(setup: Setup, *, games: int, steps: int, seed: int) -> None:
    game, config = setup
    report = check(game, config, games=games, steps=steps, seed=seed)
    assert report.ok, str(report)
    if report.hides:
        assert all(report.by_viewer.values()), str(report)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 11))
def test_nobody_receives_what_they_may_not_know_in_many_games_either(setup, seed):
    compare(setup, games=2, steps=120, seed=seed)


def test_every_game_but_the_open_ones_says_what_it_hides():
    silent = {name for name, game in GAMES.items() if type(game).resample is Game.resample}
    assert silent == HIDES_NOTHING

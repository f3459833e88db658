"""Golden games stay as they are; `scripts/playthrough` writes them anew when a difference is meant."""

import pytest

from parlour.games import GAMES
from tests.contracts.playthrough import FOLDER, playthrough


@pytest.mark.parametrize("name", list(GAMES))
def test_a_game_plays_as_it_always_did(name):
    assert playthrough(name) == (FOLDER / f"{name}.txt").read_text()


def test_every_playthrough_has_its_game():
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(GAMES)

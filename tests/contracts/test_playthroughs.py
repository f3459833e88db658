"""Golden games stay as they are; `scripts/playthrough` writes them anew when a difference is meant."""

import pytest

from tests.contracts.playthrough import FOLDER, STORIES, playthrough


@pytest.mark.parametrize("story", STORIES)
def test_a_game_plays_as_it_always_did(story):
    assert playthrough(story) == (FOLDER / f"{story}.txt").read_text()


def test_every_playthrough_has_its_game():
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(STORIES)

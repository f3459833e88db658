"""What the bundled games tell the ear: each kind of step by its cue."""

from typing import Any

import pytest

from parlour.games import GAMES
from parlour.testing import chance_of, full_table, play_to_end
from tests.samples import SMALL

HEARD: list[tuple[str, Any, set[str]]] = [
    ("tictactoe", None, {"move", "win"}),
    ("hex", SMALL["hex"], {"move", "win"}),
    ("minesweeper", SMALL["minesweeper"], {"move"}),
    ("stratego", SMALL["stratego"], {"deal", "move", "capture"}),
    ("goofspiel", SMALL["goofspiel"], {"move", "capture", "win"}),
    ("hearts", SMALL["hearts"], {"deal", "move", "capture"}),
    ("backgammon", {"variant": "tavla"}, {"deal", "move", "capture", "win"}),
]


@pytest.mark.parametrize(("name", "config", "heard"), HEARD)
def test_every_kind_of_step_in_a_game_has_its_cue(name, config, heard):
    game = GAMES[name]
    table = full_table(game, config, luck=2)
    cues = {game.scene(table.state, None).cue}
    play_to_end(table, chance_of(2), lambda: cues.add(game.scene(table.state, None).cue))
    cues.add(game.scene(table.state, None).cue)
    assert heard <= cues <= {"move", "capture", "deal", "check", "win", ""}

"""The command line."""

import os

import pytest
import typer
from msgspec.structs import fields
from typer.testing import CliRunner

from parlour.cli import app, load_games
from parlour.server.config import Settings
from parlour.server.rooms import freeze, thaw
from tests.table import Table

GAME = """
from parlour import Game, State

class Board(State, frozen=True):
    pass

class Nothing(Game[Board]):
    name = "nothing"
    display_name = "Nothing"
    seats = range(1, 2)
    State = Board

    def init(self, config, moment):
        return Board()
"""


def write(tmp_path, text):
    path = tmp_path / "mygame.py"
    path.write_text(text)
    return path


def test_every_setting_is_an_option_and_in_the_environment(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    shown = CliRunner().invoke(app, ["serve", "--help"], env={**os.environ, "COLUMNS": "200"}).output
    for field in fields(Settings):
        assert f"--{field.name.replace('_', '-')}" in shown
        assert f"PARLOUR_{field.name.upper()}" in shown


def test_a_game_is_loaded_from_a_file(tmp_path):
    (game,) = load_games(write(tmp_path, GAME))
    assert (game.name, game.display_name) == ("nothing", "Nothing")


def test_a_games_own_types_may_name_each_other(tmp_path):
    text = GAME.replace("    pass\n", '    next: "Board | None" = None\n')
    (game,) = load_games(write(tmp_path, text))
    assert thaw(game, freeze(Table(game).room)).state == game.State()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("def broken(:\n", "line 1: invalid syntax"),
        ("x = 1\n", "expected a class that derives from parlour.Game, got none"),
        (GAME.replace('    name = "nothing"\n', ""), "Nothing: expected a name, got none"),
        (GAME.replace('"nothing"', '"No Thing"'), "expected a name of a-z, 0-9 and _, got 'No Thing'"),
        (GAME.replace("range(1, 2)", "range(0, 2)"), "nothing: expected seats like range(2, 3)"),
        (GAME.replace("def init", "def start"), "nothing: expected an init callback, got none"),
        ("import no_such_module\n", "No module named 'no_such_module'"),
    ],
)
def test_a_file_that_is_no_game_is_refused_with_a_sentence(tmp_path, capsys, text, sentence):
    with pytest.raises(typer.Exit):
        load_games(write(tmp_path, text))
    assert sentence in " ".join(capsys.readouterr().err.split())


def test_a_file_that_is_not_there_is_refused_with_a_sentence(tmp_path, capsys):
    with pytest.raises(typer.Exit):
        load_games(tmp_path / "none.py")
    assert "expected a Python file with a game" in " ".join(capsys.readouterr().err.split())

"""`parlour new` makes a game that can be played, checked and tested at once."""

import subprocess
import sys
from typing import get_args

import pytest
from typer.testing import CliRunner

from parlour.checking import check_file
from parlour.cli import app
from parlour.errors import Refused
from parlour.server.game_loader import load_games
from parlour.templates import Kind, copy_template

KINDS = get_args(Kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_game_passes_the_check_without_a_hint(kind, tmp_path):
    file, *_ = copy_template(kind, "king_of_sticks", tmp_path)
    (checked,) = check_file(file)
    assert (checked.findings, checked.hints) == ([], [])
    assert checked.counts.bots == 2
    assert checked.counts.ended


@pytest.mark.parametrize("kind", KINDS)
def test_the_tests_of_a_new_game_pass(kind, tmp_path):
    copy_template(kind, "king_of_sticks", tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "king_of_sticks"]
    tested = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert tested.returncode == 0, tested.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_game_has_its_own_name_everywhere_and_a_rules_page(kind, tmp_path):
    files = copy_template(kind, "king_of_sticks", tmp_path)
    assert [file.name for file in files] == [
        "king_of_sticks.py",
        "king_of_sticks.md",
        "test_king_of_sticks.py",
    ]
    for file in files:
        text = file.read_text()
        assert "template" not in text
        assert "noqa" not in text
        assert "my_game" not in text.lower().replace(" ", "_")
    (game,) = load_games(files[0])
    assert (type(game).__name__, game.name, game.display_name) == (
        "KingOfSticks",
        "king_of_sticks",
        "King of sticks",
    )


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("King", "expected a name of a-z, 0-9 and _, got 'King'"),
        ("../king", "expected a name of a-z, 0-9 and _"),
        ("class", "expected a name of a-z, 0-9 and _"),
        ("tictactoe", "there is a game tictactoe already"),
        ("random", "there is a Python module random already"),
        ("pytest", "there is a Python module pytest already"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused_and_nothing_is_written(name, why, tmp_path):
    with pytest.raises(Refused, match=why):
        copy_template("grid", name, tmp_path / "here")
    assert not (tmp_path / "here").exists()


def test_what_is_there_is_never_written_over(tmp_path):
    (tmp_path / "king").mkdir()
    with pytest.raises(Refused, match="expected a folder that is not there yet"):
        copy_template("grid", "king", tmp_path)
    assert list((tmp_path / "king").iterdir()) == []


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(Refused, match=r"cannot be written: Not a directory"):
        copy_template("grid", "king", tmp_path / "file")


def test_the_command_says_what_to_do_next(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(app, ["new", "king"])
    assert told.exit_code == 0
    assert told.stdout.splitlines()[-3:] == [
        "play:   parlour serve king/king.py --reload",
        "check:  parlour check king/king.py",
        "test:   pytest king",
    ]
    again = CliRunner().invoke(app, ["new", "king", "--kind", "hex"])
    assert again.exit_code == 1
    assert "there is king" in " ".join(again.stderr.split())

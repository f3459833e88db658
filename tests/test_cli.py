"""The command line."""

import os
import re
import subprocess
import sys

import pytest
import typer
from msgspec.structs import fields
from typer.main import get_group
from typer.testing import CliRunner

import parlour
from parlour.cli import app, load_files, load_games
from parlour.server.rooms.stored_room import freeze, thaw
from parlour.server.settings import GROUPS, Settings
from parlour.server.tokens import Tokens
from parlour.testing import Table

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
    assert "PARLOUR_<NAME>" in shown
    serve = get_group(app).commands["serve"]
    options = {option.name: option.envvar for option in serve.params}
    assert options == {"games": None, **{one.name: f"PARLOUR_{one.name.upper()}" for one in fields(Settings)}}


def panels(help):
    """The options that the help lists, by heading, in its order."""
    found: dict[str, list[str]] = {}
    heading = None
    for line in help.splitlines():
        if line.startswith("╭─ "):
            heading = found.setdefault(line.strip("╭─╮ "), [])
        elif heading is not None:
            heading += re.findall(r"^│[ *]+(--[a-z-]+)", line)
    return found


def test_the_help_begins_with_the_six_settings_that_matter_and_lists_the_rest_by_groups():
    shown = CliRunner().invoke(app, ["serve", "--help"], env={**os.environ, "COLUMNS": "200"}).output
    listed = panels(shown)
    assert list(listed)[:2] == ["Arguments", "Options"]
    assert listed["Options"] == ["--host", "--lan", "--public-url", "--port", "--data", "--reload", "--help"]
    assert list(listed)[2:] == list(GROUPS)[1:]
    assert sum(map(len, listed.values())) == len(fields(Settings)) + 1
    assert {name for names in GROUPS.values() for name in names} == {field.name for field in fields(Settings)}


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("--port", "99999", "less than or equal to 65535"),
        ("--port", "http", "a valid integer"),
        ("--rate", "-1", "greater than or equal to 0"),
        ("--keep-ended", "inf", "--keep-ended: expected a number, got inf"),
        ("--ping-every", "0", "greater than or equal to 0.01"),
        ("--bot-workers", "0", "greater than or equal to 1"),
    ],
)
def test_a_number_that_makes_no_sense_is_refused_with_a_sentence(tmp_path, option, value, sentence):
    done = CliRunner().invoke(app, ["serve", "--data", str(tmp_path / "new"), option, value])
    assert done.exit_code in (1, 2)
    said = " ".join(done.output.replace("│", " ").split())
    assert sentence in said
    assert option in said
    assert not (tmp_path / "new").exists()


def test_parlour_says_which_version_it_is():
    assert CliRunner().invoke(app, ["--version"]).output == f"Parlour {parlour.__version__}\n"


@pytest.mark.parametrize("open", [True, False])
def test_the_socket_io_library_is_loaded_only_where_its_door_is_open(tmp_path, open):
    make = (
        "import sys; from pathlib import Path; from parlour.server.app import make_server;"
        "from parlour.server.settings import GROUPS, Settings;"
        f"server = make_server({{}}, Settings(data=Path({str(tmp_path)!r}), xsos={open}));"
        "paths = [route.path for route in server.config.app.routes];"
        "print('socketio' in sys.modules, 'engineio' in sys.modules, '/socket.io/' in paths)"
    )
    done = subprocess.run([sys.executable, "-c", make], check=True, capture_output=True, text=True)
    assert done.stdout.split() == [str(open)] * 3


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
        (
            GAME.replace("    seats =", "    preview_moves = -1\n    seats ="),
            "nothing: expected preview_moves of 0 or more, got -1",
        ),
        (GAME.replace("def init", "def start"), "nothing: expected an init callback, got none"),
        ("import no_such_module\n", "needs the package 'no_such_module'"),
        ("import sys\nsys.exit(7)\n", "line 2: SystemExit: 7"),
        (GAME + "    def __init__(self): print(1 / 0)\n", "ZeroDivisionError: division by zero"),
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


def test_a_new_key_signs_from_the_next_start_on_and_older_ones_still_count(tmp_path):
    data = ["--data", str(tmp_path)]
    for _ in range(2):
        assert CliRunner().invoke(app, ["keys", "new", *data]).exit_code == 0
    lines = CliRunner().invoke(app, ["keys", "list", *data]).output.splitlines()
    assert lines == [f"{tmp_path}/signing.key  still counts", f"{tmp_path}/signing-2.key  signs"]
    assert Tokens.in_folder(tmp_path).read(Tokens.in_folder(tmp_path).issue("ann")) == "ann"


@pytest.mark.parametrize("name", ["signing", "signing.key", "{}/signing.key"])
def test_an_old_key_is_deleted_and_the_one_that_signs_is_not(tmp_path, name):
    data = ["--data", str(tmp_path)]
    for _ in range(2):
        CliRunner().invoke(app, ["keys", "new", *data])
    assert CliRunner().invoke(app, ["keys", "delete", name.format(tmp_path), *data]).exit_code == 0
    assert CliRunner().invoke(app, ["keys", "list", *data]).output == f"{tmp_path}/signing-2.key  signs\n"
    refused = CliRunner().invoke(app, ["keys", "delete", "signing-2", *data])
    assert refused.exit_code == 1
    assert "signs: make a new key first" in refused.output
    unknown = CliRunner().invoke(app, ["keys", "delete", "house", *data])
    assert unknown.exit_code == 1
    assert "got 'house'" in unknown.output


def test_what_games_of_a_file_derive_from_is_no_game_itself_if_it_has_no_name(tmp_path):
    file = tmp_path / "family.py"
    shared = GAME.replace('    name = "nothing"\n', "")
    file.write_text(
        f'{shared}\nclass One(Nothing):\n    name = "one"\n\nclass Two(Nothing):\n    name = "two"\n'
    )
    assert list(load_files([file])) == ["one", "two"]
    file.write_text(shared)
    with pytest.raises(typer.Exit):
        load_files([file])


def test_two_files_with_a_game_of_one_name_are_refused(tmp_path, capsys):
    files = [tmp_path / "one.py", tmp_path / "two.py"]
    for file in files:
        file.write_text(GAME)
    with pytest.raises(typer.Exit):
        load_files(files)
    told = " ".join(capsys.readouterr().err.split())
    line = 1 + GAME[: GAME.index("name = ")].count("\n")
    wanted = f"two.py, line {line}: expected a name of its own for each game, but {files[0]} has a game"
    assert wanted in told


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path, capsys):
    (tmp_path / "one.py").write_text(GAME)
    (tmp_path / "one.py").chmod(0)
    with pytest.raises(typer.Exit):
        load_games(tmp_path / "one.py")
    assert "cannot be read: Permission denied" in " ".join(capsys.readouterr().err.split())


def test_bytes_that_are_no_text_are_a_sentence(tmp_path, capsys):
    (tmp_path / "one.py").write_bytes(b"x = '\xff'\n")
    with pytest.raises(typer.Exit):
        load_games(tmp_path / "one.py")
    assert "one.py, line 1: " in " ".join(capsys.readouterr().err.split())

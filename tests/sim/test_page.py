"""The page about simulation is true: its commands run, with bots and a game in the folder where one is."""

import shlex
import shutil
import sys

from typer.testing import CliRunner

from parlour.cli import app
from tests.test_docs import ROOT, blocks

PAGE = "docs/how-to/simulate-games.md"
BOTS = "def choose(view, legal, chance):\n    return chance.choice(legal)\n"


def test_every_command_of_the_page_runs_where_its_files_are(folder, monkeypatch):
    here = folder.parent
    shutil.copy(ROOT / "examples" / "sticks.py", here / "mygame.py")
    (here / "mybots.py").write_text(BOTS)
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "path", [*sys.path])
    commands = [shlex.split(line) for block in blocks(PAGE, "sh") for line in block.text.splitlines()]
    assert {words[1] for words in commands} == {"simulate", "export"}
    for parlour, command, *words in commands:
        assert parlour == "parlour"
        fewer = ["--games", "2", "--jobs", "1"] if command == "simulate" else []
        if "--out" in words:
            fewer += ["--bots", "random,easy"]
        said = CliRunner().invoke(app, [command, *words, *fewer])
        assert said.exit_code == 0, (words, said.output)

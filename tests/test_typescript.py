"""`parlour types` writes what TypeScript takes."""

import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from parlour.cli import app
from parlour.games import GAMES
from parlour.server.typescript import game_types

COMPILER = Path(__file__).parents[1] / "web" / "node_modules" / "typescript" / "bin" / "tsc"


def test_events_are_told_apart_by_their_type():
    told = CliRunner().invoke(app, ["types", "tictactoe"])
    assert told.exit_code == 0
    assert 'export interface Mark {\n  type: "mark";\n  cell: number;\n}' in told.stdout
    assert "export type Event = Mark;" in told.stdout


@pytest.mark.skipif(
    not COMPILER.exists() or not shutil.which("node"), reason="the page's packages are not here"
)
def test_the_compiler_takes_the_types_of_every_game(tmp_path):
    for name, game in GAMES.items():
        (tmp_path / f"{name}.ts").write_text(game_types(game))
    (tmp_path / "use.ts").write_text(
        'import type { Event } from "./tictactoe";\n'
        'export const good: Event = { type: "mark", cell: 4 };\n'
        "// @ts-expect-error: a cell is a number\n"
        'export const bad: Event = { type: "mark", cell: "4" };\n'
    )
    files = [str(file) for file in tmp_path.glob("*.ts")]
    command = ["node", str(COMPILER), "--noEmit", "--strict", "--moduleResolution", "bundler",
               "--module", "esnext", *files]  # fmt: skip
    compiled = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert compiled.returncode == 0, compiled.stdout

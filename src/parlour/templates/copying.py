"""Copies a game to begin with into a folder of the author's own: the game, its rules page and its tests."""

import keyword
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from parlour.errors import Code, Refused
from parlour.games import GAMES

HERE = Path(__file__).parent
Kind = Literal["grid", "cards", "hex", "free"]
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def copy_template(kind: Kind, name: str, parent: Path) -> list[Path]:
    """Make the folder *name* with a game of this kind; the files that were written."""
    _check_name(name)
    folder = parent / name
    if folder.exists():
        raise Refused(Code.NAME_TAKEN, f"expected a folder that is not there yet, but there is {folder}")
    title = name.replace("_", " ").capitalize()
    words = {
        f"parlour.templates.{kind}.my_game": name,
        "my_game": name,
        "MyGame": "".join(part.capitalize() for part in name.split("_")),
        "My game": title,
        "  # noqa: RUF012": "",
    }
    files = {}
    for source, target in (("my_game.py", f"{name}.py"), ("my_game.md", f"{name}.md")):
        files[folder / target] = HERE / kind / source
    files[folder / f"test_{name}.py"] = HERE / kind / "my_game_tests.py"
    try:
        folder.mkdir(parents=True)
        for target_file, source_file in files.items():
            target_file.write_text(_written(source_file.read_text(encoding="utf-8"), words), encoding="utf-8")
    except OSError as error:
        raise Refused(Code.GAME_ERROR, f"{folder} cannot be written: {error.strerror or error}") from None
    return list(files)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise Refused(Code.GAME_ERROR, f"expected a name of a-z, 0-9 and _, got {name!r}")
    if name in GAMES:
        raise Refused(Code.NAME_TAKEN, f"expected a name that is free, but there is a game {name} already")
    if name in sys.stdlib_module_names or find_spec(name) is not None:
        why = f"expected a name that is free, but there is a Python module {name} already"
        raise Refused(Code.NAME_TAKEN, why)


def _written(text: str, words: dict[str, str]) -> str:
    for word, own in words.items():
        text = text.replace(word, own)
    return text

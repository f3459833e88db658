"""Loads games from Python files."""

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from parlour.errors import Code, Refused
from parlour.game import Game


def load_games(file: Path) -> list[Game[Any]]:
    """The games in a Python file; `Refused` says what is wrong with it, and where."""
    spec = importlib.util.spec_from_file_location(_module(file), file)
    if spec is None or not file.is_file():
        raise Refused(Code.GAME_ERROR, f"expected a Python file with a game, got {file}")
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(spec.name)
    sys.modules[spec.name] = module  # types look up their module there
    try:
        return _games_in(module, file)
    except Refused:
        if before is not None:
            sys.modules[spec.name] = before
        raise


def is_from(game: Game[Any], file: Path) -> bool:
    """True if this game was loaded from this file."""
    return type(game).__module__ == _module(file)


def _module(file: Path) -> str:
    return f"parlour_game_{file.stem}"


def _games_in(module: ModuleType, file: Path) -> list[Game[Any]]:
    with _explained(file):
        exec(compile(file.read_bytes(), str(file), "exec"), module.__dict__)  # noqa: S102 - games are trusted
    kinds = [kind for kind in vars(module).values() if _is_game(kind, module.__name__)]
    if not kinds:
        raise Refused(Code.GAME_ERROR, f"{file}: expected a class that derives from parlour.Game, got none")
    with _explained(file):
        return [kind().checked() for kind in kinds]


@contextmanager
def _explained(file: Path) -> Iterator[None]:
    """Turn whatever the file's code raises into a `Refused` that says where and what it was."""
    try:
        yield
    except Refused as why:
        raise Refused(Code.GAME_ERROR, f"{file}: {why.message}") from None
    except SyntaxError as error:
        raise Refused(Code.GAME_ERROR, f"{file}, line {error.lineno}: {error.msg}") from None
    except ImportError as error:
        raise Refused(Code.GAME_ERROR, f"{file}: {error}") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, the file's own code raised it
        where = [
            frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)
        ]
        what = f"{file}, line {where[-1] if where else '?'}: {type(error).__name__}: {error}"
        raise Refused(Code.GAME_ERROR, what) from None


def _is_game(kind: Any, module: str) -> bool:
    return inspect.isclass(kind) and issubclass(kind, Game) and kind.__module__ == module

"""Loads games from Python files, and says by file and line what is wrong with one."""

import ast
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.pictures import pictures_of


def load_games(file: Path, say: Callable[[str], None] = lambda _: None) -> list[Game[Any]]:
    """The games in a Python file; `Refused` says what is wrong with it, and where.

    *say* hears of what is odd but does no harm: a file that prints while it is loaded.
    """
    spec = importlib.util.spec_from_file_location(_module(file), file)
    if spec is None or not file.is_file():
        raise Refused(Code.GAME_ERROR, f"expected a Python file with a game, got {file}")
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(spec.name)
    sys.modules[spec.name] = module  # types look up their module there
    try:
        return _games_in(module, file, say)
    except Refused:
        if before is not None:
            sys.modules[spec.name] = before
        raise


def is_from(game: Game[Any], file: Path) -> bool:
    """True if this game was loaded from this file."""
    return type(game).__module__ == _module(file)


def _module(file: Path) -> str:
    return f"parlour_game_{file.stem}"


def _games_in(module: ModuleType, file: Path, say: Callable[[str], None]) -> list[Game[Any]]:
    with _explained(file):
        text = file.read_bytes()
    printed = _Printed(file)
    with _explained(file), redirect_stdout(printed):
        exec(compile(text, str(file), "exec"), module.__dict__)  # noqa: S102 - games are trusted
    if printed.line is not None:
        say(f"{file}, line {printed.line}: prints while it is loaded: {printed.getvalue().strip()[:80]!r}")
    kinds = [kind for kind in vars(module).values() if _is_game(kind, module.__name__)]
    if not kinds:
        raise Refused(Code.GAME_ERROR, f"{file}: expected a class that derives from parlour.Game, got none")
    games: dict[str, Game[Any]] = {}
    for kind in dict.fromkeys(kinds):
        if _is_base(kind, kinds):
            continue
        game = _checked(kind, text, file)
        if game.name in games:
            other, line = type(games[game.name]).__name__, line_of(kind, "name", text)
            why = f"expected a name of its own for each game, but {other} is called {game.name!r}, too"
            raise Refused(Code.GAME_ERROR, f"{file}, line {line}: {kind.__name__}: {why}")
        games[game.name] = game
    return list(games.values())


def _checked(kind: type[Game[Any]], text: bytes, file: Path) -> Game[Any]:
    with _explained(file):
        try:
            game = kind().checked()
        except Refused as why:
            line = line_of(kind, why.path or "", text)
            raise Refused(Code.GAME_ERROR, f"{file}, line {line}: {why.message}") from None
        pictures_of(game)  # refuses what no browser should get
    return game


def two_of_a_name(game: Game[Any], file: Path, other: object) -> str:
    """What is wrong with a file whose game has the name of another; *other* is where that one is."""
    try:
        place = f"{file}, line {line_of(type(game), 'name', file.read_bytes())}"
    except (OSError, SyntaxError):  # saved again meanwhile
        place = str(file)
    return f"{place}: expected a name of its own for each game, but {other} has a game {game.name!r}, too"


def line_of(kind: type, name: str, text: bytes) -> int:
    """The line where a class, or one that it derives from in the same file, says this; else its first line.

    >>> line_of(type("Nim", (), {}), "seats", b"class Nim:\\n    seats = 2")
    2
    """
    classes = {node.name: node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)}
    own = [classes[base.__name__] for base in kind.__mro__ if base.__name__ in classes]
    for node in own:
        for statement in node.body:
            if name in _names_of(statement):
                return statement.lineno
    return own[0].lineno if own else 1


def _names_of(statement: ast.stmt) -> list[str]:
    """What a statement of a class gives a value to."""
    match statement:
        case ast.FunctionDef():
            return [statement.name]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Assign():
            names = [node for target in statement.targets for node in ast.walk(target)]
            return [node.id for node in names if isinstance(node, ast.Name)]
        case _:
            return []


def raised_in(error: BaseException, file: Path) -> int | None:
    """The last line of this file that an exception came through."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if frame.filename == str(file)), None)


class _Printed(StringIO):
    """Takes what a file prints, and remembers the first line that does."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file = str(file)
        self.line: int | None = None

    def write(self, text: str) -> int:
        frame = inspect.currentframe()
        while self.line is None and frame is not None:
            if frame.f_code.co_filename == self.file:
                self.line = frame.f_lineno
            frame = frame.f_back
        return super().write(text)


@contextmanager
def _explained(file: Path) -> Iterator[None]:
    """Turn whatever the file's code raises into a `Refused` that says where and what it was."""
    try:
        yield
    except Refused as refused:
        said = refused.message
        raise Refused(Code.GAME_ERROR, said if str(file) in said else f"{file}: {said}") from None
    except SyntaxError as error:
        raise Refused(Code.GAME_ERROR, f"{file}, line {error.lineno or 1}: {error.msg}") from None
    except ModuleNotFoundError as error:
        line, name = raised_in(error, file), (error.name or "?").partition(".")[0]
        why = f"needs the package {name!r}, which is not installed"
        raise Refused(Code.GAME_ERROR, f"{file}, line {line or 1}: {why}") from None
    except OSError as error:
        if (line := raised_in(error, file)) is None:
            raise Refused(Code.GAME_ERROR, f"{file}: cannot be read: {error.strerror or error}") from None
        raise Refused(Code.GAME_ERROR, f"{file}, line {line}: {type(error).__name__}: {error}") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, the file's own code raised it
        what = f"{type(error).__name__}: {error}"
        raise Refused(Code.GAME_ERROR, f"{file}, line {raised_in(error, file) or 1}: {what}") from None


def _is_base(kind: type[Game[Any]], kinds: list[type[Game[Any]]]) -> bool:
    """Whether it is only what other games of the file share: it has no name, and they derive from it."""
    return not hasattr(kind, "name") and any(issubclass(one, kind) for one in kinds if one is not kind)


def _is_game(kind: Any, module: str) -> bool:
    return inspect.isclass(kind) and issubclass(kind, Game) and kind.__module__ == module

"""What a check finds: one sentence, and where in the author's file it belongs."""

import inspect
import traceback
from pathlib import Path
from typing import Any

import msgspec

from parlour.game import Game
from parlour.server.game_loader import line_of


class Finding(Exception):
    """One thing that is wrong with a game; *where* is the name in the class that it is about."""

    def __init__(self, sentence: str, where: str = "", *, file: Path | None = None, line: int = 0) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.where = where
        self.file = file
        self.line = line

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else f"{self.file}: " if self.file else ""
        return f"{place}{self.sentence}"

    def placed(self, game: Game[Any]) -> "Finding":
        """This finding with the file and line of the game's class, or of what it is about."""
        if self.file is None:
            self.file, self.line = place_of(game, self.where)
        return self


def place_of(game: Game[Any], name: str = "") -> tuple[Path | None, int]:
    """The file and line where a game says this, or where its class begins."""
    own = next((vars(kind)[name] for kind in type(game).__mro__ if name in vars(kind)), None)
    own = inspect.unwrap(own) if callable(own) else own
    if inspect.isfunction(own) and own.__module__ != Game.__module__:
        return Path(own.__code__.co_filename), own.__code__.co_firstlineno
    try:
        file = Path(inspect.getfile(type(game)))
        return file, line_of(type(game), name, file.read_bytes())
    except (OSError, TypeError, SyntaxError):
        return None, 0


def finding_of(error: BaseException, game: Game[Any], doing: str) -> Finding:
    """What an exception says to the author: the last line of their file that it came through."""
    if isinstance(error, Finding):
        return error.placed(game)
    files = {str(place_of(game)[0])}
    files |= {str(place_of(game, name)[0]) for name in ("handle_event", "view", "scene")}
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if not frames:
        return Finding(f"{doing}: {what}").placed(game)
    last = frames[-1]
    return Finding(f"{doing}, {last.name} raised {what}", file=Path(last.filename), line=last.lineno or 0)


class Counts(msgspec.Struct):
    """What was done, for those who ask whether anything was."""

    games: int = 0
    steps: int = 0
    ended: int = 0
    scenes: int = 0
    tried: int = 0
    """Legal events that were tried out."""
    bots: int = 0
    compared: int = 0
    """What viewers received, in two worlds that they must not tell apart."""

"""Board pages: the page of HTML that a game may bring along for browsers to show instead of its scene."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import msgspec
import structlog

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.pictures import board_folder

INDEX = "index.html"
"""The file that makes a folder a board page."""
PARTS = {".css", ".html", ".js", ".mjs"}
"""Files that stand in the folder for a page only; pictures may stand there without one."""
KINDS = {
    ".css": "text/css; charset=utf-8",
    ".gif": "image/gif",
    ".html": "text/html; charset=utf-8",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}
"""The files that a board page may have, and what a browser is told that they are."""
MAX_FILES = 200
MAX_FILE = 1 << 20
MAX_FOLDER = 8 << 20

log = structlog.get_logger()

Stamp = tuple[tuple[str, int, int], ...]
"""Identifies a saved version of a folder."""


class BoardPage(msgspec.Struct, frozen=True):
    """The files of a board page by their paths in its folder."""

    files: Mapping[str, bytes]
    version: str
    """Differs where any file does, so that browsers load the page again."""


def read_board(game: Game[Any]) -> BoardPage | None:
    """The board page of a game, None if it has none; `Refused` says what is wrong with it, and where."""
    folder = board_folder(game)
    if folder is None:
        return None
    found = _files_in(folder)
    if not any(file.suffix in PARTS for file in found):
        return None
    files: dict[str, bytes] = {}
    for file in found:
        files[file.relative_to(folder).as_posix()] = _read(file)
        if sum(map(len, files.values())) > MAX_FOLDER:
            raise _wrong(folder, f"expected at most {MAX_FOLDER} bytes in all, got more")
    if not files.get(INDEX, b"").strip():
        raise _wrong(folder / INDEX, "expected the page of the board, got none")
    digest = hashlib.sha256(msgspec.msgpack.encode(files, order="sorted"))
    return BoardPage(files, digest.hexdigest()[:16])


def board_stamp(game: Game[Any]) -> Stamp | None:
    """What tells a saved board page from the one before it, without reading it."""
    folder = board_folder(game)
    if folder is None:
        return None
    try:
        stats = [(file, file.stat()) for file in _files_in(folder)]
    except (OSError, Refused):
        return ()
    return tuple((str(file), stat.st_mtime_ns, stat.st_size) for file, stat in stats)


def _files_in(folder: Path) -> list[Path]:
    """What is in a folder, except what editors and systems hide there."""
    found: list[Path] = []
    for path in folder.rglob("*"):
        if path.is_dir() or any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        found.append(path)
        if len(found) > MAX_FILES:
            raise _wrong(folder, f"expected at most {MAX_FILES} files, got more")
    return sorted(found)


def _read(file: Path) -> bytes:
    if file.suffix not in KINDS:
        raise _wrong(file, f"expected a file that ends in one of {' '.join(KINDS)}")
    try:
        if not file.is_file():
            raise _wrong(file, "expected a file")
        if (size := file.stat().st_size) > MAX_FILE:
            raise _wrong(file, f"expected at most {MAX_FILE} bytes, got {size}")
        return file.read_bytes()
    except OSError as error:
        raise _wrong(file, f"cannot be read: {error.strerror or error}") from None


def _wrong(path: Path, sentence: str) -> Refused:
    return Refused(Code.GAME_ERROR, f"{path}: {sentence}")


class BoardPages:
    """The board pages of all games, each read once; a game whose page is wrong is shown by its scene."""

    def __init__(self) -> None:
        self._read: WeakKeyDictionary[Game[Any], BoardPage | None] = WeakKeyDictionary()

    def get(self, game: Game[Any]) -> BoardPage | None:
        """The board page of a game, if it has one that can be shown."""
        if game not in self._read:
            try:
                self.load(game)
            except Refused as why:
                log.warning("board_page_wrong", game=game.name, why=why.message)
        return self._read[game]

    def load(self, game: Game[Any]) -> None:
        """Read the board page of a game, also again; `Refused` says what is wrong with it."""
        self._read[game] = None
        self._read[game] = read_board(game)

    def version(self, game: Game[Any]) -> str | None:
        """Which version of its board page a game has; None: none."""
        page = self.get(game)
        return None if page is None else page.version

"""Reads the pictures of a game, and puts their addresses into its scenes."""

import hashlib
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

import msgspec
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.pictures.png import clean_png
from parlour.pictures.svg import clean_svg
from parlour.scene import PICTURE, Scene

FOLDER = "-board"
"""What follows a game's name in the name of its folder."""
MAX_BYTES = 512 * 1024
"""Of one file."""
MAX_TOGETHER = 8 * 1024 * 1024
"""Of all files of a game: every worker keeps them in memory."""
MAX_PICTURES = 100
"""Every scene has the addresses of all."""
KINDS = {".svg": ("image/svg+xml", clean_svg), ".png": ("image/png", clean_png)}
HASH = 16


class Picture(msgspec.Struct, frozen=True):
    """A picture as browsers get it."""

    body: bytes
    kind: str
    address: str
    """It has a hash of the body in it, so that it may be kept for ever."""


NONE: Mapping[str, Picture] = MappingProxyType({})
_read: WeakKeyDictionary[Game[Any], tuple[Mapping[str, Picture], Mapping[str, str]]] = WeakKeyDictionary()


def path_beside(game: Game[Any], name: str) -> Path | None:
    """Where a file or folder of this name stands beside the game's own file, if the game is in a file."""
    file = getattr(sys.modules.get(type(game).__module__), "__file__", None)
    return Path(file).with_name(name) if file else None


def board_folder(game: Game[Any]) -> Path | None:
    """The folder of a game's pictures, and of its board page: ``NAME-board`` beside its file."""
    folder = path_beside(game, f"{game.name}{FOLDER}")
    return folder if folder is not None and folder.is_dir() else None


def pictures_of(game: Game[Any]) -> Mapping[str, Picture]:
    """The pictures of a game by the names of their files; `Refused` says which file is wrong, and where."""
    return _pictures(game)[0]


def scene_of(game: Game[Any], state: Any, viewer: str | None) -> Scene:
    """What the game draws, with the addresses of its own pictures."""
    return with_pictures(game, game.scene(state, viewer))


def with_pictures(game: Game[Any], scene: Scene) -> Scene:
    """The scene with the addresses of the game's pictures."""
    addresses = _pictures(game)[1]
    is_scene = isinstance(scene, Scene)  # others are refused by whoever draws
    return scene if not is_scene or scene.pictures == addresses else replace(scene, pictures=addresses)


def _pictures(game: Game[Any]) -> tuple[Mapping[str, Picture], Mapping[str, str]]:
    known = _read.get(game)
    if known is None:
        folder = board_folder(game)
        pictures = NONE if folder is None else read_folder(game.name, folder)
        known = _read[game] = (pictures, {name: picture.address for name, picture in pictures.items()})
    return known


def read_folder(game: str, folder: Path) -> Mapping[str, Picture]:
    """The pictures in a folder; other files and folders in it are left alone."""
    files = sorted(file for file in folder.iterdir() if file.suffix.lower() in KINDS)
    if len(files) > MAX_PICTURES:
        raise _wrong(folder.name, f"expected at most {MAX_PICTURES} pictures, got {len(files)}")
    together = sum(_size(file) for file in files)
    if together > MAX_TOGETHER:
        raise _wrong(folder.name, f"expected at most {MAX_TOGETHER} bytes together, got {together}")
    return dict(_each(game, files))


def _size(file: Path) -> int:
    """The bytes of a file; one that is too large is not even read."""
    size = file.stat().st_size
    if size > MAX_BYTES:
        raise _wrong(_named(file), f"expected at most {MAX_BYTES} bytes, got {size}")
    return size


def _each(game: str, files: list[Path]) -> Iterator[tuple[str, Picture]]:
    for file in files:
        if not re.fullmatch(PICTURE, file.name):
            told = "expected a name of a-z, 0-9, - and _, at most 40 characters and .svg or .png"
            raise _wrong(_named(file), f"{told}, such as red-king.svg")
        kind, clean = KINDS[file.suffix]
        try:
            body = clean(file.read_bytes())
        except Refused as why:
            raise _wrong(_named(file), why.message) from None
        except OSError as error:
            raise _wrong(_named(file), f"cannot be read: {error.strerror or error}") from None
        mark = hashlib.sha256(body).hexdigest()[:HASH]
        yield file.name, Picture(body, kind, f"/pictures/{game}/{mark}/{file.name}")


def _named(file: Path) -> str:
    """A file as its author knows it; nobody else need know where the game is kept."""
    return f"{file.parent.name}/{file.name}"


def _wrong(where: str, why: str) -> Refused:
    joint = ", " if why.startswith("line ") else ": "
    return Refused(Code.GAME_ERROR, f"{where}{joint}{why}")

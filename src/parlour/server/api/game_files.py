"""Files that stand beside a game: its rules page, its texts in other languages."""

import re
from typing import Any

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.pictures import path_beside

LANGUAGE = r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$"
"""The code of a language as browsers write it: ``de``, ``pt-BR``."""


def text_beside(game: Game[Any], name: str) -> str:
    """The text of a file in the folder of the game's own; empty if there is none that can be read."""
    file = path_beside(game, name)
    try:
        return "" if file is None else file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def check_language(code: str) -> str:
    """The code of a language, which becomes a part of a file's name; anything else is refused.

    >>> check_language("de")
    'de'
    """
    if not re.match(LANGUAGE, code):
        raise Refused(Code.MALFORMED, f"expected the code of a language, such as de or pt-BR, got {code!r}")
    return code

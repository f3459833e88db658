"""Configs that make short games; which of many repeats are in ``make test``, and not ``make test-long``."""

from collections.abc import Iterable
from typing import Any

import pytest


def first_of(values: Iterable[Any], count: int = 1) -> list[Any]:
    """These values for a test's parameter, of which only the first few are in ``make test``."""
    return [
        value if at < count else pytest.param(value, marks=pytest.mark.long)
        for at, value in enumerate(values)
    ]


SMALL: dict[str, Any] = {
    "minesweeper": {"preset": "custom", "width": 5, "height": 4, "mines": 3},
    "backgammon": {"variant": "portes"},
    "goofspiel": {"players": 3, "cards": 5, "ties": "cancel"},
    "hearts": {"players": 3, "points": 0},
    "hex": {"size": 5},
    "stratego": {"preset": "ogetarts", "quiet_limit": 30},
}
"""Configs that make short games, for games that have long ones by default."""

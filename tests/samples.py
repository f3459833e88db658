"""Which of many repeats are in ``make test``; the others are for ``make test-long``."""

from collections.abc import Iterable
from typing import Any

import pytest


def first_of(values: Iterable[Any], count: int = 1) -> list[Any]:
    """These values for a test's parameter, of which only the first few are in ``make test``."""
    return [
        value if at < count else pytest.param(value, marks=pytest.mark.long)
        for at, value in enumerate(values)
    ]

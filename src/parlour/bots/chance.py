"""The bot for every game: it does anything that is legal."""

from collections.abc import Sequence
from typing import Any

from parlour.game import Chance


def choose_any(view: Any, legal: Sequence[Any], chance: Chance) -> Any:  # noqa: ARG001 - it does not look
    """One of them, each as likely as the others.

    >>> choose_any({}, [{"type": "pass"}], Chance(bytes(32), 0))
    {'type': 'pass'}
    """
    return chance.choice(legal)

"""Names in a game's class that are nearly, but not quite, those that Parlour looks for."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from parlour.checking.findings import Finding
from parlour.game import CALLBACKS, Game

DECLARED = tuple(Game.__annotations__)
CLOSE = 0.8
"""How alike two names are, from 0 to 1, before one is taken for a slip of the other."""


def misspelt_names(game: Game[Any]) -> Iterator[Finding]:
    """A finding for each name that looks like one of Parlour's, where the right one is not there."""
    own = [kind for kind in type(game).__mro__ if issubclass(kind, Game) and kind is not Game]
    there = {name for kind in own for name in vars(kind)}
    missing = [name for name in (*CALLBACKS, *DECLARED) if name not in there]
    for name in sorted(there - set(vars(Game)) - set(DECLARED)):
        if name.startswith("_"):
            continue
        for right in get_close_matches(name, missing, 1, CLOSE):
            yield Finding(
                f"{name} is never used: is {right} meant? Otherwise give it another name", name
            ).placed(game)

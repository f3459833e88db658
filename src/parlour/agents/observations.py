"""What a player sees as a row of numbers: by the game's own `observe`, or inferred from its views."""

import warnings
from collections.abc import Iterator
from itertools import chain
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.sim.play import chance_of, play_on
from parlour.sim.table import Table

Numbers = NDArray[np.float32]
SURVEYED = 5
SURVEYED_STEPS = 100
MOST_NUMBERS = 20_000


class Observer:
    """Makes the numbers of one game, always equally many."""

    def __init__(self, game: Game[Any], config: Any) -> None:
        self.game = game
        table = Table(game, config)
        self._paths: dict[str, dict[Any, int] | None] | None = None
        if game.observe(table.state, None) is None:
            warnings.warn(
                f"{game.name} has no observe: its numbers are inferred from some views, and may miss others",
                stacklevel=3,
            )
            self._paths = _survey(game, config)
        self.size = 0
        self.size = len(self.numbers(table, table.seats[0]))

    def numbers(self, table: Table, player: str | None) -> Numbers:
        """What this player sees now."""
        return self.row(table.state, player)

    def row(self, state: Any, player: str | None) -> Numbers:
        """The same of any state."""
        if self._paths is None:
            seen = self.game.observe(state, player) or {}
            row = np.array(list(chain.from_iterable(seen.values())), np.float32)
        else:
            row = _inferred(self._paths, msgspec.to_builtins(self.game.view(state, player)))
        if self.size and len(row) != self.size:
            why = f"{self.game.name}: expected {self.size} numbers of observe, got {len(row)}"
            raise Refused(Code.GAME_ERROR, why)
        return row


def _survey(game: Game[Any], config: Any) -> dict[str, dict[Any, int] | None]:
    """Where views have numbers (None), and where words, with a number for each."""
    paths: dict[str, dict[Any, int] | None] = {}
    for seed in range(SURVEYED):
        table, chance = Table(game, config, seed=seed), chance_of(seed)
        for _ in range(SURVEYED_STEPS):
            for player in table.seats:
                for path, value in _leaves(msgspec.to_builtins(game.view(table.state, player))):
                    if isinstance(value, str):
                        words = paths.get(path) or {}
                        words.setdefault(value, len(words))
                        paths[path] = words
                    else:
                        paths.setdefault(path, None)
            if table.outcome is not None or not (play_on(table, chance) or table.ring_timer()):
                break
    if (
        not 0
        < (size := sum(1 if words is None else len(words) + 1 for words in paths.values()))
        < MOST_NUMBERS
    ):
        why = f"{game.name}: expected 1 to {MOST_NUMBERS} numbers in a view, got {size}; give it observe"
        raise Refused(Code.GAME_ERROR, why)
    return paths


def _leaves(thing: Any, path: str = "$") -> Iterator[tuple[str, Any]]:
    if isinstance(thing, dict):
        for name, value in thing.items():
            yield from _leaves(value, f"{path}.{name}")
    elif isinstance(thing, list | tuple):
        for number, value in enumerate(thing):
            yield from _leaves(value, f"{path}[{number}]")
    elif thing is not None:
        yield path, thing


def _inferred(paths: dict[str, dict[Any, int] | None], view: Any) -> Numbers:
    """A number is x / (1 + |x|), a word is a 1 among 0s, the last of which is for words never seen before."""
    leaves, row = dict(_leaves(view)), list[float]()
    for path, words in paths.items():
        value = leaves.get(path)
        if words is None:
            number = float(value) if isinstance(value, int | float) else 0.0
            row.append(number / (1 + abs(number)))
        else:
            places = [0.0] * (len(words) + 1)
            if value is not None:
                places[words.get(value, len(words)) if isinstance(value, str) else len(words)] = 1.0
            row += places
    return np.array(row, np.float32)

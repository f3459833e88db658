"""What one move costs before anything is sent: the rules, and what every viewer sees of it. No server.

Games are played at random; each part is timed on the way, as CPU time of this process.
"""

import random
import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from parlour.game import Game
from parlour.games import GAMES
from parlour.scene import Scene, difference
from parlour.testing import Table, legal
from tests.contracts.soak import SORTS, speaking

MOVES = 3000
PARTS = ("rules", "views", "scenes", "patches")

T = TypeVar("T")
encode = msgspec.json.Encoder().encode


class Stopwatch:
    """Adds up the CPU time of what it is given to do."""

    def __init__(self) -> None:
        self.spent = dict.fromkeys(PARTS, 0.0)

    def time(self, part: str, do: Callable[[], T]) -> T:
        start = time.process_time_ns()
        done = do()
        self.spent[part] += (time.process_time_ns() - start) / 1000
        return done


def measure(game: Game[Any], config: Any) -> dict[str, float]:
    """Microseconds of CPU a move, part by part, with everybody in their seats and somebody watching."""
    rng, watch, moves, luck = random.Random(1), Stopwatch(), 0, 0
    while moves < MOVES:
        luck += 1
        table = Table(game, config, luck=luck)
        players = [f"player{seat}" for seat in range(len(table.room.seats))]
        table.sit(*players)
        scenes: dict[str | None, Scene] = {}
        while table.room.outcome is None and moves < MOVES:
            player, event = rng.choice(
                [(player, event) for player in players for event in legal(game, table.state, player)]
            )
            moves += 1
            move(table, watch, scenes, player, event)
    return {part: spent / moves for part, spent in watch.spent.items()}


def move(table: Table, watch: Stopwatch, scenes: dict[str | None, Scene], player: str, event: Any) -> None:
    """One move, and what comes of it for everybody."""
    game = table.game
    watch.time("rules", lambda: table.act(player, event))
    state = table.state
    for viewer in (*table.room.players, None):
        watch.time("views", lambda viewer=viewer: encode(game.view(state, viewer)))  # type: ignore[misc]
        scene = watch.time("scenes", lambda viewer=viewer: game.scene(state, viewer))  # type: ignore[misc]
        if (before := scenes.get(viewer)) is not None:
            watch.time("patches", lambda one=before, two=scene: encode(difference(one, two)))  # type: ignore[misc]
        scenes[viewer] = scene


def main() -> None:
    """The table, a line for each game."""
    sys.stdout.write(f"{'µs a move':20}{'viewers':>8}{''.join(f'{part:>10}' for part in PARTS)}{'all':>10}\n")
    for name in sys.argv[1:] or speaking():
        game = GAMES[name.partition("-")[0]]
        spent = measure(game, SORTS.get(name))
        figures = "".join(f"{spent[part]:10.0f}" for part in PARTS)
        sys.stdout.write(f"{name:20}{game.seats.stop:8}{figures}{sum(spent.values()):10.0f}\n")


if __name__ == "__main__":
    main()

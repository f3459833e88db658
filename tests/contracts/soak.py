"""Many games of random legal play; ``make soak``. Every registered game that says what is legal takes part.

Each game must come to an end, nothing may raise, no viewer may see what `resample` changes, and what was kept
must play again to the same room.
"""

import argparse
import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

from parlour.game import Game
from parlour.games import GAMES
from parlour.testing import chance_of, check_replay, check_state, full_table, play_to_end
from tests.samples import SMALL

BATCH = 25
LOOKS = 5
"""So often in a game everything that is seen is checked, besides at its end."""


SORTS: dict[str, Any] = {
    f"backgammon-{variant}": {"variant": variant} for variant in ("tavla", "portes", "plakoto", "fevga")
} | {"backgammon-tavli": {"variant": "tavli", "opening_dice": True}}
"""Games that are several: a game's name, a dash, and which."""


def speaking() -> list[str]:
    """The games that say what is legal, and their sorts."""
    games = [name for name, game in GAMES.items() if type(game).legal_events is not Game.legal_events]
    return [*games, *SORTS]


def play(name: str, seed: int) -> tuple[str, int]:
    """One game from the first move to the end: why it ended, and how many steps it took."""
    game = GAMES[name.partition("-")[0]]
    config = SMALL[name] if name in SMALL and seed % 2 else SORTS.get(name)
    table, chance = full_table(game, config, luck=seed), chance_of(seed)
    looks = {chance.below(1000) for _ in range(LOOKS)}

    def look() -> None:
        if len(table.steps) in looks:
            check_state(table, seed)

    outcome = play_to_end(table, chance, look)
    check_state(table, seed)
    check_replay(table)
    return outcome.why, len(table.steps)


def play_batch(name: str, first: int, count: int) -> tuple[Counter[str], int]:
    """Several games, one after the other: how often they ended why, and their steps."""
    reasons: Counter[str] = Counter()
    steps = 0
    for seed in range(first, first + count):
        try:
            why, taken = play(name, seed)
        except BaseException as bug:
            bug.add_note(f"(in game {seed}; again: python -m tests.contracts.soak {name} --seed {seed})")
            raise
        reasons[why] += 1
        steps += taken
    return reasons, steps


def soak(name: str, games: int, seed: int = 0) -> tuple[Counter[str], int]:
    """So many games on all cores: how often they ended why, and their steps."""
    firsts = range(seed, seed + games, BATCH)
    counts = [min(BATCH, seed + games - first) for first in firsts]
    reasons: Counter[str] = Counter()
    steps = 0
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for some, taken in pool.map(partial(play_batch, name), firsts, counts):
            reasons += some
            steps += taken
            if reasons.total() % 500 == 0:
                sys.stderr.write(f"{name}: {reasons.total()} of {games} games\n")
    return reasons, steps


def main() -> None:
    """Play, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="GAME", help="all that say what is legal, if none is named"
    )
    parser.add_argument("--games", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="of the first game")
    asked = parser.parse_args()
    for name in asked.names:
        if name not in speaking():
            parser.error(f"expected one of {', '.join(speaking())}, got {name}")
    for name in asked.names or speaking():
        reasons, steps = soak(name, asked.games, asked.seed)
        ends = ", ".join(f"{why}: {count}" for why, count in reasons.most_common())
        sys.stdout.write(f"{name}: {reasons.total()} games, {steps} steps, all replayed; {ends}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

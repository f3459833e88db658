"""Environments for agents beside PettingZoo's own, in one run: random legal play with observation and mask.

By CPU time; each pair takes turns, and the ratio is the median over the rounds.
"""

import statistics
import sys
from collections.abc import Callable
from contextlib import suppress
from time import process_time
from types import ModuleType
from typing import Any

import numpy as np
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from parlour.agents import aec_env
from parlour.bots.search import QuickChance, Tree
from parlour.games import GAMES
from parlour.position import Position
from parlour.sim import Table

STEPS = 4000
ROUNDS = 7


def play(env: Any, steps: int, seed: int) -> float:
    """Steps in a second of CPU."""
    generator, done = np.random.default_rng(seed), 0
    begin = process_time()
    while done < steps:
        env.reset(seed=seed + done)
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
            else:
                env.step(generator.choice(np.flatnonzero(observation["action_mask"])))
                done += 1
    return done / (process_time() - begin)


def look_ahead(simulations: int, seed: int) -> float:
    """Simulations of a search bot in a second of CPU, before the first move of noughts and crosses."""
    table = Table(GAMES["tictactoe"])
    tree = Tree(0, QuickChance(seed), None, 200, None)
    begin = process_time()
    tree.best(Position(table.game, table.state, table.seats), simulations)
    return simulations / (process_time() - begin)


def theirs(name: str) -> Callable[[], Any]:
    """PettingZoo's own game, which draws with pygame but plays without it."""
    with suppress(ImportError):
        __import__("pygame")
    sys.modules.setdefault("pygame", ModuleType("pygame"))
    import pettingzoo.classic.tictactoe.tictactoe as module  # noqa: PLC0415 - needs the line above

    make: Callable[[], Any] = getattr(module, name)
    return make


def compare(what: str, ours: Any, other: Any) -> None:
    """Both in turns, and one line about it."""
    play(ours, 200, 0), play(other, 200, 0)
    pairs = [(play(ours, STEPS, seed), play(other, STEPS, seed)) for seed in range(ROUNDS)]
    mine, their = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(one / two for one, two in pairs)
    sys.stdout.write(f"{what}: {mine:,.0f} steps/s, {their:,.0f} there, ratio {ratio:.2f}\n")


def main() -> None:
    """All comparisons, then our other games by themselves."""
    ours = aec_env("tictactoe", illegal="lose")
    compare("tictactoe beside PettingZoo's env()", ours, theirs("env")())
    wrapped = OrderEnforcingWrapper(AssertOutOfBoundsWrapper(TerminateIllegalWrapper(ours, -1)))
    compare("tictactoe in PettingZoo's wrappers beside PettingZoo's env()", wrapped, theirs("env")())
    compare("tictactoe beside PettingZoo's raw_env()", ours, theirs("raw_env")())
    for name, config, steps in (
        ("stratego", {"setup": "random"}, 3000),
        ("minesweeper", None, 3000),
        ("backgammon", {"variant": "tavla"}, 1500),
    ):
        env = aec_env(name, config, illegal="lose")
        play(env, 100, 0)
        rate = statistics.median(play(env, steps, seed) for seed in range(3))
        sys.stdout.write(f"{name}: {rate:,.0f} steps/s\n")
    rate = statistics.median(look_ahead(20_000, seed) for seed in range(3))
    sys.stdout.write(f"search in tictactoe: {rate:,.0f} simulations/s\n")


if __name__ == "__main__":
    main()

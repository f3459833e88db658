"""Environments for agents beside PettingZoo's and OpenSpiel's: random legal play with observation and mask.

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
import open_spiel.python.games  # noqa: F401 - registers those that are written in Python
from open_spiel.python import rl_environment
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from parlour.agents import aec_env
from parlour.bots.search import QuickChance, Tree
from parlour.games import GAMES
from parlour.position import Position
from parlour.sim import Table

STEPS = 4000
ROUNDS = 7
GAMES_EACH = 20
"""Games of a round: one of random play is up to ten times as long as another."""
Play = Callable[[Any, int, np.random.Generator], int]


def play_game(env: Any, seed: int, generator: np.random.Generator) -> int:
    """One game in an environment of PettingZoo's kind; how many steps it took."""
    done = 0
    env.reset(seed=seed)
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
        else:
            legal = np.flatnonzero(observation["action_mask"])
            env.step(legal[generator.integers(len(legal))])
            done += 1
    return done


def play_spiel_game(env: Any, seed: int, generator: np.random.Generator) -> int:
    """One game in OpenSpiel's own environment; how many steps it took."""
    done = 0
    env.seed(seed)
    step = env.reset()
    while not step.last():
        legal = step.observations["legal_actions"][step.observations["current_player"]]
        step = env.step([legal[generator.integers(len(legal))]])
        done += 1
    return done


def play(env: Any, steps: int, seed: int, play_one: Play = play_game) -> float:
    """Steps in a second of CPU."""
    generator, done = np.random.default_rng(seed), 0
    begin = process_time()
    while done < steps:
        done += play_one(env, seed + done, generator)
    return done / (process_time() - begin)


def play_games(env: Any, games: int, seed: int, play_one: Play = play_game) -> float:
    """Games in a second of CPU."""
    generator = np.random.default_rng(seed)
    begin = process_time()
    for number in range(games):
        play_one(env, seed + number, generator)
    return games / (process_time() - begin)


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


def compare_with_spiel() -> None:
    """Beside OpenSpiel's own environment: noughts and crosses in its Python, backgammon in its C++."""
    ours, their = aec_env("tictactoe", illegal="lose"), rl_environment.Environment("python_tic_tac_toe")
    pairs = [(play(ours, STEPS, seed), play(their, STEPS, seed, play_spiel_game)) for seed in range(ROUNDS)]
    report("tictactoe beside OpenSpiel's Python game", "steps/s", pairs)
    ours, their = aec_env("backgammon", {"variant": "tavla"}), rl_environment.Environment("backgammon")
    pairs = [
        (play_games(ours, GAMES_EACH, seed), play_games(their, GAMES_EACH, seed, play_spiel_game))
        for seed in range(0, ROUNDS * GAMES_EACH, GAMES_EACH)
    ]
    report("tavla beside OpenSpiel's C++ backgammon", "games/s", pairs)


def report(what: str, unit: str, pairs: list[tuple[float, float]]) -> None:
    """One line about two that took turns."""
    mine, their = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(one / two for one, two in pairs)
    sys.stdout.write(f"{what}: {mine:,.0f} {unit}, {their:,.0f} there, ratio {ratio:.2f}\n")


def compare(what: str, ours: Any, other: Any) -> None:
    """Both in turns, and one line about it."""
    play(ours, 200, 0), play(other, 200, 0)
    pairs = [(play(ours, STEPS, seed), play(other, STEPS, seed)) for seed in range(ROUNDS)]
    report(what, "steps/s", pairs)


def main() -> None:
    """All comparisons, then our other games by themselves."""
    ours = aec_env("tictactoe", illegal="lose")
    compare("tictactoe beside PettingZoo's env()", ours, theirs("env")())
    wrapped = OrderEnforcingWrapper(AssertOutOfBoundsWrapper(TerminateIllegalWrapper(ours, -1)))
    compare("tictactoe in PettingZoo's wrappers beside PettingZoo's env()", wrapped, theirs("env")())
    compare("tictactoe beside PettingZoo's raw_env()", ours, theirs("raw_env")())
    compare_with_spiel()
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

"""A program that teaches itself backgammon and its relatives: TD(lambda) by self-play, as in TD-Gammon.

    python examples/td_backgammon.py --variant plakoto --games 3000
    parlour simulate backgammon --bots examples.td_backgammon:play,hard

A small network says how likely the side that has just moved wins. It plays both sides by the rules of the
server, takes the move after which it thinks best of its board, and after each game moves what it thought
of every board towards what it thought later, and in the end towards who won.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from parlour.bots.backgammon.levels import board_of, each_end, first_move, play_ahead
from parlour.game import Bot, Chance
from parlour.games.backgammon.board import Board
from parlour.games.backgammon.moves import rolled
from parlour.games.backgammon.variants import BAR, CHECKERS, OFF, VARIANTS

WEIGHTS = Path("td_backgammon")
"""The folder, where one stands, in which trained networks are kept."""
KINDS = {"backgammon": "tavla", "portes": "tavla"}
"""These move as another variant does, and have one network with it."""
HIDDEN = 40
LAMBDA = 0.7
RATE = 0.003
"""About how far a weight moves after a game at first; at the end of the training it is a tenth of that."""
MEAN, SQUARE = 0.9, 0.998
"""How much of them Adam remembers from game to game."""
POINT = np.array([[n >= 1, n >= 2, n >= 3, max(0, n - 3) / 2] for n in range(CHECKERS + 1)], dtype=np.float32)
"""What so many checkers on a point are to the network."""


class Layer:
    """Weights that learn by Adam: each at its own pace, by how its slopes were so far."""

    def __init__(self, weights: np.ndarray) -> None:
        self.weights = weights.astype(np.float32)
        self.mean, self.square = np.zeros_like(self.weights), np.zeros_like(self.weights)
        self.steps = 0

    def climb(self, slope: np.ndarray, rate: float) -> None:
        """Go up the slope."""
        self.steps += 1
        self.mean += (1 - MEAN) * (slope - self.mean)
        self.square += (1 - SQUARE) * (slope**2 - self.square)
        far = np.sqrt(self.square / (1 - SQUARE**self.steps)) + 1e-3
        self.weights += rate * self.mean / (1 - MEAN**self.steps) / far


class Network:
    """Two layers: from boards to how likely whoever has just moved wins."""

    def __init__(self, first: np.ndarray, second: np.ndarray) -> None:
        self.first, self.second = Layer(first), Layer(second)

    @classmethod
    def new(cls, variant: str, seed: int) -> "Network":
        """One that knows nothing yet."""
        inputs, luck = features([Board.start(variant)], 0).shape[1], np.random.default_rng(seed)
        return cls(luck.uniform(-0.1, 0.1, (inputs, HIDDEN)), luck.uniform(-0.1, 0.1, HIDDEN))

    @classmethod
    def load(cls, path: Path) -> "Network":
        with np.load(path) as kept:
            return cls(kept["first"], kept["second"])

    def save(self, path: Path) -> None:
        np.savez(path, first=self.first.weights, second=self.second.weights)

    def judge(self, rows: np.ndarray) -> np.ndarray:
        """How likely each board is won by the side that it was made a row of `features` for."""
        return self._think(rows)[1]

    def learn(self, rows: np.ndarray, targets: np.ndarray, rate: float) -> None:
        """Move what is thought of these boards towards the targets."""
        hidden, wins = self._think(rows)
        error = targets - wins  # the slope of the cross-entropy
        back = error[:, None] * self.second.weights * hidden * (1 - hidden)
        self.first.climb(rows.T @ back, rate)
        self.second.climb(error @ hidden, rate)

    def _think(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        hidden = _sigmoid(rows @ self.first.weights)
        return hidden, _sigmoid(hidden @ self.second.weights)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    squeezed: np.ndarray = 1 / (1 + np.exp(-x))
    return squeezed


def features(boards: Sequence[Board], side: int) -> np.ndarray:
    """Boards as rows of numbers, the own side first; everything in them is open to both players."""
    counts = np.array([(board.counts[side], board.counts[1 - side]) for board in boards])
    parts = [
        POINT[counts[:, :, 1:BAR]].reshape(len(boards), -1),
        counts[:, :, BAR] / 2,
        counts[:, :, OFF] / CHECKERS,
        np.ones((len(boards), 1)),
    ]
    if boards[0].variant == "plakoto":
        pins = np.zeros((len(boards), 2, BAR))
        for row, board in enumerate(boards):
            for whose in (0, 1):
                pins[row, whose ^ side, list(board.pinned[whose])] = 1
        parts.append(pins[:, :, 1:].reshape(len(boards), -1))
    return np.concatenate(parts, axis=1, dtype=np.float32)


def train(variant: str, games: int, seed: int = 0, heard: Callable[[int], None] = lambda _: None) -> Network:
    """A network after so many games against itself; *heard* is told after each how many there were."""
    network = Network.new(variant, seed)
    for number in range(games):
        rows, result = self_play(network, variant, Chance(seed.to_bytes(32), number))
        network.learn(rows, _targets(network.judge(rows), result), RATE * (1 - 0.9 * number / games))
        heard(number + 1)
    return network


def self_play(network: Network, variant: str, chance: Chance) -> tuple[np.ndarray, float]:
    """A game against itself: the boards after each turn, and what the last was to the side that made it."""
    board, side, seen = Board.start(variant), chance.below(2), []
    while not board.drawn and board.winner() is None:
        after = [end for _, end in each_end(board, side, rolled(chance.die(), chance.die()))] or [board]
        rows = features(after, side)
        best = int(np.argmax(network.judge(rows)))
        board, side = after[best], 1 - side
        seen.append(rows[best])
    return np.array(seen), 0.5 if board.drawn else 1.0


def _targets(wins: np.ndarray, result: float) -> np.ndarray:
    """What should have been thought of each board: a mix of all that was thought later, and the result."""
    targets = np.full_like(wins, result)
    for turn in range(len(wins) - 2, -1, -1):  # the board after this one is the other side's
        targets[turn] = 1 - (LAMBDA * targets[turn + 1] + (1 - LAMBDA) * wins[turn + 1])
    return targets


def bot(network: Network) -> Bot:
    """A player who moves by what the network thinks, and doubles and answers as `hard` does."""

    def answer(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
        if not any(event["type"] == "move" for event in legal):
            return play_ahead(view, legal, chance)
        found = list(each_end(board_of(view), view["you"], tuple(view["left"])))
        wins = network.judge(features([end for _, end in found], view["you"]))
        return first_move(legal, chance, found[int(np.argmax(wins))][0])

    return answer


@cache
def _kept(variant: str) -> Bot:
    path = WEIGHTS / f"{KINDS.get(variant, variant)}.npz"
    if not path.exists():
        raise FileNotFoundError(f"{path}: train it first, by make train")
    return bot(Network.load(path))


def play(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """The bot by what was trained last: ``parlour simulate ... --bots examples.td_backgammon:play,hard``."""
    return _kept(view["variant"])(view, legal, chance)


def main() -> None:
    """Train by the command line, and keep the weights."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("--variant", choices=VARIANTS, default="tavla")
    asked.add_argument("--games", type=int, default=3000)
    asked.add_argument("--seed", type=int, default=0)
    given = asked.parse_args()
    if given.games < 1 or given.seed < 0:
        asked.error("expected at least one game, and a seed that is not negative")

    def heard(number: int) -> None:
        if number % 100 == 0 or number == given.games:
            sys.stderr.write(f"\r{given.variant}: {number:,} of {given.games:,} games")

    WEIGHTS.mkdir(exist_ok=True)
    path = WEIGHTS / f"{KINDS.get(given.variant, given.variant)}.npz"
    train(given.variant, given.games, given.seed, heard).save(path)
    sys.stderr.write(f"; kept in {path}\n")


if __name__ == "__main__":
    main()

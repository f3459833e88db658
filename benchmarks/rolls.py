"""What it takes to list all ways to play a roll, over positions of random play; `python -m benchmarks.rolls`.

Times are CPU of this thread, so that a busy machine hurts less. Beside them is their ratio to a fixed loop of
plain Python that is timed in between; it can be compared between machines. Sizes are of the list in a view.
"""

import random
import statistics
import sys
from collections.abc import Iterator, Sequence
from time import thread_time

import msgspec

from parlour.games.backgammon.board import Board
from parlour.games.backgammon.moves import Dice, rolled, ways
from parlour.games.backgammon.notation import listed
from parlour.games.backgammon.variants import VARIANTS

GAMES = 150
EVERY = 50
"""After so many rolls the loop is timed."""
GOALS = "goals on an idle core: median 0.3 ms, p99 4 ms; list p99.9 64 KB, at most 128 KB"

Roll = tuple[Board, int, Dice]


def reference() -> int:
    """Something that is always the same."""
    total = 0
    for number in range(10_000):
        total += number * number % 7
    return total


def rolls(variant: str, rng: random.Random) -> Iterator[Roll]:
    """Every roll of some games of random play."""
    for _ in range(GAMES):
        board, side = Board.start(variant), 0
        while board.winner() is None and not board.drawn:
            dice = rolled(rng.randint(1, 6), rng.randint(1, 6))
            yield board, side, dice
            found = ways(board, side, dice)
            for step in rng.choice(found) if found else ():
                board = board.play(side, step)
            side = 1 - side


def at(values: Sequence[float], share: float) -> float:
    """The value that this share of them does not exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def measure(variant: str) -> str:
    """One line of the table."""
    times: list[float] = []
    loops: list[float] = []
    sizes: list[float] = []
    for number, (board, side, dice) in enumerate(rolls(variant, random.Random(variant))):
        begin = thread_time()
        found = ways.__wrapped__(board, side, dice)  # not what was found before
        times.append(1000 * (thread_time() - begin))
        sizes.append(len(msgspec.json.encode([listed(way) for way in found])) / 1024)
        if number % EVERY == 0:
            begin = thread_time()
            reference()
            loops.append(1000 * (thread_time() - begin))
    loop = statistics.median(loops)
    shown = [at(times, 0.5), at(times, 0.99), max(times)]
    cells = [f"{value:8.3f} {value / loop:6.2f}" for value in shown]
    cells += [f"{value:8.1f}" for value in (at(sizes, 0.5), at(sizes, 0.999), max(sizes))]
    return f"{variant:<12}{len(times):>7}{loop:8.3f}  " + "".join(cells)


def main() -> None:
    """Measure every variant."""
    say = sys.stdout.write
    say("ms of CPU to list all ways to play a roll, and how often the loop that is; KB of the list\n")
    say(f"{'':12}{'rolls':>7}{'loop':>8}  {'median':>8} {'x':>6}{'p99':>8} {'x':>6}{'max':>8} {'x':>6}")
    say(f"{'KB p50':>8}{'p99.9':>8}{'max':>8}\n")
    for variant in VARIANTS:
        say(measure(variant) + "\n")
        sys.stdout.flush()
    say(GOALS + "\n")


if __name__ == "__main__":
    main()

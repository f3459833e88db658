"""How much better each bot is than the one below: a sequential test to 95 % for each, in all cores at once.

A share of wins is shown when, were it only the target, luck would bring as much for it in one case of twenty
at most (Wald's test of the target against ten points more; a draw counts a half). Beside it stands the answer
that took longest, in seconds of CPU.
"""

import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from math import log
from typing import NamedTuple

from tests.bots.arena import NONE, Answer, Meeting, family

VARIANTS = ("backgammon", "plakoto", "fevga")
TARGETS: tuple[tuple[Meeting, float], ...] = (
    *((family(variant, "hard", "medium"), 0.55) for variant in VARIANTS),
    *((family(variant, "medium", "easy"), 0.60) for variant in VARIANTS),
    (Meeting("stratego", {"preset": "ogetarts"}, "sensible", "random"), 0.70),
    (Meeting("hex", {}, "casual", "random"), 0.80),
    (Meeting("hex", {"size": 7}, "thoughtful", "random"), 0.80),
    (Meeting("goofspiel", {}, "fair", "random"), 0.70),
    (Meeting("goofspiel", {"players": 4}, "fair", "random"), 0.50),
    (Meeting("hearts", {}, "casual", "random"), 0.50),
    (Meeting("hearts", {}, "sensible", "random"), 0.60),
)
ENOUGH = log(0.95 / 0.05)
MORE = 0.10
MOST = 2000
FIRST = 100_000
"""The luck of the first game: none of these is played in the suite, nor was when the bots were made."""
PATIENCE = 2.0
"""So long may an answer take."""


class Verdict(NamedTuple):
    """What came of a test; None: no end in sight."""

    shown: bool | None
    won: float
    games: int
    slowest: Answer


def sequential(meeting: Meeting, target: float) -> Verdict:
    """Play until it is clear whether the share of wins is above the target."""
    evidence, won, slowest = 0.0, 0.0, NONE
    high = target + MORE
    for number in range(1, MOST + 1):
        win, answer = meeting.play(FIRST + number)
        won += win
        slowest = max(slowest, answer, key=lambda one: one.seconds)
        evidence += win * log(high / target) + (1 - win) * log((1 - high) / (1 - target))
        if abs(evidence) >= ENOUGH:
            return Verdict(evidence > 0, won, number, slowest)
    return Verdict(None, won, MOST, slowest)


def told(meeting: Meeting, target: float, verdict: Verdict) -> str:
    """A line or two about a test."""
    said = {True: "shown", False: "NOT SHOWN", None: "undecided"}[verdict.shown]
    what = meeting.config.get("variant", meeting.game)
    if players := meeting.config.get("players"):
        what += f" for {players}"
    slowest = verdict.slowest
    line = (
        f"{what}: {meeting.better} beats {meeting.worse} in {verdict.won:g} of {verdict.games} "
        f"({verdict.won / verdict.games:.0%}); more than {target:.0%} {said}; "
        f"slowest answer {slowest.seconds:.2f} s ({slowest.bot})"
    )
    if slowest.seconds > PATIENCE:
        line += f"\nTOO SLOW: {slowest.view}"
    return line


def main() -> int:
    """All tests; 0 if all is shown and nobody is too slow."""
    fine = True
    with ProcessPoolExecutor() as cores:
        running = {cores.submit(sequential, *test): test for test in TARGETS}
        for done in as_completed(running):
            verdict = done.result()
            fine = fine and verdict.shown is True and verdict.slowest.seconds <= PATIENCE
            sys.stdout.write(told(*running[done], verdict) + "\n")
            sys.stdout.flush()
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())

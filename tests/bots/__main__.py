"""How much better each level is than the one below: a sequential test to 95 % for each variant."""

import sys
from math import log

from tests.bots.arena import wins

TARGETS = (("medium", "easy", 0.60), ("hard", "medium", 0.55))
VARIANTS = ("backgammon", "plakoto", "fevga")
ENOUGH = log(0.95 / 0.05)
WIDTH = 0.05
MOST = 2000


def sequential(variant: str, better: str, worse: str, target: float) -> tuple[bool | None, int, int]:
    """Whether the share of wins is the target or more, against the target less five points."""
    evidence, won = 0.0, 0
    for luck in range(MOST):
        win = wins(variant, better, worse, luck)
        won += win
        low = target - WIDTH
        evidence += log(target / low) if win else log((1 - target) / (1 - low))
        if abs(evidence) >= ENOUGH:
            return evidence > 0, won, luck + 1
    return None, won, MOST


if __name__ == "__main__":
    for better, worse, target in TARGETS:
        for variant in VARIANTS:
            shown, won, games = sequential(variant, better, worse, target)
            said = {True: "shown", False: "NOT SHOWN", None: "undecided"}[shown]
            sys.stdout.write(
                f"{variant}: {better} beats {worse} in {won} of {games} ({won / games:.0%}); "
                f"{target:.0%} {said}\n"
            )
            sys.stdout.flush()

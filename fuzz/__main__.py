"""python -m fuzz [--runs N | --seconds S] [--seed N] [TARGET...]: the plain way, with changed seeds."""

import argparse
import sys
import time
from itertools import islice

from fuzz.mutate import inputs
from fuzz.target import Target
from fuzz.targets import TARGETS


class Broken(AssertionError):
    """A target raised what it may not; says on which input."""

    def __init__(self, target: Target, data: bytes) -> None:
        super().__init__(f"{target.name} failed on {data!r}")


def run(target: Target, *, runs: int | None, seconds: float = 600.0, seed: int = 1) -> int:
    """How many inputs were read, none of which broke anything."""
    end, count = time.monotonic() + seconds, 0
    for data in islice(inputs(target.seeds, seed), runs):
        if time.monotonic() > end:
            break
        try:
            target.read(data)
        except Exception as error:
            raise Broken(target, data) from error
        count += 1
    return count


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help="; ".join(TARGETS))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.list:
        sys.exit(print("\n".join(TARGETS)))
    for name in options.targets or TARGETS:
        count = run(TARGETS[name], runs=options.runs, seconds=options.seconds, seed=options.seed)
        print(f"{name:24}{count:>12,} inputs", flush=True)


if __name__ == "__main__":
    main()

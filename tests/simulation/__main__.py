"""Simulate a cluster: `python -m tests.simulation`, or with `--seed N` one schedule of it, with a trace."""

import os
import sys
from collections.abc import Iterator
from multiprocessing import Pool
from time import monotonic
from typing import Annotated

import typer

from tests.simulation.plants import PLANTS
from tests.simulation.schedule import Verdict, run

AT_ONCE = 25
"""Schedules that a process is given at a time."""
SIGN_OF_LIFE = 10.0
"""Seconds between two lines about how far it is."""


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run_some(job: tuple[range, str]) -> list[Verdict]:
    """Run some schedules; of those that went well only the figures count."""
    seeds, plant = job
    return [run(seed, plant=PLANTS.get(plant)) for seed in seeds]


def verdicts(seeds: range, plant: str, processes: int) -> Iterator[Verdict]:
    """The verdicts on all these schedules, by several processes, in the order of the seeds."""
    jobs = [(seeds[at : at + AT_ONCE], plant) for at in range(0, len(seeds), AT_ONCE)]
    if processes == 1:
        for job in jobs:
            yield from run_some(job)
        return
    with Pool(processes) as pool:
        for some in pool.imap(run_some, jobs):
            yield from some


def tell(verdict: Verdict) -> None:
    say(f"seed {verdict.seed}: {len(verdict.broken)} rules broken; --seed {verdict.seed} shows how")
    for rule in verdict.broken[:5]:
        say(f"    {rule[:400]}")


def simulate(
    schedules: int = 100_000,
    first: int = 0,
    seed: Annotated[int | None, typer.Option(help="Run only this one, and tell all of it.")] = None,
    plant: Annotated[str, typer.Option(help=f"A fault to plant: {', '.join(PLANTS)}.")] = "",
    processes: int = os.cpu_count() or 1,
) -> None:
    """Run schedules in which everything goes wrong; the exit code says whether all rules were kept."""
    if plant and plant not in PLANTS:
        raise typer.BadParameter(f"expected one of {', '.join(PLANTS)}, got {plant}")
    if seed is not None:
        verdict = run(seed, trace=say, plant=PLANTS.get(plant))
        tell(verdict)
        raise typer.Exit(bool(verdict.broken))
    raise typer.Exit(run_all(range(first, first + schedules), plant, processes))


def run_all(seeds: range, plant: str, processes: int) -> int:
    """Run all schedules, or until a planted fault is found; returns how many broke a rule."""
    began = told = monotonic()
    broken = steps = done = 0
    for verdict in verdicts(seeds, plant, processes):
        done, steps = done + 1, steps + verdict.steps
        if verdict.broken:
            broken += 1
            tell(verdict)
            if plant:
                say(f"found after {done} schedules")
                return 1
        if monotonic() - told > SIGN_OF_LIFE:
            told = monotonic()
            rate = done / (told - began)
            say(f"  {done:,} schedules, {rate:.0f} a second, {steps:,} steps, {broken} broken")
    seconds = monotonic() - began
    say(f"{done:,} schedules in {seconds:.0f} s, {steps:,} steps: {broken} broke a rule")
    return min(broken, 1)


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":  # the order of sets must be the same in each run
        command = [sys.executable, "-m", "tests.simulation", *sys.argv[1:]]
        os.execve(sys.executable, command, {**os.environ, "PYTHONHASHSEED": "0"})
    typer.run(simulate)

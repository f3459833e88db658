"""The long attack: `python -m tests.attack [NAME ...]`; the exit code says whether everything held."""

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from tests.attack.arena import HEADING, MB, WAITED, attack, told
from tests.attack.faults import FAULTS
from tests.attack.hostile import ATTACKS

TRIES = 3
"""A machine that stands still for a moment is no fault of ours: whoever made others wait does so again."""


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def hurts(name: str, amount: int) -> list[str]:
    """What this attack does that it must not; told row by row."""
    faults = [WAITED]
    for _ in range(TRIES):
        if faults != [WAITED]:
            break
        with tempfile.TemporaryDirectory() as folder:
            row = asyncio.run(attack(name, Path(folder) / "attacked", amount))
        say(told(row))
        faults = row.faults
    return faults


def main(names: Annotated[list[str] | None, typer.Argument()] = None, megabytes: int = 100) -> None:
    """Attack a server in every way there is, or in those that are named; people play beside it."""
    every = [*ATTACKS, *FAULTS]
    chosen = [name for name in every if not names or any(word in name for word in names)]
    say(HEADING)
    failed = [name for name in chosen if hurts(name, megabytes * MB)]
    say(f"{len(chosen) - len(failed)} of {len(chosen)} attacks hurt nobody")
    raise typer.Exit(1 if failed else 0)


if __name__ == "__main__":
    typer.run(main)

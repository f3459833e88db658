"""Instructions of one move: `python -m benchmarks.count [COMMIT]`, beside those of another commit.

Valgrind counts what the server's process does in user space. One move is made at a time, each written by
itself, so that the figure depends little on what else the machine does (in memory 1 %, on disk 10 %, as the
thread that writes also does what is due once a second); where many play at once, a move costs less. Both are
counted in one run with one interpreter and the same packages.
"""

import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.moves import DRAW, ParlourMatch, play_all
from benchmarks.servers import HERE, Server, interpreter

MATCHES = 24
"""Matches that are counted, after as many to warm up."""
REST = 10.0
"""Seconds in which a server that was just started has looked through what it keeps."""
JOURNALS = {"memory": ("--journal", "memory"), "disk": ("--journal", "sqlite", "--durability", "disk")}
TOTAL = re.compile(r"^(?:totals|summary): (\d+)", re.MULTILINE)


def count(source: Path, journal: str) -> float:
    """Instructions of one move: heard, thought, kept, told to both."""
    valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=counted"]
    serve = [interpreter(), "-m", "parlour", "serve", "--port", "0", "--data", "data", *JOURNALS[journal]]
    packages = os.pathsep.join((str(source), sysconfig.get_path("purelib")))
    with Server("parlour", [*valgrind, *serve], {"PYTHONPATH": packages}, patience=120) as server:
        play_all([ParlourMatch(server.port) for _ in range(MATCHES)], at_once=1).close()
        matches = [ParlourMatch(server.port) for _ in range(MATCHES)]
        time.sleep(REST)
        control(server, "on")
        crowd = play_all(list(matches), at_once=1)
        control(server, "off")
        crowd.close()
        subprocess.run(["callgrind_control", "--dump", str(server.pid)], check=True, capture_output=True)
        files = sorted(server.folder.glob("counted*"))
        total = sum(int(found[1]) for file in files for found in TOTAL.finditer(file.read_text())
                    if found[0].startswith("totals"))  # fmt: skip
    return total / (MATCHES * len(DRAW))


def control(server: Server, state: str) -> None:
    """Begin or end counting."""
    subprocess.run(["callgrind_control", "-i", state, str(server.pid)], check=True, capture_output=True)


@contextmanager
def sources(commit: str) -> Iterator[Path]:
    """The package as it was at a commit."""
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder) / "then"
        git = ["git", "-C", str(HERE.parent), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(there), commit], check=True)
        try:
            yield there / "src"
        finally:
            subprocess.run([*git, "remove", "--force", str(there)], check=True)


def main() -> None:
    """Count a move on both journals, now and at the commit that is named."""
    for journal in JOURNALS:
        now = count(HERE.parent / "src", journal)
        line = f"{journal:8}{now:12,.0f} instructions a move"
        if len(sys.argv) > 1:
            with sources(sys.argv[1]) as then:
                before = count(then, journal)
            line += f", {before:,.0f} at {sys.argv[1]}: {now / before:.3f}"
        print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()

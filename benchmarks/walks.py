"""How one thing walks through the code, as traced: `python -m benchmarks.walks [COMMIT] [--files] [--calls]`.

A real server runs under a tracer (`benchmarks.traced`) and is driven over real sockets, so that nothing here
knows how Parlour is made inside, and another commit can be traced beside this one. Of each walk is printed:

- **calls** of Python functions of ours. One that goes on where it had awaited is not called again, and
  comprehensions are no functions.
- **functions**: how many different ones these are, and **files**: in how many files of ours.
- **changes**: how often the file that executes changes, from one function of ours to the next, by calls,
  returns and resumptions alike; what is not ours in between does not count. Each thread counts by itself.

What happens once a second may fall into any of the traces, and no two rolls of dice are alike: of several
traces the one in the middle is shown, by its number of calls. The least and the most stand beside it.
"""

import argparse
import os
import signal
import sys
import sysconfig
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks import strolls
from benchmarks.count import sources
from benchmarks.servers import HERE, PATIENCE, Server

QUIET = 0.03
"""Seconds in which a server that has told everybody has also put everything away."""


class Entry(NamedTuple):
    """Something that the tracer saw."""

    thread: str
    kind: str
    file: str
    function: str


class Trace:
    """One walk."""

    def __init__(self, entries: list[Entry]) -> None:
        self.calls: list[tuple[int, Entry]] = []
        """Each call, with how many functions of ours it is inside of."""
        self.changes = 0
        threads: dict[str, list[Entry]] = {}
        for entry in entries:
            threads.setdefault(entry.thread, []).append(entry)
        for of_thread in threads.values():
            self._follow(of_thread)
        self.functions = len({(entry.file, entry.function) for _, entry in self.calls})
        self.files = Counter(entry.file for _, entry in self.calls)
        """How many calls in each file, in the order in which they are come to."""

    def _follow(self, entries: list[Entry]) -> None:
        inside: list[str] = []
        executing: str | None = None
        for entry in entries:
            if entry.kind == "return":
                if not inside:  # it was called before the trace began
                    continue
                inside.pop()
                now = inside[-1] if inside else executing
            else:
                if entry.kind == "call":
                    self.calls.append((len(inside), entry))
                inside.append(entry.file)
                now = entry.file
            self.changes += executing not in (None, now)
            executing = now


class Traced(Server):
    """A server under the tracer."""

    def __init__(self, packages: str, data: Path, options: tuple[str, ...]) -> None:
        traced = [sys.executable, "-P", str(HERE / "traced.py"), "."]
        serve = ["serve", "--port", "0", "--data", str(data), "--ping-every", "600", *options]
        super().__init__("parlour", [*traced, *serve], {"PYTHONPATH": packages}, patience=60)
        self.traces: list[Trace] = []

    @contextmanager
    def trace(self) -> Iterator[None]:
        """Trace what is done inside, to the end."""
        self._signal(signal.SIGUSR1, "begun")
        yield
        time.sleep(QUIET)
        self._signal(signal.SIGUSR2, "trace")
        lines = (self.folder / "trace").read_text().splitlines()
        self.traces.append(Trace([Entry(*line.split(maxsplit=3)) for line in lines]))

    def _signal(self, number: signal.Signals, answer: str) -> None:
        """Signal, and wait for the file by which it is answered."""
        file = self.folder / answer
        file.unlink(missing_ok=True)
        os.kill(self.pid, number)
        end = time.monotonic() + PATIENCE
        while not file.exists():
            if time.monotonic() > end:
                raise TimeoutError(f"the server did not answer {number.name}")
            time.sleep(0.001)


class Walk(NamedTuple):
    """What is traced, and on what kind of server."""

    stroll: strolls.Stroll
    options: tuple[str, ...]
    before: Callable[[int], list[strolls.Left]] | None = None
    """What is done at a server that is then stopped, and started again with what it kept."""


MEMORY = ("--journal", "memory")
DISK = ("--journal", "sqlite", "--durability", "disk")
WALKS = {
    "move, in memory": Walk(strolls.move, MEMORY),
    "move, on disk": Walk(strolls.move, DISK),
    "join": Walk(strolls.join, DISK),
    "GammonX move": Walk(strolls.gammonx, DISK),
    "pairing": Walk(strolls.pairing, DISK),
    "restart": Walk(strolls.knock, DISK, strolls.leave_rooms),
    "relay message": Walk(strolls.relay, MEMORY),
}


def take(walk: Walk, packages: str) -> list[Trace]:
    """Walk it several times; the traces, the shortest first."""
    with tempfile.TemporaryDirectory() as data:
        rooms: list[strolls.Left] = []
        if walk.before is not None:
            with Traced(packages, Path(data), walk.options) as server:
                rooms = walk.before(server.port)
        with Traced(packages, Path(data), walk.options) as server:
            walk.stroll(server.port, server.trace, rooms)
            return sorted(server.traces, key=lambda trace: (len(trace.calls), trace.changes))


@contextmanager
def packages_of(commit: str | None) -> Iterator[str]:
    """Where Python finds Parlour as it is here or was at a commit, and all that it needs."""
    site = sysconfig.get_path("purelib")
    if commit is None:
        yield os.pathsep.join((str(HERE.parent / "src"), site))
        return
    with sources(commit) as source:
        register(source)
        yield os.pathsep.join((str(source), site))


def register(source: Path) -> None:
    """Write down which games and bots this commit brings, as installing it would."""
    project = tomllib.loads((source.parent / "pyproject.toml").read_text())["project"]
    info = source / "parlour-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: parlour\nVersion: 0\n")
    groups = {**project.get("entry-points", {}), "console_scripts": project.get("scripts", {})}
    lines = (
        line
        for group, entries in groups.items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in entries.items()))
    )
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


def show(name: str, traces: list[Trace], *, files: bool, calls: bool) -> None:
    """Print a walk, and if asked its files or its calls."""
    trace = traces[(len(traces) - 1) // 2]
    least, most = len(traces[0].calls), len(traces[-1].calls)
    spread = f" ({least} to {most})" if least != most else ""
    say(f"{name:28}{len(trace.calls):6}{spread:16}{trace.functions:10}{len(trace.files):8}{trace.changes:10}")
    if files:
        for file, count in trace.files.items():
            say(f"    {file:44}{count:4}")
    if calls:
        for depth, entry in trace.calls:
            say(f"    {entry.file:44}{'  ' * depth}{entry.function}")


def say(line: str) -> None:
    """Print at once, since a run takes a minute."""
    print(line, flush=True)  # noqa: T201


def main() -> None:
    """Trace every walk, or those whose names have a word in them, here and at the commit that is named."""
    parser = argparse.ArgumentParser(
        prog="scripts/trace-walks", description="How one thing walks through the code."
    )
    parser.add_argument("commit", nargs="?", help="a commit to trace beside this tree")
    parser.add_argument(
        "--files", action="store_true", help="the files of each walk, in the order they are come to"
    )
    parser.add_argument("--calls", action="store_true", help="every call of each walk")
    parser.add_argument("--only", default="", metavar="WORD", help="only walks with this word in their names")
    asked = parser.parse_args()
    say(f"{'':28}{'calls':>6}{'':16}{'functions':>10}{'files':>8}{'changes':>10}")
    for name, walk in WALKS.items():
        if asked.only not in name:
            continue
        for commit in (None, asked.commit) if asked.commit else (None,):
            title = name if commit is None else f"  at {commit}"
            try:
                with packages_of(commit) as packages:
                    traces = take(walk, packages)
            except (RuntimeError, OSError, KeyError) as error:
                say(f"{title:28}  could not be driven there: {error}")
            else:
                show(title, traces, files=asked.files, calls=asked.calls)


if __name__ == "__main__":
    main()

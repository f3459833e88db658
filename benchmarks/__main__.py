"""Benchmarks: `python -m benchmarks [moves] [fanout] [memory] [stuck] [relay]`, or all; `load`, `cluster`."""

import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import cluster, fanout, load, memory, moves, relays, stuck
from benchmarks.plot import draw
from benchmarks.servers import HERE, Missing, interpreter, pin_load

RESULTS = HERE / "results.json"
PAIRS = int(os.environ.get("PAIRS", "11"))
"""How often each is measured, in turns with the others."""
SEARCHES = int(os.environ.get("SEARCHES", "3"))
"""How often it is looked for the load that a server sustains."""

Measure = Callable[[], float]


def take_turns(measures: dict[str, Measure], rounds: int) -> dict[str, list[float]]:
    """Measure all, one after the other, again and again, so that a slow minute hits all alike."""
    taken: dict[str, list[float]] = {name: [] for name in measures}
    for number in range(rounds):
        for name in list(taken):
            try:
                taken[name].append(round(measures[name](), 2))
            except Missing as why:
                say(f"  missing: {why}")
                del taken[name]
        shown = ", ".join(f"{name} {values[-1]}" for name, values in taken.items())
        say(f"  {number + 1} of {rounds}: {shown}")
    return taken


def against(taken: dict[str, list[float]], ours: str, theirs: str) -> float | None:
    """The median of the ratios of neighbouring runs: how much of theirs is ours."""
    if theirs not in taken:
        return None
    return round(statistics.median(a / b for a, b in zip(taken[ours], taken[theirs], strict=True)), 3)


def measure_moves() -> dict[str, Any]:
    """CPU of a move told to both seats."""
    measures = {
        "parlour, disk": moves.durable,
        "parlour, memory": moves.in_memory,
        "boardgame.io": moves.boardgame,
        "colyseus": moves.colyseus,
    }
    taken = take_turns(measures, PAIRS)
    found = summed_up("µs a move", taken, "boardgame.io")
    found["of colyseus"] = {name: against(taken, name, "colyseus") for name in list(measures)[:2]}
    say(f"  of colyseus: {found['of colyseus']}")
    return found


def measure_fanout() -> dict[str, Any]:
    """CPU of a delivery to one of 1,000 listeners, with one and with four messages in flight."""
    found: dict[str, Any] = {}
    for flight in (4, 1):
        measures: dict[str, Measure] = {
            "parlour, disk": partial(fanout.spectators, flight),
            "ws": partial(fanout.ws, flight),
            "parlour, memory": partial(fanout.spectators, flight, "memory"),
            "gorilla": partial(fanout.gorilla, flight),
            "socket.io": partial(fanout.socketio, flight),
        }
        taken = take_turns(measures, PAIRS)
        found[f"fanout, {flight} in flight"] = summed_up("µs a delivery", taken, "ws")
    return found


def measure_memory() -> dict[str, Any]:
    """Memory of idle clients and of sleeping rooms."""
    pairs, room, asleep = memory.in_pairs(), memory.in_one_room(), memory.asleep()
    found = {
        "client in 2,500 rooms of two": f"{pairs / 1024:.1f} KB",
        "client in one room of 5,000": f"{room / 1024:.1f} KB",
        "10,000 sleeping rooms": f"{asleep / 1024 / 1024:.1f} MB",
    }
    for name, size in found.items():
        say(f"  {name}: {size}")
    return found


def measure_stuck() -> dict[str, Any]:
    """What 20 of 70 who stopped reading do to the other 50."""
    measures: dict[str, Measure] = {
        "with": lambda: stuck.watch(stuck=True).p99,
        "without": lambda: stuck.watch(stuck=False).p99,
    }
    found = summed_up("ms at the 99th percentile", take_turns(measures, PAIRS), "without")
    end = stuck.watch(stuck=True, to_the_end=True)
    found["freed after seconds"] = round(end.freed, 1)
    found["larger by MB when freed"] = round(end.grown / 1024 / 1024, 1)
    say(f"  freed after {end.freed:.1f} s, then {end.grown / 1024 / 1024:.1f} MB larger")
    return found


def measure_relay() -> dict[str, Any]:
    """CPU of a delivery in relays of four, what stuck members do to the others, and memory."""
    ways = {
        "relays, one talks": relays.TURNS,
        "relays, all talk": relays.TOGETHER,
        "relays, one talks, first generation": relays.PLAIN,
    }
    found: dict[str, Any] = {}
    for name, way in ways.items():
        say(f" {name}:")
        measures = {peer: partial(getattr(relays, peer), way) for peer in ("ours", "gorilla", "ws")}
        taken = take_turns({"parlour" if peer == "ours" else peer: m for peer, m in measures.items()}, PAIRS)
        found[name] = summed_up("µs a delivery", taken, "gorilla")
        found[name]["of ws"] = against(taken, "parlour", "ws")
        say(f"  parlour of ws: {found[name]['of ws']}")
    stuck_too: dict[str, Measure] = {
        "with": partial(relays.p99, with_stuck=True),
        "without": partial(relays.p99, with_stuck=False),
    }
    apart = summed_up("ms at the 99th percentile", take_turns(stuck_too, PAIRS), "without")
    size = f"{relays.memory() / 1024:.1f} KB"
    say(f"  an idle member: {size}")
    return {**found, "relays with stuck members": apart, "relays": {"idle member": size}}


def measure_load() -> dict[str, Any]:
    """Games that one core sustains."""
    measures: dict[str, Measure] = {
        "parlour, disk": partial(load.durable, say),
        "boardgame.io": partial(load.boardgame, say),
        "colyseus": partial(load.colyseus, say),
    }
    taken = take_turns(measures, SEARCHES)
    found = summed_up("games sustained, more is better", taken, "boardgame.io")
    found["of colyseus"] = {"parlour, disk": against(taken, "parlour, disk", "colyseus")}
    say(f"  of colyseus: {found['of colyseus']}")
    return found


def measure_cluster() -> dict[str, Any]:
    """CPU of a move on PostgreSQL and with two workers, and what a crowd at other workers costs the owner."""
    found: dict[str, Any] = {}
    for at_once in (moves.AT_ONCE, moves.MATCHES):
        measures: dict[str, Measure] = {
            "SQLite": partial(cluster.sqlite, at_once),
            "PostgreSQL": partial(cluster.postgresql, at_once),
            "two workers, no seat away": partial(cluster.two_workers, cluster.at_one, at_once),
            "one seat away": partial(cluster.two_workers, cluster.one_away, at_once),
            "both seats away": partial(cluster.two_workers, cluster.both_away, at_once),
            "players enter anywhere": partial(cluster.two_workers, cluster.anywhere(), at_once),
        }
        say(f" {at_once} games at once:")
        taken = take_turns(measures, PAIRS)
        found[f"cluster, {at_once} games at once"] = summed_up("µs a move", taken, "PostgreSQL")
        gain = 2 / (against(taken, "players enter anywhere", "PostgreSQL") or 1)
        say(f"  PostgreSQL of SQLite: {against(taken, 'PostgreSQL', 'SQLite')}")
        say(f"  moves of two workers for the same CPU of each as one's: {gain:.2f} times")
    crowd = take_turns({"owner": cluster.owner_of_a_crowd}, max(1, PAIRS // 3))["owner"]
    found["cluster, 1,000 spectators at four other workers"] = {"owner, ms a step": crowd}
    return found


def summed_up(unit: str, taken: dict[str, list[float]], other: str) -> dict[str, Any]:
    """Medians, and each one's ratio to *other* where both were measured as often."""
    table = {
        name: {
            "median": round(statistics.median(values), 1),
            "ratio": against(taken, name, other) if len(values) == len(taken.get(other, ())) else None,
            "runs": values,
        }
        for name, values in taken.items()
    }
    say(f"  {'':24}{unit:>28}  of {other}")
    for name, row in table.items():
        say(f"  {name:24}{row['median']:>28}  {row['ratio'] or ''}")
    return {"unit": unit, "of": other, "servers": table}


def machine() -> dict[str, str]:
    """What it ran on, without names of hosts or people."""
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    python = subprocess.run([interpreter(), "--version"], capture_output=True, text=True, check=True)
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cores": str(os.cpu_count()),
        "cpu": model[1] if model else "unknown",
        "python": python.stdout.split()[-1],
        "node": node or "missing",
    }


def say(line: str) -> None:
    """Print at once, since a run takes minutes."""
    print(line, flush=True)  # noqa: T201


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "moves": lambda: {"moves": measure_moves()},
    "fanout": measure_fanout,
    "memory": lambda: {"memory": measure_memory()},
    "stuck": lambda: {"stuck readers": measure_stuck()},
    "relay": measure_relay,
    "load": lambda: {"load": measure_load()},
    "cluster": measure_cluster,
}
USUAL = [part for part in PARTS if part not in ("load", "cluster")]
"""What is run if nothing is named: a search for the load takes long, and a cluster needs PostgreSQL."""


def main() -> None:
    """Run what was asked for, and keep the results beside those of the other parts."""
    results: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    pin_load()
    for part in sys.argv[1:] or USUAL:
        say(f"{part}:")
        results.update(PARTS[part]())
        results["machine"] = machine()
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    draw(results, HERE.parent / "docs" / "performance.svg")


if __name__ == "__main__":
    main()

"""Where the CPU of one move goes: the server under cProfile while matches are played."""

import os
import pstats
import signal
import sys
import time

from benchmarks.moves import ParlourMatch, play_all
from benchmarks.servers import HERE, Server, pin_load

PARTS = {
    "hear (frame, JSON, request)": ("gateway/websocket.py", "data_received"),
    "think": ("rooms/stepping.py", "_think"),
    "write (without the journal's thread)": ("rooms/stepping.py", "_write"),
    "speak": ("rooms/stepping.py", "_speak"),
    "send (system call)": ("gateway/websocket.py", "pop"),
}
TOP = 25


def main() -> None:
    """Profile a few hundred matches; a profiler slows small functions most, so read shares, not times."""
    pin_load()
    journal = sys.argv[1] if len(sys.argv) > 1 else "memory"
    serve = ["serve", "--port", "0", "--data", "data", "--journal", journal]
    with Server("profiled", [sys.executable, str(HERE / "profiled.py"), "profile", *serve]) as server:
        play_all([ParlourMatch(server.port) for _ in range(64)])
        matches = [ParlourMatch(server.port) for _ in range(300)]
        os.kill(server.pid, signal.SIGUSR1)
        play_all(list(matches))
        os.kill(server.pid, signal.SIGUSR2)
        time.sleep(1)
        stats = pstats.Stats(str(server.folder / "profile"))
    _show_parts(stats)
    stats.strip_dirs().sort_stats("tottime").print_stats(TOP)


def _show_parts(stats: pstats.Stats) -> None:
    total = stats.total_tt  # type: ignore[attr-defined]
    for part, (file, function) in PARTS.items():
        found = [row[3] for (path, _, name), row in stats.stats.items()  # type: ignore[attr-defined]
                 if name == function and path.endswith(f"server/{file}")]  # fmt: skip
        print(f"{part:40}{sum(found) / total:6.1%}")  # noqa: T201


if __name__ == "__main__":
    main()

"""Servers under measurement: each a process on a core of its own, asked for CPU time and memory."""

import os
import re
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Self

HERE = Path(__file__).parent
PEERS = HERE / "peers"
SERVER_CORE, LOAD_CORE = min(os.sched_getaffinity(0)), max(os.sched_getaffinity(0))
PATIENCE = 15.0
"""Seconds in which a server must be there, or gone."""

UNLIMITED = {
    f"PARLOUR_{name}": "0"
    for name in (
        "RATE", "PLAYER_RATE", "ADDRESS_RATE", "ADDRESS_CONNECTIONS", "PLAYER_ROOMS",
        "ADDRESS_ROOMS", "ADDRESS_GUESSES", "ADDRESS_ACCOUNTS", "ROOM_MEMBERS", "ADDRESS_RELAYS",
        "ADDRESS_RELAY_MEMORY", "ADDRESS_RELAY_DISK",
    )
}  # fmt: skip
"""All load comes from one address, so whatever is rationed by address is not rationed here."""


class Missing(Exception):
    """A peer that is not installed; the sentence says how to install it."""


class Server:
    """A running server; everything else about it is told by the system."""

    def __init__(
        self, name: str, command: list[str], env: dict[str, str] | None = None, patience: float = PATIENCE
    ) -> None:
        self.name = name
        self.folder = Path(tempfile.mkdtemp(prefix="bench-"))
        self._said = self.folder / "said"
        pinned = ["taskset", "-c", str(SERVER_CORE), *command]
        with self._said.open("wb") as said:
            self._process = subprocess.Popen(
                pinned, stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd=self.folder,
                env={**os.environ, "NODE_ENV": "production", **UNLIMITED, **(env or {})},
            )  # fmt: skip
        self.pid = self._process.pid
        self.port = self._wait_for_port(patience)

    def _wait_for_port(self, patience: float) -> int:
        """The number at the end of the line with which it says that it is open."""
        for _ in range(int(patience / 0.02)):
            for line in self._said.read_text(errors="replace").splitlines():
                _, found, rest = line.partition("http://127.0.0.1:")
                if found:
                    return int(rest.split()[0])
            if self._process.poll() is not None:
                break
            time.sleep(0.02)
        said = self._said.read_text(errors="replace")[-2000:]
        self.stop()
        raise RuntimeError(f"{self.name} did not open:\n{said}")

    def cpu(self) -> float:
        """Seconds of CPU that all its threads have used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss(self) -> int:
        """Bytes of memory it holds."""
        fields = Path(f"/proc/{self.pid}/statm").read_text().split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")

    def sockets(self) -> int:
        """How many sockets it holds open."""
        count = 0
        for fd in Path(f"/proc/{self.pid}/fd").iterdir():
            with suppress(OSError):
                count += str(fd.readlink()).startswith("socket:")
        return count

    def stop(self) -> None:
        """End it, kindly first, and forget its data."""
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(PATIENCE)
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


@cache
def interpreter() -> str:
    """The Python to serve with: our own, or the system's of the same version where that is faster.

    Distributions build theirs with profiles, as Node is built; one that was built by hand often is not.
    """
    system = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    found = [python for python in (sys.executable, system) if Path(python).exists()]
    turns = [[pace(python) for python in found] for _ in range(5)]  # a busy moment must not decide
    best = [min(times) for times in zip(*turns, strict=True)]
    return found[best.index(min(best))]


def pace(python: str) -> float:
    """Seconds that this interpreter takes for some calls and attributes, at its best of several times."""
    work = "class A:\n  def f(self): self.n = [self]\na = A()"
    ask = f"import timeit; print(min(timeit.repeat('a.f()', {work!r}, number=200_000, repeat=5)))"
    return float(subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True).stdout)


def parlour(*options: str, games: tuple[str, ...] = ()) -> Server:
    """Our own, with the given options and games of the benchmarks."""
    files = [str(HERE / f"{game}.py") for game in games]
    command = [interpreter(), "-m", "parlour", "serve", *files, "--port", "0", "--data", "data", *options]
    packages = os.pathsep.join((str(HERE.parent / "src"), sysconfig.get_path("purelib")))
    return Server("parlour", command, {"PYTHONPATH": packages})


def node(peer: str, *options: str) -> Server:
    """A peer from npm."""
    if shutil.which("node") is None or not (PEERS / "node_modules").is_dir():
        raise Missing(f"{peer}: needs Node.js; scripts/setup-peers installs the rest")
    return Server(peer, ["node", str(PEERS / f"{peer}.mjs"), *options])


def go(peer: str) -> Server:
    """A peer in Go with gorilla's WebSockets, built from Debian's packages."""
    source, libraries = PEERS / f"{peer}.go", Path("/usr/share/gocode")
    if shutil.which("go") is None or not (libraries / "src/github.com/gorilla/websocket").is_dir():
        raise Missing(f"{peer}: needs Debian's golang-go and golang-github-gorilla-websocket-dev")
    binary = PEERS / "node_modules" / f".{peer}"
    if not binary.exists() or binary.stat().st_mtime < source.stat().st_mtime:
        env = {**os.environ, "GO111MODULE": "off", "GOPATH": str(libraries), "GOFLAGS": "-buildvcs=false"}
        subprocess.run(["go", "build", "-o", str(binary), str(source)], env=env, check=True)
    return Server(peer, [str(binary)])


def busy(core: int) -> float:
    """Seconds that a core has worked so far, for whichever process."""
    found = re.search(rf"^cpu{core} (.*)$", Path("/proc/stat").read_text(), re.MULTILINE)
    user, nice, system = (int(ticks) for ticks in found[1].split()[:3]) if found else (0, 0, 0)
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def pin_load() -> None:
    """Keep this process off the server's core, and let it hold many sockets."""
    os.sched_setaffinity(0, {LOAD_CORE})
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

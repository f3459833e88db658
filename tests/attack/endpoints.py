"""Webhooks of somebody hostile: they hang, trickle or answer without end while others wait to be told."""

import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx

from tests.e2e.clients import Raw
from tests.e2e.servers import Server

TOLD_WITHIN = 45.0
"""Seconds until somebody is told who has nothing to do with it: grace, and once what the others may hold."""
GUESTS = 30
HOOKS = 4
"""Of each guest: together they are more than the server tries at the same time."""
TRICKLE = 0.3
"""Seconds between two bytes."""

Answer = Callable[[socket.socket], None]


def hang(line: socket.socket) -> None:
    """Say nothing, until the other side has had enough."""
    while line.recv(65536):
        pass


def trickle(line: socket.socket) -> None:
    """An answer byte by byte, none of which is the last."""
    for byte in b"HTTP/1.1 200 OK\r\nX: " + bytes(1000):
        line.sendall(bytes([byte or 97]))
        time.sleep(TRICKLE)


def without_end(begin: bytes, more: bytes) -> Answer:
    """An answer that goes on for ever."""

    def answer(line: socket.socket) -> None:
        line.sendall(begin)
        while True:
            line.sendall(more * 1000)

    return answer


OK = b"HTTP/1.1 200 OK\r\n"
ANSWERS: dict[str, Answer] = {
    "hang": hang,
    "trickle": trickle,
    "headers": without_end(OK, b"a: b\r\n"),
    "announcements": without_end(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "body": without_end(OK + b"Content-Length: 999999999999\r\n\r\n", b"a" * 100),
    "line": without_end(b"HTTP/1.1 200 ", b"O"),
    "well": lambda line: line.sendall(OK + b"Content-Length: 0\r\n\r\n"),
}
"""By the first word of the path: what an endpoint answers."""


class Endpoints:
    """Listens at a port of this machine, and answers as the path says."""

    def __init__(self) -> None:
        self.tried: Counter[str] = Counter()
        """How often each kind was asked."""
        self.cut = 0
        """How many answers the other side did not hear out."""
        self.told = Event()
        """The one that answers well was asked."""
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=200)

    def url(self, kind: str, whose: str) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/{kind}/{whose}"

    @contextmanager
    def listening(self) -> Iterator[None]:
        """While this lasts, they answer."""
        Thread(target=self._accept, daemon=True).start()
        with closing(self._socket):
            yield

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                line, _ = self._socket.accept()
                Thread(target=self._answer, args=(line,), daemon=True).start()

    def _answer(self, line: socket.socket) -> None:
        with line:
            try:
                kind = line.recv(65536).split(b"/", 2)[1].decode()
                self.tried[kind] += 1
                if kind == "well":
                    self.told.set()
                ANSWERS[kind](line)
            except (OSError, IndexError):
                self.cut += 1


class Hosts:
    """Guests from one address, who have rooms, and go while it is their turn."""

    def __init__(self, port: int, address: str) -> None:
        self._server = Server(Path())  # it runs already; this one knows where
        self._server.port = port
        self._address = address
        transport = httpx.HTTPTransport(local_address=address)
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{port}", transport=transport, timeout=60)
        self._friend = self.guest("Friend")

    def guest(self, name: str) -> str:
        """Somebody new; their token."""
        self.http.cookies.clear()
        token: str = self._post("/api/players", {"name": name})["token"]
        self.http.cookies.clear()
        return token

    def add_webhook(self, token: str, url: str) -> None:
        self._post("/api/notifications/webhooks", {"url": url}, token)

    def go_in_turn(self, token: str) -> None:
        """Sit down with a friend, and go: whoever it is who has to move is away then."""
        room = self._post("/api/rooms", {"game": "tictactoe"})["id"]
        lines = [Raw(self._server, one, source_address=(self._address, 0)) for one in (token, self._friend)]
        for line in lines:
            line.join(room)
        for line in lines:
            line.close()

    def _post(self, path: str, body: Any, token: str = "") -> Any:
        """Ask until it is no longer too fast."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        while (answer := self.http.post(path, json=body, headers=headers)).status_code == 429:
            time.sleep(0.2)
        return answer.raise_for_status().json()


def endless_webhooks(port: int, amount: int, address: str) -> Counter[str]:
    """Many turns are to be told at endpoints that never let go; whoever comes last is told all the same."""
    endpoints = Endpoints()
    bad = [kind for kind in ANSWERS if kind != "well"]
    hosts = Hosts(port, address)
    with endpoints.listening(), closing(hosts.http):
        for number in range(min(amount, GUESTS)):
            token = hosts.guest(f"Mallory {number}")
            for hook in range(HOOKS):
                kind = bad[(number * HOOKS + hook) % len(bad)]
                hosts.add_webhook(token, endpoints.url(kind, f"{number}-{hook}"))
            hosts.go_in_turn(token)
        honest = hosts.guest("Ann")
        hosts.add_webhook(honest, endpoints.url("well", "ann"))
        hosts.go_in_turn(honest)
        is_told = endpoints.told.wait(TOLD_WITHIN)
        healthy = hosts.http.get("/health")
    return Counter(
        done=endpoints.tried.total(),
        cut=endpoints.cut,
        untold=not is_told,
        server_errors=healthy.status_code != 200,
    )

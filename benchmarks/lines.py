"""The load: plain WebSocket clients, many in one thread, the same for every server."""

import base64
import json
import select
import socket
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from typing import Any

PATIENCE = 60.0
"""Seconds after which an answer that did not come is missing."""

_KEY = base64.b64encode(bytes(16)).decode()


def call(port: int, method: str, path: str, body: Any = None) -> Any:
    """One HTTP call with JSON in and out."""
    http = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        http.request(method, path, json.dumps(body or {}), {"Content-Type": "application/json"})
        answer = http.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:200]!r}")
        return json.loads(text)
    finally:
        http.close()


class Line:
    """One WebSocket to a server; `heard` is called with each message, or nobody listens."""

    __slots__ = ("_buffer", "heard", "socket")

    def __init__(self, port: int, path: str, *, receive_buffer: int | None = None) -> None:
        self.heard: Callable[[bytes], None] | None = None
        self.socket = socket.socket()
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {_KEY}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        head = b""
        while b"\r\n\r\n" not in head:
            got = self.socket.recv(4096)
            if not got:
                raise RuntimeError(f"{path}: closed after {head[:200]!r}")
            head += got
        if not head.startswith(b"HTTP/1.1 101"):
            raise RuntimeError(f"{path}: {head[:300]!r}")
        self._buffer = head.partition(b"\r\n\r\n")[2]

    def send(self, text: bytes, opcode: int = 1) -> None:
        """Send one frame; masked with zeros, so that masking costs us nothing and the server its usual."""
        size = len(text)
        length = bytes((128 | size,)) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
        self.socket.sendall(bytes((128 | opcode,)) + length + b"\0\0\0\0" + text)

    def receive(self) -> list[bytes]:
        """The messages that are there by now."""
        got = self.socket.recv(262144)
        if not got:
            raise ConnectionError("the server has closed a line")
        messages = []
        buffer, at = self._buffer + got, 0
        while (frame := _frame(buffer, at)) is not None:
            begin, at = frame
            messages.append(buffer[begin:at])
        self._buffer = buffer[at:]
        return messages

    def until(self, word: bytes) -> bytes:
        """Wait for a message with this in it."""
        waiting, self._buffer = self._buffer, b""
        messages = self._whole(waiting)
        while True:
            for message in messages:
                if word in message:
                    return message
            messages = self.receive()

    def _whole(self, buffer: bytes) -> list[bytes]:
        """The whole messages in what has come already; the rest stays."""
        messages, at = [], 0
        while (frame := _frame(buffer, at)) is not None:
            begin, at = frame
            messages.append(buffer[begin:at])
        self._buffer = buffer[at:]
        return messages

    def close(self) -> None:
        """Hang up."""
        self.socket.close()


def _frame(buffer: bytes, at: int) -> tuple[int, int] | None:
    """Where the payload of the frame at *at* begins and ends, if all of it is there."""
    if len(buffer) < at + 2:
        return None
    size, begin = buffer[at + 1], at + 2
    if size == 126:
        size, begin = int.from_bytes(buffer[at + 2 : at + 4], "big"), at + 4
    elif size == 127:
        size, begin = int.from_bytes(buffer[at + 2 : at + 10], "big"), at + 10
    return (begin, begin + size) if len(buffer) >= begin + size else None


class Crowd:
    """Listens to many lines at once."""

    def __init__(self, lines: list[Line]) -> None:
        self._lines = {line.socket.fileno(): line for line in lines}
        self._poll = select.epoll()
        for fd in self._lines:
            self._poll.register(fd, select.EPOLLIN)

    def ready(self) -> Iterator[Line]:
        """The lines on which something has come, once anything has."""
        events = self._poll.poll(PATIENCE)
        if not events:
            raise TimeoutError("the server fell silent")
        for fd, _ in events:
            yield self._lines[fd]

    def run(self, done: Callable[[], bool]) -> None:
        """Hand every message to its line's `heard` until it is done."""
        while not done():
            for line in self.ready():
                for message in line.receive():
                    if line.heard is not None:
                        line.heard(message)

    def settle(self, quiet: float = 0.3) -> None:
        """Read away whatever still comes, until nothing has for a moment."""
        end = time.perf_counter() + PATIENCE
        while time.perf_counter() < end:
            events = self._poll.poll(quiet)
            if not events:
                return
            for fd, _ in events:
                self._lines[fd].receive()

    def close(self) -> None:
        """Hang up on all."""
        self._poll.close()
        for line in self._lines.values():
            line.close()

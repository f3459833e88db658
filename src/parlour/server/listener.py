"""The port: one socket for everything, and HTTP requests that must arrive in time."""

import asyncio
import fcntl
import math
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from parlour.journal.base import Trouble

BACKLOG = 2048
MAX_HEAD = 64 * 1024
"""Bytes of a request before its body."""


_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class NoPlace(Trouble):
    """The server cannot be where it was told to be."""


def listen(host: str, port: int, write_timeout: float) -> socket.socket:
    """A listening socket whose connections die when the other side takes no bytes for so long."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server(address[:2], family=family, backlog=BACKLOG, reuse_port=False)
    except OSError as error:
        raise NoPlace(f"cannot listen on {host} port {port}: {error.strerror or error}") from None
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        milliseconds = int(write_timeout * 1000)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


@contextmanager
def only_server_of(folder: Path) -> Iterator[None]:
    """Nobody else serves this folder meanwhile; the lock ends with the process, however it ends."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # the journal holds seeds
        handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise NoPlace(f"cannot use the data folder {folder}: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise NoPlace(f"another server is using the data folder {folder}") from None
    finally:
        os.close(handle)


class PatientHttp(HttpToolsProtocol):
    """uvicorn's HTTP, with an end to its patience: it would wait for the rest of a request for ever."""

    patience = 10.0
    doors: Mapping[bytes, type[asyncio.Protocol]] = {}
    """Paths whose WebSockets are not for our own class."""
    _deadline: asyncio.TimerHandle | None = None
    _head = 0.0

    @classmethod
    def within(cls, seconds: float, doors: Mapping[bytes, type[asyncio.Protocol]]) -> "type[PatientHttp]":
        """The same with another patience and other doors; uvicorn makes the objects itself."""
        return type(cls.__name__, (cls,), {"patience": seconds, "doors": doors})

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        self._head += len(data)
        super().data_received(data)
        if self._head > MAX_HEAD:
            self.transport.write(_TOO_LARGE)
            self.transport.close()

    def on_headers_complete(self) -> None:
        self._head = -math.inf  # what follows is a body, which has a limit of its own
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._relax()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head = 0.0
        self._expect()

    def on_message_complete(self) -> None:
        self._relax()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        self._relax()
        path = self.url.partition(b"?")[0]
        self.ws_protocol_class = self.doors.get(path, self.ws_protocol_class)
        super().handle_websocket_upgrade()

    def _expect(self) -> None:
        self._relax()
        self._deadline = self.loop.call_later(self.patience, self.transport.abort)

    def _relax(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

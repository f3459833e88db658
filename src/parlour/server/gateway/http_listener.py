"""The port: one socket for everything, and HTTP requests that have to arrive in time."""

import asyncio
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from parlour.errors import Refused
from parlour.journal.base import Trouble
from parlour.server import metrics
from parlour.server.api.calls import MAX_BODY
from parlour.server.gateway.websocket import Socket
from parlour.server.limits import Limits
from parlour.server.settings import Settings

BACKLOG = 2048
MAX_HEAD = 64 * 1024
"""Bytes of a request before its body."""
BODY_SHARE = 4
"""A connection may send so many times the largest body for one request, with everything around it."""
REQUESTS_AT_ONCE = 2048
"""Bytes of one connection that a turn of the loop takes: a browser's request, or some small ones."""


_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class NoPlace(Trouble):
    """The server cannot listen at the address that it was given."""


def listen(host: str, port: int, write_timeout: float, *, shared: bool = False) -> socket.socket:
    """A listening socket whose connections close when the client takes no bytes for so long.

    A *shared* port can be listened at by several processes, which get the connections in turn.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server(address[:2], family=family, backlog=BACKLOG, reuse_port=shared)
    except OSError as error:
        raise NoPlace(f"cannot listen on {host} port {port}: {error.strerror or error}") from None
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        milliseconds = int(write_timeout * 1000)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


@contextmanager
def only_server_of(folder: Path) -> Iterator[None]:
    """Lock the data folder against other servers; the lock ends with the process, however it ends."""
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


class Flow(FlowControl):
    """Flow control that resumes reading only when all received bytes are processed."""

    held = False

    def resume_reading(self) -> None:
        if not self.held:
            super().resume_reading()


class PatientHttp(HttpToolsProtocol):
    """uvicorn's HTTP with limits: on the time for a request, its size, and what one turn of the loop takes.

    uvicorn itself waits for the rest of a request for ever, and processes thousands of requests in one turn.
    """

    settings: Settings
    limits: Limits
    flow: Flow
    unread = b""
    """Received bytes that wait for a later turn; meanwhile nothing more is read."""
    _soon: asyncio.Handle | None = None
    _place: str | None = None
    """The client address in whose limit this connection is counted; None if it is not."""
    _deadline: asyncio.TimerHandle | None = None
    _left = MAX_HEAD
    """Bytes that this part of a request may still have."""
    _in_head = True
    _is_socket = False
    """True if a WebSocket has taken the connection over."""
    _unanswered: tuple[RequestResponseCycle, ...] = ()
    """Requests whose answers are not complete; uvicorn itself remembers only the newest."""

    @classmethod
    def within(cls, settings: Settings, limits: Limits) -> "type[PatientHttp]":
        """A subclass with these settings and limits; uvicorn makes the objects itself."""
        return type(cls.__name__, (cls,), {"settings": settings, "limits": limits})

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.flow = Flow(transport)
        try:
            self._place = self.limits.admit_call(self.client[0] if self.client else None)
        except Refused:
            metrics.lines_cut.labels("too_many").inc()
            transport.abort()
        else:
            self._expect()

    def data_received(self, data: bytes) -> None:
        waits = bool(self.unread)
        self.unread += data
        if not waits:
            self._take_some()

    def _take_some(self) -> None:
        """Process a part of the received bytes; the rest in a later turn, after the answer."""
        self._soon = None
        some, self.unread = self.unread[:REQUESTS_AT_ONCE], self.unread[REQUESTS_AT_ONCE:]
        self.flow.held = False
        if not self.pipeline:
            self.flow.resume_reading()
        self._left -= len(some)
        super().data_received(some)
        if self.transport.is_closing() or self._is_socket:
            self.unread = b""
        elif self._left < 0:
            self._cut()
        elif self.unread:
            self.flow.held = True
            self.flow.pause_reading()
            self._go_on()

    def _go_on(self) -> None:
        if self.unread and not self.pipeline and self._soon is None:
            self._soon = self.loop.call_soon(self._take_some)

    def _cut(self) -> None:
        """Close the connection: the client has sent more than any valid request has."""
        metrics.lines_cut.labels("too_large").inc()
        self.unread = b""
        if self._in_head:
            self.transport.write(_TOO_LARGE)
        self.transport.close()

    def on_response_complete(self) -> None:
        self._unanswered = self._unanswered[1:]
        super().on_response_complete()
        self._go_on()

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._left = BODY_SHARE * max(MAX_BODY, self.settings.max_frame)
        super().on_headers_complete()
        if not (self.parser.should_upgrade() and self._should_upgrade()):
            self._unanswered += (self.cycle,)

    def connection_lost(self, exc: Exception | None) -> None:
        self._relax()
        self.unread = b""
        if self._soon is not None:
            self._soon.cancel()
        if self._place is not None:
            self.limits.release_call(self._place)
        for cycle in self._unanswered:
            cycle.disconnected = True
            cycle.message_event.set()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = True
        self._left = MAX_HEAD
        self._expect()

    def on_message_complete(self) -> None:
        self._relax()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        self._relax()
        self._is_socket = True
        super().handle_websocket_upgrade()
        socket: Socket = self.transport.get_protocol()  # type: ignore[assignment]
        socket.take_over(self._place)
        self._place = None

    def _expect(self) -> None:
        self._relax()
        self._deadline = self.loop.call_later(self.settings.header_timeout, self.transport.abort)

    def _relax(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

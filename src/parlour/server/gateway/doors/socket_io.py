"""The Socket.IO library, made strict: nothing raises in it, piles up or floods the log."""

import asyncio
import logging
import re
from collections import deque
from types import SimpleNamespace
from typing import Any

import engineio
import msgspec
import socketio
from engineio import async_socket, base_socket
from socketio import packet

from parlour.sanitize import MAX_INTEGER
from parlour.server.clock import SystemClock
from parlour.server.gateway.outboxes import framed
from parlour.server.gateway.pipes import OwnerEnd, unacknowledged

quiet = logging.getLogger("parlour.socket_io")
quiet.disabled = True
"""For libraries that log a trace for every unreadable packet: clients could fill the disk by that."""

async_socket.time = base_socket.time = SimpleNamespace(time=SystemClock().now)
"""The library uses wall time to see who is silent: a changed clock would disconnect everybody, or nobody."""

MAX_UNSENT = 256 * 1024
"""Unacknowledged bytes at which a client that does not read is disconnected."""
WRITE_AHEAD = 16 * 1024
"""Bytes that may wait in a transport before the queue behind it waits, too."""

_WS_PACKET = re.compile(r"[0-356]|4[0-3]")
_POSTED_PACKET = re.compile(r"[13]|4[0-3]")
"""Prefixes of packets. None has binary parts here, and unreadable ones would raise in the library."""
_MAX_POSTED = 16
_EVENT = b'42["server_msg"'


def readable_frame(text: str | None) -> bool:
    """True if a WebSocket frame is a packet; None is a binary one.

    >>> [readable_frame(frame) for frame in ("3", '42["client_msg",{}]', "", "451-[]", "hello", None)]
    [True, True, False, False, False, False]
    """
    return text is not None and _WS_PACKET.match(text) is not None


def readable_post(body: bytes) -> bool:
    r"""True if the body of a POST consists of packets.

    >>> [readable_post(body) for body in (b"3", b"40\x1e3", b"", b"d=40", b"\xff", b"2")]
    [True, True, False, False, False, False]
    """
    try:
        packets = body.decode().split("\x1e")
    except UnicodeDecodeError:
        return False
    return len(packets) <= _MAX_POSTED and all(map(_POSTED_PACKET.match, packets))


class Json:
    """Stands in for the json module: values stay encoded, for the door to decode."""

    @staticmethod
    def dumps(value: Any, **_: Any) -> str:
        return msgspec.json.encode(value).decode()

    @staticmethod
    def loads(text: str) -> Any:
        """An array of raw values, or one raw value; ValueError if it is malformed."""
        try:
            return _array.decode(text) if text.startswith("[") else _value.decode(text)
        except RecursionError:
            raise ValueError("nested too deeply") from None


_array = msgspec.json.Decoder(list[msgspec.Raw])
_value = msgspec.json.Decoder(msgspec.Raw)
_name = msgspec.json.Decoder(str)


class Packet(packet.Packet):  # type: ignore[misc]
    """A packet whose events are (name, body, whether an answer is wanted).

    Clients may send any name; only `client_msg` is passed on: `disconnect` would mean a closed connection.
    """

    packet_type: int
    data: Any
    id: int | None
    json = Json

    def decode(self, encoded_packet: str) -> int:
        """Decode a packet; never raises: an unreadable one becomes an unknown event."""
        try:
            super().decode(encoded_packet)
            if self.packet_type == packet.EVENT:
                known = _name.decode(self.data[0]) == "client_msg"
                body = self.data[1] if len(self.data) > 1 else None
                self.data = ["client_msg" if known else "unknown", body, self._asks]
        except (ValueError, TypeError, LookupError):
            if self.id is not None and self.id > MAX_INTEGER:
                self.id = None  # too many digits
            self.packet_type, self.data = packet.EVENT, ["unreadable", None, self._asks]
        return 0

    @property
    def _asks(self) -> bool:
        return self.id is not None

    def encode(self) -> Any:
        if self.packet_type == packet.CONNECT_ERROR and isinstance(self.data, str):
            self.data = {"message": self.data}  # clients expect it there
        return super().encode()


class Outbox(asyncio.Queue[Any]):
    """The queue of packets for one client, with its size in bytes; the library bounds neither."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting = 0
        self._taken = 0

    @property
    def unsent(self) -> int:
        """Bytes in the queue, and those that the writer took: it takes all at once."""
        return self._waiting + self._taken

    async def get(self) -> Any:
        self._taken = 0  # the writer has come back for more
        return await super().get()

    def _put(self, item: Any) -> None:
        super()._put(item)
        self._waiting += _size(item)

    def _get(self) -> Any:
        item = super()._get()
        self._waiting -= _size(item)
        self._taken += _size(item)
        return item


PACKET = 100
"""Bytes that a packet counts besides its content."""


def _size(item: Any) -> int:
    """The bytes of a packet, in memory or on the wire."""
    text = item.data if item is not None and isinstance(item.data, str) else ""
    return PACKET + len(text) * (1 if text.isascii() else 4)


class Engine(engineio.AsyncServer):  # type: ignore[misc]
    """Engine.IO with queues that can be measured."""

    def create_queue(self, *_: Any, **__: Any) -> Outbox:
        return Outbox()


class SocketIoServer(socketio.AsyncServer):  # type: ignore[misc]
    """Socket.IO on such an Engine.IO."""

    def _engineio_server_class(self) -> type[Engine]:
        return Engine


class Wire:
    """Counts what was written to a WebSocket, and how much of it has arrived, by the kernel's numbers."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self.transport = transport
        self.arrived = 0
        """Our messages that the client's kernel has acknowledged."""
        self._written = 0
        self._ends: deque[int] = deque()
        if isinstance(transport, OwnerEnd):
            transport.count_arrivals()

    @property
    def unsent(self) -> int:
        """Bytes that wait for the client."""
        return self.transport.get_write_buffer_size() + (unacknowledged(self.transport) or 0)

    @property
    def is_behind(self) -> bool:
        """True if so much waits in the transport that the queue behind it has to wait, too."""
        return self.transport.get_write_buffer_size() > WRITE_AHEAD

    def write(self, text: bytes) -> bytes:
        """Count a text that is written now, and return its frame."""
        frame = framed(text)
        self._written += len(frame)
        if text.startswith(_EVENT):
            self._ends.append(self._written)
        return frame

    def settle(self) -> int:
        """How many messages have arrived by now; of a closed connection nothing more is learned."""
        unarrived = self._unarrived if self._ends else None
        if unarrived is not None:
            arrived = self._written - unarrived
            while self._ends and self._ends[0] <= arrived:
                self._ends.popleft()
                self.arrived += 1
        return self.arrived

    @property
    def _unarrived(self) -> int | None:
        """Bytes that have not reached the client; None if that cannot be told any more."""
        if isinstance(self.transport, OwnerEnd):
            return self.transport.unarrived
        held = unacknowledged(self.transport)
        return None if held is None else held + self.transport.get_write_buffer_size()


def count_events(body: bytes) -> int:
    r"""The number of our messages in the answer to a poll.

    >>> count_events(b'2\x1e42["server_msg",{}]\x1e430[]\x1e42["server_msg",{}]')
    2
    """
    return sum(packet.startswith(_EVENT) for packet in body.split(b"\x1e"))

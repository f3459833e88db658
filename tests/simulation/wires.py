"""Clients with a real WebSocket, byte by byte, to some worker; they come back when it is lost."""

import asyncio
from abc import ABC, abstractmethod
from random import Random
from typing import Any

from tests.simulation.cluster import Cluster, Machine
from tests.simulation.people import COME_BACK, LATENCY, TRY_AGAIN

CLOSE, PING = 8, 9
"""Kinds of frames."""
PONG = bytes((0x8A, 0x80, 0, 0, 0, 0))
HEAD = (
    "GET {path} HTTP/1.1\r\nHost: parlour\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


class Wire(asyncio.Transport):
    """The bytes of a connection between a client and a worker."""

    def __init__(self, client: "Client", machine: Machine, head: bytes) -> None:
        super().__init__()
        self.is_open = True
        """At the client's side."""
        self._client, self._machine = client, machine
        self._world = machine.cluster.loop.world
        self._protocol: Any = None
        self._down: list[bytes] = []
        self._up: list[bytes] | None = None
        """What has come up while nobody reads."""
        self._is_closing = False
        machine.lines[self] = None
        machine.process.call_later(LATENCY, self._accept, head)

    # At the worker.

    def _accept(self, head: bytes) -> None:
        self._protocol = self._machine.sockets.new_socket()
        self._protocol.connection_made(self)
        self._protocol.data_received(head)

    def _receive(self, data: bytes) -> None:
        if self._up is not None:
            self._up.append(data)
        elif self._protocol is not None and not self._is_closing:
            self._protocol.data_received(data)

    def _end_of_file(self) -> None:
        if self._protocol is not None and not self._is_closing and not self._protocol.eof_received():
            self.close()

    def write(self, data: Any) -> None:
        if not self._is_closing:
            if not self._down:
                self._world.call_later(LATENCY, self._deliver)
            self._down.append(bytes(data))

    def close(self, *_: Any) -> None:
        if not self._is_closing:
            self._is_closing = True
            self._machine.lines.pop(self, None)
            self._machine.process.call_soon(self._protocol.connection_lost, None)
            self._world.call_later(LATENCY, self._closed)

    abort = close

    def shut_down(self) -> None:
        """The worker stops."""
        if self._protocol is None:
            self._is_closing = True
            self._world.call_later(LATENCY, self._closed)
        else:
            self._protocol.shutdown()

    def write_eof(self) -> None:
        self._world.call_later(LATENCY, self._closed)

    def can_write_eof(self) -> bool:
        return True

    def is_closing(self) -> bool:
        return self._is_closing

    def pause_reading(self) -> None:
        self._up = self._up or []

    def resume_reading(self) -> None:
        up, self._up = self._up or [], None
        for data in up:
            self._machine.process.call_soon(self._receive, data)

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        protocol: asyncio.BaseProtocol = self._protocol
        return protocol

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return (self._client.address, 1) if name == "peername" else default

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...

    def get_write_buffer_size(self) -> int:
        return 0

    # On the way.

    def break_off(self) -> None:
        """The worker is dead: what it sent last may be lost."""
        self._is_closing = True
        self._machine.lines.pop(self, None)
        if self._machine.cluster.chance.random() < 0.5:
            self._down.clear()
        self._world.call_later(LATENCY, self._closed)

    def _deliver(self) -> None:
        down, self._down = self._down, []
        for data in down:
            if self.is_open:
                self._client.hear(data)

    def _closed(self) -> None:
        self._deliver()
        if self.is_open:
            self.hang_up()
            self._client.lose()

    # At the client.

    def send(self, data: bytes) -> None:
        self._machine.process.call_later(LATENCY, self._receive, data)

    def hang_up(self) -> None:
        self.is_open = False
        self._machine.process.call_later(LATENCY, self._end_of_file)


class Client(ABC):
    """Somebody who wants to be connected."""

    def __init__(self, cluster: Cluster, name: str, address: str, chance: Random) -> None:
        self.name, self.address = name, address
        self._cluster, self._chance = cluster, chance
        self._world = cluster.loop.world
        self._wire: Wire | None = None
        self._is_in = False
        self._bytes = b""

    @property
    def is_in(self) -> bool:
        return self._is_in

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection, let in or not."""
        return self._wire is not None and self._wire.is_open

    def come(self) -> None:
        """Connect to any worker, unless connected."""
        if self.is_connected:
            return
        if not self._cluster.serving:
            self._world.call_later(TRY_AGAIN, self.come)
            return
        self._bytes, self._is_in = b"", False
        head = HEAD.format(path=self._path()).encode()
        self._wire = Wire(self, self._chance.choice(self._cluster.serving), head)

    @abstractmethod
    def _path(self) -> str:
        """What a new connection asks for."""

    @abstractmethod
    def _take(self, kind: int, body: bytes) -> None:
        """Take a frame that is no ping."""

    def _turned_away(self, status: int) -> None:
        """The worker has refused the connection."""
        del status
        self.hang_up()

    def hang_up(self) -> None:
        """Close the connection, and come back soon."""
        if self._wire is not None and self._wire.is_open:
            self._wire.hang_up()
            self.lose()

    def lose(self) -> None:
        """The connection is closed."""
        self._is_in = False
        self._world.call_later(COME_BACK * (1 + self._chance.random()), self.come)

    def hear(self, data: bytes) -> None:
        self._bytes += data
        if not self._is_in:
            head, end, rest = self._bytes.partition(b"\r\n\r\n")
            if not end:
                return
            if not head.startswith(b"HTTP/1.1 101"):
                self._turned_away(int(head.split()[1]))
                return
            self._is_in, self._bytes = True, rest
        while self.is_connected and (frame := self._next_frame()) is not None:
            if frame[0] == PING:
                self._send(PONG)
            else:
                self._take(*frame)

    def _next_frame(self) -> tuple[int, bytes] | None:
        data = self._bytes
        if len(data) < 2:
            return None
        size, start = data[1], 2
        if size == 126:
            size, start = int.from_bytes(data[2:4], "big"), 4
        if len(data) < start + size:
            return None
        self._bytes = data[start + size :]
        return data[0] & 0x0F, data[start : start + size]

    def _send(self, frame: bytes) -> None:
        assert self._wire is not None
        self._wire.send(frame)

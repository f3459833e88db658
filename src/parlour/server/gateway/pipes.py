"""Connections that another worker serves: their bytes go over the bus, to a socket there and back.

What a door keeps in memory (a relay, a hub) has one owner. Whoever comes to another worker is connected to
the owner by a pipe: here an end with the real connection, there an end that a socket takes for one.
"""

import asyncio
import fcntl
import struct
import termios
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

import msgspec
from websockets.frames import Close, CloseCode, Frame, Opcode
from websockets.http11 import Request as UpgradeRequest

if TYPE_CHECKING:
    from parlour.server.gateway.websocket import Socket

DATA = b"\x01"
"""The first byte of a message with bytes of a pipe; eight bytes of its number follow, then the bytes."""
GOODBYE = Close(CloseCode.SERVICE_RESTART, "come again").serialize()
COME_AGAIN = Frame(Opcode.CLOSE, GOODBYE).serialize(mask=False)


class PipeOpened(msgspec.Struct, frozen=True, tag=True):
    """A client asks for a WebSocket; *head* is its whole request."""

    number: int
    head: bytes
    host: str
    port: int


class PipeFlow(msgspec.Struct, frozen=True, tag=True):
    """To the owner: so many bytes are unread by the client. From the owner: read on, or wait."""

    number: int
    unread: int = 0
    reads: bool = True


class PipeClosed(msgspec.Struct, frozen=True, tag=True):
    """One side has closed: at its end, for good, or at once."""

    number: int
    how: Literal["eof", "close", "abort"] = "close"


class PipeArrival(msgspec.Struct, frozen=True, tag=True):
    """To the owner: so many bytes have reached the client. From the owner: say so from now on."""

    number: int
    arrived: int = 0


PipeNews = PipeOpened | PipeFlow | PipeArrival | PipeClosed

Send = Callable[[int, bytes], None]
"""Sends a message to a worker."""
Encode = Callable[[PipeNews], bytes]


def unacknowledged(transport: asyncio.Transport) -> int | None:
    """Bytes that the kernel holds until the client has them; None if it cannot be asked any more."""
    socket = transport.get_extra_info("socket")
    if socket is None or socket.fileno() < 0 or transport.is_closing():
        return None
    try:
        (count,) = struct.unpack("i", fcntl.ioctl(socket.fileno(), termios.TIOCOUTQ, bytes(4)))
    except OSError:  # it does not tell
        return 0
    return int(count)


def with_data(number: int, data: bytes) -> bytes:
    """The message with some bytes of a pipe."""
    return DATA + number.to_bytes(8, "big") + data


class NewSocket(Protocol):
    """Makes the socket at the owner's end of a pipe."""

    def __call__(self) -> "Socket": ...


class ClientEnd(asyncio.Protocol):
    """The end of a pipe with the real connection."""

    def __init__(self, pipes: "Pipes", worker: int, number: int, transport: asyncio.Transport) -> None:
        self.worker = worker
        self.number = number
        self._pipes = pipes
        self._transport = transport
        self._is_open = False
        """The owner has answered: from now on frames come."""
        self._has_ended = False
        """The owner writes no more."""
        self._told = 0
        self._written = self._arrived = 0
        """Bytes to the client, and how many the owner knows to have arrived."""
        self._counts = False
        """The owner wants to know what arrives."""
        self.done: Callable[[], None] = lambda: None
        """Called when the connection is gone."""

    def write(self, data: bytes) -> None:
        """Send the client what the owner wrote."""
        self._is_open = True
        if self._has_ended or self._transport.is_closing():
            return
        self._transport.write(data)
        self._written += len(data)
        if self._transport.get_write_buffer_size():
            self._tell_unread()

    def take(self, news: PipeFlow | PipeArrival | PipeClosed) -> None:
        """Do as the owner says."""
        if self._transport.is_closing():
            return
        if isinstance(news, PipeArrival):
            self._counts = True
        elif isinstance(news, PipeFlow):
            (self._transport.resume_reading if news.reads else self._transport.pause_reading)()
        elif news.how == "eof" and self._transport.can_write_eof():
            self._has_ended = True
            self._transport.write_eof()
        elif news.how == "abort":
            self._transport.abort()
        else:
            self._transport.close()

    def lose_owner(self) -> None:
        """The owner is gone: the client comes again."""
        if self._is_open and not self._has_ended and not self._transport.is_closing():
            self._transport.write(COME_AGAIN)
        self._transport.close()

    def shutdown(self) -> None:
        """The server stops: the client comes to another worker."""
        self.lose_owner()

    # What asyncio calls.

    def data_received(self, data: bytes) -> None:
        self._tell_arrived()
        self._pipes.send(self.worker, with_data(self.number, data))

    def eof_received(self) -> bool:
        self._tell_arrived()
        self._pipes.tell(self.worker, PipeClosed(self.number, "eof"))
        return True

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._tell_arrived()
        self._pipes.forget_client(self)
        self._pipes.tell(self.worker, PipeClosed(self.number))
        self.done()

    def resume_writing(self) -> None:
        self._tell_unread()

    def _tell_unread(self) -> None:
        unread = self._transport.get_write_buffer_size()
        if unread != self._told:
            self._told = unread
            self._pipes.tell(self.worker, PipeFlow(self.number, unread))

    def _tell_arrived(self) -> None:
        """Tell the owner what the client has received, if it wants to know and does not."""
        if not self._counts or self._arrived == self._written:
            return
        held = unacknowledged(self._transport)
        if held is not None:
            self._arrived = self._written - held - self._transport.get_write_buffer_size()
            self._pipes.tell(self.worker, PipeArrival(self.number, self._arrived))


class OwnerEnd(asyncio.Transport):
    """The end of a pipe at the owner: to a socket it is the connection."""

    def __init__(self, pipes: "Pipes", worker: int, opened: PipeOpened) -> None:
        super().__init__()
        self.worker = worker
        self.number = opened.number
        self._pipes = pipes
        self._peer = (opened.host, opened.port)
        self._closing = False
        self._unread = 0
        self._written = self._arrived = 0
        self.protocol: Any = None

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """The other end says what is unread."""

    def get_write_buffer_size(self) -> int:
        return self._unread

    def count_arrivals(self) -> None:
        """Have the other end say what has arrived."""
        self._pipes.tell(self.worker, PipeArrival(self.number))

    @property
    def unarrived(self) -> int:
        """Bytes of which it is not known that they have reached the client."""
        return self._written - self._arrived

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._peer if name == "peername" else default

    def get_protocol(self) -> asyncio.BaseProtocol:
        return cast("asyncio.BaseProtocol", self.protocol)

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self.protocol = protocol

    def write(self, data: Any) -> None:
        if not self._closing:
            self._pipes.send(self.worker, with_data(self.number, bytes(data)))
            self._written += len(data)
            if self._unread:
                self._unread += len(data)

    def pause_reading(self) -> None:
        self._pipes.tell(self.worker, PipeFlow(self.number, reads=False))

    def resume_reading(self) -> None:
        self._pipes.tell(self.worker, PipeFlow(self.number))

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self._pipes.tell(self.worker, PipeClosed(self.number, "eof"))

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        self._end("close")

    def abort(self) -> None:
        self._end("abort")

    def _end(self, how: Literal["close", "abort"]) -> None:
        if not self._closing:
            self._closing = True
            self._pipes.tell(self.worker, PipeClosed(self.number, how))
            asyncio.get_running_loop().call_soon(self.lose)

    # What comes over the bus.

    def take(self, news: PipeFlow | PipeArrival | PipeClosed) -> None:
        """Hear how the client reads, or that it is gone."""
        if isinstance(news, PipeArrival):
            self._arrived = news.arrived
        elif isinstance(news, PipeFlow):
            before, self._unread = self._unread, news.unread
            if news.unread and not before:
                self.protocol.pause_writing()
            elif before and not news.unread:
                self.protocol.resume_writing()
        elif news.how != "eof":
            self.lose()
        elif not self.protocol.eof_received():  # then a transport closes by itself
            self.close()

    def lose(self) -> None:
        """The connection is gone."""
        self._closing = True
        if self._pipes.forget_owned(self):
            self.protocol.connection_lost(None)


class Pipes:
    """All pipes of this worker: those of its clients, and those that lead to doors of its own."""

    def __init__(self, send: Send, encode: Encode, new_socket: NewSocket) -> None:
        self.send = send
        self._encode = encode
        self._new_socket = new_socket
        self._numbers = count(1)
        self._clients: dict[int, ClientEnd] = {}
        self._owned: dict[tuple[int, int], OwnerEnd] = {}

    def number_from(self, first: int) -> None:
        """Number pipes from *first* + 1 on: no two workers give one the same number."""
        self._numbers = count(first + 1)

    def tell(self, worker: int, news: PipeNews) -> None:
        """Send news of a pipe to its other end."""
        self.send(worker, self._encode(news))

    def open(self, worker: int, transport: asyncio.Transport, request: UpgradeRequest) -> ClientEnd:
        """Connect a client to a socket at its owner."""
        number = next(self._numbers)
        end = self._clients[number] = ClientEnd(self, worker, number, transport)
        transport.set_protocol(end)
        host, port = (transport.get_extra_info("peername") or ("", 0))[:2]
        self.tell(worker, PipeOpened(number, request.serialize(), str(host), int(port)))
        return end

    # What comes over the bus.

    def take_data(self, worker: int, message: bytes) -> None:
        """Some bytes of a pipe."""
        number, data = int.from_bytes(message[1:9], "big"), message[9:]
        if (owned := self._owned.get((worker, number))) is not None:
            owned.protocol.data_received(data)
        elif (client := self._clients.get(number)) is not None and client.worker == worker:
            client.write(data)

    def take(self, worker: int, news: PipeNews) -> None:
        """News of a pipe."""
        if isinstance(news, PipeOpened):
            end = self._owned[worker, news.number] = OwnerEnd(self, worker, news)
            end.protocol = self._new_socket()
            end.protocol.connection_made(end)
            end.protocol.data_received(news.head)
        elif (owned := self._owned.get((worker, news.number))) is not None:
            owned.take(news)
        elif (client := self._clients.get(news.number)) is not None and client.worker == worker:
            client.take(news)

    def lose_worker(self, worker: int) -> None:
        """Another worker is gone, or messages were lost: all pipes to it and from it end."""
        for client in [one for one in self._clients.values() if one.worker == worker]:
            client.lose_owner()
        for owned in [one for one in self._owned.values() if one.worker == worker]:
            owned.lose()

    def forget_client(self, end: ClientEnd) -> None:
        """A client's connection is closed."""
        self._clients.pop(end.number, None)

    def forget_owned(self, end: OwnerEnd) -> bool:
        """A pipe to one of our doors has ended; False if that was known."""
        return self._owned.pop((end.worker, end.number), None) is not None

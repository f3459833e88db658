"""Real sockets without a network: what a server writes is read by the WebSocket core of a client."""

import asyncio
from types import SimpleNamespace
from typing import Any

from websockets.client import ClientProtocol
from websockets.datastructures import Headers
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import parse_uri

from parlour.server.gateway.sockets import Sockets


class Pipe(asyncio.Transport):
    """The server's end of a line; what it writes waits until it is read."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self.aborted = False
        self.closed = False
        self.reading = True

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        assert high == 0  # whatever waits is noticed

    def get_write_buffer_size(self) -> int:
        return len(self.written)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", 9) if name == "peername" else default

    def write(self, data: Any) -> None:
        self.written += data

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None: ...

    def is_closing(self) -> bool:
        return self.aborted or self.closed

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.aborted = True


class Wire:
    """One connection, and what its client gets."""

    kind: type[Pipe] = Pipe

    def __init__(self, sockets: Sockets, path: str, **headers: str) -> None:
        self.pipe = self.kind()
        self.reads = True
        self._behind = False
        self.got: list[str] = []
        """Messages, and how it ended."""
        self._socket = sockets(server_state=SimpleNamespace(connections=set()))  # type: ignore[arg-type]
        self._socket.connection_made(self.pipe)
        self._client = ClientProtocol(parse_uri("ws://parlour.test/"), max_size=None)
        request = self._client.connect()
        request.path = path
        request.headers.update(headers)
        self._client.send_request(request)
        self._over = False
        self.headers = Headers()
        """Of the answer."""
        self._pump()

    @property
    def is_open(self) -> bool:
        """The server let it in, and it is not closed."""
        return self._client.state is State.OPEN and not self._over

    @property
    def cookie(self) -> str | None:
        """What the answer set, as it is sent back."""
        return self.headers["Set-Cookie"].partition(";")[0] if "Set-Cookie" in self.headers else None

    def send(self, message: str | bytes, *, text: bool | None = None) -> None:
        data = message.encode() if isinstance(message, str) else message
        opcode = Opcode.TEXT if (isinstance(message, str) if text is None else text) else Opcode.BINARY
        self._client.send_frame(Frame(opcode, data))
        self._pump()

    def close(self, code: int = 1000) -> None:
        """Say goodbye."""
        self._client.send_close(code)
        self._pump()
        self.read()
        self.lose()

    def lose(self) -> None:
        """The line breaks; the server notices."""
        if not self._over:
            self._over = self.pipe.closed = True
            self._socket.connection_lost(None)

    def read(self) -> None:
        """Take what the server has written by now."""
        if self._over:
            return
        if self.reads and self.pipe.written:
            data, self.pipe.written = bytes(self.pipe.written), bytearray()
            self._client.receive_data(data)
            if self._behind or self._socket.clogged:
                self._behind = False
                self._socket.resume_writing()
            for event in self._client.events_received():
                self._note(event)
            self._pump()
        elif self.pipe.written and not self._behind:
            self._behind = True
            self._socket.pause_writing()
        if self.pipe.aborted:
            if self._client.state is State.OPEN:
                self.got.append("cut")
            self.lose()

    def _note(self, event: Any) -> None:
        if isinstance(event, Frame):
            if event.opcode is Opcode.CLOSE:
                close = self._client.close_rcvd
                assert close is not None
                self.got.append(f"closed {int(close.code)} {close.reason}".rstrip())
                self.lose()
            elif event.opcode in (Opcode.TEXT, Opcode.BINARY):
                self.got.append(bytes(event.data).decode().rstrip("\n"))
        elif isinstance(event, Response):
            self.headers = event.headers
            if event.status_code != 101:
                self.got.append(f"refused {event.status_code} {bytes(event.body or b'').decode()}".rstrip())
                self.lose()

    def _pump(self) -> None:
        out = b"".join(self._client.data_to_send())
        if out and not self._over:
            self._socket.data_received(out)

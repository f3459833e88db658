"""The doors as a whole, without a network: an HTTP request into the application, raw bytes into a socket."""

import asyncio
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any

import msgspec
import structlog
from starlette.types import Message

from fuzz.readers import GOOD, JOIN, PUSHES, TOKENS
from fuzz.target import target
from parlour.server.api.endpoints import Api, web_app
from parlour.server.api.web_pages import read_pages
from parlour.server.gateway.doors.relay import Relays
from parlour.server.gateway.native import native_doors
from parlour.server.gateway.sockets import Sockets
from parlour.server.limits import Limits
from tests.server.world import World


@cache
def loop() -> asyncio.AbstractEventLoop:
    """One loop for all inputs."""
    return asyncio.new_event_loop()


class Building:
    """A server without a network."""

    def __init__(self) -> None:
        self.world = World(
            rate=0,
            player_rate=0,
            address_rate=0,
            address_connections=0,
            player_rooms=0,
            address_rooms=0,
            address_guesses=0,
        )
        loop().run_until_complete(self.world.journal.open())  # and no heart that beats between inputs
        loop().run_until_complete(self.world.open("tictactoe"))
        self.visits = itertools.count(1)
        limits = Limits(self.world.settings, self.world.clock)
        api = Api(self.world.server, TOKENS, limits, self.world.settings)
        self.app = web_app(api, None, read_pages())
        self.relays = Relays(self.world.clock, TOKENS.of_kind("relay"), self.world.settings, lambda: True)
        doors = [*native_doors(self.world.server, TOKENS, self.world.settings), self.relays]
        self.sockets = Sockets(doors, self.world.clock, limits, self.world.settings)


def building() -> Building:
    """A server, and after a while a new one, so that what was opened does not pile up."""
    if not buildings or next(buildings[-1].visits) > MAX_VISITS:
        buildings[:] = [Building()]
    return buildings[-1]


MAX_VISITS = 2000
buildings: list[Building] = []


@contextmanager
def no_complaints() -> Iterator[None]:
    """Whatever the server catches in the end, it writes to its log: nothing of the kind may happen."""
    with structlog.testing.capture_logs() as lines:
        yield
    assert not [line for line in lines if line["log_level"] in ("error", "critical")], lines


def split(data: bytes) -> tuple[bytes, bytes, list[tuple[bytes, bytes]], bytes]:
    """Method, path, headers and body of something like an HTTP request."""
    head, _, body = data.partition(b"\n\n")
    first, *lines = head.split(b"\n")
    method, _, path = first.partition(b" ")
    pairs = (line.partition(b": ") for line in lines)
    return method, path, [(name.lower(), value) for name, _, value in pairs], body


@target(
    b'POST /api/players\ncontent-type: application/json\n\n{"name":"Ann"}',
    b"POST /api/players\nauthorization: Bearer " + GOOD + b"\n\n{}",
    b"POST /api/rooms\ncookie: parlour_token=" + GOOD + b'\norigin: http://x\nhost: x\n\n{"game":"x"}',
    b'POST /api/rooms\n\n{"game":"minesweeper","config":{"width":5},"id":"friday","private":true}',
    b"GET /api/rooms/friday\n\n", b"GET /api/players/me/rooms\nhost: [\n\n", b"HEAD /health\n\n",
    b"GET /nothing\nhost: [\n\n",
)  # fmt: skip
def http_request(data: bytes) -> None:
    """Whatever is asked, it is answered: no exception, no 500, and in JSON where there is a body."""
    method, path, headers, body = split(data)
    scope: dict[str, Any] = {
        "type": "http",
        "method": method.decode("latin-1"),
        "path": path.decode("utf-8", "replace"),
        "raw_path": path,
        "query_string": b"",
        "headers": headers,
        "scheme": "http",
        "server": ("127.0.0.1", 8000),
        "root_path": "",
    }
    said: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        said.append(message)

    with no_complaints():
        loop().run_until_complete(building().app(scope, receive, send))
    start, *rest = said
    assert start["status"] < 500, start
    if dict(start["headers"]).get(b"content-type") == b"application/json":
        content = b"".join(part.get("body", b"") for part in rest)
        assert method == b"HEAD" or msgspec.json.decode(content) is not None


KNOCK = (
    b"GET /socket/websocket?vsn=2.0.0 HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


def masked(opcode: int, data: bytes) -> bytes:
    """A client's frame; a mask of zeros is a mask."""
    size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + len(data).to_bytes(2, "big")
    return bytes([opcode]) + size + bytes(4) + data


@target(
    KNOCK + b"\r\n" + b"".join(masked(0x81, frame) for frame in (JOIN, *PUSHES)),
    KNOCK + b"Cookie: parlour_token=" + GOOD + b"\r\nOrigin: http://x\r\n\r\n" + masked(0x89, b"?"),
    KNOCK + b"\r\n" + masked(0x8A, b"!") + masked(0x88, b"\x03\xe8"),
    KNOCK + b"Sec-WebSocket-Protocol: phoenix, base64url.bearer.phx.YQ\r\n\r\n",
    KNOCK + b"\r\n" + masked(0x01, JOIN[:9]) + masked(0x8A, b"") + masked(0x80, JOIN[9:]),
    KNOCK + b"\r\n" + masked(0x82, bytes(5)) + masked(0x81, b"[]"),
    KNOCK.replace(b"/socket", b"//[/socket", 1) + b"\r\n",
)  # fmt: skip
def socket_bytes(data: bytes) -> None:
    """Whatever comes in through the line, nothing is raised and nothing is left behind."""
    with no_complaints():
        loop().run_until_complete(connect(building(), data))


RELAY_KNOCKS = [
    KNOCK.replace(b"/socket/websocket?vsn=2.0.0", path)
    for path in (b"/g/a?id=ann", b"/g/a", b"/g/a?id=bob&lastnum=3", b"/g/%E2%99%A0/?id=%3C&lastnum=x")
]


@target(
    RELAY_KNOCKS[0] + b"\r\n" + masked(0x81, b'{"turn":0}') + masked(0x82, b"\xff\x00"),
    RELAY_KNOCKS[1]
    + b"Cookie: clientID=a.b.c\r\n\r\n"
    + masked(0x81, b'{"turn":0}')
    + masked(0x81, b"hello"),
    RELAY_KNOCKS[1]
    + b"Origin: http://evil.example\r\n\r\n"
    + masked(0x82, b"[1,2]")
    + masked(0x88, b"\x03\xe8"),
    RELAY_KNOCKS[2] + b"\r\n" + masked(0x89, b"?"),
    RELAY_KNOCKS[3] + b"\r\n" + masked(0x01, b"[1") + masked(0x80, b"]"),
)
def relay_bytes(data: bytes) -> None:
    """The same at the relays' door; once everybody's time is over, no relay is left."""
    place = building()
    with no_complaints():
        loop().run_until_complete(connect(place, data))
        until = place.world.clock.now() + 6
        while place.world.clock.turn_to_next(until):
            pass
    assert not place.relays._in_memory


class Deaf(asyncio.Transport):
    """A line whose other end does not listen."""

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...

    def is_closing(self) -> bool:
        return False

    def get_write_buffer_size(self) -> int:
        return 0

    def write(self, data: Any) -> None: ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None: ...

    def abort(self) -> None: ...

    def close(self) -> None: ...


async def connect(place: Building, data: bytes) -> None:
    state: Any = SimpleNamespace(connections=set())
    socket = place.sockets(server_state=state)
    socket.connection_made(Deaf())
    head, end, rest = data.partition(b"\r\n\r\n")
    socket.data_received(head + end)
    for begin in range(0, len(rest), 97):
        socket.data_received(rest[begin : begin + 97])
        await asyncio.sleep(0)
    socket.eof_received()
    socket.connection_lost(None)
    await place.world.quiet()
    assert not state.connections
    assert not place.sockets.open

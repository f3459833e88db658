"""A socket understands the same, however the bytes of its frames arrive."""

import asyncio
import gc
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Opcode
from websockets.utils import apply_mask

from parlour.errors import Refused
from parlour.server.gateway.sockets import Sockets
from parlour.server.gateway.upgrade import Door
from parlour.server.gateway.websocket import FRAMES_A_TURN, Socket
from parlour.server.limits import Limits
from parlour.server.settings import Settings
from tests.server.wires import Pipe
from tests.server.world import HandClock

HEAD = (
    b"GET /ear HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


class Ear(Door):
    """A door and a visit that keep what they hear."""

    name = player = "ear"
    paths = ("/ear",)

    def __init__(self):
        self.heard = []

    def enter(self, socket, upgrade):
        return self, {}

    def begin(self): ...

    def receive(self, message, *, text):
        self.heard.append((text, bytes(message)))

    def catch_up(self): ...

    def end(self): ...


def heard(chunks, max_frame=1000):
    """What a visit hears of these bytes, and what the server writes."""

    async def listen():
        ear, clock, settings = Ear(), HandClock(), Settings(max_frame=max_frame)
        sockets = Sockets([ear], clock, Limits(settings, clock), settings)
        socket, pipe = sockets(server_state=SimpleNamespace(connections=set())), Pipe()  # type: ignore[arg-type]
        socket.connection_made(pipe)
        for chunk in (HEAD, *chunks):
            socket.data_received(chunk)
            while not pipe.reading:  # noqa: ASYNC110 - turns of the loop are what is meant
                await asyncio.sleep(0)
        return ear.heard, bytes(pipe.written).partition(b"\r\n\r\n")[2]

    return asyncio.run(listen())


def frame(opcode, data, *, fin=True, mask=True, rsv1=False):
    size = len(data)
    length = bytes([size]) if size < 126 else b"\x7e" + size.to_bytes(2, "big")
    first = opcode | fin << 7 | rsv1 << 6
    if not mask:
        return bytes([first]) + length + data
    key = b"\x12\x34\x56\x78"
    return bytes([first, length[0] | 128]) + length[1:] + key + apply_mask(data, key)


FRAMES = st.builds(
    frame,
    st.sampled_from([Opcode.TEXT] * 4 + [Opcode.BINARY] * 2 + [Opcode.CONT] * 2 + [Opcode.PING, Opcode.PONG]),
    st.binary(max_size=20)
    | st.sampled_from([b"", b"x" * 125, b"x" * 126, b"x" * 127, b"x" * 1000, b"x" * 1001]),
    fin=st.sampled_from([True, True, True, False]),
    mask=st.sampled_from([True] * 9 + [False]),
    rsv1=st.sampled_from([False] * 9 + [True]),
)


@given(st.lists(FRAMES, max_size=6), st.lists(st.integers(1, 40), max_size=10), st.sampled_from([1, 1, 40]))
def test_frames_are_understood_the_same_whole_and_in_pieces(frames, sizes, times):
    frames = frames * times  # more than are taken in one turn of the loop
    whole = b"".join(frames)
    by_byte = [whole[at : at + 1] for at in range(len(whole))]
    pieces, at = [], 0
    for size in sizes:
        pieces.append(whole[at : at + size])
        at += size
    pieces.append(whole[at:])
    messages, answers = heard(by_byte)
    assert heard(frames) == (messages, answers)
    some, told = heard([piece for piece in pieces if piece])
    assert told == answers
    # What came together with something against the rules may be left unheard.
    assert some == messages or (b"\x88" in answers and some == messages[: len(some)])


@given(st.binary(max_size=30))
def test_any_bytes_are_understood_the_same_at_once_and_one_by_one(data):
    assert heard([data] if data else []) == heard([data[at : at + 1] for at in range(len(data))])


async def test_a_refused_upgrade_counts_as_a_call_until_its_connection_is_closed():
    ear, clock, settings = Ear(), HandClock(), Settings(address_connections=1)
    limits = Limits(settings, clock)
    sockets = Sockets([ear], clock, limits, settings)
    lines = []
    for _ in range(2):
        place = limits.admit_call("127.0.0.1")
        line = sockets(server_state=SimpleNamespace(connections=set()))  # type: ignore[arg-type]
        line.connection_made(Pipe())
        line.data_received(HEAD)
        line.take_over(place)
        lines.append(line)
    inside, outside = lines
    assert (inside.is_open, outside.is_open) == (True, False)
    with pytest.raises(Refused):
        limits.admit_call("127.0.0.1")
    outside.connection_lost(None)
    assert limits.admit_call("127.0.0.1") == "127.0.0.1"


class Caller(Ear):
    """A visit that knows its socket, as all real ones do."""

    def __init__(self, socket=None):
        super().__init__()
        self.socket = socket

    def enter(self, socket, upgrade):
        return Caller(socket), {}


async def test_what_waited_for_a_later_turn_is_let_go_with_its_connection():
    troubles = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: troubles.append(context))
    ear, clock, settings = Ear(), HandClock(), Settings()
    sockets = Sockets([ear], clock, Limits(settings, clock), settings)
    socket = sockets(server_state=SimpleNamespace(connections=set()))  # type: ignore[arg-type]
    socket.connection_made(Pipe())
    socket.data_received(HEAD)
    socket.data_received(frame(Opcode.TEXT, b"hello") * (FRAMES_A_TURN + 1))
    socket.connection_lost(None)
    await asyncio.sleep(0)
    assert len(ear.heard) == FRAMES_A_TURN
    assert troubles == []


async def test_a_connection_that_is_gone_waits_for_no_collector_of_garbage():
    clock, settings = HandClock(), Settings()
    sockets = Sockets([Caller()], clock, Limits(settings, clock), settings)
    gc.collect()
    gc.disable()
    before = alive()
    try:
        socket = sockets(server_state=SimpleNamespace(connections=set()))  # type: ignore[arg-type]
        socket.connection_made(Pipe())
        socket.data_received(HEAD + frame(Opcode.TEXT, b"hello"))
        socket.connection_lost(None)
        del socket
        assert alive() == before
    finally:
        gc.enable()


def alive():
    """How many connections and visits there are in memory."""
    return sum(isinstance(one, Socket | Caller) for one in gc.get_objects())

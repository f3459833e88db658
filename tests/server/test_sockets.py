"""A socket understands the same, however the bytes of its frames arrive."""

import asyncio
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Opcode
from websockets.utils import apply_mask

from parlour.server.config import Settings
from parlour.server.limits import Limits
from parlour.server.sockets import Sockets, lone_message, still_due
from tests.server.wires import Pipe
from tests.server.world import HandClock

HEAD = (
    b"GET /ear HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


class Ear:
    """A door and a visit that keep what they hear."""

    name = player = "ear"

    def __init__(self):
        self.heard = []

    def enter(self, socket, knock):
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
        sockets = Sockets({"/ear": ear}, clock, Limits(settings, clock), settings)
        socket, pipe = sockets(server_state=SimpleNamespace(connections=set())), Pipe()  # type: ignore[arg-type]
        socket.connection_made(pipe)
        for chunk in (HEAD, *chunks):
            socket.data_received(chunk)
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


@given(st.lists(FRAMES, max_size=6), st.lists(st.integers(1, 40), max_size=10))
def test_frames_are_understood_the_same_whole_and_in_pieces(frames, sizes):
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


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 1000])
def test_a_whole_frame_is_a_lone_message(size):
    assert lone_message(frame(Opcode.TEXT, b"x" * size), 1000) == (True, b"x" * size)
    assert lone_message(frame(Opcode.BINARY, b"x" * size), 1000) == (False, b"x" * size)


@pytest.mark.parametrize(
    "data",
    [
        b"\x81",
        frame(Opcode.TEXT, b"half", fin=False),
        frame(Opcode.TEXT, b"bare", mask=False),
        frame(Opcode.TEXT, b"bits", rsv1=True),
        frame(Opcode.PING, b"ping"),
        frame(Opcode.TEXT, b"x" * 1001),
        frame(Opcode.TEXT, b"one") + frame(Opcode.TEXT, b"two"),
        b"\x81\xfe\x00\x05" + bytes(4) + b"short",
        b"\x81\xff" + bytes(131),
    ],
)
def test_anything_else_is_not(data):
    assert lone_message(data, 1000) is None


def test_how_much_of_a_frame_is_still_to_come_is_known_unless_its_head_is_cut():
    data = frame(Opcode.TEXT, b"x" * 200)
    assert [still_due(data[:cut], 0) for cut in (1, 3, 4, 8, 207, 208)] == [None, None, 204, 200, 1, 0]
    assert still_due(data + data[:9], 0) == 199
    assert still_due(data[9:] + data, 199) == 0

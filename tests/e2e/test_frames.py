"""Frames by the book of RFC 6455 and against it, made by hand and sent over a bare TCP connection."""

import json
import os
import socket
import struct
import zlib
from contextlib import closing, suppress

import pytest

from tests.e2e.lines import PATIENCE

pytestmark = pytest.mark.e2e

CONT, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
FIN, RSV1, RSV2, RSV3 = 0x80, 0x40, 0x20, 0x10
HEARTBEAT = b'[null,"1","phoenix","heartbeat",{}]'
KNOCK = (
    b"GET /socket/websocket?vsn=2.0.0 HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


def frame(opcode, data=b"", *, first=FIN, mask=b"\x12\x34\x56\x78", length=None):
    """A client's frame; *first* holds FIN and the reserved bits, *length* is how the size is written."""
    size = len(data)
    length = length or (0 if size < 126 else 2 if size < 65536 else 8)
    masked = 0 if mask is None else 0x80
    head = {0: struct.pack("!B", masked | size) if length == 0 else b"",
            2: struct.pack("!BH", masked | 126, size % 65536),
            8: struct.pack("!BQ", masked | 127, size)}[length]  # fmt: skip
    if mask is not None:
        data = mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))
    return bytes([first | opcode]) + head + data


def goodbye(code, reason=b""):
    return frame(CLOSE, struct.pack("!H", code) + reason)


class Wire:
    """A TCP connection that has been upgraded."""

    def __init__(self, server, extra=b"", knock=KNOCK):
        self.line = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        self.line.sendall(knock + extra + b"\r\n")
        self.head = b""
        while not self.head.endswith(b"\r\n\r\n"):
            self.head += self.line.recv(1)

    def close(self):
        self.line.close()

    def send(self, *frames):
        self.line.sendall(b"".join(frames))

    def read(self, size):
        data = b""
        while len(data) < size:
            more = self.line.recv(size - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def hear(self):
        """The next frame: (first byte, data). A server's frames have no mask."""
        first, size = self.read(2)
        assert size < 128
        if size == 126:
            (size,) = struct.unpack("!H", self.read(2))
        elif size == 127:
            (size,) = struct.unpack("!Q", self.read(8))
        return first, self.read(size)

    def end(self):
        """The close code that comes next, and nothing after it; None when the line just ends."""
        try:
            first, data = self.hear()
        except (EOFError, ConnectionResetError):
            return None
        assert first == FIN | CLOSE
        with suppress(OSError):
            self.send(frame(CLOSE, data[:2]))  # a goodbye is answered, or the server waits for that
        assert self.line.recv(1) == b""
        return struct.unpack("!H", data[:2])[0] if data else 1005

    def lives(self):
        self.send(frame(TEXT, HEARTBEAT))
        return self.answered()

    def answered(self):
        first, data = self.hear()
        return first == FIN | TEXT and json.loads(data)[4]["status"] == "ok"


@pytest.fixture
def wire(patient):
    with closing(Wire(patient)) as wire:
        yield wire


# What must work.


@pytest.mark.parametrize("length", [0, 2, 8], ids=["7 bits", "16 bits", "64 bits"])
def test_a_size_may_be_written_in_any_way(wire, length):
    wire.send(frame(TEXT, HEARTBEAT, length=length))
    assert wire.answered()


@pytest.mark.parametrize("size", [1, 2, 7, 20])
def test_a_message_may_come_in_fragments(wire, size):
    parts = [HEARTBEAT[at : at + size] for at in range(0, len(HEARTBEAT), size)]
    kinds = [TEXT] + [CONT] * len(parts[1:])
    lasts = [0] * len(parts[1:]) + [FIN]
    wire.send(*(frame(kind, part, first=fin) for kind, part, fin in zip(kinds, parts, lasts, strict=True)))
    assert wire.answered()


def test_empty_fragments_count_for_nothing(wire):
    wire.send(frame(TEXT, first=0), frame(CONT, first=0), frame(CONT, HEARTBEAT, first=0), frame(CONT))
    assert wire.answered()


def test_a_ping_between_fragments_is_answered_first(wire):
    wire.send(frame(TEXT, HEARTBEAT[:9], first=0), frame(PING, b"still there?"), frame(CONT, HEARTBEAT[9:]))
    assert wire.hear() == (FIN | PONG, b"still there?")
    assert wire.answered()


@pytest.mark.parametrize("data", [b"", b"x", os.urandom(125)])
def test_a_ping_comes_back_as_it_was(wire, data):
    wire.send(frame(PING, data))
    assert wire.hear() == (FIN | PONG, data)


def test_a_pong_that_nobody_asked_for_is_ignored(wire):
    wire.send(frame(PONG, b"here I am"))
    assert wire.lives()


def test_frames_may_come_byte_by_byte_and_all_at_once(wire):
    wire.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in frame(TEXT, HEARTBEAT):
        wire.line.sendall(bytes([byte]))
    assert wire.answered()
    wire.send(*[frame(TEXT, HEARTBEAT)] * 50)
    assert all(wire.answered() for _ in range(50))


def test_a_mask_of_zeros_is_a_mask(wire):
    wire.send(frame(TEXT, HEARTBEAT, mask=bytes(4)))
    assert wire.answered()


def test_a_character_may_be_split_over_fragments(wire):
    text = '[null,"é€🙂","phoenix","heartbeat",{}]'.encode()
    parts = [text[at : at + 1] for at in range(len(text))]
    wire.send(frame(TEXT, first=0), *(frame(CONT, part, first=0) for part in parts), frame(CONT))
    assert wire.answered()


# What must end the connection, and how.


@pytest.mark.parametrize("bits", [RSV1, RSV2, RSV3, RSV1 | RSV2 | RSV3])
@pytest.mark.parametrize("opcode", [TEXT, BINARY, PING, CLOSE])
def test_reserved_bits_are_a_protocol_error(wire, bits, opcode):
    wire.send(frame(opcode, b"", first=FIN | bits))
    assert wire.end() == 1002


@pytest.mark.parametrize("opcode", [3, 4, 5, 6, 7, 11, 12, 13, 14, 15])
def test_opcodes_that_mean_nothing_are_a_protocol_error(wire, opcode):
    wire.send(frame(opcode, b"x"))
    assert wire.end() == 1002


def test_a_frame_without_a_mask_is_a_protocol_error(wire):
    wire.send(frame(TEXT, HEARTBEAT, mask=None))
    assert wire.end() == 1002


@pytest.mark.parametrize("opcode", [PING, PONG, CLOSE])
@pytest.mark.parametrize("size", [126, 65536])
def test_a_long_control_frame_is_a_protocol_error(wire, opcode, size):
    wire.send(frame(opcode, bytes(size)))
    assert wire.end() == 1002


@pytest.mark.parametrize("opcode", [PING, PONG, CLOSE])
def test_a_control_frame_in_fragments_is_a_protocol_error(wire, opcode):
    wire.send(frame(opcode, first=0))
    assert wire.end() == 1002


def test_a_continuation_of_nothing_is_a_protocol_error(wire):
    wire.send(frame(CONT, b"x"))
    assert wire.end() == 1002


@pytest.mark.parametrize("opcode", [TEXT, BINARY])
def test_a_new_message_before_the_end_of_the_last_is_a_protocol_error(wire, opcode):
    wire.send(frame(TEXT, b"[", first=0), frame(opcode, b"x"))
    assert wire.end() == 1002


BROKEN = [b"\xff", b"\xc3", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"]


@pytest.mark.parametrize("text", BROKEN, ids=[text.hex() for text in BROKEN])
@pytest.mark.parametrize("split", [False, True], ids=["whole", "split"])
def test_text_that_is_no_utf_8_is_invalid_data(wire, text, split):
    if split:
        half = len(text) // 2
        wire.send(frame(TEXT, b'["' + text[:half], first=0), frame(CONT, text[half:], first=0), frame(CONT))
    else:
        wire.send(frame(TEXT, b'["' + text + b'"]'))
    assert wire.end() == 1007


@pytest.mark.parametrize("size", [2**16 + 1, 2**31, 2**32, 2**62, 2**63 - 1])
def test_a_size_beyond_the_limit_is_refused_before_the_data_comes(wire, size):
    wire.send(struct.pack("!BBQ", FIN | TEXT, 0x80 | 127, size) + bytes(4))
    assert wire.end() == 1009


def test_a_size_with_the_highest_bit_is_refused(wire):
    wire.send(struct.pack("!BBQ", FIN | TEXT, 0x80 | 127, 2**63) + bytes(4))
    assert wire.end() in (1002, 1009)


def test_fragments_that_are_too_large_together_are_refused_when_they_are(wire):
    wire.send(frame(TEXT, bytes(40_000), first=0), frame(CONT, bytes(40_000), first=0))
    assert wire.end() == 1009


# Goodbyes.


@pytest.mark.parametrize(
    "code", [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999]
)
def test_a_goodbye_is_answered_in_kind(wire, code):
    wire.send(goodbye(code, b"bye"))
    assert wire.end() == code


def test_a_goodbye_without_a_word_is_answered_without_one(wire):
    wire.send(frame(CLOSE))
    assert wire.end() == 1005


@pytest.mark.parametrize("code", [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535])
def test_a_goodbye_with_a_code_that_is_none_is_a_protocol_error(wire, code):
    wire.send(goodbye(code))
    assert wire.end() == 1002


def test_a_goodbye_within_a_message_is_a_protocol_error(wire):
    wire.send(frame(TEXT, b"[", first=0), goodbye(1000), frame(CONT, b"]"))
    assert wire.end() == 1002


def test_half_a_code_is_a_protocol_error(wire):
    wire.send(frame(CLOSE, b"\x03"))
    assert wire.end() == 1002


def test_a_reason_that_is_no_utf_8_is_invalid_data(wire):
    wire.send(goodbye(1000, b"\xff"))
    assert wire.end() == 1007


def test_what_comes_after_a_goodbye_is_not_heard(wire):
    wire.send(goodbye(1000), frame(TEXT, HEARTBEAT), frame(PING, b"x"))
    assert wire.end() == 1000


# Lines that just end.

WHOLE = frame(TEXT, HEARTBEAT)


@pytest.mark.parametrize("length", range(1, len(WHOLE), 5))
def test_half_a_frame_and_an_end_of_data_end_the_connection(wire, patient, length):
    wire.send(WHOLE[:length])
    wire.line.shutdown(socket.SHUT_WR)
    assert wire.end() in (None, 1006, 1002)
    with closing(Wire(patient)) as another:
        assert another.lives()


@pytest.mark.parametrize("rude", [False, True], ids=["closed", "reset"])
def test_half_a_frame_and_no_more_of_them(patient, rude):
    with closing(Wire(patient)) as wire:
        wire.send(WHOLE[:9])
        if rude:
            wire.line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    with closing(Wire(patient)) as another:
        assert another.lives()


# Compression.


@pytest.mark.parametrize(
    "offer",
    ["permessage-deflate", "permessage-deflate; client_max_window_bits",
     "permessage-deflate; server_max_window_bits=8",
     "x-webkit-deflate-frame", "permessage-bzip2, permessage-deflate"],
)  # fmt: skip
def test_compression_is_never_agreed_on(patient, offer):
    with closing(Wire(patient, f"Sec-WebSocket-Extensions: {offer}\r\n".encode())) as wire:
        assert wire.head.startswith(b"HTTP/1.1 101")
        assert b"sec-websocket-extensions" not in wire.head.lower()
        assert wire.lives()


def test_a_deflate_bomb_does_not_go_off(patient):
    with closing(Wire(patient, b"Sec-WebSocket-Extensions: permessage-deflate\r\n")) as wire:
        wire.send(frame(TEXT, zlib.compress(bytes(10_000_000), 9)[2:-4], first=FIN | RSV1))
        assert wire.end() == 1002

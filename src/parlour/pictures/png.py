"""Reads a PNG chunk by chunk and keeps what a picture needs: no texts in it, and nothing after its end."""

import struct
import zlib
from collections.abc import Iterator

from parlour.errors import Code, Refused

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MAX_SIDE = 1024
"""Pixels: more than a piece fills on any screen."""
KEPT = {b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"sRGB", b"cHRM"}


def clean_png(body: bytes) -> bytes:
    """The picture without all that need not be in it; refused if it is none, or too large."""
    if not body.startswith(SIGNATURE):
        raise _wrong(f"got a file that begins with {body[:8]!r}")
    chunks = list(_chunks(body))
    if chunks[0][0] != b"IHDR" or len(chunks[0][1]) != 13 or not any(kind == b"IDAT" for kind, _ in chunks):
        raise _wrong("got one without a header or without pixels")
    width, height = struct.unpack(">II", chunks[0][1][:8])
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE):
        raise Refused(
            Code.GAME_ERROR, f"expected at most {MAX_SIDE} x {MAX_SIDE} pixels, got {width} x {height}"
        )
    return SIGNATURE + b"".join(_written(kind, data) for kind, data in chunks if kind in KEPT)


def _chunks(body: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Each chunk up to the last one; what comes after that is no part of the picture."""
    at, kind = len(SIGNATURE), b""
    while kind != b"IEND":
        head = body[at : at + 8]
        if len(head) < 8:
            raise _wrong("got one that breaks off")
        length, kind = struct.unpack(">I4s", head)
        data, check = body[at + 8 : at + 8 + length], body[at + 8 + length : at + 12 + length]
        if check != struct.pack(">I", zlib.crc32(kind + data)):
            raise _wrong(f"got one that is damaged at byte {at}")
        yield kind, data
        at += 12 + length


def _written(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I4s", len(data), kind) + data + struct.pack(">I", zlib.crc32(kind + data))


def _wrong(got: str) -> Refused:
    return Refused(Code.GAME_ERROR, f"expected a PNG picture, {got}")

"""The frames that workers send to each other, as msgpack arrays. `parlour.cluster.links` says when."""

from enum import IntEnum
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

LONGEST_FRAME = 512 * 1024
"""Bytes of a frame: half of what NATS takes in one message unless it is told otherwise."""

Count = Annotated[int, Meta(ge=0, le=1 << 53)]


class Progress(IntEnum):
    """How far one end is in opening a link."""

    SILENT = 0
    """It has heard nothing from the other end."""
    HEARD = 1
    """It has heard the other end, but does not know whether it is heard itself."""
    OPEN = 2
    """It has heard that it is heard: messages can go."""


class Hello(Struct, array_like=True, tag=1, gc=False):
    """The sender is in this link, and so far in opening it."""

    sender: Count
    link: Count
    progress: Progress


class Data(Struct, array_like=True, tag=2):
    """Frame *n* of the sender in this link, with its messages."""

    sender: Count
    link: Count
    n: Count
    received: Count
    """The highest number that the sender has received in this link."""
    messages: list[bytes]
    unfinished: bool = False
    """The only message is a piece of a long one, and the next piece is in the next frame."""


class Ask(Struct, array_like=True, tag=3, gc=False):
    """Has everything up to frame *n* arrived?"""

    sender: Count
    link: Count
    n: Count


class Ack(Struct, array_like=True, tag=4, gc=False):
    """Everything up to frame *n* has arrived."""

    sender: Count
    link: Count
    n: Count


class Announcement(Struct, array_like=True, tag=5, gc=False):
    """A message to all workers, outside of all links."""

    sender: Count
    message: bytes


Numbered = Hello | Data | Ask | Ack
Frame = Numbered | Announcement

_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Frame] = msgspec.msgpack.Decoder(Frame)

encode = _encoder.encode


def decode(frame: bytes) -> Frame | None:
    """The frame, or None if it cannot be read.

    >>> decode(encode(Ask(sender=7, link=1, n=30)))
    Ask(sender=7, link=1, n=30)
    >>> decode(b"GET / HTTP/1.1") is None
    True
    """
    try:
        return _decoder.decode(frame)
    except (msgspec.MsgspecError, RecursionError):
        return None

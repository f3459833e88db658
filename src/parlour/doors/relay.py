"""The door of board-game-framework's clients, ``/g/<room>``: how they knock, and their envelopes on the wire.

There are two generations, told apart by the query parameter ``id``, and both may be in one room. Those that
bring one are *numbered*: they speak as that framework's library does today. The others are *plain*: they
speak as its first documentation says, and get an id from us, in a cookie.
"""

import re
import unicodedata
from binascii import b2a_base64
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote, unquote_plus

import msgspec

from parlour.errors import Code, Refused
from parlour.relay import Envelope, Intent
from parlour.wire import shallow

PATH = "/g/"
COOKIE = "clientID"

MAX_NAME = 300
"""Characters of a room's name or a member's id: each message carries the ids of all."""
MAX_MESSAGE = 60 * 1024
"""Bytes of the largest message."""

FULL = "Maximum number of clients in game\n"
BAD_LASTNUM = (4000, "Bad lastnum")

_OURS = re.compile(r"\d+\.0\d+")
_LASTNUM = re.compile(r"\+?[0-9]{1,18}")
_BROKEN = re.compile(r"%(?![0-9A-Fa-f]{2})|;")
_INVISIBLE = {"Cc", "Cs"}


# Knocking.


class Wanted(NamedTuple):
    """What somebody who knocks asks for."""

    room: str
    numbered: bool
    id: str | None
    """The id that they brought."""
    last: int | None
    """The number of the last envelope that they have."""


def read_knock(path: str, query: str) -> Wanted:
    """What an address asks for; `Refused` if its names cannot be taken.

    >>> read_knock("/g/red-table", "id=ann&lastnum=7")
    Wanted(room='/g/red-table', numbered=True, id='ann', last=7)
    >>> read_knock("/g/red-table", "")
    Wanted(room='/g/red-table', numbered=False, id=None, last=None)
    """
    given: dict[str, str] = {}
    for name, value in _pairs(query):
        given.setdefault(name, value)
    room = _checked("a room", unquote(path))
    id = _checked("an id", given.get("id", "")) or None
    if id is not None and _OURS.fullmatch(id):
        raise Refused(
            Code.NAME_TAKEN, "expected an id of your own, got one of the kind that we give in a cookie"
        )
    last = given.get("lastnum", "")
    return Wanted(room, "id" in given, id, int(last) if _LASTNUM.fullmatch(last) else None)


def _pairs(query: str) -> Iterator[tuple[str, str]]:
    """Names and values; what cannot be read is as if it were not there."""
    for part in query.split("&"):
        if not _BROKEN.search(part):
            name, _, value = part.partition("=")
            yield unquote_plus(name), unquote_plus(value)


def _checked(what: str, name: str) -> str:
    if len(name) > MAX_NAME:
        raise Refused(Code.TOO_LARGE, f"expected {what} of at most {MAX_NAME} characters, got {len(name)}")
    for character in name:
        if unicodedata.category(character) in _INVISIBLE:
            sign = f"U+{ord(character):04X}"
            raise Refused(Code.INVALID_NAME, f"expected {what} without control characters, got {sign}")
    return name


def tidied(path: str) -> str:
    """Where an address with doubled slashes leads.

    >>> tidied("/g//red//table/")
    '/g/red/table/'
    """
    return re.sub("/{2,}", "/", path)


def made_id(seconds: int, number: int) -> str:
    """An id for somebody who came without."""
    return f"{seconds}.{number}"


def cookie_id(seconds: int, number: int) -> str:
    """An id for a cookie. Nobody can bring such a one: no number that a client makes begins with nought."""
    return f"{seconds}.0{number}"


# Envelopes.


class Copies(msgspec.Struct, frozen=True, gc=False):
    """An envelope on the wire: for its sender, and for all others."""

    own: bytes
    rest: bytes


def numbered(envelope: Envelope) -> Copies:
    """As today's clients read it: numbers, milliseconds, receipts, and bodies in base64."""
    one, many = _ids((envelope.sender,)), _ids(envelope.others)
    middle = (envelope.num, envelope.time)
    if envelope.body is not None:
        start = _PEER % (one, many, *middle)
        end = b',"Body":"' + b2a_base64(envelope.body, newline=False) + b'"}\n'
        return Copies(start + b"true" + end, start + b"false" + end)
    rest = _NEWS % (one, many, *middle, envelope.intent.encode())
    if envelope.intent is Intent.LEAVER:
        return Copies(rest, rest)
    return Copies(_NEWS % (many, one, *middle, b"Welcome"), rest)


_PEER = b'{"From":%b,"To":%b,"Num":%d,"Time":%d,"Intent":"Peer","Receipt":'
_NEWS = b'{"From":%b,"To":%b,"Num":%d,"Time":%d,"Intent":"%b","Receipt":false,"Body":null}\n'


def plain(envelope: Envelope) -> Copies:
    """As it was first documented: whole seconds, and bodies as the JSON that they are."""
    one, many = _ids((envelope.sender,)), _ids(envelope.others)
    time = envelope.time // 1000
    if envelope.body is not None:
        peer = _PLAIN_PEER % (one, many, time, as_json(envelope.body))
        return Copies(peer, peer)
    rest = _PLAIN_NEWS % (one, many, time, envelope.intent.encode())
    if envelope.intent is Intent.LEAVER:
        return Copies(rest, rest)
    return Copies(_PLAIN_NEWS % (many, one, time, b"Welcome"), rest)


_PLAIN_PEER = b'{"From":%b,"To":%b,"Time":%d,"Intent":"Peer","Body":%b}'
_PLAIN_NEWS = b'{"From":%b,"To":%b,"Time":%d,"Intent":"%b"}'


_read_any = msgspec.json.Decoder().decode


def as_json(body: bytes) -> bytes:
    """*body*, or a JSON string of it if it is no JSON that every client can read.

    Numbers may be of any size: what they mean is between the clients.

    >>> as_json(b'{"turn": 0}'), as_json(b"hello"), as_json(b"NaN")
    (b'{"turn": 0}', b'"hello"', b'"NaN"')
    """
    try:
        _read_any(shallow(body))
    except (Refused, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return msgspec.json.encode(body.decode(errors="replace"))
    return body


@lru_cache(maxsize=2048)
def _ids(ids: tuple[str, ...]) -> bytes:
    """A list of ids, with those signs escaped that today's server escapes."""
    text = msgspec.json.encode(ids)
    for sign, escaped in _ESCAPES:
        text = text.replace(sign, escaped)
    return text


_ESCAPES = [(sign.encode(), b"\\u%04x" % ord(sign)) for sign in "<>&\u2028\u2029"]

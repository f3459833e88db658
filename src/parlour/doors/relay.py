"""The door of board-game-framework's clients, ``/g/<room>``: how they knock, and their envelopes on the wire.

There are two generations, told apart by the query parameter ``id``, and both may be in one room. Those that
bring one are *numbered*: they speak as that framework's library does today. The others are *plain*: they
speak as its first documentation says, and get an id from us, in a cookie.
"""

import json
import re
import unicodedata
from binascii import b2a_base64
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import unquote, unquote_plus

import msgspec

from parlour.errors import Code, Refused
from parlour.relay import Crowd, Envelope, Intent

RELAY_PATH = "/g/"
RELAY_COOKIE = "clientID"

MAX_RELAY_NAME = 300
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


class RelayWanted(NamedTuple):
    """What somebody who knocks asks for."""

    room: str
    numbered: bool
    id: str | None
    """The id that they brought."""
    last: int | None
    """The number of the last envelope that they have."""


def read_address(path: str, query: str) -> RelayWanted:
    """What an address asks for; `Refused` if its names cannot be taken.

    >>> read_address("/g/red-table", "id=ann&lastnum=7")
    RelayWanted(room='/g/red-table', numbered=True, id='ann', last=7)
    >>> read_address("/g/red-table", "")
    RelayWanted(room='/g/red-table', numbered=False, id=None, last=None)
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
    return RelayWanted(room, "id" in given, id, int(last) if _LASTNUM.fullmatch(last) else None)


def _pairs(query: str) -> Iterator[tuple[str, str]]:
    """Names and values; what cannot be read is as if it were not there."""
    for part in query.split("&"):
        if not _BROKEN.search(part):
            name, _, value = part.partition("=")
            yield unquote_plus(name), unquote_plus(value)


def _checked(what: str, name: str) -> str:
    if len(name) > MAX_RELAY_NAME:
        raise Refused(
            Code.TOO_LARGE, f"expected {what} of at most {MAX_RELAY_NAME} characters, got {len(name)}"
        )
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


def numbered(envelope: Envelope, crowd: Crowd) -> Copies:
    """As today's clients read it: numbers, milliseconds, receipts, and bodies in base64."""
    one, many = (crowd.written or _write(crowd)).split(envelope.sender)
    middle = (envelope.num, envelope.time)
    if envelope.body is not None:
        start = _PEER % (one, many, *middle)
        end = b',"Body":"' + b2a_base64(envelope.body, newline=False) + b'"}\n'
        return Copies(start + b"true" + end, start + b"false" + end)
    rest = _NEWS % (one, many, *middle, envelope.intent.encode())
    if envelope.intent is Intent.LEAVER:
        return Copies(rest, rest)
    return Copies(_NEWS % (many, one, *middle, b"Welcome"), rest)


_PEER = b'{"From":[%b],"To":[%b],"Num":%d,"Time":%d,"Intent":"Peer","Receipt":'
_NEWS = b'{"From":[%b],"To":[%b],"Num":%d,"Time":%d,"Intent":"%b","Receipt":false,"Body":null}\n'


def plain(envelope: Envelope, crowd: Crowd) -> Copies:
    """As it was first documented: whole seconds, and bodies as the JSON that they are."""
    one, many = (crowd.written or _write(crowd)).split(envelope.sender)
    time = envelope.time // 1000
    if envelope.body is not None:
        peer = _PLAIN_PEER % (one, many, time, as_json(envelope.body))
        return Copies(peer, peer)
    rest = _PLAIN_NEWS % (one, many, time, envelope.intent.encode())
    if envelope.intent is Intent.LEAVER:
        return Copies(rest, rest)
    return Copies(_PLAIN_NEWS % (many, one, time, b"Welcome"), rest)


_PLAIN_PEER = b'{"From":[%b],"To":[%b],"Time":%d,"Intent":"Peer","Body":%b}'
_PLAIN_NEWS = b'{"From":[%b],"To":[%b],"Time":%d,"Intent":"%b"}'


class Written:
    """The ids of a crowd as they are on the wire, and where each of them begins and ends."""

    __slots__ = ("_parts", "_spans", "_text")

    def __init__(self, ids: Iterable[str]) -> None:
        self._spans: dict[str, tuple[int, int]] = {}
        self._parts: dict[str, tuple[bytes, bytes]] = {}
        """What `split` gave, where that is short."""
        pieces, at = [], 0
        for id in ids:
            pieces.append(_escaped(id) + b",")
            self._spans[id] = at, at + len(pieces[-1])
            at += len(pieces[-1])
        self._text = b"".join(pieces)

    def split(self, id: str) -> tuple[bytes, bytes]:
        """One id, which may have left, and all others."""
        parts = self._parts.get(id)
        if parts is None:
            text = self._text
            if id not in self._spans:
                return _escaped(id), text[:-1]
            start, end = self._spans[id]
            parts = text[start : end - 1], (text[:start] + text[end:])[:-1]
            if len(text) <= SHORT:
                self._parts[id] = parts
        return parts


SHORT = 256
"""Bytes of the ids of a crowd up to which it is remembered what they look like without each of them."""


def _write(crowd: Crowd) -> Written:
    written = crowd.written = Written(crowd.ids)
    return written


def _escaped(id: str) -> bytes:
    """An id in JSON, with those signs escaped that today's server escapes."""
    text = msgspec.json.encode(id)
    for sign, escaped in _ESCAPES:
        text = text.replace(sign, escaped)
    return text


_ESCAPES = [(sign.encode(), b"\\u%04x" % ord(sign)) for sign in "<>&\u2028\u2029"]


_skim = msgspec.json.Decoder(msgspec.Raw).decode


def as_json(body: bytes) -> bytes:
    r"""*body* if it is JSON, else a JSON string of it; what it means is between the clients.

    >>> as_json(b'{"turn": 1e400}'), as_json(rb'"\ud800"'), as_json(b"hello"), as_json(b"NaN")
    (b'{"turn": 1e400}', b'"\\ud800"', b'"hello"', b'"NaN"')
    """
    try:
        text = body.decode()
        try:
            _skim(body)
        except msgspec.DecodeError:  # which half of a surrogate pair is to it, too, and to JSON is not
            json.loads(text, parse_int=str, parse_float=str, parse_constant=_no_json)
    except (ValueError, RecursionError):
        return msgspec.json.encode(body.decode(errors="replace"))
    return body


def _no_json(name: str) -> None:
    raise ValueError(f"expected JSON, got {name}")

"""Translates Engine.IO 3, which Socket.IO 2 speaks, into Engine.IO 4 and back; no I/O.

The packets are the same, except: the client sends the pings and the server answers; a body of packets
gives the length of each; and a client is in the default namespace without asking for it.
"""

import re

import msgspec

from parlour.errors import Code, Refused

PING = "2"
PONG = "3"
NOOP = "6"
PROBE = "2probe"
CONNECT = "0"
"""The packet by which a client of Engine.IO 4 enters the default namespace."""
PING_EVERY = 15_000
"""Milliseconds between the pings of a client: less than the 20 s in which the library wants one."""

_SEPARATOR = "\x1e"
_LENGTH = re.compile(rb"(?:[0-9]\x00){1,7}:\x00")
_OPENING = msgspec.json.Decoder(dict[str, msgspec.Raw])


def heard(packet: str) -> str:
    """Translate a client's packet into Engine.IO 4.

    >>> [heard(packet) for packet in ("2", "2probe", "5", '42["client_msg",{}]')]
    ['3', '2probe', '5', '42["client_msg",{}]']
    """
    return PONG if packet == PING else packet


def said(packet: str) -> str:
    """Translate a packet of Engine.IO 4 for the client.

    >>> [said(packet) for packet in ("2", "3probe", '40{"sid":"x"}', '42["server_msg",{}]')]
    ['6', '3probe', '40', '42["server_msg",{}]']
    """
    if packet == PING:
        return NOOP  # the client pings by itself
    if packet.startswith("0{"):
        opening = _OPENING.decode(packet[1:])
        opening["pingInterval"] = msgspec.Raw(str(PING_EVERY).encode())
        return "0" + msgspec.json.encode(opening).decode()
    return "40" if packet.startswith("40{") else packet


def read_body(body: bytes) -> bytes:
    r"""Translate the body of a POST into Engine.IO 4; `Refused` if it is malformed.

    Lengths are those of JavaScript, which counts a character beyond the first 65,536 as two.

    >>> read_body('1:24:42üß'.encode()), read_body('6:42"🙂"'.encode()).decode()
    (b'3\x1e42\xc3\xbc\xc3\x9f', '42"🙂"')
    """
    packets, at = [], 0
    try:
        units = body.decode().encode("utf-16-le")
        while at < len(units):
            if (length := _LENGTH.match(units, at)) is None:
                raise _unreadable()
            at = length.end() + 2 * int(length[0][:-2].decode("utf-16-le"))
            if at > len(units):
                raise _unreadable()
            packets.append(heard(units[length.end() : at].decode("utf-16-le")))
    except UnicodeDecodeError:
        raise _unreadable() from None
    return _SEPARATOR.join(packets).encode()


def write_body(body: bytes) -> bytes:
    r"""Translate the answer to a poll from Engine.IO 4.

    >>> write_body(b'2\x1e42["server_msg",{}]')
    b'1:619:42["server_msg",{}]'
    """
    packets = [said(packet) for packet in body.decode().split(_SEPARATOR)]
    return "".join(f"{len(packet.encode('utf-16-le')) // 2}:{packet}" for packet in packets).encode()


def _unreadable() -> Refused:
    return Refused(Code.MALFORMED, "expected Engine.IO 3 packets, each after its length, got something else")

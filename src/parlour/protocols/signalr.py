"""SignalR's JSON hub protocol over WebSockets, as Microsoft's own clients speak it.

Everything is a JSON record that ends with 0x1E; a message may hold several, and a record may be spread over
messages. First a handshake, then calls of hub methods one way and events the other. No game, no clock and no
network here: a door joins this to a game, and hands in when something has been silent for too long.
"""

from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from parlour.errors import Code, Refused, parse
from parlour.sanitize import shallow, strict

END = "\x1e"
MAX_RECORD = 32 * 1024
"""Characters of the longest record taken from a client, as the original has it."""
MAX_CALL_ID = 256
"""Characters of the longest id of a call; clients count."""
MAX_VERSION = 2

PING_AFTER = 15.0
"""Seconds for which a client hears nothing until it is pinged; after 30 it would give us up."""
SILENCE = 30.0
"""Seconds for which a client may say nothing: it pings, too."""
HANDSHAKE_TIMEOUT = 15.0
"""Seconds for the handshake, and from a negotiation to the socket that it is for."""


class Handshake(msgspec.Struct, frozen=True):
    """The first record of a client."""

    protocol: str
    version: int


class HubRecord(msgspec.Struct, frozen=True):
    """Any later record; what a kind of record does not have is left out."""

    type: int
    target: str | None = None
    arguments: list[msgspec.Raw] = []
    id: Annotated[str, Meta(max_length=MAX_CALL_ID)] | None = msgspec.field(name="invocationId", default=None)


class HubCall(NamedTuple):
    """A client calls a method of the hub; without an id it wants no answer."""

    target: str
    arguments: tuple[msgspec.Raw, ...]
    """As they came; whoever knows the method knows what they must be."""
    id: str | None


INVOCATION, STREAM_INVOCATION, COMPLETION, PING, CLOSE = 1, 4, 3, 6, 7

_read_handshake = msgspec.json.Decoder(Handshake).decode
_read_record = msgspec.json.Decoder(HubRecord).decode
_encode = msgspec.json.Encoder().encode


def record(**fields: Any) -> bytes:
    r"""One record, ready to be sent.

    >>> record(type=6)
    b'{"type":6}\x1e'
    """
    return _encode(fields) + END.encode()


def event(target: str, argument: Any) -> bytes:
    r"""Call a method of the client; nobody waits for an answer, so there is no id, not even null.

    >>> event("roll", 3)
    b'{"type":1,"target":"roll","arguments":[3]}\x1e'
    """
    return record(type=INVOCATION, target=target, arguments=[argument])


PINGED = record(type=PING)


def farewell(error: str | None = None, *, again: bool = False) -> bytes:
    r"""The last record: with *again* the client may come back by itself.

    >>> farewell(again=True)
    b'{"type":7,"allowReconnect":true}\x1e'
    """
    more: dict[str, Any] = {"error": error} if error is not None else {}
    return record(type=CLOSE, **more, **({"allowReconnect": True} if again else {}))


def negotiated(version: int, public: str, token: str) -> dict[str, Any]:
    """The answer to a negotiation: WebSockets are all there is. The token is secret, the public id is not.

    >>> negotiated(1, "seen", "secret")["connectionToken"], "connectionToken" in negotiated(0, "secret", "")
    ('secret', False)
    """
    transports = [{"transport": "WebSockets", "transferFormats": ["Text", "Binary"]}]
    answer = {"negotiateVersion": version, "connectionId": public, "availableTransports": transports}
    return answer | ({"connectionToken": token} if version else {})


class SignalR:
    """One connection: what has come of a record, whether hands were shaken, and what waits to be sent."""

    __slots__ = ("_out", "_part", "is_open", "left")

    def __init__(self) -> None:
        self._part = ""
        self._out: list[bytes] = []
        self.is_open = False
        """Hands were shaken."""
        self.left = False
        """The client has said goodbye."""

    def records(self, message: str | bytes) -> list[bytes]:
        """The records that end in this message; `Refused` when it is beyond understanding."""
        *records, self._part = (self._part + _text(message)).split(END)
        if any(len(one) > MAX_RECORD for one in (*records, self._part)):
            raise Refused(Code.TOO_LARGE, f"expected records of at most {MAX_RECORD} characters, got more")
        return [one.encode() for one in records]

    def read(self, record: bytes) -> HubCall | None:
        """The call in this record, if it is one; `Refused` when it is no record, and the connection ends."""
        if self.is_open:
            return self._read(record)
        self._shake_hands(record)
        return None

    def complete(self, id: str | None, error: str | None = None) -> None:
        """Answer a call, if an answer is wanted; no method of a hub gives anything back."""
        if id is not None:
            answer = {} if error is None else {"error": error}
            self._out.append(record(type=COMPLETION, invocationId=id, **answer))

    def tell(self, target: str, argument: Any) -> None:
        """Send an event to this client alone."""
        self._out.append(event(target, argument))

    def frames(self) -> list[bytes]:
        out, self._out = self._out, []
        return out

    def _shake_hands(self, body: bytes) -> None:
        try:
            hand = parse(_read_handshake, strict(body))
            if hand.protocol != "json":
                what = f"expected the protocol json, got {hand.protocol[:40]!r}"
                raise Refused(Code.MALFORMED, what, path="$.protocol")
            if not 0 <= hand.version <= MAX_VERSION:
                what = f"expected version 1 of the protocol, got {hand.version}"
                raise Refused(Code.MALFORMED, what, path="$.version")
        except Refused as why:
            self._out.append(record(error=why.message))
            raise
        self.is_open = True
        self._out.append(record())

    def _read(self, body: bytes) -> HubCall | None:
        """Pings, and what concerns streams and acknowledgements that we do not have, ask for nothing."""
        got = parse(_read_record, shallow(body))
        if got.type in (INVOCATION, STREAM_INVOCATION):
            if got.target is None:
                raise Refused(Code.MALFORMED, "$.target: expected a method's name, got none", path="$.target")
            if got.type == INVOCATION:
                return HubCall(got.target, tuple(got.arguments), got.id)
            self.complete(got.id, f"'{got.target[:40]}' is no stream: call it without asking for one.")
        self.left = self.left or got.type == CLOSE
        return None


def _text(message: str | bytes) -> str:
    """Some clients send their JSON in binary messages."""
    try:
        return message.decode() if isinstance(message, bytes) else message
    except UnicodeDecodeError:
        raise Refused(Code.MALFORMED, "expected JSON in UTF-8, got other bytes") from None

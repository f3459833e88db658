"""Phoenix Channels, V2 JSON: the native protocol, as the unmodified npm `phoenix` client speaks it.

A frame is ``[join_ref, ref, topic, event, payload]``. A room is topic ``game:<id>``; there is also ``lobby``.
"""

import base64
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from parlour.clocks import ClaimWin
from parlour.errors import Code, Refused, parse
from parlour.luck import SendLuck
from parlour.offers import AnswerOffer, GiveUpGame, MakeOffer
from parlour.sanitize import strict
from parlour.wire import (
    Enter,
    Exit,
    GiveUpSeat,
    Greeting,
    LobbyWish,
    PlayAgain,
    Push,
    Queue,
    Request,
    SendChat,
    SendEvent,
    Unqueue,
    Wish,
)

MAX_CHANNELS = 100
LOBBY = "lobby"

_BEARER = "base64url.bearer.phx."
NOTHING: list[bytes] = []


class Frame(msgspec.Struct, frozen=True, array_like=True):
    """What a client sends; Phoenix ignores further items, and so do we."""

    join_ref: str | None
    ref: str | None
    topic: str
    event: str
    payload: msgspec.Raw


_read_frame = msgspec.json.Decoder(Frame).decode
_read_enter = msgspec.json.Decoder(Enter).decode
_encode = msgspec.json.Encoder().encode

_WISHES: dict[str, "msgspec.json.Decoder[Wish]"] = {
    "game_event": msgspec.json.Decoder(SendEvent),
    "chat": msgspec.json.Decoder(SendChat),
    "leave": msgspec.json.Decoder(GiveUpSeat),
    "rematch": msgspec.json.Decoder(PlayAgain),
    "offer": msgspec.json.Decoder(MakeOffer),
    "answer": msgspec.json.Decoder(AnswerOffer),
    "resign": msgspec.json.Decoder(GiveUpGame),
    "claim": msgspec.json.Decoder(ClaimWin),
    "luck": msgspec.json.Decoder(SendLuck),
}
_LOBBY_WISHES: dict[str, "msgspec.json.Decoder[LobbyWish]"] = {
    "queue": msgspec.json.Decoder(Queue),
    "unqueue": msgspec.json.Decoder(Unqueue),
}


def topic_of(room: str | None) -> str:
    """The topic of a room, or of the lobby."""
    return LOBBY if room is None else f"game:{room}"


def room_of(topic: str) -> str | None:
    """The room behind a topic; None is the lobby."""
    if topic == LOBBY:
        return None
    kind, _, room = topic.partition(":")
    if kind != "game" or not room:
        raise Refused(Code.UNKNOWN_ROOM, f"expected topic lobby or game:<room id>, got {topic[:80]!r}")
    return room


class Phoenix:
    """One connection: which topics are joined, under which join_ref, and what waits to be sent."""

    name = "phoenix"
    path = "/socket/websocket"
    personal = False
    shows = False
    topic_of = staticmethod(topic_of)
    room_of = staticmethod(room_of)
    __slots__ = ("_join_refs", "_out")

    def __init__(self, out: list[bytes] | None = None) -> None:
        self._join_refs: dict[str, str | None] = {}
        """The topics that are joined, and under which join_ref."""
        self._out: list[bytes] = [] if out is None else out

    @staticmethod
    def greet(query: Mapping[str, str], subprotocols: Sequence[str]) -> Greeting:
        """The version must be ours; the token comes in the query or, as `authToken`, in a subprotocol."""
        version = query.get("vsn", "1.0.0")
        if not version.startswith("2."):
            raise Refused(Code.MALFORMED, f"expected serializer vsn=2.0.0, got {version[:20]!r}")
        token = query.get("token")
        for offered in subprotocols:
            if offered.startswith(_BEARER):
                token = _unpack_token(offered.removeprefix(_BEARER))
        return Greeting(token, "phoenix" if "phoenix" in subprotocols else None)

    def receive(self, frame: str | bytes) -> list[Request]:
        """Heartbeats and stale messages are settled here; the rest is for the host."""
        if isinstance(frame, bytes):
            return self.take(_unpack_binary(frame))
        try:
            read = _read_frame(frame)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            read = parse(_read_frame, frame)  # which says what is wrong
        return self.take(read)

    def take(self, frame: Frame) -> list[Request]:
        """What a frame asks; what it asks in vain is answered here."""
        try:
            if frame.topic in self._join_refs and frame.event not in ("phx_join", "phx_leave"):
                return self._wish(frame)
            return self._understand(frame)
        except Refused as why:
            self._reply(frame, "error", why.told())
            return []

    def accept(self, request: Request, payload: Any) -> None:
        self._reply(request.ref, "ok", payload)

    def refuse(self, request: Request, why: Refused) -> None:
        frame: Frame = request.ref
        known = frame.topic in self._join_refs and self._join_refs[frame.topic] == frame.join_ref
        if isinstance(request.wish, Enter) and known:
            del self._join_refs[frame.topic]
        self._reply(frame, "error", why.told())

    def dismiss(self, room: str | None) -> None:
        self._close(self.topic_of(room))

    def frames(self) -> list[bytes]:
        if not self._out:
            return NOTHING
        out = self._out.copy()
        self._out.clear()
        return out

    @staticmethod
    def encode(room: str | None, push: Push) -> bytes:
        topic = LOBBY if room is None else f"game:{room}"
        return _encode((None, None, topic, push.name, push.payload))

    def encode_own(self, room: str | None, push: Push, ref: Frame | None = None) -> bytes:
        join_ref = self.join_ref_of(room, ref)
        return _encode((join_ref, None, topic_of(room), push.name, push.payload))

    def join_ref_of(self, room: str | None, ref: Frame | None) -> str | None:
        """The join that a push belongs to: who has joined anew drops what an earlier one brought."""
        return self._join_refs.get(self.topic_of(room)) if ref is None else ref.join_ref

    def _understand(self, frame: Frame) -> list[Request]:
        match frame.event:
            case "heartbeat" if frame.topic == "phoenix":
                self._reply(frame, "ok", {})
                return []
            case "phx_join":
                return self._join(frame)
            case "phx_leave":
                return self._leave(frame)
            case _:
                return self._wish(frame)

    def _join(self, frame: Frame) -> list[Request]:
        room = self.room_of(frame.topic)
        enter = self._enter(strict(bytes(frame.payload)))
        self._close(frame.topic)  # a second join of a topic replaces the first
        if len(self._join_refs) >= MAX_CHANNELS:
            raise Refused(Code.TOO_MANY, f"too many channels joined: at most {MAX_CHANNELS} a socket")
        self._join_refs[frame.topic] = frame.join_ref
        return [Request(room, enter, frame)]

    def _leave(self, frame: Frame) -> list[Request]:
        if self._is_stale(frame):
            return []
        self._reply(frame, "ok", {})
        if frame.topic not in self._join_refs:
            return []
        self._close(frame.topic)
        return [Request(self.room_of(frame.topic), Exit())]

    def _wish(self, frame: Frame) -> list[Request]:
        if frame.topic not in self._join_refs:
            raise Refused(
                Code.NOT_JOINED,
                f"expected a phx_join of {frame.topic[:80]!r} first, got {frame.event[:40]!r}",
            )
        if frame.join_ref is not None and frame.join_ref != self._join_refs[frame.topic]:
            return []  # of an earlier join
        room = self.room_of(frame.topic)
        return [Request(room, self._asked(room, frame.event, strict(bytes(frame.payload))), frame)]

    def _enter(self, payload: bytes) -> Enter:
        """What a join asks for."""
        return parse(_read_enter, payload)

    def _asked(self, room: str | None, event: str, payload: bytes) -> Wish | LobbyWish:
        """What an event asks of a room that was joined, or of the lobby."""
        wishes: Mapping[str, msgspec.json.Decoder[Any]] = _LOBBY_WISHES if room is None else _WISHES
        decoder = wishes.get(event)
        if decoder is None:
            where, known = "at the lobby" if room is None else "in a room", ", ".join(wishes)
            raise Refused(Code.UNKNOWN_EVENT, f"expected one of {known} {where}, got {event[:40]!r}")
        try:
            asked: Wish | LobbyWish = decoder.decode(payload)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            asked = parse(decoder.decode, payload)  # which says what is wrong
        return asked

    def _is_stale(self, frame: Frame) -> bool:
        """A message of an earlier join of this topic."""
        return frame.join_ref is not None and frame.join_ref != self._join_refs.get(
            frame.topic, frame.join_ref
        )

    def _reply(self, frame: Frame, status: str, response: Any) -> None:
        if frame.ref is None:
            return  # nobody waits for it
        # A client drops what does not carry the join_ref it joined with, also replies.
        known = frame.event == "phx_join" or frame.topic in self._join_refs
        join_ref = (frame.join_ref or self._join_refs.get(frame.topic)) if known else None
        payload = {"status": status, "response": response}
        self._out.append(_encode((join_ref, frame.ref, frame.topic, "phx_reply", payload)))

    def _close(self, topic: str) -> None:
        if topic in self._join_refs:
            join_ref = self._join_refs.pop(topic)
            self._out.append(_encode((join_ref, join_ref, topic, "phx_close", {})))


def _unpack_token(packed: str) -> str | None:
    """The client packs it with btoa, so in either alphabet and without padding."""
    try:
        packed = packed.replace("-", "+").replace("_", "/")
        return base64.b64decode(packed + "=" * (-len(packed) % 4), validate=True).decode()
    except ValueError:  # no base64, no ASCII, no UTF-8
        return "?"  # a token that cannot be right, so that it is refused and not overlooked


def _unpack_binary(frame: bytes) -> Frame:
    """A push with an ArrayBuffer: the head is understood, so that the refusal finds its way back."""
    try:
        kind, *lengths = struct.unpack_from("5B", frame)
        parts, at = [], 5
        for length in lengths:
            parts.append(frame[at : at + length].decode())
            at += length
    except (struct.error, UnicodeDecodeError):
        raise Refused(Code.MALFORMED, "expected a text frame, got an unreadable binary one") from None
    if kind != 0 or at > len(frame):
        raise Refused(Code.MALFORMED, "expected a text frame, got an unreadable binary one")
    join_ref, ref, topic, event = parts
    return Frame(join_ref or None, ref or None, topic, event, msgspec.Raw(b'"binary"'))

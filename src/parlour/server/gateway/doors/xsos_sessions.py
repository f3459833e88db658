"""Engine.IO sessions of XsOs clients: their versions, what has arrived, and their WebSockets."""

import asyncio
from typing import TYPE_CHECKING, Any

from starlette.types import Message, Scope
from websockets.frames import CloseCode

from parlour.server.gateway.doors import engine_io_3
from parlour.server.gateway.doors.socket_io import Wire, readable_frame
from parlour.server.gateway.websocket import Socket
from parlour.server.limits import FRAME_COST, Limits

if TYPE_CHECKING:
    from parlour.server.gateway.doors.xsos import XsosDoor

GONE: Message = {"type": "websocket.disconnect", "code": CloseCode.ABNORMAL_CLOSURE}
"""The message to the library that a WebSocket is closed."""


class Session:
    """One Engine.IO connection: polling, a WebSocket, or first the one and then the other."""

    def __init__(self, address: str, limits: Limits, spoken: str) -> None:
        self.address = address
        self.spoken = spoken
        """Its version of Engine.IO."""
        self.requests: set[str] = set()
        """Methods of the HTTP requests that are being answered."""
        self.bucket = limits.new_bucket()
        self.strikes = 0
        self.id: str | None = None
        """Engine.IO's id of the session; None before it is accepted."""
        self.websocket: SessionSocket | None = None
        """Its WebSocket, if it has one."""
        self.has_place = False
        """True if it counts as a connection of its address; a WebSocket is counted by its socket."""
        self.counted = 0
        """Bytes that wait for it and are counted."""
        self.reading = 0
        """Bytes of the request that is being read."""
        self._told = 0
        self._before = 0
        self._arrived = 0
        self._polled = 0

    @property
    def speaks_old(self) -> bool:
        """True for a client of Socket.IO 2."""
        return self.spoken == "3"

    def connect(self) -> None:
        """Count messages from zero: they go to a new connection from now on."""
        self._before = self._told

    def tell(self) -> None:
        """Count a message that is sent."""
        self._told += 1

    def answer_poll(self, messages: int) -> None:
        """Count messages in the answer to a poll; whether they arrive is not known yet."""
        self._polled += messages

    def ask_more(self) -> None:
        """Note that the client polls again or opens a WebSocket: it has received the previous answer."""
        self._arrived += self._polled
        self._polled = 0

    @property
    def arrived(self) -> int:
        """How many messages of this connection have arrived for certain."""
        return self._arrived + (self.websocket.wire.settle() if self.websocket else 0) - self._before


class SessionSocket:
    """The WebSocket of a session: a peer to the server, an ASGI connection to the Socket.IO library."""

    name = "xsos"

    def __init__(self, door: "XsosDoor", session: Session, scope: Scope, socket: Socket) -> None:
        self._door = door
        self._session = session
        self._scope = scope
        self.socket = socket
        self.wire = Wire(socket.transport)
        self._free = asyncio.Event()
        self._heard: asyncio.Queue[Message] = asyncio.Queue()
        self._heard.put_nowait({"type": "websocket.connect"})

    @property
    def player(self) -> str:
        """There are no players here; the prefix tells connections apart in the log."""
        return f"xsos:{self._session.id}"

    # Called by the socket.

    def begin(self) -> None:
        self.socket.ending = self.wire.settle  # the last moment at which the kernel can be asked
        self.socket.owner.begin(self._door.serve_websocket(self, self._session, self._scope))

    def receive(self, message: Any, *, text: bool) -> None:
        self.wire.settle()
        try:
            words = str(message, "utf-8") if text else None
        except UnicodeDecodeError:
            self.socket.close(CloseCode.INVALID_DATA, "text must be UTF-8")
            return
        self.socket.hold_back()  # one message at a time: the library takes a while for each
        self._heard.put_nowait({"type": "websocket.receive", "text": words})

    def catch_up(self) -> None:
        """Go on: the client has taken all that was written."""
        self._free.set()

    def part(self) -> None:
        """Send no last message when the server stops: the close code is enough."""

    def end(self) -> None:
        self._free.set()
        self._heard.put_nowait({"type": "websocket.disconnect", "code": CloseCode.ABNORMAL_CLOSURE})

    # Called by the library.

    async def hear(self) -> Message:
        """The next frame; one that the library could not read closes the connection."""
        if self._heard.empty():
            self.socket.go_on()
        event = await self._heard.get()
        if event["type"] != "websocket.receive":
            return event
        frame = event["text"]
        if self._session.speaks_old and frame is not None:
            if frame == engine_io_3.PING:
                self._door.answer_ping(self._session)
            event["text"] = frame = engine_io_3.heard(frame)
        if frame is None or not readable_frame(frame):
            why = "expected a Socket.IO packet without binary parts"
            self.socket.close(CloseCode.UNSUPPORTED_DATA, why)
        elif frame == "5":
            self._session.ask_more()
        self._door.may_ask(self._session, FRAME_COST)  # also pongs, noise, and unknown events
        return event if self.socket.is_open else GONE

    async def say(self, message: Message) -> None:
        """Send a frame, and wait while too much is on its way."""
        if message["type"] == "websocket.close":
            self.socket.close(message.get("code", CloseCode.NORMAL_CLOSURE), message.get("reason") or "")
        elif message["type"] == "websocket.send" and message["text"] is not None and self.socket.is_open:
            text = engine_io_3.said(message["text"]) if self._session.speaks_old else message["text"]
            self.socket.write_now(self.wire.write(text.encode()))
            self._door.count(self._session)
            if self.wire.is_behind:
                self.socket.clogged = True
                self._free.clear()
                await self._free.wait()

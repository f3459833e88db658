"""The XsOs door as it is served, without a network: real Socket.IO, and lines that break when told to."""

import asyncio
import json
import re
from typing import Any

from parlour.server.config import Settings
from parlour.server.limits import Limits
from parlour.server.socket_io import Wire
from parlour.server.xsos import PATH, XsosDoor
from tests.server.world import HandClock

TURNS = 30
"""Turns of the loop after which everything that was caused has happened; nothing here waits for time."""


async def quiet() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


class House:
    """A door, and the people who come to it."""

    def __init__(self, **settings: Any) -> None:
        unlimited = {"rate": 0, "player_rate": 0, "address_rate": 0, "address_connections": 0}
        self.clock = HandClock()
        self.settings = Settings(**{**unlimited, **settings})
        self.limits = Limits(self.settings, self.clock)
        self.door = XsosDoor(self.limits, self.clock, self.settings)
        self.log: list[tuple[str, str]] = []
        """Who heard what, in order."""

    async def __aenter__(self) -> "House":
        self.door.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.door.stop()
        await quiet()

    async def come(self, name: str, query: str = "", **headers: str) -> "Visitor":
        """Somebody opens a WebSocket."""
        visitor = Visitor(self, name, query, headers)
        await quiet()
        return visitor

    async def enter(self, name: str) -> "Visitor":
        """The same, and is connected to the namespace; what that took is not logged."""
        visitor = await self.come(name)
        await visitor.send("40")
        visitor.heard.clear()
        self.log = [(who, frame) for who, frame in self.log if who != name]
        return visitor

    async def wait(self, seconds: float) -> None:
        until = self.clock.now() + seconds
        while self.clock.turn_to_next(until):
            await quiet()
        await quiet()

    async def call(self, method: str, query: str, *bodies: bytes) -> tuple[int, bytes, dict[str, str]]:
        """One HTTP request, whose body may come in pieces, and then has no length."""
        said: list[Any] = []
        events = [{"type": "http.request", "body": body, "more_body": True} for body in bodies or (b"",)]
        events[-1]["more_body"] = False
        size = [(b"content-length", str(len(bodies[0])).encode())] if len(bodies) == 1 else []

        async def receive() -> Any:
            return events.pop(0) if events else {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            said.append(message)

        await self.door(scope("http", query, {}, method=method, headers=size), receive, send)
        headers = {name.decode(): value.decode() for name, value in said[0]["headers"]}
        return said[0]["status"], b"".join(part.get("body", b"") for part in said[1:]), headers


def scope(kind: str, query: str, extensions: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "path": PATH,
        "query_string": query.encode(),
        "headers": [],
        "client": ("127.0.0.1", 1),
        "extensions": extensions,
        **more,
    }


class Socket:
    """A number that the kernel knows nothing about, or the one of a socket that is closed."""

    def __init__(self) -> None:
        self.number = 1 << 30

    def fileno(self) -> int:
        return self.number


class Transport(asyncio.Transport):
    """What a line says about itself; a silent one keeps what it is given."""

    def __init__(self) -> None:
        self.socket = Socket()
        super().__init__({"socket": self.socket})
        self.silent = False
        self.aborted = False
        self.held = 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...

    def get_write_buffer_size(self) -> int:
        return self.held

    def is_closing(self) -> bool:
        return self.aborted

    def abort(self) -> None:
        self.aborted = True


class Visitor:
    """Somebody at a WebSocket."""

    def __init__(self, house: House, name: str, query: str, headers: dict[str, str]) -> None:
        self.house = house
        self.name = name
        self.heard: list[str] = []
        self.closed: tuple[int, str] | None = None
        self.status: int | None = None
        """Why the WebSocket was not opened."""
        self.transport = Transport()
        self._in: asyncio.Queue[Any] = asyncio.Queue()
        self._in.put_nowait({"type": "websocket.connect"})
        pairs = [(key.encode(), value.encode()) for key, value in headers.items()]
        extensions = {"parlour.wire": {"wire": Wire(self.transport)}, "websocket.http.response": {}}
        given = scope(
            "websocket", query or "EIO=4&transport=websocket", extensions,
            headers=[(b"upgrade", b"websocket"), (b"connection", b"Upgrade"), *pairs],
        )  # fmt: skip
        self._task = asyncio.create_task(house.door(given, self._in.get, self._hear))

    async def _hear(self, message: Any) -> None:
        match message["type"]:
            case "websocket.send" if self.transport.silent:
                size = len(message["text"].encode())
                self.transport.held += size + (2 if size < 126 else 4)
            case "websocket.send":
                frame = re.sub(r'"sid":"[^"]+"', '"sid":"SID"', message["text"])
                self.heard.append(frame)
                self.house.log.append((self.name, frame))
            case "websocket.close" if self.closed is None:
                self.closed = message.get("code", 1000), message.get("reason", "")
                self.house.log.append((self.name, f"closed {self.closed[0]} {self.closed[1]}"))
            case "websocket.http.response.start":
                self.status = message["status"]
            case _:
                pass

    async def send(self, text: str | None = None, *, binary: bytes | None = None) -> None:
        self.shout(text, binary=binary)
        await quiet()

    def shout(self, text: str | None = None, *, binary: bytes | None = None) -> None:
        """Send, and do not wait for what comes of it."""
        self._in.put_nowait({"type": "websocket.receive", "text": text, "bytes": binary})

    async def say(self, action: str, id: int | str = "", *, seq: int = 0, **more: Any) -> None:
        """A message to chat `c`, which asks for an acknowledgement if it has an id."""
        if action in ("join", "start_game"):
            more = {"name": self.name.title(), **more}
        base = {"version": 3, "seq": seq, "from": self.name, "utouId": "c", "action": action}
        await self.send(f"42{id}" + json.dumps(["client_msg", {**base, **more}]))

    def fall_silent(self) -> None:
        """From now on nothing arrives, and nobody knows."""
        self.transport.silent = True

    async def drop(self) -> None:
        """The line breaks."""
        self.closed = self.closed or (1006, "")  # what is said into it now is heard by nobody
        self._in.put_nowait({"type": "websocket.disconnect", "code": 1006})
        await quiet()
        assert self._task.done()

    @property
    def messages(self) -> list[Any]:
        """What came in `server_msg`, and is forgotten now."""
        told = [json.loads(frame[2:])[1] for frame in self.heard if frame.startswith('42["server_msg"')]
        self.heard = [frame for frame in self.heard if not frame.startswith("42")]
        return told

    @property
    def actions(self) -> list[str]:
        return [message["action"] for message in self.messages]

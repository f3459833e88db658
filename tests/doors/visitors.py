"""The XsOs door as it is served, without a network: real Socket.IO, and lines that break when told to."""

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

from parlour.server.gateway.doors.xsos import XSOS_PATH, XsosDoor
from parlour.server.gateway.sockets import Sockets
from parlour.server.limits import Limits
from parlour.server.settings import Settings
from tests.server.wires import Pipe, Wire
from tests.server.world import HandClock

TURNS = 30
"""Turns of the loop after which everything that was caused has happened; nothing here waits for time."""


class House:
    """A door, and the people who come to it."""

    def __init__(self, **settings: Any) -> None:
        unlimited = {"rate": 0, "player_rate": 0, "address_rate": 0, "address_connections": 0}
        self.clock = HandClock()
        self.settings = Settings(**{**unlimited, **settings})
        self.limits = Limits(self.settings, self.clock)
        self.door = XsosDoor(self.limits, self.clock, self.settings)
        self.sockets = Sockets([self.door], self.clock, self.limits, self.settings)
        self.people: list[Visitor] = []
        self.written: list[Visitor] = []
        """Those to whom something was written, in order."""
        self.log: list[tuple[str, str]] = []
        """Who heard what, in order."""

    async def __aenter__(self) -> "House":
        self.door.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.door.stop()
        await self.quiet()

    async def come(self, name: str, query: str = "", **headers: str) -> "Visitor":
        """Somebody opens a WebSocket."""
        visitor = Visitor(self, name, query, headers)
        self.people.append(visitor)
        await self.quiet()
        return visitor

    async def quiet(self) -> None:
        """Wait until everything that was caused has happened, and was read in the order of writing."""
        for _ in range(TURNS):
            await asyncio.sleep(0)
            written, self.written = self.written, []
            for visitor in written:
                visitor.read()
        for visitor in self.people:
            visitor.read()

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
            await self.quiet()
        await self.quiet()

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

        await self.door(scope(query, method=method, headers=size), receive, send)
        headers = {name.decode(): value.decode() for name, value in said[0]["headers"]}
        return said[0]["status"], b"".join(part.get("body", b"") for part in said[1:]), headers


def scope(query: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "http",
        "path": XSOS_PATH,
        "query_string": query.encode(),
        "headers": [],
        "client": ("127.0.0.1", 1),
        **more,
    }


class Number:
    """Of a socket that the kernel knows nothing about, or of one that is closed."""

    def __init__(self) -> None:
        self.number = 1 << 30

    def fileno(self) -> int:
        return self.number


class Transport(Pipe):
    """What a line says about itself."""

    def __init__(self) -> None:
        super().__init__()
        self.socket = Number()
        self.wrote: Callable[[], None] = lambda: None

    def write(self, data: Any) -> None:
        super().write(data)
        self.wrote()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self.socket if name == "socket" else super().get_extra_info(name, default)


class Line(Wire):
    """A WebSocket on such a transport."""

    kind = Transport


class Visitor:
    """Somebody at a WebSocket."""

    def __init__(self, house: House, name: str, query: str, headers: dict[str, str]) -> None:
        self.house = house
        self.name = name
        self.heard: list[str] = []
        self.closed: tuple[int, str] | None = None
        self.status: int | None = None
        """Why the WebSocket was not opened."""
        path = f"{XSOS_PATH}?{query or 'EIO=4&transport=websocket'}"
        self.wire = Line(house.sockets, path, **headers)
        assert isinstance(self.wire.pipe, Transport)
        self.transport = self.wire.pipe
        self.transport.wrote = lambda: house.written.append(self)

    def read(self) -> None:
        """Take what has come."""
        self.wire.read()
        got, self.wire.got = self.wire.got, []
        for one in got:
            word, _, rest = one.partition(" ")
            if word == "refused":
                self.status = int(rest[:3])
            elif word == "cut":
                self.closed = (1006, "")  # of which a client is not told
            elif word == "closed":
                code, _, reason = rest.partition(" ")
                self.closed = (int(code), reason)
                self.house.log.append((self.name, f"closed {self.closed[0]} {self.closed[1]}"))
            else:
                frame = re.sub(r'"sid":"[^"]+"', '"sid":"SID"', one)
                self.heard.append(frame)
                self.house.log.append((self.name, frame))

    async def send(self, text: str | None = None, *, binary: bytes | None = None) -> None:
        self.shout(text, binary=binary)
        await self.house.quiet()

    def shout(self, text: str | None = None, *, binary: bytes | None = None) -> None:
        """Send, and do not wait for what comes of it."""
        self.wire.send((binary or b"") if text is None else text)

    async def say(self, action: str, id: int | str = "", *, seq: int = 0, **more: Any) -> None:
        """A message to chat `c`, which asks for an acknowledgement if it has an id."""
        if action in ("join", "start_game"):
            more = {"name": self.name.title(), **more}
        base = {"version": 3, "seq": seq, "from": self.name, "utouId": "c", "action": action}
        await self.send(f"42{id}" + json.dumps(["client_msg", {**base, **more}]))

    def fall_silent(self) -> None:
        """From now on nothing arrives, and nobody knows."""
        self.wire.reads = False

    async def drop(self) -> None:
        """The line breaks."""
        self.closed = self.closed or (1006, "")
        self.wire.lose()
        await self.house.quiet()

    @property
    def messages(self) -> list[Any]:
        """What came in `server_msg`, and is forgotten now."""
        told = [json.loads(frame[2:])[1] for frame in self.heard if frame.startswith('42["server_msg"')]
        self.heard = [frame for frame in self.heard if not frame.startswith("42")]
        return told

    @property
    def actions(self) -> list[str]:
        return [message["action"] for message in self.messages]

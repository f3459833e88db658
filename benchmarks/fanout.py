"""One message told to a thousand listeners: our spectators of a room, and the broadcast of other servers."""

import json
from collections.abc import Callable
from typing import Protocol

from benchmarks.lines import Crowd, Line, call
from benchmarks.servers import Server, go, node, parlour

LISTENERS = 1000
MESSAGES = 200
MARK = b"#delivery#"
"""Is in every message once, so that deliveries can be counted without being read."""
TEXT = MARK.decode() + "x" * 90


class House(Protocol):
    """A server's way to gather listeners and one who speaks."""

    def __init__(self, port: int) -> None: ...

    def listen(self) -> Line: ...

    def speak(self) -> None: ...


class Room:
    """A room of Parlour: a seated player chats, spectators hear the chat and its update."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._topic = "game:" + call(port, "POST", "/api/rooms", {"game": "tictactoe"})["id"]
        self._speaker = self._join({})
        self._say = json.dumps(["1", None, self._topic, "chat", {"text": TEXT}]).encode()

    def _join(self, how: dict[str, bool]) -> Line:
        line = Line(self._port, "/socket/websocket?vsn=2.0.0")
        line.send(json.dumps(["1", "1", self._topic, "phx_join", how]).encode())
        line.until(b'"presence_state"')
        return line

    def listen(self) -> Line:
        return self._join({"spectate": True})

    def speak(self) -> None:
        self._speaker.send(self._say)


class Plain:
    """A server that sends on what it is told, as large as what Parlour tells of a chat."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._speaker = Line(port, "/")
        self._say = MARK + b"x" * 262

    def listen(self) -> Line:
        return Line(self._port, "/")

    def speak(self) -> None:
        self._speaker.send(self._say)


class SocketIo:
    """The same in socket.io's words."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._speaker = self.listen()
        self._say = b'42["say","' + MARK + b"x" * 247 + b'"]'

    def listen(self) -> Line:
        line = Line(self._port, "/socket.io/?EIO=4&transport=websocket")
        line.until(b"pingInterval")
        line.send(b"40")
        line.until(b'40{"sid"')
        return line

    def speak(self) -> None:
        self._speaker.send(self._say)


class Count:
    """Counts deliveries on many lines by their mark."""

    def __init__(self, lines: list[Line], mark: bytes = MARK) -> None:
        self._mark = mark
        self._crowd = Crowd(lines)
        self._crowd.settle()
        self._tails: dict[Line, bytes] = {}
        self.all = 0

    def wait_for(self, total: int) -> None:
        """Read until so many were delivered in all."""
        while self.all < total:
            for line in self._crowd.ready():
                self._read(line)

    def _read(self, line: Line) -> None:
        got = line.socket.recv(1 << 20)
        if not got:
            raise ConnectionError("the server has closed a line")
        text = self._tails.pop(line, b"") + got
        self.all += text.count(self._mark)
        rest = text[text.rfind(self._mark) + len(self._mark) :] if self._mark in text else text
        if any(rest.endswith(self._mark[:size]) for size in range(1, len(self._mark))):
            self._tails[line] = rest  # a mark may have been cut in two

    def close(self) -> None:
        self._crowd.close()


def cost_of_a_delivery(server: Server, house: Callable[[int], House], in_flight: int) -> float:
    """Microseconds of the server's CPU to deliver one message to one listener."""
    room = house(server.port)
    count = Count([room.listen() for _ in range(LISTENERS)])
    _talk(room, count, 20, in_flight)
    before = server.cpu()
    _talk(room, count, MESSAGES, in_flight)
    spent = server.cpu() - before
    count.close()
    return spent / (LISTENERS * MESSAGES) * 1e6


def _talk(room: House, count: Count, messages: int, in_flight: int) -> None:
    """Say so much, with so many messages on their way at any time."""
    begin = count.all
    for number in range(messages + in_flight):
        if number >= in_flight:
            count.wait_for(begin + LISTENERS * (number - in_flight + 1))
        if number < messages:
            room.speak()


def spectators(in_flight: int, journal: str = "sqlite") -> float:
    """Parlour's spectators."""
    with parlour("--journal", journal, "--ping-every", "600") as server:
        return cost_of_a_delivery(server, Room, in_flight)


def ws(in_flight: int) -> float:
    """Node's ws."""
    with node("ws") as server:
        return cost_of_a_delivery(server, Plain, in_flight)


def gorilla(in_flight: int) -> float:
    """Go with gorilla."""
    with go("gorilla") as server:
        return cost_of_a_delivery(server, Plain, in_flight)


def socketio(in_flight: int) -> float:
    """socket.io."""
    with node("socketio") as server:
        return cost_of_a_delivery(server, SocketIo, in_flight)

"""Readers that stop reading: what their room mates notice, and how soon the server is rid of them."""

import json
import re
import select
import time
from typing import NamedTuple, Protocol

from benchmarks.lines import Line, call
from benchmarks.servers import Server, parlour

PER_SECOND = 100
MESSAGES = 600
COUNTED = 300
"""Only the last so many messages count: by then the stuck readers' buffers are full."""
PATIENCE = 60.0

_NUMBER = re.compile(rb"#(\d{6})#")


class Seen(NamedTuple):
    """What one run showed."""

    p99: float
    """Milliseconds from saying something to a room mate's hearing it, for all but the slowest 1 %."""
    grown: int
    """Bytes by which the server was larger once everybody had gone."""
    freed: float
    """Seconds after the last message until the server had let go of the stuck readers, who never hang up."""


class Room(Protocol):
    """Where somebody speaks, others read, and some have stopped reading."""

    READERS: int
    STUCK: int

    def __init__(self, server: Server, number: int) -> None: ...

    def join(self, receive_buffer: int | None = None) -> Line:
        """One more who listens."""
        ...

    def speak(self, text: str) -> None:
        """Say something to all of them."""
        ...

    def close(self) -> None:
        """Whoever speaks hangs up."""
        ...


class Chat(Room):
    """A room of a game: a seated player chats, spectators listen."""

    READERS, STUCK = 50, 20

    def __init__(self, server: Server, number: int) -> None:  # noqa: ARG002 - the server names its rooms
        self._server = server
        self._topic = "game:" + call(server.port, "POST", "/api/rooms", {"game": "tictactoe"})["id"]
        self._speaker = self._enter({})

    def join(self, receive_buffer: int | None = None) -> Line:
        return self._enter({"spectate": True}, receive_buffer)

    def _enter(self, how: dict[str, bool], receive_buffer: int | None = None) -> Line:
        line = Line(self._server.port, "/socket/websocket?vsn=2.0.0", receive_buffer=receive_buffer)
        line.send(json.dumps(["1", "1", self._topic, "phx_join", how]).encode())
        line.until(b'"presence_state"')
        return line

    def speak(self, text: str) -> None:
        self._speaker.send(json.dumps(["1", None, self._topic, "chat", {"text": text}]).encode())

    def close(self) -> None:
        self._speaker.close()


def watch(kind: type[Room] = Chat, *, stuck: bool, to_the_end: bool = False) -> Seen:
    """A busy room with or without readers who have stopped reading, perhaps until they are cut off."""
    with parlour("--journal", "memory", "--max-outbox", "131072") as server:
        _busy_room(server, kind, stuck=False, messages=300, patience=PATIENCE)  # to warm up
        patience = PATIENCE if to_the_end else 0.0
        return _busy_room(server, kind, stuck=stuck, messages=MESSAGES, patience=patience)


def _busy_room(server: Server, kind: type[Room], *, stuck: bool, messages: int, patience: float) -> Seen:
    time.sleep(0.5)
    base, sockets = server.rss(), server.sockets()
    room = kind(server, messages)
    readers = [room.join() for _ in range(room.READERS)]
    idlers = [room.join(receive_buffer=4096) for _ in range(room.STUCK if stuck else 0)]
    delays = _talk(room, readers, messages)
    for line in (room, *readers):
        line.close()
    quiet = time.perf_counter()
    while server.sockets() > sockets and time.perf_counter() < quiet + patience:
        time.sleep(0.1)
    freed = time.perf_counter() - quiet
    time.sleep(0.5)
    grown = server.rss() - base
    for line in idlers:
        line.close()
    return Seen(sorted(delays)[int(len(delays) * 0.99)] * 1e3, grown, freed)


def _talk(room: Room, readers: list[Line], messages: int) -> list[float]:
    """Speak at an even pace; how long each counted message took to each reader."""
    poll = select.epoll()
    lines = {line.socket.fileno(): line for line in readers}
    for fd in lines:
        poll.register(fd, select.EPOLLIN)
    sent: list[float] = []
    delays: list[float] = []
    begin = time.perf_counter()
    end = begin + messages / PER_SECOND + 1.0
    while (now := time.perf_counter()) < end:
        while len(sent) < messages and now >= begin + len(sent) / PER_SECOND:
            room.speak(f"#{len(sent):06}#" + "x" * 480)
            sent.append(now)
        for fd, _ in poll.poll(0.001):
            numbers = [int(n) for message in lines[fd].receive() for n in _NUMBER.findall(message)]
            now = time.perf_counter()
            delays += [now - sent[number] for number in numbers if number >= messages - COUNTED]
    poll.close()
    return delays

"""Members of a relay: each has a WebSocket to some worker, comes back when it is lost, and keeps a diary."""

import asyncio
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

import msgspec

from parlour.server.relay_records import kept_envelopes
from tests.simulation.cluster import Cluster, Machine
from tests.simulation.database import finish
from tests.simulation.people import COME_BACK, LATENCY, TRY_AGAIN

RELAY = "/g/one"
BAD_LASTNUM = 4000
PONG = bytes((0x8A, 0x80, 0, 0, 0, 0))
HEAD = (
    "GET {path} HTTP/1.1\r\nHost: parlour\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


class Wire(asyncio.Transport):
    """The bytes of a connection between a member and a worker."""

    def __init__(self, member: "Member", machine: Machine, head: bytes) -> None:
        super().__init__()
        self.is_open = True
        """At the client's side."""
        self._member, self._machine = member, machine
        self._world = machine.cluster.loop.world
        self._protocol: Any = None
        self._down: list[bytes] = []
        self._up: list[bytes] | None = None
        """What has come up while nobody reads."""
        self._is_closing = False
        machine.lines[self] = None
        machine.process.call_later(LATENCY, self._accept, head)

    # At the worker.

    def _accept(self, head: bytes) -> None:
        self._protocol = self._machine.sockets.new_socket()
        self._protocol.connection_made(self)
        self._protocol.data_received(head)

    def _receive(self, data: bytes) -> None:
        if self._up is not None:
            self._up.append(data)
        elif self._protocol is not None and not self._is_closing:
            self._protocol.data_received(data)

    def _end_of_file(self) -> None:
        if self._protocol is not None and not self._is_closing and not self._protocol.eof_received():
            self.close()

    def write(self, data: Any) -> None:
        if not self._is_closing:
            if not self._down:
                self._world.call_later(LATENCY, self._deliver)
            self._down.append(bytes(data))

    def close(self, *_: Any) -> None:
        if not self._is_closing:
            self._is_closing = True
            self._machine.lines.pop(self, None)
            self._machine.process.call_soon(self._protocol.connection_lost, None)
            self._world.call_later(LATENCY, self._closed)

    abort = close

    def shut_down(self) -> None:
        """The worker stops."""
        if self._protocol is None:
            self._is_closing = True
            self._world.call_later(LATENCY, self._closed)
        else:
            self._protocol.shutdown()

    def write_eof(self) -> None:
        self._world.call_later(LATENCY, self._closed)

    def can_write_eof(self) -> bool:
        return True

    def is_closing(self) -> bool:
        return self._is_closing

    def pause_reading(self) -> None:
        self._up = self._up or []

    def resume_reading(self) -> None:
        up, self._up = self._up or [], None
        for data in up:
            self._machine.process.call_soon(self._receive, data)

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        protocol: asyncio.BaseProtocol = self._protocol
        return protocol

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return (self._member.address, 1) if name == "peername" else default

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...

    def get_write_buffer_size(self) -> int:
        return 0

    # On the way.

    def break_off(self) -> None:
        """The worker is dead: what it sent last may be lost."""
        self._is_closing = True
        self._machine.lines.pop(self, None)
        if self._machine.cluster.chance.random() < 0.5:
            self._down.clear()
        self._world.call_later(LATENCY, self._closed)

    def _deliver(self) -> None:
        down, self._down = self._down, []
        for data in down:
            if self.is_open:
                self._member.hear(data)

    def _closed(self) -> None:
        self._deliver()
        if self.is_open:
            self.hang_up()
            self._member.lose()

    # At the client.

    def send(self, data: bytes) -> None:
        self._machine.process.call_later(LATENCY, self._receive, data)

    def hang_up(self) -> None:
        self.is_open = False
        self._machine.process.call_later(LATENCY, self._end_of_file)


class Envelope(NamedTuple):
    """What a relay has sent."""

    num: int
    body: str | None
    is_receipt: bool


class Visit:
    """What a member heard over one connection, from which number on it wanted to, and what it said first."""

    def __init__(self, wanted: int | None, first_word: int) -> None:
        self.wanted, self.first_word = wanted, first_word
        self.heard: list[Envelope] = []


class Member:
    """Somebody at the relay."""

    def __init__(self, cluster: Cluster, number: int, name: str, chance: Random) -> None:
        self.name, self.address = name, f"203.0.113.{10 + number}"
        self.visits: list[Visit] = []
        self.said = 0
        self.forgotten = 0
        """How often the relay did not know any more what was missed."""
        self._cluster, self._chance = cluster, chance
        self._world = cluster.loop.world
        self._wire: Wire | None = None
        self._is_in = False
        self._bytes = b""

    @property
    def is_in(self) -> bool:
        return self._is_in

    @property
    def last_word(self) -> str:
        return f"{self.name} {self.said}"

    def has_heard(self, word: str) -> bool:
        """Whether this was among what came over the last connections."""
        return any(one.body == word for visit in self.visits[-3:] for one in visit.heard)

    def come(self) -> None:
        """Connect to any worker, and go on where it was."""
        if self._wire is not None and self._wire.is_open:
            return
        if not self._cluster.serving:
            self._world.call_later(TRY_AGAIN, self.come)
            return
        last = self._last()
        path = f"{RELAY}?id={self.name}" + ("" if last is None else f"&lastnum={last}")
        self.visits.append(Visit(None if last is None else last + 1, self.said + 1))
        self._bytes, self._is_in = b"", False
        self._wire = Wire(self, self._chance.choice(self._cluster.serving), HEAD.format(path=path).encode())

    def _last(self) -> int | None:
        """The number of the last envelope that is known, unless the relay has forgotten."""
        for visit in reversed(self.visits):
            if visit.heard:
                return visit.heard[-1].num
            if visit.wanted is None:
                return None
        return None

    def say(self) -> None:
        """Say the next word, if connected."""
        if self._is_in and self._wire is not None and self._wire.is_open:
            self.said += 1
            self._send(self.last_word.encode())

    def hang_up(self) -> None:
        """Close the connection, and come back soon."""
        if self._wire is not None and self._wire.is_open:
            self._wire.hang_up()
            self.lose()

    def lose(self) -> None:
        """The connection is closed."""
        self._is_in = False
        self._world.call_later(COME_BACK * (1 + self._chance.random()), self.come)

    def hear(self, data: bytes) -> None:
        self._bytes += data
        if not self._is_in:
            head, end, rest = self._bytes.partition(b"\r\n\r\n")
            if not end:
                return
            if not head.startswith(b"HTTP/1.1 101"):
                self.hang_up()
                return
            self._is_in, self._bytes = True, rest
        while self._wire is not None and self._wire.is_open and (frame := self._next_frame()) is not None:
            self._take(*frame)

    def _next_frame(self) -> tuple[int, bytes] | None:
        data = self._bytes
        if len(data) < 2:
            return None
        size, start = data[1], 2
        if size == 126:
            size, start = int.from_bytes(data[2:4], "big"), 4
        if len(data) < start + size:
            return None
        self._bytes = data[start + size :]
        return data[0] & 0x0F, data[start : start + size]

    def _take(self, kind: int, body: bytes) -> None:
        if kind == 9:
            assert self._wire is not None
            self._wire.send(PONG)
        elif kind == 8:
            if int.from_bytes(body[:2], "big") == BAD_LASTNUM:
                self.forgotten += 1
                self.visits.append(Visit(None, self.said + 1))
            self.hang_up()
        else:
            told = msgspec.json.decode(body)
            text = None if told["Body"] is None else b64decode(told["Body"]).decode()
            self.visits[-1].heard.append(Envelope(told["Num"], text, told["Receipt"]))

    def _send(self, body: bytes) -> None:
        """Send a message, masked with nothing."""
        assert self._wire is not None
        self._wire.send(bytes((0x82, 0x80 | len(body), 0, 0, 0, 0)) + body)


def judge_relay(cluster: Cluster, members: Sequence[Member]) -> Iterator[str]:
    """Nobody hears a hole or anything twice; who speaks is heard in order; what is kept is what was told."""
    kept = _kept(cluster) if cluster.settings.relay_history else None
    for member in members:
        times = Counter(one.body for visit in member.visits for one in visit.heard if one.body is not None)
        yield from (f"{member.name} heard {body!r} {many} times" for body, many in times.items() if many > 1)
        for visit in member.visits:
            yield from _judge_visit(member.name, visit)
            if kept is not None:
                yield from _judge_kept(member.name, visit, kept)
        if kept is not None and member.forgotten:
            yield f"the relay does not know any more what {member.name} missed"


def _judge_visit(name: str, visit: Visit) -> Iterator[str]:
    numbers = [one.num for one in visit.heard]
    if not numbers:
        return
    first = numbers[0] if visit.wanted is None else visit.wanted
    if numbers != list(range(first, first + len(numbers))):
        yield f"{name} wanted to hear from {first} on, and heard {numbers}"
    mine = [int(one.body.split()[1]) for one in visit.heard if one.is_receipt and one.body is not None]
    mine = [word for word in mine if word >= visit.first_word]
    if mine != list(range(visit.first_word, visit.first_word + len(mine))):
        yield f"{name} spoke from {visit.first_word} on, and was given receipts for {mine}"


def _judge_kept(name: str, visit: Visit, kept: dict[int, str | None]) -> Iterator[str]:
    for one in visit.heard:
        if kept.get(one.num, "nothing") != one.body:
            yield f"{name} heard {one.body!r} as {one.num}, and kept is {kept.get(one.num, 'nothing')!r}"


def _kept(cluster: Cluster) -> dict[int, str | None]:
    """The bodies of a relay that are kept, by their numbers."""
    pages = map(msgspec.json.decode, finish(kept_envelopes(cluster.database.store, RELAY)))
    return {page["num"]: b64decode(page["body"]).decode() if "body" in page else None for page in pages}


def do_all_hear(members: Sequence[Member]) -> bool:
    """Whether everybody has heard the last word of everybody."""
    return all(one.is_in and one.has_heard(other.last_word) for one in members for other in members)

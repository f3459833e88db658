"""Relays: rooms of four beside hubs that others would write; stuck members; memory."""

from typing import NamedTuple

from benchmarks import stuck
from benchmarks.lines import Crowd, Line
from benchmarks.servers import Server, go, node, parlour

ROOMS, MEMBERS = 250, 4
ROUNDS = 60
MARK = b'"Intent":"Peer"'
"""Is in every delivery once."""
PEOPLE = 5000
OPTIONS = ("--journal", "memory", "--ping-every", "600")


class Way(NamedTuple):
    """How members talk."""

    query: str
    """What their addresses say besides the room: with an id they are of today's generation."""
    body: bytes
    deliveries: int
    """How often a message is delivered: to the others, and today also to its sender."""
    at_once: int
    """How many talk at the same time."""


TURNS = Way("?id=m%d", b"x" * 100, MEMBERS, 1)
TOGETHER = Way("?id=m%d", b"x" * 100, MEMBERS, MEMBERS)
PLAIN = Way("", b'{"move":"%b"}' % (b"x" * 89), MEMBERS - 1, 1)


class Table:
    """Four members of a room, who speak in turns, or all at once; again when all have got everything."""

    def __init__(self, port: int, number: int, way: Way = TURNS) -> None:
        queries = [way.query % place if "%d" in way.query else way.query for place in range(MEMBERS)]
        self.lines = [Line(port, f"/g/{number}{query}") for query in queries]
        self._way = way
        self._tails = dict.fromkeys(self.lines, b"")
        self._round = 0
        self._heard = 0

    def begin(self) -> None:
        self._round = self._heard = 0
        self._speak()

    def _speak(self) -> None:
        for place in range(self._way.at_once):
            self.lines[(self._round + place) % MEMBERS].send(self._way.body)

    def read(self, line: Line) -> bool:
        """Take what has come; whether the last message was heard by all just now."""
        got = line.socket.recv(1 << 16)
        if not got:
            raise ConnectionError("the server has closed a line")
        text = self._tails[line] + got
        self._heard += text.count(MARK)
        self._tails[line] = text[text.rfind(MARK) + len(MARK) :][-len(MARK) + 1 :]
        if self._heard < self._way.deliveries * self._way.at_once:
            return False
        self._heard = 0
        self._round += 1
        if self._round < ROUNDS:
            self._speak()
        return self._round == ROUNDS


def cost_of_a_delivery(server: Server, way: Way) -> float:
    """Microseconds of the server's CPU to bring one message to one member."""
    tables = [Table(server.port, number, way) for number in range(ROOMS)]
    whose = {line: table for table in tables for line in table.lines}
    crowd = Crowd(list(whose))
    crowd.settle()
    _play(tables, whose, crowd)  # to warm up
    before = server.cpu()
    _play(tables, whose, crowd)
    spent = server.cpu() - before
    crowd.close()
    return spent / (ROOMS * ROUNDS * way.deliveries * way.at_once) * 1e6


def _play(tables: list[Table], whose: dict[Line, Table], crowd: Crowd) -> None:
    for table in tables:
        table.begin()
    left = len(tables)
    while left:
        for line in crowd.ready():
            left -= whose[line].read(line)


def ours(way: Way) -> float:
    """Parlour's relays."""
    with parlour(*OPTIONS) as server:
        return cost_of_a_delivery(server, way)


def gorilla(way: Way) -> float:
    """Go with gorilla, a hub for each room."""
    with go("relay") as server:
        return cost_of_a_delivery(server, way)


def ws(way: Way) -> float:
    """Node's ws."""
    with node("relay") as server:
        return cost_of_a_delivery(server, way)


def memory() -> float:
    """Bytes for each of 5,000 idle members in rooms of four."""
    with parlour(*OPTIONS) as server:
        Crowd([line for number in range(50) for line in Table(server.port, -1 - number).lines]).settle()
        before = server.rss()
        crowd = Crowd(
            [line for number in range(PEOPLE // MEMBERS) for line in Table(server.port, number).lines]
        )
        crowd.settle(2.0)
        grown = server.rss() - before
        crowd.close()
        return grown / PEOPLE


class Room(stuck.Room):
    """A relay full of members of the first generation, whose bodies can be read on the wire."""

    READERS, STUCK = 30, 15

    def __init__(self, server: Server, number: int) -> None:
        self._server = server
        self._path = f"/g/{number}"
        self._speaker = self.join()

    def join(self, receive_buffer: int | None = None) -> Line:
        line = Line(self._server.port, self._path, receive_buffer=receive_buffer)
        line.until(b'"Welcome"')
        return line

    def speak(self, text: str) -> None:
        self._speaker.send(f'"{text}"'.encode())

    def close(self) -> None:
        self._speaker.close()


def p99(*, with_stuck: bool) -> float:
    """Milliseconds until a member hears what another said, for all but the slowest 1 %."""
    return stuck.watch(Room, stuck=with_stuck).p99

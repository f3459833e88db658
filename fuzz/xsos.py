"""python -m fuzz.xsos [--frames N]: fuzzed frames at the XsOs door of a live server, a game beside it.

Most frames are messages that an XsOs client could have sent if it had gone mad, by two lines at a time, so
that they meet, break off and come back; others are no messages, no packets or no frames. Some come by POST.
Shown: no traceback in the log, memory as before, the two beside it undisturbed.
"""

import json
import random
import socket
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any

import httpx
import msgspec
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from fuzz.doors import masked
from fuzz.mutate import inputs
from fuzz.storm import RAW_ENDS, SCALARS, Report, blow, command, enter, masked_any, take_turns
from fuzz.target import target
from parlour.doors.xsos import ACTIONS, Xsos
from parlour.errors import Refused
from parlour.server.gateway.doors.engine_io_3 import read_body
from parlour.server.gateway.doors.socket_io import Packet
from parlour.server.limits import Quota
from tests.e2e.lines import PATIENCE
from tests.e2e.servers import Server

BATCH = 400
"""Frames of one visit, by two lines."""
TURN = 100
"""Frames after which the other line has its say."""
WEBSOCKET = "/socket.io/?EIO=4&transport=websocket"
POLLING = "/socket.io/?EIO=4&transport=polling"
CHATS = ("a", "b", "c", "\u90e8\u5c4b", "x" * 256)
PEOPLE = ("ann", "bob", "cid", "__proto__")
KEYS = ("version", "seq", "from", "utouId", "action", "name", "imgURL", "game", "__proto__", "more")


def message(action: str, **more: Any) -> dict[str, Any]:
    base = {"version": 3, "seq": 0, "from": "ann", "utouId": "a", "action": action, "name": "Ann"}
    return {**base, "game": [0] * 9, **more}


SEEDS = tuple(json.dumps(message(action)).encode() for action in ACTIONS)
PACKETS = tuple(b'42["client_msg",' + seed + b"]" for seed in SEEDS)
PACKETS += (
    b"40",
    b"41",
    b"3",
    b'421["client_msg"]',
    b'430["x"]',
    b'40{"token":"x"}',
    b"40/admin,",
    b'42["disconnect"]',
)


# Without a network.


@target(*SEEDS, b"\n".join(SEEDS))
def xsos_messages(data: bytes) -> None:
    """Messages a line each, by two lines in turn, which break now and then; what is told can be read."""
    door = Xsos(lambda _: len(data) % 3, str, Quota("bytes", 0, address=0), referee=len(data) % 2 == 0)
    for number, body in enumerate((SEEDS[0], *data.split(b"\n"))):
        line = f"{number % 2}"
        answer = door.receive(line, body, number, asked=number % 3 == 0)
        told = [
            *answer.told,
            *(door.gone(line, number) if number % 5 == 4 else []),
            *door.expire(number * 50),
        ]
        for each in told:
            assert isinstance(msgspec.json.decode(each.body), dict)
        assert ("code" in answer.ack) != ("delivered" in answer.ack)


@target(*PACKETS)
def socket_io_packets(data: bytes) -> None:
    """A packet is read as something, whatever it is; an event always has a name of ours."""
    with suppress(UnicodeDecodeError):
        packet = Packet(encoded_packet=data.decode())
        if packet.packet_type == 2 and packet.data is not None:
            assert packet.data[0] in ("client_msg", "unknown", "unreadable")


@target(b"1:2", b"2:40", b"4:42[]1:2", *(b"%d:%b" % (len(one), one) for one in PACKETS))
def engine_io_3_bodies(data: bytes) -> None:
    """A body of Engine.IO 3 is refused, or is packets that stand in it, but for pings."""
    with suppress(Refused):
        for packet in read_body(data).split(b"\x1e"):
            assert packet in data or packet == b"3"


# Against a live server.


class Frames:
    """Makes frames; the same ones for the same number."""

    def __init__(self, number: int) -> None:
        self.chance = random.Random(number)
        self.ruined = inputs(PACKETS, number)

    def mad(self) -> bytes:
        """A packet that leaves the line open."""
        chance = self.chance
        kind = chance.random()
        if kind < 0.03:
            return chance.choice(
                (b"41", b"40", b"3", b"5", b"2", b'43["x"]', b'431["x"]', b"40/x,", b'42["connect"]')
            )
        if kind < 0.1:  # a ruined event
            return b"42" + next(self.ruined)[:20_000].decode("utf-8", "replace").encode()
        said = message(
            chance.choice(tuple(ACTIONS)),
            **{"from": chance.choice(PEOPLE), "utouId": chance.choice(CHATS), "seq": chance.randrange(5)},
            game=[chance.choice((-1, 0, 0, 1)) for _ in range(9)],
        )
        while chance.random() < 0.2:
            said[chance.choice(KEYS)] = chance.choice(SCALARS)
        ack = str(chance.choice(("", "", 1, 10**15)))
        return (
            f"42{ack}".encode()
            + json.dumps(["client_msg", said], ensure_ascii=chance.random() < 0.5).encode()
        )

    def last(self) -> bytes:
        """What ends a line, most likely."""
        if self.chance.random() < 0.3:
            return self.chance.choice(RAW_ENDS) + bytes(300)
        return masked_any(next(self.ruined), self.chance.choice((0x81, 0x82)))


def open_line(port: int) -> socket.socket:
    line = enter(port, WEBSOCKET)
    line.sendall(masked(0x81, b"40"))
    return line


def visit(port: int, frames: list[bytes], ends: tuple[bytes, bytes], count: int) -> None:
    """Two lines that say these frames in turn, and end badly."""

    def check(begin: int) -> tuple[bytes, bytes]:
        asked = f"42{count + begin}" + '["nothing"]'
        return masked(0x81, b"40") + masked(0x81, asked.encode()), f"43{count + begin}[".encode()

    with open_line(port) as one, open_line(port) as two:
        take_turns((one, two), [masked(0x81, frame) for frame in frames], TURN, check)
        for line, end in zip((one, two), ends, strict=True):
            line.sendall(end)


def post(http: httpx.Client, made: Frames) -> None:
    """A session by polling, with a POST that is good or not."""
    sid = json.loads(http.get(POLLING).text[1:])["sid"]
    body = b"40\x1e" + made.mad() if made.chance.random() < 0.5 else next(made.ruined)
    assert http.post(f"{POLLING}&sid={sid}", content=body).status_code in (200, 400, 413)
    http.post(f"{POLLING}&sid={sid}", content=b"1")


class Witness:
    """Somebody who plays beside it, and keeps all that they hear."""

    def __init__(self, line: ClientConnection, name: str) -> None:
        self.name = name
        self.heard: list[str] = []
        self._said = 0
        self._line = line
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        line.send("40")
        self._wait(lambda: len(self.heard) == 2)
        self.heard.clear()

    def _listen(self) -> None:
        with suppress(ConnectionClosed):
            for frame in self._line:
                if frame == "2":
                    self._line.send("3")
                    continue
                with self._news:
                    self.heard.append(str(frame))
                    self._news.notify_all()

    def _wait(self, there: Callable[[], bool]) -> None:
        with self._news:
            assert self._news.wait_for(there, PATIENCE), (self.name, self.heard)

    def say(self, action: str) -> None:
        body = message(action, **{"from": self.name, "utouId": "beside", "seq": self._said})
        self._line.send(f"42{self._said}" + json.dumps(["client_msg", body]))
        self._wait(lambda: any(frame.startswith(f"43{self._said}[") for frame in self.heard))
        self._said += 1


def play(server: Server, between: Callable[[], None]) -> list[list[str]]:
    """A game of two, with a pause in the middle; all that they hear."""
    address = f"ws://{server.address}{WEBSOCKET}"
    with ExitStack() as stack:
        lines = [stack.enter_context(connect(address, compression=None)) for _ in "ab"]
        ann, bob = (Witness(line, name) for line, name in zip(lines, ("ann", "bob"), strict=True))
        for person, action in ((ann, "join"), (bob, "join"), (ann, "start_game"), (bob, "start_game_ack")):
            person.say(action)
        ann.say("update_game")
        between()
        for person, action in (
            (bob, "update_game"),
            (ann, "game_over"),
            (ann, "leave_game"),
            (bob, "leave_game"),
        ):
            person.say(action)
        return [ann.heard, bob.heard]


def storm(server: Server, frames: int, number: int = 1) -> Report:
    """So many frames beside two people who play."""
    made = Frames(number)
    alone = play(server, lambda: None)
    with httpx.Client(base_url=f"http://{server.address}", trust_env=False, timeout=30) as http:

        def rave(left: int, count: int) -> int:
            batch = [made.mad() for _ in range(min(BATCH, left) - 2)]
            visit(server.port, batch, (made.last(), made.last()), count)
            post(http, made)
            return len(batch) + 4

        return blow(server, frames, rave, partial(play, server), alone)


if __name__ == "__main__":
    command("xsos", __doc__, storm)

"""python -m fuzz.frames [--frames N]: fuzzed frames through a live server, two people in a room beside it.

Most frames are JSON that a Phoenix client could have sent if it had gone mad, so that they get far; each
connection ends with one that is no such thing. Shown: no traceback in the log, memory as before, the room
beside it undisturbed.
"""

import argparse
import json
import random
import re
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from fuzz.doors import KNOCK, masked
from fuzz.mutate import inputs
from fuzz.readers import JOIN, PUSHES
from tests.e2e.clients import Raw
from tests.e2e.servers import UNLIMITED, Server

BATCH = 200
"""Frames on one connection, the last of which ends it."""

MAX_SIZE = 60_000
"""Bytes of a frame that does not end a connection by its mere size."""

WORDS = (
    "phx_join", "phx_leave", "game_event", "chat", "leave", "rematch", "heartbeat", "phx_reply", "phx_close",
    "__proto__", "constructor", "toString", "", "x" * 300, "chat\r\n", "\x00", "\u202e", "a\u0301" * 200,
)  # fmt: skip
SCALARS: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 1e308, 2**53, 2**53 + 1, 10**30, "", "a", "hello", "\x00", "\u202e",
    "x" * 3000, "\U0001f642", "z\u0301" * 300, "__proto__", "<script>", "../../etc", "9" * 40, [], {},
)  # fmt: skip
KEYS = (
    "event",
    "id",
    "text",
    "type",
    "cell",
    "x",
    "y",
    "since",
    "format",
    "spectate",
    "__proto__",
    "constructor",
)
RAW_ENDS = (
    b"\xf1\x80",
    b"\x83\x80",
    b"\x81\x05hello",
    b"\x89\xfe\x00\xff",
    b"\x80\x80",
    b"\x88\x81\x00",
    b"\xc1\x80",
)
"""Reserved bits and opcodes, no mask, a long ping, a continuation of nothing, half a close: then zeros."""


class Room(NamedTuple):
    """Where the mad clients play."""

    id: str
    token: str


class Frames:
    """Makes frames; the same ones for the same number."""

    def __init__(self, number: int, rooms: list[Room]) -> None:
        self.chance = random.Random(number)
        self.topics = ["lobby", "phoenix", "game:", "game:NOPE", *(f"game:{room.id}" for room in rooms * 3)]
        self.ruined = inputs((JOIN, *PUSHES), number)

    def value(self, depth: int = 0) -> Any:
        chance = self.chance
        kind = chance.random()
        if depth > 3 or kind < 0.6:
            return chance.choice(SCALARS)
        if kind < 0.9:
            return {chance.choice(KEYS): self.value(depth + 1) for _ in range(chance.randrange(4))}
        return [self.value(depth + 1) for _ in range(chance.choice((0, 1, 2, 40)))]

    def payload(self, event: str) -> Any:
        """Something that this event may well take, or anything."""
        chance = self.chance
        match event if chance.random() < 0.7 else "":
            case "chat":
                return {"text": chance.choice(SCALARS), "id": chance.choice((None, "a", "b"))}
            case "game_event":
                kind = chance.choice(("mark", "open", "flag", "chord", "x"))
                at = {name: chance.randrange(-1, 11) for name in chance.choice((("cell",), ("x", "y")))}
                return {"event": {"type": kind, **at}, "id": chance.choice((None, "a", "b", self.value()))}
            case "phx_join":
                return {"spectate": chance.random() < 0.8, "since": chance.choice((None, 0, 3, 10**6))}
            case "leave" | "rematch" | "heartbeat" | "phx_leave":
                return {}
            case _:
                return self.value()

    def mad(self) -> bytes:
        """JSON of five items that have the right types."""
        chance = self.chance
        event = chance.choice(WORDS[:6]) if chance.random() < 0.8 else chance.choice(WORDS)
        refs = [chance.choice((None, "1", "1", "2", "x" * 100)) for _ in range(2)]
        frame = [*refs, chance.choice(self.topics), event, self.payload(event)]
        text = json.dumps(frame, ensure_ascii=chance.random() < 0.5).encode()
        return masked_any(text) if len(text) < MAX_SIZE else self.mad()

    def last(self) -> bytes:
        """What ends a connection, most likely."""
        if self.chance.random() < 0.3:
            return self.chance.choice(RAW_ENDS) + bytes(300)
        return masked_any(next(self.ruined), self.chance.choice((0x81, 0x82)))


def masked_any(data: bytes, opcode: int = 0x81) -> bytes:
    """A client's frame of whatever size."""
    if len(data) < 65536:
        return masked(opcode, data)
    return bytes([opcode, 0xFF]) + len(data).to_bytes(8, "big") + bytes(4) + data


CHECK = '[null,"%s","phoenix","heartbeat",{}]'


def visit(port: int, token: str, frames: list[bytes], last: bytes, ref: str) -> None:
    """One connection: all frames, a heartbeat whose answer says that they were read, and a bad end."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        line.sendall(KNOCK.replace(b"vsn=2.0.0", b"vsn=2.0.0&token=" + token.encode()) + b"\r\n")
        assert line.recv(12) == b"HTTP/1.1 101", "a knock was turned away"
        line.sendall(b"".join(frames) + masked(0x81, (CHECK % ref).encode()))
        wanted, heard = f'[null,"{ref}","phoenix"'.encode(), b""
        while wanted not in heard:
            more = line.recv(1 << 16)
            assert more, f"the connection ended before its time: {heard[-200:]!r}"
            heard = heard[-100:] + more
        line.sendall(last)


class Witness(Raw):
    """Keeps all that it hears."""

    def __init__(self, server: Server, name: str) -> None:
        self.heard: list[Any] = []
        super().__init__(server, server.guest(name).token)

    def hear(self, *events: str) -> Any:
        while True:
            self.heard.append(super().hear())
            if not events or self.heard[-1][3] in events:
                return self.heard[-1]


def talk(server: Server, between: Callable[[], None]) -> list[Any]:
    """Two people in a private room, who say something before and after; all that they hear, without ids."""
    room = server.open_room(private=True)["id"]
    people = [Witness(server, name) for name in ("Ann", "Bob")]
    known = {room: "ROOM"}
    for person in people:
        known[person.join(room).response["player"]] = f"player {len(known)}"
    for words in ("before", "after"):
        for person in people:
            assert person.ask(f"game:{room}", "chat", {"text": words}).status == "ok"
        if words == "before":
            between()
    for person in people:
        person.ask("phoenix", "heartbeat", {}, None)
    for person in people:
        person.close()
    return [_anonymous(person.heard, known) for person in people]


def _anonymous(heard: Any, known: dict[str, str]) -> Any:
    text = json.dumps(heard, sort_keys=True)
    text = re.sub(r'("phx_ref(?:_prev)?": ")[0-9a-f]+-', r"\1LOAD-", text)
    for id, name in known.items():
        text = text.replace(id, name)
    return json.loads(text, object_hook=lambda found: {**found, "at": 0} if "at" in found else found)


def memory(server: Server) -> int:
    """Bytes of the server that are in memory."""
    pages = Path(f"/proc/{server.pid}/statm").read_text().split()[1]
    return int(pages) * 4096


class Report(NamedTuple):
    """What came of it."""

    frames: int
    seconds: float
    cold: int
    """Bytes of memory more than before the first frame."""
    grown: int
    """Bytes of memory more than after the first tenth, when everything has been used once."""
    disturbed: bool
    """The room beside it heard something else than it would have without."""

    def judge(self, what: str, server: Server) -> None:
        """Print it, and fail if anything was harmed."""
        cold, grown = self.cold / 2**20, self.grown / 2**20
        print(f"{self.frames:,} frames in {self.seconds:.0f} s")
        print(f"memory {grown:+.1f} MB since the first tenth, {cold:+.1f} MB since the start")
        if self.disturbed:
            sys.exit(f"{what}: the room beside it was disturbed")
        if self.grown > 10 * 2**20:
            sys.exit(f"{what}: expected at most 10 MB more memory")
        if trouble := [line for line in server.log.splitlines() if "Traceback" in line or '"error"' in line]:
            sys.exit(f"{what}: the server complained: {trouble[0][:4000]}")


def storm(server: Server, frames: int, number: int = 1) -> Report:
    """So many frames beside two people who talk."""
    games = ("tictactoe", "minesweeper")
    rooms = [Room(server.open_room(game)["id"], server.guest(game).token) for game in games * 2]
    made = Frames(number, rooms)
    alone = talk(server, lambda: None)
    count, cold, warm = 0, memory(server), 0

    def blow() -> None:
        nonlocal count, warm
        while count < frames:
            batch = [made.mad() for _ in range(min(BATCH, frames - count) - 1)]
            visit(server.port, made.chance.choice(rooms).token, batch, made.last(), f"check {count}")
            count += len(batch) + 1
            if not warm and count >= frames // 10:
                warm = memory(server)

    begin = time.monotonic()
    beside = talk(server, blow)
    return Report(
        count, time.monotonic() - begin, memory(server) - cold, memory(server) - warm, beside != alone
    )


@contextmanager
def own_server() -> Iterator[Server]:
    """A server with a journal on disk, as people run it, that limits nobody."""
    with TemporaryDirectory() as data:
        server = Server(Path(data), "--durability", "process", environment=UNLIMITED).start()
        try:
            yield server
        finally:
            server.stop()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz.frames", description=__doc__)
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with own_server() as server:
        report = storm(server, options.frames, options.seed)
    report.judge("fuzz-frames", server)


if __name__ == "__main__":
    main()

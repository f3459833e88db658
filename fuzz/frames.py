"""python -m fuzz.frames [--frames N]: fuzzed frames through a live server, two people in a room beside it.

Most frames are JSON that a Phoenix client could have sent if it had gone mad, so that they get far; each
connection ends with one that is no such thing. Shown: no traceback in the log, memory as before, the room
beside it undisturbed.
"""

import json
import random
import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from fuzz.doors import masked
from fuzz.mutate import inputs
from fuzz.readers import JOIN, PUSHES
from fuzz.storm import BATCH, RAW_ENDS, SCALARS, Report, blow, command, enter, hear_out, masked_any
from tests.e2e.clients import Raw
from tests.e2e.servers import Server

MAX_SIZE = 60_000
"""Bytes of a frame that does not end a connection by its mere size."""

WORDS = (
    "phx_join", "phx_leave", "game_event", "chat", "leave", "rematch", "claim", "heartbeat",
    "phx_reply", "phx_close",
    "__proto__", "constructor", "toString", "", "x" * 300, "chat\r\n", "\x00", "\u202e", "a\u0301" * 200,
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


CHECK = '[null,"%s","phoenix","heartbeat",{}]'


def visit(port: int, token: str, frames: list[bytes], last: bytes, ref: str) -> None:
    """One connection: all frames, a heartbeat whose answer says that they were read, and a bad end."""
    with enter(port, f"/socket/websocket?vsn=2.0.0&token={token}") as line:
        line.sendall(b"".join(frames) + masked(0x81, (CHECK % ref).encode()))
        hear_out(line, f'[null,"{ref}","phoenix"'.encode())
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


def storm(server: Server, frames: int, number: int = 1) -> Report:
    """So many frames beside two people who talk."""
    games = ("tictactoe", "minesweeper")
    clock = {"kind": "turn", "seconds": 5, "at_zero": "bot"}
    rooms = [Room(server.open_room(game, clock=clock)["id"], server.guest(game).token) for game in games * 2]
    made = Frames(number, rooms)

    def rave(left: int, count: int) -> int:
        batch = [made.mad() for _ in range(min(BATCH, left) - 1)]
        visit(server.port, made.chance.choice(rooms).token, batch, made.last(), f"check {count}")
        return len(batch) + 1

    return blow(server, frames, rave, partial(talk, server), talk(server, lambda: None))


if __name__ == "__main__":
    command("frames", __doc__, storm)

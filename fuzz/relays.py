"""python -m fuzz.relays [--frames N]: any bytes through the relays of a live server, four members beside.

Some members are of today's generation and some of the first; they come, say anything, return with numbers
that may or may not be right, and leave in all the wrong ways. Shown: no traceback in the log, memory as
before, the room beside them undisturbed.
"""

import json
import random
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

from fuzz.doors import masked
from fuzz.mutate import inputs
from fuzz.storm import BATCH, RAW_ENDS, Report, blow, command, knock, masked_any
from tests.e2e.relays import Member
from tests.e2e.servers import Server

SEEDS = (
    b'{"turn": 0, "spaces": 3, "letters": ["D", "K", "G"]}',
    b'{"Intent":"Peer","From":["ann"],"To":[],"Num":3,"Time":1,"Receipt":true,"Body":"aGVsbG8="}',
    b'["a",1.5e3,null,true,"\\u2660 \\ud83d\\ude42"]',
    b"hello",
    b"",
)
PATHS = (
    "/g/mad", "/g/mad?id=ann", "/g/mad?id=bob", "/g/mad?id=ann&lastnum=%d", "/g/mad?id=%%3C&lastnum=%d",
    "/g/mad?id=&lastnum=0", "/g/mad/too?id=dee", "/g/?id=", "/g/mad?lastnum=%d", "/g/%%E2%%99%%A0?id=%%zz",
)  # fmt: skip
AT_ONCE = 20
"""Frames after which what came back is read."""


class Words:
    """Makes frames; the same ones for the same number."""

    def __init__(self, number: int) -> None:
        self.chance = random.Random(number)
        self._ruined = inputs(SEEDS, number)

    def path(self) -> str:
        path = self.chance.choice(PATHS)
        return path % self.chance.choice((0, 1, 5, 100, 10**9)) if "%d" in path else path.replace("%%", "%")

    def frame(self) -> bytes:
        chance = self.chance
        kind = chance.random()
        if kind < 0.01:
            return masked_any(chance.randbytes(chance.choice((61440, 61000, 20_000))), 0x82)
        if kind < 0.3:
            return masked_any(chance.randbytes(chance.randrange(300)), 0x82)
        text = next(self._ruined)[:60_000]
        if kind < 0.4:
            return masked_any(text, 0x82)
        if kind < 0.45:
            return masked(0x01, text[:50]) + masked(0x89, b"between") + masked(0x80, text[50:100])
        return masked_any(text.decode(errors="replace").encode())

    def last(self) -> bytes:
        """What ends a connection."""
        ends = (*(end + bytes(300) for end in RAW_ENDS), masked_any(bytes(61441)), masked(0x81, b"\xff"), b"")
        return self.chance.choice(ends)


def visit(server: Server, words: Words, count: int) -> int:
    """One connection: frames, now and then a ping whose pong says that they were read, and a bad end."""
    with knock(server.port, words.path()) as line:
        head = line.recv(1 << 16)
        assert head.startswith((b"HTTP/1.1 101", b"HTTP/1.1 503")), head
        for begin in range(0, count, AT_ONCE):
            if not _heard(line, [words.frame() for _ in range(min(AT_ONCE, count - begin))], begin):
                return begin  # a number that was not kept: 4000
        line.sendall(words.last())
    return count


def _heard(line: socket.socket, frames: list[bytes], number: int) -> bool:
    """Whether all frames were read, or else the connection has ended."""
    mark = b"%08d" % number
    try:
        line.sendall(b"".join(frames) + masked(0x89, mark))
        heard = b""
        while b"\x8a\x08" + mark not in heard:
            more = line.recv(1 << 20)
            if not more:
                return False
            heard = heard[-20:] + more
    except ConnectionError:
        return False
    return True


def talk(server: Server, between: Callable[[], None]) -> list[Any]:
    """Two members of each generation, who talk before and after; what they hear, without ids and times."""
    members: list[Member] = []
    heard: list[list[Any]] = [[] for _ in range(4)]
    with ExitStack() as stack:
        for query in ("?id=ann", "", "?id=cid", ""):
            members.append(Member(server, f"/g/quiet{query}"))
            stack.callback(members[-1].close)
            for place, member in enumerate(members):
                heard[place].append(member.hear())
        for words in ("before", "after"):
            for sender in members:
                sender.say(json.dumps(words))
                for place, member in enumerate(members):
                    if member is not sender or place in (0, 2):  # who brought an id gets a receipt
                        heard[place].append(member.hear())
            if words == "before":
                between()
    known = {id: f"member {place}" for place, id in enumerate(heard[-1][0]["From"] + heard[-1][0]["To"])}
    return [[_anonymous(envelope, known) for envelope in own] for own in heard]


def _anonymous(envelope: dict[str, Any], known: dict[str, str]) -> Any:
    lists = {name: [known[id] for id in envelope[name]] for name in ("From", "To")}
    return {**envelope, **lists, "Time": 0}


def storm(server: Server, frames: int, number: int = 1) -> Report:
    """So many frames beside four members who talk."""
    words = Words(number)
    alone = talk(server, lambda: None)
    time.sleep(5.5)  # until their relay is forgotten, so that the next talk begins with the same numbers

    def rave(left: int, _: int) -> int:
        return visit(server, words, min(BATCH, left))

    return blow(server, frames, rave, partial(talk, server), alone)


if __name__ == "__main__":
    command("relays", __doc__, storm)

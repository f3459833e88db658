"""One chat at the XsOs door, without a network: people with lines that break when told to."""

import json
from collections import Counter, defaultdict
from typing import Any

from parlour.doors.xsos import Told, Xsos, XsosAnswer
from parlour.server.limits import Quota

EMPTY = (0,) * 9


def drawn(board: str) -> list[int]:
    """A board as it is drawn, as it is sent."""
    return [{"X": -1, "O": 1, ".": 0}[mark] for mark in board.replace("/", " ").split()]


class Chat:
    """People who talk through the door; what each hears is kept, and arrives unless told otherwise."""

    def __init__(self, *, referee: bool = False, id: str = "chat", limit: int = 0) -> None:
        self.held = Quota("bytes", 0, address=limit)
        self.door = Xsos(self._arrived, self._whose, self.held, referee=referee)
        self.id = id
        self.now = 0.0
        self.heard: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.lost: set[str] = set()
        """Lines that are dead, though nobody has noticed yet."""
        self._lines: dict[str, str] = {}
        self._numbers: Counter[str] = Counter()
        self._arrivals: Counter[str] = Counter()

    def _whose(self, line: str) -> str:
        return f"where {line.rpartition(' ')[0]} is"

    def _arrived(self, line: str) -> int:
        return self._arrivals[line]

    def line(self, who: str) -> str:
        return self._lines.setdefault(who, f"{who} 1")

    def say(self, who: str, action: str, *, asked: bool = False, **more: Any) -> XsosAnswer:
        """What a client of theirs would send."""
        line = self.line(who)
        if action in ("join", "start_game"):
            more = {"name": who.title(), **more}
        base = {"version": 3, "seq": self._numbers[line], "from": who, "utouId": self.id, "action": action}
        self._numbers[line] += 1
        return self.send(who, json.dumps({**base, **more}), asked=asked)

    def send(self, who: str, body: str | bytes, *, asked: bool = False) -> XsosAnswer:
        """Anything at all."""
        data = body.encode() if isinstance(body, str) else body
        answer = self.door.receive(self.line(who), data, self.now, asked=asked)
        self._deliver(answer.told)
        return answer

    def move(self, who: str, board: str, **more: Any) -> XsosAnswer:
        return self.say(who, "update_game", game=drawn(board), **more)

    def sit(self, *people: str) -> "Chat":
        """Everybody joins, in this order, and what they heard of it is forgotten."""
        for who in people:
            assert self.say(who, "join", asked=True).code is None
        self.heard.clear()
        return self

    def break_off(self, who: str) -> None:
        """The line is gone, and the server knows; what is said next is on a new one."""
        line = self._renew(who)
        self._deliver(self.door.gone(line, self.now))

    def fall_silent(self, who: str) -> str:
        """The line is dead, and the server does not know."""
        line = self._renew(who)
        self.lost.add(line)
        return line

    def notice(self, line: str) -> None:
        """Now it does."""
        self._deliver(self.door.gone(line, self.now))

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self._deliver(self.door.expire(self.now))

    def _renew(self, who: str) -> str:
        line = self.line(who)
        name, _, number = line.rpartition(" ")
        self._lines[who] = f"{name} {int(number) + 1}"
        return line

    def _deliver(self, told: list[Told]) -> None:
        for line, body in told:
            if line not in self.lost:
                self._arrivals[line] += 1
                self.heard[line.rpartition(" ")[0]].append(json.loads(body))

    def actions(self, who: str) -> list[str]:
        """What they have heard, by its actions; afterwards it is forgotten."""
        return [message["action"] for message in self.heard.pop(who, [])]

"""What clients do on each of the walks that are traced: what any client can, in the words of the wire."""

import json
import time
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from benchmarks.lines import Crowd, Line, call
from benchmarks.moves import DRAW, ParlourMatch

Trace = Callable[[], AbstractContextManager[None]]
"""What happens inside of it is traced."""
Left = tuple[str, str]
"""The topic of a room that was left, and the token of somebody who sits there."""
Stroll = Callable[[int, Trace, list[Left]], None]
"""Does it several times at the server on a port; in rooms that were left, if it is about such."""

MATCHES, ROUNDS = 5, 9
MIDDLE = range(2, 7)
"""Moves that neither begin nor end a game."""
STEPS = 5
"""Moves in a room that is left."""
SETTLED = 3.0
"""Seconds in which a server that was just started has looked through what it keeps."""
REST = 0.3
"""Seconds until nobody says anything any more, and what was due at once is done."""
NATIVE = "/socket/websocket?vsn=2.0.0"
END = b"\x1e"


def hear(line: Line, *words: bytes) -> None:
    """Read until each of these words has come."""
    missing = set(words)
    while missing:
        for message in line.receive():
            missing -= {word for word in missing if word in message}


def rest(*lines: Line) -> None:
    """Read away whatever still comes."""
    Crowd(list(lines)).settle(REST)


def push(line: Line, ref: str, topic: str, event: str, payload: Any) -> None:
    """Say something as the phoenix client does."""
    line.send(json.dumps(["1", ref, topic, event, payload]).encode())


def move(port: int, trace: Trace, _: list[Left]) -> None:
    """A mark of noughts and crosses, until both seats are told and its player is answered."""
    for _again in range(MATCHES):
        match = ParlourMatch(port)
        rest(*match.lines)
        for number in range(len(DRAW)):
            mover, other = match.lines[number % 2], match.lines[1 - number % 2]
            if number in MIDDLE:
                with trace():
                    match.move(number, b"")
                    hear(mover, b'"update"', b'"phx_reply"')
                    hear(other, b'"update"')
            else:
                match.move(number, b"")
                hear(mover, b'"update"', b'"phx_reply"')
                hear(other, b'"update"')
        for line in match.lines:
            line.close()
        time.sleep(REST)


def join(port: int, trace: Trace, _: list[Left]) -> None:
    """The first who comes into a room gets a seat and is told how things are."""
    for _again in range(ROUNDS):
        topic = "game:" + call(port, "POST", "/api/rooms", {"game": "tictactoe"})["id"]
        line = Line(port, NATIVE)
        time.sleep(REST)
        with trace():
            push(line, "1", topic, "phx_join", {})
            hear(line, b'"phx_reply"', b'"sync"', b'"presence_state"')
        line.close()


def leave_rooms(port: int) -> list[Left]:
    """Rooms in which some moves were made, and which everybody left."""
    left = []
    for _ in range(ROUNDS):
        topic = "game:" + call(port, "POST", "/api/rooms", {"game": "tictactoe"})["id"]
        tokens = [call(port, "POST", "/api/players")["token"] for _ in range(2)]
        lines = [Line(port, f"{NATIVE}&token={token}") for token in tokens]
        for line in lines:
            push(line, "1", topic, "phx_join", {})
            hear(line, b'"presence_state"')
        for number in range(STEPS):
            push(
                lines[number % 2], "2", topic, "game_event", {"event": {"type": "mark", "cell": DRAW[number]}}
            )
            for line in lines:
                hear(line, b'"update"')
        for line in lines:
            line.close()
        left.append((topic, tokens[0]))
    return left


def knock(port: int, trace: Trace, rooms: list[Left]) -> None:
    """Somebody comes back to a room that only the journal knows."""
    time.sleep(SETTLED)
    for topic, token in rooms:
        line = Line(port, f"{NATIVE}&token={token}")
        time.sleep(REST)
        with trace():
            push(line, "1", topic, "phx_join", {})
            hear(line, b'"phx_reply"', b'"sync"', b'"presence_state"')
        line.close()


def pairing(port: int, trace: Trace, _: list[Left]) -> None:
    """Two ask to be paired, one after the other, and both are told their room."""
    for _again in range(ROUNDS):
        lines = (Line(port, NATIVE), Line(port, NATIVE))
        for line in lines:
            push(line, "1", "lobby", "phx_join", {})
        time.sleep(REST)
        rest(*lines)
        with trace():
            push(lines[0], "2", "lobby", "queue", {"game": "tictactoe"})
            hear(lines[0], b'"phx_reply"')
            push(lines[1], "2", "lobby", "queue", {"game": "tictactoe"})
            hear(lines[0], b'"matched"')
            hear(lines[1], b'"matched"', b'"phx_reply"')
        for line in lines:
            line.close()
        time.sleep(REST)


def relay(port: int, trace: Trace, _: list[Left]) -> None:
    """One of two in a relay says something; the other hears it, and the sender gets a receipt."""
    one, other = (Line(port, f"/g/table?id={who}") for who in ("ann", "bob"))
    rest(one, other)
    for _again in range(ROUNDS):
        with trace():
            one.send(b"hello")
            hear(one, b'"Receipt":true')
            hear(other, b'"Peer"')


class GammonX:
    """One player of a match, as SignalR's client talks."""

    def __init__(self, port: int) -> None:
        self._id = str(uuid.uuid4())
        wish = {"PlayerId": self._id, "MatchType": 1}
        self._match = call(port, "POST", "/api/matches/join", wish)["payload"]["matchId"]
        self.line = Line(port, f"/matchhub?matchId={self._match}&playerId={self._id}")
        self.line.send(b'{"protocol":"json","version":1}' + END)
        self.shown: dict[str, Any] = {}
        """The last game that this player was shown."""

    def join(self) -> None:
        self.call("JoinMatch", self._id)

    def call(self, target: str, *arguments: Any) -> None:
        """Call a method, and read until it is answered."""
        said = {"type": 1, "target": target, "arguments": [self._match, *arguments], "invocationId": target}
        self.line.send(json.dumps(said).encode() + END)
        while not any(record.get("invocationId") == target for record in self.read()):
            pass

    def read(self) -> list[dict[str, Any]]:
        """The records that have come."""
        records = [json.loads(one) for message in self.line.receive() for one in message.split(END)[:-1]]
        for record in records:
            payload = record["arguments"][0]["payload"] if record.get("type") == 1 else {}
            self.shown = payload if "boardState" in payload else self.shown
        return records

    def may(self, command: str) -> bool:
        return command in self.shown.get("allowedCommands", ())


def gammonx(port: int, trace: Trace, _: list[Left]) -> None:
    """One checker is moved by a client of GammonX, until both are shown the board."""
    players = (GammonX(port), GammonX(port))
    for player in players:
        player.join()
    for player in players:
        player.call("StartGame")
    for _again in range(MATCHES):
        for player in players:
            player.call("GameState")
        mover, other = players if players[0].may("Roll") else players[::-1]
        mover.call("Roll")
        rest(*(player.line for player in players))
        mover.call("GameState")
        while mover.may("Move"):
            step = mover.shown["moveSequences"][0]["moves"][0]
            with trace():
                mover.call("Move", step["from"], step["to"])
                other.read()
        mover.call("EndTurn")
        rest(*(player.line for player in players))

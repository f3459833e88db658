"""Moves told to both seats: noughts and crosses over our socket, boardgame.io's and Colyseus's."""

import json
import re
from collections.abc import Callable
from typing import Any, Protocol

from benchmarks.lines import Crowd, Line, call
from benchmarks.servers import Server, node, parlour

DRAW = (0, 1, 2, 4, 3, 5, 7, 6, 8)
"""The cells of a game that nobody wins, so that all nine are played."""
MATCHES = 400
AT_ONCE = 64
"""How many matches are being played at any time."""

_STATE_ID = re.compile(rb'"_stateID":(\d+)')


class Match(Protocol):
    """Two lines at one board, in a server's own words."""

    lines: tuple[Line, Line]

    def tells(self, message: bytes) -> bool:
        """Whether this tells of a move."""
        ...

    def move(self, number: int, told: bytes) -> None:
        """Play the next cell; *told* is what the mover last heard."""
        ...


class ParlourMatch:
    """As the phoenix client talks."""

    GAME = "tictactoe"

    def __init__(self, port: int) -> None:
        self.topic = "game:" + call(port, "POST", "/api/rooms", {"game": self.GAME})["id"]
        self.lines = (self._join(port), self._join(port))

    def _join(self, port: int) -> Line:
        line = Line(port, "/socket/websocket?vsn=2.0.0")
        line.send(json.dumps(["1", "1", self.topic, "phx_join", {}]).encode())
        line.until(b'"presence_state"')
        return line

    def tells(self, message: bytes) -> bool:
        return b'"update"' in message

    def move(self, number: int, told: bytes) -> None:  # noqa: ARG002 - a seat need not know the last step
        event = {"event": {"type": "mark", "cell": DRAW[number]}}
        self.lines[number % 2].send(json.dumps(["1", "2", self.topic, "game_event", event]).encode())


class BoardgameMatch:
    """As boardgame.io's client talks once its socket.io is on a WebSocket."""

    def __init__(self, port: int) -> None:
        self.id = call(port, "POST", "/games/tictactoe/create", {"numPlayers": 2})["matchID"]
        self.credentials = [
            call(port, "POST", f"/games/tictactoe/{self.id}/join", {"playerID": seat, "playerName": seat})[
                "playerCredentials"
            ]
            for seat in "01"
        ]
        self.lines = (self._join(port, 0), self._join(port, 1))

    def _join(self, port: int, seat: int) -> Line:
        line = Line(port, "/socket.io/?EIO=4&transport=websocket")
        line.until(b"pingInterval")
        line.send(b"40/tictactoe,")
        line.until(b"40/tictactoe,")
        self._emit(line, "sync", self.id, str(seat), self.credentials[seat], 2)
        line.until(b'"matchData"')
        return line

    def _emit(self, line: Line, *what: object) -> None:
        line.send(b"42/tictactoe," + json.dumps(what).encode())

    def tells(self, message: bytes) -> bool:
        return b'"update"' in message

    def move(self, number: int, told: bytes) -> None:
        known = _STATE_ID.search(told)
        state, seat = int(known[1]) if known else 0, number % 2
        payload = {
            "type": "clickCell",
            "args": [DRAW[number]],
            "playerID": str(seat),
            "credentials": self.credentials[seat],
        }
        action = {"type": "MAKE_MOVE", "payload": payload}
        self._emit(self.lines[seat], "update", action, state, self.id, str(seat))


class ColyseusMatch:
    """As Colyseus's client talks: it asks for a seat over HTTP, then in bytes with a code at the start."""

    JOIN, DATA, PATCH = 10, 13, 15
    BINARY = 2

    def __init__(self, port: int) -> None:
        first = call(port, "POST", "/matchmake/create/tictactoe")
        second = call(port, "POST", f"/matchmake/joinById/{first['room']['roomId']}")
        self.lines = (self._join(port, first), self._join(port, second))

    def _join(self, port: int, seat: dict[str, Any]) -> Line:
        room = seat["room"]
        line = Line(port, f"/{room['processId']}/{room['roomId']}?sessionId={seat['sessionId']}")
        line.until(b"schema")
        line.send(bytes((self.JOIN,)), self.BINARY)
        line.until(b"")
        return line

    def tells(self, message: bytes) -> bool:
        return message[0] == self.PATCH

    def move(self, number: int, told: bytes) -> None:  # noqa: ARG002 - a seat need not know the last step
        word = b"\xa4mark"  # as MessagePack has it, and so the cell
        self.lines[number % 2].send(bytes((self.DATA, *word, DRAW[number])), self.BINARY)


class Play:
    """One match on its way through its nine moves."""

    def __init__(self, match: Match, over: Callable[[], None]) -> None:
        self._match = match
        self._over = over
        self._number = 0
        self._waiting = 2
        for line in match.lines:
            line.heard = self._hear

    def begin(self) -> None:
        self._match.move(0, b"")

    def _hear(self, message: bytes) -> None:
        if not self._match.tells(message):
            return
        self._waiting -= 1
        if self._waiting == 0:
            self._number += 1
            self._waiting = 2
            if self._number == len(DRAW):
                self._over()
            else:
                self._match.move(self._number, message)


def play_all(matches: list[Match], at_once: int = AT_ONCE) -> Crowd:
    """Play every match to its end, so many at once; everybody is still there afterwards."""
    crowd = Crowd([line for match in matches for line in match.lines])
    crowd.settle()
    plays: list[Play] = []
    ended = 0

    def over() -> None:
        nonlocal ended
        ended += 1
        if plays:
            plays.pop().begin()

    plays = [Play(match, over) for match in matches]
    for _ in range(min(at_once, len(plays))):
        plays.pop().begin()
    crowd.run(lambda: ended == len(matches))
    return crowd


def cost_of_a_move(server: Server, table: Callable[[int], Match], count: int = MATCHES) -> float:
    """Microseconds of the server's CPU for one move, thought, kept and told to both."""
    play_all([table(server.port) for _ in range(AT_ONCE)]).close()  # to warm up
    matches = [table(server.port) for _ in range(count)]
    before = server.cpu()
    crowd = play_all(matches)
    spent = server.cpu() - before
    crowd.close()
    return spent / (count * len(DRAW)) * 1e6


def durable() -> float:
    """Parlour, every move on the disk before it is told."""
    with parlour("--journal", "sqlite", "--durability", "disk") as server:
        return cost_of_a_move(server, ParlourMatch)


def in_memory() -> float:
    """Parlour, nothing on the disk."""
    with parlour("--journal", "memory") as server:
        return cost_of_a_move(server, ParlourMatch)


def boardgame() -> float:
    """boardgame.io, nothing on the disk."""
    with node("boardgame") as server:
        return cost_of_a_move(server, BoardgameMatch)


def colyseus() -> float:
    """Colyseus, which keeps nothing on a disk either."""
    with node("colyseus") as server:
        return cost_of_a_move(server, ColyseusMatch)

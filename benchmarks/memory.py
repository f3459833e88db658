"""What people and rooms cost in memory: joined idle clients, and rooms that sleep."""

import json
import time

from benchmarks.lines import Crowd, Line, call
from benchmarks.servers import Server, parlour

PEOPLE = 5000
SLEEPERS = 10_000
OPTIONS = ("--ping-every", "600")


def in_pairs() -> float:
    """Bytes for each of 5,000 idle clients in 2,500 rooms of two seats."""
    with parlour(*OPTIONS, games=("patient",)) as server:
        return _cost_of(server, [_new_room(server) for _ in range(PEOPLE // 2)] * 2, spectate=False)


def in_one_room() -> float:
    """Bytes for each of 5,000 idle clients who watch one room."""
    with parlour(*OPTIONS, games=("patient",)) as server:
        return _cost_of(server, [_new_room(server)] * PEOPLE, spectate=True)


def asleep() -> float:
    """Bytes by which 10,000 rooms that were played in and left make the server larger."""
    with parlour(*OPTIONS, "--rest-after", "1", games=("patient",)) as server:
        _warm_up(server)
        before = server.rss()
        for _ in range(SLEEPERS):
            _join(server, _new_room(server), spectate=False).close()
        time.sleep(4)  # until the last of them sleeps
        return float(server.rss() - before)


def _cost_of(server: Server, rooms: list[str], *, spectate: bool) -> float:
    _warm_up(server)
    before = server.rss()
    lines = [_join(server, room, spectate=spectate) for room in rooms]
    crowd = Crowd(lines)
    crowd.settle(2.0)
    grown = server.rss() - before
    crowd.close()
    return grown / len(lines)


def _warm_up(server: Server) -> None:
    for _ in range(50):
        _join(server, _new_room(server), spectate=False).close()
    time.sleep(2)


def _new_room(server: Server) -> str:
    room: str = call(server.port, "POST", "/api/rooms", {"game": "patient"})["id"]
    return room


def _join(server: Server, room: str, *, spectate: bool) -> Line:
    line = Line(server.port, "/socket/websocket?vsn=2.0.0")
    how = {"spectate": True} if spectate else {}
    line.send(json.dumps(["1", "1", f"game:{room}", "phx_join", how]).encode())
    line.until(b'"presence_state"')
    return line

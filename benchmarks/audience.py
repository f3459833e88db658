"""One move of Stratego before a thousand spectators: what it costs to think it out, and what to send it.

Thinking is rules, views and scenes of a move for every viewer, timed in this process. Sending is the CPU of
a server on which the very same moves are played before an audience, less what it takes for them without one.
"""

import json
import random
import sys
from typing import Any

import msgspec

from benchmarks.fanout import LISTENERS, Count
from benchmarks.lines import Line, call
from benchmarks.rules import Stopwatch, move
from benchmarks.servers import Server, parlour, pin_load
from parlour.games import GAMES
from parlour.games.stratego.rules import Form, Ready
from parlour.testing import Table, legal

MOVES = 150
WARM_UP = 10
CONFIG = {"arrange_seconds": 0}
TOLD = b'"update"'
"""Everybody is told of every move in one of these."""

Events = list[tuple[int, Any]]
PLAYERS = ("red", "blue")
DRAWN_UP: Events = [(seat, event) for seat in (0, 1) for event in (Form("corner"), Ready())]


def think(moves: int) -> tuple[Events, dict[str, float]]:
    """Moves of a game at random, by their seats, and the microseconds that each part takes of a move."""
    table, rng, watch = Table(GAMES["stratego"], CONFIG).sit(*PLAYERS), random.Random(1), Stopwatch()
    for seat, event in DRAWN_UP:
        table.act(PLAYERS[seat], event)
    played: Events = []
    scenes: dict[str | None, Any] = {}
    for _ in range(moves):
        seat = table.state.turn
        event = rng.choice(list(legal(table.game, table.state, PLAYERS[seat])))
        move(table, watch, scenes, PLAYERS[seat], event)
        played.append((seat, event))
    return played, {part: spent / moves for part, spent in watch.spent.items()}


class Stage:
    """A room with two players, and many who watch: one half as views, the other as scenes."""

    def __init__(self, server: Server, audience: int) -> None:
        self._server = server
        room = call(server.port, "POST", "/api/rooms", {"game": "stratego", "config": CONFIG})
        self._topic = f"game:{room['id']}"
        self._players = [self._join(format="scene") for _ in PLAYERS]
        formats = ("view", "scene")
        watching = [self._join(spectate=True, format=formats[number % 2]) for number in range(audience)]
        self._lines = [*self._players, *watching]
        self._count = Count(self._lines, TOLD)

    def _join(self, **how: object) -> Line:
        line = Line(self._server.port, "/socket/websocket?vsn=2.0.0")
        line.send(json.dumps(["1", "1", self._topic, "phx_join", how]).encode())
        line.until(b'"presence_state"')
        return line

    def play(self, events: Events) -> float:
        """Microseconds of the server's CPU for each; the next is sent when all have heard of the last."""
        before = self._server.cpu()
        for seat, event in events:
            payload = {"event": msgspec.to_builtins(event)}
            self._players[seat].send(json.dumps(["1", None, self._topic, "game_event", payload]).encode())
            self._count.wait_for(self._count.all + len(self._lines))
        return (self._server.cpu() - before) / len(events) * 1e6

    def close(self) -> None:
        """Everybody goes home."""
        self._count.close()


def cost_of_a_move(server: Server, events: Events, audience: int) -> float:
    """Microseconds of the server's CPU for a move before so many."""
    stage = Stage(server, audience)
    stage.play([*DRAWN_UP, *events[:WARM_UP]])
    spent = stage.play(events[WARM_UP:])
    stage.close()
    return spent


def main() -> None:
    """What both cost, and their ratio."""
    pin_load()
    events, parts = think(WARM_UP + MOVES)
    with parlour("--ping-every", "600") as server:
        alone = cost_of_a_move(server, events, 0)
        watched = cost_of_a_move(server, events, LISTENERS)
    thinking, sending = sum(parts.values()), watched - alone
    said = ", ".join(f"{part} {spent:.0f}" for part, spent in parts.items())
    sys.stdout.write(
        f"µs of CPU a move of Stratego, {MOVES} moves, 2 players and {LISTENERS} spectators\n"
        f"thinking  {thinking:8.0f}   {said}\n"
        f"sending   {sending:8.0f}   {watched:.0f} with the spectators, {alone:.0f} without\n"
        f"ratio     {thinking / sending:8.2f}\n"
    )


if __name__ == "__main__":
    main()

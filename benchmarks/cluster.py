"""What PostgreSQL and more workers cost: `python -m benchmarks cluster`.

All workers share one core, PostgreSQL and NATS have that of the load, and what is compared is the CPU time
of the workers' processes, summed up. It says what many cores could do without having them.
"""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import cycle

from benchmarks.fanout import LISTENERS, TEXT, Count
from benchmarks.lines import Line, call
from benchmarks.moves import AT_ONCE, DRAW, MATCHES, ParlourMatch, play_all
from benchmarks.servers import PATIENCE, Server, parlour
from parlour.cluster.lease_table import list_workers
from parlour.journal.shards import SHARDS
from tests.nats import Nats
from tests.postgres import Postgres

GATEWAYS = 4
"""Workers that hold the spectators' sockets; one more owns the room."""
STEPS = 200
REST = 5.0
"""Seconds in which it is measured what a worker spends that has nothing to do."""
QUIET = ("--durability", "disk", "--ping-every", "600")
"""The load answers no pings."""

Enter = Callable[[list[int]], tuple[int, int, int]]
"""Draws, of the workers' ports, where a room is opened and where its two players enter."""


class SpreadMatch(ParlourMatch):
    """A match whose room and players are each at a worker of choice."""

    def __init__(self, opened_at: int, first_at: int, second_at: int) -> None:
        self.topic = "game:" + call(opened_at, "POST", "/api/rooms", {"game": self.GAME})["id"]
        self.lines = (self._join(first_at), self._join(second_at))


@contextmanager
def started(count: int) -> Iterator[list[Server]]:
    """So many workers with a fresh PostgreSQL and NATS, each with its share of the rooms.

    One has no bus: it is alone.
    """
    with ExitStack() as stack:
        postgres, nats = Postgres(), Nats()
        stack.callback(postgres.stop)
        postgres.start()
        options = [*QUIET, "--journal", postgres.url]
        if count > 1:
            nats.start()
            stack.callback(nats.stop)
            options += ["--bus", nats.url]
        workers = [stack.enter_context(parlour(*options)) for _ in range(count)]
        if count > 1:
            wait_for_shares(postgres.url, count)
        yield workers


def wait_for_shares(url: str, count: int) -> None:
    """Return once each of so many workers has its share of the rooms."""
    end = time.monotonic() + PATIENCE
    while [worker for worker in asyncio.run(list_workers(url)) if worker.shards >= SHARDS // count][
        count - 1 :
    ] == []:
        if time.monotonic() > end:
            raise TimeoutError(f"expected {count} workers with a share of the rooms each")
        time.sleep(0.1)


def cost_of_a_move(workers: list[Server], enter: Enter, at_once: int) -> float:
    """Microseconds of CPU of all workers for one move, thought, kept and told to both seats."""
    ports = [worker.port for worker in workers]

    def play(count: int) -> float:
        matches = [SpreadMatch(*enter(ports)) for _ in range(count)]
        before = cpu(workers)
        crowd = play_all(list(matches), at_once)
        spent = cpu(workers) - before
        crowd.close()
        return spent / (count * len(DRAW)) * 1e6

    play(AT_ONCE)  # to warm up
    return play(MATCHES)


def cpu(workers: list[Server]) -> float:
    """Seconds of CPU that all workers have used so far."""
    return sum(worker.cpu() for worker in workers)


def at_one(ports: list[int]) -> tuple[int, int, int]:
    """Everybody enters by the worker that owns the room."""
    return ports[0], ports[0], ports[0]


def one_away(ports: list[int]) -> tuple[int, int, int]:
    """One of the two enters by another worker."""
    return ports[0], ports[0], ports[1]


def both_away(ports: list[int]) -> tuple[int, int, int]:
    """Both enter by another worker."""
    return ports[0], ports[1], ports[1]


def anywhere() -> Enter:
    """Players enter by all workers alike; the first opens the room."""
    places = cycle([(0, 0, 0), (0, 0, 1), (1, 1, 1), (1, 1, 0)])

    def enter(ports: list[int]) -> tuple[int, int, int]:
        opened, first, second = next(places)
        return ports[opened], ports[first], ports[second]

    return enter


def sqlite(at_once: int) -> float:
    """One process on SQLite."""
    with parlour(*QUIET, "--journal", "sqlite") as server:
        return cost_of_a_move([server], at_one, at_once)


def postgresql(at_once: int) -> float:
    """One process on PostgreSQL."""
    with started(1) as workers:
        return cost_of_a_move(workers, at_one, at_once)


def two_workers(enter: Enter, at_once: int) -> float:
    """Two workers, all of whose rooms and players are where *enter* says."""
    with started(2) as workers:
        return cost_of_a_move(workers, enter, at_once)


def owner_of_a_crowd() -> float:
    """Milliseconds of the owner's CPU for one step that spectators at four other workers are told of.

    What it spends meanwhile on its beats, as it does without a step, is not counted.
    """
    with started(1 + GATEWAYS) as (owner, *gateways):
        topic = "game:" + call(owner.port, "POST", "/api/rooms", {"game": "tictactoe"})["id"]
        speaker = _join(owner.port, topic, {})
        ports = cycle([gateway.port for gateway in gateways])
        count = Count([_join(next(ports), topic, {"spectate": True}) for _ in range(LISTENERS)])

        def talk(steps: int) -> None:
            begin = count.all
            for number in range(1, steps + 1):
                speaker.send(json.dumps(["1", None, topic, "chat", {"text": TEXT}]).encode())
                count.wait_for(begin + LISTENERS * number)

        talk(STEPS // 10)
        idle, rest = spent_by(owner, lambda: time.sleep(REST))
        spent, seconds = spent_by(owner, lambda: talk(STEPS))
        count.close()
        speaker.close()
        return (spent - idle / rest * seconds) / STEPS * 1e3


def spent_by(server: Server, work: Callable[[], None]) -> tuple[float, float]:
    """Seconds of a server's CPU while something is done, and how long that took."""
    before, begin = server.cpu(), time.monotonic()
    work()
    return server.cpu() - before, time.monotonic() - begin


def _join(port: int, topic: str, how: dict[str, bool]) -> Line:
    line = Line(port, "/socket/websocket?vsn=2.0.0")
    line.send(json.dumps(["1", "1", topic, "phx_join", how]).encode())
    line.until(b'"presence_state"')
    return line

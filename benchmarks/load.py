"""Games that one core sustains: moves come when they are due, whether the last was answered or not.

Every game has two seats and a move a second, each game at a moment of its own. A number of games is sustained
if 99 of 100 moves are told to the other seat within 50 ms after they were due, in a step of eight seconds; if
not, it has a second try. A try in which other programs had a good part of a core, or the load itself was
late, says little about the server, and is made again a few times. The number is doubled until it is not
sustained, and then narrowed down.
"""

import gc
import math
import random
import select
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter, process_time, sleep
from typing import NamedTuple

from benchmarks.endless import LAST
from benchmarks.lines import Line
from benchmarks.moves import BoardgameMatch, ColyseusMatch, Match, ParlourMatch
from benchmarks.servers import LOAD_CORE, SERVER_CORE, Server, busy, node, parlour

LIMIT = 0.050
"""Seconds within which 99 of 100 moves must be told."""
WARM, COUNTED = 1, 8
"""Seconds of a step before it counts, and those that do."""
FIRST = 500
"""How many games are tried first."""
MOST = 8000
"""How many games are tried at most: two sockets each, and there must be ports for those."""
GRAIN = 0.05
"""How far apart, at most, the numbers are that were sustained and that were not."""
DRAIN = 10.0
"""Seconds in which what was asked of a server that could not keep up must be told after all."""
TRIES, VOID = 2, 3
"""How often so many games are tried until they count as not sustained, and how many tries may be void."""
OTHERS, LATE = 0.1, LIMIT / 4
"""A try is void if others had more of a core than this, or so many seconds passed until moves were sent."""
QUIET = 30.0
"""Seconds that a try waits at most until others leave the cores alone."""
AT_ONCE = 8
"""How many games are opened at the same time."""


class Step(NamedTuple):
    """How so many games went."""

    p99: float
    """Seconds from when a move was due until the other seat was told, for all but the slowest 1 %."""
    lag: float
    """The same until it was sent: what is the load's own fault."""


class Table:
    """A game that goes on and on."""

    def __init__(self, match: Match) -> None:
        self._match = match
        self.lines = match.lines
        self._due: list[float] = []
        self._told = [0, 0]

    def move(self, due: float) -> None:
        number = len(self._due)
        self._due.append(due)
        self._match.move(number % LAST, b'"_stateID":%d' % number)

    def hear(self, seat: int, message: bytes) -> float | None:
        """When the move was due that the other player is told of by this, if it is such a message."""
        number = self._told[seat]
        if number == len(self._due) or not self._match.tells(message):  # or it tells who came
            return None
        self._told[seat] += 1
        return self._due[number] if number % 2 != seat else None

    @property
    def is_told(self) -> bool:
        """Whether both seats know of every move."""
        return min(self._told) == len(self._due)

    def close(self) -> None:
        for line in self.lines:
            line.close()


class Hall:
    """All games at one server; more are opened as more are asked for."""

    def __init__(self, open_table: Callable[[], Table]) -> None:
        self._open_table = open_table
        self._tables: list[Table] = []
        self._lines: dict[int, tuple[Table, int, Line]] = {}
        self._poll = select.epoll()
        self._chance = random.Random(1)
        self.waits: list[float] = []

    def grow(self, count: int) -> None:
        """Have so many games at least, and none that has lost a move."""
        for table in [table for table in self._tables if not table.is_told]:
            self._tables.remove(table)
            for line in table.lines:
                self._forget(line)
            table.close()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            missing = range(count - len(self._tables))
            for table in pool.map(lambda _: self._open_table(), missing):
                self._tables.append(table)
                for seat, line in enumerate(table.lines):
                    self._lines[line.socket.fileno()] = (table, seat, line)
                    self._poll.register(line.socket.fileno(), select.EPOLLIN)
        self._hear_for(1.0)

    def play(self, count: int) -> Step:
        """Let so many games be played for a step; it ends early when it can be told how it ends."""
        tables = self._tables[:count]
        moments = sorted((self._chance.random(), place) for place in range(count))
        begin = perf_counter() + 0.1
        allowed = count * COUNTED // 100
        lags: list[float] = []
        for second in range(WARM + COUNTED):
            if second == WARM:
                self.waits.clear()
                lags.clear()
            for moment, place in moments:
                due = begin + second + moment
                self._hear_until(due)
                tables[place].move(due)
                lags.append(perf_counter() - due)
            if second >= WARM and sum(wait > LIMIT for wait in self.waits) > allowed:
                break
        self._drain(tables)
        return Step(percentile(self.waits, len(lags)), percentile(lags, len(lags)))

    def _hear_until(self, due: float) -> None:
        """Take what has come, and go on until it is time."""
        self._take(0)
        while (left := due - perf_counter()) > 0:
            self._take(left)

    def _hear_for(self, seconds: float) -> None:
        self._hear_until(perf_counter() + seconds)

    def _drain(self, tables: list[Table]) -> None:
        end = perf_counter() + DRAIN
        while perf_counter() < end and not all(table.is_told for table in tables):
            self._hear_for(0.1)

    def _take(self, seconds: float) -> None:
        for fd, _ in self._poll.poll(seconds):
            table, seat, line = self._lines[fd]
            try:
                messages = line.receive()
            except OSError:  # the server hung up, and what it should have told is lost
                self._forget(line)
                continue
            now = perf_counter()
            for message in messages:
                due = table.hear(seat, message)
                if due is not None:
                    self.waits.append(now - due)

    def _forget(self, line: Line) -> None:
        if self._lines.pop(line.socket.fileno(), None) is not None:
            self._poll.unregister(line.socket.fileno())

    def close(self) -> None:
        self._poll.close()
        for table in self._tables:
            table.close()


def percentile(values: list[float], count: int) -> float:
    """What 99 % of so many values do not exceed; those that are missing never came."""
    place = math.ceil(count * 0.99) - 1
    return sorted(values)[place] if place < len(values) else math.inf


def most_sustained(is_sustained: Callable[[int], bool], first: int = FIRST, most: int = MOST) -> int:
    """The largest number that is sustained, to the grain; 0 if not even one is, and *most* if that is."""
    low, high = 0, first
    while is_sustained(high):
        if high == most:
            return most
        low, high = high, min(high * 2, most)
    while high - low > max(1, GRAIN * low):
        middle = (low + high) // 2
        if is_sustained(middle):
            low = middle
        else:
            high = middle
    return low


def play_watched(hall: Hall, server: Server, count: int) -> tuple[Step, float]:
    """A step, and which share of one of the cores others had; no garbage is collected meanwhile."""
    hall.grow(count)
    wait_for_quiet(server)
    gc.collect()
    gc.disable()
    share = share_of_others(server)
    try:
        return hall.play(count), share()
    finally:
        gc.enable()


def share_of_others(server: Server) -> Callable[[], float]:
    """Watch both cores from now on; what is returned tells which share of one of them others had."""

    def work() -> tuple[float, float]:
        return busy(SERVER_CORE) - server.cpu(), busy(LOAD_CORE) - process_time()

    begin, before = perf_counter(), work()

    def share() -> float:
        most = max(now - then for now, then in zip(work(), before, strict=True))
        return max(0.0, most / (perf_counter() - begin))

    return share


def wait_for_quiet(server: Server) -> None:
    """Let others finish what they are at, if that does not take too long."""
    end = perf_counter() + QUIET
    while perf_counter() < end:
        share = share_of_others(server)
        sleep(1)
        if share() < OTHERS:
            return


def search(server: Server, open_match: Callable[[int], Match], say: Callable[[str], None]) -> float:
    """How many games this server sustains."""
    hall = Hall(lambda: Table(open_match(server.port)))

    def is_sustained(count: int) -> bool:
        tries, void = TRIES, VOID
        while tries:
            step, others = play_watched(hall, server, count)
            times = f"told in {step.p99 * 1000:.1f} ms, sent after {step.lag * 1000:.1f} ms"
            say(f"    {server.name}, {count} games: {times}; others had {others:.0%} of a core")
            if step.p99 <= LIMIT:
                return True
            if void and (others > OTHERS or step.lag > LATE):
                void -= 1
            else:
                tries -= 1
        return False

    try:
        found = most_sustained(is_sustained)
        if found == MOST:
            say(f"    {server.name} sustains {MOST} games or more; more are not tried")
        return found
    finally:
        hall.close()


class EndlessMatch(ParlourMatch):
    """A game of Parlour's that goes on and on."""

    GAME = "endless"


def durable(say: Callable[[str], None]) -> float:
    """Parlour, every move on the disk before it is told."""
    options = ("--journal", "sqlite", "--durability", "disk", "--ping-every", "600")
    with parlour(*options, games=("endless",)) as server:
        return search(server, EndlessMatch, say)


def boardgame(say: Callable[[str], None]) -> float:
    """boardgame.io, nothing on the disk."""
    with node("boardgame", "endless") as server:
        return search(server, BoardgameMatch, say)


def colyseus(say: Callable[[str], None]) -> float:
    """Colyseus, which keeps nothing on a disk either."""
    with node("colyseus", "endless") as server:
        return search(server, ColyseusMatch, say)

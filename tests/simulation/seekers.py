"""People at the lobby who look for somebody to play with, and what they are told of their tickets."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Any

from parlour.server.ticket_records import kept_tickets
from tests.simulation.cluster import Cluster
from tests.simulation.database import finish
from tests.simulation.people import COME_BACK, TRY_AGAIN, Line

GAME = "pairs"


class Seeker:
    """Somebody who waits at the lobby, and after each match for the next one."""

    def __init__(self, cluster: Cluster, name: str, chance: Random) -> None:
        self.name = name
        self.rooms: defaultdict[str, set[str]] = defaultdict(set)
        """By ticket: the rooms to which it was said to lead."""
        self.acknowledged: set[str] = set()
        self.void: set[str] = set()
        self.broken: list[str] = []
        self.seeks = True
        """Takes another ticket after each match."""
        self.is_waiting = False
        """Has a ticket."""
        self._cluster, self._chance = cluster, chance
        self._world = cluster.loop.world
        self._line: Line | None = None
        self._is_there = False
        self._refs = count(1)
        self._asked: dict[str, str] = {}

    def come(self) -> None:
        """Connect to any worker, and enter the lobby."""
        if self._line is not None and self._line.is_open:
            return
        if not self._cluster.serving:
            self._world.call_later(TRY_AGAIN, self.come)
            return
        self._line = Line(self, self._chance.choice(self._cluster.serving))  # type: ignore[arg-type]
        self._send("phx_join", {})

    def hang_up(self) -> None:
        """Close the connection, and come back soon."""
        if self._line is not None and self._line.is_open:
            self._line.hang_up()
            self.lose(1000)

    def queue(self) -> None:
        """Take a ticket, unless there is one."""
        if self.seeks and self._is_there and not self.is_waiting and "queue" not in self._asked.values():
            self._send("queue", {"game": GAME})

    def hear(self, frames: list[Any]) -> None:
        for _, ref, _, event, payload in frames:
            if event == "phx_reply" and (asked := self._asked.pop(ref, None)) is not None:
                self._hear_answer(asked, payload["status"], payload["response"])
            elif event == "matched":
                self.rooms[payload["ticket"]].add(payload["room"])
                self._end_waiting()
            elif event == "unqueued":
                self.void.add(payload["ticket"])
                self._end_waiting()

    def _end_waiting(self) -> None:
        self.is_waiting = False
        self._world.call_later(TRY_AGAIN * self._chance.random(), self.queue)

    def _hear_answer(self, asked: str, status: str, response: Any) -> None:
        if asked == "phx_join":
            self._is_there = status == "ok"
            self._world.call_later(TRY_AGAIN, self.queue if self._is_there else self.hang_up)
        elif status == "ok":
            self.acknowledged.add(response["ticket"])
            self.is_waiting = response["ticket"] not in self.rooms
        elif response["code"] == "already_queued":
            self.is_waiting = True
        elif response["code"] in ("not_saved", "outcome_unknown"):
            self._world.call_later(TRY_AGAIN, self.queue)
        else:
            self.broken.append(f"{self.name} was refused a ticket: {response}")

    def lose(self, _: int) -> None:
        """The connection is closed."""
        self._is_there = False
        self._asked.clear()
        self._world.call_later(COME_BACK, self.come)

    def _send(self, event: str, payload: dict[str, Any]) -> None:
        assert self._line is not None
        ref = str(next(self._refs))
        self._asked[ref] = event
        self._line.send(["0", ref, "lobby", event, payload])


def judge_tickets(cluster: Cluster, seekers: list[Seeker]) -> Iterator[str]:
    """A ticket leads to one room, a room has two, and none is lost."""
    kept = {ticket.id: ticket for ticket in finish(kept_tickets(cluster.database.store))}
    rooms: Counter[str] = Counter()
    for seeker in seekers:
        yield from seeker.broken
        for ticket, led in seeker.rooms.items():
            rooms.update(led)
            if len(led) > 1:
                yield f"ticket {ticket} of {seeker.name} leads to {sorted(led)}"
        for ticket in sorted(seeker.acknowledged - seeker.void - {*seeker.rooms} - {*kept}):
            yield f"ticket {ticket} of {seeker.name} is lost"
    yield from (f"{times} tickets lead to {room}" for room, times in rooms.items() if times > 2)
    acknowledged = {ticket for seeker in seekers for ticket in seeker.acknowledged}
    open_ones = [kept[id] for id in sorted(acknowledged & {*kept}) if kept[id].room is None]
    if len(open_ones) > 1:
        yield f"{[ticket.player for ticket in open_ones]} wait for each other"

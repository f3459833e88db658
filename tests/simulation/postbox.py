"""The webhooks of those who play: what they receive, and whether each turn was told once."""

from collections.abc import Collection, Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

import msgspec

from parlour.journal.base import RecordQuery
from parlour.server.endpoint_records import Endpoint, endpoint_id, endpoint_record
from parlour.server.outgoing import NotReached, Outgoing
from parlour.server.parts.notifications.messages import YourTurn
from parlour.server.parts.notifications.rules import DELIVERY, PAUSES, RETRY, Delivery, read_delivery
from parlour.server.turn_records import TURN, read_turn
from tests.simulation.database import Database, finish, settle
from tests.simulation.loop import Process

TAKES = 0.05
"""Seconds until an answer is there."""
LOSSES = 0.15
"""The share of requests that come to nothing."""
LATE = 20.0
"""Seconds after which somebody must have looked for what a worker that died has left."""


URL = "https://hook.example/"


def _webhook_of(player: str) -> str:
    return endpoint_id("webhook", URL, player)


class Received(NamedTuple):
    """A message as it came."""

    at: float
    told: YourTurn


class Postbox:
    """Receives what all workers send."""

    def __init__(self, database: Database, chance: Random) -> None:
        self._database, self._chance = database, chance
        self._players: tuple[str, ...] = ()
        self.received: list[Received] = []
        self.broken: list[str] = []

    def endpoints(self, *players: str) -> Iterator[Any]:
        """The records of their webhooks."""
        self._players = players
        for player in players:
            yield endpoint_record(Endpoint(_webhook_of(player), "webhook", player, URL, 0.0))

    def take(self, body: bytes) -> bool:
        """Receive a message, unless it is lost; whoever sends it must have noted the try before."""
        told = msgspec.json.decode(body, type=YourTurn)
        now, delivery = self._database.loop.now, self._deliveries().get(told.id)
        before = [one.at for one in self.received if one.told.id == told.id]
        if delivery is None or delivery.tries <= len(before):
            self.broken.append(f"{told.player} is told of {told.id}, and that is not kept")
        if before and now - before[-1] < PAUSES[0] - 1:
            self.broken.append(f"{told.player} is told of {told.id} twice in {now - before[-1]:.2f} s")
        if self._chance.random() < LOSSES:
            return False
        self.received.append(Received(now, told))
        return True

    def has_told_all(self) -> bool:
        """Whether nobody is to be told any more."""
        turns = finish(self._database.store.records(RecordQuery(TURN)))
        return bool(turns) and all(record.due is None for record in turns) and not self._deliveries()

    def _deliveries(self) -> dict[str, Delivery]:
        store = self._database.store
        kept = [record for kind in (DELIVERY, RETRY) for record in finish(store.records(RecordQuery(kind)))]
        return {one.id: one for one in (read_delivery(record.body) for record in kept)}

    def judge(self, called: Collection[tuple[str, int, str]], now: float) -> Iterator[str]:
        """Whoever was away in their turn is told; *called* are all whom a step of a room has called."""
        yield from self.broken
        for _, told in self.received:
            seq = int(told.id.split("-")[1])
            if (told.room, seq, told.player) not in called:
                yield f"{told.player} was told of step {seq} of {told.room}, which did not call them"
        ids = {one.told.id for one in self.received}
        planned = self._deliveries()
        for record in finish(self._database.store.records(RecordQuery(TURN))):
            turn = read_turn(record.body)
            if turn.player not in self._players:
                continue
            mine = Delivery(turn, _webhook_of(turn.player)).id
            if record.due is not None and record.due < now - LATE:
                yield f"{turn.player} is not told of step {turn.seq} of {turn.room}"
            elif record.due is None and mine not in ids and mine not in planned:
                yield f"{turn.player} was never told of step {turn.seq} of {turn.room}"


class Posting(Outgoing):
    """What a worker sends goes to the postbox."""

    def __init__(self, postbox: Postbox, process: Process) -> None:
        super().__init__()
        self._postbox, self._process = postbox, process

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> int:
        del url, headers
        has_come = self._postbox.take(body)
        answered = self._process.loop.create_future()
        self._process.call_later(TAKES, settle, answered, None)
        await answered
        if not has_come:
            raise NotReached("the network lost it")
        return 200

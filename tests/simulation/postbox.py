"""The webhooks and browsers of those who play: what they receive, and whether each turn was told once."""

from collections.abc import Collection, Iterator, Mapping
from itertools import product
from random import Random
from typing import Any, NamedTuple

import msgspec

from parlour.journal.base import RecordQuery
from parlour.server.endpoint_records import Endpoint, EndpointKind, endpoint_id, endpoint_record
from parlour.server.outgoing import NotReached, Outgoing
from parlour.server.parts.notifications.messages import YourTurn
from parlour.server.parts.notifications.rules import DELIVERY, PAUSES, RETRY, Delivery, read_delivery
from parlour.server.turn_records import TURN, read_turn
from tests.push_receiver import PushReceiver, claims_of
from tests.simulation.database import Database, finish, settle
from tests.simulation.loop import Process

TAKES = 0.05
"""Seconds until an answer is there."""
LOSSES = 0.15
"""The share of requests that come to nothing."""
LATE = 20.0
"""Seconds after which somebody must have looked for what a worker that died has left."""


HOOK, PUSH = "https://hook.example/", "https://push.example/"
"""Where the program of a player is told, and the push service that everybody's browser has."""


class Place:
    """Where a player is told: a program of theirs, or a browser, which alone can read what it is sent."""

    def __init__(self, player: str, *, browser: bool) -> None:
        self.player = player
        self.url = (PUSH if browser else HOOK) + player
        kind: EndpointKind = "push" if browser else "webhook"
        self._browser = PushReceiver() if browser else None
        key, secret = (self._browser.key, self._browser.secret) if self._browser else ("", "")
        id = endpoint_id(kind, self.url, player)
        self.endpoint = Endpoint(id, kind, player, self.url, 0.0, key=key, secret=secret)

    def read(self, headers: Mapping[str, str], body: bytes) -> YourTurn:
        """What is told here; an error if it is meant for somewhere else."""
        if self._browser is not None:
            claims = claims_of(headers["Authorization"], headers["Authorization"].rpartition("k=")[2])
            assert claims["aud"] == PUSH.rstrip("/")
            body = self._browser.decrypt(body)
        told = msgspec.json.decode(body, type=YourTurn)
        assert self._browser is not None or headers["Parlour-Delivery"] == told.id
        return told


class Received(NamedTuple):
    """A message as it came."""

    at: float
    told: YourTurn


class Postbox:
    """Receives what all workers send."""

    def __init__(self, database: Database, chance: Random) -> None:
        self._database, self._chance = database, chance
        self._places: dict[str, Place] = {}
        """By URL."""
        self.losses = LOSSES
        self.received: list[Received] = []
        self.broken: list[str] = []

    def endpoints(self, *players: str) -> Iterator[Any]:
        """The records of a webhook and a browser of each."""
        for player, browser in product(players, (False, True)):
            place = Place(player, browser=browser)
            self._places[place.url] = place
            yield endpoint_record(place.endpoint)

    def take(self, url: str, headers: Mapping[str, str], body: bytes) -> bool:
        """Receive a message, unless it is lost; whoever sends it must have noted the try before."""
        place = self._places[url]
        told = place.read(headers, body)
        if told.player != place.player or not told.id.endswith(place.endpoint.id[:8]):
            self.broken.append(f"{place.player} is told at {url} of {told.id} of {told.player}")
        now, delivery = self._database.loop.now, self._deliveries().get(told.id)
        before = [one.at for one in self.received if one.told.id == told.id]
        if delivery is None or delivery.tries <= len(before):
            self.broken.append(f"{told.player} is told of {told.id}, and that is not kept")
        if before and now - before[-1] < PAUSES[0] - 1:
            self.broken.append(f"{told.player} is told of {told.id} twice in {now - before[-1]:.2f} s")
        if self._chance.random() < self.losses:
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
            mine = [one for one in self._places.values() if one.player == turn.player]
            if mine and record.due is not None and record.due < now - LATE:
                yield f"{turn.player} is not told of step {turn.seq} of {turn.room}"
            for place in mine:
                id = Delivery(turn, place.endpoint.id).id
                if record.due is None and id not in ids and id not in planned:
                    yield f"{turn.player} was never told of step {turn.seq} of {turn.room} at {place.url}"


class Posting(Outgoing):
    """What a worker sends goes to the postbox."""

    def __init__(self, postbox: Postbox, process: Process) -> None:
        super().__init__()
        self._postbox, self._process = postbox, process

    async def post(self, url: str, owner: str, headers: Mapping[str, str], body: bytes) -> int:
        has_come = self._postbox.take(url, headers, body)
        answered = self._process.loop.create_future()
        self._process.call_later(TAKES, settle, answered, None)
        await answered
        if not has_come:
            raise NotReached("the network lost it")
        return 200

"""The rules of telling, as values: who is told of a turn and where, and what follows of an answer."""

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec.structs import astuple, replace

from parlour.journal.base import Change, Drop, NewRecord, Record, Unchanged
from parlour.server.endpoint_records import Endpoint, Failure
from parlour.server.turn_records import AwaitedTurn

DELIVERY = "delivery"
RETRY = "delivery_again"
"""Deliveries that were tried before are kept apart: however many they are, first tries are found at once."""
PAUSES = (30.0, 120.0, 600.0, 3600.0, 4 * 3600.0, 12 * 3600.0)
"""Seconds from each try to the next; the first is longer than a try can take, so that no two overlap."""

Answer = Literal["taken", "gone", "failed"]
"""What came of a try: it was received, there is nobody at the address any more, or it may be tried again."""


class Delivery(msgspec.Struct, frozen=True):
    """A turn that is still to be told at one endpoint."""

    turn: AwaitedTurn
    endpoint: str
    tries: int = 0

    @property
    def id(self) -> str:
        """The same for all tries: by it an endpoint knows what it has received before."""
        return f"{self.turn.number}-{self.turn.seq}-{self.endpoint[:8]}"


_encode = msgspec.json.Encoder().encode
read_delivery = msgspec.json.Decoder(Delivery).decode


def delivery_record(delivery: Delivery, due: float) -> Record:
    """The record of a delivery; it goes with its room."""
    turn = delivery.turn
    key = f"{turn.number}/{turn.seq}/{delivery.endpoint}"
    kind = RETRY if delivery.tries else DELIVERY
    return Record(kind, key, _encode(delivery), owner=turn.player, due=due, room=turn.number)


def deliveries_of(
    record: Record, turn: AwaitedTurn, endpoints: Sequence[Endpoint], now: float
) -> list[Change]:
    """Plan to tell a turn at all its player's endpoints, once: the turn is not due any more."""
    planned = [delivery_record(Delivery(turn, one.id), now) for one in endpoints if not one.is_gone]
    return [Unchanged(record), replace(record, due=None), *(NewRecord(*astuple(one)) for one in planned)]


def begin_try(delivery: Delivery, now: float) -> tuple[Delivery, Record]:
    """A delivery that is tried now: unless something comes of it, it is tried again after a pause."""
    tried = replace(delivery, tries=delivery.tries + 1)
    return tried, delivery_record(tried, now + PAUSES[min(delivery.tries, len(PAUSES) - 1)])


def replace_by_try(record: Record, tried: Record) -> list[Change]:
    """Put the record of a try in the place of what was kept before it."""
    moved = [Drop(record.kind, key=record.key)] if record.kind != tried.kind else []
    return [Unchanged(record), *moved, tried]


def postponed(record: Record, until: float) -> list[Change]:
    """Leave a delivery for later without a try, and without ending its pause before its time."""
    return [Unchanged(record), replace(record, due=until)]


def forgotten(record: Record) -> list[Change]:
    """Drop a delivery that nobody waits for any more."""
    return [Unchanged(record), Drop(record.kind, key=record.key)]


def after_try(record: Record, delivery: Delivery, failure: Failure | None) -> list[Change]:
    """What an answer changes: who fails too often is not told this time, and nobody tries where nobody is."""
    if failure is None or failure.code == "gone" or delivery.tries >= len(PAUSES):
        return forgotten(record)
    return []


def answer_of(status: int) -> Answer:
    """What the status of an HTTP response says; a redirect is not followed, so it is a failure.

    >>> [answer_of(status) for status in (201, 302, 404, 410, 429, 500)]
    ['taken', 'failed', 'gone', 'gone', 'failed', 'failed']
    """
    if 200 <= status < 300:
        return "taken"
    return "gone" if status in (404, 410) else "failed"


def failure_of(endpoint: Endpoint, status: int, date: float) -> Failure | None:
    """What an endpoint's owner reads of an answer with this status; None if it was received."""
    answer = answer_of(status)
    if answer == "taken":
        return None
    if answer == "failed":
        return Failure(date, "bad_status", f"the answer was {status}, expected 200 to 299")
    who = "this browser is not subscribed any more" if endpoint.kind == "push" else "nobody is there any more"
    return Failure(
        date, "gone", f"the answer was {status}: {who}, so nothing is sent there until it is added again"
    )

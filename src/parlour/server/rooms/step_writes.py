"""What is kept beside a step: the card, the state and the deadline that it leaves, and what it scores."""

from typing import Any

from msgspec import UNSET, UnsetType

from parlour.journal.base import RoomSummary, StepWrites
from parlour.lobby import Ticket
from parlour.room import Room
from parlour.server.parts.pairing.ticket_records import ticket_records
from parlour.server.parts.ratings.results import records_of
from parlour.server.rooms.summary import Live, summary_of
from parlour.wire import Step


def beside(
    live: Live, step: Step, room: Room[Any], frozen: bytes | None, tickets: tuple[Ticket, ...]
) -> StepWrites:
    """What changes with this step, which leads to *room*."""
    ends = room.outcome is not None and live.here.outcome is None
    return StepWrites(
        _new_summary(live, room, step.now),
        frozen,
        _new_due(live, room),
        (*ticket_records(tickets), *(records_of(live, step, room) if ends else ())),
    )


def _new_due(live: Live, room: Room[Any]) -> float | UnsetType | None:
    """A stale deadline that is too early only wakes the room for nothing."""
    wanted = room.next_due
    sooner = wanted is not None and (live.due is None or wanted < live.due)
    return wanted if room.ended is not None or sooner else UNSET


def _new_summary(live: Live, room: Room[Any], now: float) -> RoomSummary | None:
    before = live.here
    held = live.summary is not None and live.summary.held is not None
    same = room.seats == before.seats and room.outcome == before.outcome and room.ended == before.ended
    if same and not held:
        return None
    summary = summary_of(room, live.opening, now)
    return summary if summary != live.summary else None

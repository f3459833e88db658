"""What is kept beside a step: the summary, the state and the deadline that it leaves, tickets and results."""

from typing import Any, NamedTuple

from msgspec import UNSET, UnsetType

from parlour.journal.base import RoomSummary, StepWrites
from parlour.lobby import Ticket
from parlour.room import Room
from parlour.server.rooms.results import records_of
from parlour.server.rooms.summary import Opening, summary_of
from parlour.server.rooms.thinking import Thought
from parlour.server.ticket_records import ticket_records


class KeptBefore(NamedTuple):
    """A room as the journal knows it before a step."""

    room: Room[Any]
    number: int
    opening: Opening
    summary: RoomSummary | None
    due: float | None


def writes_beside(before: KeptBefore, thought: Thought, tickets: tuple[Ticket, ...]) -> StepWrites:
    """What changes with this step."""
    room, step = thought.room, thought.step
    ends = room.outcome is not None and before.room.outcome is None
    return StepWrites(
        _new_summary(before, room, step.now),
        thought.frozen,
        _new_due(before.due, room),
        (
            *ticket_records(tickets),
            *(records_of(before.number, before.opening, step, room) if ends else ()),
        )
        if tickets or ends
        else (),
    )


def _new_due(due: float | None, room: Room[Any]) -> float | UnsetType | None:
    """A stale deadline that is too early only wakes the room for nothing."""
    wanted = room.next_due
    sooner = wanted is not None and (due is None or wanted < due)
    return wanted if room.ended is not None or sooner else UNSET


def _new_summary(before: KeptBefore, room: Room[Any], now: float) -> RoomSummary | None:
    was = before.room
    held = before.summary is not None and before.summary.held is not None
    same = room.seats is was.seats or room.seats == was.seats
    if same and room.outcome == was.outcome and room.ended == was.ended and not held:
        return None
    summary = summary_of(room, before.opening, now)
    return summary if summary != before.summary else None

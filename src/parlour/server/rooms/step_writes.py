"""A step that was thought through, and what is kept beside it: summary, state, deadline, tickets, results."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from parlour.errors import Refused
from parlour.journal.base import RoomSummary, StepWrites
from parlour.lobby import Ticket
from parlour.room import Room
from parlour.server.border import Perspective
from parlour.server.rooms.calling_records import call_records
from parlour.server.rooms.ending_records import records_of
from parlour.server.rooms.perspectives import Seen
from parlour.server.rooms.summary import Opening, summary_of
from parlour.server.ticket_records import ticket_records
from parlour.wire import Step


class Thought(msgspec.Struct, frozen=True):
    """A step that was thought through and neither kept nor told yet."""

    room: Room[Any]
    step: Step
    seen: dict[Perspective, Seen]
    """What is seen after it from each perspective, if the state changed."""
    frozen: bytes | None = None
    """The room to store beside the step, where that is due."""
    failure: Refused | None = None
    """Why the game's part was left out."""
    score: tuple[int, ...] | None = None
    """The points of each seat after it; None: as before."""


KeptBefore = tuple[Room[Any], int, Opening, RoomSummary | None, float | None]
"""A room as the journal knows it before a step: the room, its number, opening, summary and deadline."""

NOTHING = StepWrites()


def writes_beside(before: KeptBefore, thought: Thought, tickets: tuple[Ticket, ...]) -> StepWrites:
    """The writes that belong to this step, and to those that are kept with it."""
    was, number, opening, _, due = before
    room, step = thought.room, thought.step
    ends = room.outcome is not None and was.outcome is None
    new_summary, new_due = _new_summary(before, thought), _new_due(due, room)
    results = records_of(number, opening, step, room) if ends else ()
    records = (*ticket_records(tickets), *results, *call_records(number, was, room, step))
    if new_summary is None and new_due is UNSET and thought.frozen is None and not records:
        return NOTHING
    return StepWrites(new_summary, thought.frozen, new_due, records)


def _new_due(due: float | None, room: Room[Any]) -> float | UnsetType | None:
    """The deadline to write, if any: one that is too early only wakes the room for nothing."""
    wanted = room.next_due
    sooner = wanted is not None and (due is None or wanted < due)
    return wanted if room.ended is not None or sooner else UNSET


def _new_summary(before: KeptBefore, thought: Thought) -> RoomSummary | None:
    was, _, opening, summary, _ = before
    room = thought.room
    known = () if summary is None else summary.score
    score = known if thought.score is None else thought.score
    same = (room.seats is was.seats or room.seats == was.seats) and score == known
    held = summary is not None and summary.held is not None
    if same and room.outcome == was.outcome and room.ended == was.ended and not held:
        return None
    new = summary_of(room, opening, thought.step.now, score)
    return new if new != summary else None

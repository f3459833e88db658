"""Events of rooms, for the parts around them: pairing, ratings, notifications, the list of rooms, bots."""

from collections.abc import Callable

import msgspec

from parlour.journal.base import Found, RoomSummary
from parlour.lobby import Ticket
from parlour.server.bots.worker import Question


class RoomOpened(msgspec.Struct, frozen=True):
    """A room was opened."""

    found: Found


class SummaryChanged(msgspec.Struct, frozen=True):
    """A room's summary changed, and is kept."""

    summary: RoomSummary


class SeatsChanged(msgspec.Struct, frozen=True):
    """Seats were taken or given up, and the tickets that this matched are kept."""

    room: str
    sitting: frozenset[str]
    matched: tuple[Ticket, ...]


class SpectatorsChanged(msgspec.Struct, frozen=True):
    """So many watch a room now; told at most once a second."""

    room: str
    count: int


class RoomEnded(msgspec.Struct, frozen=True):
    """A room ended for good."""

    room: str


class OutcomeReached(msgspec.Struct, frozen=True):
    """A game that is to be rated has ended; if its step was kept, the journal has a record of it."""

    room: str


class PlayersCalled(msgspec.Struct, frozen=True):
    """It is the turn of somebody who is away; if the step was kept, the journal has a record of it."""

    room: str


class BotAsked(msgspec.Struct, frozen=True):
    """A bot has to move."""

    room: str
    load: str
    """Of the room: an answer to what it asked before it rested is not wanted."""
    player: str
    question: Question
    until: float | None = None
    """When its time is over, on the server's clock, if it has a clock."""


RoomEvent = (
    RoomOpened | SummaryChanged | SeatsChanged | SpectatorsChanged | OutcomeReached | RoomEnded | BotAsked
    | PlayersCalled
)  # fmt: skip
Publish = Callable[[RoomEvent], None]

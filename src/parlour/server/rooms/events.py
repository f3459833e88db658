"""What happens in rooms, for the parts around them: pairing, ratings, the list of rooms, bots."""

from collections.abc import Callable

import msgspec

from parlour.journal.base import Found, RoomSummary
from parlour.lobby import Ticket
from parlour.server.bots.worker import Question


class RoomOpened(msgspec.Struct, frozen=True):
    """There is a new room."""

    found: Found


class SummaryChanged(msgspec.Struct, frozen=True):
    """A room's summary is different, and kept."""

    summary: RoomSummary


class SeatsChanged(msgspec.Struct, frozen=True):
    """Seats were taken or given up, and the tickets that this matched are kept."""

    room: str
    sitting: frozenset[str]
    matched: tuple[Ticket, ...]


class RoomEnded(msgspec.Struct, frozen=True):
    """A room is over for good."""

    room: str


class OutcomeReached(msgspec.Struct, frozen=True):
    """A game that is to be rated has ended; the journal says so, if the step was kept."""

    room: str


class BotAsked(msgspec.Struct, frozen=True):
    """It is for a bot to do something."""

    room: str
    player: str
    question: Question


RoomEvent = RoomOpened | SummaryChanged | SeatsChanged | OutcomeReached | RoomEnded | BotAsked
Publish = Callable[[RoomEvent], None]

"""What is kept beside a step: the card, the state and the deadline that it leaves, and what it scores."""

from typing import Any

from msgspec import UNSET, UnsetType

from parlour.journal.base import Aside, Card
from parlour.lobby import Ticket
from parlour.room import Room
from parlour.server.parts.ratings.results import scored
from parlour.server.rooms.summary import Live, card_of
from parlour.wire import Step


def beside(
    live: Live, step: Step, room: Room[Any], frozen: bytes | None, tickets: tuple[Ticket, ...]
) -> Aside:
    """What changes with this step, which leads to *room*."""
    ends = room.outcome is not None and live.here.outcome is None
    return Aside(
        _new_card(live, room, step.now),
        frozen,
        _new_due(live, room),
        tickets,
        scored(live, room, step.date) if ends else None,
    )


def _new_due(live: Live, room: Room[Any]) -> float | UnsetType | None:
    """A stale deadline that is too early only wakes the room for nothing."""
    wanted = room.next_due
    sooner = wanted is not None and (live.due is None or wanted < live.due)
    return wanted if room.ended is not None or sooner else UNSET


def _new_card(live: Live, room: Room[Any], now: float) -> Card | None:
    before = live.here
    held = live.card is not None and live.card.held is not None
    same = room.seats == before.seats and room.outcome == before.outcome and room.ended == before.ended
    if same and not held:
        return None
    card = card_of(room, live.opening, now)
    return card if card != live.card else None

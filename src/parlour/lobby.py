"""Who plays with whom: tickets in, parties out. Nothing is kept or told here; the time is handed in."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from parlour.errors import Code, Refused

Mode = Literal["normal", "ranked", "bot"]

CLOSE = 100.0
"""How far apart two ratings may be at once."""
PATIENCE = 5.0
"""How much farther for each second that somebody has waited."""
ON_THE_WAY = 30.0
"""Seconds for which the seat of somebody is kept who was sent to a room, or opened one, and is not there."""

_encode = msgspec.json.Encoder(order="deterministic").encode


class Ticket(msgspec.Struct, frozen=True, omit_defaults=True, dict=True):
    """A wish to be paired."""

    id: str
    player: str
    name: str
    game: str
    config: Any
    """Whole, with every default: who wants the same says the same."""
    since: float
    """When it was taken, on the rooms' clock."""
    mode: Mode = "normal"
    seats: int = 2
    """How many play together."""
    rating: float = 1500.0
    bot: str | None = None
    """Who the opponent should be, in mode ``bot``."""
    at: str | None = None
    """The room in which its player waits already: whoever is paired with them is seated there."""
    room: str | None = None
    """Where they play; a ticket without a room is open."""

    @property
    def queue(self) -> bytes:
        """What everybody in the same queue has in common; made once."""
        made: bytes | None = self.__dict__.get("queue")
        if made is None:
            made = self.__dict__["queue"] = _encode((self.game, self.mode, self.config))
        return made

    def tolerance(self, now: float) -> float:
        """How far from its own rating a partner's may be by now."""
        return CLOSE + PATIENCE * max(0.0, now - self.since)


Party = tuple[Ticket, ...]
"""The tickets of those who play together, the oldest first."""


class Vacancy(msgspec.Struct, frozen=True):
    """A room that waits for company: the ticket for it, who sits there, and who was sent there."""

    ticket: Ticket
    sitting: frozenset[str] = frozenset()
    coming: Mapping[str, float] = {}
    """Until when the seats of those are kept who were sent."""

    def expecting(self, player: str, now: float) -> "Vacancy":
        """The same with one more on the way, or with more patience for them."""
        return replace(self, coming={**self.coming, player: now + ON_THE_WAY})

    def is_free(self, now: float, player: str | None = None) -> bool:
        """Whether there is a seat for one more: for *player*, who may have been sent here before."""
        if self.ticket.mode == "bot":
            return False  # whose seat that is
        coming = {other for other, until in self.coming.items() if until > now}
        taken = self.sitting | coming | {self.ticket.player}
        return len(taken - {player}) < self.ticket.seats


def is_same_wish(one: Ticket, other: Ticket) -> bool:
    """Whether these are tickets of one player for one queue."""
    return one.player == other.player and one.queue == other.queue


def check_new(ticket: Ticket, tickets: Iterable[Ticket]) -> None:
    """Refuse a second ticket of the same player for the same queue."""
    for other in tickets:
        if is_same_wish(other, ticket):
            raise Refused(Code.ALREADY_QUEUED, "you are in this queue already")


def fit(one: Ticket, other: Ticket, now: float) -> bool:
    """Whether these two may play together.

    >>> ann = Ticket("1", "ann", "Ann", "go", {}, 0.0, "ranked", rating=1500.0)
    >>> bob = Ticket("2", "bob", "Bob", "go", {}, 0.0, "ranked", rating=1700.0)
    >>> fit(ann, bob, now=19.0), fit(ann, bob, now=20.0)
    (False, True)
    """
    if one.player == other.player or one.queue != other.queue or (one.at and other.at):
        return False
    if one.mode != "ranked":
        return True
    return abs(one.rating - other.rating) <= max(one.tolerance(now), other.tolerance(now))


def pair(tickets: Iterable[Ticket], now: float) -> list[Party]:
    """Everybody who can play now, those who came first before others; nobody twice.

    What is left over cannot be paired: no two of it fit, or too few for their game do.
    """
    parties: list[Party] = []
    taken: set[str] = set()
    waiting: dict[bytes, list[Ticket]] = {}
    for ticket in sorted(tickets, key=lambda ticket: (ticket.since, ticket.id)):
        if ticket.player in taken or ticket.room is not None:
            continue
        before = [other for other in waiting.get(ticket.queue, ()) if other.player not in taken]
        party = _party(ticket, before, now)
        if party is None:
            waiting[ticket.queue] = [*before, ticket]
        else:
            parties.append(party)
            taken.update(member.player for member in party)
    return parties


def _party(ticket: Ticket, before: Sequence[Ticket], now: float) -> Party | None:
    """This one and as many of those before as the game needs; in ranked games the nearest."""
    wanted = 0 if ticket.mode == "bot" else ticket.seats - 1
    partners: list[Ticket] = []
    if ticket.mode == "ranked":
        before = sorted(before, key=lambda other: abs(other.rating - ticket.rating))
    for other in before:
        if len(partners) == wanted:
            break
        if all(fit(other, member, now) for member in (ticket, *partners)):
            partners.append(other)
    if len(partners) < wanted:
        return None
    return tuple(sorted((*partners, ticket), key=lambda member: (member.since, member.id)))


def made_good(tickets: Sequence[Ticket], room: str) -> tuple[Ticket, ...]:
    """The tickets, with the room that they led to."""
    return tuple(replace(ticket, room=room) for ticket in tickets)

"""Who plays with whom: tickets in, parties out. Nothing is kept or told here; the time is handed in."""

import heapq
from bisect import bisect_left, insort
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from parlour.clocks import ClockSettings
from parlour.errors import Code, Refused
from parlour.wire import Join

Mode = Literal["normal", "ranked", "bot"]

CLOSE = 100.0
"""How far apart two ratings may be at once."""
TOLERANCE_A_SECOND = 5.0
"""How much farther for each second that somebody has waited."""
ON_THE_WAY = 30.0
"""Seconds for which the seat of somebody is kept who was sent to a room, or opened one, and is not there."""

LOOK = 50
"""So many of those who wait, with a room and without, are looked at for one ticket."""

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
    address: str | None = None
    """Where it was asked from: whom the room counts for that is opened for it."""
    clock: ClockSettings | None = None
    """How much time players have."""
    remote: bool = False
    """Of a bot that plays over the network: such are paired with each other, and not with people."""
    account: bool = False
    """Of somebody with an account."""
    brings_luck: bool = False
    """Its player sits down on arrival, with random bytes for the seed."""
    negotiable: tuple[str, ...] = ()
    """The settings for which its player does not wait: those of the game."""

    @property
    def queue(self) -> bytes:
        """What everybody in the same queue has in common; made once."""
        made: bytes | None = self.__dict__.get("queue")
        if made is None:
            made = self.__dict__["queue"] = _encode(
                (self.game, self.mode, self.awaited_config, self.bot, self.clock, self.remote)
            )
        return made

    @property
    def awaited_config(self) -> Any:
        """The settings that partners must want, too."""
        return without(self.config, self.negotiable) if self.negotiable else self.config

    def tolerance(self, now: float) -> float:
        """How far from its own rating a partner's may be by now."""
        return CLOSE + TOLERANCE_A_SECOND * max(0.0, now - self.since)


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

    def is_free(self, now: float, player: str | None = None, *, bot: bool = False) -> bool:
        """Whether there is a seat for one more: for *player*, who may have been sent here before."""
        if self.ticket.mode == "bot" and not bot and player != self.ticket.player:
            return False  # the other seat is the bot's
        coming = {other for other, until in self.coming.items() if until > now}
        taken = self.sitting | coming | {self.ticket.player}
        return len(taken - {player}) < self.ticket.seats

    def has_sent(self, player: str) -> bool:
        """Whether the lobby wants this player here, in time or late."""
        return player == self.ticket.player or player in self.coming


class Vacancies(dict[str, Vacancy]):
    """The rooms that wait for company, by id; says which of them change."""

    def __init__(self, changed: Callable[[str], None]) -> None:
        super().__init__()
        self._changed = changed

    def __setitem__(self, room: str, vacancy: Vacancy) -> None:
        super().__setitem__(room, vacancy)
        self._changed(room)

    def discard(self, room: str) -> None:
        """Nobody waits in this room any more."""
        if self.pop(room, None) is not None:
            self._changed(room)


class Reservations:
    """For whom the lobby keeps the seats of rooms: what a room must know before it seats somebody."""

    def __init__(self) -> None:
        self.changed: Callable[[str], None] = lambda _: None
        """Called with a room for which something else is reserved from now on."""
        self.vacancies = Vacancies(self._tell_changed)
        self._sent: dict[str, set[str]] = {}
        """Whom the lobby has sent to each room."""

    def _tell_changed(self, room: str) -> None:
        self.changed(room)

    def rooms(self) -> set[str]:
        """The rooms for which something is reserved."""
        return self.vacancies.keys() | self._sent.keys()

    def sent(self, room: str) -> tuple[str, ...]:
        """Whom the lobby has sent to a room."""
        return tuple(self._sent.get(room, ()))

    def copy(self, room: str, vacancy: Vacancy | None, sent: Iterable[str]) -> None:
        """Take over what somebody else has reserved for a room."""
        if vacancy is None:
            self.vacancies.discard(room)
        else:
            self.vacancies[room] = vacancy
        if there := set(sent):
            self._sent[room] = there
        else:
            self._sent.pop(room, None)

    def clear(self) -> None:
        """Reserve nothing any more."""
        for room in self.rooms():
            self.copy(room, None, ())

    def send(self, player: str, room: str) -> None:
        """Note that the lobby has sent this player to a room."""
        self._sent.setdefault(room, set()).add(player)
        self.changed(room)

    def forget(self, player: str, room: str) -> None:
        """Forget that the lobby has sent this player to a room."""
        there = self._sent.get(room, set())
        there.discard(player)
        if not there:
            self._sent.pop(room, None)
        self.changed(room)

    def check(self, room: str, player: str, now: float, *, ranked: bool, bot: bool = False) -> None:
        """Refuse a seat that is kept for others: the one rule, by whichever way somebody comes."""
        vacancy = self.vacancies.get(room)
        sent = vacancy is not None and vacancy.has_sent(player)
        if ranked and not sent and player not in self._sent.get(room, ()):
            why = "the seats of a ranked game are for those whom the lobby has paired; you can watch"
            raise Refused(Code.SEAT_KEPT, why)
        if vacancy is not None and not vacancy.is_free(now, player, bot=bot):
            why = "the free seat is kept for somebody who is on the way; you can watch"
            raise Refused(Code.SEAT_KEPT, why)

    def filled(self, room: str, sitting: frozenset[str]) -> tuple[Ticket, ...]:
        """The ticket of whoever waited in this room, matched if all have come."""
        vacancy = self.vacancies.get(room)
        if vacancy is None or len(sitting) < vacancy.ticket.seats:
            return ()
        return matched((vacancy.ticket,), room)


def is_same_wish(one: Ticket, other: Ticket) -> bool:
    """Whether these are tickets of one player for one queue."""
    return one.player == other.player and one.queue == other.queue


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


Rank = tuple[float, float, str]


class SortedTickets:
    """Tickets of one queue, by rating where that matters, then by age."""

    def __init__(self) -> None:
        self._tickets: dict[str, Ticket] = {}
        self._ranks: list[Rank] = []

    def __len__(self) -> int:
        return len(self._ranks)

    def add(self, ticket: Ticket) -> None:
        """Add a ticket, or replace the one of the same id."""
        self.remove(ticket)
        self._tickets[ticket.id] = ticket
        insort(self._ranks, _rank(ticket))

    def remove(self, ticket: Ticket) -> None:
        """Take a ticket out, if it is here."""
        known = self._tickets.pop(ticket.id, None)
        if known is not None:
            del self._ranks[bisect_left(self._ranks, _rank(known))]

    def in_order(self) -> list[Ticket]:
        """All tickets, in order."""
        return [self._tickets[id] for _, _, id in self._ranks]

    def nearest(self, ticket: Ticket) -> Iterator[Ticket]:
        """Those whose ratings are nearest to this ticket's, of equal ones the oldest; not more than a few."""
        ranks, (mine, _, _) = self._ranks, _rank(ticket)
        high = bisect_left(ranks, (mine,))
        low = high - 1
        for _ in range(min(LOOK, len(ranks))):
            below = mine - ranks[low][0] if low >= 0 else inf
            above = ranks[high][0] - mine if high < len(ranks) else inf
            at, low, high = (low, low - 1, high) if below < above else (high, low, high + 1)
            yield self._tickets[ranks[at][2]]


def _rank(ticket: Ticket) -> Rank:
    return ticket.rating if ticket.mode == "ranked" else 0.0, ticket.since, ticket.id


class TicketQueue:
    """The open tickets of those who want the same; those who wait in a room of their own are kept apart."""

    def __init__(self) -> None:
        self._loose = SortedTickets()
        self._in_rooms = SortedTickets()

    def __len__(self) -> int:
        return len(self._loose) + len(self._in_rooms)

    def add(self, ticket: Ticket) -> None:
        """Add a ticket."""
        (self._loose if ticket.at is None else self._in_rooms).add(ticket)

    def remove(self, ticket: Ticket) -> None:
        """Take a ticket out, if it is here."""
        self._loose.remove(ticket)
        self._in_rooms.remove(ticket)

    def in_order(self) -> list[Ticket]:
        """Those who may find somebody as time goes by; two who each have a room stay in them."""
        every = [*self._loose.in_order(), *self._in_rooms.in_order()] if self._loose else []
        return sorted(every, key=lambda ticket: (ticket.since, ticket.id))

    def party(self, ticket: Ticket, now: float, busy: Container[str] = ()) -> Party | None:
        """This one and as many others as the game needs; in ranked games the nearest, else the oldest."""
        wanted = 0 if ticket.mode == "bot" else ticket.seats - 1
        partners: list[Ticket] = []
        for other in self._candidates(ticket):
            if len(partners) == wanted:
                break
            if other.player not in busy and all(fit(other, one, now) for one in (ticket, *partners)):
                partners.append(other)
        if len(partners) < wanted:
            return None
        return tuple(sorted((*partners, ticket), key=lambda member: (member.since, member.id)))

    def _candidates(self, ticket: Ticket) -> Iterator[Ticket]:
        if ticket.at is not None:
            return self._loose.nearest(ticket)
        rating = _rank(ticket)[0]
        return heapq.merge(
            self._loose.nearest(ticket),
            self._in_rooms.nearest(ticket),
            key=lambda other: (abs(_rank(other)[0] - rating), other.since),
        )


class TicketQueues:
    """All tickets that can be paired now, each in the queue for what it asks for; queues do not mix."""

    def __init__(self) -> None:
        self._queues: dict[bytes, TicketQueue] = {}

    def add(self, ticket: Ticket) -> None:
        """Add a ticket, or replace the one of the same id."""
        self._queues.setdefault(ticket.queue, TicketQueue()).add(ticket)

    def remove(self, ticket: Ticket) -> None:
        """Take a ticket out, if it is here."""
        queue = self._queues.get(ticket.queue)
        if queue is not None:
            queue.remove(ticket)
            if not len(queue):
                del self._queues[ticket.queue]

    def party(self, ticket: Ticket, now: float) -> Party | None:
        """Those who would play with this one, who may wait here or be new."""
        return self._queues.get(ticket.queue, TicketQueue()).party(ticket, now)

    def parties(self, now: float) -> list[Party]:
        """Who fits by now, those who came first before others; nobody twice."""
        parties: list[Party] = []
        busy: set[str] = set()
        for queue in self._queues.values():
            for ticket in queue.in_order():
                party = None if ticket.player in busy else queue.party(ticket, now, busy)
                if party is not None:
                    parties.append(party)
                    busy.update(member.player for member in party)
        return parties


def agreed_config(party: Party) -> Any:
    """What a party plays: where its tickets differ, the defaults, and so these settings are left out.

    >>> ann = Ticket("1", "ann", "Ann", "go", {"size": 9, "komi": True}, 0.0, negotiable=("komi",))
    >>> agreed_config((ann, replace(ann, config={"size": 9, "komi": False})))
    {'size': 9}
    """
    config = party[0].config
    contested = [
        name for name in party[0].negotiable if any(one.config.get(name) != config.get(name) for one in party)
    ]
    return without(config, contested) if contested else config


def without(config: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    """Settings without those of these names."""
    return {name: value for name, value in config.items() if name not in names}


def join_of(ticket: Ticket) -> Join:
    """The command by which a ticket's holder sits down."""
    return Join(ticket.player, ticket.name, remote=ticket.remote, account=ticket.account)


def matched(tickets: Sequence[Ticket], room: str) -> tuple[Ticket, ...]:
    """The tickets, with the room that they led to."""
    return tuple(replace(ticket, room=room) for ticket in tickets)

"""The tickets on the lobby's desk: who waits, where, and when they were last heard of; all in memory."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.lobby import ON_THE_WAY, Party, Ticket, Vacancy, is_same_wish, made_good, pair

REMEMBERED = 3600.0
"""Seconds for which a ticket that was made good can be asked for, on the rooms' clock."""


class Desk:
    """Open tickets, those that were made good lately, and the rooms in which somebody waits."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self.open: dict[str, Ticket] = {}
        self.good: dict[str, tuple[Ticket, float]] = {}
        """Tickets that were made good, and when."""
        self._seen: dict[str, float] = {}
        """When the holder of each open ticket last gave a sign of life."""
        self.vacancies: dict[str, Vacancy] = {}
        """By room."""

    # What happens to tickets.

    def lay(self, ticket: Ticket, now: float, sitting: frozenset[str] | None = None) -> None:
        """A ticket that waits from now on, or in other hands; in its room, if it has one, these sit."""
        self.open[ticket.id] = ticket
        self._seen[ticket.id] = now
        if ticket.at is not None:
            vacancy = replace(self.vacancies.get(ticket.at) or Vacancy(ticket), ticket=ticket)
            self.vacancies[ticket.at] = vacancy if sitting is None else replace(vacancy, sitting=sitting)

    def send(self, ticket: Ticket, now: float) -> None:
        """A ticket that leads to a room, whether or not its player is there."""
        self.good[ticket.id] = (ticket, now)
        room = self.vacancies.get(ticket.room or "")
        if room is not None and ticket.player not in room.sitting:
            self.vacancies[room.ticket.id] = room.expecting(ticket.player, now)

    def forget(self, *tickets: Ticket) -> None:
        """These wait no longer."""
        for ticket in tickets:
            self.open.pop(ticket.id, None)
            self._seen.pop(ticket.id, None)
            if ticket.at is not None:
                self.vacancies.pop(ticket.at, None)

    def settle(self, made: Sequence[Ticket], playing: Iterable[str], now: float) -> list[Ticket]:
        """These were made good; other tickets of those who play now, who wait nowhere else any more."""
        players = {ticket.player for ticket in made}.union(playing)
        self.forget(*made)
        for ticket in made:
            self.good[ticket.id] = (ticket, now)
        rest = [one for one in self.open.values() if one.player in players and one.at is None]
        self.forget(*rest)
        return rest

    # What happens in rooms.

    def fills(self, room: str, sitting: frozenset[str]) -> tuple[Ticket, ...]:
        """The ticket of whoever waited in this room, made good if all are there now."""
        vacancy = self.vacancies.get(room)
        if vacancy is None or len(sitting) < vacancy.ticket.seats:
            return ()
        return made_good((vacancy.ticket,), room)

    def note_seats(self, room: str, sitting: frozenset[str]) -> None:
        """Who sits in a room by now."""
        if room in self.vacancies:
            self.vacancies[room] = replace(self.vacancies[room], sitting=sitting)

    # Who fits.

    def parties(self, now: float) -> list[Party]:
        """All who can play now."""
        return pair(self._free(now), now)

    def partners(self, ticket: Ticket, now: float) -> list[Ticket]:
        """With whom somebody could play who comes with this ticket."""
        parties = pair([*self._free(now, ticket.player), ticket], now)
        return [one for party in parties if ticket in party for one in party if one is not ticket]

    def _free(self, now: float, player: str | None = None) -> list[Ticket]:
        """The tickets of those who have nobody yet, as far as this player knows."""
        return [
            ticket
            for ticket in self.open.values()
            if ticket.at is None or self.vacancies[ticket.at].is_free(now, player)
        ]

    # What is asked.

    def of(self, player: str) -> list[Ticket]:
        """What this player waits for, and what was lately made good."""
        every = [*self.open.values(), *(ticket for ticket, _ in self.good.values())]
        return sorted((t for t in every if t.player == player), key=lambda ticket: ticket.since)

    def sent_before(self, player: str, room: str) -> Ticket | None:
        """The ticket with which this player was sent to a room."""
        sent = (ticket for ticket, _ in self.good.values() if (ticket.player, ticket.room) == (player, room))
        return next(sent, None)

    def is_found(self, player: str, room: str, now: float) -> bool:
        """Whether there is company for somebody who took a ticket for this room; asking is a sign of life."""
        vacancy = self.vacancies.get(room)
        if vacancy is None:
            if self.sent_before(player, room) is not None:
                return True
        elif vacancy.ticket.player == player:
            self.see(vacancy.ticket, now)
            return not vacancy.is_free(now)
        elif player in vacancy.coming and vacancy.is_free(now, player):
            self.vacancies[room] = vacancy.expecting(player, now)
            return True
        raise Refused(Code.UNKNOWN_TICKET, f"you have no ticket {room[:40]!r}")

    def twins(self, ticket: Ticket) -> list[Ticket]:
        """Other open tickets of this player for the same."""
        return [one for one in self.open.values() if one.id != ticket.id and is_same_wish(one, ticket)]

    # As time goes by.

    def see(self, ticket: Ticket, now: float) -> None:
        """A sign of life."""
        self._seen[ticket.id] = now

    def is_late(self, ticket: Ticket, now: float) -> bool:
        """Whether this ticket's player has not been heard of for too long."""
        patience = self._patience if ticket.at is None else ON_THE_WAY
        return now - self._seen.get(ticket.id, now) > patience

    def old(self, now: float) -> list[str]:
        """The ids of tickets that were made good so long ago that nobody asks any more."""
        return [id for id, (_, when) in self.good.items() if now - when > REMEMBERED]

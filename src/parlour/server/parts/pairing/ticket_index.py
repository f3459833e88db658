"""The index of tickets: who waits, where, and when they last gave a sign of life; all in memory."""

from collections.abc import Iterable, Sequence
from itertools import takewhile

from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.lobby import ON_THE_WAY, Party, Reservations, Ticket, TicketQueues, Vacancy, is_same_wish
from parlour.server.limits import Quota

REMEMBERED = 3600.0
"""Seconds for which a matched ticket can be asked for, on the rooms' clock."""


class TicketIndex:
    """Open tickets, those matched lately, and the rooms in which somebody waits."""

    def __init__(self, patience: float, quota: Quota, reservations: Reservations) -> None:
        self._patience = patience
        self._quota = quota
        self.open: dict[str, Ticket] = {}
        self.matched: dict[str, tuple[Ticket, float]] = {}
        """Matched tickets, and when they were matched, the oldest first."""
        self._of: dict[str, dict[str, Ticket]] = {}
        """All of these, by player."""
        self._seen: dict[str, float] = {}
        """When the holder of each open ticket last gave a sign of life."""
        self._reservations = reservations
        self.vacancies = reservations.vacancies
        """The rooms in which somebody waits."""
        self._awaited: dict[str, float] = {}
        """Since when paired players are on the way to a room, the longest first."""
        self._queues = TicketQueues()
        """The tickets that can be paired now."""
        self._reserved: dict[str, Ticket] = {}
        """The tickets in whose rooms every seat is kept for somebody."""

    # Changes of tickets.

    def check_quota(self, ticket: Ticket) -> None:
        """Refuse one more ticket if there are too many."""
        self._quota.check(1, **_holders(ticket))

    def add(self, ticket: Ticket, now: float, sitting: frozenset[str] | None = None) -> None:
        """Add an open ticket or change its holder; *sitting* are the players seated in its room, if any."""
        self.forget(ticket, closes=False)
        self.open[ticket.id] = ticket
        self._of.setdefault(ticket.player, {})[ticket.id] = ticket
        self._seen[ticket.id] = now
        self._quota.count(1, **_holders(ticket))
        if ticket.at is not None:
            vacancy = replace(self.vacancies.get(ticket.at) or Vacancy(ticket), ticket=ticket)
            self.vacancies[ticket.at] = vacancy if sitting is None else replace(vacancy, sitting=sitting)
        self._place(ticket, now)

    def _place(self, ticket: Ticket, now: float) -> None:
        """Let others be paired with this ticket, unless there is no seat for them."""
        if ticket.at is None or self.vacancies[ticket.at].is_free(now):
            self._reserved.pop(ticket.id, None)
            self._queues.add(ticket)
        else:
            self._queues.remove(ticket)
            self._reserved[ticket.id] = ticket

    def _change(self, vacancy: Vacancy, now: float) -> None:
        """Replace the vacancy of a room that waits."""
        self.vacancies[vacancy.ticket.at or ""] = vacancy
        self._place(vacancy.ticket, now)

    def send(self, ticket: Ticket, now: float) -> None:
        """Add a ticket that leads to a room, whether or not its player is there."""
        self._remember(ticket, now)
        room = self.vacancies.get(ticket.room or "")
        if room is not None and ticket.player not in room.sitting:
            self._change(room.expecting(ticket.player, now), now)

    def _remember(self, ticket: Ticket, now: float) -> None:
        self.matched.pop(ticket.id, None)
        self.matched[ticket.id] = (ticket, now)
        self._of.setdefault(ticket.player, {})[ticket.id] = ticket
        if ticket.room is not None:
            self._reservations.send(ticket.player, ticket.room)
        if ticket.room is not None and ticket.mode != "bot" and ticket.seats > 1:
            self.stop_awaiting(ticket.room)
            self._awaited[ticket.room] = now

    def stop_awaiting(self, room: str) -> None:
        """Await nobody in this room any more: all have come, or it does not matter."""
        self._awaited.pop(room, None)

    def forget(self, *tickets: Ticket, closes: bool = True) -> None:
        """Remove open tickets; with their rooms, if it *closes* those."""
        for ticket in tickets:
            known = self.open.pop(ticket.id, None)
            if known is not None:
                self._quota.give_back(1, **_holders(known))
                self._disown(known)
                self._queues.remove(known)
                self._reserved.pop(known.id, None)
                self._seen.pop(known.id, None)
            if ticket.at is not None and closes:
                self.vacancies.discard(ticket.at)

    def _disown(self, ticket: Ticket) -> None:
        mine = self._of.get(ticket.player, {})
        mine.pop(ticket.id, None)
        if ticket.room is not None and all(one.room != ticket.room for one in mine.values()):
            self._reservations.forget(ticket.player, ticket.room)
        if not mine:
            self._of.pop(ticket.player, None)

    def settle(self, made: Sequence[Ticket], playing: Iterable[str], now: float) -> list[Ticket]:
        """Add matched tickets; remove and return all other tickets of those who play now."""
        players = {ticket.player for ticket in made}.union(playing)
        self.forget(*made)
        for ticket in made:
            self._remember(ticket, now)
        mine = [one for player in players for one in self._of.get(player, {}).values()]
        rest = [one for one in mine if one.room is None and one.at is None]
        self.forget(*rest)
        return rest

    # Changes in rooms.

    def note_seats(self, room: str, sitting: frozenset[str], now: float) -> None:
        """Note who is seated in a room now."""
        if room in self.vacancies:
            self._change(replace(self.vacancies[room], sitting=sitting), now)

    # Who fits.

    def party(self, ticket: Ticket, now: float) -> Party | None:
        """The party that could play with this ticket now; looks only at a few tickets of the same queue."""
        return self._queues.party(ticket, now)

    def parties(self, now: float) -> list[Party]:
        """All parties that can play by now."""
        for ticket in tuple(self._reserved.values()):
            self._place(ticket, now)
        return self._queues.parties(now)

    # Questions.

    def of(self, player: str) -> list[Ticket]:
        """This player's open tickets and those matched lately."""
        return sorted(self._of.get(player, {}).values(), key=lambda ticket: ticket.since)

    def same(self, ticket: Ticket) -> Ticket | None:
        """The open ticket with which this player waits for the same already."""
        mine = self._of.get(ticket.player, {}).values()
        return next((one for one in mine if one.room is None and is_same_wish(one, ticket)), None)

    def promised(self, ticket: Ticket, now: float) -> str | None:
        """The room in which a seat for the same is kept for this ticket's player."""
        for one in self._of.get(ticket.player, {}).values():
            vacancy = self.vacancies.get(one.room or "")
            if vacancy is None or not is_same_wish(one, ticket):
                continue
            if ticket.player in vacancy.coming and vacancy.is_free(now, ticket.player):
                return one.room
        return None

    def sent_before(self, player: str, room: str) -> Ticket | None:
        """The ticket by which this player was sent to a room."""
        return next((one for one in self._of.get(player, {}).values() if one.room == room), None)

    def is_found(self, player: str, room: str, now: float) -> bool:
        """True if another player was found for the ticket of this room; asking counts as a sign of life."""
        vacancy = self.vacancies.get(room)
        if vacancy is None:
            if self.sent_before(player, room) is not None:
                return True
        elif vacancy.ticket.player == player:
            self.see(vacancy.ticket, now)
            return not vacancy.is_free(now)
        elif player in vacancy.coming and vacancy.is_free(now, player):
            self._change(vacancy.expecting(player, now), now)
            return True
        raise Refused(Code.UNKNOWN_TICKET, f"you have no ticket {room[:40]!r}")

    def twins(self, ticket: Ticket) -> list[Ticket]:
        """Other open tickets of this player for the same."""
        mine = self._of.get(ticket.player, {}).values()
        return [one for one in mine if one.room is None and one.id != ticket.id and is_same_wish(one, ticket)]

    # As time goes by.

    def see(self, ticket: Ticket, now: float) -> None:
        """Note a sign of life."""
        self._seen[ticket.id] = now

    def is_late(self, ticket: Ticket, now: float) -> bool:
        """True if this ticket's player has given no sign of life for too long."""
        patience = self._patience if ticket.at is None else ON_THE_WAY
        return now - self._seen.get(ticket.id, now) > patience

    def overdue(self, now: float) -> list[str]:
        """The rooms that all their paired players should have reached by now."""
        return [room for room, _ in takewhile(lambda one: now - one[1] > ON_THE_WAY, self._awaited.items())]

    def old(self, now: float) -> list[str]:
        """The ids of tickets that were matched too long ago to be asked for."""
        return [id for id, _ in takewhile(lambda one: now - one[1][1] > REMEMBERED, self.matched.items())]

    def remove_matched(self, ids: Iterable[str]) -> None:
        """Remove matched tickets that nobody asks for any more."""
        for id in ids:
            ticket, _ = self.matched.pop(id)
            self._disown(ticket)


def _holders(ticket: Ticket) -> dict[str, str]:
    """Whom a ticket counts for."""
    holders = {"player": ticket.player}
    return holders if ticket.address is None else {**holders, "address": ticket.address}

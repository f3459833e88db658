"""Records of tickets."""

from collections.abc import Iterable

import msgspec

from parlour.journal.base import Drop, Journal, Record, RecordQuery
from parlour.lobby import Ticket
from parlour.server.record_decoding import read_all

TICKET = "ticket"

_encode = msgspec.json.Encoder().encode
_read_ticket = msgspec.json.Decoder(Ticket).decode


def ticket_record(ticket: Ticket) -> Record:
    """The record of a ticket."""
    return Record(TICKET, ticket.id, _encode(ticket), owner=ticket.player, sort=ticket.since)


def ticket_records(tickets: Iterable[Ticket]) -> tuple[Record, ...]:
    """The records of tickets."""
    return tuple(map(ticket_record, tickets))


async def kept_tickets(journal: Journal) -> list[Ticket]:
    """All kept tickets, the oldest first."""
    return read_all(await journal.records(RecordQuery(TICKET)), _read_ticket)


async def tickets_of(journal: Journal, player: str) -> list[Ticket]:
    """A player's tickets, the oldest first."""
    return read_all(await journal.records(RecordQuery(TICKET, owner=player)), _read_ticket)


async def save_ticket(journal: Journal, ticket: Ticket) -> None:
    """Keep a ticket as it is now."""
    await journal.keep(ticket_record(ticket))


async def delete_tickets(journal: Journal, ids: Iterable[str]) -> None:
    """Delete these tickets."""
    await journal.keep(*(Drop(TICKET, key=id) for id in ids))

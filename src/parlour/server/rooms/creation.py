"""New rooms: opened by somebody, by a door, or by the lobby with everybody seated."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol, TypedDict, Unpack

import structlog

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.journal.base import Conflict, Found, RoomQuery, RoomSummary, Trouble
from parlour.lobby import Party, Ticket, matched
from parlour.room import Instant, Room, apply, open_room
from parlour.server import metrics
from parlour.server.bots.seats import newcomer
from parlour.server.limits import Quota
from parlour.server.parts.pairing.ticket_records import ticket_records
from parlour.server.parts.room_list import Listing
from parlour.server.rooms.registry import RoomRegistry
from parlour.server.rooms.summary import (
    Opening,
    Owner,
    PublicRoom,
    config_of,
    excuse,
    freeze,
    public_room,
    summary_of,
)
from parlour.server.settings import Settings
from parlour.server.tokens import random_letters
from parlour.wire import Join, Step

log = structlog.get_logger()


class Housing(Owner, Protocol):
    """What the owner of the rooms knows of all of them."""

    def sheet(self, found: Found) -> PublicRoom:
        """What is told of a room that the journal found."""
        ...


class How(TypedDict, total=False):
    """How a room is opened, and by whom."""

    private: bool
    listed: bool
    creator: str | None
    address: str | None


class RoomCreation:
    """Opens rooms for their owner."""

    def __init__(self, owner: Housing, registry: RoomRegistry, listing: Listing, settings: Settings) -> None:
        self._owner = owner
        self._registry = registry
        self._listing = listing
        each = {"player": settings.player_rooms, "address": settings.address_rooms}
        self._quota = Quota("open rooms", settings.rooms, **each)
        self._counted: dict[str, Mapping[str, str]] = {}
        """The open rooms with a game to play, and for whom they count."""
        self._early: dict[str, RoomSummary] | None = {}
        """Cards that are newer than those that are being read."""

    async def start(self) -> None:
        """Count the rooms that are there."""
        found = await self._owner.journal.rooms(RoomQuery())
        early, self._early = self._early or {}, None
        for summary in (early.get(one.summary.id, one.summary) for one in found):
            self.note(summary)

    def note(self, summary: RoomSummary) -> None:
        """A room has a new card: it counts as long as there is a game to play in it."""
        if self._early is not None:
            self._early[summary.id] = summary
        elif summary.ended is not None or summary.outcome is not None:
            if (holders := self._counted.pop(summary.id, None)) is not None:
                self._quota.give_back(1, **holders)
        elif summary.id not in self._counted:
            self._counted[summary.id] = holders = _holders(summary.address, summary.creator)
            self._quota.count(1, **holders)

    def check_place(self, address: str | None) -> None:
        """Refuse whoever could not open another room from there."""
        self._quota.check(1, **_holders(address))

    async def create(self, name: str, config: Any, id: str | None = None, **how: Unpack[How]) -> RoomSummary:
        """Open a room; unless an id is chosen it gets four letters, or more where those are taken."""
        game = self._owner.games.get(name)
        if game is None:
            raise Refused(
                Code.UNKNOWN_GAME, f"expected one of {', '.join(self._owner.games)}, got {name[:64]!r}"
            )
        opening = Opening(self._owner.clock.date(), **how)
        return await self._create(game, config, id, opening)

    def _opened(self, found: Found) -> None:
        summary = found.summary
        metrics.rooms_opened.labels(summary.game).inc()
        self._registry.may_wake(summary.id)
        log.info("room_opened", room=summary.id, game=summary.game)
        self._listing.opened(found)
        self._owner.changed(summary)
        if any(seat is not None and seat.bot for seat in summary.seats):
            self._registry.live(summary.id)  # its bots may have something to do

    async def _create(
        self,
        game: Game[Any],
        config: Any,
        chosen: str | None,
        opening: Opening,
        party: Party = (),
        *,
        host: Ticket | None = None,
    ) -> RoomSummary:
        """Open a room if there may be another; it counts from the moment that it is asked for."""
        holders = _holders(opening.address, opening.creator)
        self._quota.take(1, **holders)
        try:
            found = await self._keep(game, config, chosen, opening, party, host=host)
        finally:
            self._quota.give_back(1, **holders)
        self._opened(found)
        return found.summary

    async def _keep(
        self,
        game: Game[Any],
        config: Any,
        chosen: str | None,
        opening: Opening,
        party: Party,
        *,
        host: Ticket | None,
    ) -> Found:
        at = self._owner.instant()
        length = 12 if opening.private else 4  # four letters are easy to say, and to guess
        while True:
            id = chosen or random_letters(length)
            room = self._owner.ask_game(game, id, partial(open_room, game, id, config, at))
            frozen = self._owner.ask_game(game, id, partial(freeze, room))
            first = self._owner.instant().seed[0] if party else 0
            room, steps = self._owner.ask_game(game, id, partial(sit_down, game, room, party, first, at))
            summary = summary_of(room, opening, at.now)
            try:
                tickets = (*matched(party, id), *(() if host is None else (host,)))
                records = ticket_records(tickets)
                number = await self._owner.journal.create(summary, frozen, room.next_due, steps, records)
            except Conflict:
                if chosen is not None:
                    raise Refused(Code.NAME_TAKEN, f"there is a room {id} already", path="$.id") from None
                length += 1
            except Trouble as error:
                raise excuse(error) from None
            else:
                return Found(number, len(steps), summary)

    async def seat_party(self, party: Party) -> tuple[Ticket, ...]:
        """Open a room with all of them seated, and keep their tickets with its id, all or nothing."""
        wanted = party[0]
        opening = self._opening(wanted, private=False, creator=None)
        summary = await self._create(self._game(wanted), wanted.config, None, opening, party)
        return matched(party, summary.id)

    async def wait(self, host: Ticket, config: Any, guests: Party) -> tuple[Ticket, ...]:
        """Open the room in which the host will wait, and keep their ticket; guests sit there already.

        Nobody finds such a room who was not sent there or told its id.
        """
        opening = self._opening(host, private=True, creator=host.player)
        summary = await self._create(self._game(host), config, host.at, opening, guests, host=host)
        return matched(guests, summary.id)

    def _game(self, ticket: Ticket) -> Game[Any]:
        game = self._owner.games.get(ticket.game)
        if game is None:
            raise Refused(Code.UNKNOWN_GAME, f"the game {ticket.game} is not on this server now")
        return game

    def _opening(self, ticket: Ticket, *, private: bool, creator: str | None) -> Opening:
        now, ranked = self._owner.clock.date(), ticket.mode == "ranked"
        return Opening(now, private, creator, ranked, address=ticket.address)

    async def again(self, id: str, creator: str, address: str) -> PublicRoom:
        """The room of this id if it runs; otherwise a new one for the same game under the same id."""
        found = await self._owner.journal.find(id)
        if found is None:
            raise Refused(Code.UNKNOWN_ROOM, f"there is no room {id[:64]}")
        if found.summary.ended is None:
            return self._owner.sheet(found)
        stored = await self._owner.journal.stored(found.number)
        summary = found.summary
        how = How(private=summary.private, listed=summary.listed, creator=creator, address=address)
        return await self.visit(id, summary.game, config_of(stored.state), **how)

    async def visit(self, id: str, name: str, config: Any, **how: Unpack[How]) -> PublicRoom:
        """The running room of this id, if it is of this game; a new one where there is none."""
        found, address = await self._owner.journal.find(id), how.get("address")
        running = None if found is None or found.summary.ended is not None else found
        summary = None if running is None else running.summary
        self._owner.guesses.check(summary, how.get("creator"), address)
        if running is None:
            try:
                summary = await self.create(name, config, id, **how)
            except Refused as why:
                if why.code != Code.NAME_TAKEN:
                    self._owner.guesses.missed(id, address)  # else ids could be tried by what opens no room
                    raise
                return await self.visit(id, name, config, **how)
            return public_room(summary, seq=0)
        if running.summary.game != name:
            what = f"room {id} plays {running.summary.game}, not {name[:64]}"
            raise Refused(Code.WRONG_GAME, what, path="$.game")
        return self._owner.sheet(running)


def _holders(address: str | None, creator: str | None = None) -> dict[str, str]:
    """For whom a room counts, beside the whole server."""
    holders = {"player": creator, "address": address}
    return {kind: holder for kind, holder in holders.items() if holder is not None}


def sit_down(
    game: Game[Any], room: Room[Any], party: Party, first: int, at: Instant
) -> tuple[Room[Any], list[Step]]:
    """A party at the seats of its new room, bots included; *first*, a number, rotates them."""
    joins = [Join(ticket.player, ticket.name) for ticket in party]
    bot = party[0].bot if party else None
    while bot is not None and len(joins) < game.seats.start:
        player = newcomer([join.player for join in joins], bot)
        joins.append(Join(player.id, player.name, bot=True))
    steps: list[Step] = []
    turn = first % len(joins) if joins else 0
    for join in (*joins[turn:], *joins[:turn]):
        room, step = apply(game, room, join, at)
        steps.append(step)
    return room, steps

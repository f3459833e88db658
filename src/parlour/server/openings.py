"""New rooms: opened by somebody, by a door, or by the lobby with everybody seated."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol

import structlog

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.journal.base import Card, Conflict, Found, Trouble
from parlour.lobby import Party, Ticket, made_good
from parlour.room import Instant, Room, apply, open_room
from parlour.server import metrics
from parlour.server.bots import newcomer
from parlour.server.config import Settings
from parlour.server.keeper import Keeper
from parlour.server.listing import Listing
from parlour.server.players import random_letters
from parlour.server.rooms import Opening, Owner, RoomSheet, card_of, excuse, freeze, room_sheet
from parlour.wire import Join, Step

log = structlog.get_logger()


class Housing(Owner, Protocol):
    """What the owner of the rooms knows of all of them."""

    games: Mapping[str, Game[Any]]

    def sheet(self, found: Found) -> RoomSheet:
        """What is told of a room that the journal found."""
        ...


class Openings:
    """Opens rooms for their owner."""

    def __init__(self, owner: Housing, keeper: Keeper, listing: Listing, settings: Settings) -> None:
        self._owner = owner
        self._keeper = keeper
        self._listing = listing
        self._settings = settings

    async def create(
        self,
        name: str,
        config: Any,
        id: str | None = None,
        *,
        private: bool = False,
        creator: str | None = None,
    ) -> Card:
        """Open a room; unless an id is chosen it gets four letters, or more where those are taken."""
        game = self._owner.games.get(name)
        if game is None:
            raise Refused(
                Code.UNKNOWN_GAME, f"expected one of {', '.join(self._owner.games)}, got {name[:64]!r}"
            )
        await self._check_rooms(creator)
        card = await self._create(game, config, id, Opening(self._owner.clock.date(), private, creator))
        self._opened(card)
        return card

    def _opened(self, card: Card) -> None:
        metrics.rooms_opened.labels(card.game).inc()
        self._keeper.may_wake(card.id)
        log.info("room_opened", room=card.id, game=card.game)
        self._listing.changed(card)
        if any(seat is not None and seat.bot for seat in card.seats):
            self._keeper.live(card.id)  # its bots may have something to do

    async def _check_rooms(self, creator: str | None) -> None:
        limit = self._settings.player_rooms
        if limit and creator is not None and await self._owner.journal.opened_by(creator) >= limit:
            raise Refused(Code.TOO_MANY, f"you have {limit} open rooms already")

    async def _create(
        self,
        game: Game[Any],
        config: Any,
        chosen: str | None,
        opening: Opening,
        party: Party = (),
        *,
        host: Ticket | None = None,
    ) -> Card:
        at = self._owner.instant()
        length = 12 if opening.private else 4  # four letters are easy to say, and to guess
        while True:
            id = chosen or random_letters(length)
            room = self._owner.ask_game(game, id, partial(open_room, game, id, config, at))
            frozen = self._owner.ask_game(game, id, partial(freeze, room))
            first = self._owner.instant().seed[0] if party else 0
            room, steps = self._owner.ask_game(game, id, partial(sit_down, game, room, party, first, at))
            card = card_of(room, opening, at.date)
            try:
                tickets = (*made_good(party, id), *(() if host is None else (host,)))
                await self._owner.journal.create(card, frozen, room.next_due, steps, tickets)
            except Conflict:
                if chosen is not None:
                    raise Refused(Code.NAME_TAKEN, f"there is a room {id} already", path="$.id") from None
                length += 1
            except Trouble as error:
                raise excuse(error) from None
            else:
                return card

    async def house(self, party: Party) -> tuple[Ticket, ...]:
        """Open a room with all of them seated, and keep their tickets with its id, all or nothing."""
        wanted = party[0]
        opening = self._opening(wanted, private=False, creator=None)
        card = await self._create(self._game(wanted), wanted.config, None, opening, party)
        self._opened(card)
        return made_good(party, card.id)

    async def wait(self, host: Ticket, config: Any, guests: Party) -> tuple[Ticket, ...]:
        """Open the room in which the host will wait, and keep their ticket; guests sit there already.

        Nobody finds such a room who was not sent there or told its id.
        """
        await self._check_rooms(host.player)
        opening = self._opening(host, private=True, creator=host.player)
        card = await self._create(self._game(host), config, host.at, opening, guests, host=host)
        self._opened(card)
        return made_good(guests, card.id)

    def _game(self, ticket: Ticket) -> Game[Any]:
        game = self._owner.games.get(ticket.game)
        if game is None:
            raise Refused(Code.UNKNOWN_GAME, f"the game {ticket.game} is not on this server now")
        return game

    def _opening(self, ticket: Ticket, *, private: bool, creator: str | None) -> Opening:
        return Opening(self._owner.clock.date(), private, creator, ranked=ticket.mode == "ranked")

    async def visit(self, id: str, name: str, config: Any, *, private: bool, creator: str) -> RoomSheet:
        """The running room of this id, if it is of this game; a new one where there is none."""
        found = await self._owner.journal.find(id)
        if found is None or found.card.ended is not None:
            try:
                card = await self.create(name, config, id, private=private, creator=creator)
            except Refused as why:
                if why.code != Code.NAME_TAKEN:
                    raise
                return await self.visit(id, name, config, private=private, creator=creator)
            return room_sheet(card, seq=0)
        if found.card.game != name:
            what = f"room {id} plays {found.card.game}, not {name[:64]}"
            raise Refused(Code.WRONG_GAME, what, path="$.game")
        return self._owner.sheet(found)


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

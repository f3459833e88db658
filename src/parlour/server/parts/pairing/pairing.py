"""The lobby's owner: takes tickets, keeps them, and makes rooms with everybody seated of those that fit."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

import msgspec
import structlog
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.journal.base import Damaged, Trouble
from parlour.lobby import Mode, Party, Ticket, matched
from parlour.ratings import MIDDLE, ladder_of
from parlour.room import Room, Seat, open_room
from parlour.server.bots.seats import chosen, newcomer
from parlour.server.clock import Handle
from parlour.server.gateway.connections import Client
from parlour.server.limits import Quota
from parlour.server.mailbox import Mailbox
from parlour.server.parts.pairing.ticket_index import TicketIndex
from parlour.server.parts.pairing.ticket_records import drop_tickets, kept_tickets, save_ticket
from parlour.server.parts.ratings.settling import Ratings
from parlour.server.parts.ratings.standings import standings_of
from parlour.server.parts.room_list import Listing
from parlour.server.rooms.creation import RoomCreation
from parlour.server.rooms.registry import RoomRegistry
from parlour.server.rooms.summary import NOT_WRITTEN, Live, Owner, excuse
from parlour.server.settings import Settings
from parlour.server.tasks import Tasks
from parlour.server.tokens import guest_name, random_letters
from parlour.wire import Act, Command, Connect, Join, Push, Queue, Request, Shutdown, Unqueue

T = TypeVar("T")
log = structlog.get_logger()

PAIR_EVERY = 1.0
"""Seconds between two looks at those who wait: who has gone, and whose tolerance has grown."""
LENGTH = 16
"""Letters of a ticket's id, which nobody guesses."""
NOBODY_CAME = "nobody_came"
"""Why a room is closed for which the lobby had found players, and not all of them came."""


class Pairs(Owner, Protocol):
    """What the owner of the rooms does for the lobby."""

    games: Mapping[str, Game[Any]]
    registry: RoomRegistry
    ratings: Ratings

    async def step(
        self, live: Live, command: Command, id: str | None = None, *, tickets: tuple[Ticket, ...] = ()
    ) -> Any:
        """Think a command through, write it and the tickets that it makes good, speak of it."""
        ...

    async def in_mailbox(self, room: str, job: Callable[[Live], Awaitable[T]]) -> T:
        """Do something in a room's turn, and wait for what comes of it."""
        ...


class PublicTicket(msgspec.Struct, frozen=True):
    """A ticket, as its player may see it."""

    id: str
    game: str
    config: Any
    mode: Mode
    status: str
    """``waiting`` or ``matched``."""
    room: str | None
    """Where they sit, once they are matched."""
    waited: float
    """Seconds since it was taken, on the rooms' clock."""


class Matched(msgspec.Struct, frozen=True):
    """Told at the lobby: there is a room, and this player has a seat in it."""

    ticket: str
    room: str
    game: str


class Unqueued(msgspec.Struct, frozen=True):
    """Told at the lobby: this ticket is void, and why."""

    ticket: str
    reason: str


class Pairing:
    """One thing at a time, like a room: what is asked here runs in a lane of its own."""

    def __init__(self, owner: Pairs, creation: RoomCreation, listing: Listing, settings: Settings) -> None:
        self._owner = owner
        self._creation = creation
        self._listing = listing
        self._journal = owner.journal
        each = {"player": settings.player_tickets, "address": settings.address_tickets}
        self.index = TicketIndex(settings.ticket_patience, Quota("open tickets", settings.tickets, **each))
        self.mailbox = Mailbox()
        self._tick: Handle | None = None
        self.tasks = Tasks()

    async def start(self) -> None:
        """Go on with those who waited; they have a while to come back."""
        now, tickets = self._now(), await kept_tickets(self._journal)
        for ticket in tickets:
            if ticket.room is None:
                await self._go_on(ticket, now)
        for ticket in tickets:
            if ticket.room is not None:
                self.index.send(ticket, now)
        self._plan()

    async def _go_on(self, ticket: Ticket, now: float) -> None:
        """Wait on, unless it is in a room that is gone or full."""
        try:
            found = None if ticket.at is None else await self._journal.find(ticket.at)
        except Damaged:  # nobody can wait there
            found = None
        seats = () if found is None else found.summary.seats
        sitting = frozenset(seat.id for seat in seats if seat is not None)
        waits = found is not None and found.summary.ended is None and len(sitting) < ticket.seats
        if ticket.at is None or waits:
            self.index.add(ticket, now, sitting)
        else:
            await drop_tickets(self._journal, [ticket.id])

    async def stop(self) -> None:
        """Finish what was begun; those who wait, wait on after a restart."""
        if self._tick is not None:
            self._tick.cancel()
        await self.mailbox.drained()

    # What players ask.

    def take(self, client: Client, request: Request, wish: Queue | Unqueue) -> None:
        """What somebody at the lobby wants; the answer comes when it is done."""
        self.tasks.start(self._answer(client, request, wish))

    async def _answer(self, client: Client, request: Request, wish: Queue | Unqueue) -> None:
        try:
            if isinstance(wish, Queue):
                ticket = await self.queue(client.player, wish, client.line.address)
            else:
                ticket = await self.unqueue(client.player, wish.ticket)
        except Refused as why:
            client.refuse(request, why)
        else:
            client.accept(request, {"ticket": ticket.id})

    async def queue(self, player: str, wanted: Queue, address: str | None = None) -> Ticket:
        """Take a ticket; it may be made good at once."""
        return await self._in_mailbox(lambda: self._queue(player, wanted, address))

    async def meet(
        self, player: str, wanted: Queue, room: str, config: Any, address: str | None = None
    ) -> Ticket:
        """Take a ticket for a room to come to: one that waits, or else the one described, which is opened.

        Of such tickets the room is known at once: `room` where somebody waits, `at` where one waits oneself.
        Who asks again while nothing has changed has the same ticket.
        """
        return await self._in_mailbox(lambda: self._meet(player, wanted, room, config, address))

    def is_found(self, player: str, room: str) -> bool:
        """Whether there is company for somebody who took a ticket for this room; asking is a sign of life."""
        return self.index.is_found(player, room, self._now())

    async def unqueue(self, player: str, id: str) -> Ticket:
        """Give a ticket back."""
        return await self._in_mailbox(lambda: self._unqueue(player, id))

    def tickets(self, player: str) -> list[Ticket]:
        """What this player waits for, and what was lately made good; asking is a sign of life."""
        tickets = self.index.of(player)
        for ticket in tickets:
            if ticket.room is None:
                self.index.see(ticket, self._now())
        return tickets

    def ticket(self, player: str, id: str) -> Ticket:
        """One of this player's tickets; asking is a sign of life."""
        for ticket in self.tickets(player):
            if ticket.id == id:
                return ticket
        raise Refused(Code.UNKNOWN_TICKET, f"you have no ticket {id[:40]!r}")

    def sheet(self, ticket: Ticket) -> PublicTicket:
        """A ticket, as it is told."""
        status = "waiting" if ticket.room is None else "matched"
        waited = max(0.0, self._now() - ticket.since)
        return PublicTicket(ticket.id, ticket.game, ticket.config, ticket.mode, status, ticket.room, waited)

    # What rooms ask and say.

    def check_seat(self, live: Live, player: str, *, bot: bool = False) -> None:
        """Refuse a seat that is kept for others."""
        self.index.check_seat(live.id, player, self._now(), ranked=live.opening.ranked, bot=bot)

    def mode_of(self, live: Live) -> Mode:
        """How the players of a room were found."""
        vacancy = self.index.vacancies.get(live.id)
        if vacancy is not None:
            return vacancy.ticket.mode
        if live.opening.ranked:
            return "ranked"
        return "bot" if live.here.bots else "normal"

    def fills(self, room: Room[Any]) -> tuple[Ticket, ...]:
        """The ticket of whoever waited in this room, made good if all are there now."""
        return self.index.fills(room.id, _sitting(room))

    def seated(self, room: Room[Any], made: Sequence[Ticket]) -> None:
        """Seats were taken or given up, and the tickets that this made good are kept."""
        playing = _sitting(room) if self.fills(room) else frozenset()
        self.index.note_seats(room.id, _sitting(room), self._now())
        self._settle(made, playing)
        self._call_bot(room.id)

    def closed(self, room: str) -> None:
        """Nobody waits in this room any more: it is gone."""
        vacancy = self.index.vacancies.get(room)
        if vacancy is not None:
            self.index.forget(vacancy.ticket)
            self.mailbox.put(partial(self._drop, [vacancy.ticket], Code.ROOM_ENDED))

    def _call_bot(self, room: str) -> None:
        """Let the bot sit down with whoever asked for it: after them, so that they have the first seat."""
        vacancy = self.index.vacancies.get(room)
        if vacancy is None or vacancy.ticket.mode != "bot" or vacancy.ticket.player not in vacancy.sitting:
            return
        self.tasks.start(self._seat_bot(vacancy.ticket))

    async def _seat_bot(self, ticket: Ticket) -> None:
        try:
            await self._owner.in_mailbox(ticket.at or "", partial(self._sit_bot, ticket))
        except Refused as why:  # the next look tries again, unless the room is gone
            log.warning("bot_not_seated", room=ticket.at, why=why.message)

    async def _sit_bot(self, ticket: Ticket, live: Live) -> None:
        if ticket.id in self.index.open and len(_sitting(live.here)) < ticket.seats:
            bot = newcomer(live.here.players, ticket.bot or chosen(live.game, None))
            await self._owner.step(live, Join(bot.id, bot.name, bot=True))

    # In the lane.

    async def _queue(self, player: str, wanted: Queue, address: str | None) -> Ticket:
        self._creation.check_place(address)
        ticket = await self._new_ticket(player, wanted, address)
        if self.index.same(ticket) is not None:
            raise _already_queued()
        self.index.check_quota(ticket)
        await save_ticket(self._journal, ticket)
        self.index.add(ticket, self._now())
        while ticket.id in self.index.open and (party := self.index.party(ticket, self._now())) is not None:
            await self._seat(party)
        self._plan()
        if ticket.id in self.index.open:
            return ticket
        if ticket.id not in self.index.good:
            raise Refused(Code.GAME_ERROR, "no room could be made of this; nobody is queued")
        return self.index.good[ticket.id][0]

    async def _meet(self, player: str, wanted: Queue, room: str, config: Any, address: str | None) -> Ticket:
        ticket = await self._new_ticket(player, wanted, address)
        same = self.index.same(ticket)
        if same is not None:
            if same.at is None:
                raise _already_queued()
            self.index.see(same, self._now())
            return same
        if (promised := self.index.promised(ticket, self._now())) is not None:
            return await self._send(ticket, promised)
        party = self.index.party(ticket, self._now()) or ()
        others = tuple(one for one in party if one is not ticket)
        for other in others:
            if other.at is not None:
                return await self._send(ticket, other.at)
        self.index.check_quota(ticket)
        ticket = replace(ticket, id=room, at=room)
        made = await self._creation.wait(ticket, config, others)
        self.index.add(ticket, self._now(), frozenset(one.player for one in made))
        self._settle(made)
        self._plan()
        return ticket

    async def _send(self, ticket: Ticket, room: str) -> Ticket:
        """Send somebody to a room; they have a while to come."""
        made = replace(self.index.sent_before(ticket.player, room) or ticket, room=room)
        await save_ticket(self._journal, made)
        self.index.send(made, self._now())
        return made

    async def _new_ticket(self, player: str, wanted: Queue, address: str | None) -> Ticket:
        games = self._owner.games
        game = games.get(wanted.game)
        if game is None:
            why = f"$.game: expected one of {', '.join(games)}, got {wanted.game[:64]!r}"
            raise Refused(Code.UNKNOWN_GAME, why, path="$.game")
        if wanted.mode == "ranked" and game.seats != range(2, 3):
            raise Refused(Code.MALFORMED, "$.mode: only games for two are ranked", path="$.mode")
        bot = chosen(game, wanted.bot) if wanted.mode == "bot" else None
        # Tried out here, so that a config that makes no sense is refused before anybody waits with it.
        room = self._owner.ask_game(
            game, "lobby", lambda: open_room(game, "lobby", wanted.config, self._owner.instant())
        )
        rating = (
            await self._rating(player, ladder_of(game.name, room.config))
            if wanted.mode == "ranked"
            else MIDDLE
        )
        return Ticket(
            random_letters(LENGTH).lower(),
            player,
            await self._name_of(player),
            game.name,
            room.config,
            self._now(),
            wanted.mode,
            game.seats.start,
            rating,
            bot,
            address=address,
        )

    async def _name_of(self, player: str) -> str:
        known = await self._owner.sessions.known(player)
        return guest_name(player) if known is None else known.name

    async def _rating(self, player: str, ladder: str) -> float:
        await self._owner.ratings.settled()
        for standing in await standings_of(self._journal, player):
            if standing.ladder == ladder:
                return standing.rating.rating
        return MIDDLE

    async def _unqueue(self, player: str, id: str) -> Ticket:
        ticket = self.index.open.get(id)
        if ticket is None or ticket.player != player:
            raise Refused(Code.UNKNOWN_TICKET, f"you wait with no ticket {id[:40]!r}")
        if ticket.at is None:
            await self._drop([ticket])
        elif self.index.vacancies[ticket.at].is_free(self._now()):
            await self._shut(ticket, "cancelled")
        if id in self.index.open or id in self.index.good:
            raise Refused(Code.UNKNOWN_TICKET, "you do not wait any more: somebody was found")
        return ticket

    async def _shut(self, ticket: Ticket, why: str) -> None:
        """Wait no longer in a room, which is of no use to anybody then."""
        try:
            await self._owner.in_mailbox(ticket.at or "", partial(self._close, ticket, why))
        except Refused as error:
            if error.code in NOT_WRITTEN:
                raise
            await self._drop([ticket])  # the room is gone already

    async def _close(self, ticket: Ticket, why: str, live: Live) -> None:
        """End the room, unless all have come meanwhile; its ticket goes with it."""
        if ticket.id in self.index.open and len(_sitting(live.here)) < ticket.seats:
            await self._owner.step(live, Shutdown(why))

    async def _drop(self, tickets: Sequence[Ticket], reason: str | None = None) -> None:
        """Forget tickets; with a reason their players are told."""
        await drop_tickets(self._journal, [ticket.id for ticket in tickets])
        for ticket in tickets:
            self.index.forget(ticket)
            if reason is not None:
                self._listing.tell(ticket.player, Push("unqueued", Unqueued(ticket.id, reason)))

    async def _pair(self) -> None:
        """Make rooms of all parties that there are."""
        while parties := self.index.parties(self._now()):
            for party in parties:
                await self._seat(party)

    async def _seat(self, party: Party) -> None:
        try:
            await self._seat_party(party)
        except Refused as why:
            if why.code in NOT_WRITTEN:
                raise
            log.warning("party_refused", game=party[0].game, why=why.message)
            if all(ticket.id in self.index.open for ticket in party):  # else the room has filled up, say
                await self._drop([ticket for ticket in party if ticket.at] or party, why.code)

    def _settle(self, made: Sequence[Ticket], playing: Iterable[str] = ()) -> None:
        """These tickets were made good, and are kept so. Who plays waits nowhere else."""
        if rest := self.index.settle(made, playing, self._now()):
            self.mailbox.put(partial(self._drop, rest, "matched"))
        for ticket in made:
            told = Matched(ticket.id, ticket.room or "", ticket.game)
            self._listing.tell(ticket.player, Push("matched", told))

    async def _seat_party(self, party: Party) -> None:
        """Seat all of them: where one of them waits, or in a new room."""
        hosts = [ticket for ticket in party if ticket.at]
        if not hosts:
            self._settle(await self._creation.seat_party(party))
        for guest in party if hosts else ():
            if guest is not hosts[0]:
                await self._owner.in_mailbox(hosts[0].at or "", partial(self._sit, guest))

    async def _sit(self, guest: Ticket, live: Live) -> None:
        """Seat somebody in a room that waits, which says so when it is done."""
        await self._owner.step(live, Join(guest.player, guest.name), tickets=matched((guest,), live.id))

    # As time goes by.

    def _plan(self) -> None:
        if self._tick is None and (self.index.open or self.index.good):
            self._tick = self._owner.clock.call_at(self._now() + PAIR_EVERY, self._ring)

    def _ring(self) -> None:
        self._tick = None
        self.mailbox.put(self._look)

    async def _look(self) -> None:
        """See who has gone, and who fits by now."""
        try:
            for ticket in [ticket for ticket in self.index.open.values() if self._is_gone(ticket)]:
                if ticket.id in self.index.open:
                    await self._expire(ticket)
            for room in tuple(self.index.vacancies):
                self._call_bot(room)
            for room in self.index.overdue(self._now()):
                await self._check_arrivals(room)
            if old := self.index.old(self._now()):
                await drop_tickets(self._journal, old)
                self.index.drop_good(old)
            await self._pair()
        except (Refused, Trouble) as error:  # the disk is full, say: those who wait, wait
            log.error("not_paired", error=str(error))
        self._plan()

    def _is_gone(self, ticket: Ticket) -> bool:
        here = [seat.player for seat in self._people(ticket)]
        if ticket.player in here or self._listing.has(ticket.player):
            self.index.see(ticket, self._now())
        return self.index.is_late(ticket, self._now())

    async def _expire(self, ticket: Ticket) -> None:
        """Whoever took this ticket is gone; if somebody else sits where it leads they wait on with it."""
        if ticket.at is None:
            await self._drop([ticket], "expired")
        elif heirs := self._heirs(ticket):
            await self._pass_on(ticket, heirs[0])
        else:
            await self._shut(ticket, NOBODY_CAME)

    async def _check_arrivals(self, room: str) -> None:
        """Close a room to which not all have come who were paired for it, and forget that they were."""
        try:
            void = await self._owner.in_mailbox(room, self._call_off)
        except Refused as why:
            if why.code in NOT_WRITTEN:
                raise
            void = []  # the room is gone, or cannot be read
        self.index.stop_awaiting(room)
        if void:
            await self._drop(void, NOBODY_CAME)
            self.index.drop_good([ticket.id for ticket in void])

    async def _call_off(self, live: Live) -> list[Ticket]:
        """End a room in which nobody has played while somebody never came; the tickets that led there.

        The journal knows who came, so this holds over restarts. A room that waits has its own patience.
        """
        people = [seat.player for seat in live.here.seats if seat is not None and not seat.bot]
        if live.id in self.index.vacancies or live.here.outcome is not None:
            return []
        absent = set(people)
        async for step in self._journal.replay(live.number):
            if isinstance(step.command, Act):
                return []
            if isinstance(step.command, Connect):
                absent.discard(step.command.player)
        if not absent:
            return []
        await self._owner.step(live, Shutdown(NOBODY_CAME))
        sent = [self.index.sent_before(player, live.id) for player in people]
        return [ticket for ticket in sent if ticket is not None]

    def _heirs(self, ticket: Ticket) -> list[Ticket]:
        """The ticket in the hands of those who sit there and wait in no other room for the same."""
        passed = [replace(ticket, player=seat.player, name=seat.name) for seat in self._people(ticket)]
        return [one for one in passed if not any(twin.at for twin in self.index.twins(one))]

    async def _pass_on(self, ticket: Ticket, heir: Ticket) -> None:
        await self._drop(self.index.twins(heir), "matched")
        await save_ticket(self._journal, heir)
        if ticket.id in self.index.open:
            self.index.add(heir, self._now())

    def _people(self, ticket: Ticket) -> list[Seat]:
        """Who is in the room where this ticket's player waits; only rooms in memory have anybody in them."""
        live = None if ticket.at is None else self._owner.registry.peek(ticket.at)
        seats = () if live is None else live.here.seats
        return [seat for seat in seats if seat is not None and seat.connected and not seat.bot]

    def _now(self) -> float:
        return self._owner.clock.now()

    async def _in_mailbox(self, job: Callable[[], Awaitable[T]]) -> T:
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        async def do() -> None:
            try:
                result = await job()
            except (Refused, Trouble) as error:
                if not answer.done():
                    answer.set_exception(excuse(error))
            else:
                if not answer.done():
                    answer.set_result(result)
            finally:
                answer.cancel()

        self.mailbox.put(do)
        return await answer


def _already_queued() -> Refused:
    return Refused(Code.ALREADY_QUEUED, "you are in this queue already")


def _sitting(room: Room[Any]) -> frozenset[str]:
    """Who has a seat in a room."""
    return frozenset(player for player in room.players if player is not None)

"""Pairing: takes tickets, keeps them, and opens rooms with everybody seated for those that fit."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec
import structlog
from msgspec.structs import replace

from parlour.clocks import ClockSettings
from parlour.errors import Code, Refused
from parlour.journal.base import Damaged, Trouble
from parlour.lobby import Mode, Party, Ticket
from parlour.ratings import MIDDLE, ladder_of
from parlour.room import open_room
from parlour.server.bots.players import chosen
from parlour.server.clock import Handle
from parlour.server.gateway.connections import Client
from parlour.server.gateway.lobby import Lobby
from parlour.server.limits import Quota
from parlour.server.mailbox import Mailbox
from parlour.server.parts.pairing.ticket_index import TicketIndex
from parlour.server.parts.ratings.settling import Ratings
from parlour.server.refusals import NOT_WRITTEN, excuse
from parlour.server.rooms.calls import CallOff, EndWaiting, RoomCall, SeatBot, SeatedPerson, SitDown
from parlour.server.rooms.environment import Environment
from parlour.server.rooms.events import RoomEnded, RoomEvent, SeatsChanged
from parlour.server.rooms.registry import RoomRegistry
from parlour.server.standings import standings_of
from parlour.server.tasks import Tasks
from parlour.server.ticket_records import TICKET, delete_tickets, kept_tickets, save_ticket
from parlour.server.tokens import random_letters
from parlour.wire import Push, Queue, Request, Unqueue

T = TypeVar("T")
log = structlog.get_logger()

PAIR_EVERY = 1.0
"""Seconds between two looks at the open tickets: who is gone, and whose tolerance has grown."""
LENGTH = 16
"""Letters of a ticket's id, too many to guess."""
NOBODY_CAME = "nobody_came"
"""Why a room ends that pairing opened and that not all players came to."""


class PublicTicket(msgspec.Struct, frozen=True, omit_defaults=True):
    """A ticket, as its player may see it."""

    id: str
    game: str
    config: Any
    mode: Mode
    status: str
    """``waiting`` or ``matched``."""
    room: str | None
    """The room of their seat, once they are matched."""
    waited: float
    """Seconds since it was taken, on the rooms' clock."""
    clock: ClockSettings | None = None
    """How much time players will have."""


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
    """Owns all tickets. One job at a time, like a room: jobs run in a mailbox."""

    def __init__(self, environment: Environment, rooms: RoomRegistry, lobby: Lobby, ratings: Ratings) -> None:
        self._env = environment
        self._ratings = ratings
        self._rooms = rooms
        self._creation = rooms.creation
        self._lobby = lobby
        self._journal = environment.journal
        self.index = self._new_index()
        self.is_open = False
        """True while the tickets are ours, and read: one worker owns them all."""
        self._early: list[RoomEvent] | None = None
        """What rooms have told while the tickets are being read."""
        self.people_in = self._people_here
        """Lists the people in a room, wherever it is."""
        self.call: Callable[[str, RoomCall], Awaitable[Any]] = rooms.call
        """Has a room carry out a call, wherever it is."""
        self.mailbox = Mailbox()
        self._tick: Handle | None = None
        self.tasks = Tasks()

    def _new_index(self) -> TicketIndex:
        settings = self._env.settings
        each = {"player": settings.player_tickets, "address": settings.address_tickets}
        quota = Quota("open tickets", settings.tickets, **each)
        return TicketIndex(settings.ticket_patience, quota, self._env.reservations)

    async def start(self) -> None:
        """Go on with the kept tickets; their players have a while to come back."""
        index, self._early = self.index, []
        now, tickets = self._now(), [*map(self._updated, await kept_tickets(self._journal))]
        waiting = [ticket for ticket in tickets if ticket.room is None]
        last = {(ticket.player, ticket.queue): ticket for ticket in waiting}
        for ticket in waiting:
            if last[ticket.player, ticket.queue] is ticket:
                await self._go_on(index, ticket, now)
            elif self.index is index:
                # When it was taken, nobody knew whether it was kept, and its player took another.
                await delete_tickets(self._journal, [ticket.id])
        if self.index is not index:  # they have been given away meanwhile
            return
        for ticket in tickets:
            if ticket.room is not None:
                index.send(ticket, now)
        early, self._early, self.is_open = self._early or [], None, True
        for event in early:
            self.hear(event)
        self._plan()

    def _updated(self, ticket: Ticket) -> Ticket:
        """A kept ticket, in the queue for the same that it would be in today."""
        game = self._env.games.get(ticket.game)
        return ticket if game is None else replace(ticket, negotiable=game.set_up.negotiable)

    async def _go_on(self, index: TicketIndex, ticket: Ticket, now: float) -> None:
        """Go on with an open ticket, unless its room is gone or full."""
        try:
            found = None if ticket.at is None else await self._journal.find(ticket.at)
        except Damaged:  # nobody can wait there
            found = None
        seats = () if found is None else found.summary.seats
        sitting = frozenset(seat.id for seat in seats if seat is not None)
        waits = found is not None and found.summary.ended is None and len(sitting) < ticket.seats
        if self.index is not index:
            return
        if ticket.at is None or waits:
            index.add(ticket, now, sitting)
        else:
            await delete_tickets(self._journal, [ticket.id])

    async def stop(self) -> None:
        """Finish open work; the tickets stay open over a restart, or for the worker that owns them next."""
        self.is_open, self._early = False, None
        await self.mailbox.drained()
        self.abandon()

    def abandon(self) -> None:
        """Know of no tickets any more: they belong to another worker."""
        self.is_open, self._early = False, None
        if self._tick is not None:
            self._tick.cancel()
            self._tick = None
        self._env.reservations.clear()
        self.index = self._new_index()

    # Requests of players.

    def take(self, client: Client, request: Request, wish: Queue | Unqueue) -> None:
        """Take a request of a client at the lobby; it is answered when it is done."""
        self.tasks.start(self._answer(client, request, wish))

    async def _answer(self, client: Client, request: Request, wish: Queue | Unqueue) -> None:
        try:
            if isinstance(wish, Queue):
                ticket = await self.queue(client.player, wish, client.outbox.address)
            else:
                ticket = await self.unqueue(client.player, wish.ticket)
        except Refused as why:
            client.refuse(request, why)
        else:
            client.accept(request, {"ticket": ticket.id})

    async def queue(self, player: str, wanted: Queue, address: str | None = None) -> Ticket:
        """Take a ticket; it may be matched at once."""
        self._check_available()
        return await self._in_mailbox(lambda: self._queue(player, wanted, address))

    async def meet(
        self,
        player: str,
        wanted: Queue,
        room: str,
        clock: ClockSettings | None = None,
        address: str | None = None,
    ) -> Ticket:
        """Take a ticket for a room to go to: one in which somebody waits, or else a new one, which is opened.

        A new one has *clock*, or that of the wish; nobody has to ask for *clock* to be sent there.
        The room of such a ticket is known at once: `room` if somebody waits there, `at` if the player waits.
        Asking again while nothing has changed returns the same ticket.
        """
        self._check_available()
        return await self._in_mailbox(lambda: self._meet(player, wanted, room, clock, address))

    def _check_available(self) -> None:
        """Refuse what only the owner of all tickets can do."""
        if not self.is_open or not self._env.ownership.is_fresh():
            raise Refused(Code.NOT_SAVED, "the tickets are just moving to another worker; try again")

    def is_found(self, player: str, room: str) -> bool:
        """True if another player was found for the ticket of this room; asking counts as a sign of life."""
        self._check_available()
        return self.index.is_found(player, room, self._now())

    async def unqueue(self, player: str, id: str) -> Ticket:
        """Give a ticket back."""
        self._check_available()
        return await self._in_mailbox(lambda: self._unqueue(player, id))

    def tickets(self, player: str) -> list[Ticket]:
        """This player's open tickets and those matched lately; asking counts as a sign of life."""
        self._check_available()
        tickets = self.index.of(player)
        for ticket in tickets:
            if ticket.room is None:
                self.index.see(ticket, self._now())
        return tickets

    def ticket(self, player: str, id: str) -> Ticket:
        """One of this player's tickets; asking counts as a sign of life."""
        for ticket in self.tickets(player):
            if ticket.id == id:
                return ticket
        raise Refused(Code.UNKNOWN_TICKET, f"you have no ticket {id[:40]!r}")

    def describe(self, ticket: Ticket) -> PublicTicket:
        """A ticket, as its player may see it."""
        status = "waiting" if ticket.room is None else "matched"
        waited = max(0.0, self._now() - ticket.since)
        return PublicTicket(
            ticket.id, ticket.game, ticket.config, ticket.mode, status, ticket.room, waited, ticket.clock
        )

    def list_tickets(self, player: str) -> list[PublicTicket]:
        """A player's tickets, as the player may see them."""
        return [self.describe(ticket) for ticket in self.tickets(player)]

    # Events of rooms.

    def hear(self, event: RoomEvent) -> None:
        """Note who is seated where, and which rooms have ended."""
        if self._early is not None:
            self._early.append(event)
        if not self.is_open:
            return
        match event:
            case SeatsChanged():
                self._note_seats(event)
            case RoomEnded():
                self._closed(event.room)
            case _:
                pass

    def _note_seats(self, event: SeatsChanged) -> None:
        """Note seats that were taken or given up; the tickets that this matched are kept."""
        filled = self._env.reservations.filled(event.room, event.sitting)
        self.index.note_seats(event.room, event.sitting, self._now())
        self._settle(event.matched, event.sitting if filled else ())
        self._call_bot(event.room)

    def _closed(self, room: str) -> None:
        """Cancel the tickets that wait in an ended room."""
        vacancy = self.index.vacancies.get(room)
        if vacancy is not None:
            self.index.forget(vacancy.ticket)
            self.mailbox.put(partial(self._delete, [vacancy.ticket], Code.ROOM_ENDED))

    def _call_bot(self, room: str) -> None:
        """Seat the bot that a waiting player asked for: after the player, who gets the first seat."""
        vacancy = self.index.vacancies.get(room)
        if vacancy is None or vacancy.ticket.mode != "bot" or vacancy.ticket.player not in vacancy.sitting:
            return
        self.tasks.start(self._seat_bot(vacancy.ticket))

    async def _seat_bot(self, ticket: Ticket) -> None:
        try:
            if ticket.id in self.index.open:
                await self.call(ticket.at or "", SeatBot(ticket.bot, ticket=ticket.id))
        except Refused as why:  # the next look tries again, unless the room is gone
            log.warning("bot_not_seated", room=ticket.at, why=why.message)

    # In the mailbox.

    async def _queue(self, player: str, wanted: Queue, address: str | None) -> Ticket:
        self._creation.check_place(address)
        ticket = await self._new_ticket(player, wanted, address)
        if self.index.same(ticket) is not None:
            raise _already_queued()
        self.index.check_quota(ticket)
        await save_ticket(self._journal, ticket)
        self.index.add(ticket, self._now())
        self._plan()
        try:
            while ticket.id in self.index.open and (party := self.index.party(ticket, self._now())):
                await self._seat(party)
        except (
            Refused,
            Trouble,
        ) as error:  # the disk is full, say: the ticket is kept, and the next look tries
            log.error("not_paired", error=str(error))
        if ticket.id in self.index.open:
            return ticket
        if ticket.id not in self.index.matched:
            raise Refused(Code.GAME_ERROR, "no room could be made of this; nobody is queued")
        return self.index.matched[ticket.id][0]

    async def _meet(
        self, player: str, wanted: Queue, room: str, clock: ClockSettings | None, address: str | None
    ) -> Ticket:
        ticket = await self._new_ticket(player, wanted, address)
        same = self.index.same(ticket)
        if same is not None:
            if same.at is None:
                raise _already_queued()
            self.index.see(same, self._now())
            return same
        if (promised := self.index.promised(ticket, self._now())) is not None:
            return await self._send(ticket, promised)
        others = await self._partners(ticket)
        for other in others:
            if other.at is not None:
                return await self._send(ticket, other.at)
        self.index.check_quota(ticket)
        ticket = replace(ticket, id=room, at=room)
        made = await self._creation.wait(ticket, clock or ticket.clock, others)
        self.index.add(ticket, self._now(), frozenset(one.player for one in made))
        self._settle(made)
        self._plan()
        return ticket

    async def _send(self, ticket: Ticket, room: str) -> Ticket:
        """Send a ticket's player to a room; they have a while to come."""
        made = replace(self.index.sent_before(ticket.player, room) or ticket, room=room)
        await save_ticket(self._journal, made)
        self.index.send(made, self._now())
        return made

    async def _new_ticket(self, player: str, wanted: Queue, address: str | None) -> Ticket:
        game = self._env.wanted_game(wanted.game, "$.game")
        bot = chosen(game, wanted.bot) if wanted.mode == "bot" else None
        # Tried out here, so that a wrong config is refused before anybody waits with it.
        room = self._env.ask_game(
            game,
            "lobby",
            lambda: open_room(game, "lobby", wanted.config, self._env.instant(), clock=wanted.clock),
        )
        if wanted.mode == "ranked" and (room.least, len(room.seats)) != (2, 2):
            raise Refused(Code.MALFORMED, "$.mode: only games for two are ranked", path="$.mode")
        clock = None if room.clocks is None else room.clocks.settings
        if wanted.mode == "ranked" and clock is not None and clock.has_bots:
            why = "$.clock: expected at_zero to be lose or claim in a ranked game, got 'bot'"
            raise Refused(Code.MALFORMED, why, path="$.clock")
        name, remote, account = await self._env.sessions.introduce(player)
        if wanted.mode == "ranked" and self._env.settings.ranked == "accounts" and not remote:
            await self._env.sessions.check_account(player)
        ladder = ladder_of(game.name, room.config, bots=remote)
        rating = await self._rating(player, ladder) if wanted.mode == "ranked" else MIDDLE
        return Ticket(
            random_letters(LENGTH).lower(),
            player,
            name,
            game.name,
            room.config,
            self._now(),
            wanted.mode,
            room.least,
            rating,
            bot,
            address=address,
            clock=clock,
            remote=remote,
            account=account,
            brings_luck=wanted.brings_luck,
            negotiable=game.set_up.negotiable,
        )

    async def _rating(self, player: str, ladder: str) -> float:
        await self._ratings.settled()
        for standing in await standings_of(self._journal, player):
            if standing.ladder == ladder:
                return standing.rating.rating
        return MIDDLE

    async def _unqueue(self, player: str, id: str) -> Ticket:
        ticket = self.index.open.get(id)
        if ticket is None or ticket.player != player:
            raise Refused(Code.UNKNOWN_TICKET, f"you wait with no ticket {id[:40]!r}")
        if ticket.at is None:
            await self._delete([ticket])
        elif self.index.vacancies[ticket.at].is_free(self._now()):
            await self._end_room(ticket, "cancelled")
        if id in self.index.open or id in self.index.matched:
            raise Refused(Code.UNKNOWN_TICKET, "you do not wait any more: somebody was found")
        return ticket

    async def _end_room(self, ticket: Ticket, why: str) -> None:
        """End the room in which a ticket waits; that cancels the ticket."""
        try:
            if ticket.id in self.index.open:
                await self.call(ticket.at or "", EndWaiting(why, ticket.id))
        except Refused as error:
            if error.code in NOT_WRITTEN:
                raise
            await self._delete([ticket])  # the room has ended already

    async def _delete(self, tickets: Sequence[Ticket], reason: str | None = None) -> None:
        """Delete tickets; with a reason their players are notified."""
        await delete_tickets(self._journal, [ticket.id for ticket in tickets])
        for ticket in tickets:
            self.index.forget(ticket)
            if reason is not None:
                self._lobby.tell(ticket.player, Push("unqueued", Unqueued(ticket.id, reason)))

    async def _pair(self) -> None:
        """Seat all parties that fit."""
        while parties := self.index.parties(self._now()):
            for party in parties:
                await self._seat(party)

    async def _seat(self, party: Party) -> None:
        try:
            if named := await self._with_current_names(party):
                await self._seat_party(named)
        except Refused as why:
            if why.code in NOT_WRITTEN:
                raise
            log.warning("party_refused", game=party[0].game, why=why.message)
            if all(ticket.id in self.index.open for ticket in party):  # otherwise the room has filled up, say
                await self._delete([ticket for ticket in party if ticket.at] or party, why.code)

    def _settle(self, made: Sequence[Ticket], playing: Iterable[str] = ()) -> None:
        """Keep tickets as matched. Those who play now wait nowhere else."""
        if rest := self.index.settle(made, playing, self._now()):
            self.mailbox.put(partial(self._delete, rest, "matched"))
        for ticket in made:
            told = Matched(ticket.id, ticket.room or "", ticket.game)
            self._lobby.tell(ticket.player, Push("matched", told))

    async def _partners(self, ticket: Ticket) -> Party:
        """Those who would play with a new ticket."""
        while (party := self.index.party(ticket, self._now())) is not None:
            if named := await self._with_current_names(one for one in party if one is not ticket):
                return named
            if party == (ticket,):
                break
        return ()

    async def _with_current_names(self, party: Iterable[Ticket]) -> Party:
        """Give a party its players' names of now; nobody, if one of them was deleted or waits no more."""
        named = [(ticket, await self._as_of_now(ticket)) for ticket in party]
        for ticket, now in named:
            if now is None and ticket.id in self.index.open:
                await self._expire(ticket)
        found = tuple([now for _, now in named if now is not None and now.id in self.index.open])
        return found if len(found) == len(named) else ()

    async def _as_of_now(self, ticket: Ticket) -> Ticket | None:
        """A ticket under the name that its player has now; None if it went with the player."""
        try:
            if await self._journal.record(TICKET, ticket.id) is None:
                return None
            name, _, account = await self._env.sessions.introduce(ticket.player)
        except Damaged:  # noted; nobody can be this player any more
            return None
        return replace(ticket, name=name, account=account)

    async def _seat_party(self, party: Party) -> None:
        """Seat a party: in the room where one of them waits, or in a new one."""
        hosts = [ticket for ticket in party if ticket.at]
        if not hosts:
            self._settle(await self._creation.seat_party(party))
        for guest in party if hosts else ():
            if guest is not hosts[0]:
                await self.call(hosts[0].at or "", SitDown(guest))

    # As time goes by.

    def _plan(self) -> None:
        if self._tick is None and (self.index.open or self.index.matched):
            self._tick = self._env.clock.call_at(self._now() + PAIR_EVERY, self._ring)

    def _ring(self) -> None:
        self._tick = None
        self.mailbox.put(self._look)

    async def _look(self) -> None:
        """Find players who are gone, and parties that fit by now."""
        try:
            for ticket in tuple(self.index.open.values()):
                if await self._is_gone(ticket) and ticket.id in self.index.open:
                    await self._expire(ticket)
            for room in tuple(self.index.vacancies):
                self._call_bot(room)
            for room in self.index.overdue(self._now()):
                await self._check_arrivals(room)
            if old := self.index.old(self._now()):
                await delete_tickets(self._journal, old)
                self.index.remove_matched(old)
            await self._pair()
        except (Refused, Trouble) as error:  # the disk is full, say: the tickets stay open
            log.error("not_paired", error=str(error))
        self._plan()

    async def _is_gone(self, ticket: Ticket) -> bool:
        here = [person.player for person in await self._people(ticket)]
        if ticket.player in here or self._lobby.has(ticket.player):
            self.index.see(ticket, self._now())
        return self.index.is_late(ticket, self._now())

    async def _expire(self, ticket: Ticket) -> None:
        """Drop the ticket of a player who is gone: somebody in its room inherits it, or the room ends."""
        if ticket.at is None:
            await self._delete([ticket], "expired")
        elif heirs := await self._heirs(ticket):
            await self._pass_on(ticket, heirs[0])
        else:
            await self._end_room(ticket, NOBODY_CAME)

    async def _check_arrivals(self, room: str) -> None:
        """End a room if not all have come who were paired for it; either way, await them no longer."""
        people: Sequence[str] = ()
        try:
            people = await self.call(room, CallOff(NOBODY_CAME))
        except Refused as why:
            if why.code in NOT_WRITTEN:
                raise  # otherwise the room is gone, or cannot be read
        self.index.stop_awaiting(room)
        sent = [self.index.sent_before(player, room) for player in people]
        if void := [ticket for ticket in sent if ticket is not None]:
            await self._delete(void, NOBODY_CAME)
            self.index.remove_matched([ticket.id for ticket in void])

    async def _heirs(self, ticket: Ticket) -> list[Ticket]:
        """The ticket, held by each person seated in its room who waits in no other room for the same."""
        people = await self._people(ticket)
        passed = [replace(ticket, player=person.player, name=person.name) for person in people]
        return [one for one in passed if not any(twin.at for twin in self.index.twins(one))]

    async def _pass_on(self, ticket: Ticket, heir: Ticket) -> None:
        await self._delete(self.index.twins(heir), "matched")
        await save_ticket(self._journal, heir)
        if ticket.id in self.index.open:
            self.index.add(heir, self._now())

    async def _people(self, ticket: Ticket) -> Sequence[SeatedPerson]:
        """The people in the room where this ticket's player waits."""
        return () if ticket.at is None else await self.people_in(ticket.at)

    async def _people_here(self, room: str) -> Sequence[SeatedPerson]:
        """The people in a room of this worker; only rooms in memory have any."""
        actor = self._rooms.peek(room)
        return () if actor is None else actor.people()

    def _now(self) -> float:
        return self._env.clock.now()

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

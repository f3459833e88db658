"""The lobby's owner: takes tickets, keeps them, and makes rooms with everybody seated of those that fit."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import msgspec
import structlog
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.journal.base import Trouble
from parlour.lobby import Mode, Party, Ticket, check_new, pair
from parlour.ratings import MIDDLE, ladder_of
from parlour.room import Instant, Room, apply, open_room
from parlour.server.bots import chosen, newcomer
from parlour.server.clients import Client
from parlour.server.clock import Handle
from parlour.server.lane import Lane
from parlour.server.listing import Listing
from parlour.server.players import guest_name, random_letters
from parlour.server.rooms import Owner, excuse
from parlour.wire import Join, Push, Queue, Request, Step, Unqueue

T = TypeVar("T")
log = structlog.get_logger()

EVERY = 1.0
"""Seconds between two looks at those who wait: who has gone, and whose tolerance has grown."""
REMEMBERED = 3600.0
"""Seconds for which a ticket that was made good can be asked for, on the rooms' clock."""
LENGTH = 16
"""Letters of a ticket's id, which nobody guesses."""


class Housing(Owner, Protocol):
    """What the owner of the rooms does for the lobby."""

    games: Mapping[str, Game[Any]]

    async def house(self, party: Party) -> tuple[Ticket, ...]:
        """Open a room with all of them seated, and keep their tickets with its id, all or nothing."""
        ...

    async def join_party(self, host: Ticket, guests: Sequence[Ticket]) -> tuple[Ticket, ...]:
        """Seat the guests in the room where the host waits; the tickets of all of them, made good."""
        ...


class TicketSheet(msgspec.Struct, frozen=True):
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

    def __init__(self, owner: Housing, listing: Listing, patience: float) -> None:
        self._owner = owner
        self._listing = listing
        self._patience = patience
        self._journal = owner.journal
        self.lane = Lane()
        self._open: dict[str, Ticket] = {}
        self._good: dict[str, tuple[Ticket, float]] = {}
        """Tickets that were made good, and when."""
        self._seen: dict[str, float] = {}
        """When each player who waits last gave a sign of life."""
        self._watchers: list[Callable[[Ticket], None]] = []
        self._tick: Handle | None = None
        self.tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Go on with those who waited; they have a while to come back."""
        now = self._owner.clock.now()
        for ticket in await self._journal.tickets():
            if ticket.room is None:
                self._open[ticket.id] = ticket
                self._seen[ticket.player] = now
            else:
                self._good[ticket.id] = (ticket, now)
        self._plan()

    async def stop(self) -> None:
        """Finish what was begun; those who wait, wait on after a restart."""
        if self._tick is not None:
            self._tick.cancel()
        await self.lane.drained()

    def watch(self, told: Callable[[Ticket], None]) -> None:
        """Be told of every ticket that is made good, for doors with clients of their own."""
        self._watchers.append(told)

    # What players ask.

    def take(self, client: Client, request: Request, wish: Queue | Unqueue) -> None:
        """What somebody at the lobby wants; the answer comes when it is done."""
        task = asyncio.get_running_loop().create_task(self._answer(client, request, wish))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _answer(self, client: Client, request: Request, wish: Queue | Unqueue) -> None:
        try:
            if isinstance(wish, Queue):
                ticket = await self.queue(client.player, wish)
            else:
                ticket = await self.unqueue(client.player, wish.ticket)
        except Refused as why:
            client.refuse(request, why)
        else:
            client.accept(request, {"ticket": ticket.id})

    async def queue(
        self, player: str, wanted: Queue, *, name: str | None = None, at: str | None = None
    ) -> Ticket:
        """Take a ticket; it may be made good at once. With *at* its player waits in that room already."""
        return await self._in_lane(lambda: self._queue(player, wanted, name, at))

    async def unqueue(self, player: str, id: str) -> Ticket:
        """Give a ticket back."""
        return await self._in_lane(lambda: self._unqueue(player, id))

    def tickets(self, player: str) -> list[Ticket]:
        """What this player waits for, and what was lately made good; asking is a sign of life."""
        self.see(player)
        every = [*self._open.values(), *(ticket for ticket, _ in self._good.values())]
        return sorted((t for t in every if t.player == player), key=lambda ticket: ticket.since)

    def ticket(self, player: str, id: str) -> Ticket:
        """One of this player's tickets; asking is a sign of life."""
        for ticket in self.tickets(player):
            if ticket.id == id:
                return ticket
        raise Refused(Code.UNKNOWN_TICKET, f"you have no ticket {id[:40]!r}")

    def sheet(self, ticket: Ticket) -> TicketSheet:
        """A ticket, as it is told."""
        status = "waiting" if ticket.room is None else "matched"
        waited = max(0.0, self._owner.clock.now() - ticket.since)
        return TicketSheet(ticket.id, ticket.game, ticket.config, ticket.mode, status, ticket.room, waited)

    def see(self, player: str) -> None:
        """A sign of life."""
        if player in self._seen:
            self._seen[player] = self._owner.clock.now()

    # In the lane.

    async def _queue(self, player: str, wanted: Queue, name: str | None, at: str | None) -> Ticket:
        ticket = await self._new_ticket(player, wanted, name, at)
        check_new(ticket, self._open.values())
        await self._journal.save_ticket(ticket)
        self._open[ticket.id] = ticket
        self._seen[player] = self._owner.clock.now()
        await self._pair()
        self._plan()
        if ticket.id in self._open:
            return ticket
        if ticket.id not in self._good:
            raise Refused(Code.GAME_ERROR, "no room could be made of this; nobody is queued")
        return self._good[ticket.id][0]

    async def _new_ticket(self, player: str, wanted: Queue, name: str | None, at: str | None) -> Ticket:
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
            name or await self._name_of(player),
            game.name,
            room.config,
            self._owner.clock.now(),
            wanted.mode,
            game.seats.start,
            rating,
            bot,
            at,
        )

    async def _name_of(self, player: str) -> str:
        known = await self._journal.player(player)
        return guest_name(player) if known is None else known.name

    async def _rating(self, player: str, ladder: str) -> float:
        for standing in await self._journal.standings_of(player):
            if standing.ladder == ladder:
                return standing.rating.rating
        return MIDDLE

    async def _unqueue(self, player: str, id: str) -> Ticket:
        ticket = self._open.get(id)
        if ticket is None or ticket.player != player:
            raise Refused(Code.UNKNOWN_TICKET, f"you wait with no ticket {id[:40]!r}")
        await self._drop([ticket])
        return ticket

    async def _drop(self, tickets: Sequence[Ticket], reason: str | None = None) -> None:
        """Forget tickets; with a reason their players are told."""
        await self._journal.drop_tickets([ticket.id for ticket in tickets])
        for ticket in tickets:
            self._forget(ticket)
            if reason is not None:
                self._listing.tell(ticket.player, Push("unqueued", Unqueued(ticket.id, reason)))

    def _forget(self, ticket: Ticket) -> None:
        self._open.pop(ticket.id, None)
        if not any(other.player == ticket.player for other in self._open.values()):
            self._seen.pop(ticket.player, None)

    async def _pair(self) -> None:
        """Make rooms of all parties that there are."""
        while parties := pair(self._open.values(), self._owner.clock.now()):
            for party in parties:
                await self._seat(party)

    async def _seat(self, party: Party) -> None:
        try:
            made = await self._house(party)
        except Refused as why:
            if why.code == Code.NOT_SAVED:
                raise
            log.warning("party_refused", game=party[0].game, why=why.message)
            full = [ticket for ticket in party if ticket.at]
            await self._drop(full or party, why.code)  # a room that has filled up is nobody else's fault
            return
        now = self._owner.clock.now()
        for ticket in made:
            self._good[ticket.id] = (ticket, now)
        for ticket in made:
            # Who plays waits nowhere else.
            others = [other for other in self._open.values() if other.player == ticket.player]
            rest = [other for other in others if other.id != ticket.id]
            self._forget(ticket)
            if rest:
                await self._drop(rest, "matched")
            self._tell(ticket)

    async def _house(self, party: Party) -> tuple[Ticket, ...]:
        waits = [ticket for ticket in party if ticket.at]
        if not waits:
            return await self._owner.house(party)
        return await self._owner.join_party(waits[0], [ticket for ticket in party if ticket is not waits[0]])

    def _tell(self, ticket: Ticket) -> None:
        assert ticket.room is not None  # noqa: S101 - it was made good
        self._listing.tell(ticket.player, Push("matched", Matched(ticket.id, ticket.room, ticket.game)))
        for told in self._watchers:
            told(ticket)

    # As time goes by.

    def _plan(self) -> None:
        if self._tick is None and (self._open or self._good):
            self._tick = self._owner.clock.call_at(self._owner.clock.now() + EVERY, self._ring)

    def _ring(self) -> None:
        self._tick = None
        self.lane.put(self._look)

    async def _look(self) -> None:
        """See who has gone, and who fits by now."""
        now = self._owner.clock.now()
        try:
            gone = [ticket for ticket in self._open.values() if self._is_gone(ticket, now)]
            if gone:
                await self._drop(gone, "expired")
            old = [id for id, (_, when) in self._good.items() if now - when > REMEMBERED]
            if old:
                await self._journal.drop_tickets(old)
                for id in old:
                    del self._good[id]
            await self._pair()
        except (Refused, Trouble) as error:  # the disk is full, say: those who wait, wait
            log.error("not_paired", error=str(error))
        self._plan()

    def _is_gone(self, ticket: Ticket, now: float) -> bool:
        if ticket.at is not None:
            return False  # the room knows who waits in it
        if self._listing.has(ticket.player):
            self._seen[ticket.player] = now
        return now - self._seen.get(ticket.player, now) > self._patience

    async def _in_lane(self, job: Callable[[], Awaitable[T]]) -> T:
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

        self.lane.put(do)
        return await answer


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


def made_good(tickets: Sequence[Ticket], room: str) -> tuple[Ticket, ...]:
    """The tickets, with the room that they led to."""
    return tuple(replace(ticket, room=room) for ticket in tickets)

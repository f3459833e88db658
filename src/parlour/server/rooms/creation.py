"""Opens new rooms: for a player, for a door, or for pairing with everybody seated."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypedDict, Unpack

import structlog
from msgspec.structs import replace

from parlour.clocks import ClockSettings
from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.journal.base import Conflict, Fenced, Found, RoomQuery, RoomSummary, Trouble
from parlour.lobby import Party, Ticket, agreed_config, join_of, matched
from parlour.room import Instant, Room, apply, open_room
from parlour.server import metrics
from parlour.server.bots.players import newcomer
from parlour.server.limits import Quota
from parlour.server.refusals import excuse
from parlour.server.rooms.environment import Environment
from parlour.server.rooms.events import RoomEvent, RoomOpened, SummaryChanged
from parlour.server.rooms.stored_room import config_of, freeze
from parlour.server.rooms.summary import Opening, summary_of
from parlour.server.ticket_records import ticket_records
from parlour.server.tokens import random_letters
from parlour.wire import Join, Step, Watching

log = structlog.get_logger()


MOST_DRAWS = 1000
"""Ids that are drawn at most to find one that is ours."""


class How(TypedDict, total=False):
    """How a room is opened, and by whom."""

    private: bool
    listed: bool
    creator: str | None
    address: str | None
    watching: Watching
    apart: bool
    clock: ClockSettings | None


class Begun(NamedTuple):
    """A new room that is not kept yet."""

    room: Room[Any]
    """As it is after its first steps."""
    frozen: bytes
    """As it was before them."""
    steps: Sequence[Step] = ()
    tickets: Sequence[Ticket] = ()


Begin = Callable[[str], Begun]
"""Makes a new room of this id."""


class RoomCreation:
    """Opens rooms, and counts the open ones for the limits per player, per address and in total."""

    def __init__(self, environment: Environment) -> None:
        self._env = environment
        self._quota = self._no_rooms()
        self._counted: dict[str, Mapping[str, str]] = {}
        """The open rooms with a game to play, and for whom they count."""
        self._early: dict[str, RoomSummary] | None = {}
        """Summaries that change while `start` reads the rooms from the journal; None at all other times."""

    def _no_rooms(self) -> Quota:
        settings = self._env.settings
        each = {"player": settings.player_rooms, "address": settings.address_rooms}
        return Quota("open rooms", settings.rooms, **each)

    async def start(self) -> None:
        """Count the open rooms: all, or those of this worker's shards."""
        self._early = {}
        found = await self._env.journal.rooms(RoomQuery(shards=self._env.ownership.shards()))
        early, self._early = self._early or {}, None
        self._quota, self._counted = self._no_rooms(), {}
        for summary in (early.get(one.summary.id, one.summary) for one in found):
            self._note(summary)

    def hear(self, event: RoomEvent) -> None:
        """Count a room as long as its game can be played."""
        if isinstance(event, SummaryChanged):
            self._note(event.summary)

    def _note(self, summary: RoomSummary) -> None:
        if self._early is not None:
            self._early[summary.id] = summary
        elif summary.ended is not None or summary.outcome is not None:
            if (holders := self._counted.pop(summary.id, None)) is not None:
                self._quota.give_back(1, **holders)
        elif summary.id not in self._counted:
            self._counted[summary.id] = holders = _holders(summary.address, summary.creator)
            self._quota.count(1, **holders)

    def check_place(self, address: str | None) -> None:
        """Refuse an address that may not open another room."""
        self._quota.check(1, **_holders(address))

    async def create(self, name: str, config: Any, id: str | None = None, **how: Unpack[How]) -> Found:
        """Open a room; unless an id is chosen it gets four letters, or more if those are taken."""
        game = self._env.wanted_game(name)
        opening = Opening(self._env.clock.date(), **how)
        return await self._create(game, config, id, opening)

    async def _create(
        self,
        game: Game[Any],
        config: Any,
        chosen: str | None,
        opening: Opening,
        party: Party = (),
        *,
        waiting: Ticket | None = None,
    ) -> Found:
        """Open a room, with a party seated in it."""
        at = self._env.instant()

        def begin(id: str) -> Begun:
            opened = partial(open_room, game, id, config, at, apart=opening.apart, clock=opening.clock)
            room = self._env.ask_game(game, id, opened)
            now, later = joins_of(party, room.least, first=self._env.instant().seed[0] if party else 0)
            room = replace(room, awaited=later)
            frozen = self._env.ask_game(game, id, partial(freeze, room))
            room, steps = self._env.ask_game(game, id, partial(sit_down, game, room, now, at))
            tickets = (*matched(party, id), *(() if waiting is None else (waiting,)))
            return Begun(room, frozen, steps, tickets)

        return await self.open(game, begin, chosen, opening)

    async def open(self, game: Game[Any], begin: Begin, chosen: str | None, opening: Opening) -> Found:
        """Open a room if there may be another; it counts from the moment of the request."""
        holders = _holders(opening.address, opening.creator)
        self._quota.take(1, **holders)
        try:
            found = await self._keep(begin, chosen, opening)
        finally:
            self._quota.give_back(1, **holders)
        metrics.rooms_opened.labels(game.name).inc()
        log.info("room_opened", room=found.summary.id, game=game.name)
        self._env.publish(RoomOpened(found))
        self._env.publish(SummaryChanged(found.summary))
        return found

    async def _keep(self, begin: Begin, chosen: str | None, opening: Opening) -> Found:
        now = self._env.clock.now()
        length = 12 if opening.private else 4  # four letters are easy to say, and to guess
        while True:
            id = chosen or self._draw_id(length)
            begun = begin(id)
            summary = summary_of(begun.room, opening, now)
            try:
                number = await self._env.journal.create(
                    summary, begun.frozen, begun.room.next_due, begun.steps, ticket_records(begun.tickets)
                )
            except Fenced as error:
                raise excuse(error) from None
            except Conflict:
                if chosen is not None:
                    raise Refused(Code.NAME_TAKEN, f"there is a room {id} already", path="$.id") from None
                length += 1
            except Trouble as error:
                raise excuse(error) from None
            else:
                return Found(number, len(begun.steps), summary)

    def _draw_id(self, length: int) -> str:
        """An id of so many letters: of a room that this worker owns, if it owns any."""
        drawn = (random_letters(length) for _ in range(MOST_DRAWS))
        return next(filter(self._env.ownership.owns, drawn), None) or random_letters(length)

    async def seat_party(self, party: Party) -> tuple[Ticket, ...]:
        """Open a room for a party, and keep their tickets with its id, all or nothing.

        Everybody has a seat there, or one is kept for them until they come.
        """
        wanted = party[0]
        opening = self._opening(wanted, private=False, creator=None)
        game = self._env.kept_game(wanted.game)
        found = await self._create(game, agreed_config(party), None, opening, party)
        return matched(party, found.summary.id)

    async def wait(self, waiting: Ticket, clock: ClockSettings | None, guests: Party) -> tuple[Ticket, ...]:
        """Open the room in which a ticket's holder will wait, and keep the ticket; *guests* are seated.

        Nobody finds such a room unless they are sent there or know its id.
        """
        opening = replace(self._opening(waiting, private=True, creator=waiting.player), clock=clock)
        game = self._env.kept_game(waiting.game)
        config = agreed_config((waiting, *guests))
        found = await self._create(game, config, waiting.at, opening, guests, waiting=waiting)
        return matched(guests, found.summary.id)

    def _opening(self, ticket: Ticket, *, private: bool, creator: str | None) -> Opening:
        now, ranked = self._env.clock.date(), ticket.mode == "ranked"
        return Opening(
            now, private, creator, ranked, address=ticket.address, mode=ticket.mode, clock=ticket.clock
        )

    async def again(self, id: str, creator: str, address: str) -> Found:
        """The room of this id if it is open; otherwise a new one for the same game under the same id."""
        found = await self._env.journal.find(id)
        if found is None:
            raise Refused(Code.UNKNOWN_ROOM, f"there is no room {id[:64]}")
        summary = found.summary
        if summary.ended is None:
            return found
        stored = await self._env.journal.stored(found.number)
        how = How(
            private=summary.private, listed=summary.listed, creator=creator, address=address,
            watching=summary.watching, apart=summary.apart, clock=summary.clock,
        )  # fmt: skip
        return await self.find_or_create(id, summary.game, config_of(stored.state), **how)

    async def find_or_create(self, id: str, name: str, config: Any, **how: Unpack[How]) -> Found:
        """The open room of this id, if it is of this game; a new one if there is none."""
        found, address = await self._env.journal.find(id), how.get("address")
        running = None if found is None or found.summary.ended is not None else found
        self._env.guesses.check(None if running is None else running.summary, how.get("creator"), address)
        if running is None:
            try:
                return await self.create(name, config, id, **how)
            except Refused as why:
                if why.code != Code.NAME_TAKEN:
                    self._env.guesses.missed(id, address)  # else ids could be guessed by refused requests
                    raise
                return await self.find_or_create(id, name, config, **how)
        if running.summary.game != name:
            what = f"room {id} plays {running.summary.game}, not {name[:64]}"
            raise Refused(Code.WRONG_GAME, what, path="$.game")
        return running


def _holders(address: str | None, creator: str | None = None) -> dict[str, str]:
    """Whom a room counts for, besides the whole server."""
    holders = {"player": creator, "address": address}
    return {kind: holder for kind, holder in holders.items() if holder is not None}


def joins_of(party: Party, least: int, first: int) -> tuple[tuple[Join, ...], tuple[Join, ...]]:
    """Who of a party sits down at once, and who later, bots included; *first*, a number, rotates the seats.

    Whoever brings random bytes sits down when they come, and bots not before them.
    """
    joins = [join_of(ticket) for ticket in party]
    bot = party[0].bot if party else None
    while bot is not None and len(joins) < least:
        player = newcomer([join.player for join in joins], bot)
        joins.append(Join(player.id, player.name, bot=True))
    turn = first % len(joins) if joins else 0
    joins = [*joins[turn:], *joins[:turn]]
    bringing = {ticket.player for ticket in party if ticket.brings_luck}
    later = tuple(join for join in joins if join.player in bringing or (join.bot and bringing))
    return tuple(join for join in joins if join not in later), later


def sit_down(
    game: Game[Any], room: Room[Any], joins: Iterable[Join], at: Instant
) -> tuple[Room[Any], list[Step]]:
    """Seat players in their new room."""
    steps: list[Step] = []
    for join in joins:
        room, step = apply(game, room, join, at)
        steps.append(step)
    return room, steps

"""Notifications: a step that begins the turn of somebody who is away leaves a record; here it is told, once.

First the record of the turn becomes one of a delivery for each endpoint, in one write; then each delivery is
tried, and every try is noted before it is made. So nothing is forgotten by a crash, and no two workers tell
the same. A message is sent twice only where nobody knows what came of the first try.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import msgspec
import structlog

from parlour.errors import Refused
from parlour.game import Game
from parlour.journal.base import (
    Change,
    Conflict,
    Damaged,
    Drop,
    Fenced,
    Journal,
    Player,
    Record,
    RecordQuery,
    Trouble,
)
from parlour.server.clock import Clock
from parlour.server.endpoint_records import ENDPOINT, Endpoint, Failure, endpoints_of, read_endpoint
from parlour.server.outgoing import NotReached, Outgoing
from parlour.server.parts.notifications.endpoints import Endpoints
from parlour.server.parts.notifications.messages import Message, push_headers, told, webhook_message
from parlour.server.parts.notifications.request_slots import RequestSlots
from parlour.server.parts.notifications.rules import (
    DELIVERY,
    RETRY,
    Delivery,
    after_try,
    begin_try,
    deliveries_of,
    failure_of,
    forgotten,
    postponed,
    read_delivery,
    replace_by_try,
)
from parlour.server.poller import LOOK_EVERY, Poller
from parlour.server.record_decoding import read
from parlour.server.rooms.calling_records import GRACE
from parlour.server.rooms.events import PlayersCalled, RoomEvent
from parlour.server.sessions import LookUpFirst, Sessions
from parlour.server.tasks import Tasks
from parlour.server.tokens import Bearer
from parlour.server.turn_records import TURN, AwaitedTurn, read_turn, turn_key

AT_ONCE = 100
"""Records that one look reads."""
NO_ANSWER = "there was no answer: the address could not be reached, or took too long"
"""What the owner of an endpoint reads; the log says more."""
FINISH_WITHIN = 2.0
"""Seconds for which a server that stops waits for answers."""

log = structlog.get_logger()


class Notifications(Poller):
    """Tells players who are away that it is their turn."""

    failed = "not_notified"

    def __init__(  # noqa: PLR0913 - each is one thing that it needs
        self,
        journal: Journal,
        clock: Clock,
        sessions: Sessions,
        games: Mapping[str, Game[Any]],
        outgoing: Outgoing,
        *,
        site: str,
        is_shared: Callable[[], bool],
    ) -> None:
        super().__init__(clock)
        self._journal, self._sessions, self._games = journal, sessions, games
        self._outgoing = outgoing
        self._site = site
        """Where the server's pages are; empty if that is not known."""
        self.endpoints = Endpoints(journal, sessions, outgoing)
        self.under_way = Tasks()
        self._slots = RequestSlots()
        self._is_shared = is_shared

    async def start(self) -> None:
        """Go on with what was left when the server stopped."""
        self.look_soon()
        await self.mailbox.drained()

    async def stop(self) -> None:
        """Begin nothing new, and wait a little for the answers that are missing."""
        await super().stop()
        if self.under_way:
            await asyncio.wait(self.under_way, timeout=FINISH_WITHIN)
        for task in tuple(self.under_way):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    def hear(self, event: RoomEvent) -> None:
        """Look again when somebody who is away and has to move is to be told."""
        if isinstance(event, PlayersCalled):
            self.look_at(self._clock.now() + GRACE)

    async def look(self) -> float | None:
        """Plan the deliveries of turns that are due, and begin as many of those as there are free slots."""
        now = self._clock.now()
        turns = await self._journal.records(RecordQuery(TURN, due_by=now, limit=AT_ONCE))
        for record in turns:
            await self._plan_turn(record, now)
        await self._begin_all(DELIVERY, self._slots.free, now)
        await self._begin_all(RETRY, self._slots.free_again, now)
        return await self._next_due(now)

    async def _next_due(self, now: float) -> float | None:
        """When the next record is due; if it has no slot, the look is made when one is given back."""
        nexts = [
            record.due
            for kind, free in ((TURN, 1), (DELIVERY, self._slots.free), (RETRY, self._slots.free_again))
            for record in await self._journal.records(RecordQuery(kind, due_by=float("inf"), limit=1))
            if record.due is not None and (record.due > now or free)
        ]
        if self._is_shared():
            nexts.append(now + LOOK_EVERY)
        return min(nexts, default=None)

    # From turns to deliveries.

    async def _plan_turn(self, record: Record, now: float) -> None:
        """Plan a delivery of a turn to each endpoint of its player."""
        try:
            turn = read(record, read_turn)
        except Damaged:  # logged: the others are told
            await self._journal.keep(Drop(TURN, key=record.key))
            return
        endpoints = await endpoints_of(self._journal, turn.player)
        await self._change(deliveries_of(record, turn, endpoints, now))

    async def _change(self, changes: list[Change]) -> bool:
        """Make changes, unless somebody else was first: a step, or another worker."""
        try:
            await self._journal.keep(*changes)
        except Fenced:
            raise
        except Conflict:
            return False
        return True

    async def _begin_all(self, kind: str, free: int, now: float) -> None:
        """Try those that are longest due, as many as there are free slots; the others stay as they are."""
        if free:
            query = RecordQuery(kind, due_by=now, limit=min(free, AT_ONCE))
            for record in await self._journal.records(query):
                await self._begin(record, now)

    async def _begin(self, record: Record, now: float) -> None:
        """Try a delivery, if it is still wanted; the try is noted before it is made."""
        try:
            delivery = read(record, read_delivery)
        except Damaged:  # logged
            await self._journal.keep(Drop(record.kind, key=record.key))
            return
        player = delivery.turn.player
        if not self._slots.has_one_for(player, again=delivery.tries > 0):
            await self._change(postponed(record, self._slots.later(player, now)))
            return
        endpoint = await self._endpoint_of(delivery)
        if endpoint is None:
            await self._change(forgotten(record))
            return
        tried, kept = begin_try(delivery, now)
        if await self._change(replace_by_try(record, kept)):
            self._slots.take(player, again=delivery.tries > 0)
            self.under_way.start(self._try(kept, tried, endpoint))

    async def _endpoint_of(self, delivery: Delivery) -> Endpoint | None:
        """Where to deliver; None if the turn is over, its player was there, or the endpoint is not theirs."""
        turn = delivery.turn
        try:
            now = await self._journal.record(TURN, turn_key(turn.number, turn.player))
            if now is None or read(now, read_turn).seq != turn.seq:
                return None
            record = await self._journal.record(ENDPOINT, delivery.endpoint)
            endpoint = None if record is None else read(record, read_endpoint)
            if endpoint is None or endpoint.is_gone or endpoint.player != turn.player:
                return None
            if endpoint.kind == "push" and not await self._is_signed_in(endpoint):
                await self._journal.keep(Drop(ENDPOINT, key=endpoint.id))
                return None
        except Damaged:  # logged: the others are told
            return None
        return endpoint

    async def _is_signed_in(self, endpoint: Endpoint) -> bool:
        """Whether the browser of an endpoint is still signed in where it was when it was added."""
        bearer = Bearer(endpoint.player, endpoint.session, endpoint.device)
        try:
            try:
                self._sessions.player(bearer)
            except LookUpFirst as first:
                await first.look_up()
                self._sessions.player(bearer)
        except (Refused, LookUpFirst):
            return False
        return True

    # Delivering.

    async def _try(self, record: Record, delivery: Delivery, endpoint: Endpoint) -> None:
        """Make one try, and keep what came of it."""
        try:
            failure = await self._send(delivery, endpoint)
            changes = after_try(record, delivery, failure)
            if changes:
                await self._change(changes)
            await self.endpoints.note(endpoint, failure)
        except Trouble as error:  # a delivery that was not forgotten is tried again, with the same id
            log.error("delivery_not_noted", endpoint=endpoint.id, error=str(error))
        finally:
            self._slots.give_back(endpoint.player, again=delivery.tries > 1)
            self.look_soon()

    async def _send(self, delivery: Delivery, endpoint: Endpoint) -> Failure | None:
        """Send the message; returns why it did not arrive, if so."""
        date, status = self._clock.date(), None
        try:
            message = await self._message(delivery, endpoint)
            status = await self._outgoing.post(endpoint.url, endpoint.player, message.headers, message.body)
            failure, why = failure_of(endpoint, status, date), None
        except NotReached as error:
            failure, why = Failure(date, "not_reached", NO_ANSWER), str(error)
        except Refused as error:
            failure, why = Failure(date, "bad_address", error.message), error.message
        if failure is not None:
            about = {"status": status} if why is None else {"why": why}
            log.warning("not_delivered", endpoint=endpoint.id, kind=endpoint.kind, **about)
        return failure

    async def _others(self, turn: AwaitedTurn) -> list[Player]:
        """The others in a room, as they are called by now: whoever left the server has no name any more."""
        try:
            found = await self._journal.find(turn.number)
        except Damaged:  # logged
            return []
        seats = () if found is None else found.summary.seats
        return [seat for seat in seats if seat is not None and seat.id != turn.player]

    async def _message(self, delivery: Delivery, endpoint: Endpoint) -> Message:
        turn, date = delivery.turn, self._clock.date()
        game = self._games.get(turn.game)
        title = turn.game if game is None else game.display_name
        what = told(delivery, title, self._site, await self._others(turn))
        if endpoint.kind == "webhook":
            return webhook_message(what, endpoint, date)
        key = await self.endpoints.push_key()
        if key is None:
            raise NotReached("web push needs the extra parlour[push]")
        from parlour.server.parts.notifications.push import encrypt, read_browser  # noqa: PLC0415 - an extra

        browser = read_browser(endpoint.key, endpoint.secret)
        headers = push_headers(what, key.sign(endpoint.url, date, self._site), date)
        return Message(headers, encrypt(msgspec.json.encode(what), browser))

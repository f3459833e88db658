"""Which rooms are in memory: they are loaded when somebody knocks or a timer is due, and rest when idle."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

import structlog
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.journal.base import Damaged, Found, Stored, Trouble
from parlour.room import Room, replay
from parlour.server import metrics
from parlour.server.config import Settings
from parlour.server.lane import Job
from parlour.server.rooms import Live, Owner, excuse, freeze, thaw

log = structlog.get_logger()

HEARTBEAT = 1.0
"""Seconds between notes of the rooms' clock, and so the most that a crash can set it back."""


class Keeper:
    """Loads and stores rooms for their owner, and rings their alarms."""

    def __init__(self, games: Mapping[str, Game[Any]], settings: Settings, owner: Owner) -> None:
        self._games = games
        self._settings = settings
        self._owner = owner
        self._journal = owner.journal
        self._clock = owner.clock
        self._rooms: dict[str, Live] = {}
        self._heart: asyncio.Task[None] | None = None
        self._stopping = False
        self._unreadable: set[str] = set()
        """Rooms that could not be loaded: their timers do not wake them again."""

    async def start(self) -> None:
        """Open the journal, set the clock, and see to the rooms that were in use when it stopped."""
        self._clock.start(await self._journal.open())
        for id in await self._journal.left_connected():
            self.live(id)  # loading tells a room that everybody is disconnected
        await self.beat()
        self._heart = asyncio.get_running_loop().create_task(self._beat_on())

    async def stop(self) -> None:
        """Store every room in memory, then close the journal."""
        self._stopping = True
        if self._heart is not None:
            self._heart.cancel()
            await asyncio.wait([self._heart])
        for live in list(self._rooms.values()):
            await live.lane.drained()
            live.stop_timers()
            if live.room is not None and live.room.ended is None:
                await self._store(live)
        await self.beat()
        await self._journal.close()

    async def beat(self) -> None:
        """Note the time, and wake the rooms whose timers are about to ring."""
        now = self._clock.now()
        try:
            await self._journal.beat(now)
            due = [] if self._stopping else await self._journal.due(now + HEARTBEAT)
        except Trouble as error:
            log.error("not_kept", what="heartbeat", error=str(error))
            return
        for id in due:
            if id not in self._unreadable:
                self.live(id)

    async def _beat_on(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT)
            await self.beat()

    # Rooms by id.

    def live(self, id: str) -> Live:
        """The room in memory, or on its way there: what is put in its lane runs after it was loaded."""
        live = self._rooms.get(id)
        if live is None:
            live = self._rooms[id] = Live(id)
            metrics.rooms_live.set(len(self._rooms))
            live.lane.put(lambda: self._load(live))
        return live

    def peek(self, id: str) -> Live | None:
        """The room, if it is in memory and loaded."""
        live = self._rooms.get(id)
        return live if live is not None and live.room is not None else None

    def may_wake(self, id: str) -> None:
        """The room of this id can be read (again), so its timers may wake it."""
        self._unreadable.discard(id)

    def forget(self, live: Live) -> None:
        """The room is no longer in memory."""
        live.stop_timers()
        if self._rooms.get(live.id) is live:
            del self._rooms[live.id]
        metrics.rooms_live.set(len(self._rooms))

    # Loading and storing. These run in the room's lane.

    async def _load(self, live: Live) -> None:
        try:
            await self._read(live)
        except (Refused, Trouble) as error:
            why = excuse(error)
            if why.code in (Code.UNKNOWN_GAME, Code.ROOM_DAMAGED):
                self._unreadable.add(live.id)
            live.shut(why)
            self.forget(live)
            return
        self.may_wake(live.id)
        await self._owner.settle(live)
        if live.room is not None:
            self.set_alarm(live)
            self.plan_rest(live)

    async def _read(self, live: Live) -> None:
        """Take the room from the journal: the last stored state, and the steps after it."""
        found = await self._journal.find(live.id)
        if found is None:
            raise Refused(Code.UNKNOWN_ROOM, f"there is no room {live.id[:64]}")
        if found.card.ended is not None:
            raise Refused(Code.ROOM_ENDED, f"room {live.id} is over ({found.card.ended})")
        game = self._games.get(found.card.game)
        if game is None:
            raise Refused(Code.UNKNOWN_GAME, f"the game {found.card.game} is not on this server now")
        live.game, live.number, live.card = game, found.number, found.card
        live.created, live.private = found.card.created, found.card.private
        live.room = await self._rebuild(live, found)
        live.answers = await self._journal.answers(found.number)

    async def _rebuild(self, live: Live, found: Found) -> Room[Any]:
        try:
            stored = await self._journal.stored(found.number)
            live.stored = stored.seq
            return await self._replay(live, stored)
        except Damaged as error:
            log.error("room_damaged", room=live.id, error=str(error))
            raise
        except Refused as why:
            log.warning("rules_changed", room=live.id, error=why.message)
            ended = replace(found.card, status="ended", ended="rules_changed", connected=0)
            await self._journal.retire(found.number, ended)
            raise Refused(Code.RULES_CHANGED, "the rules have changed since; the room is closed") from None

    async def _replay(self, live: Live, stored: Stored) -> Room[Any]:
        room = self._owner.ask_game(live.game, live.id, partial(thaw, live.game, stored.state))
        async for step in self._journal.replay(live.number, after=stored.seq):
            if step.before != room.head:
                raise Damaged(f"step {step.seq} does not follow the one before it")
            room = self._owner.ask_game(live.game, live.id, partial(replay, live.game, room, step))
        return room

    async def reload(self, live: Live) -> None:
        """A write failed: what is in memory is thrown away, what was kept is true."""
        seq = live.here.seq
        try:
            await self._read(live)
        except (Refused, Trouble) as error:
            log.error("room_lost", room=live.id, error=str(error))
            self.drop(live)
        else:
            if live.here.seq != seq:  # the step is there after all, or another owner's
                self.drop(live)

    def drop(self, live: Live) -> None:
        """Send everybody away in a way that makes them come back; the room is loaded anew for them."""
        live.shut(Refused(Code.NOT_SAVED, "the room is being loaded again; try again"))
        for place in live.audience:
            live.audience.remove(place.client)
            place.client.line.close(1012, "come again")
        self.forget(live)

    def set_alarm(self, live: Live) -> None:
        """Ring when the room wants to be woken; an alarm that rings too early just sets the next one."""
        due = live.here.next_due
        if live.alarm is not None:
            if due is not None and live.alarm_at <= due:
                return
            live.alarm.cancel()
            live.alarm = None
        if due is not None:
            live.alarm_at = due
            live.alarm = self._clock.call_at(due, lambda: live.lane.put(lambda: self._ring(live)))

    async def _ring(self, live: Live) -> None:
        live.alarm = None
        try:
            while live.room is not None and (command := live.room.due(self._clock.now())) is not None:
                await self._owner.step(live, command)
        except Refused as why:
            self.try_again(live, why, lambda: self._ring(live))
        else:
            if live.room is not None:
                self.set_alarm(live)

    def try_again(self, live: Live, why: Refused, job: Job) -> None:
        """What must happen could not be kept; it is tried until it can."""
        if live.room is None:
            return
        log.error("will_try_again", room=live.id, error=why.message)
        live.retry = self._clock.call_at(self._clock.now() + HEARTBEAT, lambda: live.lane.put(job))

    def plan_rest(self, live: Live) -> None:
        """A room that nobody hears leaves memory after a while."""
        if live.rest is not None:
            live.rest.cancel()
        after = self._settings.rest_after
        live.rest = self._clock.call_at(
            self._clock.now() + after, lambda: live.lane.put(lambda: self._rest(live))
        )

    async def _rest(self, live: Live) -> None:
        if live.room is None or len(live.audience) or live.lane.waiting or self._stopping:
            return
        due = live.room.next_due
        if due is not None and due <= self._clock.now() + 2 * HEARTBEAT:
            self.plan_rest(live)
            return
        await self._store(live)
        if not len(live.audience) and not live.lane.waiting:
            self.forget(live)

    async def _store(self, live: Live) -> None:
        room = live.here
        try:
            await self._journal.rest(live.number, Stored(room.seq, freeze(room)), room.next_due)
        except Trouble as error:  # nothing is lost: the steps are there
            log.error("not_kept", room=live.id, what="state", error=str(error))
        live.stored, live.due = room.seq, room.next_due

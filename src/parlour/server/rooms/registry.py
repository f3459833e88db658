"""Which rooms are in memory: they are loaded when somebody knocks or a timer is due, and rest when idle."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

import structlog
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.journal.base import Damaged, DiskFailed, Recalled, RoomQuery, RoomSummary, Stored, Trouble
from parlour.room import Room, replay
from parlour.server import metrics
from parlour.server.housekeeping import forget_old
from parlour.server.mailbox import Job
from parlour.server.rooms.summary import Live, Opening, Owner, excuse, freeze, patience_of, thaw
from parlour.server.settings import Settings
from parlour.wire import Hold

log = structlog.get_logger()

PRUNE_AT_ONCE = 200
"""Steps, rooms and so on that are forgotten in one write: a long clean-up must not hold up the moves."""
PRUNE_OFTEN = 20
"""Such writes at one heartbeat, while there is more to forget."""
INSPECT_AT_ONCE = 1000
"""Rows that are checked at one heartbeat after a start, until all have been."""
STORE_AT_ONCE = 500
"""Rooms that are stored together at a stop: in few transactions, but not all states in memory at once."""
TO_DO = "what it was is lost; the rest goes on. A backup may have it: see docs/how-to/host-a-server.md#damage"
HEARTBEAT = 1.0
"""Seconds between notes of the rooms' clock, and so the most that a crash can set it back."""


class RoomRegistry:
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
        self.trouble: str | None = None
        """Why the journal could not write the last time it tried."""
        self._inspecting = True
        """Not all that is kept has been checked since the start."""
        self._told = 0
        """How many damages were logged."""
        self._unreadable: set[str] = set()
        """Rooms that could not be loaded: their timers do not wake them again."""

    async def start(self) -> None:
        """Open the journal, set the clock, and see to the rooms that were in use when it stopped."""
        self._clock.start(await self._journal.open())
        await self._hold_missing()
        queries = (RoomQuery(connected=True), RoomQuery(held=True))
        for id in {id for query in queries for id in await self._journal.room_ids(query)}:
            self.live(id)  # loading tells a room that everybody is disconnected, and that its game is back
        await self.beat()
        self._heart = asyncio.get_running_loop().create_task(self._beat_on())

    async def stop(self) -> None:
        """Store every room in memory, then close the journal."""
        self._stopping = True
        if self._heart is not None:
            self._heart.cancel()
            await asyncio.wait([self._heart])
        for live in self.in_memory():
            live.stop_timers()
            await live.mailbox.drained()
        running = [live for live in self.in_memory() if live.room is not None and live.room.ended is None]
        for at in range(0, len(running), STORE_AT_ONCE):
            await asyncio.gather(*map(self._store, running[at : at + STORE_AT_ONCE]))
        await self.beat()
        await self._journal.close()

    async def _hold_missing(self) -> None:
        """The clocks of rooms whose game is not there stand still until it is back."""
        for found in await self._journal.rooms(RoomQuery(other_games=tuple(self._games))):
            if found.summary.held is None:
                log.warning("game_missing", room=found.summary.id, game=found.summary.game)
                held = replace(found.summary, held=self._clock.now())
                await self._journal.update_room(found.number, summary=held, due=None)

    async def beat(self) -> None:
        """Note the time, forget what is old, and wake the rooms whose timers are about to ring."""
        now = self._clock.now()
        try:
            await self._journal.beat(now)
            self.trouble = None
            await self._prune(now - self._settings.keep_ended * 86400)
            await self._inspect()
            soon = RoomQuery(due_by=now + HEARTBEAT)
            due = [] if self._stopping else await self._journal.room_ids(soon)
        except Trouble as error:
            self.note_trouble(error)
            return
        for id in due:
            if id not in self._unreadable:
                self.live(id)

    async def _prune(self, before: float) -> None:
        """Forget what is old: more of it while there is more, with turns for the moves in between."""
        for _ in range(PRUNE_OFTEN):
            if not await forget_old(self._journal, before, self._clock.now(), PRUNE_AT_ONCE):
                return

    async def _inspect(self) -> None:
        """Look for damage that nobody has met yet, and say what was found, here or on any other way."""
        if self._inspecting:
            self._inspecting = await self._journal.inspect(INSPECT_AT_ONCE)
        damages = self._journal.damages()
        for damage in damages[self._told :]:
            metrics.damaged_rows.labels(damage.table).inc()
            log.error("damaged", table=damage.table, row=damage.row, do=TO_DO)
        self._told = len(damages)

    def note_trouble(self, error: Trouble) -> None:
        """The journal could not write: said by the server's health until it can again."""
        self.trouble = str(error)
        log.error("not_kept", error=str(error))
        if isinstance(error, DiskFailed):
            self._owner.give_up(error)

    async def _beat_on(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT)
            await self.beat()

    # Rooms by id.

    def live(self, id: str) -> Live:
        """The room in memory, or on its way there: what is put in its lane runs after it was loaded."""
        live = self._rooms.get(id)
        if live is None:
            load = format(int(self._clock.now() * 1000), "x")
            live = self._rooms[id] = Live(id, load)
            metrics.rooms_live.set(len(self._rooms))
            live.mailbox.put(lambda: self._load(live))
        return live

    def peek(self, id: str) -> Live | None:
        """The room, if it is in memory and loaded."""
        live = self._rooms.get(id)
        return live if live is not None and live.room is not None else None

    def in_memory(self) -> list[Live]:
        """All rooms in memory, or on their way there."""
        return list(self._rooms.values())

    def unstored(self) -> list[str]:
        """The rooms in memory whose state has changed since it was stored."""
        return [
            live.id for live in self.in_memory() if live.room is not None and live.room.seq != live.stored
        ]

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
            if isinstance(error, Damaged):
                log.error("room_damaged", room=live.id, error=str(error))
            if why.code in (Code.UNKNOWN_GAME, Code.ROOM_DAMAGED, Code.GAME_ERROR, Code.GAME_OVERRAN):
                self._unreadable.add(live.id)
            live.shut(why)
            self.forget(live)
            return
        self.may_wake(live.id)
        await self._resume(live)
        await self._owner.settle(live)
        self.set_alarm(live)
        self.plan_rest(live)
        self._owner.notice(live)

    async def _resume(self, live: Live) -> None:
        """The game is back: the room's clock goes on from where it was held."""
        if live.summary is None or live.summary.held is None:
            return
        try:
            await self._owner.step(live, Hold(self._clock.now() - live.summary.held))
        except Refused as why:
            self.try_again(live, why, lambda: self._resume(live))

    async def _read(self, live: Live) -> None:
        """Take the room from the journal: the last stored state, and the steps after it."""
        recalled = await self._journal.recall(live.id)
        if recalled is None:
            raise Refused(Code.UNKNOWN_ROOM, f"there is no room {live.id[:64]}")
        found = recalled.found
        if found.summary.ended is not None:
            raise Refused(Code.ROOM_ENDED, f"room {live.id} is over ({found.summary.ended})")
        game = self._games.get(found.summary.game)
        if game is None:
            raise Refused(Code.UNKNOWN_GAME, f"the game {found.summary.game} is not on this server now")
        live.game, live.number, live.summary = game, found.number, found.summary
        live.opening = Opening.of(found.summary)
        live.answers, live.stored = recalled.answers, recalled.stored.seq
        live.room = await self._rebuild(live, recalled)

    async def _rebuild(self, live: Live, recalled: Recalled) -> Room[Any]:
        try:
            return self._replay(live, recalled)
        except Refused as why:
            if why.code in (Code.GAME_ERROR, Code.GAME_OVERRAN):
                raise  # a bug of today may be mended tomorrow
            log.warning("rules_changed", room=live.id, error=why.message)
            await self.retire(live.number, recalled.found.summary, "rules_changed")
            raise Refused(Code.RULES_CHANGED, "the rules have changed since; the room is closed") from None

    async def retire(self, number: int, summary: RoomSummary, why: str) -> None:
        """End a room that cannot take another step; its history stays."""
        over = replace(summary, status="ended", ended=why, ended_at=self._clock.now(), connected=0, held=None)
        await self._journal.update_room(number, summary=over, due=None)
        self._owner.changed(over)

    def _replay(self, live: Live, recalled: Recalled) -> Room[Any]:
        """Play the steps after the stored state again; the journal has seen that none is forged."""
        room = self._owner.ask_game(live.game, live.id, partial(thaw, live.game, recalled.stored.state))
        patience = patience_of(self._settings)
        for step in recalled.steps:
            if step.before != room.head:
                raise Damaged(f"step {step.seq} does not follow the one before it")
            room = self._owner.ask_game(live.game, live.id, partial(replay, live.game, room, step, patience))
        return room

    async def reload(self, live: Live) -> bool:
        """A write failed: what was kept is true, not what is in memory; False if that is something new."""
        seq = live.here.seq
        try:
            await self._read(live)
        except (Refused, Trouble) as error:
            log.error("room_lost", room=live.id, error=str(error))
        else:
            if live.here.seq == seq:
                return True
            # The step is there after all, or another owner's.
        self.drop(live)
        return False

    def drop(self, live: Live) -> None:
        """Send everybody away in a way that makes them come back; the room is loaded anew for them."""
        live.shut(Refused(Code.NOT_SAVED, "the room is being loaded again; try again"))
        for place in live.audience:
            live.audience.remove(place.client)
            place.client.line.close(1012, "come again")
        self.forget(live)

    def set_alarm(self, live: Live) -> None:
        """Ring when the room wants to be woken; an alarm that rings too early just sets the next one."""
        due = None if live.room is None or self._stopping else live.room.next_due
        if live.alarm is not None:
            if due is not None and live.alarm_at <= due:
                return
            live.alarm.cancel()
            live.alarm = None
        if due is not None:
            live.alarm_at = due
            live.alarm = self._clock.call_at(due, lambda: live.mailbox.put(lambda: self._ring(live)))

    async def _ring(self, live: Live) -> None:
        """One command at a time: those who wait come before the next one that is due."""
        live.alarm = None
        command = None if live.room is None else live.room.due(self._clock.now())
        try:
            if command is not None:
                await self._owner.step(live, command)
        except Refused as why:
            self.try_again(live, why, lambda: self._ring(live))
        else:
            self.set_alarm(live)

    def try_again(self, live: Live, why: Refused, job: Job) -> None:
        """What must happen could not be kept; it is tried until it can."""
        if live.room is None or self._stopping:
            return
        if why.code == Code.GAME_OVERRAN:
            live.mailbox.put(lambda: self._owner.condemn(live, why))
            return
        log.error("will_try_again", room=live.id, error=why.message)
        self._clock.call_at(self._clock.now() + HEARTBEAT, lambda: live.mailbox.put(job))

    def plan_rest(self, live: Live) -> None:
        """A room that nobody hears leaves memory after a while."""
        if live.rest is not None:
            live.rest.cancel()
        after = self._settings.rest_after
        live.rest = self._clock.call_at(
            self._clock.now() + after, lambda: live.mailbox.put(lambda: self._rest(live))
        )

    async def _rest(self, live: Live) -> None:
        if live.room is None or len(live.audience) or self._stopping:
            return
        due = live.room.next_due
        soon = due is not None and due <= self._clock.now() + 2 * HEARTBEAT
        if not soon and not live.mailbox.waiting:
            await self._store(live)
            if not live.mailbox.waiting:
                live.shut(Refused(Code.NOT_SAVED, "the room has just gone to rest; try again"))
                self.forget(live)
                return
        self.plan_rest(live)

    async def _store(self, live: Live) -> None:
        room = live.here
        try:
            frozen = self._owner.ask_game(live.game, live.id, partial(freeze, room))
            stored = Stored(room.seq, frozen)
            await self._journal.update_room(live.number, stored=stored, due=room.next_due)
        except (Refused, Trouble) as error:  # nothing is lost: the steps are there
            log.error("not_kept", room=live.id, what="state", error=str(error))
        live.stored, live.due = room.seq, room.next_due

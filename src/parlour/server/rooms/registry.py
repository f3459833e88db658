"""All rooms in memory: they wake when somebody asks or a timer is due, and rest when idle."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import structlog
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.journal.base import Damaged, Found, RoomQuery, Trouble
from parlour.journal.shards import room_key, shard_of
from parlour.server import metrics
from parlour.server.border import Ask, EnterRoom, LeaveRoom, Moved, Rejected, Resync
from parlour.server.housekeeping import delete_old
from parlour.server.refusals import excuse
from parlour.server.rooms.actor import RoomActor
from parlour.server.rooms.calling import carry_out
from parlour.server.rooms.calls import RoomCall
from parlour.server.rooms.creation import RoomCreation
from parlour.server.rooms.environment import Environment
from parlour.server.rooms.events import RoomEvent, RoomOpened
from parlour.server.rooms.summary import PublicRoom, RoomInMemory, public_room
from parlour.server.rooms.waking import hold_room

log = structlog.get_logger()

PRUNE_AT_ONCE = 200
"""Steps, rooms and so on that one write deletes: a long clean-up must not delay the moves."""
PRUNE_OFTEN = 20
"""Such writes at one heartbeat, while there is more to delete."""
INSPECT_AT_ONCE = 1000
"""Rows that one heartbeat checks after a start, until all are checked."""
STORE_AT_ONCE = 500
"""Rooms that are stored together at a stop: in few transactions, but not all states in memory at once."""
TO_DO = "what it was is lost; the rest goes on. A backup may have it: docs/how-to/host-a-server.md, Damaged"
HEARTBEAT = 1.0
"""Seconds between two notes of the rooms' clock, and so the most that a crash can set it back."""
UNREADABLE = (Code.UNKNOWN_GAME, Code.ROOM_DAMAGED, Code.GAME_ERROR, Code.GAME_OVERRAN)
"""Errors by which a room cannot be loaded, and that a second try would not fix."""


class RoomRegistry:
    """All rooms of a process, by id."""

    def __init__(self, environment: Environment) -> None:
        self._env = environment
        self._journal = environment.journal
        self._clock = environment.clock
        self.creation = RoomCreation(environment)
        environment.listeners += [self.creation.hear, self._hear]
        self._rooms: dict[str, RoomActor] = {}
        self._heart: asyncio.Task[None] | None = None
        self.stopping = False
        self._inspecting = True
        """True until all kept rows have been checked since the start."""
        self._told = 0
        """How many damages have been logged."""
        self._taken: dict[int, float] = {}
        """Shards that were just taken over, and how long nobody had them."""
        self._gaps: dict[int, list[tuple[float, float]]] = {}
        """When shards of ours were taken over, and how long nobody had had them."""
        self.watching_elsewhere: Callable[[str], int] = lambda _: 0
        """Gives how many watch a room that another worker owns."""
        self._unreadable: set[str] = set()
        """Rooms that could not be loaded: their timers do not wake them again."""

    async def start(self) -> None:
        """Open the journal, set the clock, and wake the rooms that were in use when the server stopped.

        One of many workers owns no room yet: it wakes those of a shard when it takes the shard.
        """
        self._clock.start(await self._journal.open())
        if not self._env.ownership.is_shared:
            await self._wake_used(None)  # waking disconnects everybody, and goes on with a game that is back
        await self.beat()
        self._heart = asyncio.get_running_loop().create_task(self._beat_on())
        await self.creation.start()

    async def stop(self) -> None:
        """Store every room in memory, then close the journal; no room ends by this."""
        self.stopping = True
        if self._heart is not None:
            self._heart.cancel()
            await asyncio.wait([self._heart])
        for room in self.in_memory():
            room.stop_timers()
            await room.mailbox.drained()
        running = self.in_memory()
        for at in range(0, len(running), STORE_AT_ONCE):
            await asyncio.gather(*(room.store() for room in running[at : at + STORE_AT_ONCE]))
        if not self._env.ownership.is_shared:  # one of many workers is gone by now, and its rooms with it
            await self.beat()
        await self._journal.close()

    # Requests to rooms.

    def ask(self, ask: Ask) -> None:
        """Pass a gateway's request to its room."""
        room = self._rooms.get(ask.room)
        if room is None and not self._env.ownership.owns(ask.room):
            if not isinstance(ask, LeaveRoom | Resync):
                self._env.tell(Moved(ask.room, ask.number))
            return
        (room or self.get(ask.room)).post(ask)

    async def call(self, room: str, call: RoomCall) -> Any:
        """Have a room carry out a call in its turn, and return the result."""
        if not self._env.ownership.owns(room):
            raise Refused(Code.NOT_SAVED, "another worker owns this room; try again")
        return await self.get(room).in_turn(lambda actor: carry_out(actor, call))

    async def look(self, id: str) -> PublicRoom:
        """A room as anybody may see it, without waking it."""
        return self.describe(await self.find(id))

    async def find(
        self, id: str, player: str | None = None, address: str | None = None, *, any_case: bool = False
    ) -> Found:
        """The room of this id, for somebody who has not guessed too often."""
        found = await self._journal.find(id)
        alike = RoomQuery(id_in_any_case=id, limit=2)
        if found is None and any_case and len(ids := await self._journal.room_ids(alike)) == 1:
            found = await self._journal.find(ids[0])
        if found is None:
            raise self._env.guesses.missed(id, address)
        self._env.guesses.check(found.summary, player, address)
        return found

    def describe(self, found: Found) -> PublicRoom:
        """A room that the journal found, as anybody may see it."""
        room, summary = self.peek(found.summary.id), found.summary
        watching = 0
        if room is not None and room.number == found.number:
            watching = room.spectators
        elif room is None and summary.ended is None:
            watching = self.watching_elsewhere(summary.id)
        if summary.ended is None and summary.game not in self._env.games:
            summary = replace(summary, status="game_missing")
        return public_room(summary, seq=found.seq, spectators=watching)

    async def open_for(self, ask: EnterRoom) -> None:
        """Open the room that a door's client asks for, and let the client in."""
        assert ask.door is not None  # noqa: S101 - only doors open rooms
        try:
            await self.creation.create(
                ask.door.game, ask.door.config, ask.room, creator=ask.player, address=ask.address
            )
        except Refused as why:
            if why.code != Code.NAME_TAKEN:  # else somebody was faster, and the room is there all the same
                self._env.tell(Rejected.by(ask.number, why))
                return
        self.ask(replace(ask, door=replace(ask.door, opens=False)))

    def use_rules(self, game: Game[Any], failed: Any) -> None:
        """Move all rooms of a game to new rules; *failed* is called for rooms that these cannot show."""
        for room in self.in_memory():

            async def use(room: RoomActor = room) -> None:
                try:
                    await room.use_rules(game)
                except Refused as why:
                    failed(why)

            room.mailbox.put(use)

    def show_anew(self, game: str) -> None:
        """Send everybody in a game's rooms the whole view once more."""
        for room in self.in_memory():
            room.mailbox.put(lambda room=room: room.show_anew() if room.plays(game) else None)  # type: ignore[misc]

    def see_anew(self, game: str) -> None:
        """Send everybody in a game's rooms what is to be seen now, made once more."""
        for room in self.in_memory():
            room.mailbox.put(lambda room=room: room.see_anew() if room.plays(game) else None)  # type: ignore[misc]

    # Rooms that other workers own, or owned.

    def take(self, shards: set[int], gap: float) -> Coroutine[Any, Any, None]:
        """Wake the rooms of shards that are ours from now on, as far as they are in use.

        *gap* is how long nobody owned them. A room that is asked for before it is woken counts it, too.
        """
        self._taken |= dict.fromkeys(shards, gap)
        for shard in shards if gap > 0 else ():
            self._gaps.setdefault(shard, []).append((self._clock.now(), gap))
        return self._wake_used(shards)

    def gap_since(self, id: str, last: float | None) -> float:
        """For how long nobody had owned a room when we took it over, if that was after its last step."""
        gaps = self._gaps.get(shard_of(room_key(id)), ()) if self._gaps and last is not None else ()
        return sum(seconds for taken, seconds in gaps if last is not None and taken > last)

    async def _wake_used(self, shards: set[int] | None) -> None:
        """Wake the rooms of these shards that were in use; None is all."""
        wanted = RoomQuery(shards=None if shards is None else tuple(sorted(shards)))
        await self._hold_missing(wanted)
        queries = (replace(wanted, connected=True), replace(wanted, held=True))
        for id in {id for query in queries for id in await self._journal.room_ids(query)}:
            self.get(id)
        for shard in shards or ():
            self._taken.pop(shard, None)

    async def hand_over(self, shard: int) -> None:
        """Store the rooms of a shard, and forget them: another worker owns them from then on."""
        rooms = [room for room in self.in_memory() if shard_of(room_key(room.id)) == shard]
        for room in rooms:
            room.mailbox.put(room.hand_over)
        for room in rooms:
            await room.mailbox.drained()
        left = [room.id for room in rooms if room.is_here]
        self._gaps.pop(shard, None)
        if left:
            raise Trouble(f"{len(left)} rooms could not be handed over, {left[0]} among them")

    def leave_gateway(self, gateway: int) -> None:
        """Remove the clients of a gateway that is gone from all rooms."""
        for room in self.in_memory():
            room.mailbox.put(partial(room.remove_gateway, gateway))

    def expect_again(self, gateway: int, seconds: float) -> None:
        """Messages of a gateway were lost: remove its clients that do not ask for their places again."""
        there = [(room, room.clients_of(gateway)) for room in self.in_memory()]

        def remove() -> None:
            for room, places in there:
                room.remove_clients(places)

        self._clock.call_at(self._clock.now() + seconds, remove)

    # Rooms by id.

    def get(self, id: str) -> RoomActor:
        """The room, loaded or being loaded: jobs in its mailbox run once it is awake."""
        room = self._rooms.get(id)
        if room is None:
            load = format(int(self._clock.now() * 1000), "x")
            room = self._rooms[id] = RoomActor(id, load, self._env, self)
            metrics.rooms_live.set(len(self._rooms))
            room.begin(self._taken.get(shard_of(room_key(id))) if self._taken else None)
        return room

    def peek(self, id: str) -> RoomActor | None:
        """The room, if it is in memory and awake."""
        room = self._rooms.get(id)
        return room if room is not None and room.is_here else None

    def has(self, id: str, load: str) -> bool:
        """True if the room is awake, and has been since it was given this load."""
        room = self.peek(id)
        return room is not None and room.load == load

    def in_memory(self) -> list[RoomActor]:
        """All rooms in memory, including those being loaded."""
        return list(self._rooms.values())

    def overview(self) -> list[RoomInMemory]:
        """All awake rooms, for the list of rooms."""
        awake = ((room, room.found) for room in self._rooms.values())
        return [RoomInMemory(found, room.is_attended) for room, found in awake if found is not None]

    def unstored(self) -> list[str]:
        """The rooms in memory whose state has changed since it was stored."""
        return [room.id for room in self.in_memory() if not room.is_stored]

    def forget(self, room: RoomActor) -> None:
        """Remove a room that has left memory."""
        if self._rooms.get(room.id) is room:
            del self._rooms[room.id]
        metrics.rooms_live.set(len(self._rooms))

    def note_unreadable(self, id: str, why: Refused | Trouble) -> None:
        """Note a room that could not be loaded: its timers do not wake it again."""
        if isinstance(why, Damaged):
            log.error("room_damaged", room=id, error=str(why))
        if excuse(why).code in UNREADABLE:
            self._unreadable.add(id)

    def note_readable(self, id: str) -> None:
        """Note that a room can be loaded (again), so that its timers may wake it."""
        self._unreadable.discard(id)

    def _hear(self, event: RoomEvent) -> None:
        if isinstance(event, RoomOpened):
            summary = event.found.summary
            self.note_readable(summary.id)
            has_bots = any(seat is not None and seat.bot for seat in summary.seats)
            if has_bots and self._env.ownership.owns(summary.id):
                self.get(summary.id)  # its bots may have to move

    # Time.

    async def _hold_missing(self, wanted: RoomQuery) -> None:
        """Stop the clocks of rooms whose game is not on this server, until it is back."""
        for found in await self._journal.rooms(replace(wanted, other_games=tuple(self._env.games))):
            await hold_room(self._env, found)

    async def beat(self) -> None:
        """Note the time, delete what is old, and wake the rooms whose timers are about to ring."""
        now = self._clock.now()
        try:
            await self._journal.beat(now)
            self._env.trouble = None
            if self._env.ownership.does_chores():
                await self._prune(now - self._env.settings.keep_ended * 86400)
                await self._inspect()
            soon = RoomQuery(due_by=now + HEARTBEAT, shards=self._env.ownership.shards())
            due = [] if self.stopping else await self._journal.room_ids(soon)
        except Trouble as error:
            self._env.note_trouble(error)
            return
        for id in due:
            if id not in self._unreadable:
                self.get(id)

    async def _prune(self, before: float) -> None:
        """Delete what is old, in several writes if there is much, with turns for the moves in between."""
        for _ in range(PRUNE_OFTEN):
            if not await delete_old(self._journal, before, self._clock.now(), PRUNE_AT_ONCE):
                return

    async def _inspect(self) -> None:
        """Search for damage that no read has met yet, and log all damage found so far."""
        if self._inspecting:
            self._inspecting = await self._journal.inspect(INSPECT_AT_ONCE)
        damages = self._journal.damages()
        for damage in damages[self._told :]:
            metrics.damaged_rows.labels(damage.table).inc()
            log.error("damaged", table=damage.table, row=damage.row, do=TO_DO)
        self._told = len(damages)

    async def _beat_on(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT)
            await self.beat()

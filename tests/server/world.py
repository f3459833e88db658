"""A whole server without sockets: real components, journal and adapters; tests turn its clock."""

import asyncio
import heapq
import itertools
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from parlour.doors.ogetarts import WithOgetarts
from parlour.game import Game
from parlour.games import GAMES
from parlour.journal.base import Damaged, Journal, Player
from parlour.journal.memory import MemoryJournal
from parlour.server.border import Ask, Told
from parlour.server.bots.worker import Asked, Question, think
from parlour.server.components import Components, LocalBorder, Replaceable
from parlour.server.gateway.outboxes import Write, WriteGroup
from parlour.server.mailbox import Mailbox
from parlour.server.outgoing import Outgoing
from parlour.server.rooms.calls import Perform, SeatBot, Seated
from parlour.server.sessions import player_record
from parlour.server.settings import Settings
from parlour.wire import Adapter, Command
from tests.probe import Probe

NEW_YEAR = 1735689600.0

HOLD = 0.01
"""Seconds that a write group waits for more frames."""

PLAYABLE: Mapping[str, Game[Any]] = {**GAMES, "probe": Probe()}
"""The games that come with Parlour, and one that does what a test asks."""


class Planned:
    """A callback of the hand-turned clock."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None


class HandClock:
    """A clock that is turned by hand."""

    def __init__(self) -> None:
        self.time = 0.0
        self._plans: list[tuple[float, int, Planned]] = []
        self._count = itertools.count()

    def start(self, at: float) -> None:
        self.time = at

    def now(self) -> float:
        return self.time

    def date(self) -> float:
        return NEW_YEAR + self.time

    def call_at(self, when: float, callback: Callable[[], None]) -> Planned:
        planned = Planned(callback)
        heapq.heappush(self._plans, (when, next(self._count), planned))
        return planned

    def turn_to_next(self, until: float) -> bool:
        """Go to the next planned moment before *until* and do what was planned; False when there is none."""
        while self._plans and self._plans[0][0] <= until:
            when, _, planned = heapq.heappop(self._plans)
            if planned.callback is not None:
                self.time = max(self.time, when)
                planned.callback()
                return True
        self.time = until
        return False


class Person:
    """Somebody with a connection; what they hear is kept, frame by frame."""

    def __init__(self, world: "World", player: str, adapter: Adapter) -> None:
        self.world = world
        self.player = player
        self.frames: list[Any] = []
        self.closed: tuple[int, str] | None = None
        self.clogged = False
        self.write_groups: tuple[WriteGroup, ...] = ()
        self.address: str | None = "203.0.113.1"
        self.lag = 0.0
        self.is_measured = False
        self.client = world.server.gateway.connect(adapter, self, player)
        self._refs = itertools.count(1)
        self._join_refs: dict[str, str] = {}

    # An outbox, as the gateway sees it.

    def write(self, frames: bytes, *, more: bool = False) -> None:
        for group in self.write_groups:
            group.pop()
            group.take_care()
        self.write_now(frames)

    def write_now(self, frames: bytes) -> None:
        while frames:
            size, start = frames[1], 2
            if size == 126:
                size, start = int.from_bytes(frames[2:4], "big"), 4
            elif size == 127:
                size, start = int.from_bytes(frames[2:10], "big"), 10
            text, frames = frames[start : start + size], frames[start + size :]
            self.frames.append(msgspec.json.decode(text))
            self.world.log.append((self.player, "<", text.decode()))

    def measure_lag(self) -> None:
        self.is_measured = True

    @property
    def direct(self) -> Write | None:
        return None if self.clogged else self.write_now

    def hold(self, due: Callable[[], None]) -> None:
        self.world.clock.call_at(self.world.clock.now() + HOLD, due)

    def close(self, code: int, reason: str) -> None:
        self.closed = (code, reason)

    def stop_reading(self) -> None:
        """Whatever is written now stays on the way."""
        self.clogged = True
        for group in self.write_groups:
            group.disband()

    async def read_again(self) -> None:
        """Everything on the way has come, and there is room for more."""
        if self.clogged:
            self.clogged = False
            self.world.server.gateway.catch_up(self.client)
            await self.world.quiet()

    # What a client program does.

    async def send(self, frame: Any) -> None:
        """Send a frame as it is, and wait until the server is quiet."""
        text = frame if isinstance(frame, str | bytes) else msgspec.json.encode(frame).decode()
        self.send_soon(text)
        await self.world.quiet()

    def send_soon(self, text: str | bytes) -> None:
        """Send a frame and do not wait."""
        requests = self.client.adapter.receive(text)
        self.client.flush()
        for request in requests:
            gateway = self.world.server.gateway
            asker = self.client if request.via is None else gateway.guest(self.client, request.via)
            gateway.receive(asker, request)

    async def push(self, room: str, event: str, payload: Any) -> Any:
        """Push to a room's topic; the reply's (status, response)."""
        ref = str(next(self._refs))
        topic = f"game:{room}"
        if event == "phx_join":
            self._join_refs[topic] = ref
        await self.send([self._join_refs.get(topic), ref, topic, event, payload])
        reply = next(f for f in reversed(self.frames) if f[1] == ref and f[3] == "phx_reply")
        return reply[4]["status"], reply[4]["response"]

    async def join(self, room: str, **payload: Any) -> Any:
        return await self.push(room, "phx_join", payload)

    async def play(self, room: str, event: Any, id: str | None = None) -> Any:
        payload = {"event": event} if id is None else {"event": event, "id": id}
        return await self.push(room, "game_event", payload)

    async def drop(self) -> None:
        """Lose the connection."""
        self.world.server.gateway.lose(self.client)
        await self.world.quiet()

    def heard(self, *names: str) -> list[Any]:
        """The (name, payload) of pushes with these names, in order."""
        return [(f[3], f[4]) for f in self.frames if f[3] in names]

    def forget(self) -> None:
        """Listen anew from here."""
        self.frames.clear()


class InPlace:
    """Bots think right here, and always alike."""

    async def ask(self, question: Question) -> msgspec.Raw | None:
        event = think(Asked(question, bytes(32)))
        return None if event is None else msgspec.Raw(msgspec.json.encode(event))

    async def stop(self) -> None:
        pass


ENCODES = os.environ.get("PARLOUR_TEST_BUS") == "encoding"
"""Everything that crosses the border is encoded and decoded, as it would be between two processes."""


class EncodingBus(LocalBorder):
    """The border as between two processes: whatever crosses it is encoded and decoded."""

    def __init__(self) -> None:
        self._encode = msgspec.json.Encoder().encode
        self._read_ask = msgspec.json.Decoder(Ask).decode
        self._read_told = msgspec.json.Decoder(Told).decode

    def ask(self, take: Callable[[Ask], None], ask: Ask) -> None:
        take(self._read_ask(self._encode(ask)))

    def tell(self, hear: Callable[[Told], None], told: Told) -> None:
        hear(self._read_told(self._encode(told)))


class World:
    """A server for tests."""

    def __init__(
        self,
        games: Mapping[str, Game[Any]] = GAMES,
        journal: Journal | None = None,
        clock: HandClock | None = None,
        outgoing: Outgoing | None = None,
        **settings: Any,
    ) -> None:
        self.clock = clock or HandClock()
        self.journal = journal or MemoryJournal(Path("unused"), "process")
        self.games = games
        self._given, self._outgoing = settings, outgoing
        self.settings = Settings(**{"bot_pace": 0.0, **settings})
        self.log: list[tuple[str, str, str]] = []
        self.dead = False
        seeds = (bytes([i % 256]) * 32 for i in itertools.count(1))
        bus = EncodingBus() if ENCODES else LocalBorder()
        replaced = Replaceable(lambda: next(seeds), InPlace(), bus, outgoing)
        self.server = Components(games, self.journal, self.clock, self.settings, replaced)

    async def __aenter__(self) -> "World":
        await self.server.start()
        await self.quiet()
        return self

    async def __aexit__(self, *_: object) -> None:
        if not self.dead:
            await self.server.stop()

    async def restart(self, games: Mapping[str, Game[Any]] | None = None) -> "World":
        """Another server process on the same journal, after this one was killed."""
        assert self.server.rooms._heart is not None
        self.server.rooms._heart.cancel()
        self.dead = True
        again = World(games or self.games, self.journal, HandClock(), self._outgoing, **self._given)
        await again.__aenter__()
        return again

    async def open(self, game: str, id: str = "ABCD", config: Any = None, **more: Any) -> None:
        await self.server.rooms.creation.create(game, config, id, **more)

    async def seat_bot(self, room: str, bot: str | None = None, by: str | None = None) -> Seated:
        seated: Seated = await self.server.rooms.call(room, SeatBot(bot, by))
        return seated

    async def ask(self, room: str, command: Command, id: str | None = None) -> int:
        """Have a room carry out a command for a player without a connection; returns the seq."""
        seq: int = await self.server.rooms.call(room, Perform(command, id))
        return seq

    async def person(self, player: str) -> Person:
        """Somebody with a name, newly connected."""
        known = None
        with suppress(Damaged):
            known = await self.journal.record("player", player)
        if known is None:
            await self.journal.keep(player_record(Player(player, player.capitalize()), self.clock.now()))
        return Person(self, player, WithOgetarts())

    async def seated(self, room: str, *players: str) -> list[Person]:
        """These people, at the room's seats."""
        people = [await self.person(player) for player in players]
        for person in people:
            status, response = await person.join(room)
            assert status == "ok", response
        return people

    async def quiet(self) -> None:
        """Wait until nothing is going on."""
        while self.busy_mailboxes or self.server.bots.thinking or self.server.pairing.tasks:
            await asyncio.sleep(0)  # what is done already does not let others go first
            for task in tuple(self.server.pairing.tasks):
                await task
            for mailbox in self.busy_mailboxes:
                await mailbox.drained()
            for turn in self.server.bots.thinking:
                await asyncio.wait([turn])

    @property
    def busy_mailboxes(self) -> list[Mailbox]:
        """The mailboxes with a job that runs or waits."""
        rooms = [room.mailbox for room in self.server.rooms._rooms.values()]
        parts = (
            self.server.pairing,
            self.server.ratings,
            self.server.notifications,
            self.server.name_changes,
        )
        return [mailbox for mailbox in (*rooms, *(part.mailbox for part in parts)) if mailbox.busy]

    @asynccontextmanager
    async def at_once(self, room: str = "ABCD") -> AsyncIterator[None]:
        """Whatever is asked of the room in here waits, as behind a slow write, and is done afterwards."""
        done = asyncio.get_running_loop().create_future()

        async def be_busy() -> None:
            await done

        self.server.rooms.get(room).mailbox.put(be_busy)
        yield
        done.set_result(None)
        await self.quiet()

    async def wait(self, seconds: float) -> None:
        """Let time pass, with everything that is planned for it."""
        until = self.clock.now() + seconds
        await self._turn_to(until)
        await self.server.rooms.beat()  # wakes those who rest
        await self.quiet()
        await self._turn_to(until)

    async def _turn_to(self, until: float) -> None:
        while self.clock.turn_to_next(until):
            await self.quiet()

    def room(self, id: str = "ABCD") -> Any:
        """The room in memory."""
        room = self.server.rooms.peek(id)
        assert room is not None
        return room.here


def seqs(person: Person) -> list[int]:
    """The numbers of the steps that somebody was told, in order."""
    return [payload["seq"] for _, payload in person.heard("update", "sync")]

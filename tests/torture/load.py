"""A crowd of visitors around one server, and what is done to the server while they play."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import httpx

from parlour.journal.postgresql import PostgresJournal
from tests.e2e.servers import Guest, Server, guest_of
from tests.postgres import Postgres
from tests.torture.checker import Verdict, check, check_journal
from tests.torture.diary import Diary
from tests.torture.habits import Habits
from tests.torture.visitors import Table, Visitor, World

PATIENCE = 60.0
"""Seconds in which everybody must be back and have their answers."""


def new_server(data: Path, *options: str, kind: str = "mortal") -> Server:
    """A server that has not been started, with one of the writers that fail as told."""
    return Server(data, *options, module=("tests.torture.launcher", kind))


def open_rooms(server: Server, count: int) -> list[str]:
    """New rooms for noughts and crosses."""
    rooms = [f"room-{number}" for number in range(count)]
    with httpx.Client(base_url=f"http://{server.address}", trust_env=False, timeout=20) as http:
        for room in rooms:
            http.post("/api/rooms", json={"game": "tictactoe", "id": room}).raise_for_status()
    return rooms


def invite(server: Server, count: int) -> list[Guest]:
    """New players."""
    guests = []
    with httpx.Client(base_url=f"http://{server.address}", trust_env=False, timeout=20) as http:
        for number in range(count):
            answer = http.post("/api/players", json={"name": f"P{number}"}).raise_for_status()
            http.cookies.clear()  # or the next one would be the same player
            guests.append(guest_of(answer.json()))
    return guests


class Keeping:
    """Where a server keeps everything: a file in its data folder, or a PostgreSQL of its own."""

    def __init__(self, journal: str, data: Path) -> None:
        self._data = data
        self.postgres = Postgres() if journal == "postgresql" else None
        if self.postgres is not None:
            self.postgres.start()

    @property
    def options(self) -> tuple[str, ...]:
        """What the server has to be told of it."""
        return () if self.postgres is None else ("--journal", self.postgres.url)

    async def check(self, diaries: Sequence[Diary]) -> Verdict:
        """Judge what was told by what is kept."""
        if self.postgres is None:
            return check(self._data / "parlour.db", diaries)
        return await check_journal(PostgresJournal(self.postgres.url, "disk"), diaries)

    def end(self) -> None:
        if self.postgres is not None:
            self.postgres.stop()


class Crowd:
    """Visitors in pairs: each pair shares some rooms, and every tenth pair has somebody who watches."""

    def __init__(self, server: Server, habits: Habits, seed: int) -> None:
        self.server = server
        self.habits = habits
        self.chance = Random(seed)
        self.world = World()
        self.visitors: list[Visitor] = []

    def gather(self, rooms: int, each: int) -> None:
        """Bring everybody to the running server; *each* visitor plays in so many rooms."""
        ids = open_rooms(self.server, rooms)
        shared = [ids[start : start + each] for start in range(0, rooms, each)]
        guests = iter(invite(self.server, 3 * len(shared)))
        for number, group in enumerate(shared):
            self._invite(next(guests), group)
            self._invite(next(guests), group)
            if number % 10 == 0:
                self._invite(next(guests), group[:1], spectate=True)

    def _invite(self, guest: Guest, rooms: Sequence[str], *, spectate: bool = False) -> None:
        tables = [Table(guest.id, room, spectate=spectate) for room in rooms]
        chance = Random(self.chance.random())
        self.visitors.append(Visitor(self.world, guest.token, tables, self.habits, chance))

    @property
    def diaries(self) -> list[Diary]:
        return [table.diary for visitor in self.visitors for table in visitor.tables.values()]

    @asynccontextmanager
    async def playing(self) -> AsyncIterator[None]:
        """While this lasts everybody plays; at the end they finish what they began, and go."""
        self.open()
        tasks = [asyncio.create_task(visitor.live()) for visitor in self.visitors]
        try:
            yield
            self.world.closing = True
            await self.all_rested()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def open(self) -> None:
        """The server is there."""
        self.world.port = self.server.port
        self.world.up.set()

    async def start_server(self) -> None:
        await asyncio.to_thread(self.server.start)
        self.open()

    def forget_where_they_were(self) -> None:
        """The server is gone, although not everybody has noticed yet."""
        for visitor in self.visitors:
            visitor.synced.clear()

    async def all_synced(self) -> None:
        """Wait until everybody is in all their rooms."""
        async with asyncio.timeout(PATIENCE):
            for visitor in self.visitors:
                await visitor.synced.wait()

    async def all_rested(self) -> None:
        """Wait until nobody waits for an answer any more."""
        try:
            async with asyncio.timeout(PATIENCE):
                for visitor in self.visitors:
                    await visitor.rested.wait()
        except TimeoutError:
            restless = [visitor for visitor in self.visitors if not visitor.rested.is_set()]
            tables = [str(table) for visitor in restless for table in visitor.tables.values()]
            raise AssertionError("these had no answer:\n" + "\n".join(tables)) from None

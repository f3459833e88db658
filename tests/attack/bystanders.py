"""People who play while somebody attacks: how long they wait for answers, and whether all of it was kept."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from parlour.server.settings import Settings
from tests.e2e.servers import UNLIMITED, Server
from tests.torture.checker import Verdict, check
from tests.torture.diary import Answered, Asked, Cut, Diary, Entry
from tests.torture.habits import Habits
from tests.torture.load import Crowd

LIMITED = {name: str(getattr(Settings(), name.removeprefix("PARLOUR_").lower())) for name in UNLIMITED}
"""The limits that a server has unless told otherwise."""
CALM = Habits(pace=0.06, cuts=0.0, repeats=0.02, forgets=0.0)
ROOMS = 4


class TimedDiary(Diary):
    """A diary that also knows how long each answer took."""

    def __init__(self, diary: Diary) -> None:
        super().__init__(diary.player, diary.room, diary.entries)
        self.waits: list[tuple[float, float]] = []
        """When something was answered, and how many seconds after it was asked."""
        self._asked: dict[str, float] = {}

    def note(self, entry: Entry) -> None:
        super().note(entry)
        now = time.monotonic()
        match entry:
            case Asked(id=id):
                self._asked.setdefault(id, now)
            case Answered(id=id) if id in self._asked:
                self.waits.append((now, now - self._asked.pop(id)))
            case _:
                pass


class Bystanders:
    """Eight players in four rooms of one server, who keep timed diaries."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._crowd = Crowd(server, CALM, seed=1)
        self._diaries: list[TimedDiary] = []
        self._players: list[TimedDiary] = []
        """The diaries of those who ask for something."""

    @asynccontextmanager
    async def playing(self) -> AsyncIterator[None]:
        """While this lasts they play."""
        await asyncio.to_thread(self._crowd.gather, ROOMS, 1)
        for visitor in self._crowd.visitors:
            for table in visitor.tables.values():
                table.diary = diary = TimedDiary(table.diary)
                self._diaries.append(diary)
                if not table.spectate:
                    self._players.append(diary)
        async with self._crowd.playing():
            await self._crowd.all_synced()
            yield

    async def after_restart(self) -> None:
        """The server was started again; wait until everybody is back."""
        self._crowd.open()
        await self._crowd.all_synced()

    def before_stop(self) -> None:
        """The server is about to be gone."""
        self._crowd.world.up.clear()
        self._crowd.forget_where_they_were()

    async def all_answered(self) -> None:
        """Wait until everybody has had an answer to something that is asked from now on."""
        before = [len(diary.waits) for diary in self._players]
        async with asyncio.timeout(30):
            for diary, count in zip(self._players, before, strict=True):
                while len(diary.waits) <= count:  # noqa: ASYNC110 - a diary tells nobody that it is written to
                    await asyncio.sleep(0.05)

    @property
    def lines_lost(self) -> int:
        """How often somebody's connection has ended."""
        return sum(1 for diary in self._diaries for _ in diary.all(Cut))

    def waits(self, since: float, until: float) -> list[float]:
        """How long the answers of this time took, in seconds, the longest last."""
        return sorted(took for diary in self._diaries for when, took in diary.waits if since <= when <= until)

    def verdict(self) -> Verdict:
        """What they were promised, against what was kept."""
        return check(self.server.data / "parlour.db", self._diaries, "room-")


class Weight(msgspec.Struct, frozen=True):
    """What a server holds, in bytes."""

    memory: int
    disk: int

    @classmethod
    def of(cls, server: Server) -> "Weight":
        pages = int(Path(f"/proc/{server.pid}/statm").read_text(encoding="ascii").split()[1])
        files = [path for path in server.data.rglob("*") if path.is_file()]
        return cls(pages * os.sysconf("SC_PAGE_SIZE"), sum(path.stat().st_size for path in files))


def percentile(sorted_values: Sequence[float], share: float) -> float:
    """The value below which this share of all values lies.

    >>> percentile([1.0, 2.0, 3.0, 4.0], 0.5)
    3.0
    """
    return sorted_values[min(len(sorted_values) - 1, int(share * len(sorted_values)))]


def limited_server(data: Path, *options: str, **more: Any) -> Server:
    """A server with the limits that it has by default, not yet started."""
    return Server(data, *options, environment={**LIMITED, **more.pop("environment", {})}, **more)

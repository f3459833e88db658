"""Somebody at a real socket who writes down everything that is heard, and when."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from parlour.client.connection import Connection, Frame, Lost, Reply
from parlour.errors import Refused
from tests.cluster.real import RealWorker, until
from tests.e2e.servers import Guest, Server

PATIENCE = 60.0

TALK_EVERY = 0.05
"""Seconds between two things that somebody says."""


class Heard(NamedTuple):
    """A push, and when it came by the loop's clock."""

    name: str
    payload: Any
    at: float


class Left(NamedTuple):
    """The seconds that a seat had left, and when that was told, by the loop's clock."""

    seconds: float
    at: float


class Line:
    """One player's connection to one worker, and a room."""

    def __init__(self, guest: Guest, room: str) -> None:
        self.guest = guest
        self.topic = f"game:{room}"
        self.heard: list[Heard] = []
        self._connection: Connection
        self._asking: set[asyncio.Task[Reply]] = set()

    @property
    def closed(self) -> int | None:
        """The code with which the server has closed the connection."""
        return self._connection.closed

    async def connect(self, worker: Server) -> None:
        """Open a socket at this worker."""
        self._connection = await Connection.open(f"http://{worker.address}", self.guest.token, self._hear)

    async def close(self) -> None:
        """Hang up."""
        await self._connection.close()

    def _hear(self, frame: Frame) -> None:
        self.heard.append(Heard(frame.event, frame.payload, asyncio.get_running_loop().time()))

    async def ask(self, event: str, payload: Any) -> Reply:
        """Ask for something, and wait for the answer; or `Lost`."""
        async with asyncio.timeout(PATIENCE):
            return await self.ask_soon(event, payload)

    def ask_soon(self, event: str, payload: Any) -> asyncio.Task[Reply]:
        """Ask for something; the answer comes later."""
        asking = asyncio.create_task(self._connection.ask(self.topic, event, payload))
        self._asking.add(asking)
        asking.add_done_callback(self._asking.discard)
        return asking

    # What happens in a room.

    async def join(self, **payload: Any) -> Reply:
        """Come in, and wait for what there is to see."""
        before = len(self.all("sync"))
        answer = await self.ask("phx_join", payload)
        if answer.status == "ok":
            await until(lambda: len(self.all("sync")) > before, "a sync after a join")
        return answer

    async def play(self, type: str, id: str | None = None, **event: Any) -> Reply:
        return await self.ask("game_event", moved(type, id, **event))

    def all(self, name: str) -> list[Heard]:
        """The pushes of one name."""
        return [heard for heard in self.heard if heard.name == name]

    @property
    def cells(self) -> list[int]:
        """Noughts and crosses: the cells that were marked, in the order in which that was told."""
        return [heard.payload["payload"]["cell"] for heard in self.all("game_event")]

    @property
    def seqs(self) -> list[int]:
        """The steps that were told, each by the one push that ends it."""
        return [heard.payload["seq"] for heard in self.all("update")]

    @property
    def seq(self) -> int:
        """The last step that is known here."""
        return max(int(heard.payload["seq"]) for heard in self.heard if heard.name in ("sync", "update"))

    @property
    def clocks(self) -> Any:
        """What was last told of the players' clocks, with `now`, the room's time then."""
        return self._clocks_told.payload

    @property
    def _clocks_told(self) -> Heard:
        told = [heard for heard in self.heard if "clocks" in heard.payload]
        return told[-1]

    def time_left(self, seat: int) -> Left:
        """What a seat whose time runs had left when the clocks were last told, and when that was heard."""
        return Left(self.seconds_left(seat), self._clocks_told.at)

    def seconds_left(self, seat: int) -> float:
        """What a seat whose time runs had left when the clocks were last told."""
        one = self.clocks["clocks"]["seats"][seat]
        return float(one["since"] + one["left"] - self.clocks["now"])

    @property
    def view(self) -> Any:
        """What is to be seen, as last told."""
        shown = [heard.payload for heard in self.heard if "view" in heard.payload]
        return shown[-1]["view"]


def moved(type: str, id: str | None = None, **event: Any) -> dict[str, Any]:
    """The payload of a move; with an id it can be sent twice."""
    payload: dict[str, Any] = {"event": {"type": type, **event}}
    return payload if id is None else {**payload, "id": id}


class Saying:
    """People who talk while things go wrong, and note what was acknowledged and what was refused."""

    def __init__(self, *lines: Line) -> None:
        self._lines = lines
        self.acknowledged: set[str] = set()
        self.refused: set[str] = set()
        self.closed: list[int] = []

    @asynccontextmanager
    async def meanwhile(self, *workers: RealWorker) -> AsyncIterator[None]:
        """They talk while this lasts; whoever is sent away with 1012 comes back by one of the workers."""
        self._talking = True
        tasks = [asyncio.create_task(self._talk(line, workers[0])) for line in self._lines]
        try:
            yield
        finally:
            self._talking = False
            await asyncio.gather(*tasks)

    async def _talk(self, line: Line, worker: RealWorker) -> None:
        number = 0
        while self._talking:
            number += 1
            await self._say(line, f"{line.guest.id}-{number}")
            if line.closed is not None:
                self.closed.append(line.closed)
                await until(lambda: self._comes_back(line, worker), "a way back")
            await asyncio.sleep(TALK_EVERY)

    async def _comes_back(self, line: Line, worker: RealWorker) -> bool:
        try:
            if line.closed is not None:
                await line.connect(worker)
            return (await line.join(since=line.seq)).status == "ok"
        except (Lost, Refused, OSError):
            return False

    async def _say(self, line: Line, id: str) -> None:
        try:
            answer = await line.ask("chat", {"text": id, "id": id})
        except Lost:
            return
        (self.acknowledged if answer.status == "ok" else self.refused).add(id)

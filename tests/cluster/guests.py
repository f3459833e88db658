"""Somebody at a real socket who writes down everything that is heard, and when."""

import asyncio
import itertools
import json
from contextlib import suppress
from typing import Any, NamedTuple

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.cluster.real import until
from tests.e2e.clients import Answer
from tests.e2e.servers import Guest, Server

PATIENCE = 60.0


class Heard(NamedTuple):
    """A push, and when it came by the loop's clock."""

    name: str
    payload: Any
    at: float


class Hung(Exception):
    """The server has hung up, with this code."""


class Line:
    """One player's connection to one worker, and a room."""

    def __init__(self, guest: Guest, room: str) -> None:
        self.guest = guest
        self.topic = f"game:{room}"
        self.heard: list[Heard] = []
        self.closed: int | None = None
        """The code with which the server has closed the connection."""
        self._socket: ClientConnection
        self._numbers = itertools.count(1)
        self._answers: dict[str, asyncio.Future[Answer]] = {}
        self._listening: asyncio.Task[None]

    async def connect(self, worker: Server) -> None:
        """Open a socket at this worker."""
        url = f"ws://{worker.address}/socket/websocket?vsn=2.0.0&token={self.guest.token}"
        self._socket = await connect(url, compression=None, ping_interval=None, proxy=None, max_queue=None)
        self.closed = None
        self._listening = asyncio.create_task(self._listen())

    async def close(self) -> None:
        """Hang up."""
        self._listening.cancel()
        await asyncio.wait([self._listening])
        await self._socket.close()

    async def _listen(self) -> None:
        clock = asyncio.get_running_loop().time
        try:
            async for message in self._socket:
                _, ref, _, name, payload = json.loads(message)
                if name == "phx_reply":
                    self._answers.pop(ref).set_result(Answer(payload["status"], payload["response"]))
                else:
                    self.heard.append(Heard(name, payload, clock()))
        except ConnectionClosed:
            pass  # how is seen below
        self.closed = self._socket.close_code or 1006
        for answer in self._answers.values():
            answer.set_exception(Hung(self.closed))
        self._answers.clear()

    async def ask(self, event: str, payload: Any) -> Answer:
        """Ask for something, and wait for the answer; or `Hung`."""
        async with asyncio.timeout(PATIENCE):
            return await self.ask_soon(event, payload)

    def ask_soon(self, event: str, payload: Any) -> asyncio.Future[Answer]:
        """Ask for something; the answer comes later."""
        ref = str(next(self._numbers))
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        if self.closed is not None:
            answer.set_exception(Hung(self.closed))
            return answer
        self._answers[ref] = answer
        frame = json.dumps(["1", ref, self.topic, event, payload])
        self._sending = asyncio.create_task(self._send(frame))
        return answer

    async def _send(self, frame: str) -> None:
        with suppress(ConnectionClosed):  # whoever listens notices, too
            await self._socket.send(frame)

    # What happens in a room.

    async def join(self, **payload: Any) -> Answer:
        """Come in, and wait for what there is to see."""
        before = len(self.all("sync"))
        answer = await self.ask("phx_join", payload)
        if answer.status == "ok":
            await until(lambda: len(self.all("sync")) > before, "a sync after a join")
        return answer

    async def play(self, type: str, id: str | None = None, **event: Any) -> Answer:
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
    def view(self) -> Any:
        """What is to be seen, as last told."""
        shown = [heard.payload for heard in self.heard if "view" in heard.payload]
        return shown[-1]["view"]


def moved(type: str, id: str | None = None, **event: Any) -> dict[str, Any]:
    """The payload of a move; with an id it can be sent twice."""
    payload: dict[str, Any] = {"event": {"type": type, **event}}
    return payload if id is None else {**payload, "id": id}

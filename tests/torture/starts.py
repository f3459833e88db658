"""How soon after kill -9 every room can be played again, against the start of a server that has none."""

import asyncio
import json
from pathlib import Path
from time import perf_counter

import msgspec
from websockets.asyncio.client import connect

from tests.e2e.servers import Guest, Server
from tests.torture.load import invite, new_server, open_rooms

EACH = 100
"""Rooms that one connection plays in: as many as it may."""


class Start(msgspec.Struct, frozen=True):
    """What came of a start after kill -9, in seconds from the start of the process."""

    rooms: int
    bare: float
    """Until a server without any room was open."""
    open: float
    """Until the server with these rooms was open."""
    playable: float
    """Until a move was made in every one of them."""


def measure_start(folder: Path, rooms: int, times: int = 3) -> Start:
    """Kill a server with so many rooms in play, and see how soon a move can be made in all of them.

    The median of some times, because a machine may have other things to do.
    """
    bare = sorted(_start_bare(folder / f"bare-{number}") for number in range(times))[times // 2]
    server = new_server(folder / "data")
    try:
        server.start()
        tables = _Tables(server, rooms)
        asyncio.run(tables.leave_playing(0))
        found = sorted(_start_full(tables, cell) for cell in range(1, times + 1))
    finally:
        if server.running:
            server.kill()
    playable, opened = found[times // 2]
    return Start(rooms, bare, opened, playable)


def _start_full(tables: "_Tables", cell: int) -> tuple[float, float]:
    begun = perf_counter()
    tables.server.start()
    opened = perf_counter() - begun
    asyncio.run(tables.play_everywhere(cell))
    playable = perf_counter() - begun
    asyncio.run(tables.leave_playing())
    return playable, opened


def _start_bare(data: Path) -> float:
    server = new_server(data)
    begun = perf_counter()
    server.start()
    took = perf_counter() - begun
    server.kill()
    return took


class _Tables:
    """All rooms, and the two seats of each; nobody has three in a row before their fifth move."""

    def __init__(self, server: Server, rooms: int) -> None:
        self.server = server
        ids = open_rooms(server, rooms)
        self._groups = [ids[start : start + EACH] for start in range(0, rooms, EACH)]
        guests = invite(server, 2 * len(self._groups))
        self._crosses, self._noughts = guests[: len(self._groups)], guests[len(self._groups) :]

    def _seat(self, guests: list[Guest]) -> list["_Line"]:
        pairs = zip(guests, self._groups, strict=True)
        return [_Line(self.server, guest, group) for guest, group in pairs]

    async def leave_playing(self, cell: int | None = None) -> None:
        """Everybody sits, X may move in every room, and with all connected the server is killed."""
        crosses, noughts = self._seat(self._crosses), self._seat(self._noughts)
        await asyncio.gather(*(line.enter() for line in crosses))
        await asyncio.gather(*(line.enter() for line in noughts))
        if cell is not None:
            await asyncio.gather(*(line.mark(cell) for line in crosses))
        await asyncio.to_thread(self.server.kill)
        await asyncio.gather(*(line.close() for line in crosses + noughts))

    async def play_everywhere(self, cell: int) -> None:
        """Whoever has the move comes back to every room, and moves."""
        lines = self._seat(self._noughts if cell % 2 else self._crosses)
        async with asyncio.timeout(30):
            await asyncio.gather(*(line.enter() for line in lines))
            await asyncio.gather(*(line.mark(cell) for line in lines))
            await asyncio.gather(*(line.close() for line in lines))


class _Line:
    """One connection with many rooms."""

    def __init__(self, server: Server, guest: Guest, rooms: list[str]) -> None:
        self._url = f"ws://{server.address}/socket/websocket?vsn=2.0.0&token={guest.token}"
        self._topics = [f"game:{room}" for room in rooms]

    async def enter(self) -> None:
        """Join all rooms."""
        self._line = await connect(
            self._url, compression=None, ping_interval=None, proxy=None, max_queue=None
        )
        await self._ask("phx_join", {})

    async def mark(self, cell: int) -> None:
        """Move in all rooms."""
        await self._ask("game_event", {"event": {"type": "mark", "cell": cell}})

    async def close(self) -> None:
        await self._line.close()

    async def _ask(self, event: str, payload: object) -> None:
        for topic in self._topics:
            await self._line.send(json.dumps(["1", f"{event} {topic}", topic, event, payload]))
        waiting = {f"{event} {topic}" for topic in self._topics}
        while waiting:
            _, ref, _, name, answer = json.loads(await self._line.recv())
            if name == "phx_reply":
                assert answer["status"] == "ok", answer
                waiting.remove(ref)

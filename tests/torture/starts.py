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


def measure_start(folder: Path, rooms: int) -> Start:
    """Kill a server with so many rooms in play, and see how soon a move can be made in all of them."""
    bare = sorted(_start_bare(folder / f"bare-{number}") for number in range(3))[1]
    server = new_server(folder / "data")
    try:
        server.start()
        ids = open_rooms(server, rooms)
        groups = [ids[start : start + EACH] for start in range(0, rooms, EACH)]
        guests = invite(server, 2 * len(groups))
        noughts, crosses = guests[: len(groups)], guests[len(groups) :]
        asyncio.run(_leave_playing(server, crosses, noughts, groups))
        begun = perf_counter()
        server.start()
        opened = perf_counter() - begun
        asyncio.run(_play_everywhere(server, noughts, groups, cell=4))
        return Start(rooms, bare, opened, perf_counter() - begun)
    finally:
        if server.running:
            server.kill()


def _start_bare(data: Path) -> float:
    server = new_server(data)
    begun = perf_counter()
    server.start()
    took = perf_counter() - begun
    server.kill()
    return took


async def _leave_playing(
    server: Server, crosses: list[Guest], noughts: list[Guest], groups: list[list[str]]
) -> None:
    """Everybody sits, X has moved in every room, and with all of them connected the server is killed."""
    lines = [_Line(server, guest, group) for guest, group in zip(crosses + noughts, groups * 2, strict=True)]
    await asyncio.gather(*(line.enter() for line in lines[: len(groups)]))
    await asyncio.gather(*(line.enter() for line in lines[len(groups) :]))
    await asyncio.gather(*(line.mark(0) for line in lines[: len(groups)]))
    await asyncio.to_thread(server.kill)
    await asyncio.gather(*(line.close() for line in lines))


async def _play_everywhere(server: Server, guests: list[Guest], groups: list[list[str]], cell: int) -> None:
    async def play(guest: Guest, group: list[str]) -> None:
        line = _Line(server, guest, group)
        await line.enter()
        await line.mark(cell)
        await line.close()

    async with asyncio.timeout(30):
        await asyncio.gather(*(play(guest, group) for guest, group in zip(guests, groups, strict=True)))


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

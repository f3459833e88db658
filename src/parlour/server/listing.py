"""The list of open rooms, told to the lobby when it changes."""

import asyncio
from collections.abc import Callable
from typing import TypedDict

import structlog

from parlour.journal.base import Card, Found, Journal, Trouble
from parlour.server.clients import Client
from parlour.server.clock import Clock, Handle
from parlour.server.rooms import RoomSheet
from parlour.wire import Push

log = structlog.get_logger()

MAX_LISTED = 200


class OpenRooms(TypedDict):
    """What the lobby is told."""

    rooms: list[RoomSheet]


class Listing:
    """Tells everybody at the lobby the open rooms, at most once a second."""

    def __init__(self, journal: Journal, clock: Clock, sheet: Callable[[Found], RoomSheet]) -> None:
        self._journal = journal
        self._sheet = sheet
        self._clock = clock
        self._clients: set[Client] = set()
        self._players: dict[str, set[Client]] = {}
        """Whose connections they are."""
        self._planned: Handle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, client: Client) -> None:
        """Somebody came to the lobby: they get the list at once."""
        self._clients.add(client)
        self._players.setdefault(client.player, set()).add(client)
        self._start({client})

    def remove(self, client: Client) -> None:
        """Somebody went."""
        self._clients.discard(client)
        there = self._players.get(client.player, set())
        there.discard(client)
        if not there:
            self._players.pop(client.player, None)

    def has(self, player: str) -> bool:
        """One of this player's connections is at the lobby."""
        return player in self._players

    def tell(self, player: str, push: Push) -> None:
        """Tell every connection of this player that is at the lobby."""
        for client in tuple(self._players.get(player, ())):
            client.push(None, [push])

    def changed(self, card: Card) -> None:
        """A room's card is new; the lobby hears of it unless the room is private."""
        if not card.private and self._clients and self._planned is None:
            self._planned = self._clock.call_at(self._clock.now() + 1.0, self._ring)

    async def sheets(self) -> list[RoomSheet]:
        """The open rooms, newest first."""
        return [self._sheet(found) for found in await self._journal.open_rooms(MAX_LISTED)]

    async def stop(self) -> None:
        """Tell nobody any more; who is being told now is told."""
        self._clients.clear()
        if self._planned is not None:
            self._planned.cancel()
        for task in tuple(self._tasks):
            await asyncio.wait([task])

    def _ring(self) -> None:
        self._planned = None
        self._start(set(self._clients))

    def _start(self, clients: set[Client]) -> None:
        task = asyncio.get_running_loop().create_task(self._tell(clients))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _tell(self, clients: set[Client]) -> None:
        try:
            push = Push("rooms", OpenRooms(rooms=await self.sheets()))
        except Trouble as error:  # the next change is told again, to those who are still there
            log.warning("rooms_not_told", error=str(error))
            return
        for client in clients & self._clients:
            client.push(None, [push])

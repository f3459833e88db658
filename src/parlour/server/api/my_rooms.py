"""The rooms in which a player has a seat, and which of them wait for that player."""

import asyncio

from msgspec.structs import asdict

from parlour.errors import Refused
from parlour.journal.base import RoomQuery
from parlour.server.components import Components
from parlour.server.rooms.calls import AsksPlayer
from parlour.server.rooms.summary import MyRoom, PublicRoom

MOST = 50
"""The number of a player's rooms that are listed."""
PATIENCE = 2.0
"""Seconds within which a room's owner must say whether the room waits for somebody."""


async def list_rooms_of(parlour: Components, player: str) -> list[MyRoom]:
    """The rooms in which a player has a seat, newest first."""
    found = await parlour.journal.rooms(RoomQuery(player=player, limit=MOST))
    rooms = [parlour.rooms.describe(room) for room in found]
    asked = await asyncio.gather(*(_waits_for(parlour, player, room) for room in rooms))
    return [MyRoom(**asdict(room), waits_for_you=waits) for room, waits in zip(rooms, asked, strict=True)]


async def _waits_for(parlour: Components, player: str, room: PublicRoom) -> bool | None:
    """Whether a room's game waits for this player; None if its owner does not say so in time."""
    if room.status != "playing":
        return False
    try:
        async with asyncio.timeout(PATIENCE):
            return bool(await parlour.call(room.id, AsksPlayer(player)))
    except (Refused, TimeoutError):
        return None

"""Deletes what nobody needs any more, a bounded part at a time: ended rooms, quiet relays, idle players."""

import asyncio
from contextlib import suppress

from msgspec.structs import replace

from parlour.journal.base import (
    Change,
    Conflict,
    Damaged,
    Drop,
    Journal,
    Record,
    RecordQuery,
    RoomQuery,
    Unchanged,
)
from parlour.server import sessions
from parlour.server.endpoint_records import ENDPOINT
from parlour.server.owned_records import drop_owned
from parlour.server.preferences import PREFERENCES
from parlour.server.relay_records import ENVELOPE, RELAY
from parlour.server.result_records import RESULT
from parlour.server.standings import STANDING

RELAYS_AT_ONCE = 20
"""Relays that are deleted together."""


async def delete_old(journal: Journal, before: float, now: float, limit: int) -> bool:
    """Delete what is older than that time of the rooms' clock; True if more may be left.

    That is: ended rooms, with the results of their games that did not count; relays without new envelopes;
    players who were not asked for, have no seat, result or standing, and never ended their sessions.
    *limit* is how many steps and rooms, envelopes of a relay, and players a call may delete.
    """
    parts = (
        await journal.prune(before, limit),
        await delete_relays(journal, before, limit),
        await delete_players(journal, before, now, limit),
    )
    return any(parts)


async def delete_relays(journal: Journal, before: float, limit: int) -> bool:
    """Delete some relays that have had no envelope since; True if more may be left."""
    quiet = await journal.records(RecordQuery(RELAY, due_by=before, limit=RELAYS_AT_ONCE))
    are_gone = await asyncio.gather(*(delete_relay(journal, relay, limit) for relay in quiet))
    return len(quiet) == RELAYS_AT_ONCE or not all(are_gone)


async def delete_relay(journal: Journal, relay: Record, most: int) -> bool:
    """Delete a relay's oldest envelopes, and the relay with its last one; True if the relay is gone."""
    envelopes = RecordQuery(ENVELOPE, relay.key, limit=1)
    ends = [await journal.records(replace(envelopes, largest_first=newest)) for newest in (False, True)]
    oldest, newest = (end[0].sort if end else 0.0 for end in ends)
    is_last = newest - oldest < most
    rest = (Drop(ENVELOPE, relay.key), Drop(RELAY, key=relay.key))
    some = (Drop(ENVELOPE, relay.key, below=oldest + most),)
    with suppress(Conflict):  # it has new envelopes
        await journal.keep(Unchanged(relay), *(rest if is_last else some))
    return is_last


async def delete_players(journal: Journal, before: float, now: float, limit: int) -> bool:
    """Delete players whom nobody needs; those who stay are checked again much later."""
    idle = await journal.records(RecordQuery(sessions.KIND, due_by=before, limit=limit))
    await asyncio.gather(*(delete_player(journal, player, now) for player in idle))
    return len(idle) == limit


async def delete_player(journal: Journal, player: Record, now: float) -> None:
    """Delete a player, unless somebody needs them."""
    changes: list[Change] = [replace(player, due=now)]
    if not await is_needed(journal, player):
        changes = [Drop(player.kind, key=player.key), Drop(PREFERENCES, key=player.key)]
        changes += await drop_owned(journal, ENDPOINT, player.key)
    with suppress(Conflict):  # somebody asked for them meanwhile
        await journal.keep(Unchanged(player), *changes)


async def is_needed(journal: Journal, player: Record) -> bool:
    """True if a player has a seat, a standing, a result, or tokens that are not valid any more."""
    try:
        if sessions.read_player(player).session > 0:
            return True
        if await journal.room_ids(RoomQuery(player=player.key, limit=1)):
            return True
        owned = [RecordQuery(kind, owner=player.key, limit=1, strict=True) for kind in (STANDING, RESULT)]
        return any([await journal.records(query) for query in owned])
    except Damaged:  # a damaged record is noted: the player had something
        return True

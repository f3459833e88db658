"""Deleting an account, and everything that is kept about a player as one value."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.journal.base import (
    Change,
    Conflict,
    Damaged,
    Drop,
    Fenced,
    Journal,
    Player,
    RecordQuery,
    RoomQuery,
    Unchanged,
)
from parlour.ratings import Standing
from parlour.server.endpoint_records import EndpointKind, endpoints_of
from parlour.server.parts.accounts.accounts import PROXY_USER, RECOVERY_CODE, SIGN_IN_LINK
from parlour.server.parts.accounts.name_records import drop_names
from parlour.server.parts.accounts.passkeys import PASSKEY
from parlour.server.preferences import PREFERENCES, Preferences, preferences_of
from parlour.server.record_decoding import read
from parlour.server.result_records import RESULT, UNRATED, GameResult, read_result, read_unrated, results_of
from parlour.server.rooms.calls import Perform, RoomCall
from parlour.server.sessions import Asker, Device, KeptPlayer, Sessions
from parlour.server.standings import STANDING, read_standing, standing_record, standings_of
from parlour.wire import Rename

FORMER = "Former player"
"""The name of those whose accounts were deleted."""
TRIES = 5
_OVER = (Code.UNKNOWN_ROOM, Code.ROOM_ENDED, Code.NOT_SEATED)
"""How a room refuses that has ended meanwhile, or where the player has no seat any more."""

_encode = msgspec.json.Encoder().encode


class OwnPasskey(msgspec.Struct, frozen=True):
    """A passkey as its owner may know it."""

    name: str
    domain: str
    since: float
    used: float


class OwnEndpoint(msgspec.Struct, frozen=True):
    """An endpoint as its owner may know it."""

    kind: EndpointKind
    url: str
    name: str
    since: float


class Everything(msgspec.Struct, frozen=True):
    """All that is kept about a player besides the rooms themselves."""

    id: str
    name: str
    account_since: float | None
    devices: tuple[Device, ...]
    passkeys: tuple[OwnPasskey, ...]
    notified_at: list[OwnEndpoint]
    """Where they are told that it is their turn."""
    preferences: Preferences
    standings: list[Standing]
    results: list[GameResult]


async def everything_about(journal: Journal, player: KeptPlayer) -> Everything:
    """All that is kept about a player."""
    return Everything(
        player.id,
        player.name,
        player.account,
        player.devices,
        tuple(OwnPasskey(one.name, one.domain, one.since, one.used) for one in player.passkeys),
        [
            OwnEndpoint(one.kind, one.url, one.name, one.since)
            for one in await endpoints_of(journal, player.id)
        ],
        await preferences_of(journal, player.id),
        await standings_of(journal, player.id),
        await results_of(journal, player.id, None),
    )


CallRoom = Callable[[str, RoomCall], Awaitable[Any]]
"""Asks the owner of a room, by the room's id."""


async def delete_account(journal: Journal, sessions: Sessions, call: CallRoom, who: Asker) -> None:
    """Delete a player: results and ratings stay, without the name; nobody can be this player any more."""

    id = who if isinstance(who, str) else who.player

    async def forget(player: KeptPlayer) -> tuple[KeptPlayer, Sequence[Change]]:
        drops: list[Change] = [Drop(PREFERENCES, key=id)]
        if player.account is not None:
            drops += await drop_names(journal, id)
        if player.code:
            drops.append(Drop(RECOVERY_CODE, key=player.code))
        for kind in (SIGN_IN_LINK, PROXY_USER, PASSKEY):
            owned = await journal.records(RecordQuery(kind, owner=id))
            drops += [Drop(kind, key=record.key) for record in owned]
        gone = KeptPlayer(id, FORMER, session=player.session + 1, last_device=player.last_device)
        return gone, drops

    await _rename_at_seats(journal, call, id)  # first: no game that ends from now on has the old name
    await _rename_in_records(journal, id)
    await sessions.change(who, forget)  # last: if anything failed, they can ask again


async def _rename_in_records(journal: Journal, id: str) -> None:
    """Take the name from what games have left."""
    for record in await journal.records(RecordQuery(UNRATED)):
        await _rewrite(journal, UNRATED, record.key, "", lambda body: _rename_in_unrated(body, id))
    for record in await journal.records(RecordQuery(STANDING, owner=id)):
        await _rewrite(journal, STANDING, record.key, record.group, _rename_standing)
    for result in await results_of(journal, id, None):
        for other in result.against:
            key = f"{result.number}/{result.seq}/{other.id}"
            await _rewrite(journal, RESULT, key, "", lambda body: _rename_in_result(body, id))


async def _rename_at_seats(journal: Journal, call: CallRoom, id: str) -> None:
    """Take the name from the seats that a player has in open rooms."""
    for found in await journal.rooms(RoomQuery(player=id)):
        try:
            await call(found.summary.id, Perform(Rename(id, FORMER)))
        except Refused as why:
            if why.code not in _OVER:
                raise


async def _rewrite(journal: Journal, kind: str, key: str, group: str, make: Callable[[bytes], bytes]) -> None:
    """Change the body of a record, if it is there and has to, whoever else changes it meanwhile."""
    for _ in range(TRIES):
        try:
            record = await journal.record(kind, key, group)
            if record is not None and (body := read(record, make)) != record.body:
                await journal.keep(Unchanged(record), replace(record, body=body))
        except Fenced:
            raise
        except Conflict:
            continue
        except Damaged:  # noted; nobody can read it
            pass
        return


def _rename_standing(body: bytes) -> bytes:
    return standing_record(replace(read_standing(body), name=FORMER)).body


def _rename_in_unrated(body: bytes, id: str) -> bytes:
    game = read_unrated(body)
    return _encode(replace(game, players=_without_name(game.players, id)))


def _rename_in_result(body: bytes, id: str) -> bytes:
    result = read_result(body)
    return _encode(replace(result, against=_without_name(result.against, id)))


def _without_name(players: Iterable[Player], id: str) -> tuple[Player, ...]:
    """The players, where the one of this id has lost the name."""
    return tuple(Player(id, FORMER) if one.id == id else one for one in players)

"""Deleting an account, and everything that is kept about a player as one value."""

from collections.abc import Callable, Sequence

import msgspec
from msgspec.structs import replace

from parlour.journal.base import (
    Change,
    Conflict,
    Damaged,
    Drop,
    Fenced,
    Journal,
    Player,
    RecordQuery,
    Unchanged,
)
from parlour.ratings import Standing
from parlour.server.parts.accounts.accounts import ACCOUNT_NAME, PROXY_USER, RECOVERY_CODE, SIGN_IN_LINK
from parlour.server.parts.accounts.names import key_of_name
from parlour.server.parts.accounts.passkeys import PASSKEY
from parlour.server.preferences import PREFERENCES, Preferences, preferences_of
from parlour.server.record_decoding import read
from parlour.server.result_records import RESULT, GameResult, read_result, results_of
from parlour.server.sessions import Device, KeptPlayer, Sessions
from parlour.server.standings import STANDING, read_standing, standing_record, standings_of

FORMER = "Former player"
"""The name of those whose accounts were deleted."""
TRIES = 5

_encode = msgspec.json.Encoder().encode


class OwnPasskey(msgspec.Struct, frozen=True):
    """A passkey as its owner may know it."""

    name: str
    domain: str
    since: float
    used: float


class Everything(msgspec.Struct, frozen=True):
    """All that is kept about a player besides the rooms themselves."""

    id: str
    name: str
    account_since: float | None
    devices: tuple[Device, ...]
    passkeys: tuple[OwnPasskey, ...]
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
        await preferences_of(journal, player.id),
        await standings_of(journal, player.id),
        await results_of(journal, player.id, None),
    )


async def delete_account(journal: Journal, sessions: Sessions, id: str) -> None:
    """Delete a player: results and ratings stay, without the name; nobody can be this player any more."""

    async def forget(player: KeptPlayer) -> tuple[KeptPlayer, Sequence[Change]]:
        drops: list[Change] = [Drop(PREFERENCES, key=id)]
        if player.account is not None:
            drops.append(Drop(ACCOUNT_NAME, key=key_of_name(player.name)))
        if player.code:
            drops.append(Drop(RECOVERY_CODE, key=player.code))
        for kind in (SIGN_IN_LINK, PROXY_USER, PASSKEY):
            owned = await journal.records(RecordQuery(kind, owner=id))
            drops += [Drop(kind, key=record.key) for record in owned]
        gone = KeptPlayer(id, FORMER, session=player.session + 1, last_device=player.last_device)
        return gone, drops

    for record in await journal.records(RecordQuery(STANDING, owner=id)):
        await _rewrite(journal, STANDING, record.key, record.group, _rename_standing)
    for result in await results_of(journal, id, None):
        for other in result.against:
            key = f"{result.number}/{result.seq}/{other.id}"
            await _rewrite(journal, RESULT, key, "", lambda body: _rename_in_result(body, id))
    sessions.tell_ended(await sessions.change(id, forget))  # last: if anything failed, they can ask again


async def _rewrite(journal: Journal, kind: str, key: str, group: str, make: Callable[[bytes], bytes]) -> None:
    """Change the body of a record, if it is there, whoever else changes it meanwhile."""
    for _ in range(TRIES):
        try:
            record = await journal.record(kind, key, group)
            if record is not None:
                await journal.keep(Unchanged(record), replace(record, body=read(record, make)))
        except Fenced:
            raise
        except Conflict:
            continue
        except Damaged:  # noted; nobody can read it
            pass
        return


def _rename_standing(body: bytes) -> bytes:
    return standing_record(replace(read_standing(body), name=FORMER)).body


def _rename_in_result(body: bytes, id: str) -> bytes:
    result = read_result(body)
    against = tuple(Player(id, FORMER) if other.id == id else other for other in result.against)
    return _encode(replace(result, against=against))

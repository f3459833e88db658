"""Deleting an account, and everything that is kept about a player as one value."""

from collections.abc import Sequence
from typing import Any

import msgspec

from parlour.journal.base import Change, Drop, Journal, RecordQuery, RoomQuery
from parlour.lobby import Mode
from parlour.ratings import Standing
from parlour.server.endpoint_records import EndpointKind, Failure, endpoints_of
from parlour.server.owned_records import drop_owned
from parlour.server.parts.accounts.accounts import PROXY_USER, RECOVERY_CODE, SIGN_IN_LINK, user_name
from parlour.server.parts.accounts.name_changes import NameChanges, name_change
from parlour.server.parts.accounts.name_records import drop_names
from parlour.server.parts.accounts.passkeys import PASSKEY
from parlour.server.preferences import PREFERENCES, Preferences, preferences_of
from parlour.server.result_records import GameResult, results_of
from parlour.server.sessions import Asker, Device, KeptPlayer, Sessions
from parlour.server.standings import standings_of
from parlour.server.ticket_records import TICKET, tickets_of

FORMER = "Former player"
"""The name of those whose accounts were deleted."""


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
    failure: Failure | None
    """Why the last message did not arrive."""


class OwnTicket(msgspec.Struct, frozen=True):
    """A ticket as it is kept: open, or matched lately."""

    id: str
    game: str
    config: Any
    mode: Mode
    room: str | None
    """Where it led, or where its player waits."""
    address: str | None
    """Where it was asked from."""


class OwnSeat(msgspec.Struct, frozen=True):
    """A room that is open and in which its player sits."""

    room: str
    game: str
    created: float
    name: str
    """How they are called there."""


class Everything(msgspec.Struct, frozen=True):
    """All that is kept about a player besides the rooms themselves."""

    id: str
    name: str
    account_since: float | None
    proxy_users: list[str]
    """What the proxy calls them that signs them in, if one does."""
    devices: tuple[Device, ...]
    passkeys: tuple[OwnPasskey, ...]
    notified_at: list[OwnEndpoint]
    """Where they are told that it is their turn."""
    preferences: Preferences
    tickets: list[OwnTicket]
    seats: list[OwnSeat]
    standings: list[Standing]
    results: list[GameResult]


async def everything_about(journal: Journal, player: KeptPlayer) -> Everything:
    """All that is kept about a player."""
    return Everything(
        player.id,
        player.name,
        player.account,
        [user_name(record.key) for record in await journal.records(RecordQuery(PROXY_USER, owner=player.id))],
        player.devices,
        tuple(OwnPasskey(one.name, one.domain, one.since, one.used) for one in player.passkeys),
        [
            OwnEndpoint(one.kind, one.url, one.name, one.since, one.failure)
            for one in await endpoints_of(journal, player.id)
        ],
        await preferences_of(journal, player.id),
        [
            OwnTicket(one.id, one.game, one.config, one.mode, one.room or one.at, one.address)
            for one in await tickets_of(journal, player.id)
        ],
        [
            OwnSeat(room.id, room.game, room.created, seat.name)
            for room in [found.summary for found in await journal.rooms(RoomQuery(player=player.id))]
            for seat in room.seats
            if seat is not None and seat.id == player.id
        ],
        await standings_of(journal, player.id),
        await results_of(journal, player.id, None),
    )


async def delete_account(journal: Journal, sessions: Sessions, names: NameChanges, who: Asker) -> None:
    """Delete a player: results and ratings stay, without the name; nobody can be this player any more."""

    id = who if isinstance(who, str) else who.player

    async def forget(player: KeptPlayer) -> tuple[KeptPlayer, Sequence[Change]]:
        drops: list[Change] = [Drop(PREFERENCES, key=id)]
        if player.account is not None:
            drops += await drop_names(journal, id)
        if player.code:
            drops.append(Drop(RECOVERY_CODE, key=player.code))
        for kind in (SIGN_IN_LINK, PROXY_USER, PASSKEY, TICKET):
            drops += await drop_owned(journal, kind, id)
        gone = KeptPlayer(id, FORMER, session=player.session + 1, last_device=player.last_device)
        return gone, (*drops, name_change(id, names.now(), is_deleted=True))

    try:
        await sessions.change(who, forget)
    finally:  # also where nobody knows whether it was kept
        names.look_soon()

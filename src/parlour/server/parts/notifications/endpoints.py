"""The endpoints of players: added, listed, removed; a browser's keys and a webhook's address are checked."""

import secrets
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import Protocol

from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.journal.base import Change, Conflict, Damaged, Drop, Journal, Unchanged
from parlour.server.endpoint_records import (
    ENDPOINT,
    Endpoint,
    Failure,
    endpoint_id,
    endpoint_record,
    endpoints_of,
    read_endpoint,
)
from parlour.server.outgoing import Outgoing
from parlour.server.record_decoding import read
from parlour.server.secret import secret_of
from parlour.server.sessions import KeptPlayer, Sessions
from parlour.server.tokens import Bearer

MOST = 10
"""Endpoints that a player can have."""
KEY_NAME = "push"
"""The kept secret that the server's key for push services is made of."""


class PushKey(Protocol):
    """The server's key for push services."""

    public: str

    def sign(self, url: str, date: float, site: str) -> str:
        """The Authorization header of a message to a push service."""
        ...


def is_installed() -> bool:
    """True if there is what web push needs."""
    return find_spec("cryptography") is not None


class Endpoints:
    """Keeps where players want to be told."""

    def __init__(self, journal: Journal, sessions: Sessions, outgoing: Outgoing) -> None:
        self._journal = journal
        self._sessions = sessions
        self._outgoing = outgoing
        self._key: PushKey | None = None

    async def push_key(self) -> PushKey | None:
        """The server's key for push services, made once and shared by all workers; None without the extra."""
        if self._key is None and is_installed():
            from parlour.server.parts.notifications.push import ServerKey  # noqa: PLC0415 - an extra

            self._key = ServerKey(await secret_of(self._journal, KEY_NAME))
        return self._key

    async def list(self, bearer: Bearer) -> list[Endpoint]:
        """Where a player is told, whose token has not ended anywhere."""
        player = await self._sessions.known_by(bearer)
        return await endpoints_of(self._journal, player.id)

    async def add_browser(
        self, bearer: Bearer, url: str, key: str, secret: str, name: str, date: float
    ) -> Endpoint:
        """Tell a player in this browser from now on; whoever was told there before is not any more."""
        if not is_installed():
            raise Refused(Code.NO_PUSH, "this server cannot push to browsers: it lacks parlour[push]")
        from parlour.server.parts.notifications.push import read_browser  # noqa: PLC0415 - an extra

        try:
            read_browser(key, secret)
        except ValueError:
            why = "$.keys: expected the keys of a browser's subscription, got something else"
            raise Refused(Code.MALFORMED, why, path="$.keys") from None
        player = bearer.player
        id = endpoint_id("push", url, player)
        before = await self._before(id)
        new = Endpoint(id, "push", player, url, date, name, secret, key, bearer.session, bearer.device)
        if (
            before
            and not before.is_gone
            and before == replace(new, since=before.since, failure=before.failure)
        ):
            return before
        return await self._add(bearer, new)

    async def add_webhook(self, bearer: Bearer, url: str, date: float) -> Endpoint:
        """Tell a player at this address, too; one that is there already gets a new secret."""
        id = endpoint_id("webhook", url, bearer.player)
        return await self._add(
            bearer, Endpoint(id, "webhook", bearer.player, url, date, secret=secrets.token_urlsafe(32))
        )

    async def remove(self, bearer: Bearer, id: str) -> None:
        """Tell a player there no more."""

        async def remove(player: KeptPlayer) -> tuple[KeptPlayer, Sequence[Change]]:
            drop = Drop(ENDPOINT, key=id)
            try:
                record = await self._journal.record(ENDPOINT, id)
            except Damaged:  # whoever knows the id may remove what nobody can read
                return player, (drop,)
            if record is None or record.owner != player.id:
                raise Refused(Code.NOT_FOUND, "you are not told there")
            return player, (Unchanged(record), drop)

        await self._sessions.change(bearer, remove)

    async def _add(self, bearer: Bearer, new: Endpoint) -> Endpoint:
        await self._outgoing.check(new.url, new.player)

        async def add(player: KeptPlayer) -> tuple[KeptPlayer, Sequence[Change]]:
            """In one write with the player, who may have gone while a name was looked up."""
            others = [one for one in await endpoints_of(self._journal, new.player) if one.id != new.id]
            if len([one for one in others if not one.is_gone]) >= MOST:
                raise Refused(Code.TOO_MANY, f"you can be told at {MOST} places at most; remove one first")
            gone = [one for one in others if one.is_gone] if len(others) >= MOST else []
            return player, (endpoint_record(new), *(Drop(ENDPOINT, key=one.id) for one in gone))

        await self._sessions.change(bearer, add)
        return new

    async def note(self, tried: Endpoint, failure: Failure | None) -> None:
        """Keep why the last message did not arrive, unless the endpoint was changed or removed meanwhile.

        One that is gone stays so until it is added again: another answer may have been slower.
        """
        with suppress(Conflict, Damaged):  # changed just now; noted, and nobody can read it
            record = await self._journal.record(ENDPOINT, tried.id)
            now = None if record is None else read(record, read_endpoint)
            if record is None or now is None or now.is_gone or now.failure == failure:
                return
            if replace(now, failure=None) == replace(tried, failure=None):
                await self._journal.keep(Unchanged(record), endpoint_record(replace(now, failure=failure)))

    async def _before(self, id: str) -> Endpoint | None:
        """An endpoint as it is kept; None also for one that is damaged, which is then replaced."""
        try:
            record = await self._journal.record(ENDPOINT, id)
            return None if record is None else read(record, read_endpoint)
        except Damaged:
            return None

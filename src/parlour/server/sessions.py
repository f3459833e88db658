"""Sessions: which player a token names, unless its session was ended; and the players' records."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from weakref import WeakValueDictionary

import msgspec
from msgspec.structs import replace

from parlour.errors import Refused
from parlour.journal.base import Journal, Player, Record, Trouble, Unchanged
from parlour.server.clock import Clock
from parlour.server.record_decoding import read
from parlour.server.tokens import Bearer, Tokens, bad_token, guest_name

KIND = "player"
MOST_KNOWN = 20_000
"""Players whose session is kept in memory; those of others are read again."""
SEEN_EVERY = 86400.0
"""Seconds between two notes in the journal that a player was asked for."""


class LookUpFirst(Exception):
    """Raised by a door that has to look something up first: run this, then ask the door again."""

    def __init__(self, look_up: Callable[[], Awaitable[object]]) -> None:
        super().__init__()
        self.look_up = look_up


class KeptPlayer(Player, frozen=True, omit_defaults=True):
    """A player as the journal keeps them, with fields that are nobody else's business."""

    session: int = 0
    """How often they ended all their sessions; older tokens are not valid any more."""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(KeptPlayer).decode


def player_record(player: Player, now: float) -> Record:
    """The record of a player who was just asked for; idle players are deleted by that time."""
    return Record(KIND, player.id, _encode(player), due=now)


def read_player(record: Record) -> KeptPlayer:
    """Decode the record of a player.

    `Damaged` if that fails: nobody knows which of their sessions are ended, so none of their tokens is
    accepted.
    """
    return read(record, _decode)


class Sessions:
    """Knows which tokens are valid: those signed since their player last ended all sessions."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._ended: dict[str, int] = {}
        """How often players ended all sessions, those asked for longest ago first."""
        self._writing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.hang_up: Callable[[str], None] = lambda _: None
        """Closes all connections of a player."""
        self.ended: Callable[[str, int], None] = lambda _player, _session: None
        """Tells other workers that a player has ended all sessions before this one."""

    def player(self, bearer: Bearer) -> str:
        """The player of a token, unless its session is ended; `LookUpFirst` if that is not known yet."""
        ended = self._ended.get(bearer.player)
        if ended is None:
            raise LookUpFirst(lambda: self.look_up(bearer.player))
        if bearer.session < ended:
            raise bad_token()
        return bearer.player

    async def look_up(self, player: str) -> int:
        """How often this player ended all sessions."""
        ended = self._ended.pop(player, None)
        if ended is None:
            known = await self.known(player)
            ended = 0 if known is None else known.session
        return self._remember(player, ended)

    def _remember(self, player: str, ended: int) -> int:
        ended = max(ended, self._ended.pop(player, 0))  # it may have changed while we read
        self._ended[player] = ended
        if len(self._ended) > MOST_KNOWN:
            del self._ended[next(iter(self._ended))]
        return ended

    async def known(self, id: str) -> KeptPlayer | None:
        """A player by id; notes that they were asked for."""
        record = await self._journal.record(KIND, id)
        if record is None:
            return None
        player, now = read_player(record), self._clock.now()
        if record.due is None or now - record.due >= SEEN_EVERY:
            with suppress(Trouble):  # they have changed, or the next call notes it
                await self._journal.keep(Unchanged(record), replace(record, due=now))
        return player

    async def save(self, id: str, name: str | None) -> KeptPlayer:
        """Keep a player, under a new name if one is given."""
        async with self._alone(id):
            known = await self.known(id)
            player = known or KeptPlayer(id, guest_name(id))
            if name is not None:
                player = replace(player, name=name)
            if player != known:
                await self._keep(player)
            return player

    async def end(self, id: str) -> KeptPlayer:
        """End all sessions of a player: older tokens are not valid any more, and all connections close."""
        async with self._alone(id):
            known = await self.known(id) or KeptPlayer(id, guest_name(id))
            player = replace(known, session=known.session + 1)
            await self._keep(player)
        self.note_ended(id, player.session)
        self.ended(id, player.session)
        return player

    def note_ended(self, id: str, session: int) -> None:
        """A player has ended all sessions before this one: their connections here are closed."""
        self._remember(id, session)
        self.hang_up(id)

    def forget(self) -> None:
        """Read again which sessions are ended, whoever comes: news of it may have been lost."""
        self._ended.clear()

    async def _keep(self, player: KeptPlayer) -> None:
        await self._journal.keep(player_record(player, self._clock.now()))

    def _alone(self, player: str) -> asyncio.Lock:
        """The lock that lets one change of a player happen at a time, so that none is lost."""
        return self._writing.setdefault(player, asyncio.Lock())


class Identities:
    """Finds out which player somebody is."""

    def __init__(self, tokens: Tokens, sessions: Sessions) -> None:
        self._tokens = tokens
        self._sessions = sessions

    def player(self, token: str | None, cookie: str | None = None) -> str | None:
        """The player of a token that was sent, else of a cookie; None for a guest.

        A bad token is refused, a bad cookie makes a guest. `LookUpFirst` if the session is not known yet.
        """
        if token is not None:
            return self._sessions.player(self._tokens.bearer(token))
        with suppress(Refused):
            if cookie is not None:
                return self._sessions.player(self._tokens.bearer(cookie, expires=False))
        return None

    async def find(self, token: str | None, cookie: str | None = None) -> str | None:
        """The same, for callers who can wait."""
        try:
            return self.player(token, cookie)
        except LookUpFirst as first:
            await first.look_up()
        return self.player(token, cookie)

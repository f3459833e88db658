"""Sessions: who bears a token, unless its session was ended; and players as they are kept."""

import asyncio
from collections.abc import Callable
from weakref import WeakValueDictionary

from msgspec.structs import replace

from parlour.journal.base import Journal, KeptPlayer
from parlour.server.gateway.upgrade import LookUpFirst
from parlour.server.tokens import Bearer, bad_token, guest_name

MOST_KNOWN = 20_000
"""Players whose session is remembered; others' is read again."""


class Sessions:
    """Knows which tokens are valid: those signed since their player last ended all sessions."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._ended: dict[str, int] = {}
        """How often players have ended their sessions, those asked for longest ago first."""
        self._writing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.hang_up: Callable[[str], None] = lambda _: None
        """Closes the connections of a player."""

    def player(self, bearer: Bearer) -> str:
        """Who bears a token, unless its session is over; `LookUpFirst` where that is not known yet."""
        ended = self._ended.get(bearer.player)
        if ended is None:
            raise LookUpFirst(lambda: self.look_up(bearer.player))
        if bearer.session < ended:
            raise bad_token()
        return bearer.player

    async def find(self, bearer: Bearer) -> str:
        """The same, for those who can wait."""
        await self.look_up(bearer.player)
        return self.player(bearer)

    async def look_up(self, player: str) -> int:
        """How often this player has ended all sessions."""
        ended = self._ended.pop(player, None)
        if ended is None:
            known = await self._journal.player(player)
            ended = 0 if known is None else known.session
        return self._remember(player, ended)

    def _remember(self, player: str, ended: int) -> int:
        ended = max(ended, self._ended.pop(player, 0))  # it may have been raised while we read
        self._ended[player] = ended
        if len(self._ended) > MOST_KNOWN:
            del self._ended[next(iter(self._ended))]
        return ended

    async def save(self, id: str, name: str | None) -> KeptPlayer:
        """Keep a player, under a new name if one is given."""
        async with self._alone(id):
            known = await self._journal.player(id)
            player = known or KeptPlayer(id, guest_name(id))
            if name is not None:
                player = replace(player, name=name)
            if player != known:
                await self._journal.save_player(player)
            return player

    async def end(self, id: str) -> KeptPlayer:
        """End all sessions of a player: no token is valid that was signed before, and every line is cut."""
        async with self._alone(id):
            known = await self._journal.player(id) or KeptPlayer(id, guest_name(id))
            player = replace(known, session=known.session + 1)
            await self._journal.save_player(player)
        self._remember(id, player.session)
        self.hang_up(id)
        return player

    def _alone(self, player: str) -> asyncio.Lock:
        """One change at a time, so that none is lost."""
        return self._writing.setdefault(player, asyncio.Lock())

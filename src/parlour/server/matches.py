"""Matches that wait for their players: the first who wants one opens a room, the second gets the same."""

import asyncio
import secrets
from collections import defaultdict
from contextlib import suppress

import structlog

from parlour.doors.gammonx.terms import BOT, Kind, new_match_id
from parlour.errors import Code, Refused
from parlour.journal.base import Card
from parlour.server.host import Host
from parlour.wire import Shutdown

log = structlog.get_logger()

PATIENCE = 30.0
"""Seconds for which a match waits without a sign of life of its opener, or of whoever was sent there."""


class Waiting:
    """A match that somebody has opened, and who was sent to it."""

    def __init__(self, id: str, opener: str, now: float) -> None:
        self.id = id
        self.opener = opener
        self.seen = now
        self.taker: str | None = None
        self.taken = 0.0


class Matches:
    """Who waits for whom."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._waiting: dict[Kind, list[Waiting]] = defaultdict(list)
        self._turns: dict[Kind, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def join(self, kind: Kind, player: str) -> str:
        """The id of a match of this kind: one that waits, or a new one."""
        async with self._turns[kind]:
            if await self._waits(kind, player):
                raise Refused(Code.TOO_MANY, "you wait for such a match already")
            for one in () if kind.modus == BOT else tuple(self._waiting[kind]):
                if await self._take(kind, one, player):
                    return one.id
            id = new_match_id(kind.modus, secrets.token_bytes(16))
            await self._host.openings.create("backgammon", kind.config, id, private=True, creator=player)
            self._waiting[kind].append(Waiting(id, player, self._now()))
            return id

    async def _waits(self, kind: Kind, player: str) -> bool:
        """Whether this player has opened a match that still waits."""
        await self._sweep(kind)
        mine = [one for one in self._waiting[kind] if one.opener == player]
        return any([await self._is_free(kind, one) for one in mine])

    async def found(self, id: str, player: str) -> bool:
        """Whether somebody was found for a match; to ask is a sign of life."""
        kind, one = self._find(id)
        if one is None:
            card = await self._card(id)
            if card is None or card.ended is not None:
                raise Refused(Code.UNKNOWN_ROOM, f"nobody waits in queue {id}")
            return True
        if player not in (one.opener, one.taker):
            raise Refused(Code.UNKNOWN_ROOM, f"you do not wait in queue {id}")
        one.seen = self._now()
        return one.taker is not None or not await self._is_free(kind, one)

    async def cancel(self, id: str, player: str) -> None:
        """Wait no longer."""
        kind, one = self._find(id)
        if one is None or one.opener != player or one.taker is not None:
            raise Refused(Code.UNKNOWN_ROOM, f"you do not wait in queue {id}, or somebody was found")
        await self._close(kind, one, "cancelled")

    async def sweep(self) -> None:
        """Give up matches whose opener is not there any more."""
        for kind in tuple(self._waiting):
            async with self._turns[kind]:
                await self._sweep(kind)

    async def _sweep(self, kind: Kind) -> None:
        for one in tuple(self._waiting[kind]):
            if self._now() - max(one.seen, one.taken) < PATIENCE:
                continue
            if await self._is_free(kind, one):
                card = await self._card(one.id)
                if card is not None and card.connected:
                    one.seen = self._now()
                else:
                    await self._close(kind, one, "nobody_came")

    async def _take(self, kind: Kind, one: Waiting, player: str) -> bool:
        """Send somebody to a match, if there is a seat that nobody else is on the way to."""
        now = self._now()
        if one.taker not in (None, player) and now - one.taken < PATIENCE:
            return False
        if not await self._is_free(kind, one):
            return False
        one.taker, one.taken = player, now
        return True

    async def _is_free(self, kind: Kind, one: Waiting) -> bool:
        """Whether a seat is free; a match that is full, or over, waits no longer."""
        card = await self._card(one.id)
        if card is not None and card.ended is None and None in card.seats:
            return True
        with suppress(ValueError):
            self._waiting[kind].remove(one)
        return False

    async def _close(self, kind: Kind, one: Waiting, why: str) -> None:
        self._waiting[kind].remove(one)
        with suppress(Refused):  # it is over already
            await self._host.ask(one.id, Shutdown(why), None)

    async def _card(self, id: str) -> Card | None:
        found = await self._host.journal.find(id)
        return None if found is None else found.card

    def _find(self, id: str) -> tuple[Kind, Waiting | None]:
        for kind, waiting in self._waiting.items():
            for one in waiting:
                if one.id == id:
                    return kind, one
        return Kind(0, 0, 0), None

    def _now(self) -> float:
        return self._host.clock.now()

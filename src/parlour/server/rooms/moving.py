"""How a room changes its owner: one worker stores it and lets go of it, another takes it over."""

from abc import abstractmethod
from collections.abc import Coroutine, Iterable
from functools import partial
from typing import Any

import structlog

from parlour.errors import Code, Refused
from parlour.journal.base import Trouble
from parlour.room import is_timer
from parlour.server.border import Announced, LeaveRoom, Moved, gateway_of
from parlour.server.rooms.entering import EnterableRoom
from parlour.server.rooms.roster import Place
from parlour.wire import Hold

log = structlog.get_logger()


class MovableRoom(EnterableRoom):
    """The part of a room that moves from one worker to another; in a single process it never does."""

    __slots__ = ("_gap", "_moved")

    _gap: float | None
    """How long nobody owned the room, if it was taken over from another worker."""
    _moved: bool
    """Another worker owns the room from now on."""

    @abstractmethod
    async def _store(self) -> bytes:
        """Keep the room's state; returns it."""

    @abstractmethod
    def _close(self, why: Refused, *, ended: bool = False) -> None:
        """Drop the room from memory and refuse all requests."""

    async def _take_over(self, gap: float) -> None:
        """Nobody loses time by a change of owners; players count as away if they are not back in a while."""
        clock = self._env.clock
        self._settling = True
        clock.call_at(
            clock.now() + self._env.ownership.settle_after, partial(self.mailbox.put, self._end_settling)
        )
        await self._hold(gap)

    async def _end_settling(self) -> None:
        """Whoever is not back is away; all others hear once who is here, and mostly nothing new by that."""
        self._settling = False
        await self._settle()
        if self._room is not None and self._roster.places:
            self._note_presence()
            self._env.tell_all(Announced(self.id, self._presence.state()), self._roster)

    async def _hold(self, gap: float) -> None:
        """Stop the room's clock for a time in which nobody owned it, if somebody is here or time runs."""
        try:
            if gap > 0 and (self.here.connected or any(map(is_timer, self.here.running))):
                await self.step(Hold(gap))
        except Refused as why:
            self._retry(why, partial(self._hold, gap))

    async def hand_over(self) -> None:
        """Store the room for another worker, which owns it from then on; whoever waits is sent there."""
        if self._room is None:
            return
        try:
            if self._room.ended is None:
                await self._store()
        except (Refused, Trouble) as error:
            log.error("not_handed_over", room=self.id, error=str(error))
            return
        self._env.tell_all(Moved(self.id), self._roster)
        self._roster.clear()
        self._move_away()

    def _move_away(self) -> None:
        """Another worker owns the room: whoever asks is sent there."""
        self._moved = True
        self._close(Refused(Code.NOT_SAVED, "the room has just moved to another worker; try again"))

    def _has_moved(self, number: int) -> bool:
        """True if another worker owns the room, which the asker is told."""
        if self._moved:
            self._env.tell(Moved(self.id, number))
        return self._moved

    def clients_of(self, gateway: int) -> list[Place]:
        """The places of a gateway's clients."""
        return [place for place in self._roster if gateway_of(place.client) == gateway]

    def remove_clients(self, places: Iterable[Place]) -> None:
        """Remove these clients, unless they have asked for their places again by then."""
        for place in places:
            self.mailbox.put(partial(self._remove_place, place))

    def _remove_place(self, place: Place) -> Coroutine[Any, Any, None] | None:
        if self._roster.places.get(place.client) is not place:
            return None
        return self._leave(LeaveRoom(self.id, place.client))

    async def remove_gateway(self, gateway: int) -> None:
        """Remove all clients of a gateway that is gone, after all that it has asked."""
        for place in self.clients_of(gateway):
            await self._leave(LeaveRoom(self.id, place.client))

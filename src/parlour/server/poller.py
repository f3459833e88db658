"""Looks for records that are due: as soon as somebody asks, and at set times."""

from abc import ABC, abstractmethod
from typing import ClassVar

import structlog

from parlour.journal.base import Trouble
from parlour.server.clock import Clock, Handle
from parlour.server.mailbox import Mailbox

LOOK_EVERY = 15.0
"""Seconds between two looks for what a worker that is gone has left, where there are several."""
TRY_AGAIN = 1.0
"""Seconds before a look that failed is made again."""

log = structlog.get_logger()


class Poller(ABC):
    """Makes one look after the other; whatever comes of one, a later one is made."""

    failed: ClassVar[str]
    """What the log calls a look for which the journal could not be read or written."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.mailbox = Mailbox()
        self.is_stopping = self._is_asked = False
        """Nothing new is begun; a look waits in the mailbox."""
        self._planned: Handle | None = None
        self._planned_at = 0.0

    @abstractmethod
    async def look(self) -> float | None:
        """Do what is due; returns when the next look is worth it, if ever."""

    def look_soon(self) -> None:
        """Look after what is being done now; nobody has to wait for it."""
        if not self.is_stopping and not self._is_asked:
            self._is_asked = True
            self.mailbox.put(self._look)

    def look_at(self, when: float) -> None:
        """Look at this time, or earlier."""
        if self.is_stopping or (self._planned is not None and self._planned_at <= when):
            return
        if self._planned is not None:
            self._planned.cancel()
        self._planned_at = when
        self._planned = self._clock.call_at(when, self._ring)

    async def stop(self) -> None:
        """Begin nothing new, and finish the look that is being made."""
        self.is_stopping = True
        if self._planned is not None:
            self._planned.cancel()
        await self.mailbox.drained()

    async def _look(self) -> None:
        self._is_asked = False
        following: float | None = self._clock.now() + TRY_AGAIN
        try:
            following = await self.look()
        except Trouble as error:  # the disk is full, say; what is due waits
            log.error(self.failed, error=str(error))
        finally:
            if following is not None:
                self.look_at(following)

    def _ring(self) -> None:
        self._planned = None
        self.look_soon()

"""Ratings: the step that ends a ranked game leaves a record; here such records become new standings.

One after the other, so that two games of one player that end at once both count. The new standings are kept
in the same write that deletes the record: each game counts once, even after a crash.
"""

import asyncio
from collections.abc import Sequence

import structlog

from parlour.journal.base import (
    Change,
    Conflict,
    Damaged,
    Drop,
    Fenced,
    Journal,
    Record,
    RecordQuery,
    Trouble,
    Unchanged,
)
from parlour.ratings import Standing, settle
from parlour.server.clock import Clock
from parlour.server.mailbox import Mailbox
from parlour.server.record_decoding import read
from parlour.server.result_records import UNRATED, rated_result, read_unrated
from parlour.server.rooms.events import OutcomeReached, RoomEvent
from parlour.server.standings import standing_on, standing_record

TRY_AGAIN = 1.0
"""Seconds before a failed write is tried again."""

log = structlog.get_logger()


class Ratings:
    """Makes ranked games count, soon after they have ended."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self.mailbox = Mailbox()
        self._is_asked = False
        """True if the next look at unrated games is planned already."""
        self._stopping = False

    async def start(self) -> None:
        """Rate the games that were left when the server stopped."""
        self._ask()
        await self.settled()

    async def stop(self) -> None:
        """Rate the games that have ended, then stop."""
        self._stopping = True
        await self.settled()

    def hear(self, event: RoomEvent) -> None:
        """Rate a ranked game that has ended."""
        if isinstance(event, OutcomeReached):
            self._ask()

    async def settled(self) -> None:
        """Wait until all games that have ended by now count."""
        if self.mailbox.busy:
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

            async def say_so() -> None:
                if not done.done():
                    done.set_result(None)

            self.mailbox.put(say_so)
            await done

    def _ask(self) -> None:
        if not self._is_asked:
            self._is_asked = True
            self.mailbox.put(self._settle_all)

    async def _settle_all(self) -> None:
        self._is_asked = False
        try:
            for record in await self._journal.records(RecordQuery(UNRATED)):
                await self._settle(record)
        except Trouble as error:  # the disk is full, say; the records wait
            log.error("not_rated", error=str(error))
            if not self._stopping:
                self._clock.call_at(self._clock.now() + TRY_AGAIN, self._ask)

    async def _settle(self, record: Record) -> None:
        try:
            game = read(record, read_unrated)
        except Damaged:  # logged: the others count
            return
        changes: list[Change] = [Unchanged(record), Drop(UNRATED, key=record.key)]
        standings = []
        for player in game.players:
            standing, kept = await standing_on(self._journal, game.ladder, player)
            standings.append(standing)
            if kept is not None:
                changes.append(Unchanged(kept))
        names = {player.id: player.name for player in game.players}
        settled = settle(standings, outcome=game.outcome, date=game.date, names=names)
        for old, new in zip(standings, settled, strict=True):
            changes += await self._rated_result(record, old, new)
        try:
            await self._journal.keep(*changes, *map(standing_record, settled))
        except Fenced:
            raise
        except Conflict:  # another server on the same journal was faster
            self._ask()

    async def _rated_result(self, record: Record, old: Standing, new: Standing) -> Sequence[Change]:
        """Note in a player's result what the game made of their rating; a damaged result stays as it is."""
        try:
            before, after = old.rating.rating, new.rating.rating
            return await rated_result(self._journal, record, new.player, before, after) or ()
        except Damaged:
            return ()

"""New names of players: taken to where they sit, and out of what deleted accounts have left.

A note of it is in the write that changes the player, so that no crash forgets it. It is carried out right
after that, and once more a minute later, when whatever was being written with the old name is there, too.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import msgspec
import structlog
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
    Record,
    RecordQuery,
    RoomQuery,
    Trouble,
    Unchanged,
)
from parlour.server.clock import Clock
from parlour.server.owned_records import drop_owned
from parlour.server.parts.accounts.name_records import renew_keys
from parlour.server.poller import LOOK_EVERY, Poller
from parlour.server.record_decoding import read
from parlour.server.result_records import RESULT, UNRATED, read_result, read_unrated, results_of
from parlour.server.rooms.calls import Perform, RoomCall
from parlour.server.sessions import Introduced, Sessions
from parlour.server.standings import STANDING, read_standing, standing_record
from parlour.server.ticket_records import TICKET
from parlour.wire import Rename

NAME_CHANGE = "name_change"
ONCE_MORE = 60.0
"""Seconds until it is carried out once more."""
PAUSES = (1.0, 5.0, 30.0, 300.0, 3600.0)
"""Seconds until it is tried again, where a room could not be asked."""
AT_ONCE = 100
"""Notes that one look reads."""
TRIES = 5
_OVER = (Code.UNKNOWN_ROOM, Code.ROOM_ENDED, Code.NOT_SEATED)
"""How a room refuses that has ended meanwhile, or where the player has no seat any more."""

CallRoom = Callable[[str, RoomCall], Awaitable[Any]]
"""Asks the owner of a room, by the room's id."""

Renamed = Callable[[tuple[Player, ...]], tuple[Player, ...]]
"""Gives the same players, one of whom has another name."""

log = structlog.get_logger()


class NameChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """A player has another name, or an account now."""

    is_deleted: bool = msgspec.field(name="is_gone", default=False)
    """They were deleted: the old name goes from results, too."""
    is_done: bool = False
    """It was carried out once."""
    failed: int = 0
    """How often it could not be carried out."""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(NameChange).decode


def name_change(player: str, now: float, *, is_deleted: bool = False) -> Record:
    """The note that is kept in the write that gives a player another name."""
    return Record(NAME_CHANGE, player, _encode(NameChange(is_deleted)), owner=player, due=now)


class NameChanges(Poller):
    """Carries out what is noted of new names."""

    failed = "not_renamed"

    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        sessions: Sessions,
        call: CallRoom,
        is_shared: Callable[[], bool],
    ) -> None:
        super().__init__(clock)
        self._journal, self._sessions, self._call = journal, sessions, call
        self._is_shared = is_shared

    def now(self) -> float:
        """From when on something is to be carried out."""
        return self._clock.now()

    def start(self) -> None:
        """Go on with what was left when the server stopped."""
        self.look_soon()

    # As time goes by.

    async def look(self) -> float | None:
        """Carry out what is due."""
        due_now = RecordQuery(NAME_CHANGE, due_by=self._clock.now(), limit=AT_ONCE)
        for note in await self._journal.records(due_now):
            if self.is_stopping:
                return None
            await self._carry_out(note)
        if self._is_shared():  # with workers of an older version, perhaps, which compare names otherwise
            await renew_keys(self._journal, newer=False)
        return await self._next_due()

    async def _next_due(self) -> float | None:
        """When the next look is worth it, if ever."""
        first = await self._journal.records(RecordQuery(NAME_CHANGE, due_by=float("inf"), limit=1))
        times = [note.due for note in first if note.due is not None]
        if self._is_shared():
            times.append(self._clock.now() + LOOK_EVERY)
        return min(times, default=None)

    async def _carry_out(self, note: Record) -> None:
        """Carry a note out, and keep when it is to be looked at again, if ever."""
        try:
            change = read(note, _decode)
        except Damaged:  # logged
            await self._keep(note, Drop(NAME_CHANGE, key=note.key))
            return
        try:
            missed = await self._rename(note.key, change)
        except Damaged as why:
            missed = [str(why)]
        except Trouble:  # the disk is full, say: all names wait
            raise
        except Exception as why:  # a mistake of ours keeps no other name back
            log.exception("renaming_failed", player=note.key)
            missed = [repr(why)]
        if missed:
            log.warning("not_renamed_everywhere", player=note.key, why="; ".join(missed))
            pause = PAUSES[min(change.failed, len(PAUSES) - 1)]
            await self._leave(note, replace(change, failed=change.failed + 1), pause)
            return
        if change.is_done:
            await self._keep(note, Drop(NAME_CHANGE, key=note.key))
        else:
            await self._leave(note, replace(change, is_done=True), ONCE_MORE)

    async def _leave(self, note: Record, change: NameChange, pause: float) -> None:
        due = self._clock.now() + pause
        await self._keep(note, replace(note, body=_encode(change), due=due))
        self.look_at(due)

    async def _keep(self, note: Record, change: Change) -> None:
        """Change a note, unless the player has yet another name, or another worker was first."""
        try:
            await self._journal.keep(Unchanged(note), change)
        except Fenced:
            raise
        except Conflict:
            self.look_at(self._clock.now())

    # What has the name.

    async def _rename(self, id: str, change: NameChange) -> list[str]:
        """Take the name wherever it is to be; which rooms were missed, and why, in sentences."""
        name, _, account = who = await self._sessions.introduce(id)
        missed = await self._rename_at_seats(id, who)

        def renamed(players: tuple[Player, ...]) -> tuple[Player, ...]:
            named = (replace(one, name=name, account=account) if one.id == id else one for one in players)
            return tuple(named)

        await _rename_in_ratings(self._journal, id, name, renamed)
        return [*missed, *await self._forget(id, renamed)] if change.is_deleted else missed

    async def _rename_at_seats(self, id: str, who: Introduced) -> list[str]:
        """Take the name to the seats in open rooms; those that could not be asked, and why."""
        missed = []
        for found in await self._journal.rooms(RoomQuery(player=id)):
            mine = [seat for seat in found.summary.seats if seat is not None and seat.id == id]
            if all((seat.name, seat.account) == (who.name, who.account) for seat in mine):
                continue
            try:
                await self._call(found.summary.id, Perform(Rename(id, who.name, who.account)))
            except Refused as why:
                if why.code not in _OVER:
                    missed.append(f"room {found.summary.id}: {why}")
        return missed

    async def _forget(self, id: str, renamed: Renamed) -> list[str]:
        """Take the name of somebody who was deleted from others' results, and from rooms that have ended."""
        missed = []
        if drops := await drop_owned(self._journal, TICKET, id):
            await self._journal.keep(*drops)
        for result in await results_of(self._journal, id, None):
            for other in result.against:
                key = f"{result.number}/{result.seq}/{other.id}"
                await _rewrite(self._journal, RESULT, key, "", lambda body: _in_result(body, renamed))
            try:
                await self._rename_in_ended(result.number, renamed)
            except Damaged as why:  # the others go on
                missed.append(f"room {result.room}, which has ended: {why}")
        return missed

    async def _rename_in_ended(self, number: int, renamed: Renamed) -> None:
        ended = await self._journal.find(number)
        if ended is None or ended.summary.ended is None:
            return
        summary = ended.summary
        seats = tuple(None if seat is None else renamed((seat,))[0] for seat in summary.seats)
        after = replace(summary, seats=seats, coming=renamed(summary.coming))
        if after != summary:
            with suppress(Conflict):  # it was deleted meanwhile
                await self._journal.update_room(ended.number, summary=after)


async def _rename_in_ratings(journal: Journal, id: str, name: str, renamed: Renamed) -> None:
    """Take the name to the ladders, and to games that are not rated yet."""
    for record in await journal.records(RecordQuery(UNRATED)):
        await _rewrite(journal, UNRATED, record.key, "", lambda body: _in_unrated(body, renamed))
    for record in await journal.records(RecordQuery(STANDING, owner=id)):
        await _rewrite(journal, STANDING, record.key, record.group, lambda body: _in_standing(body, name))


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


def _in_standing(body: bytes, name: str) -> bytes:
    return standing_record(replace(read_standing(body), name=name)).body


def _in_unrated(body: bytes, renamed: Renamed) -> bytes:
    game = read_unrated(body)
    return _encode(replace(game, players=renamed(game.players)))


def _in_result(body: bytes, renamed: Renamed) -> bytes:
    result = read_result(body)
    return _encode(replace(result, against=renamed(result.against)))

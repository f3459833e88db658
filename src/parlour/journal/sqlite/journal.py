"""A journal in one SQLite file: a thread that writes for all rooms at once, and a thread that reads.

Whatever waits to be written when the writer comes round is one transaction, so that many rooms share the
price of one flush to the disk. The unique key (room, seq) is the fence between two owners of one room.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from msgspec import UNSET

from parlour.journal.base import (
    Chain,
    Damage,
    Durability,
    Found,
    GameResult,
    Held,
    Kept,
    KeptEnvelope,
    KeptPlayer,
    Lost,
    NotKept,
    Player,
    Recalled,
    RoomSummary,
    StepWrites,
    Stored,
)
from parlour.journal.sqlite.file import FILE, open_file
from parlour.journal.sqlite.forgetting import prune
from parlour.journal.sqlite.mark import ProgressMark
from parlour.journal.sqlite.reads import (
    AFTER_ALL,
    BY_ID,
    BY_NUMBER,
    answers,
    due,
    ids,
    ids_like,
    missing,
    page,
    player,
    posted,
    recall,
    relay_held,
    relays_held,
    results_of,
    room,
    rooms_of,
    standings,
    standings_of,
    stored,
    tickets,
)
from parlour.journal.sqlite.sealed import ALL_TABLES, KEYS, Connection, look, walk
from parlour.journal.sqlite.sealed import Row as AnyRow
from parlour.journal.sqlite.threads import Reader, Write, Writer
from parlour.journal.sqlite.writes import (
    Extra,
    Row,
    SummaryRow,
    append,
    create,
    drop_tickets,
    encode,
    mark,
    post,
    rest,
    row_of,
    save_player,
    save_tickets,
    see_players,
)
from parlour.lobby import Ticket
from parlour.ratings import Standing
from parlour.wire import Step

T = TypeVar("T")
NOTHING: Extra = Extra([])
SEEN_EVERY = 86400.0
"""Seconds between two notes that a player was asked for."""


class SqliteJournal:
    """Keeps everything in the file ``parlour.db`` of a folder."""

    def __init__(self, folder: Path, durability: Durability, *, accept_loss: bool = False) -> None:
        self._path = folder / FILE
        self._mark = ProgressMark(folder)
        self._accept_loss = accept_loss
        self._durability = durability
        self._writer: Writer | None = None
        self._reader: Reader | None = None
        self._clock = 0.0
        """The rooms' clock, as it was last noted."""
        self._seen: set[str] = set()
        """Players who were asked for, of whom that is to be noted."""
        self._damages: dict[Damage, None] = {}
        self._inspected: tuple[int, AnyRow | None] = (0, None)
        """Which table is being checked, and after which row."""

    async def open(self) -> float:
        if self._writer is not None:
            raise RuntimeError("the journal is open already")
        writing, reading, clock = await asyncio.to_thread(self._open)
        self._damages, self._inspected, self._clock = reading.damages, (0, None), clock
        self._writer = Writer(writing, asyncio.get_running_loop())
        self._reader = Reader(reading, asyncio.get_running_loop())
        return clock

    def _open(self) -> tuple[Connection, Connection, float]:
        lost: Lost | None = None
        try:
            self._mark.check(self._path, self._durability)
        except Lost as error:
            if not self._accept_loss:
                raise
            lost = error
        writing, reading, clock = open_file(self._path, self._durability, self._mark.read())
        if lost is not None:
            reading.damages.setdefault(Damage("file", str(lost)))
            self._mark.write(clock)
        return writing, reading, clock

    async def close(self) -> None:
        writer, self._writer = self._writer, None
        reader, self._reader = self._reader, None
        if writer is not None and reader is not None:
            await reader.stop()
            await writer.stop()
            await asyncio.to_thread(self._mark.write, self._clock)

    # Writing. Whatever can fail to encode does so here, where it costs only its own caller.

    async def create(
        self,
        summary: RoomSummary,
        state: bytes,
        due: float | None,
        steps: Sequence[Step] = (),
        tickets: Sequence[Ticket] = (),
    ) -> int:
        rows = [(ticket.id, encode(ticket)) for ticket in tickets]
        number: int = await self._write(partial(create, SummaryRow.of(summary), state, due, steps, rows))
        return number

    def append(self, room: int, step: Step, aside: StepWrites, kept: Kept) -> None:
        row = row_of(room, step)
        row_of_room = None if aside.summary is None else SummaryRow.of(aside.summary)
        extra = Extra([(ticket.id, encode(ticket)) for ticket in aside.tickets], aside.scored)
        alone = row_of_room is None and aside.state is None and aside.due is UNSET and extra == NOTHING
        do = partial(append, row, row_of_room, aside.state, aside.due, extra)
        if self._writer is None:
            kept(NotKept("the journal is not open"))
        else:
            self._writer.put(Write(do, step.now, row if alone else None), kept)

    async def mark(self, room: int, summary: RoomSummary, due: float | None) -> None:
        await self._write(partial(mark, room, SummaryRow.of(summary), due))

    async def prune(self, before: float, limit: int) -> bool:
        more: bool = await self._write(partial(prune, before, self._clock, limit))
        return more

    async def rest(self, room: int, stored: Stored, due: float | None) -> None:
        await self._write(partial(rest, room, stored.seq, stored.state, due))

    async def beat(self, now: float) -> None:
        seen, self._seen = self._seen, set()
        await self._write(partial(see_players, seen, now), now)
        self._clock = max(self._clock, now)
        if self._mark.is_due(self._clock):  # what it tells of is on the disk
            await asyncio.to_thread(self._mark.write, self._clock)

    async def post(self, relay: str, letter: KeptEnvelope) -> None:
        await self._write(partial(post, relay, letter))

    async def save_ticket(self, ticket: Ticket) -> None:
        await self._write(partial(save_tickets, [(ticket.id, encode(ticket))]))

    async def drop_tickets(self, ids: Collection[str]) -> None:
        await self._write(partial(drop_tickets, tuple(ids)))

    async def save_player(self, player: Player) -> None:
        await self._write(partial(save_player, player, self._clock))

    def _write(
        self, do: Callable[[sqlite3.Connection], Any], now: float = 0.0, row: Row | None = None
    ) -> asyncio.Future[Any]:
        if self._writer is None:
            raise NotKept("the journal is not open")
        return self._writer.do(Write(do, now, row))

    # Reading.

    async def replay(self, room: int, after: int = 0) -> AsyncIterator[Step]:
        chain = Chain(room, after)
        more = True
        while more:
            rows, more = await self._read(partial(page, room, chain.seq))
            for row in rows:
                yield chain.read(*row)

    async def stored(self, room: int, at: int | None = None) -> Stored:
        return await self._read(partial(stored, room, AFTER_ALL if at is None else at))

    async def answers(self, room: int) -> dict[tuple[str, str], int]:
        return await self._read(partial(answers, room))

    async def recall(self, id: str) -> Recalled | None:
        return await self._read(partial(recall, id))

    async def find(self, id: str) -> Found | None:
        return await self._read(partial(room, BY_ID, id))

    async def ids_like(self, id: str) -> list[str]:
        return await self._read(partial(ids_like, id))

    async def room(self, number: int) -> Found | None:
        return await self._read(partial(room, BY_NUMBER, number))

    async def rooms_of(self, player: str) -> list[Found]:
        return await self._read(partial(rooms_of, player))

    async def due(self, now: float) -> list[str]:
        return await self._read(partial(due, now))

    async def left_connected(self) -> list[str]:
        return await self._read(partial(ids, "connected"))

    async def missing(self, games: Collection[str]) -> list[Found]:
        return await self._read(partial(missing, tuple(games)))

    async def held(self) -> list[str]:
        return await self._read(partial(ids, "held IS NOT NULL"))

    async def tickets(self) -> list[Ticket]:
        return await self._read(tickets)

    async def standings(self, ladder: str, limit: int) -> list[Standing]:
        return await self._read(partial(standings, ladder, limit))

    async def standings_of(self, player: str) -> list[Standing]:
        return await self._read(partial(standings_of, player))

    async def results_of(self, player: str, limit: int) -> list[GameResult]:
        return await self._read(partial(results_of, player, limit))

    async def posted(self, relay: str, most: int | None = None) -> list[bytes]:
        return await self._read(partial(posted, relay, most))

    async def relay_held(self, relay: str) -> Held | None:
        return await self._read(partial(relay_held, relay))

    async def relays_held(self) -> dict[str, int]:
        return await self._read(relays_held)

    async def key(self) -> bytes:
        return await self._read(lambda db: next(look(db, KEYS))[0])

    async def player(self, id: str) -> KeptPlayer | None:
        found = await self._read(partial(player, id))
        if found is None:
            return None
        if self._clock - found[1] >= SEEN_EVERY:
            self._seen.add(id)
        return found[0]

    def damages(self) -> Sequence[Damage]:
        return tuple(self._damages)

    async def inspect(self, limit: int) -> bool:
        at, after = self._inspected
        if at == len(ALL_TABLES):
            return False
        after = await self._read(lambda db: walk(db, ALL_TABLES[at], after, limit))
        self._inspected = (at, after) if after is not None else (at + 1, None)
        return self._inspected[0] < len(ALL_TABLES)

    async def _read(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        if self._reader is None:
            raise NotKept("the journal is not open")
        found: T = await self._reader.do(ask)
        return found

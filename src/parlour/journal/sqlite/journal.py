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
    Aside,
    Card,
    Chain,
    Durability,
    Found,
    Letter,
    NotKept,
    Player,
    Recalled,
    Result,
    Stored,
)
from parlour.journal.sqlite.file import FILE, open_file
from parlour.journal.sqlite.reads import (
    BY_ID,
    BY_NUMBER,
    LAST,
    LISTED,
    PAGE,
    SEATED,
    answers,
    due,
    ids,
    missing,
    opened_by,
    page,
    player,
    posted,
    recall,
    results_of,
    rooms,
    standings,
    standings_of,
    stored,
    tickets,
)
from parlour.journal.sqlite.threads import Reader, Write, Writer
from parlour.journal.sqlite.writes import (
    Extra,
    Plate,
    Row,
    append,
    create,
    drop_tickets,
    encode,
    mark,
    nothing,
    post,
    prune,
    rest,
    row_of,
    save_player,
    save_tickets,
)
from parlour.lobby import Ticket
from parlour.ratings import Standing
from parlour.wire import Step, digest

T = TypeVar("T")
NOTHING: Extra = Extra([])


class SqliteJournal:
    """Keeps everything in the file ``parlour.db`` of a folder."""

    def __init__(self, folder: Path, durability: Durability) -> None:
        self._path = folder / FILE
        self._durability = durability
        self._writer: Writer | None = None
        self._reader: Reader | None = None

    async def open(self) -> float:
        if self._writer is not None:
            raise RuntimeError("the journal is open already")
        writing, reading, clock = await asyncio.to_thread(open_file, self._path, self._durability)
        self._writer = Writer(writing, asyncio.get_running_loop())
        self._reader = Reader(reading, asyncio.get_running_loop())
        return clock

    async def close(self) -> None:
        writer, self._writer = self._writer, None
        reader, self._reader = self._reader, None
        if writer is not None and reader is not None:
            await reader.stop()
            await writer.stop()

    # Writing. Whatever can fail to encode does so here, where it costs only its own caller.

    async def create(
        self,
        card: Card,
        state: bytes,
        due: float | None,
        steps: Sequence[Step] = (),
        tickets: Sequence[Ticket] = (),
    ) -> int:
        kept = (state, digest(state))
        rows = [(ticket.id, encode(ticket)) for ticket in tickets]
        number: int = await self._write(partial(create, Plate.of(card), kept, due, steps, rows))
        return number

    async def append(self, room: int, step: Step, aside: Aside) -> None:
        row = row_of(room, step)
        plate = None if aside.card is None else Plate.of(aside.card)
        state = None if aside.state is None else (aside.state, digest(aside.state))
        extra = Extra([(ticket.id, encode(ticket)) for ticket in aside.tickets], aside.scored)
        alone = plate is None and state is None and aside.due is UNSET and extra == NOTHING
        do = partial(append, row, plate, state, aside.due, extra)
        await self._write(do, step.now, row if alone else None)

    async def mark(self, room: int, card: Card, due: float | None) -> None:
        await self._write(partial(mark, room, Plate.of(card), due))

    async def prune(self, before: float, limit: int) -> int:
        count: int = await self._write(partial(prune, before, limit))
        return count

    async def rest(self, room: int, stored: Stored, due: float | None) -> None:
        await self._write(partial(rest, room, stored.seq, (stored.state, digest(stored.state)), due))

    async def beat(self, now: float) -> None:
        await self._write(nothing, now)

    async def post(self, relay: str, letter: Letter) -> None:
        await self._write(partial(post, relay, letter, digest(letter.body)))

    async def save_ticket(self, ticket: Ticket) -> None:
        await self._write(partial(save_tickets, [(ticket.id, encode(ticket))]))

    async def drop_tickets(self, ids: Collection[str]) -> None:
        await self._write(partial(drop_tickets, tuple(ids)))

    async def save_player(self, player: Player) -> None:
        await self._write(partial(save_player, player.id, encode(player)))

    def _write(
        self, do: Callable[[sqlite3.Connection], Any], now: float = 0.0, row: Row | None = None
    ) -> asyncio.Future[Any]:
        if self._writer is None:
            raise NotKept("the journal is not open")
        return self._writer.put(Write(do, now, row))

    # Reading.

    async def replay(self, room: int, after: int = 0) -> AsyncIterator[Step]:
        chain = Chain(room, after)
        more = True
        while more:
            rows = await self._read(partial(page, room, chain.seq))
            for row in rows:
                yield chain.read(*row)
            more = len(rows) == PAGE

    async def stored(self, room: int, at: int | None = None) -> Stored:
        return await self._read(partial(stored, room, LAST if at is None else at))

    async def answers(self, room: int) -> dict[tuple[str, str], int]:
        return await self._read(partial(answers, room))

    async def recall(self, id: str) -> Recalled | None:
        return await self._read(partial(recall, id))

    async def find(self, id: str) -> Found | None:
        return next(iter(await self._read(partial(rooms, BY_ID, id))), None)

    async def room(self, number: int) -> Found | None:
        return next(iter(await self._read(partial(rooms, BY_NUMBER, number))), None)

    async def open_rooms(self, limit: int) -> list[Found]:
        return await self._read(partial(rooms, LISTED, limit))

    async def rooms_of(self, player: str) -> list[Found]:
        return await self._read(partial(rooms, SEATED, player))

    async def due(self, now: float) -> list[str]:
        return await self._read(partial(due, now))

    async def left_connected(self) -> list[str]:
        return await self._read(partial(ids, "connected"))

    async def missing(self, games: Collection[str]) -> list[Found]:
        return await self._read(partial(missing, tuple(games)))

    async def held(self) -> list[str]:
        return await self._read(partial(ids, "held IS NOT NULL"))

    async def opened_by(self, creator: str) -> int:
        return await self._read(partial(opened_by, creator))

    async def tickets(self) -> list[Ticket]:
        return await self._read(tickets)

    async def standings(self, ladder: str, limit: int) -> list[Standing]:
        return await self._read(partial(standings, ladder, limit))

    async def standings_of(self, player: str) -> list[Standing]:
        return await self._read(partial(standings_of, player))

    async def results_of(self, player: str, limit: int) -> list[Result]:
        return await self._read(partial(results_of, player, limit))

    async def posted(self, relay: str) -> list[bytes]:
        return await self._read(partial(posted, relay))

    async def player(self, id: str) -> Player | None:
        return await self._read(partial(player, id))

    async def _read(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        if self._reader is None:
            raise NotKept("the journal is not open")
        found: T = await self._reader.put(ask)
        return found

"""`parlour export`: the finished games of a server's journal as lines of JSON."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import IO, Any, NamedTuple

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.games import GAMES
from parlour.journal.base import Damaged, Found, Journal, NotKept
from parlour.journal.sqlite import SqliteJournal
from parlour.journal.sqlite.copying import SqliteSource
from parlour.journal.sqlite.file import FILE
from parlour.server.bots.players import PREFIX
from parlour.server.gateway.http_listener import only_server_of
from parlour.server.rooms.stored_room import thaw
from parlour.sim.records import line_of
from parlour.sim.room_records import NoRecord, Number, numbered, records_of


class Wanted(NamedTuple):
    """Which games are wanted, and how."""

    game: str = ""
    room: str = ""
    views: bool = False


class Exported(NamedTuple):
    """What came of an export."""

    games: int
    running: int
    """Rooms whose last game goes on; it is not exported."""
    troubles: list[str]
    """Games that could not be exported, and why."""


def export(
    folder: Path,
    wanted: Wanted,
    out: IO[bytes],
    heard: Callable[[int, int], None],
    games: Mapping[str, Game[Any]] = GAMES,
) -> Exported:
    """Write every finished game of a data folder, which no server may be using."""
    if not Path(folder, FILE).exists():
        raise NotKept(f"there is no journal in {folder}")
    with only_server_of(folder):
        return asyncio.run(_export(folder, wanted, out, heard, games))


async def _export(
    folder: Path,
    wanted: Wanted,
    out: IO[bytes],
    heard: Callable[[int, int], None],
    games: Mapping[str, Game[Any]],
) -> Exported:
    async with aclosing(SqliteSource(folder)) as rows:
        last = await rows.last_number()
    journal = SqliteJournal(folder, "disk")
    await journal.open()
    try:
        return await _write(journal, last, wanted, out, heard, games)
    finally:
        await journal.close()


async def _write(
    journal: Journal,
    last: int,
    wanted: Wanted,
    out: IO[bytes],
    heard: Callable[[int, int], None],
    games: Mapping[str, Game[Any]],
) -> Exported:
    written, running, number, troubles = 0, 0, numbered(), list[str]()
    async for found in _rooms(journal, last, wanted, heard):
        game = games.get(found.summary.game)
        is_running = found.summary.outcome is None and found.summary.ended is None
        running += is_running
        if wanted.room and is_running:
            raise Refused(
                Code.NOT_OVER, f"expected a room whose game is over, but {wanted.room} is being played"
            )
        if game is None:
            troubles.append(f"room {found.summary.id}: there is no game {found.summary.game} here")
            continue
        try:
            for record in await _records(journal, game, found, number):
                if isinstance(record, NoRecord):
                    troubles.append(f"room {found.summary.id}: {record}")
                else:
                    out.write(line_of(record, game, views=wanted.views))
                    written += 1
        except (Damaged, Refused) as why:
            troubles.append(f"room {found.summary.id}: {why.message if isinstance(why, Refused) else why}")
    return Exported(written, running, troubles)


async def _rooms(
    journal: Journal, last: int, wanted: Wanted, heard: Callable[[int, int], None]
) -> AsyncIterator[Found]:
    """All rooms there ever were, as far as they are kept and wanted."""
    for number in range(1, last + 1):
        found = await journal.find(number)
        heard(number, last)
        if found is None or wanted.game not in ("", found.summary.game):
            continue
        if wanted.room in ("", found.summary.id):
            yield found


async def _records(journal: Journal, game: Game[Any], found: Found, number: Number) -> list[Any]:
    opening = thaw(game, (await journal.stored(found.number, at=0)).state)
    steps = [step async for step in journal.replay(found.number)]
    return list(records_of(game, opening, steps, number, _bot_name))


def _bot_name(player: str) -> str:
    return player.removeprefix(PREFIX).partition(":")[0] if player.startswith(PREFIX) else ""

"""What happens to a server's process, clock and file while people play; and a game that turns against it."""

import asyncio
import os
import random
import signal
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx

from tests.attack.bystanders import Bystanders
from tests.attack.hostile import Tally
from tests.attack.hostile_game import DEEDS
from tests.e2e.clients import Raw
from tests.e2e.servers import Server

GAME = Path(__file__).with_name("hostile_game.py")
DAY = 86400
JUMPS = (40 * DAY, -3600, -2, 0)
"""Seconds by which the wall clock is off, one after the other."""
PAUSE = 12.0
"""Seconds for which the process stands still: longer than a client may be silent."""

Fault = Callable[[Server, Bystanders], Awaitable[Tally]]


# The wall clock.


def false_clock(folder: Path) -> dict[str, str]:
    """The environment of a process whose wall clock is told by a file in this folder."""
    set_clock(folder, 0)
    return {
        "LD_PRELOAD": str(faketime_library()),
        "FAKETIME_TIMESTAMP_FILE": str(folder / "clock"),
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_FORCE_MONOTONIC_FIX": "0",  # else threads wait for each other for up to a second
        "FAKETIME_NO_CACHE": "1",
    }


def faketime_library() -> Path:
    """Debian's libfaketime, which scripts/setup-faults installs."""
    found = [*Path("/usr/lib").glob("*/faketime/libfaketime.so.1")]
    assert found, "expected Debian's faketime; scripts/setup-faults installs it"
    return found[0]


def set_clock(folder: Path, seconds: float) -> None:
    """Let the wall clock be off by so much."""
    draft = folder / "clock.new"
    draft.write_text(f"{seconds:+}s\n", encoding="ascii")
    draft.rename(folder / "clock")


async def jump(server: Server, bystanders: Bystanders) -> Tally:
    """The wall clock jumps; who somebody is and what has ended stays."""
    tally = Tally()
    folder = Path(server.environment["FAKETIME_TIMESTAMP_FILE"]).parent
    async with httpx.AsyncClient(base_url=f"http://{server.address}", timeout=20) as http:
        first = (await http.post("/api/players", json={"name": "Ann"})).json()["id"]
        ended = await _ended_room(server)
        for off in JUMPS:
            set_clock(folder, off)
            await asyncio.sleep(2.5)  # two heartbeats: whatever goes by the clock has gone by it
            again = (await http.post("/api/players", json={})).json()["id"]
            tally["strangers"] += again != first
            tally["forgotten"] += (await http.get(f"/api/rooms/{ended}")).status_code != 200
            tally["done"] += 1
    return tally


async def _ended_room(server: Server) -> str:
    """A room whose only player has left for good, and which is over."""

    def play() -> str:
        room: str = server.open_room("minesweeper")["id"]
        line = Raw(server, server.guest("Leaver").token)
        line.join(room)
        line.ask(f"game:{room}", "leave", {})
        line.close()
        return room

    room = await asyncio.to_thread(play)
    async with asyncio.timeout(20):
        while server.room(room)["ended"] is None:  # noqa: ASYNC110 - the server is another process
            await asyncio.sleep(0.1)
    return room


# The process.


async def pause(server: Server, bystanders: Bystanders) -> Tally:
    """The process stands still for longer than a client may be silent; nobody is cut for it."""
    os.kill(server.pid, signal.SIGSTOP)
    await asyncio.sleep(PAUSE)
    os.kill(server.pid, signal.SIGCONT)
    await bystanders.all_answered()
    return Tally(done=1, lost_lines=bystanders.lines_lost)


async def bad_deeds(server: Server, bystanders: Bystanders) -> Tally:
    """Each bad deed of a game is refused with a code, and the room can be entered again."""

    def act() -> Tally:
        tally = Tally()
        token = server.guest("Mallory").token
        for deed in DEEDS:
            room = server.open_room("hostile")["id"]
            line = Raw(server, token)
            line.join(room)
            answer = line.ask(f"game:{room}", "game_event", {"event": {"type": "do", "deed": deed}})
            known = answer.code in ("game_error", "game_overran")
            tally["refused" if known else "unanswered"] += 1
            line.close()
            again = Raw(server, token)
            again.join(room)  # is answered: at a silent room this raises
            again.close()
        return tally

    return await asyncio.to_thread(act)


# The file.


async def damage(server: Server, bystanders: Bystanders) -> Tally:
    """A byte of one row of every table is flipped while the server is down; it starts, and others play on."""
    await asyncio.to_thread(furnish, server)
    bystanders.before_stop()
    await asyncio.to_thread(server.kill)
    damaged = damage_rows(server.data / "parlour.db", Tally(), random.Random(1))
    await asyncio.to_thread(server.start)
    await bystanders.after_restart()
    paths = ("/api/rooms", "/api/leaderboard?game=backgammon", "/health")
    answers = [await asyncio.to_thread(server.call, "GET", path) for path in paths]
    damaged["server_errors"] += sum(answer.status_code == 500 for answer in answers)
    damaged["untold"] += "damage" not in answers[-1].text
    return damaged


def furnish(server: Server) -> None:
    """Let there be rooms, a player and a ticket besides those of the bystanders."""
    for number in range(3):
        room = server.open_room()["id"]
        line = Raw(server, server.guest(f"Cid {number}").token)
        line.join(room)
        line.ask(f"game:{room}", "chat", {"text": "anybody there?"})
        line.close()
    token = server.guest("Dee").token
    headers = {"Authorization": f"Bearer {token}"}
    server.call("POST", "/api/tickets", {"game": "backgammon"}, headers=headers)


OTHERS = "room NOT IN (SELECT number FROM rooms WHERE id LIKE 'room-%')"
PLACES = [
    ("steps", "body", OTHERS),
    ("states", "body", OTHERS),
    ("rooms", "card", "id NOT LIKE 'room-%'"),
    ("records", "body", "kind = 'player' AND CAST(body AS TEXT) LIKE '%Cid%'"),
    *(
        ("records", "body", f"kind = '{kind}'")
        for kind in ("ticket", "standing", "result", "relay", "envelope")
    ),
]
"""Where there is something that is not a bystander's."""


def damage_rows(file: Path, tally: Tally, chance: random.Random) -> Tally:
    """Flip a byte of a value in a row of every table, and of every kind of record."""
    with closing(sqlite3.connect(file)) as db, db:
        for table, column, which in PLACES:
            tally["done"] += _flip(db, table, column, which, chance)
    return tally


def _flip(db: sqlite3.Connection, table: str, column: str, which: str, chance: random.Random) -> bool:
    # The newest room: whatever is done twice would flip the same byte back if it met the same row again.
    order = "number DESC" if table == "rooms" else "random()"
    row = db.execute(f"SELECT {column} FROM {table} WHERE {which} ORDER BY {order} LIMIT 1").fetchone()
    if row is None:
        return False
    value: Any = bytearray(row[0])
    value[chance.randrange(len(value))] ^= 1 << chance.randrange(8)
    db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (bytes(value), row[0]))
    return True


FAULTS: dict[str, Fault] = {
    "wall clock set forward and back": jump,
    "paused process": pause,
    "bad callbacks": bad_deeds,
    "damaged rows": damage,
}

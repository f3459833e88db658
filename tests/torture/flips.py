"""One byte of what is kept is flipped, anywhere; then a server goes about its work on it."""

import shutil
import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import httpx
import msgspec
from structlog.testing import capture_logs

from parlour.doors.ogetarts import WithOgetarts
from parlour.journal.rows import ALL_TABLES, RECORDS
from parlour.journal.sqlite import SqliteJournal
from parlour.server.api.endpoints import Api, web_app
from parlour.server.endpoint_records import Endpoint, endpoint_record
from parlour.server.limits import Limits
from parlour.server.tokens import Bearer, Tokens
from tests.server.relaying import Exchange
from tests.server.world import PLAYABLE, Person, World

TOKENS = Tokens(b"k" * 32)
BEARERS = {"ann": Bearer("ann", 0), "bob": Bearer("bob", 0), "cid": Bearer("cid", 1, 1)}
"""Two guests, and somebody with an account."""
ROOMS = ("ONE", "TWO", "SECRET", "OVER", "RINGS")
PEOPLE = ("ann", "bob", "cid")
KINDS = {
    "ticket",
    "player",
    "standing",
    "result",
    "relay",
    "envelope",
    "secret",
    "turn",
    "endpoint",
    "delivery_again",
    "account_name",
    "recovery_code",
    "sign_in_link",
}
"""The records that there are."""
LAWFUL = {"room_damaged", "room_ended", "unknown_room"}
"""What a room may say that cannot be shown."""


class Flip(msgspec.Struct, frozen=True):
    """Which byte: in which column of which row."""

    table: str
    row: int
    column: str
    before: Any
    after: Any


async def furnish(folder: Path) -> dict[str, Any]:
    """A data folder with something in every table; what there is to see in each room."""
    journal = SqliteJournal(folder, "process")
    async with World(PLAYABLE, journal) as world:
        for id in ROOMS:
            await world.open(
                "probe" if id in ("OVER", "RINGS") else "tictactoe", id, private=id == "SECRET", creator="ann"
            )
        people = {name: await world.person(name) for name in PEOPLE}
        for id in ("ONE", "TWO", "SECRET"):
            await people["ann"].join(id)
            await people["bob"].join(id)
            for turn, cell in enumerate((4, 0, 8)):
                person = people[("ann", "bob")[turn % 2]]
                status, answer = await person.play(id, {"type": "mark", "cell": cell}, f"move {turn}")
                assert status == "ok", answer
        await people["cid"].join("OVER")
        await people["cid"].push("OVER", "leave", {})
        await people["cid"].join("RINGS")
        await people["cid"].play("RINGS", {"type": "plan", "key": "bell", "seconds": 5000})
        await play_ranked(people)
        await people["cid"].send(["L", "q", "lobby", "queue", {"game": "tictactoe"}])
        await world.server.accounts.open("cid", "Cid", "a phone")
        await world.server.accounts.make_link(BEARERS["cid"])
        exchange = Exchange(journal, relay_history=True)
        await exchange.connect("zoe", "/g/tables?id=zoe")
        await exchange.send("zoe", "hello")
        refused = Endpoint("e" * 32, "webhook", "bob", "https://127.0.0.1/turns", 0.0)
        await journal.keep(endpoint_record(refused))  # he is away in his turns; nobody can tell him there
        for person in people.values():
            await person.drop()
        await world.wait(100)
        await world.server.rooms.beat()
        assert not journal.damages()
    async with World(PLAYABLE, SqliteJournal(folder, "process")) as world:
        return {id: await seen(world, id) for id in ROOMS}


async def play_ranked(people: dict[str, Person]) -> None:
    """A game that counts, to its end."""
    two = {name: people[name] for name in ("ann", "bob")}
    for name, person in two.items():
        await person.send(["L", name, "lobby", "phx_join", {}])
        await person.send(["L", "q", "lobby", "queue", {"game": "tictactoe", "mode": "ranked"}])
    room = two["ann"].heard("matched")[-1][1]["room"]
    for person in two.values():
        await person.join(room)
    x, o = two["ann"].world.room(room).players
    for turn, cell in enumerate((0, 3, 1, 4, 2)):
        assert (await two[(x, o)[turn % 2]].play(room, {"type": "mark", "cell": cell}))[0] == "ok"


async def seen(world: World, id: str) -> Any:
    """What somebody who watches a room sees of it, or the code of the refusal."""
    eve = Person(world, "eve", WithOgetarts())
    status, answer = await eve.join(id, spectate=True)
    if status == "error":
        return answer["code"]
    (_, sync), *_ = eve.heard("sync")
    await eve.drop()
    return sync["view"]


def flip_one(file: Path, chance: Random) -> Flip:
    """Flip a byte of a value somewhere, all tables, kinds of records and columns being as likely."""
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        found = {kind for (kind,) in db.execute("SELECT kind FROM records")}
        assert found == KINDS, found ^ KINDS
        kinds = [(RECORDS, f"kind = '{kind}'") for kind in sorted(KINDS)]
        places = [*kinds, *((table, "TRUE") for table in ALL_TABLES if table is not RECORDS)]
        while True:
            table, which = chance.choice(places)
            column = chance.choice((*table.columns, "checksum"))
            order = ", ".join(table.order)
            there = f"FROM {table.name} WHERE {which} AND length({column}) > 0"
            (count,) = db.execute(f"SELECT count(*) {there}").fetchone()
            if not count:
                continue
            row = chance.randrange(count)
            sql = f"SELECT {column}, {order} {there} ORDER BY {order} LIMIT 1 OFFSET ?"
            before, *key = db.execute(sql, (row,)).fetchone()
            after = flipped(before, chance)
            where = " AND ".join(f"{name} = ?" for name in table.order)
            value = "CAST(? AS TEXT)" if isinstance(before, str) else "?"
            try:
                db.execute(f"UPDATE {table.name} SET {column} = {value} WHERE {where}", (after, *key))
            except (sqlite3.IntegrityError, OverflowError):  # another row has that key, or it would be none
                continue
            return Flip(table.name, row, column, before, after)


def flipped(value: Any, chance: Random) -> Any:
    """The same with one byte changed, as SQLite keeps it."""
    if isinstance(value, int):
        body = bytearray(value.to_bytes(8, "big", signed=True))
    elif isinstance(value, float):
        body = bytearray(struct.pack(">d", value))
    else:
        body = bytearray(value if isinstance(value, bytes) else value.encode())
    body[chance.randrange(len(body))] ^= chance.randrange(1, 256)
    if isinstance(value, int):
        return int.from_bytes(body, "big", signed=True)
    return struct.unpack(">d", body)[0] if isinstance(value, float) else bytes(body)


async def judge(folder: Path, expected: dict[str, Any]) -> list[str]:
    """What a server on a folder with one damaged row does that it should not."""
    faults: list[str] = []
    with capture_logs() as logs:
        async with World(PLAYABLE, SqliteJournal(folder, "process")) as world:
            api = Api(world.server, TOKENS, Limits(world.settings, world.clock), world.settings)
            transport = httpx.ASGITransport(web_app(api, None), raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://parlour.test") as http:
                faults += await visit_rooms(world, expected)
                while world.server.rooms._inspecting:
                    await world.server.rooms.beat()
                faults += await play_elsewhere(world)
                await world.wait(3)
                faults += await tour(http)
                await world.server.rooms.beat()
                health = await http.get("/health")
                if (health.status_code, health.json()["status"]) != (200, "degraded"):
                    faults.append(f"health is {health.text}")
    if not any(line["event"] == "damaged" for line in logs):
        faults.append("the damage is not in the log")
    faults += [
        f"logged {line}" for line in logs if line["event"] in ("call_failed", "job_failed", "game_failed")
    ]
    return faults


async def visit_rooms(world: World, expected: dict[str, Any]) -> list[str]:
    """All rooms are as they were, but for one at most, which says so."""
    faults = []
    lost = []
    for id, view in expected.items():
        now = await seen(world, id)
        if now != view:
            lost.append(id)
            if not isinstance(now, str) or now not in LAWFUL:
                faults.append(f"room {id} shows {now} instead of {view}")
    return faults + ([f"lost {lost}"] if len(lost) > 1 else [])


async def play_elsewhere(world: World) -> list[str]:
    """A new room is opened and played in, and one that was there goes on, or is damaged."""
    await world.open("tictactoe", "NEW")
    ann, bob = await world.seated("NEW", "ann", "bob")
    answers = [
        await ann.play("NEW", {"type": "mark", "cell": 4}),
        await bob.play("NEW", {"type": "mark", "cell": 0}),
    ]
    status, answer = await ann.join("TWO")
    if status == "ok":
        answers.append(await ann.push("TWO", "chat", {"text": "still here"}))
    elif answer["code"] not in LAWFUL:
        answers.append((status, answer))
    return [f"refused: {answer}" for status, answer in answers if status != "ok"]


async def tour(http: httpx.AsyncClient) -> list[str]:
    """Every call that reads; none may fail on our side."""
    paths = ["/api/rooms", "/api/leaderboard?game=tictactoe", "/metrics"]
    paths += [f"/api/players/{name}" for name in PEOPLE]
    for id in ROOMS:
        paths += [f"/api/rooms/{id}", f"/api/rooms/{id}/history?limit=20"]
    asked = [(path, PEOPLE[0]) for path in paths]
    asked += [
        (path, name)
        for path in ("/api/players/me/rooms", "/api/tickets", "/api/notifications")
        for name in PEOPLE
    ]
    faults = []
    for path, name in asked:
        answer = await http.get(path, headers={"Authorization": f"Bearer {TOKENS.issue(*BEARERS[name])}"})
        lawful = answer.status_code == 200 or answer.json()["code"] in {*LAWFUL, "not_found"}
        if not lawful:
            faults.append(f"{path}: {answer.status_code} {answer.text}")
    for name in PEOPLE:
        headers = {"Authorization": f"Bearer {TOKENS.issue(*BEARERS[name])}"}
        answer = await http.post("/api/players", json={"name": name.upper()}, headers=headers)
        if answer.status_code != 201 and answer.json()["code"] != "room_damaged":
            faults.append(f"{name} cannot come: {answer.text}")
    return faults


async def flip_and_judge(furnished: Path, expected: dict[str, Any], scratch: Path, seed: str) -> list[str]:
    """One byte, one server; what was wrong, with the byte."""
    shutil.copytree(furnished, scratch)
    flip = flip_one(scratch / "parlour.db", Random(seed))
    try:
        faults = await judge(scratch, expected)
    finally:
        shutil.rmtree(scratch)
    return [f"{seed} {flip}: {fault}" for fault in faults]

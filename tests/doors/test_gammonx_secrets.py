"""A GammonX id opens a seat, so only its owner hears it: on no other wire, in no list, history or log."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from parlour.journal.sqlite import SqliteJournal
from parlour.journal.sqlite.file import FILE
from parlour.pseudonyms import Pseudonyms
from parlour.server import metrics
from parlour.server.standings import leaders
from parlour.wire import digest
from tests.doors.hall import Hall, guid
from tests.server.test_pairing import at_lobby
from tests.server.test_ratings import calls


@pytest.fixture
async def hall():
    async with Hall() as hall:
        yield hall


def told(*heard: Any) -> str:
    """Everything that was heard, as one text, however ids are written in it."""
    return msgspec.json.encode(heard).decode().lower().replace("-", "")


def secret(who: str) -> str:
    return guid(who).replace("-", "")


async def test_nobody_else_hears_the_id_that_opens_a_seat(hall):
    with capture_logs() as logs:
        (eve,) = await at_lobby(hall.world, "eve")
        match = await hall.want("ann", 0, 1)
        assert await hall.want("bob", 0, 1) == match
        ann, bob = await hall.come("ann", match), await hall.come("bob", match)
        for who in (ann, bob):
            await who.do("JoinMatch", who.id)
        assert (await eve.join(match, spectate=True))[0] == "ok"
        dan = await hall.world.person("dan")
        assert (await dan.join(match, spectate=True, format="scene"))[0] == "ok"
        for who in (ann, bob):
            await who.do("StartGame")
        await ann.drop()
        ann = await hall.come("ann", match)
        thief = await hall.come("ann", match)
        await hall.wait(0.2)
        assert thief.events() == ["error"]
        stranger = await hall.come("cid", match)
        await stranger.refused("JoinMatch", stranger.id)
        await hall.alive(31, ann, bob)
        await ann.do("ResignMatch")
        await hall.quiet()
    heard = [bob.raw, stranger.raw, eve.frames, dan.frames, logs, await pages(hall, match)]
    assert secret("ann") in told(ann.raw), "who is told their own"
    assert secret("bob") not in told(ann.raw)
    assert hall.player("ann") in told(heard)
    for text in map(told, heard):
        assert text
        assert secret("ann") not in text
        if text != told(bob.raw):
            assert secret("bob") not in text


async def pages(hall: Hall, match: str) -> list[Any]:
    """All that can be asked over HTTP."""
    async with calls(hall.world) as http:
        paths = [
            "/api/rooms",
            f"/api/rooms/{match}",
            f"/api/rooms/{match}/history",
            f"/api/rooms/{match}/history?format=scene",
            "/api/leaderboard?game=backgammon&variant=backgammon",
            *(f"/api/players/{hall.player(who)}" for who in ("ann", "bob")),
        ]
        answers = [await http.get(path) for path in paths]
        assert {answer.status_code for answer in answers} == {200}
        assert hall.player("bob") in answers[4].text
        return [*(answer.text for answer in answers), metrics.text().decode()]


async def test_what_others_are_told_opens_nothing(hall):
    one, other = await hall.playing()
    await one.drop()
    for id in (hall.seen(one.who, one.match), hall.player(one.who).removeprefix("gammonx:")):
        thief = await hall.come("eve", query=f"matchId={one.match}&playerId={id}")
        assert thief.events() == []
        thief.match = one.match
        assert (await thief.refused("JoinMatch", id))[0] == "LOBBY_ERROR"
    assert other.events() == ["player-disconnected"]


async def test_a_player_has_another_id_in_every_match_and_one_that_lasts_in_lists(hall):
    ids, match = set(), ""
    for _ in range(2):
        one, other = await hall.playing()
        await one.do("GameState")
        ids.add(one.last("game-state")["activeTurn"])
        ids.add(hall.seen(other.who, one.match))
        await one.do("ResignMatch")
        match = one.match
    assert len(ids) > 2
    (ann,) = {seat.id for seat in (await hall.world.server.rooms.look(match)).seats} - {hall.player("bob")}
    assert ann == hall.player("ann")


async def test_a_journal_of_before_shows_no_such_id_and_everybody_keeps_their_rating(tmp_path, monkeypatch):
    with monkeypatch.context() as before:
        before.setattr(Pseudonyms, "player", lambda _, guid: f"gammonx:{guid}")
        async with Hall(journal=SqliteJournal(tmp_path, "process"), store_every=3) as hall:
            over = await hall.want("ann", 0, 1)
            assert await hall.want("bob", 0, 1) == over
            for who in [await hall.come(name, over) for name in ("ann", "bob")]:
                await who.do("JoinMatch", who.id)
            await hall.people[1].do("ResignMatch")
            one, other = await hall.playing()
            await one.do("Roll")
            was = one.last("game-state")
            waiting = await hall.want("cid", 2)
            ladder = await leaders(hall.world.journal, "backgammon/backgammon", 9)
            assert [standing.player for standing in ladder] == [
                f"gammonx:{guid('ann')}",
                f"gammonx:{guid('bob')}",
            ]
    make_old(tmp_path)
    async with Hall(journal=SqliteJournal(tmp_path, "process")) as hall:
        now = await leaders(hall.world.journal, "backgammon/backgammon", 9)
        assert [standing.player for standing in now] == [hall.player("ann"), hall.player("bob")]
        assert [standing.rating for standing in now] == [standing.rating for standing in ladder]
        heard = told(await pages(hall, over))
        assert not any(secret(who) in heard for who in ("ann", "bob"))
        back = await hall.come(one.who, one.match)
        await back.do("GameState")
        assert back.last("game-state") == was | {"activeTurn": back.id}, (
            "the match goes on, for its own players"
        )
        assert await hall.want("dan", 2) == waiting
    with closing(sqlite3.connect(tmp_path / FILE)) as db:
        kept = [db.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES]
    assert not any(guid(who) in repr(kept) for who in ("ann", "bob", "cid"))
    assert "gammonx:" in repr(kept)


TABLES = ("rooms", "seats", "steps", "states", "records")


OLD = Path(__file__).parent.parent / "data" / "format-3" / FILE
WERE = {
    "players": "SELECT key, body FROM records WHERE kind = 'player'",
    "tickets": "SELECT key, body FROM records WHERE kind = 'ticket'",
    "standings": "SELECT in_group, key, sort, body FROM records WHERE kind = 'standing'",
    "results": "SELECT NULL, owner, body FROM records WHERE kind = 'result' ORDER BY sort, rowid",
}
"""What had tables of its own in that format."""


def make_old(folder: Path) -> None:
    """Make a file of the format in which ids were kept as they are, by what such a file has."""
    (folder / "old.db").write_bytes(OLD.read_bytes())
    with (
        closing(sqlite3.connect(folder / "old.db")) as old,
        closing(sqlite3.connect(folder / FILE, isolation_level=None)) as db,
    ):
        db.create_function("digest", 1, digest)
        for index in names(db, "index") - names(old, "index"):
            db.execute(f"DROP INDEX {index}")
        for table in names(db, "table") & names(old, "table"):
            if "hash" in columns(old, table):
                db.execute(f"ALTER TABLE {table} RENAME COLUMN checksum TO hash")
                db.execute(f"UPDATE {table} SET hash = digest(body)")
            for column in columns(db, table) - columns(old, table):
                db.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        for table in names(old, "table") - names(db, "table"):
            (sql,) = old.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
            db.execute(sql)
            if table in WERE:
                db.execute(f"INSERT INTO {table} {WERE[table]}")
        db.execute("DROP TABLE records")
        db.execute("PRAGMA user_version = 3")


def names(db: sqlite3.Connection, type: str) -> set[str]:
    rows = db.execute("SELECT name FROM sqlite_master WHERE type = ? AND name NOT GLOB 'sqlite_*'", (type,))
    return {name for (name,) in rows}


def columns(db: sqlite3.Connection, table: str) -> set[str]:
    return {name for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))}

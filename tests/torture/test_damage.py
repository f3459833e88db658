"""A history that is not as it was written: its room is closed to everybody, all other rooms are open."""

import sqlite3
from contextlib import closing
from time import monotonic

import pytest

from parlour.journal.rows import STEPS, with_checksum
from tests.torture.bare import Seated, sit

pytestmark = pytest.mark.e2e


def change(db, room, body):
    db.execute("UPDATE steps SET body = ? WHERE room = ? AND seq = 5", (body, room))


def flip(db, room):
    """One letter of a kept step has changed: another cell was marked."""
    (body,) = db.execute("SELECT body FROM steps WHERE room = ? AND seq = 5", (room,)).fetchone()
    assert body.count(b'"cell": 4') == 1
    change(db, room, body.replace(b'"cell": 4', b'"cell": 5'))


def forge(db, room):
    """A kept step was changed by somebody who knows how to make its checksum fit."""
    flip(db, room)
    columns = ", ".join(STEPS.columns)
    row = db.execute(f"SELECT {columns} FROM steps WHERE room = ? AND seq = 5", (room,)).fetchone()
    db.execute(
        "UPDATE steps SET checksum = ? WHERE room = ? AND seq = 5", (with_checksum(STEPS, *row)[-1], room)
    )


def tear_out(db, room):
    """A kept step is gone."""
    db.execute("DELETE FROM steps WHERE room = ? AND seq = 5", (room,))


def scribble(db, room):
    """What was a kept step is no JSON any more."""
    change(db, room, b"\xff\x00 not a step")


def smudge(db, room):
    """The stored state has changed."""
    (body,) = db.execute("SELECT body FROM states WHERE room = ?", (room,)).fetchone()
    db.execute("UPDATE states SET body = ? WHERE room = ?", (body.replace(b".", b"X", 1), room))


DAMAGES = [flip, forge, tear_out, scribble, smudge]


def play(knock, server, room, ann, bob):
    """Two people, two moves."""
    players = [sit(knock, server, room, guest) for guest in (ann, bob)]
    assert [players[0].mark(4).status, players[1].mark(0).status] == ["ok", "ok"]


def do_damage(server):
    """Each damage to the room of its name."""
    with closing(sqlite3.connect(server.data / "parlour.db")) as db, db:
        for damage in DAMAGES:
            ((number,),) = db.execute("SELECT number FROM rooms WHERE id = ?", (damage.__name__,)).fetchall()
            damage(db, number)


def test_damaged_rooms_are_refused_and_the_others_load(fail, knock):
    server = fail()
    ann, bob, eve = server.guest("Ann"), server.guest("Bob"), server.guest("Eve")
    bad = [server.open_room(id=damage.__name__)["id"] for damage in DAMAGES]
    good = server.open_room()["id"]
    for room in (*bad, good):
        play(knock, server, room, ann, bob)
    server.kill()
    do_damage(server)
    server.start()
    for room in bad:
        assert Seated(knock(server, ann.token), room).enter().code == "room_damaged", room
        assert Seated(knock(server, eve.token), room).enter(spectate=True).code == "room_damaged", room
    player = sit(knock, server, good, ann)
    assert player.pushes("sync")[0]["view"]["cells"] == "O...X...."
    assert player.mark(8).status == "ok"
    assert server.call("GET", "/health").status_code == 200
    assert "room_damaged" in server.log
    assert "Traceback" not in server.log


def test_a_server_whose_log_was_lost_says_so_and_goes_on_only_when_told_to(fail, knock):
    server = fail()
    ann, bob = server.guest("Ann"), server.guest("Bob")
    play(knock, server, server.open_room()["id"], ann, bob)
    wait_for_mark(server)
    server.kill()
    (server.data / "parlour.db-wal").unlink()
    server.begin()
    assert server.wait(30) == 1
    server.kill()
    assert "parlour.db-wal is missing or damaged" in server.log
    assert "Traceback" not in server.log
    server.environment["PARLOUR_ACCEPT_LOSS"] = "1"
    server.start()
    health = server.call("GET", "/health")
    assert (health.status_code, health.json()["status"]) == (200, "degraded")
    server.stop()
    del server.environment["PARLOUR_ACCEPT_LOSS"]
    server.start()
    assert server.call("GET", "/health").json()["status"] == "ok"


def wait_for_mark(server):
    """A heartbeat after this the mark is beyond all that is not in the log."""
    mark = server.data / "parlour.mark"
    end = monotonic() + 30
    before = mark.read_text() if mark.exists() else ""
    while monotonic() < end:
        if mark.exists() and mark.read_text() != before:
            return
        server.call("GET", "/health")
    raise AssertionError("no mark in half a minute")

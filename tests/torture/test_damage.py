"""A history that is not as it was written: its room is closed to everybody, all other rooms are open."""

import sqlite3
from contextlib import closing

import pytest

from parlour.wire import digest
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
    """A kept step was changed by somebody who knows how to make its hash fit."""
    flip(db, room)
    (body,) = db.execute("SELECT body FROM steps WHERE room = ? AND seq = 5", (room,)).fetchone()
    db.execute("UPDATE steps SET hash = ? WHERE room = ? AND seq = 5", (digest(body), room))


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

"""New names: they go to seats, tickets, chat and ladders, and nobody plays as somebody who was deleted."""

import asyncio
import sqlite3
from contextlib import closing

import pytest
from structlog.testing import capture_logs

from parlour.doors.ogetarts import WithOgetarts
from parlour.errors import Code, Refused
from parlour.journal.base import NotKept, RecordQuery
from parlour.journal.memory import MemoryJournal
from parlour.journal.sqlite import SqliteJournal
from parlour.offers import Resign
from parlour.ratings import Standing
from parlour.server.parts.accounts.leaving import FORMER
from parlour.server.parts.accounts.name_changes import NAME_CHANGE, ONCE_MORE, PAUSES, name_change
from parlour.server.standings import STANDING, standing_record
from parlour.server.ticket_records import TICKET
from parlour.wire import Queue, Rename
from tests.server.test_accounts import Club, club
from tests.server.world import PLAYABLE, Person, World

__all__ = ["club"]


async def renamed(club, player, name):
    assert (await club.guest(player["token"], name=name))["name"] == name


async def deleted(club, player):
    assert (await club.call("DELETE", "/api/account", token=player["token"])).status_code == 200


async def queued(club, player, **more):
    """The room that a ticket for strangers leads to, if it does."""
    answer = await club.call("POST", "/api/tickets", {"game": "tictactoe", **more}, player["token"])
    assert answer.status_code == 201, answer.text
    return answer.json()["room"]


async def sits(club, room, player):
    """How somebody is called at their seat, and whether they are known to have an account."""
    (seat,) = [one for one in await club.seats(room) if one is not None and one["id"] == player["id"]]
    return seat["name"], seat.get("account", False)


async def said(line):
    return [(one["name"], one.get("account", False)) for _, one in line.heard("chat")]


def test_a_note_that_somebody_was_deleted_is_kept_in_the_words_of_before():
    assert name_change("ann", 0.0, is_deleted=True).body == b'{"is_gone":true}'


# Tickets.


@pytest.mark.parametrize("mode", ["normal", "ranked"])
async def test_nobody_is_paired_with_somebody_who_was_deleted(club, mode):
    ann, bob, eve = [await club.open(name) for name in ("Ann", "Bob", "Eve")]
    assert await queued(club, ann, mode=mode) is None
    await deleted(club, ann)
    assert [record.owner for record in await club.world.journal.records(RecordQuery(TICKET))] == []
    assert await queued(club, bob, mode=mode) is None
    room = await queued(club, eve, mode=mode)
    assert {seat["id"] for seat in await club.seats(room)} == {bob["id"], eve["id"]}


async def test_nobody_is_sent_to_a_room_in_which_somebody_waited_who_was_deleted(club):
    ann, bob = await club.open("Ann"), await club.open("Bob")
    pairing = club.world.server.pairing
    assert (await pairing.meet(ann["id"], Queue("tictactoe"), "anns-room")).at == "anns-room"
    await deleted(club, ann)
    ticket = await pairing.meet(bob["id"], Queue("tictactoe"), "bobs-room")
    assert (ticket.at, ticket.room) == ("bobs-room", None)
    assert (await club.call("GET", "/api/rooms/anns-room")).json()["ended"] is not None


async def test_who_waits_and_is_renamed_sits_under_the_new_name(club):
    eve = await club.open("Ann")
    assert await queued(club, eve) is None
    await renamed(club, eve, "Eve")
    ann = await club.open("Ann")
    room = await queued(club, ann)
    assert [await sits(club, room, who) for who in (ann, eve)] == [("Ann", True), ("Eve", True)]


async def test_a_ticket_of_somebody_who_cannot_be_read_keeps_nobody_else_waiting(club):
    ann, bob, eve = [await club.open(name) for name in ("Ann", "Bob", "Eve")]
    assert await queued(club, ann) is None
    record = await club.world.journal.record("player", ann["id"])
    await club.world.journal.keep(type(record)(record.kind, record.key, b"{"))
    assert await queued(club, bob) is None
    assert await queued(club, eve) is not None


# Seats.


async def test_the_name_of_an_account_changes_where_it_sits_and_talks(club):
    eve = await club.open("Ann")
    room, (eves,) = await club.table(eve)
    await renamed(club, eve, "Eve")
    ann = await club.open("Ann")
    anns = Person(club.world, ann["id"], WithOgetarts())
    await anns.join(room)
    assert [await sits(club, room, who) for who in (eve, ann)] == [("Eve", True), ("Ann", True)]
    for line in (eves, anns):
        await line.push(room, "chat", {"text": "I am Ann"})
    assert await said(anns) == [("Eve", True), ("Ann", True)]


async def test_the_name_of_an_account_changes_where_it_watches(club):
    ann, bob, eve = [await club.open(name) for name in ("Ann", "Bob", "Eve")]
    room, _ = await club.table(ann, bob)
    watching = Person(club.world, eve["id"], WithOgetarts())
    await watching.join(room, spectate=True)
    await renamed(club, eve, "Zoe")
    await watching.push(room, "chat", {"text": "hello"})
    assert await said(watching) == [("Zoe", True)]


async def test_a_guest_who_becomes_an_account_is_marked_where_they_sit(club):
    gus = await club.guest(name="Gus")
    room, _ = await club.table(gus)
    assert await sits(club, room, gus) == ("Gus", False)
    await club.call("POST", "/api/account", {"name": "Gustav"}, gus["token"])
    assert await sits(club, room, gus) == ("Gustav", True)


async def test_a_name_that_stays_is_taken_nowhere(club):
    ann = await club.open("Ann")
    room, _ = await club.table(ann)
    seq = club.world.room(room).seq
    await renamed(club, ann, "Ann")
    assert club.world.room(room).seq == seq


# What lies between.


async def test_a_room_that_could_not_be_asked_is_asked_again(club, monkeypatch):
    ann = await club.open("Ann")
    room, _ = await club.table(ann)

    async def refuse(room, call):
        raise Refused(Code.NOT_SAVED, "the room is just moving")

    with monkeypatch.context() as patch:
        patch.setattr(club.world.server, "call", refuse)
        await renamed(club, ann, "Eve")
    assert await sits(club, room, ann) == ("Ann", True)
    await club.world.wait(PAUSES[0])
    assert await sits(club, room, ann) == ("Eve", True)


@pytest.mark.parametrize("change", [deleted, lambda club, ann: renamed(club, ann, FORMER)])
async def test_a_new_name_outlasts_a_crash_before_it_was_taken_along(club, monkeypatch, change):
    ann = await club.open("Ann")
    room, _ = await club.table(ann)

    def die():
        """The note is kept, and nothing else is done."""

    monkeypatch.setattr(club.world.server.name_changes, "look_soon", die)
    monkeypatch.setattr(club.world.server.accounts, "_renamed", die)
    await change(club, ann)
    assert (await sits(club, room, ann))[0] == "Ann"
    async with await club.world.restart() as world:
        await world.quiet()
        again = Club(world)
        assert (await sits(again, room, ann))[0] == FORMER
        await again.http.aclose()


async def test_a_seat_that_was_just_being_taken_under_the_old_name_is_renamed_a_minute_later(club):
    ann = await club.open("Ann")
    room, _ = await club.table(ann)
    await renamed(club, ann, "Eve")
    await club.world.ask(room, Rename(ann["id"], "Ann", account=True))
    await club.world.wait(ONCE_MORE)
    assert await sits(club, room, ann) == ("Eve", True)
    assert await club.world.journal.records(RecordQuery(NAME_CHANGE)) == []


async def test_a_name_that_is_sent_again_is_carried_out_no_sooner(club):
    ann = await club.open("Ann")
    room, _ = await club.table(ann)
    await renamed(club, ann, "Eve")
    await renamed(club, ann, "Eve")
    await club.world.ask(room, Rename(ann["id"], "Ann", account=True))
    await club.world.wait(ONCE_MORE)
    assert await sits(club, room, ann) == ("Eve", True)


async def test_nobody_waits_for_the_rooms_that_take_the_new_name(club):
    ann = await club.open("Ann")
    room, _ = await club.table(ann)
    async with club.world.at_once(room):
        await renamed(club, ann, "Eve")
    assert await sits(club, room, ann) == ("Eve", True)
    async with club.world.at_once(room):
        await deleted(club, ann)
    assert await sits(club, room, ann) == (FORMER, False)


class Faulty(MemoryJournal):
    """Fails once, in a way that nobody has thought of, when it is asked for a record of this kind."""

    fails_at: str | None = None

    def _fail(self, kind: str) -> None:
        if kind == self.fails_at:
            self.fails_at = None
            raise RuntimeError("a mistake")

    async def record(self, kind, key, group=""):
        self._fail(kind)
        return await super().record(kind, key, group)

    async def records(self, query):
        self._fail(query.kind)
        return await super().records(query)


@pytest.mark.parametrize("kind", [NAME_CHANGE, STANDING])
async def test_a_mistake_of_the_server_ends_no_later_look_for_new_names(tmp_path, kind):
    journal = Faulty(tmp_path, "process")
    async with World(PLAYABLE, journal) as world:
        club = Club(world)
        ann, bob = await club.open("Ann"), await club.open("Bob")
        room, _ = await club.table(ann, bob)
        journal.fails_at = kind
        await renamed(club, ann, "Eve")
        await world.wait(PAUSES[0])
        await renamed(club, bob, "Zoe")
        assert [await sits(club, room, one) for one in (ann, bob)] == [("Eve", True), ("Zoe", True)]
        await world.wait(ONCE_MORE + PAUSES[0])
        assert await journal.records(RecordQuery(NAME_CHANGE)) == []
        await club.http.aclose()


async def test_a_server_that_stops_takes_along_no_further_name(club):
    ann, bob = await club.open("Ann"), await club.open("Bob")
    (anns, _), (bobs, _) = await club.table(ann), await club.table(bob)
    await club.world.wait(ONCE_MORE)
    async with club.world.at_once(anns):
        for one, name in ((ann, "Eve"), (bob, "Zoe")):
            await renamed(club, one, name)
        stop = asyncio.ensure_future(club.world.server.stop())
        await asyncio.sleep(0)
    await stop
    club.world.dead = True
    await club.world.journal.open()
    rooms = [(await club.world.journal.find(room)).summary for room in (anns, bobs)]
    assert [room.seats[0].name for room in rooms] == ["Eve", "Bob"]


async def test_a_name_that_was_not_kept_is_taken_nowhere(club, monkeypatch):
    ann = await club.open("Ann")
    room, _ = await club.table(ann)

    async def fail(*changes):
        raise NotKept("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(club.world.journal, "keep", fail)
        answer = await club.call("POST", "/api/players", {"name": "Eve"}, ann["token"])
        assert answer.status_code == 503
    await club.world.wait(ONCE_MORE)
    assert await sits(club, room, ann) == ("Ann", True)


# What games have left.


async def test_a_ladder_has_the_new_name(club):
    ann = await club.open("Ann")
    await club.world.journal.keep(standing_record(Standing("tictactoe", ann["id"], "Ann", won=1)))
    await renamed(club, ann, "Eve")
    (standing,) = (await club.call("GET", "/api/leaderboard?game=tictactoe")).json()
    assert (standing["name"], standing["won"]) == ("Eve", 1)


async def ended(club, ann, bob):
    """A room in which Bob has resigned, and which has ended since."""
    room, lines = await club.table(ann, bob)
    await club.world.ask(room, Resign(bob["id"]))
    for line in lines:
        await line.push(room, "phx_leave", {})
        await line.drop()
    await club.world.wait(30 * 86400)
    assert (await club.call("GET", f"/api/rooms/{room}")).json()["ended"] is not None
    return room


async def test_a_room_that_has_ended_does_not_say_who_was_deleted(club):
    ann, bob = await club.open("Ann"), await club.open("Bob")
    room = await ended(club, ann, bob)
    assert await sits(club, room, ann) == ("Ann", True)
    await deleted(club, ann)
    assert await sits(club, room, ann) == (FORMER, False)
    assert await sits(club, room, bob) == ("Bob", True)


async def test_a_damaged_room_keeps_no_other_from_forgetting_who_was_deleted_and_is_named(tmp_path):
    async with World(PLAYABLE, SqliteJournal(tmp_path, "process"), keep_ended=1000) as world:
        club = Club(world)
        ann, bob = await club.open("Ann"), await club.open("Bob")
        rooms = [await ended(club, ann, bob) for _ in range(3)]
        with closing(sqlite3.connect(tmp_path / "parlour.db", isolation_level=None)) as db:
            db.execute("UPDATE rooms SET card = ? WHERE id = ?", (b"{", rooms[1]))
        with capture_logs() as logs:
            await deleted(club, ann)
            await world.quiet()
        assert [await sits(club, room, ann) for room in (rooms[0], rooms[2])] == [(FORMER, False)] * 2
        (warning,) = [one for one in logs if one["event"] == "not_renamed_everywhere"]
        assert f"room {rooms[1]}, which has ended: rooms: the row with" in warning["why"]
        await world.wait(ONCE_MORE)
        assert [one.key for one in await world.journal.records(RecordQuery(NAME_CHANGE))] == [ann["id"]]
        await club.http.aclose()

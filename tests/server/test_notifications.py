"""Notifications: whoever is away is told once that it is their turn, at real endpoints on this machine."""

import asyncio
import hashlib
import hmac

import msgspec
import pytest
from structlog.testing import capture_logs

from parlour.clocks import ClockSettings
from parlour.journal.base import Record, RecordQuery
from parlour.offers import Answer, Offer
from parlour.server.endpoint_records import Endpoint, endpoint_id, endpoint_record
from parlour.server.outgoing import Outgoing
from parlour.server.parts.notifications.rules import DELIVERY, PAUSES, RETRY
from parlour.server.rooms.calling_records import GRACE
from parlour.server.turn_records import TURN
from parlour.testing import Table
from parlour.wire import Chat, Connect, Disconnect
from tests.listener import Listener
from tests.push_receiver import PushReceiver, claims_of
from tests.server.test_sessions import House, bearer
from tests.server.world import PLAYABLE, World
from tests.timelines import ANN, BOB, AnnThinks, clock, mark

DAY = 86400.0
THREE_DAYS = ClockSettings("turn", 3 * DAY)


class Club(House):
    """A server where people play over days."""

    def __init__(self, world):
        super().__init__(world)
        self.tokens = {}

    async def member(self, name):
        """Somebody with a token; returns their id."""
        known = await self.guest(name=name)
        self.tokens[known["id"]] = known["token"]
        return known["id"]

    async def call(self, method, path, player, body=None):
        headers = bearer(self.tokens[player])
        answer = await self.http.request(method, f"/api/notifications{path}", json=body, headers=headers)
        self.http.cookies.clear()
        return answer

    async def webhook(self, player, url):
        answer = await self.call("POST", "/webhooks", player, {"url": url})
        assert answer.status_code == 201, answer.text
        return answer.json()

    async def browser(self, player, receiver, url):
        answer = await self.call("POST", "/push", player, receiver.subscription(url))
        assert answer.status_code == 201, answer.text
        return answer.json()

    async def places(self, player):
        return (await self.call("GET", "", player)).json()["endpoints"]

    async def sit(self, *players, **more):
        """Open a game over days, and let these sit down and go."""
        await self.world.open("tictactoe", clock=THREE_DAYS, **more)
        for person in await self.world.seated(more.get("id", "ABCD"), *players):
            await person.drop()

    async def play(self, player, cell, room="ABCD"):
        """Come, mark a cell, and go."""
        person = await self.world.person(player)
        await person.join(room)
        assert (await person.play(room, {"type": "mark", "cell": cell}))[0] == "ok"
        await person.drop()

    async def told(self, seconds=GRACE):
        """Let time pass until those who are away are told, and wait for what comes of it."""
        await self.world.wait(seconds)
        await settled(self.world)


async def settled(world):
    await world.quiet()
    while tries := tuple(world.server.notifications.under_way):
        await asyncio.wait(tries)
        await world.quiet()


@pytest.fixture
async def listener():
    async with Listener() as listener:
        yield listener


@pytest.fixture
async def club():
    async with World(PLAYABLE, local_webhooks=True, public_url="https://play.example") as world:
        club = Club(world)
        yield club
        await settled(world)
        await club.http.aclose()


@pytest.fixture
async def ann_and_bob(club):
    return await club.member("Ann"), await club.member("Bob")


def rooms_told(listener):
    return [received.json["room"] for received in listener.received]


async def records(world, kind):
    return await world.journal.records(RecordQuery(kind))


# Who is called, by the rules alone.


def called(table):
    return list(table.room.called)


def test_whoever_is_away_when_their_turn_begins_is_called():
    table = Table(PLAYABLE["tictactoe"], clock=clock("turn", 60)).sit(ANN, BOB)
    table.do(Disconnect(BOB))
    assert called(table) == []
    mark(table, ANN)
    assert called(table) == [BOB]


def test_whoever_leaves_in_their_turn_is_called_because_they_may_not_have_seen_it():
    table = Table(PLAYABLE["tictactoe"]).sit(ANN, BOB)
    table.do(Disconnect(ANN))
    assert called(table) == [ANN]


def test_whoever_is_called_is_not_called_again_in_the_same_turn():
    table = Table(PLAYABLE["tictactoe"]).sit(ANN, BOB)
    table.do(Disconnect(ANN))
    since = table.room.called[ANN]
    table.do(Chat(BOB, "Bob", "hello?"))
    table.do(Connect(ANN))
    table.do(Disconnect(ANN))
    assert table.room.called == {ANN: since}


def test_in_a_pause_nobody_is_called():
    table = Table(AnnThinks()).sit(ANN, BOB)
    table.do(Offer(BOB, "pause"))
    table.do(Answer(ANN, "pause", accept=True))
    table.do(Disconnect(ANN))
    assert called(table) == []


# Over days.


async def test_a_game_over_days_tells_each_player_once_a_turn_by_push_and_by_webhook(club, ann_and_bob):
    ann, bob = ann_and_bob
    browser = PushReceiver()
    async with Listener() as hook, Listener() as service:
        service.says(201)
        await club.webhook(bob, hook.url())
        await club.browser(bob, browser, service.url("/push/bob"))
        await club.sit(ann, bob)
        for ann_marks, bob_marks in ((0, 4), (1, 2)):
            before = len(hook.received)
            await club.world.wait(DAY)
            await club.play(ann, ann_marks)
            await club.told()
            assert (len(hook.received), len(service.received)) == (before + 1, before + 1)
            await club.world.wait(DAY)
            await club.play(bob, bob_marks)
            await club.told()
        await club.play(ann, 6)
        await club.told()
        assert (len(hook.received), len(service.received)) == (3, 3)
        turns = [received.json for received in hook.received]
        pushes = [msgspec.json.decode(browser.decrypt(received.body)) for received in service.received]
        key = (await club.call("GET", "", bob)).json()["push_key"]
        assert claims_of(service.received[0].headers["authorization"], key)["sub"] == "https://play.example"
        assert service.received[0].headers["ttl"] == str(int(3 * DAY - GRACE))
    for told in (*turns, *pushes):
        assert (told["kind"], told["room"], told["player"]) == ("your_turn", "ABCD", bob)
        assert (told["against"], told["url"]) == (["Ann"], "https://play.example/r/ABCD")
        assert told["until"] - told["date"] == 3 * DAY
    assert len({told["id"] for told in turns}) == 3
    assert await records(club.world, DELIVERY) == []


async def test_a_webhook_is_signed_with_the_secret_that_was_shown_once(club, ann_and_bob, listener):
    ann, bob = ann_and_bob
    secret = (await club.webhook(bob, listener.url()))["secret"]
    await club.sit(ann, bob)
    await club.play(ann, 0)
    await club.told()
    (received,) = listener.received
    date, _, digest = received.headers["parlour-signature"].partition(",v1=")
    expected = hmac.new(secret.encode(), f"{date[2:]}.".encode() + received.body, hashlib.sha256).hexdigest()
    assert digest == expected
    assert received.headers["parlour-delivery"] == received.json["id"]
    assert all("secret" not in place for place in await club.places(bob))


async def test_whoever_is_in_the_room_is_not_told(club, ann_and_bob, listener):
    ann, bob = ann_and_bob
    await club.webhook(bob, listener.url())
    await club.world.open("tictactoe", clock=THREE_DAYS)
    await club.world.seated("ABCD", ann, bob)
    await club.play(ann, 0)
    await club.told(DAY)
    assert listener.received == []


async def test_whoever_loads_the_page_again_is_not_told(club, ann_and_bob, listener):
    ann, bob = ann_and_bob
    await club.webhook(ann, listener.url())
    await club.world.open("tictactoe", clock=THREE_DAYS)
    ann_here, _ = await club.world.seated("ABCD", ann, bob)
    await ann_here.drop()
    await club.told(GRACE / 2)
    await club.world.seated("ABCD", ann)
    await club.told(DAY)
    assert listener.received == []
    assert await records(club.world, TURN) == []


async def test_whoever_comes_and_goes_in_their_turn_was_told_already(club, ann_and_bob, listener):
    ann, bob = ann_and_bob
    await club.webhook(bob, listener.url())
    await club.sit(ann, bob)
    await club.play(ann, 0)
    await club.told()
    for _ in range(2):
        (here,) = await club.world.seated("ABCD", bob)
        await here.drop()
        await club.told(DAY / 4)
    assert len(listener.received) == 1


async def test_whoever_plays_in_several_rooms_is_told_of_each(club, ann_and_bob, listener):
    ann, bob = ann_and_bob
    await club.webhook(bob, listener.url())
    for room in ("AAAA", "BBBB", "CCCC"):
        await club.sit(ann, bob, id=room)
        await club.play(ann, 0, room)
    await club.told()
    assert sorted(rooms_told(listener)) == ["AAAA", "BBBB", "CCCC"]


# Endpoints that do not work.


async def test_a_dead_webhook_is_tried_again_after_longer_and_longer_pauses_with_the_same_id(
    club, ann_and_bob, listener
):
    ann, bob = ann_and_bob
    listener.says(500)
    await club.webhook(bob, listener.url())
    await club.sit(ann, bob)
    await club.play(ann, 0)
    await club.told()
    for tries, pause in enumerate(PAUSES[:-1], 1):
        await club.told(pause - 1)
        assert len(listener.received) == tries
        await club.told(1)
        assert len(listener.received) == tries + 1
    await club.told(PAUSES[-1])
    assert len(listener.received) == len(PAUSES)
    assert len({received.json["id"] for received in listener.received}) == 1
    assert await records(club.world, RETRY) == []


async def test_a_webhook_is_not_told_of_a_turn_that_is_over_meanwhile(club, ann_and_bob, listener):
    ann, bob = ann_and_bob
    listener.says(500)
    await club.webhook(bob, listener.url())
    await club.sit(ann, bob)
    await club.play(ann, 0)
    await club.told()
    await club.play(bob, 1)
    await club.told(DAY)
    assert len(listener.received) == 1


async def test_a_redirect_is_not_followed(club, ann_and_bob, listener):
    ann, bob = ann_and_bob
    async with Listener() as elsewhere:
        listener.says(302, f"Location: {elsewhere.url()}")
        await club.webhook(bob, listener.url())
        await club.sit(ann, bob)
        await club.play(ann, 0)
        await club.told()
        assert (len(listener.received), len(elsewhere.received)) == (1, 0)
    assert len(await records(club.world, RETRY)) == 1


async def test_an_answer_that_does_not_come_is_not_waited_for(ann_and_bob_elsewhere, listener):
    club, ann, bob = ann_and_bob_elsewhere
    listener.hold.clear()
    await club.webhook(bob, listener.url())
    await club.sit(ann, bob)
    await club.play(ann, 0)
    with capture_logs() as logs:
        await club.told()
    assert [line["why"] for line in logs if line["event"] == "not_delivered"] == ["TimeoutError: "]


@pytest.fixture
async def ann_and_bob_elsewhere():
    """A server that has no patience at all, for answers to what it sends."""

    async def look_up(host, port, owner):
        return [host]

    async with World(PLAYABLE, outgoing=Outgoing(local=True, timeout=0.05, look_up=look_up)) as world:
        club = Club(world)
        yield club, await club.member("Ann"), await club.member("Bob")
        await club.http.aclose()


# What is kept.


async def test_a_turn_that_began_before_a_crash_is_told_once_after_it(club, ann_and_bob, listener):
    ann, bob = ann_and_bob
    await club.webhook(bob, listener.url())
    await club.sit(ann, bob)
    await club.play(ann, 0)
    again = await club.world.restart()
    async with again:
        await again.wait(GRACE)
        await settled(again)
        assert rooms_told(listener) == ["ABCD"]
    third = await again.restart()
    async with third:
        await third.wait(DAY)
        await settled(third)
        assert rooms_told(listener) == ["ABCD"]


async def test_a_delivery_that_was_planned_before_a_crash_is_made_after_it(club, ann_and_bob, listener):
    ann, bob = ann_and_bob
    listener.says(503)
    await club.webhook(bob, listener.url())
    await club.sit(ann, bob)
    await club.play(ann, 0)
    await club.told()
    listener.says(200)
    async with await club.world.restart() as again:
        await again.wait(PAUSES[0])
        await settled(again)
        await again.wait(DAY)
        await settled(again)
    assert rooms_told(listener) == ["ABCD", "ABCD"]


async def test_two_servers_on_one_journal_tell_each_turn_once(club, ann_and_bob, listener):
    ann, bob = ann_and_bob
    await club.webhook(bob, listener.url())
    await club.sit(ann, bob)
    await club.play(ann, 0)
    other = World(PLAYABLE, club.world.journal, club.world.clock, local_webhooks=True)
    other.server.notifications.look_soon()
    await club.told()
    await settled(other)
    assert rooms_told(listener) == ["ABCD"]


async def test_damaged_records_keep_nobody_else_from_being_told(club, ann_and_bob, listener):
    ann, bob = ann_and_bob
    await club.webhook(bob, listener.url())
    journal, now = club.world.journal, club.world.clock.now()
    await journal.keep(
        Record(TURN, "1/zoe", b"{", owner="zoe", due=now),
        Record(DELIVERY, "1/1/x", b"[]", owner="zoe", due=now),
        Record(RETRY, "1/1/y", b"[]", owner="zoe", due=now),
        Record("endpoint", "broken", b"?", owner=bob),
    )
    await club.sit(ann, bob)
    await club.play(ann, 0)
    await club.told()
    assert rooms_told(listener) == ["ABCD"]
    assert [record.key for record in await records(club.world, TURN) if record.owner == "zoe"] == []


async def test_a_player_who_cannot_be_read_keeps_nobody_else_from_being_told(club, listener):
    ann, bob, eve = [await club.member(name) for name in ("Ann", "Bob", "Eve")]
    await club.browser(bob, PushReceiver(), listener.url("/bob"))
    await club.webhook(eve, listener.url("/eve"))
    await club.sit(ann, bob)
    await club.sit(ann, eve, id="EVES")
    await club.play(ann, 0)
    await club.play(ann, 0, room="EVES")
    await club.world.server.sessions.check_again()
    await club.world.journal.keep(Record("player", bob, b"{"))
    await club.told()
    assert [received.path for received in listener.received] == ["/eve"]


async def test_a_browser_that_was_signed_out_is_told_no_more(club, ann_and_bob, listener):
    ann, bob = ann_and_bob
    await club.browser(bob, PushReceiver(), listener.url())
    await club.sit(ann, bob)
    await club.end(club.tokens[bob])
    await club.play(ann, 0)
    await club.told()
    assert listener.received == []
    assert await records(club.world, "endpoint") == []


async def test_whoever_is_told_again_hears_the_names_of_now(club, ann_and_bob, listener):
    """The name of somebody who was deleted meanwhile is not sent any more."""
    ann, bob = ann_and_bob
    listener.says(500)
    await club.webhook(bob, listener.url())
    await club.sit(ann, bob)
    await club.play(ann, 0)
    await club.told()
    await club.http.delete("/api/account", headers=bearer(club.tokens[ann]))
    await club.told(PAUSES[0])
    assert [received.json["against"] for received in listener.received] == [["Ann"], ["Former player"]]
    kept = [*await records(club.world, TURN), *await records(club.world, RETRY)]
    assert len(kept) == 2
    assert not any(b"Ann" in record.body for record in kept)


async def test_whoever_is_told_reads_which_of_the_others_are_guests(club, ann_and_bob, listener):
    ann, bob = ann_and_bob
    known = (await opens_an_account(club, ann)).json()
    club.http.cookies.clear()
    club.tokens[ann] = known["token"]
    for player, path in ((ann, "/ann"), (bob, "/bob")):
        await club.webhook(player, listener.url(path))
    await club.sit(ann, bob)
    await club.play(ann, 0)
    await club.told()
    await club.play(bob, 1)
    await club.told()
    told = {one.path: (one.json["against"], one.json["guests"]) for one in listener.received}
    assert told["/bob"] == (["Ann"], [False])
    assert told["/ann"] == (["Bob"], [True])


async def opens_an_account(club, player):
    return await club.http.post("/api/account", json={}, headers=bearer(club.tokens[player]))


async def ends_all_sessions(club, player):
    return await club.end(club.tokens[player])


@pytest.mark.parametrize("ends", [opens_an_account, ends_all_sessions])
async def test_a_webhook_that_was_added_with_a_stolen_token_ends_with_all_sessions(
    club, ann_and_bob, listener, ends
):
    ann, bob = ann_and_bob
    await club.webhook(bob, listener.url("/thief"))
    known = (await ends(club, bob)).json()
    club.http.cookies.clear()
    club.tokens[bob] = known["token"]
    assert await club.places(bob) == []
    await club.webhook(bob, listener.url("/mine"))
    await club.sit(ann, bob)
    await club.play(ann, 0)
    await club.told()
    assert [received.path for received in listener.received] == ["/mine"]


async def test_a_webhook_that_was_kept_before_sessions_counted_for_it_goes_on(club, ann_and_bob, listener):
    ann, bob = ann_and_bob
    club.tokens[bob] = (await ends_all_sessions(club, bob)).json()["token"]
    old = Endpoint(endpoint_id("webhook", listener.url(), bob), "webhook", bob, listener.url(), 0.0)
    await club.world.journal.keep(endpoint_record(old))
    await club.sit(ann, bob)
    await club.play(ann, 0)
    await club.told()
    assert rooms_told(listener) == ["ABCD"]


async def test_whoever_deletes_themselves_is_told_nowhere(club, ann_and_bob, listener):
    _, bob = ann_and_bob
    await club.webhook(bob, listener.url())
    export = await club.http.get("/api/account/export", headers=bearer(club.tokens[bob]))
    assert [place["url"] for place in export.json()["notified_at"]] == [listener.url()]
    await club.http.delete("/api/account", headers=bearer(club.tokens[bob]))
    assert await records(club.world, "endpoint") == []


# The calls.


def code_of(answer):
    return answer.status_code, answer.json()["code"]


async def test_a_place_is_listed_and_removed_by_its_owner_alone(club, ann_and_bob, listener):
    ann, bob = ann_and_bob
    place = await club.webhook(bob, listener.url())
    assert [(one["kind"], one["url"]) for one in await club.places(bob)] == [("webhook", listener.url())]
    assert code_of(await club.call("DELETE", f"/{place['id']}", ann)) == (404, "not_found")
    assert (await club.call("DELETE", f"/{place['id']}", bob)).status_code == 200
    assert await club.places(bob) == []


async def test_the_same_address_is_one_place(club, ann_and_bob, listener):
    _, bob = ann_and_bob
    first, second = [await club.webhook(bob, listener.url()) for _ in range(2)]
    assert first["id"] == second["id"]
    assert first["secret"] != second["secret"]
    assert len(await club.places(bob)) == 1


async def test_a_browser_tells_whoever_used_it_last(club, ann_and_bob, listener):
    ann, bob = ann_and_bob
    browser = PushReceiver()
    for player in (ann, bob):
        await club.browser(player, browser, listener.url())
    assert (await club.places(ann), len(await club.places(bob))) == ([], 1)


async def test_nobody_has_more_than_ten_places(club, ann_and_bob, listener):
    _, bob = ann_and_bob
    for number in range(10):
        await club.webhook(bob, listener.url(f"/{number}"))
    answer = await club.call("POST", "/webhooks", bob, {"url": listener.url("/more")})
    assert code_of(answer) == (429, "too_many")
    await club.webhook(bob, listener.url("/3"))


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/",
        "https://ann:secret@example.org/",
        "https:///turns",
        "https://[::1",
        "x",
        "https://a b/",
    ],
)
async def test_an_address_that_is_none_is_refused(club, ann_and_bob, url):
    answer = await club.call("POST", "/webhooks", ann_and_bob[0], {"url": url})
    assert code_of(answer) == (400, "bad_address")


async def test_keys_that_are_none_are_refused(club, ann_and_bob, listener):
    wanted = {"endpoint": listener.url(), "keys": {"p256dh": "AAAA", "auth": "AAAA"}}
    assert code_of(await club.call("POST", "/push", ann_and_bob[0], wanted)) == (400, "malformed")


async def test_a_server_that_lacks_the_extra_says_so(club, ann_and_bob, listener, monkeypatch):
    monkeypatch.setattr("parlour.server.parts.notifications.endpoints.is_installed", lambda: False)
    ann = ann_and_bob[0]
    assert (await club.call("GET", "", ann)).json()["push_key"] is None
    wanted = PushReceiver().subscription(listener.url())
    assert code_of(await club.call("POST", "/push", ann, wanted)) == (403, "no_push")

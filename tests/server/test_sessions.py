"""Sessions: one player's tokens, and how all of them are ended at once."""

import asyncio
from collections.abc import Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import msgspec
import pytest

from parlour.errors import Refused
from parlour.journal.base import NotKept, OutcomeUnknown
from parlour.journal.memory import MemoryJournal
from parlour.server import sessions
from parlour.server.api.endpoints import Api, web_app
from parlour.server.gateway.doors.gammonx import HUB_PATH, GammonxDoor
from parlour.server.gateway.native import native_doors
from parlour.server.gateway.sockets import Sockets
from parlour.server.limits import Limits
from parlour.server.tokens import COOKIE, Bearer, Tokens
from tests.server.wires import Wire
from tests.server.world import PLAYABLE, HandClock, World

NATIVE = "/socket/websocket?vsn=2.0.0"
DAY = 86400


class House:
    """A server's doors, for sockets and calls, on a clock that the test sets."""

    def __init__(self, world):
        self.world = world
        self.shift = 0.0
        tokens = Tokens(b"k" * 32, date=lambda: world.clock.date() + self.shift)
        limits = Limits(world.settings, world.clock)
        doors = native_doors(world.server, tokens, world.settings)
        doors.append(GammonxDoor(world.server, tokens, limits, world.settings))
        self.sockets = Sockets(doors, world.clock, limits, world.settings)
        world.server.sessions.hang_up = self.sockets.hang_up
        self.api = Api(world.server, tokens, limits, world.settings)
        transport = httpx.ASGITransport(web_app(self.api, None))
        self.http = httpx.AsyncClient(transport=transport, base_url="http://parlour.test")

    async def guest(self, token=None, **body):
        answer = await self.http.post("/api/players", json=body, headers=bearer(token) if token else {})
        self.http.cookies.clear()
        assert answer.status_code == 201, answer.text
        return answer.json()

    async def end(self, token):
        answer = await self.http.delete("/api/players/me/sessions", headers=bearer(token))
        self.http.cookies.clear()
        return answer

    async def status(self, token):
        return (await self.http.get("/api/players/me/rooms", headers=bearer(token))).status_code

    async def come(self, path, **headers):
        """Somebody opens a socket; who they are may have to be looked up."""
        wire = Wire(self.sockets, path, **headers)
        await self.settle()
        wire.read()
        return wire

    async def settle(self):
        while self.sockets._tasks:
            await asyncio.wait(self.sockets._tasks)
        await self.world.quiet()
        await asyncio.sleep(0)  # frames are flushed at the end of the turn

    async def player(self, wire):
        """Who the server says that somebody is."""
        wire.send('["1","1","game:ABCD","phx_join",{}]')
        await self.settle()
        wire.read()
        return next(
            frame[4]["response"]["player"] for frame in map(msgspec.json.decode, wire.got) if frame[1]
        )


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


@asynccontextmanager
async def house_of(journal=None):
    async with World(PLAYABLE, journal) as world:
        await world.open("tictactoe", "ABCD")
        house = House(world)
        yield house
        await house.http.aclose()


@pytest.fixture
async def house():
    async with house_of() as house:
        yield house


# Clocks.


@pytest.mark.parametrize("shift", [-2, -40 * DAY, 401 * DAY, 10_000 * DAY])
async def test_whatever_the_clock_says_a_cookie_is_renewed_for_the_same_player(house, shift):
    ann = (await house.http.post("/api/players", json={"name": "Ann"})).json()
    house.shift = shift
    again = await house.http.post("/api/players", json={})
    assert (again.json()["id"], again.json()["name"]) == (ann["id"], "Ann")
    assert again.cookies[COOKIE] == again.json()["token"]
    assert (await house.http.get("/api/players/me/rooms")).status_code == 200


async def test_a_cookie_says_who_somebody_is_at_the_socket_too_whatever_the_clock_says(house):
    ann = await house.guest()
    house.shift = 401 * DAY
    wire = await house.come(NATIVE, Cookie=f"{COOKIE}={ann['token']}")
    assert await house.player(wire) == ann["id"]


# Ending.


async def test_ending_all_sessions_ends_every_token_but_the_new_one(house):
    ann = await house.guest(name="Ann")
    other = await house.guest(ann["token"])
    answer = await house.end(ann["token"])
    new = answer.json()
    assert (answer.status_code, new["id"], new["name"]) == (200, ann["id"], "Ann")
    assert answer.cookies[COOKIE] == new["token"]
    assert [await house.status(who["token"]) for who in (ann, other, new)] == [401, 401, 200]
    assert (await house.end(other["token"])).json()["code"] == "bad_token"


async def test_sessions_that_were_ended_stay_so_after_a_restart_and_a_new_name():
    journal = MemoryJournal(Path("unused"), "process")
    async with house_of(journal) as house:
        ann = await house.guest(name="Ann")
        new = (await house.end(ann["token"])).json()
        await house.guest(new["token"], name="Anna")
    async with World(PLAYABLE, journal) as world:
        house = House(world)
        assert [await house.status(who["token"]) for who in (ann, new)] == [401, 200]
        assert (await house.guest(new["token"]))["name"] == "Anna"
        await house.http.aclose()


async def test_a_new_name_that_is_being_written_brings_no_session_back(house, monkeypatch):
    ann, read = await house.guest(name="Ann"), house.world.journal.record

    async def take_a_turn(*name):
        record = await read(*name)
        await asyncio.sleep(0)
        return record

    monkeypatch.setattr(house.world.journal, "record", take_a_turn)
    known, id = house.world.server.sessions, ann["id"]
    await asyncio.gather(
        known.save(id, "Anna"), house.world.server.accounts.end_all(id, ""), known.save(id, "A")
    )
    kept = await known.known(id)
    assert (kept.name, kept.session) == ("A", 1)


async def test_ending_all_sessions_closes_the_players_connections_at_every_door_and_no_others(house):
    ann, bob = await house.guest(), await house.guest()
    hers = [
        await house.come(f"{NATIVE}&token={ann['token']}"),
        await house.come(NATIVE, Cookie=f"{COOKIE}={ann['token']}"),
        await house.come(f"{HUB_PATH}?access_token={ann['token']}"),
    ]
    his = await house.come(f"{NATIVE}&token={bob['token']}")
    await house.end(ann["token"])
    for wire in (*hers, his):
        wire.read()
    assert [wire.got for wire in hers] == [["closed 1008 this session was ended"]] * 3
    assert his.got == []


async def test_a_guest_of_the_socket_can_end_all_sessions_too(house):
    wire = await house.come(NATIVE)
    wire.send('["1","1","game:ABCD","phx_join",{}]')
    await house.settle()
    wire.read()
    token = msgspec.json.decode(wire.got[0])[4]["response"]["token"]
    assert (await house.end(token)).status_code == 200
    assert await house.status(token) == 401


@pytest.mark.parametrize("way", [f"{NATIVE}&token=", f"{HUB_PATH}?access_token="])
@pytest.mark.parametrize("remembered", [True, False])
async def test_a_token_whose_session_is_over_opens_no_socket(house, way, remembered):
    ann = await house.guest()
    await house.end(ann["token"])
    if not remembered:
        house.world.server.sessions._valid.clear()
    wire = await house.come(way + ann["token"])
    assert wire.got[0].startswith('refused 403 {"code":"bad_token"')


async def test_a_cookie_whose_session_is_over_keeps_no_visitor_out_and_is_nobodys(house):
    ann = await house.guest()
    await house.end(ann["token"])
    wire = await house.come(NATIVE, Cookie=f"{COOKIE}={ann['token']}")
    assert await house.player(wire) != ann["id"]
    house.http.cookies.set(COOKIE, ann["token"])
    assert (await house.http.post("/api/players", json={})).json()["id"] != ann["id"]


# Looking up.


async def test_frames_that_come_before_it_is_known_who_sent_them_are_heard_afterwards(house):
    ann = await house.guest()
    house.world.server.sessions._valid.clear()
    wire = Wire(house.sockets, f"{NATIVE}&token={ann['token']}")
    wire.send('["1","1","game:ABCD","phx_join",{}]')
    await house.settle()
    wire.read()
    assert msgspec.json.decode(wire.got[0])[4]["response"]["player"] == ann["id"]


async def test_whoever_hangs_up_while_being_looked_up_is_not_let_in(house):
    ann = await house.guest()
    house.world.server.sessions._valid.clear()
    wire = Wire(house.sockets, f"{NATIVE}&token={ann['token']}")
    wire.lose()
    await house.settle()
    assert not house.sockets.open
    assert not house.sockets.limits._sockets._held


async def test_a_journal_that_cannot_be_read_makes_nobody_a_stranger(house, monkeypatch):
    ann = await house.guest()
    house.world.server.sessions._valid.clear()

    async def fail(*_):
        raise NotKept("not today")

    monkeypatch.setattr(house.world.journal, "record", fail)
    house.http.cookies.set(COOKIE, ann["token"])
    answer = await house.http.post("/api/players", json={})
    assert (answer.status_code, answer.json()["code"]) == (503, "not_saved")
    wire = await house.come(NATIVE, Cookie=f"{COOKIE}={ann['token']}")
    assert wire.got[0].startswith('refused 503 {"code":"not_saved"')


async def test_a_session_is_read_once_and_many_players_take_a_bounded_place(house, monkeypatch):
    reads = []
    record = house.world.journal.record

    async def count(kind, key):
        reads.append(key)
        return await record(kind, key)

    monkeypatch.setattr(house.world.journal, "record", count)
    monkeypatch.setattr(sessions, "MOST_KNOWN", 3)
    known = house.world.server.sessions
    for id in ("ann", "ann", "bob", "cid", "ann", "dan"):
        await known.look_up(id)
    assert reads == ["ann", "bob", "cid", "dan"]
    assert list(known._valid) == ["cid", "ann", "dan"]


async def test_a_device_that_is_signed_out_while_its_session_is_read_is_signed_out(house, monkeypatch):
    known, journal = house.world.server.sessions, house.world.journal
    (ann, phone), _ = await house.world.server.accounts.open("ann", "Ann", "")
    known._valid.clear()
    record, may_go_on = journal.record, asyncio.Event()

    async def read_slowly(kind, key):
        found = await record(kind, key)
        await may_go_on.wait()
        return found

    monkeypatch.setattr(journal, "record", read_slowly)
    reading = asyncio.create_task(known.look_up("ann", phone))
    await asyncio.sleep(0)
    monkeypatch.setattr(journal, "record", record)
    await house.world.server.accounts.sign_out("ann", phone)
    may_go_on.set()
    await reading
    with pytest.raises(Refused, match="token"):
        known.player(Bearer("ann", ann.session, phone))


class Eventful(MemoryJournal):
    """While a player is read, another one signs a device out."""

    told: Callable[[], None] = print
    reads = 0

    async def record(self, kind, key, group=""):
        self.reads += 1
        if self.reads < 10:
            self.told()
        return await super().record(kind, key, group)


@pytest.mark.parametrize(("who", "reads"), [("bob", 1), ("ann", 10)])
async def test_a_session_is_read_again_for_news_of_its_own_player_alone(tmp_path, who, reads):
    journal = Eventful(tmp_path, "process")
    await journal.open()
    known = sessions.Sessions(journal, HandClock())
    journal.told = lambda: known.note_ended(who, 1, 7)
    await known.look_up("ann")
    assert journal.reads == reads


async def test_a_guests_tokens_end_with_the_account_also_if_nobody_knew_whether_that_was_kept(
    house, monkeypatch
):
    known, journal, hung_up = house.world.server.sessions, house.world.journal, asyncio.Event()
    guest, keep = Bearer("ann", 0), journal.keep
    known.hang_up = lambda is_ended: hung_up.set() if is_ended(guest) else None
    await known.look_up("ann")
    late = []

    async def lose_the_answer(*changes):
        late.append(changes)
        monkeypatch.setattr(journal, "keep", keep_what_was_late)
        raise OutcomeUnknown("the connection was lost")

    async def keep_what_was_late(*changes):
        monkeypatch.setattr(journal, "keep", keep)
        await keep(*late[0])
        await keep(*changes)

    monkeypatch.setattr(journal, "keep", lose_the_answer)
    with pytest.raises(OutcomeUnknown):
        await house.world.server.accounts.open(guest, "Ann", "")
    await asyncio.wait_for(hung_up.wait(), 10)
    with pytest.raises(Refused, match="token"):
        known.player(guest)


async def test_that_a_player_was_asked_for_is_noted_once_a_day(house, monkeypatch):
    ann, writes = await house.guest(name="Ann"), []
    keep = house.world.journal.keep

    async def count(*changes):
        writes.append(changes)
        await keep(*changes)

    monkeypatch.setattr(house.world.journal, "keep", count)
    known = house.world.server.sessions
    for _ in range(3):
        await known.known(ann["id"])
    assert writes == []
    house.world.clock.time += sessions.SEEN_EVERY
    for _ in range(3):
        assert (await known.known(ann["id"])).name == "Ann"
    assert len(writes) == 1
    assert (await house.world.journal.record("player", ann["id"])).due == house.world.clock.time

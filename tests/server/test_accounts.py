"""Accounts: a guest keeps id, name, rating and games on other devices, without a password."""

import asyncio
import logging
from typing import Literal

import pytest
from structlog.testing import capture_logs

from parlour.doors.ogetarts import WithOgetarts
from parlour.game import Outcome
from parlour.journal.base import NotKept, Player, Record, RecordQuery
from parlour.offers import Resign
from parlour.ratings import Standing
from parlour.server.parts.accounts.accounts import MOST_DEVICES
from parlour.server.parts.accounts.leaving import FORMER
from parlour.server.parts.accounts.secrets import digest_of
from parlour.server.result_records import GameResult, Unrated, result_record, unrated_record
from parlour.server.sessions import read_player
from parlour.server.standings import standing_record
from parlour.server.tokens import COOKIE
from tests.server.test_sessions import NATIVE, House, bearer
from tests.server.world import PLAYABLE, Person, World

PHONE = {"User-Agent": "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36"}


class Club(House):
    """A server where people make accounts."""

    async def call(self, method, path, body=None, token=None, **headers):
        answer = await self.http.request(
            method, path, json=body, headers={**(bearer(token) if token else {}), **headers}
        )
        self.http.cookies.clear()
        return answer

    async def open(self, name, **body):
        """A guest of that name becomes an account."""
        guest = await self.guest(name=name)
        answer = await self.call("POST", "/api/account", body, guest["token"])
        assert answer.status_code == 201, answer.text
        return answer.json()

    async def sign_in(self, **shown):
        return await self.call("POST", "/api/sign-in", shown, **PHONE)

    async def table(self, *people):
        """A room where they sit, each with a connection; the room and those."""
        room = (await self.call("POST", "/api/rooms", {"game": "tictactoe"}, people[0]["token"])).json()["id"]
        lines = [Person(self.world, one["id"], WithOgetarts()) for one in people]
        for line in lines:
            assert (await line.join(room))[0] == "ok"
        return room, lines

    async def seats(self, room):
        return (await self.call("GET", f"/api/rooms/{room}")).json()["seats"]

    async def whoami(self, token):
        return (await self.call("GET", "/api/account", token=token)).json()


@pytest.fixture
async def club():
    async with World(PLAYABLE) as world:
        await world.open("tictactoe", "ABCD")
        club = Club(world)
        yield club
        await club.http.aclose()


def code_of(answer):
    return answer.status_code, answer.json()["code"]


# By a recovery code.


async def test_a_guest_becomes_an_account_and_keeps_id_and_name(club):
    guest = await club.guest(name="Ann")
    answer = await club.http.post("/api/account", json={}, headers=bearer(guest["token"]))
    ann = answer.json()
    assert (ann["id"], ann["name"], ann["account"]) == (guest["id"], "Ann", True)
    assert answer.cookies[COOKIE] == ann["token"]
    assert (await club.call("GET", f"/api/players/{ann['id']}")).json()["guest"] is False


async def test_a_recovery_code_signs_the_same_player_in_on_another_device(club):
    ann = await club.open("Ann")
    answer = await club.sign_in(code=ann["code"])
    assert (answer.status_code, answer.json()["id"], answer.json()["name"]) == (201, ann["id"], "Ann")
    assert [await club.status(token) for token in (ann["token"], answer.json()["token"])] == [200, 200]
    devices = (await club.whoami(ann["token"]))["devices"]
    assert [(one["name"], one["here"]) for one in devices] == [
        ("A program", True),
        ("Chrome, Android", False),
    ]


async def test_a_code_is_taken_as_people_type_it(club):
    ann = await club.open("Ann")
    typed = ann["code"].lower().replace("-", " ").replace("0", "o").replace("1", "l")
    assert (await club.sign_in(code=f" {typed} ")).json()["id"] == ann["id"]


async def test_a_new_code_ends_the_old_one(club):
    ann = await club.open("Ann")
    new = (await club.call("POST", "/api/account/code", token=ann["token"])).json()["code"]
    assert code_of(await club.sign_in(code=ann["code"])) == (401, "bad_code")
    assert (await club.sign_in(code=new)).json()["id"] == ann["id"]


@pytest.mark.parametrize(
    "code", ["", "hello", "ABCD-EFGH-JKMN-PQRS-TVW", "A" * 20, "ÄÖÜß-EFGH-JKMN-PQRS-TVWX"]
)
async def test_a_wrong_code_is_refused_with_a_sentence(club, code):
    assert code_of(await club.sign_in(code=code)) == (401, "bad_code")


async def test_who_tries_many_codes_has_to_wait_even_with_the_right_one(club):
    ann = await club.open("Ann")
    tries = [code_of(await club.sign_in(code="A" * 20)) for _ in range(31)]
    assert tries[:30] == [(401, "bad_code")] * 30
    assert tries[30] == code_of(await club.sign_in(code=ann["code"])) == (429, "too_fast")
    await club.world.wait(60)
    assert (await club.sign_in(code=ann["code"])).status_code == 201


async def test_who_brings_a_code_finds_out_by_it_whether_the_account_was_made(club):
    code = "0123-4567-89ab-cdef-ghjk"
    assert code_of(await club.sign_in(code=code)) == (401, "bad_code")
    ann = await club.open("Ann", code=code)
    assert ann["code"] == code
    assert (await club.sign_in(code=code)).json()["id"] == ann["id"]


@pytest.mark.parametrize("code", ["", "0123", "0123-4567-89AB-CDEF-GHJ!", "x" * 200])
async def test_a_code_that_is_none_makes_no_account(club, code):
    guest = await club.guest(name="Ann")
    answer = await club.call("POST", "/api/account", {"code": code}, guest["token"])
    assert code_of(answer) == (401, "bad_code")
    assert (await club.whoami(guest["token"]))["since"] is None


async def test_who_opens_accounts_with_the_codes_of_others_is_guessing(club):
    ann, eve = await club.open("Ann"), await club.guest(name="Eve")
    for _ in range(30):
        answer = await club.call("POST", "/api/account", {"code": ann["code"]}, eve["token"])
        assert code_of(answer) == (401, "bad_code")
    assert code_of(await club.call("POST", "/api/account", {}, eve["token"])) == (429, "too_fast")


async def test_who_may_guess_no_more_can_still_use_a_link(club):
    ann = await club.open("Ann")
    link = await link_of(club, ann)
    for _ in range(30):
        await club.sign_in(code="A" * 20)
    assert code_of(await club.sign_in(code=ann["code"])) == (429, "too_fast")
    assert (await club.sign_in(link=link)).json()["id"] == ann["id"]


async def test_a_code_is_kept_as_a_digest_and_never_logged(club, caplog):
    with capture_logs() as logs, caplog.at_level(logging.DEBUG):
        ann = await club.open("Ann")
        await club.sign_in(code=ann["code"])
    kept = repr(club.world.journal.__dict__)
    plain = ann["code"].replace("-", "")
    assert all(secret not in kept + repr(logs) + caplog.text for secret in (ann["code"], plain, ann["token"]))


async def test_an_account_is_made_once_and_only_of_a_guest_who_is_known(club):
    ann = await club.open("Ann")
    assert code_of(await club.call("POST", "/api/account", {}, ann["token"])) == (409, "already_an_account")
    assert code_of(await club.call("POST", "/api/account", {})) == (401, "bad_token")
    guest = await club.guest()
    assert code_of(await club.call("POST", "/api/account/code", {}, guest["token"])) == (
        403,
        "account_needed",
    )


async def test_the_guests_tokens_end_when_it_becomes_an_account(club):
    """Who has stolen one can do nothing with the account."""
    guest = await club.guest(name="Ann")
    wire = await club.come(f"{NATIVE}&token={guest['token']}")
    await club.call("POST", "/api/account", {}, guest["token"])
    wire.read()
    assert wire.got == ["closed 1008 this session was ended"]
    assert await club.status(guest["token"]) == 401
    assert code_of(await club.call("POST", "/api/account/code", {}, guest["token"])) == (401, "bad_token")


@pytest.fixture
def slow_reads(club, monkeypatch):
    """Whoever reads a record lets others go on meanwhile."""
    read = club.world.journal.record

    async def take_a_turn(*name):
        record = await read(*name)
        await asyncio.sleep(0)
        return record

    monkeypatch.setattr(club.world.journal, "record", take_a_turn)


@pytest.mark.usefixtures("slow_reads")
async def test_a_stolen_guest_token_that_comes_while_the_account_is_made_gets_nothing_of_it(club):
    """Who asks again and again is let in as the guest, and comes to the player's record after the account."""
    guest = await club.guest(name="Ann")
    asked = [
        ("POST", "/api/account/links", None),
        ("POST", "/api/account/code", None),
        ("POST", "/api/players", {"name": "Eve"}),
        ("DELETE", "/api/players/me/sessions", None),
        ("DELETE", "/api/account", None),
        ("DELETE", "/api/account/devices/1", None),
    ]
    opened, *answers = await asyncio.gather(
        club.call("POST", "/api/account", {}, guest["token"]),
        *(club.call(method, path, body, guest["token"]) for method, path, body in asked),
    )
    assert [code_of(answer) for answer in answers] == [(401, "bad_token")] * len(asked)
    ann = await club.whoami(opened.json()["token"])
    assert (ann["name"], len(ann["devices"])) == ("Ann", 1)
    assert (await club.sign_in(code=opened.json()["code"])).status_code == 201


@pytest.mark.usefixtures("slow_reads")
async def test_a_stolen_token_that_comes_while_all_sessions_are_ended_is_not_renewed(club):
    guest = await club.guest(name="Gus")
    ended, renewed = await asyncio.gather(
        club.end(guest["token"]), club.call("POST", "/api/players", {}, guest["token"])
    )
    assert (ended.status_code, code_of(renewed)) == (200, (401, "bad_token"))


async def test_a_guest_of_before_knows_nothing_of_devices(club):
    guest = await club.guest()
    assert await club.whoami(guest["token"]) == {
        "id": guest["id"], "name": guest["name"], "since": None, "devices": [], "passkeys": [],
    }  # fmt: skip


async def test_a_renewed_token_stays_on_its_device(club):
    ann = await club.open("Ann")
    again = await club.guest(ann["token"])
    assert [one["here"] for one in (await club.whoami(again["token"]))["devices"]] == [True]


async def test_sessions_that_were_ended_everywhere_leave_an_account_one_new_device(club):
    ann = await club.open("Ann")
    phone = (await club.sign_in(code=ann["code"])).json()
    new = (await club.end(ann["token"])).json()
    assert [await club.status(who["token"]) for who in (ann, phone, new)] == [401, 401, 200]
    assert len((await club.whoami(new["token"]))["devices"]) == 1


async def test_an_account_outlasts_a_restart(club):
    ann = await club.open("Ann")
    async with await club.world.restart() as world:
        again = Club(world)
        assert await again.status(ann["token"]) == 200
        assert (await again.sign_in(code=ann["code"])).json()["id"] == ann["id"]
        await again.http.aclose()


# Devices.


async def test_one_device_is_signed_out_and_its_sockets_close_while_the_others_stay(club):
    ann = await club.open("Ann")
    phone = (await club.sign_in(code=ann["code"])).json()
    wires = [await club.come(f"{NATIVE}&token={who['token']}") for who in (ann, phone)]
    answer = await club.call("DELETE", "/api/account/devices/2", token=ann["token"])
    for wire in wires:
        wire.read()
    assert (answer.status_code, [wire.got for wire in wires]) == (
        200, [[], ["closed 1008 this session was ended"]]
    )  # fmt: skip
    assert [await club.status(who["token"]) for who in (ann, phone)] == [200, 401]
    assert len((await club.whoami(ann["token"]))["devices"]) == 1


async def test_who_signs_out_here_has_no_cookie_any_more(club):
    ann = await club.open("Ann")
    answer = await club.http.delete("/api/account/devices/1", headers=bearer(ann["token"]))
    assert answer.headers["set-cookie"].startswith(f'{COOKIE}="";')
    assert await club.status(ann["token"]) == 401


@pytest.mark.parametrize("number", ["0", "7", "-1", "x", "²", "9" * 30])
async def test_a_device_that_is_not_there_cannot_be_signed_out(club, number):
    ann = await club.open("Ann")
    answer = await club.call("DELETE", f"/api/account/devices/{number}", token=ann["token"])
    assert code_of(answer) == (404, "not_found")


async def test_no_device_of_somebody_else_can_be_signed_out(club):
    ann, bob = await club.open("Ann"), await club.open("Bob")
    await club.sign_in(code=ann["code"])
    assert (await club.call("DELETE", "/api/account/devices/2", token=bob["token"])).status_code == 404


async def test_a_link_signs_another_device_in_once(club):
    ann = await club.open("Ann")
    link = (await club.call("POST", "/api/account/links", token=ann["token"])).json()
    path, secret = link["path"].split("#")
    assert (path, link["lasts"]) == ("/sign-in", 120)
    assert (await club.sign_in(link=secret)).json()["id"] == ann["id"]
    assert code_of(await club.sign_in(link=secret)) == (410, "link_expired")


async def test_of_two_who_use_a_link_at_once_one_is_signed_in(club):
    ann = await club.open("Ann")
    secret = await link_of(club, ann)
    answers = await asyncio.gather(*(club.sign_in(link=secret) for _ in range(3)))
    assert sorted(answer.status_code for answer in answers) == [201, 410, 410]


async def test_a_link_lasts_two_minutes_and_a_new_one_ends_it(club):
    ann = await club.open("Ann")
    old, new = await link_of(club, ann), await link_of(club, ann)
    assert code_of(await club.sign_in(link=old)) == (410, "link_expired")
    club.world.clock.time += 121
    assert code_of(await club.sign_in(link=new)) == (410, "link_expired")
    assert (await club.sign_in(link=await link_of(club, ann))).status_code == 201
    assert await club.world.journal.records(RecordQuery("sign_in_link")) == []


async def link_of(club, who):
    """The secret of a link that signs in to somebody's account."""
    answer = await club.call("POST", "/api/account/links", token=who["token"])
    return answer.json()["path"].split("#")[1]


ENDINGS = {
    "sign out everywhere": ("DELETE", "/api/players/me/sessions"),
    "sign out the device that made it": ("DELETE", "/api/account/devices/2"),
    "sign out another device": ("DELETE", "/api/account/devices/3"),
    "make a new code": ("POST", "/api/account/code"),
}


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
async def test_a_link_ends_when_its_owner_signs_anybody_out_or_makes_a_new_code(club, ending):
    ann = await club.open("Ann")
    thief, _ = [(await club.sign_in(code=ann["code"])).json() for _ in range(2)]
    link = await link_of(club, thief)
    assert (await club.call(*ending, token=ann["token"])).status_code in (200, 201)
    assert code_of(await club.sign_in(link=link)) == (410, "link_expired")
    assert await club.world.journal.records(RecordQuery("sign_in_link")) == []


async def test_a_link_ends_with_the_device_that_made_it_also_if_that_gave_way_to_one_too_many(club):
    ann = await club.open("Ann")
    link = await link_of(club, ann)
    for _ in range(MOST_DEVICES):
        club.world.clock.time += 1
        await club.sign_in(code=ann["code"])
    assert code_of(await club.sign_in(link=link)) == (410, "link_expired")


async def test_a_link_stays_when_what_would_end_it_is_not_kept(club, monkeypatch):
    ann = await club.open("Ann")
    link = await link_of(club, ann)

    async def keep(*_):
        raise NotKept("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(club.world.journal, "keep", keep)
        assert (await club.end(ann["token"])).status_code == 503
    assert (await club.sign_in(link=link)).json()["id"] == ann["id"]


async def test_a_link_lasts_two_minutes_also_while_the_server_is_down(club, monkeypatch):
    ann = await club.open("Ann")
    link, late = await link_of(club, ann), 121.0
    async with await club.world.restart() as world:
        again, date = Club(world), world.clock.date
        monkeypatch.setattr(world.clock, "date", lambda: date() + late)
        assert code_of(await again.sign_in(link=link)) == (410, "link_expired")
        late = 60.0
        assert (await again.sign_in(link=link)).status_code == 201
        await again.http.aclose()


async def test_a_link_of_an_older_version_that_kept_no_date_signs_in(club):
    ann = await club.open("Ann")
    due = club.world.clock.now() + 60
    await club.world.journal.keep(Record("sign_in_link", digest_of("secret"), b"", owner=ann["id"], due=due))
    assert (await club.sign_in(link="secret")).json()["id"] == ann["id"]


@pytest.mark.parametrize("shown", [{}, {"code": "A" * 20, "link": "x"}, {"code": 7}, {"link": "x" * 300}])
async def test_who_shows_nothing_or_two_things_is_not_signed_in(club, shown):
    assert code_of(await club.sign_in(**shown)) == (400, "malformed")


async def test_a_guest_has_no_links(club):
    guest = await club.guest()
    answer = await club.call("POST", "/api/account/links", token=guest["token"])
    assert code_of(answer) == (403, "account_needed")


# Pages of other sites.


FOREIGN = [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}]
"""What a browser says of a page that is not ours."""
BODIES = {
    "/api/account": {"name": "Eve"},
    "/api/account/passkeys": {"passkey": {}},
    "/api/account/passkeys/options": {},
    "/api/notifications/push": {"endpoint": "https://a.example/", "keys": {"p256dh": "A", "auth": "A"}},
    "/api/notifications/webhooks": {"url": "https://evil.example/"},
}


@pytest.mark.parametrize("foreign", FOREIGN)
async def test_no_page_of_another_site_does_anything_about_an_account_with_its_cookie(club, foreign):
    ann = await club.open("Ann")
    mine = ("/api/account", "/api/notifications", "/api/players/me/")
    calls = [call for call in club.api.calls if call.path.startswith(mine)]
    assert len(calls) > 15
    for call in calls:
        path = call.path.replace("{number}", "1").replace("{id}", "x")
        body = BODIES.get(path) if call.method == "POST" else {} if call.method == "PUT" else None
        answer = await club.call(call.method, path, body, Cookie=f"{COOKIE}={ann['token']}", **foreign)
        assert code_of(answer) == (401, "bad_token"), (call.method, path)
        assert "set-cookie" not in answer.headers
    assert (await club.whoami(ann["token"]))["name"] == "Ann"


@pytest.mark.parametrize("foreign", FOREIGN)
async def test_no_page_of_another_site_signs_its_visitors_in_to_an_account_of_its_own(club, foreign):
    eve = await club.open("Eve")
    answer = await club.call("POST", "/api/sign-in", {"code": eve["code"]}, **foreign)
    assert "set-cookie" not in answer.headers


# Leaving.


async def played(club, ann, bob):
    """A ranked game that Ann has won."""
    world, journal = club.world, club.world.journal
    games: list[tuple[str, Literal["won", "lost"], str, str]] = [
        (ann, "won", bob, "Bob"), (bob, "lost", ann, "Ann"),
    ]  # fmt: skip
    results = [
        GameResult(
            one, how, "three in a row", "tictactoe", "tictactoe", (Player(other, name),), "R", 1, 9, 0.0
        )
        for one, how, other, name in games
    ]
    await journal.keep(*(result_record(result, world.clock.now()) for result in results))
    await journal.keep(standing_record(Standing("tictactoe", ann, "Ann", won=1)))


async def test_who_deletes_the_account_leaves_results_without_the_name(club):
    ann, bob = await club.open("Ann"), await club.open("Bob")
    await played(club, ann["id"], bob["id"])
    await club.call("PUT", "/api/players/me/preferences", {"theme": "dark"}, ann["token"])
    wire = await club.come(f"{NATIVE}&token={ann['token']}")
    assert (await club.call("DELETE", "/api/account", token=ann["token"])).status_code == 200
    wire.read()
    assert wire.got == ["closed 1008 this session was ended"]
    left = (await club.call("GET", f"/api/players/{ann['id']}")).json()
    assert (left["name"], left["standings"][0]["name"], left["results"][0]["how"]) == (FORMER, FORMER, "won")
    seen = (await club.call("GET", f"/api/players/{bob['id']}")).json()
    assert seen["results"][0]["against"] == [{"id": ann["id"], "name": FORMER}]
    assert await club.status(ann["token"]) == 401
    assert code_of(await club.sign_in(code=ann["code"])) == (401, "bad_code")
    assert (await club.open("Ann"))["id"] != ann["id"]
    assert await club.world.journal.record("preferences", ann["id"]) is None


async def test_a_game_that_goes_on_while_its_player_deletes_the_account_ends_without_the_name(club):
    ann, bob = await club.open("Ann"), await club.open("Bob")
    room, _ = await club.table(ann, bob)
    assert [seat["name"] for seat in await club.seats(room)] == ["Ann", "Bob"]
    assert (await club.call("DELETE", "/api/account", token=ann["token"])).status_code == 200
    assert await club.seats(room) == [
        {"id": ann["id"], "name": FORMER}, {"id": bob["id"], "name": "Bob", "account": True},
    ]  # fmt: skip
    await club.world.ask(room, Resign(bob["id"]))
    (result,) = (await club.call("GET", f"/api/players/{bob['id']}")).json()["results"]
    assert result["against"] == [{"id": ann["id"], "name": FORMER}]


async def test_a_ranked_game_that_is_not_rated_yet_is_rated_without_the_name_of_who_was_deleted(club):
    ann, bob = await club.open("Ann"), await club.open("Bob")
    players = Player(ann["id"], "Ann", account=True), Player(bob["id"], "Bob", account=True)
    outcome = Outcome(won=(ann["id"],), lost=(bob["id"],))
    await club.world.journal.keep(unrated_record(Unrated("tictactoe", players, outcome, 0.0), 1, 9, 0.0))
    assert (await club.call("DELETE", "/api/account", token=ann["token"])).status_code == 200
    async with await club.world.restart() as world:  # what was not rated is rated at the start
        again = Club(world)
        standings = (await again.call("GET", "/api/leaderboard?game=tictactoe")).json()
        assert sorted(one["name"] for one in standings) == ["Bob", FORMER]
        await again.http.aclose()


# Guests and accounts at the table.


async def test_who_has_an_account_is_known_by_that_at_the_seat_and_in_the_chat_and_guests_are_not(club):
    ann, gus = await club.open("Ann"), await club.guest(name="Gus")
    room, (anns, guss) = await club.table(ann, gus)
    assert await club.seats(room) == [
        {"id": ann["id"], "name": "Ann", "account": True}, {"id": gus["id"], "name": "Gus"},
    ]  # fmt: skip
    for line in (anns, guss):
        await line.push(room, "chat", {"text": "hello"})
    assert [(said["name"], said.get("account", False)) for _, said in guss.heard("chat")] == [
        ("Ann", True), ("Gus", False),
    ]  # fmt: skip


async def test_guests_are_marked_on_the_leaderboard_and_in_the_results_of_others(club):
    ann, gus = await club.open("Ann"), await club.guest(name="Ann")
    for one in (ann, gus):
        await club.world.journal.keep(standing_record(Standing("tictactoe", one["id"], "Ann", won=1)))
    ladder = (await club.call("GET", "/api/leaderboard?game=tictactoe")).json()
    assert {one["player"]: one.get("guest", False) for one in ladder} == {ann["id"]: False, gus["id"]: True}
    room, _ = await club.table(ann, gus)
    await club.world.ask(room, Resign(gus["id"]))
    of = {who["id"]: (await club.call("GET", f"/api/players/{who['id']}")).json() for who in (ann, gus)}
    assert of[ann["id"]]["results"][0]["against"] == [{"id": gus["id"], "name": "Ann"}]
    assert of[gus["id"]]["results"][0]["against"] == [{"id": ann["id"], "name": "Ann", "account": True}]


async def test_everything_about_me_is_one_file_without_a_secret(club):
    ann, bob = await club.open("Ann"), await club.open("Bob")
    await played(club, ann["id"], bob["id"])
    answer = await club.call("GET", "/api/account/export", token=ann["token"])
    mine = answer.json()
    assert answer.headers["content-disposition"] == 'attachment; filename="parlour.json"'
    assert (mine["name"], mine["results"][0]["how"], mine["standings"][0]["won"]) == ("Ann", "won", 1)
    assert mine["devices"][0]["name"] == "A program"
    kept = read_player(await club.world.journal.record("player", ann["id"]))
    assert ann["token"] not in answer.text
    assert kept.code not in answer.text


async def test_everything_about_me_has_my_tickets_and_where_i_sit(club):
    ann = await club.open("Ann")
    room, _ = await club.table(ann)
    ticket = (await club.call("POST", "/api/tickets", {"game": "hex"}, ann["token"])).json()
    mine = (await club.call("GET", "/api/account/export", token=ann["token"])).json()
    assert [(one["id"], one["game"], one["mode"]) for one in mine["tickets"]] == [
        (ticket["id"], "hex", "normal")
    ]
    assert [(one["room"], one["game"], one["name"]) for one in mine["seats"]] == [(room, "tictactoe", "Ann")]


async def test_a_guest_can_have_everything_and_be_deleted_too(club):
    guest = await club.guest(name="Gus")
    assert (await club.call("GET", "/api/account/export", token=guest["token"])).json()["name"] == "Gus"
    assert (await club.call("DELETE", "/api/account", token=guest["token"])).status_code == 200
    assert await club.status(guest["token"]) == 401


# Ranked games.


@pytest.mark.parametrize(("ranked", "guest_may"), [("everybody", True), ("accounts", False)])
async def test_the_host_says_whether_guests_play_ranked_games(ranked, guest_may):
    async with World(PLAYABLE, ranked=ranked) as world:
        club = Club(world)
        ticket = {"game": "tictactoe", "mode": "ranked"}
        guest, ann = await club.guest(), await club.open("Ann")
        answer = await club.call("POST", "/api/tickets", ticket, guest["token"])
        assert (answer.status_code == 201) is guest_may
        if not guest_may:
            assert code_of(answer) == (403, "account_needed")
        assert (await club.call("POST", "/api/tickets", ticket, ann["token"])).status_code == 201
        assert (await club.call("POST", "/api/tickets", {"game": "hex"}, guest["token"])).status_code == 201
        await club.http.aclose()

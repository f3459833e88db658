"""Passkeys: an account is made, and signed in to, by a key that an authenticator holds."""

import asyncio
import logging
import sys

import pytest
from structlog.testing import capture_logs

from parlour.errors import Refused
from parlour.journal.base import RecordQuery
from parlour.server.parts.accounts.passkeys import CHALLENGE_LASTS, MOST_PASSKEYS, USED_FOR
from parlour.server.parts.accounts.sites import site_at
from parlour.server.tokens import COOKIE
from tests.authenticator import Authenticator
from tests.server.test_accounts import Club, code_of
from tests.server.test_sessions import NATIVE
from tests.server.world import PLAYABLE, World

HERE = {"Host": "games.example", "Origin": "https://games.example"}


class Site(Club):
    """A server at https://games.example, where people have authenticators."""

    async def ask(self, path, body=None, token=None, **headers):
        return await self.call("POST", path, body, token, **{**HERE, **headers})

    async def options(self, token=None, **body):
        """What a browser is asked: to make a passkey for whoever has the token, else to sign in."""
        path = "/api/sign-in/options" if token is None else "/api/account/passkeys/options"
        answer = await self.ask(path, body, token)
        assert answer.status_code == 200, answer.text
        return answer.json()["publicKey"]

    async def open_by(self, key, name):
        """A guest of that name becomes an account by a passkey."""
        guest = await self.guest(name=name)
        made = key.create(await self.options(guest["token"]))
        answer = await self.ask("/api/account", {"passkey": made}, guest["token"])
        assert answer.status_code == 201, answer.text
        return answer.json()

    async def add(self, key, token, **bent):
        made = key.create(await self.options(token), **bent)
        return await self.ask("/api/account/passkeys", {"passkey": made}, token)

    async def enter(self, key, **bent):
        return await self.ask("/api/sign-in", {"passkey": key.get(await self.options(), **bent)})


def stick():
    return Authenticator("https://games.example", "games.example")


@pytest.fixture
async def site():
    async with World(PLAYABLE) as world:
        site = Site(world)
        yield site
        await site.http.aclose()


# Making one, and signing in.


async def test_a_guest_becomes_an_account_by_a_passkey_and_signs_in_with_it_elsewhere(site):
    key, guest = stick(), await site.guest(name="Ann")
    made = key.create(await site.options(guest["token"]))
    opened = await site.ask("/api/account", {"passkey": made}, guest["token"])
    ann = opened.json()
    assert (opened.status_code, ann["id"], ann["name"], ann["account"]) == (201, guest["id"], "Ann", True)
    answer = await site.enter(key)
    assert (answer.status_code, answer.json()["id"], COOKIE in answer.cookies) == (201, guest["id"], True)
    mine = await site.whoami(answer.json()["token"])
    assert [one["domain"] for one in mine["passkeys"]] == ["games.example"]
    assert len(mine["devices"]) == 2


async def test_an_account_by_a_passkey_has_a_recovery_code_as_well(site):
    ann = await site.open_by(stick(), "Ann")
    assert (await site.sign_in(code=ann["code"])).json()["id"] == ann["id"]


async def test_an_account_adds_passkeys_and_removes_them(site):
    ann, first, second = await site.open("Ann"), stick(), stick()
    assert [(await site.add(key, ann["token"])).status_code for key in (first, second)] == [201, 201]
    one, _ = (await site.whoami(ann["token"]))["passkeys"]
    gone = await site.call("DELETE", f"/api/account/passkeys/{one['id']}", token=ann["token"])
    assert gone.status_code == 200
    assert code_of(await site.enter(first)) == (401, "bad_passkey")
    assert (await site.enter(second)).json()["id"] == ann["id"]
    again = await site.call("DELETE", f"/api/account/passkeys/{one['id']}", token=ann["token"])
    assert code_of(again) == (404, "not_found")


async def test_a_passkey_that_an_account_has_is_not_offered_for_another_one(site):
    key = stick()
    ann = await site.open_by(key, "Ann")
    options = await site.options(ann["token"])
    (known,) = (await site.whoami(ann["token"]))["passkeys"]
    assert [one["id"] for one in options["excludeCredentials"]] == [known["id"]]
    assert options["authenticatorSelection"]["residentKey"] == "required"


async def test_a_name_that_cannot_be_had_is_refused_before_an_authenticator_is_asked(site):
    await site.open("Ann")
    guest = await site.guest(name="Bob")
    asked = {name: await site.ask("/api/account/passkeys/options", {"name": name}, guest["token"])
             for name in ("ANN", "\u0410nn", "Guest 7", "Random bot")}  # fmt: skip
    assert [answer.json()["code"] for answer in asked.values()] == ["name_taken", *["invalid_name"] * 3]


async def test_an_authenticator_that_counts_is_believed_only_forwards(site):
    key = stick()
    await site.open_by(key, "Ann")
    assert (await site.enter(key, count=7)).status_code == 201
    assert [code_of(await site.enter(key, count=count)) for count in (7, 6, 0)] == [(401, "bad_passkey")] * 3
    assert (await site.enter(key, count=8)).status_code == 201


async def test_an_authenticator_that_does_not_count_is_welcome(site):
    key, guest = stick(), await site.guest(name="Ann")
    made = key.create(await site.options(guest["token"]), count=0)
    assert (await site.ask("/api/account", {"passkey": made}, guest["token"])).status_code == 201
    assert [(await site.enter(key, count=0)).status_code for _ in range(2)] == [201, 201]


async def test_passkeys_outlast_a_restart(site):
    key = stick()
    ann = await site.open_by(key, "Ann")
    async with await site.world.restart() as world:
        again = Site(world)
        assert (await again.enter(key)).json()["id"] == ann["id"]
        await again.http.aclose()


async def test_no_account_has_more_than_twenty_passkeys(site):
    ann = await site.open("Ann")
    for _ in range(MOST_PASSKEYS):
        await site.add(stick(), ann["token"])
        site.world.clock.time += 1  # the address is not to be too fast
    assert code_of(await site.add(stick(), ann["token"])) == (429, "too_many")


# Challenges.


async def test_a_challenge_is_good_for_one_passkey_and_for_one_signing_in(site):
    key, ann = stick(), await site.open("Ann")
    options = await site.options(ann["token"])
    made = [await site.ask("/api/account/passkeys", {"passkey": one.create(options)}, ann["token"])
            for one in (key, stick())]  # fmt: skip
    assert made[0].status_code == 201
    assert code_of(made[1]) == (410, "challenge_expired")
    shown = key.get(await site.options())
    assert (await site.ask("/api/sign-in", {"passkey": shown})).status_code == 201
    assert code_of(await site.ask("/api/sign-in", {"passkey": shown})) == (410, "challenge_expired")


async def test_of_two_who_play_one_answer_at_once_one_is_signed_in(site):
    key = stick()
    await site.open_by(key, "Ann")
    shown = key.get(await site.options())
    answers = await asyncio.gather(*(site.ask("/api/sign-in", {"passkey": shown}) for _ in range(3)))
    assert sorted(answer.status_code for answer in answers) == [201, 410, 410]


async def test_a_challenge_lasts_five_minutes(site):
    key = stick()
    await site.open_by(key, "Ann")
    old = key.get(await site.options())
    site.world.clock.time += CHALLENGE_LASTS + 1
    assert code_of(await site.ask("/api/sign-in", {"passkey": old})) == (410, "challenge_expired")
    assert (await site.enter(key)).status_code == 201


async def test_a_challenge_is_for_the_player_who_asked_and_for_what_they_asked(site):
    key, ann, eve = stick(), await site.open("Ann"), await site.open("Eve")
    made = key.create(await site.options(ann["token"]))
    assert code_of(await site.ask("/api/account/passkeys", {"passkey": made}, eve["token"])) == (
        410, "challenge_expired",
    )  # fmt: skip
    await site.add(key, ann["token"])
    other = key.get(await site.options(ann["token"]))
    assert code_of(await site.ask("/api/sign-in", {"passkey": other})) == (410, "challenge_expired")


@pytest.mark.parametrize("challenge", ["", "AAAA", "bm90LW91cnM", "_" * 200])
async def test_a_challenge_that_is_not_ours_is_refused(site, challenge):
    key = stick()
    await site.open_by(key, "Ann")
    status, code = code_of(await site.enter(key, challenge=challenge))
    assert (status, code) in [(410, "challenge_expired"), (401, "bad_passkey")]


async def test_what_was_used_is_forgotten_a_day_later_and_what_was_not_is_never_kept(site):
    key = stick()
    await site.open_by(key, "Ann")
    used = RecordQuery("used_challenge")
    for _ in range(3):
        await site.options()
    assert len(await site.world.journal.records(used)) == 1
    site.world.clock.time += USED_FOR + 1
    await site.enter(key)
    assert len(await site.world.journal.records(used)) == 1


# Those who cheat.


@pytest.mark.parametrize(
    "bent",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://games.example"},
        {"domain": "evil.example"},
        {"flags": 0},
        {"type": "webauthn.create"},
        {"handle": b"somebody else"},
    ],
)
async def test_what_was_signed_for_another_page_or_by_nobody_signs_nobody_in(site, bent):
    key = stick()
    await site.open_by(key, "Ann")
    assert code_of(await site.enter(key, **bent)) == (401, "bad_passkey")


@pytest.mark.parametrize(
    "bent", [{"origin": "https://evil.example"}, {"domain": "evil.example"}, {"flags": 0x40},
             {"flags": 0x01}, {"type": "webauthn.get"}, {"attestation": b""}, {"attestation": b"\xa0"},
             {"attestation": b"\xff" * 500}, {"attestation": b"\x9f" * 10_000}]
)  # fmt: skip
async def test_a_passkey_of_another_page_or_a_malformed_one_is_not_added(site, bent):
    ann = await site.open("Ann")
    answer = await site.add(stick(), ann["token"], **bent)
    assert (*code_of(answer), answer.json()["path"]) == (401, "bad_passkey", "$.passkey")
    assert (await site.whoami(ann["token"]))["passkeys"] == []


@pytest.mark.parametrize("how", ["sign-in", "account/passkeys", "account"])
@pytest.mark.parametrize(
    "shown",
    [
        {},
        {"response": None},
        {"response": {"clientDataJSON": 7}},
        {"response": {"clientDataJSON": "e30"}},
        {"response": {"clientDataJSON": "!"}},
        {"id": "x", "rawId": [], "type": "x", "response": {"clientDataJSON": "W10"}},
    ],
)
async def test_what_is_no_credential_at_all_is_refused_with_a_sentence(site, how, shown):
    ann = await site.guest(name="Ann") if how == "account" else await site.open("Ann")
    with capture_logs() as logs:
        answer = await site.ask(f"/api/{how}", {"passkey": shown}, ann["token"])
    assert code_of(answer) == (401, "bad_passkey")
    assert "Traceback" not in answer.text + repr(logs)


async def test_the_refusal_of_a_passkey_of_another_page_says_which_page_it_was(site):
    key = stick()
    await site.open_by(key, "Ann")
    answer = await site.enter(key, origin="https://evil.example")
    assert answer.json()["message"] == (
        "expected a passkey that was used at https://games.example, got one of https://evil.example"
    )


async def test_a_passkey_signs_in_at_the_name_that_it_belongs_to_and_at_no_subdomain(site):
    """A page of a subdomain can have it sign, and tells us that this is where it is."""
    key, evil = stick(), {"Host": "evil.games.example", "Origin": "https://evil.games.example"}
    await site.open_by(key, "Ann")
    shown = key.get(await site.options(), origin=evil["Origin"])
    answer = await site.ask("/api/sign-in", {"passkey": shown}, **evil)
    assert (code_of(answer), "games.example" in answer.json()["message"]) == ((401, "bad_passkey"), True)


async def test_a_credential_id_of_another_account_neither_signs_in_nor_is_added(site):
    anns, eves = stick(), stick()
    await site.open_by(anns, "Ann")
    eve = await site.open_by(eves, "Eve")
    eves.id = anns.id
    assert code_of(await site.enter(eves)) == (401, "bad_passkey")
    answer = await site.add(eves, eve["token"])
    assert (code_of(answer), "already" in answer.json()["message"]) == ((401, "bad_passkey"), True)


async def test_a_stolen_token_of_the_guest_adds_no_passkey_to_the_account(site):
    guest, thief = await site.guest(name="Ann"), stick()
    stolen = thief.create(await site.options(guest["token"]))
    ann = (await site.call("POST", "/api/account", {}, guest["token"])).json()
    eve = await site.open("Eve")
    for token in (guest["token"], None):
        answer = await site.ask("/api/account/passkeys", {"passkey": stolen}, token)
        assert code_of(answer) == (401, "bad_token")
    answer = await site.ask("/api/account/passkeys", {"passkey": stolen}, eve["token"])
    assert code_of(answer) == (410, "challenge_expired")
    assert (await site.whoami(ann["token"]))["passkeys"] == []
    assert code_of(await site.ask("/api/account/passkeys/options", {}, guest["token"])) == (401, "bad_token")


async def test_a_guest_who_has_no_account_adds_no_passkey(site):
    guest = await site.guest(name="Ann")
    assert code_of(await site.add(stick(), guest["token"])) == (403, "account_needed")


async def test_who_tries_many_passkeys_has_to_wait_even_with_the_right_one(site):
    key = stick()
    await site.open_by(key, "Ann")
    wrong = stick().get(await site.options())
    tries = [code_of(await site.ask("/api/sign-in", {"passkey": wrong})) for _ in range(31)]
    assert (tries[:30], tries[30]) == ([(401, "bad_passkey")] * 30, (429, "too_fast"))
    assert code_of(await site.enter(key)) == (429, "too_fast")
    await site.world.wait(60)
    assert (await site.enter(key)).status_code == 201


async def test_nothing_that_signs_in_is_logged(site, caplog):
    key = stick()
    with capture_logs() as logs, caplog.at_level(logging.DEBUG):
        await site.open_by(key, "Ann")
        shown = key.get(await site.options())
        await site.ask("/api/sign-in", {"passkey": shown})
    assert shown["response"]["signature"] not in repr(logs) + caplog.text


# Where passkeys can be had.


@pytest.mark.parametrize(
    "origin",
    ["http://192.168.1.7:8000", "https://192.168.1.7", "https://[::1]", "http://games.example", "null"],
)
def test_no_passkey_belongs_to_a_page_without_https_or_without_a_name(origin):
    with pytest.raises(Refused, match="no_passkeys"):
        site_at(origin)


async def test_a_page_of_another_site_is_asked_for_nothing(site):
    answer = await site.ask("/api/sign-in/options", Origin="https://evil.example")
    assert code_of(answer) == (403, "no_passkeys")


@pytest.mark.parametrize(
    ("settings", "headers", "domain"),
    [
        ({}, {"Host": "localhost:8000", "Origin": "http://localhost:8000"}, "localhost"),
        ({"proxies": ["127.0.0.1"]}, {"X-Forwarded-Proto": "https"}, "games.example"),
        (
            {"origins": ["https://club.example"]},
            {"Host": "127.0.0.1:8000", "Origin": "https://club.example"},
            "club.example",
        ),
    ],
)
async def test_passkeys_belong_to_the_name_by_which_the_server_is_reached(settings, headers, domain):
    async with World(PLAYABLE, **settings) as world:
        site = Site(world)
        answer = await site.ask("/api/sign-in/options", **headers)
        assert answer.json()["publicKey"]["rpId"] == domain
        await site.http.aclose()


@pytest.mark.parametrize(
    ("origin", "welcome"),
    [
        ("https://games.example", True),
        ("https://club.example", True),
        ("http://localhost:8000", True),
        ("https://games.example:8443", False),
        ("https://evil.games.example", False),
    ],
)
async def test_a_server_that_knows_its_address_takes_passkeys_there_and_at_listed_sites_alone(
    origin, welcome
):
    async with World(
        PLAYABLE, public_url="https://Games.example/", origins=["https://club.example"]
    ) as world:
        site = Site(world)
        page = {"Host": origin.partition("://")[2], "Origin": origin}
        answer = await site.ask("/api/sign-in/options", **page)
        assert code_of(answer) == (403, "no_passkeys") if not welcome else answer.status_code == 200
        await site.http.aclose()


@pytest.mark.parametrize(
    ("origin", "welcome"),
    [
        ("https://games.example", True),
        ("http://localhost:8000", True),
        ("http://192.168.1.7:8000", False),
        ("http://games.example", False),
    ],
)
async def test_a_public_address_without_passkeys_keeps_them_from_no_site_that_has_them(origin, welcome):
    """As with --lan, whose address in the network is the public one: without https, and a number."""
    lan = "http://192.168.1.7:8000"
    async with World(PLAYABLE, public_url=lan, origins=[lan], proxies=["127.0.0.1"]) as world:
        site = Site(world)
        scheme, host = origin.split("://")
        page = {"Host": host, "Origin": origin, "X-Forwarded-Proto": scheme}
        answer = await site.ask("/api/sign-in/options", **page)
        assert answer.status_code == 200 if welcome else code_of(answer) == (403, "no_passkeys")
        await site.http.aclose()


async def test_behind_a_proxy_that_speaks_https_a_plain_page_is_not_ours(site):
    async with World(PLAYABLE, proxies=["127.0.0.1"]) as world:
        site = Site(world)
        plain = {"X-Forwarded-Proto": "https", "Host": "localhost", "Origin": "http://localhost"}
        assert code_of(await site.ask("/api/sign-in/options", **plain)) == (403, "no_passkeys")
        await site.http.aclose()


async def test_without_the_extra_the_account_says_so_and_everything_else_works(site, monkeypatch):
    monkeypatch.setitem(sys.modules, "webauthn", None)
    ann = await site.open("Ann")
    assert (await site.whoami(ann["token"]))["passkeys"] is None
    answer = await site.ask("/api/sign-in/options")
    assert (code_of(answer), "parlour[accounts]" in answer.json()["message"]) == ((403, "no_passkeys"), True)
    assert code_of(await site.ask("/api/account/passkeys", {"passkey": {}}, ann["token"])) == (
        403, "no_passkeys",
    )  # fmt: skip
    assert code_of(await site.ask("/api/sign-in", {"passkey": {}})) == (403, "no_passkeys")
    assert (await site.sign_in(code=ann["code"])).status_code == 201


# Leaving.


async def test_who_deletes_the_account_has_no_passkey_any_more(site):
    key = stick()
    ann = await site.open_by(key, "Ann")
    export = (await site.call("GET", "/api/account/export", token=ann["token"])).json()
    assert [sorted(one) for one in export["passkeys"]] == [["domain", "name", "since", "used"]]
    wire = await site.come(f"{NATIVE}&token={ann['token']}")
    await site.call("DELETE", "/api/account", token=ann["token"])
    wire.read()
    assert wire.got == ["closed 1008 this session was ended"]
    assert code_of(await site.enter(key)) == (401, "bad_passkey")
    assert await site.world.journal.records(RecordQuery("passkey")) == []
    assert (await site.open_by(key, "Ann"))["id"] != ann["id"]


async def test_sessions_that_are_ended_everywhere_leave_the_passkeys(site):
    key = stick()
    ann = await site.open_by(key, "Ann")
    await site.end(ann["token"])
    assert (await site.enter(key)).json()["id"] == ann["id"]

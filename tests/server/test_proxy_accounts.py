"""A proxy that knows who somebody is: its users have accounts without doing anything for them."""

import asyncio

import pytest

from parlour.errors import Refused
from parlour.journal.base import NewRecord
from parlour.server.parts.accounts.accounts import PROXY_USER
from parlour.server.tokens import Bearer
from tests.server.test_accounts import Club, code_of
from tests.server.test_sessions import bearer
from tests.server.world import PLAYABLE, World


@pytest.fixture
async def company():
    async with World(PLAYABLE, proxies=["127.0.0.1"], user_header="Remote-User") as world:
        club = Club(world)
        yield club
        await club.http.aclose()


async def visit_by_bytes(club, *users):
    headers = [(b"Remote-User", user) for user in users]
    answer = await club.http.request("POST", "/api/players", json={}, headers=headers)
    club.http.cookies.clear()
    return answer


async def visit(club, user, **headers):
    answer = await club.call("POST", "/api/players", {}, **{"Remote-User": user, **headers})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_a_known_proxy_names_the_user_who_has_an_account_from_then_on(company):
    ann, bob = await visit(company, "ann@example.org"), await visit(company, "bob")
    again = await visit(company, "ann@example.org")
    assert (ann["name"], ann["account"], again["id"]) == ("ann", True, ann["id"])
    assert bob["id"] != ann["id"]
    assert len((await company.whoami(again["token"]))["devices"]) == 2


async def test_a_users_browser_that_comes_back_is_the_same_device(company):
    ann = await visit(company, "ann")
    again = await visit(company, "ann", **bearer(ann["token"]))
    assert len((await company.whoami(again["token"]))["devices"]) == 1


async def test_another_user_of_the_same_browser_is_another_player(company):
    ann = await visit(company, "ann")
    bob = await visit(company, "bob", **bearer(ann["token"]))
    assert (bob["id"] != ann["id"], bob["name"]) == (True, "bob")


async def test_users_whose_names_look_alike_get_a_number_and_odd_names_are_replaced(company):
    names = [(await visit(company, user))["name"] for user in ("ann", "ANN@x.example", "random bot", "ann.")]
    assert names == ["ann", "ANN 2", "Player", "ann. 3"]


@pytest.mark.parametrize("code", ["utf-8", "latin-1"])
async def test_everything_about_me_has_the_name_by_which_the_proxy_knows_me(company, code):
    jan = (await visit_by_bytes(company, "jürgen@example.org".encode(code))).json()
    export = (await company.call("GET", "/api/account/export", token=jan["token"])).json()
    assert (export["name"], export["proxy_users"]) == ("jürgen", ["jürgen@example.org"])
    guest = await company.guest()
    assert (await company.call("GET", "/api/account/export", token=guest["token"])).json()[
        "proxy_users"
    ] == []


async def test_two_visits_at_once_make_one_account(company):
    visits = await asyncio.gather(*(visit(company, "ann") for _ in range(3)))
    assert len({one["id"] for one in visits}) == 1


@pytest.mark.parametrize("proxies", [[], ["10.0.0.1"]])
async def test_the_header_is_believed_from_a_known_proxy_alone(proxies):
    async with World(PLAYABLE, proxies=proxies, user_header="Remote-User" if proxies else "") as world:
        club = Club(world)
        assert (await visit(club, "ann"))["account"] is False
        await club.http.aclose()


async def test_a_user_whose_session_ended_a_moment_ago_is_signed_in_on_a_device_anew(company):
    accounts, ann = company.world.server.accounts, await visit(company, "ann")
    mine = Bearer(ann["id"], 1, 1)
    await accounts.end_all(mine, "a phone")
    known, device = await accounts.of_user("ann", "ann", "a laptop", mine)
    assert (known.id, device) == (ann["id"], 3)
    assert [one.number for one in known.devices] == [2, 3]


async def test_a_user_who_was_deleted_a_moment_ago_is_nobody_any_more(company):
    accounts, ann = company.world.server.accounts, await visit(company, "ann")
    mine = Bearer(ann["id"], 1, 1)
    await company.call("DELETE", "/api/account", token=ann["token"])
    await company.world.journal.keep(
        NewRecord(PROXY_USER, "ann", b"", owner=ann["id"])
    )  # as it was read before
    with pytest.raises(Refused, match="account_needed"):
        await accounts.of_user("ann", "ann", "a laptop", mine)


async def test_a_user_who_was_deleted_begins_anew(company):
    ann = await visit(company, "ann")
    assert (await company.call("DELETE", "/api/account", token=ann["token"])).status_code == 200
    again = await visit(company, "ann")
    assert (again["id"] != ann["id"], again["name"]) == (True, "ann")


async def test_no_two_users_are_one_in_whatever_encoding_their_names_come(company):
    users = ["Jürgen", "Jörgen", "JÃ¼rgen", "J?rgen", "Jürgen\xa0", "volà", "vol"]
    sent = {user.encode(code) for user in users for code in ("utf-8", "latin-1")}
    assert len(sent) == 11  # two are the same bytes
    answers = [(await visit_by_bytes(company, user)).json() for user in sorted(sent)]
    again = [(await visit_by_bytes(company, user)).json() for user in sorted(sent)]
    assert len({one["id"] for one in answers}) == len(sent)
    assert [one["id"] for one in again] == [one["id"] for one in answers]


@pytest.mark.parametrize("code", ["utf-8", "latin-1"])
async def test_a_users_name_is_read_as_utf_8_or_else_as_latin_1(company, code):
    assert (await visit_by_bytes(company, "Jürgen".encode(code))).json()["name"] == "Jürgen"


async def test_a_user_whose_name_is_too_long_or_lost_characters_at_the_proxy_is_refused_with_a_sentence(
    company,
):
    for user in ("x" * 201, "x" * 200 + "ann", "J\ufffdrgen"):
        answer = await visit_by_bytes(company, user.encode())
        assert (code_of(answer), "proxy" in answer.json()["message"]) == ((400, "invalid_name"), True)


@pytest.mark.parametrize(
    "users", [(b"mallory", b"ann"), (b"ann", b"mallory"), (b"", b"ann"), (b"ann", b"ann")]
)
async def test_a_visitors_own_header_beside_the_proxys_is_refused_whichever_comes_first(company, users):
    ann = await visit(company, "ann")
    answer = await visit_by_bytes(company, *users)
    assert (code_of(answer), "got 2" in answer.json()["message"]) == ((400, "invalid_name"), True)
    assert len((await company.whoami(ann["token"]))["devices"]) == 1


async def test_users_with_long_names_are_told_apart_by_the_last_character(company):
    visits = [await visit(company, "x" * 199 + end) for end in "ab"]
    assert visits[0]["id"] != visits[1]["id"]


async def test_a_user_with_an_account_of_before_keeps_it(company):
    """The keys are the names themselves, as they always were."""
    user = "ou=" + "x" * 190 + "jürgen"
    ann = await company.open("Ann")
    await company.world.journal.keep(NewRecord(PROXY_USER, user, b"", owner=ann["id"]))
    assert (await visit_by_bytes(company, user.encode())).json()["id"] == ann["id"]

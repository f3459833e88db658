"""A proxy that knows who somebody is: its users have accounts without doing anything for them."""

import asyncio

import pytest

from tests.server.test_accounts import Club
from tests.server.test_sessions import bearer
from tests.server.world import PLAYABLE, World


@pytest.fixture
async def company():
    async with World(PLAYABLE, proxies=["127.0.0.1"], user_header="Remote-User") as world:
        club = Club(world)
        yield club
        await club.http.aclose()


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


async def test_two_visits_at_once_make_one_account(company):
    visits = await asyncio.gather(*(visit(company, "ann") for _ in range(3)))
    assert len({one["id"] for one in visits}) == 1


@pytest.mark.parametrize("proxies", [[], ["10.0.0.1"]])
async def test_the_header_is_believed_from_a_known_proxy_alone(proxies):
    async with World(PLAYABLE, proxies=proxies, user_header="Remote-User" if proxies else "") as world:
        club = Club(world)
        assert (await visit(club, "ann"))["account"] is False
        await club.http.aclose()


async def test_a_user_who_was_deleted_begins_anew(company):
    ann = await visit(company, "ann")
    assert (await company.call("DELETE", "/api/account", token=ann["token"])).status_code == 200
    again = await visit(company, "ann")
    assert (again["id"] != ann["id"], again["name"]) == (True, "ann")

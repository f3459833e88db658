"""Names of accounts: one script each, and no two that look the same."""

import pytest

from parlour.server.parts.accounts.names import key_of_name
from tests.server.test_accounts import Club, code_of
from tests.server.world import PLAYABLE, World


@pytest.fixture
async def club():
    async with World(PLAYABLE) as world:
        club = Club(world)
        yield club
        await club.http.aclose()


@pytest.mark.parametrize("name", ["Ann", "ANN", "A n n", "Ann.", "\uff21\uff4e\uff4e", "\u0410\u043d\u043d"])
async def test_no_two_accounts_have_names_that_look_the_same(club, name):
    await club.open("Ann" if "\u043d" not in name else "Ahh")
    guest = await club.guest(name=name)
    assert code_of(await club.call("POST", "/api/account", {}, guest["token"])) == (409, "name_taken")
    answer = await club.call("POST", "/api/account", {"name": "Bob"}, guest["token"])
    assert (answer.status_code, answer.json()["name"]) == (201, "Bob")


@pytest.mark.parametrize(
    ("one", "other"), [("Bill", "BIII"), ("Corn", "Com"), ("O0", "oo"), ("paula", "\u0440\u0430ul\u0430")]
)
def test_these_names_look_alike(one, other):
    assert key_of_name(one) == key_of_name(other)


@pytest.mark.parametrize(("one", "other"), [("Zoë", "Zoe"), ("Ann", "Anna"), ("!!", "??"), ("山田", "山口")])
def test_these_do_not(one, other):
    assert key_of_name(one) != key_of_name(other)


@pytest.mark.parametrize("name", ["\u0410nn", "Ann Ω", "Guest 1234", "guest9", "Random bot"])
async def test_a_name_of_two_scripts_or_of_guests_or_bots_is_refused(club, name):
    guest = await club.guest(name="Ann")
    answer = await club.call("POST", "/api/account", {"name": name}, guest["token"])
    assert (answer.json()["code"], answer.json()["path"]) == ("invalid_name", "$.name")


@pytest.mark.parametrize("name", ["Zoë 7", "山田たろう", "Ολγα", "Мария", "김철수", "🙂 Ann"])
async def test_a_name_of_one_script_is_welcome(club, name):
    assert (await club.open(name))["name"] == name


async def test_an_account_changes_its_name_and_the_old_one_is_free(club):
    ann, bob = await club.open("Ann"), await club.open("Bob")
    assert (await club.guest(ann["token"], name="Anna"))["name"] == "Anna"
    assert (await club.guest(ann["token"], name="ANNA"))["name"] == "ANNA"
    taken = await club.call("POST", "/api/players", {"name": "anna"}, bob["token"])
    assert code_of(taken) == (409, "name_taken")
    assert (await club.guest(bob["token"], name="Ann"))["name"] == "Ann"


async def test_a_guest_may_have_an_accounts_name_and_is_marked_as_a_guest(club):
    await club.open("Ann")
    guest = await club.guest(name="Ann")
    assert guest["account"] is False
    assert (await club.call("GET", f"/api/players/{guest['id']}")).json()["guest"] is True

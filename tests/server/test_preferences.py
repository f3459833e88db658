"""How a player likes the pages: kept by the server, for this player alone."""

import httpx
import pytest

from parlour.journal.base import Record
from parlour.server.api.endpoints import Api, web_app
from parlour.server.housekeeping import delete_old
from parlour.server.limits import Limits
from parlour.server.preferences import PREFERENCES
from parlour.server.tokens import Tokens
from tests.server.world import World

PATH = "/api/players/me/preferences"


@pytest.fixture
async def world():
    async with World() as world:
        yield world


@pytest.fixture
async def http(world):
    api = Api(world.server, Tokens(b"k" * 32), Limits(world.settings, world.clock), world.settings)
    transport = httpx.ASGITransport(web_app(api, None))
    async with httpx.AsyncClient(transport=transport, base_url="http://parlour.test") as http:
        yield http


async def guest(http):
    token = (await http.post("/api/players", json={})).json()["token"]
    http.cookies.clear()
    return {"Authorization": f"Bearer {token}"}


async def test_whoever_chose_nothing_has_the_usual_preferences(http):
    answer = await http.get(PATH, headers=await guest(http))
    assert (answer.status_code, answer.json()) == (200, {})


async def test_what_was_chosen_is_kept_for_this_player_alone(http):
    ann, bob = await guest(http), await guest(http)
    chosen = {"sound": False, "theme": "dark", "animation": "none", "flip": True}
    assert (await http.put(PATH, headers=ann, json=chosen)).json() == chosen
    assert (await http.get(PATH, headers=ann)).json() == chosen
    assert (await http.get(PATH, headers=bob)).json() == {}


async def test_a_new_choice_replaces_the_old_one_whole(http):
    ann = await guest(http)
    await http.put(PATH, headers=ann, json={"theme": "dark", "confirm": True})
    await http.put(PATH, headers=ann, json={"theme": "light"})
    assert (await http.get(PATH, headers=ann)).json() == {"theme": "light"}


async def test_hints_that_were_put_away_are_kept_and_no_more_of_them_than_there_are_games(http):
    ann = await guest(http)
    await http.put(PATH, headers=ann, json={"hinted": ["tictactoe", "stratego"]})
    assert (await http.get(PATH, headers=ann)).json() == {"hinted": ["tictactoe", "stratego"]}
    for wrong in (["x"] * 101, ["x" * 65], "tictactoe"):
        assert (await http.put(PATH, headers=ann, json={"hinted": wrong})).status_code == 400


@pytest.mark.parametrize("wrong", [{"theme": "pink"}, {"sound": "loud"}, {"volume": 11}])
async def test_what_cannot_be_chosen_is_refused_with_its_place(http, wrong):
    answer = await http.put(PATH, headers=await guest(http), json=wrong)
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")
    assert next(iter(wrong)) in answer.json()["message"]


async def test_preferences_are_somebodys(http):
    assert (await http.get(PATH)).status_code == 401
    assert (await http.put(PATH, json={})).status_code == 401


async def test_preferences_of_a_later_parlour_can_be_read(world, http):
    ann = await guest(http)
    id = Tokens(b"k" * 32).read(ann["Authorization"].split()[1])
    await world.journal.keep(Record(PREFERENCES, id, b'{"flip": true, "volume": 11}'))
    assert (await http.get(PATH, headers=ann)).json() == {"flip": True}


async def test_damaged_preferences_are_the_usual_ones(world, http):
    ann = await guest(http)
    id = Tokens(b"k" * 32).read(ann["Authorization"].split()[1])
    await world.journal.keep(Record(PREFERENCES, id, b'{"flip'))
    assert (await http.get(PATH, headers=ann)).json() == {}


async def test_preferences_are_forgotten_with_their_player(world, http):
    ann = await guest(http)
    id = Tokens(b"k" * 32).read(ann["Authorization"].split()[1])
    await http.put(PATH, headers=ann, json={"flip": True})
    now = world.clock.now()
    await delete_old(world.journal, now + 1, now + 1, 100)
    assert await world.journal.record(PREFERENCES, id) is None

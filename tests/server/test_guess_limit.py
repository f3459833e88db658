"""Guessing the ids of rooms."""

import httpx
import pytest

from parlour.server.api.endpoints import Api, web_app
from parlour.server.limits import Limits
from parlour.server.settings import Settings
from parlour.server.tokens import Tokens
from tests.server.world import PLAYABLE, World

TOKENS = Tokens(b"k" * 32)
PER_MINUTE = int(Settings().address_guesses)


@pytest.fixture
async def world():
    async with World(PLAYABLE) as world:
        await world.open("tictactoe", "LIST")
        await world.open("tictactoe", "PALS", listed=False, creator="ann")
        await world.open("tictactoe", "MINE", private=True, creator="ann")
        await world.open("tictactoe", "QWERTYUIOPAS", private=True, creator="ann")
        yield world


@pytest.fixture
async def http(world):
    api = Api(world.server, TOKENS, Limits(world.settings, world.clock), world.settings)
    transport = httpx.ASGITransport(web_app(api, None), client=("203.0.113.1", 9))
    async with httpx.AsyncClient(transport=transport, base_url="http://parlour.test") as http:
        yield http


async def code(http, path, player=None, method="GET"):
    headers = {} if player is None else {"Authorization": f"Bearer {TOKENS.issue(player)}"}
    answer = await http.request(method, path, headers=headers)
    return answer.json().get("code", answer.status_code)


async def use_up(http):
    for number in range(PER_MINUTE):
        assert await code(http, f"/api/rooms/N{number}") == "unknown_room"


CALLS = [("GET", ""), ("GET", "/history"), ("GET", "/stakes"), ("POST", "/again"), ("POST", "/bots"),
         ("POST", "/hint"), ("POST", "/rematch")]  # fmt: skip


@pytest.mark.parametrize(("method", "call"), CALLS)
async def test_after_thirty_misses_a_minute_nobody_learns_whether_a_room_is_there(http, method, call):
    await use_up(http)
    for id in ("NONE", "PALS", "MINE"):
        assert await code(http, f"/api/rooms/{id}{call}", "zoe", method) == "too_fast"


async def test_going_to_a_room_by_its_name_is_guessing_too_where_no_room_can_be_opened(http):
    async def visit(id: str, **wanted: object) -> object:
        answer = await http.put(f"/api/rooms/{id}", json={"game": "tictactoe", **wanted})
        return answer.json().get("code", answer.status_code)

    assert await visit("OURS") == 200
    for number in range(PER_MINUTE):
        assert await visit(f"N{number}", config={"nonsense": 1}) == "invalid_config"
    for id in ("NONE", "PALS", "MINE"):
        assert [await visit(id), await visit(id, config={"nonsense": 1})] == ["too_fast"] * 2
    assert [await visit("OURS"), await visit("LIST")] == [200, 200]


async def test_a_socket_that_guesses_is_told_no_more_than_a_call(world, http):
    zoe = await world.person("zoe")
    for number in range(PER_MINUTE):
        assert (await zoe.join(f"N{number}"))[1]["code"] == "unknown_room"
    for id in ("NONE", "PALS", "MINE"):
        assert (await zoe.join(id))[1]["code"] == "too_fast"
    assert await code(http, "/api/rooms/NONE") == "too_fast"


async def test_whoever_knows_a_room_reaches_it_all_the_same(world, http):
    (bob,) = await world.seated("PALS", "bob")
    await use_up(http)
    assert [await code(http, f"/api/rooms/{id}") for id in ("LIST", "QWERTYUIOPAS")] == [200, 200]
    assert [await code(http, "/api/rooms/PALS", player) for player in ("ann", "bob")] == [200, 200]
    assert (await bob.join("PALS"))[0] == "ok"
    assert (await (await world.person("zoe")).join("LIST"))[0] == "ok"


async def test_other_addresses_and_later_minutes_are_free_to_ask(world, http):
    await use_up(http)
    yan = await world.person("yan")
    yan.address = "203.0.113.2"
    assert (await yan.join("PALS"))[0] == "ok"
    await world.wait(60)
    await use_up(http)


async def test_asking_for_rooms_that_are_there_is_no_guessing(http):
    for _ in range(2 * PER_MINUTE):
        assert await code(http, "/api/rooms/PALS") == 200
    await use_up(http)


async def test_addresses_that_are_quiet_again_are_forgotten(world):
    for number in range(10):
        world.server.environment.guesses.missed("NONE", f"203.0.113.{number}")
        await world.wait(60)
    assert len(world.server.environment.guesses.by_address._buckets) <= 2


async def test_a_small_limit_is_no_larger_than_it_says():
    async with World(PLAYABLE, address_guesses=3) as world:
        guesses = world.server.environment.guesses
        codes = [guesses.missed("NONE", "203.0.113.9").code for _ in range(4)]
        assert codes == ["unknown_room"] * 3 + ["too_fast"]

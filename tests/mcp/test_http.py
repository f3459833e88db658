"""The tools at /mcp and over a pipe, by the protocol's own client: each way leads to the same game."""

import asyncio
from functools import partial

import pytest

from parlour.client import Client
from parlour.client.run import BotRunner
from tests.e2e.servers import Server
from tests.mcp.models import in_memory, models, over_http, over_stdio, play_out

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("mcp"), "--mcp").start()
    yield server
    server.kill()


WAYS = {
    "memory": lambda _: in_memory,
    "pipe": lambda folder: partial(over_stdio, folder=folder),
    "http": lambda _: over_http,
    "http by an older protocol": lambda _: partial(over_http, mode="legacy"),
    "http at another host": lambda _: partial(over_http, Host="games.example.org"),
}


@pytest.mark.parametrize("way", WAYS)
async def test_a_game_is_played_to_its_end(server, tmp_path, way):
    async with models(server, "Ann", "Bob", way=WAYS[way](tmp_path)) as (ann, bob):
        room = (await ann("open_room", game="tictactoe"))["room"]
        assert (await bob("sit_down", room=room))["seat"] == 1
        seen, other = await asyncio.gather(play_out(ann, room), play_out(bob, room))
        assert "Ann won; Bob lost" in seen["text"]
        assert "Ann won; Bob lost" in other["text"]


async def test_every_way_offers_the_same_tools(server, tmp_path):
    told = []
    for way in (in_memory, over_http, partial(over_stdio, folder=tmp_path)):
        async with models(server, "Ann", way=way) as (ann,):
            told.append((await ann.tools.list_tools()).tools)
    assert told[0] == told[1] == told[2]


async def test_a_model_and_a_bot_play_a_game_that_is_rated_on_the_ladder_of_bots(server):
    known = server.call("POST", "/api/players", {"bot": True, "name": "Ten Lines"}).json()
    async with (
        models(server, "Tara", way=over_http) as (tara,),
        Client(f"http://{server.address}", known["token"]) as client,
    ):
        bot = BotRunner(
            client, "tests.client.test_run:first", games=frozenset({"tictactoe"}), rooms=1, timeout=60.0,
            say=print, ranked=True,
        )  # fmt: skip
        running = asyncio.create_task(bot.run())
        while (seen := await tara("sit_down", game="tictactoe", ranked=True)).get("waiting"):
            pass
        seen = await play_out(tara, seen["room"])
        assert "Ten Lines" in seen["text"]
        asked = {"game": "tictactoe", "bots": "true"}
        ladder = server.call("GET", "/api/leaderboard", params=asked).json()
        assert {"Tara", "Ten Lines"} <= {row["name"] for row in ladder}
        running.cancel()
        await asyncio.wait([running])
        await bot.stop()


def test_without_the_setting_there_is_nothing_at_its_address(tmp_path):
    server = Server(tmp_path).start()
    try:
        answer = server.call("POST", "/mcp", {})
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    finally:
        server.kill()

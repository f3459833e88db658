"""The tools at /mcp, within one process: who may call, what it costs, and when a bot counts as gone."""

import asyncio
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client as ToolClient
from mcp.client.streamable_http import streamable_http_client

from parlour.server.api.endpoints import Api, web_app
from parlour.server.gateway.native import native_doors
from parlour.server.gateway.sockets import Sockets
from parlour.server.mcp import IDLE, MOST_CALLS, LanguageModels
from parlour.server.tokens import Tokens
from tests.server.test_remote_bots import make_bot
from tests.server.world import PLAYABLE, World

TOKENS = Tokens(b"k" * 32)
URL = "http://parlour.test/mcp"
INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    },
}  # fmt: skip
TYPES = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


async def until(is_so):
    """Wait for something that is about to happen."""
    while not is_so():  # noqa: ASYNC110 - whatever it is
        await asyncio.sleep(0)


class House:
    """A server with /mcp, and programs that call it."""

    def __init__(self, world):
        limits, settings = world.server.limits, world.settings
        sockets = Sockets(native_doors(world.server, TOKENS, settings), world.clock, limits, settings)
        world.server.sessions.hang_up = sockets.hang_up
        api = Api(world.server, TOKENS, limits, settings)
        self.world = world
        self.app = web_app(api, None)
        self.models = LanguageModels(world.server, TOKENS, sockets, self.app)
        api.charge([self.models.route])
        self.app.router.routes.append(self.models.route)

    @asynccontextmanager
    async def program(self, player=None, **headers):
        """Something that makes HTTP calls, with a player's token."""
        if player is not None:
            headers["Authorization"] = f"Bearer {TOKENS.issue(player)}"
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(self.app), headers=headers) as http:
            yield http

    @asynccontextmanager
    async def model(self, player):
        """A language model, whose calls go through the protocol's own client."""
        await make_bot(self.world, player)
        async with (
            self.program(player) as http,
            ToolClient(streamable_http_client(URL, http_client=http)) as tools,
        ):

            async def call(tool, **arguments):
                return (await tools.call_tool(tool, arguments)).structured_content

            yield call

    async def ask(self, body=INITIALIZE, player=None, **headers):
        """The answer to one request: its status and what it says."""
        async with self.program(player) as http:
            how = {"content": body} if isinstance(body, bytes) else {"json": body}
            answer = await http.post(URL, headers={**TYPES, **headers}, **how)
        return answer.status_code, answer.json() if answer.headers[
            "content-type"
        ] == "application/json" else {}


@asynccontextmanager
async def open_house(**settings):
    async with World(PLAYABLE, **settings) as world:
        house = House(world)
        async with house.models.running():
            yield house
        await house.models.stop()


async def test_whoever_has_no_token_of_a_bot_is_refused_with_a_code_and_a_sentence():
    async with open_house() as house:
        await house.world.server.sessions.save("eve", "Eve")
        for headers, sentence in (
            ({}, "expected a token, got none"),
            ({"Authorization": "Bearer nobody"}, "token"),
            (
                {"Authorization": f"Bearer {TOKENS.issue('eve')}"},
                "expected the token of a bot, got that of a person",
            ),
        ):
            status, told = await house.ask(**headers)
            assert (status, told["code"]) == (401, "bad_token")
            assert sentence in told["message"]


async def test_a_cookie_is_no_token():
    async with open_house() as house:
        await make_bot(house.world, "ann")
        status, _ = await house.ask(Cookie=f"parlour_token={TOKENS.issue('ann')}")
        assert status == 401
        status, _ = await house.ask(player="ann")
        assert status == 200


async def test_any_host_and_any_origin_are_answered_to_whoever_has_the_token():
    async with open_house() as house:
        await make_bot(house.world, "ann")
        for headers in ({"Host": "games.example.org"}, {"Origin": "https://chat.example"}):
            status, told = await house.ask(player="ann", **headers)
            assert (status, told["result"]["serverInfo"]["name"]) == (200, "parlour")


async def test_only_posts_are_answered():
    async with open_house() as house, house.program("ann") as http:
        for method in ("GET", "DELETE", "PUT"):
            answer = await http.request(method, URL)
            assert (answer.status_code, answer.json()["code"]) == (405, "malformed")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'{"jsonrpc":"2.0"}',
        b"[" * 30_000,
        b'{"a":"' + b"x" * 70_000 + b'"}',
        b"\xff",
    ],
)
async def test_nonsense_is_refused_and_nothing_breaks(body):
    async with open_house() as house:
        await make_bot(house.world, "ann")
        status, told = await house.ask(body, player="ann")
        assert (status, told.get("code")) == (413, "too_large") if len(body) > 65_536 else 400 <= status < 500
        assert "Traceback" not in str(told)
        status, _ = await house.ask(player="ann")
        assert status == 200


async def test_what_a_model_asks_counts_for_its_address():
    async with open_house(address_rate=5.0) as house:
        await make_bot(house.world, "ann")
        answers = [await house.ask(player="ann") for _ in range(30)]
        assert {(status, told.get("code")) for status, told in answers} == {(200, None), (429, "too_fast")}


async def test_a_model_may_make_only_so_many_calls_at_once():
    async with open_house() as house, house.model("ann") as ann:
        room = (await ann("open_room", game="tictactoe"))["room"]
        waits = [asyncio.create_task(ann("wait_for_turn", room=room)) for _ in range(MOST_CALLS)]
        await until(lambda: house.models._calls._held == MOST_CALLS)
        status, told = await house.ask(player="ann")
        assert (status, told["code"]) == (429, "too_many")
        await house.models.stop()
        assert {(await wait)["code"] for wait in waits} == {"outcome_unknown"}


async def test_calls_that_wait_are_answered_when_the_server_stops_and_new_ones_are_sent_away():
    async with open_house() as house, house.model("ann") as ann:
        room = (await ann("open_room", game="tictactoe"))["room"]
        waits = asyncio.create_task(ann("wait_for_turn", room=room))
        await until(lambda: house.models._calls._held)
        await house.models.stop()
        assert "the server restarts" in (await waits)["message"]
        status, told = await house.ask(player="ann")
        assert (status, told["code"]) == (503, "not_saved")


async def test_a_call_whose_body_comes_when_the_server_has_begun_to_stop_is_sent_away():
    async def slowly(house):
        yield b"{"
        await house.models.stop()
        yield b"}"

    async with open_house() as house:
        await make_bot(house.world, "ann")
        async with house.program("ann") as http:
            answer = await http.post(URL, headers=TYPES, content=slowly(house))
        assert (answer.status_code, answer.json()["code"]) == (503, "not_saved")


async def test_who_has_not_called_for_long_is_absent_and_comes_back_by_the_next_call():
    async with open_house(ping_every=10 * IDLE) as house, house.model("ann") as ann:
        room = (await ann("open_room", game="tictactoe"))["room"]
        await house.world.wait(IDLE - 20)
        assert house.world.room(room).connected == ["ann"]
        await ann("observe", room=room)
        await house.world.wait(IDLE - 20)
        assert house.world.room(room).connected == ["ann"]
        await house.world.wait(60)
        await until(lambda: not house.world.room(room).connected)
        assert (await ann("observe", room=room))["seat"] == 0
        assert house.world.room(room).connected == ["ann"]


async def test_a_bot_whose_sessions_are_ended_is_hung_up_on_and_refused():
    async with open_house() as house, house.model("ann") as ann:
        room = (await ann("open_room", game="tictactoe"))["room"]
        waits = asyncio.create_task(ann("wait_for_turn", room=room))
        await until(lambda: house.models._calls._held)
        await house.world.server.accounts.end_all("ann", "A program")
        told = await waits
        assert told["code"] == "bad_token"
        await until(lambda: not house.world.room(room).connected)
        status, told = await house.ask(player="ann")
        assert (status, told["code"]) == (401, "bad_token")


async def test_its_line_counts_among_the_connections_of_its_address():
    async with (
        open_house(address_connections=1) as house,
        house.model("ann") as ann,
        house.model("bob") as bob,
    ):
        room = (await ann("open_room", game="tictactoe"))["room"]
        assert (await bob("observe", room=room))["code"] == "too_many"
        await house.world.wait(IDLE + 20)
        await until(lambda: not house.world.room(room).connected)
        assert (await bob("observe", room=room))["seat"] is None

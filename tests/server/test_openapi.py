"""The OpenAPI document says what the calls do; `make schemathesis` tries the same at random."""

import httpx
import msgspec
import pytest

from parlour.games import GAMES
from parlour.server.api.calls import Problem
from parlour.server.api.endpoints import Api, web_app
from parlour.server.limits import Limits
from parlour.server.tokens import Tokens
from tests.server.world import World

TOKENS = Tokens(b"k" * 32)
ANN = {"Authorization": f"Bearer {TOKENS.issue('ann')}"}
FORGED = {"Authorization": "Bearer forged"}
PAGE = {"Cookie": f"parlour_token={TOKENS.issue('ann')}", "Origin": "https://evil.example"}


@pytest.fixture
async def world():
    async with World(GAMES) as world:
        await world.open("tictactoe", "ABCD")
        await world.seated("ABCD", "ann")
        yield world


@pytest.fixture
def api(world):
    return Api(world.server, TOKENS, Limits(world.settings, world.clock), world.settings)


@pytest.mark.parametrize(
    ("method", "path", "body", "headers"),
    [
        ("POST", "/api/players", None, {}),
        ("POST", "/api/players", {"name": "Ann"}, ANN),
        ("POST", "/api/players", {"name": ""}, {}),
        ("POST", "/api/players", {"name": "x" * 70_000}, {}),
        ("POST", "/api/players", None, FORGED),
        ("GET", "/api/games", None, {}),
        ("POST", "/api/rooms", {"game": "tictactoe"}, {}),
        ("POST", "/api/rooms", {"game": "tictactoe", "id": "ABCD"}, {}),
        ("POST", "/api/rooms", {"game": "chess"}, {}),
        ("POST", "/api/rooms", {"game": "minesweeper", "config": {"width": 0}}, {}),
        ("POST", "/api/rooms", None, {}),
        ("POST", "/api/rooms", {"game": "tictactoe"}, PAGE),
        ("GET", "/api/rooms", None, {}),
        ("GET", "/api/rooms/{id}", None, {}),
        ("GET", "/api/rooms/{id}", None, FORGED),
        ("PUT", "/api/rooms/{id}", {"game": "tictactoe"}, {}),
        ("PUT", "/api/rooms/{id}", {"game": "minesweeper"}, {}),
        ("PUT", "/api/rooms/{id}", None, {}),
        ("GET", "/api/rooms/{id}/stakes", None, {}),
        ("GET", "/api/rooms/{id}/stakes", None, FORGED),
        ("GET", "/api/rooms/{id}/history", None, ANN),
        ("GET", "/api/rooms/{id}/history?format=scene", None, {}),
        ("GET", "/api/rooms/{id}/history?from=x", None, {}),
        ("POST", "/api/rooms/{id}/rematch", None, ANN),
        ("POST", "/api/rooms/{id}/rematch", None, {}),
        ("GET", "/api/players/me/rooms", None, ANN),
        ("GET", "/api/players/me/rooms", None, {}),
        ("GET", "/api/players/me/rooms", None, PAGE),
        ("GET", "/health", None, {}),
    ],
)
async def test_an_answer_has_a_documented_status_and_just_the_documented_shape(
    api, method, path, body, headers
):
    path, question, query = path.partition("?")
    call = next(call for call in api.calls if (call.method, call.path) == (method, path))
    documented = api.openapi["paths"][path][method.lower()]["responses"]
    transport = httpx.ASGITransport(web_app(api, None))
    async with httpx.AsyncClient(transport=transport, base_url="http://parlour.test") as http:
        answer = await http.request(
            method, path.replace("{id}", "ABCD") + question + query, json=body, headers=headers
        )
    assert str(answer.status_code) in documented
    assert list(documented[str(answer.status_code)]["content"]) == [answer.headers["content-type"]]
    shape = call.gives if answer.status_code == call.status else Problem
    read = msgspec.convert(answer.json(), shape)
    assert msgspec.json.decode(msgspec.json.encode(read)) == answer.json()


def test_a_body_is_required_where_an_empty_one_is_refused(api):
    paths = api.openapi["paths"]
    assert paths["/api/rooms"]["post"]["requestBody"]["required"] is True
    assert paths["/api/players"]["post"]["requestBody"]["required"] is False


def test_a_token_is_required_for_what_is_mine(api):
    paths = api.openapi["paths"]
    assert paths["/api/players/me/rooms"]["get"]["security"] == [{"token": []}, {"cookie": []}]
    assert {} in api.openapi["security"]
    assert "security" not in paths["/api/rooms"]["get"]


def test_every_reference_in_the_document_leads_somewhere(api):
    schemas = api.openapi["components"]["schemas"]
    text = msgspec.json.encode(api.openapi).decode()
    named = {part.partition('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert named <= set(schemas)

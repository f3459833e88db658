"""The HTTP calls, as a program makes them."""

import hashlib
from typing import cast

import httpx
import msgspec
import pytest
from starlette.routing import Route

from parlour.errors import Code
from parlour.game import Game
from parlour.games import GAMES
from parlour.scene import Scene, Spot, grid
from parlour.server.api.calls import STATUS
from parlour.server.api.endpoints import Api, web_app
from parlour.server.api.schemas import schemas_of
from parlour.server.limits import Limits
from parlour.server.rooms.ownership import SoleOwner
from parlour.server.settings import Settings
from parlour.server.tokens import COOKIE, Tokens
from tests.probe import Probe
from tests.server.world import World


@pytest.fixture
async def world():
    async with World(
        {**GAMES, "probe": Probe()}, origins=["https://friend.example"], proxies=["127.0.0.1"]
    ) as world:
        yield world


@pytest.fixture
async def http(world):
    app = web_app(
        Api(world.server, Tokens(b"k" * 32), Limits(world.settings, world.clock), world.settings), None
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://parlour.test") as http:
        yield http


def bearer(player):
    return {"Authorization": f"Bearer {player['token']}"}


async def guest(http, name=None):
    response = await http.post("/api/players", json={} if name is None else {"name": name})
    assert response.status_code == 201
    http.cookies.clear()
    return response.json()


# Players.


async def test_a_guest_gets_an_id_a_name_and_a_token(http):
    ann = await guest(http, " Ann ")
    assert (len(ann["id"]), ann["name"]) == (20, "Ann")
    assert Tokens(b"k" * 32).read(ann["token"]) == ann["id"]
    assert (await guest(http))["name"].startswith("Guest ")


async def test_the_same_call_with_the_token_renews_it_and_may_change_the_name(http):
    ann = await guest(http, "Ann")
    again = (await http.post("/api/players", json={}, headers=bearer(ann))).json()
    assert (again["id"], again["name"]) == (ann["id"], "Ann")
    renamed = (await http.post("/api/players", json={"name": "Anna"}, headers=bearer(ann))).json()
    assert (renamed["id"], renamed["name"]) == (ann["id"], "Anna")


async def test_a_body_may_be_left_out(http):
    assert (await http.post("/api/players")).status_code == 201


async def test_browsers_also_get_the_token_as_a_cookie_that_scripts_cannot_read(http):
    response = await http.post("/api/players", json={})
    cookie = response.headers["set-cookie"]
    assert cookie.startswith(
        f"{COOKIE}={response.json()['token']}; HttpOnly; Max-Age=34560000; Path=/; SameSite=lax"
    )
    again = await http.post("/api/players", json={})
    assert again.json()["id"] == response.json()["id"]


async def test_a_cookie_that_came_by_https_never_goes_by_http(http):
    by_https = await http.post("/api/players", headers={"X-Forwarded-Proto": "https"})
    assert by_https.headers["set-cookie"].endswith("; Secure")
    by_http = await http.post("/api/players", headers={"X-Forwarded-Proto": "http"})
    assert "Secure" not in by_http.headers["set-cookie"]


@pytest.mark.parametrize("name", ["", "x" * 41, "x" * 10_240, "a\u0000b", "a\u202eb"])
async def test_a_name_that_would_play_tricks_is_refused(http, name):
    response = await http.post("/api/players", json={"name": name})
    assert (response.status_code, response.json()["code"]) == (400, "invalid_name")


@pytest.mark.parametrize("name", ["Random bot", "random BOT", " Random   bot 2", "\uff32andom bot",
                                  "Perfect\u00a0bot", "Hard bot 17"])  # fmt: skip
async def test_nobody_is_called_as_a_bot_is(http, name):
    response = await http.post("/api/players", json={"name": name})
    assert (response.status_code, response.json()["code"]) == (400, "invalid_name")
    assert "expected a person's name, got a bot's" in response.json()["message"]


@pytest.mark.parametrize("name", ["Robot", "Bot", "Random", "My bot", "Random bots", "Bot random"])
async def test_a_name_that_no_bot_has_is_anybodys(http, name):
    assert (await guest(http, name))["name"] == name


@pytest.mark.parametrize("id", ["bot:random", "bot:perfect", "bot:random:2"])
async def test_a_bot_that_can_play_here_has_a_page(http, id):
    assert (await http.get(f"/api/players/{id}")).json()["bot"] is True


@pytest.mark.parametrize("id", ["bot:", "bot:x", "bot:random:", "bot:random:1", "bot:random:x",
                                "bot:random:02", "bot:random:2:3", "bot::2", "bot:<b>"])  # fmt: skip
async def test_a_bot_that_is_not_there_is_not_found(http, id):
    response = await http.get(f"/api/players/{id}")
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("token", ["forged", "", "aaaa.bbbb.cccc", "\xff"])
async def test_a_forged_token_is_refused(http, token):
    for call in (
        http.post("/api/players", json={}, headers={b"Authorization": b"Bearer " + token.encode("latin-1")}),
        http.get("/api/players/me/rooms", headers={b"Authorization": b"Bearer " + token.encode("latin-1")}),
    ):
        response = await call
        assert (response.status_code, response.json()["code"]) == (401, "bad_token")


async def test_a_foreign_pages_cookie_opens_nothing(http):
    await http.post("/api/players", json={})
    foreign = await http.get("/api/players/me/rooms", headers={"Origin": "https://evil.example"})
    assert (foreign.status_code, foreign.json()["code"]) == (401, "bad_token")
    for origin in ("http://parlour.test", "https://friend.example"):
        friend = await http.get("/api/players/me/rooms", headers={"Origin": origin})
        assert friend.status_code == 200


async def test_a_foreign_page_cannot_replace_a_visitors_cookie(http):
    response = await http.post("/api/players", json={}, headers={"Origin": "https://evil.example"})
    assert response.status_code == 201
    assert "set-cookie" not in response.headers


async def test_an_old_cookie_is_no_reason_to_keep_a_visitor_out(http):
    http.cookies.set(COOKIE, "old")
    assert (await http.post("/api/rooms", json={"game": "probe"})).status_code == 201
    assert (await http.get("/api/players/me/rooms")).status_code == 401
    assert (await http.post("/api/players", json={})).status_code == 201


@pytest.mark.parametrize(
    "origin", ["http://[", "null", "https://parlour.test.evil.example", "//parlour.test"]
)
async def test_an_origin_that_is_not_quite_ours_is_foreign(http, origin):
    await http.post("/api/players", json={})
    response = await http.get("/api/players/me/rooms", headers={"Origin": origin})
    assert response.status_code == 401


async def test_a_page_without_an_address_is_foreign_to_a_host_without_a_name(http):
    await http.post("/api/players", json={})
    for headers in ({"Origin": "null", "Host": ""}, {"Origin": "", "Host": ""}):
        response = await http.get("/api/players/me/rooms", headers=headers)
        assert response.status_code == 401


# Games.


async def test_the_games_are_listed_with_the_schema_of_their_config(http):
    games = {game["name"]: game for game in (await http.get("/api/games")).json()}
    assert set(games) == {
        "tictactoe",
        "minesweeper",
        "stratego",
        "backgammon",
        "hex",
        "hearts",
        "goofspiel",
        "probe",
    }
    assert (games["tictactoe"]["display_name"], games["tictactoe"]["seats"]) == (
        "Noughts and crosses",
        [2, 2],
    )
    assert games["minesweeper"]["spectators"] == 100
    schema = games["probe"]["config_schema"]
    assert schema["$defs"]["ProbeConfig"]["properties"]["size"] == {"type": "integer", "default": 3}


async def test_a_game_has_a_little_board_of_its_own(http):
    games = (await http.get("/api/games")).json()
    assert all("scene" not in game for game in games)
    preview = (await http.get("/api/games/tictactoe/preview")).json()
    assert (preview["scene"]["width"], len(preview["scene"]["spots"])) == (3, 9)
    unknown = await http.get("/api/games/chess/preview")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "unknown_game")


async def test_each_card_of_a_game_has_a_little_board_of_its_own(http):
    async def board(choice):
        return (await http.get("/api/games/minesweeper/preview", params={"choice": choice})).json()

    assert (await board("beginner"))["scene"]["width"] < (await board("advanced"))["scene"]["width"]
    assert (await board("endless"))["code"] == "invalid_config"
    without = await http.get("/api/games/tictactoe/preview", params={"choice": "wide"})
    assert (without.status_code, without.json()["path"]) == (400, "$.choice")


class Vast(Probe):
    """A game with more spots than a home page should load."""

    name = "vast"

    def scene(self, state, viewer):
        return Scene(150, 100, grid(150, 100))


class Broken(Probe):
    """A game that draws what cannot be drawn."""

    name = "broken"

    def scene(self, state, viewer):
        return Scene(3, 3, (Spot("c0", 0, 0, w=-1),))


@pytest.mark.parametrize("game", [Vast(), Broken()])
async def test_a_board_that_is_too_large_or_cannot_be_drawn_is_not_shown_small(game):
    async with World({game.name: game}) as world:
        api = Api(world.server, Tokens(b"k" * 32), Limits(world.settings, world.clock), world.settings)
        transport = httpx.ASGITransport(web_app(api, None))
        async with httpx.AsyncClient(transport=transport, base_url="http://parlour.test") as http:
            assert (await http.get(f"/api/games/{game.name}/preview")).json() == {"scene": None}
            assert len((await http.get("/api/games")).content) < 2000


async def test_a_client_is_told_what_a_game_takes_and_gives(http):
    told = (await http.get("/api/games/tictactoe/schema")).json()
    assert told["event"]["$defs"]["Mark"]["properties"]["cell"] == {
        "type": "integer",
        "minimum": 0,
        "maximum": 8,
    }
    assert told["config"]["$defs"]["Config"]["properties"] == {}
    assert told["view"] == {}, "its code says no more than dict[str, object]"
    unknown = await http.get("/api/games/chess/schema")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "unknown_game")


class Open(Probe):
    """A game whose view is its state."""

    view = Game.view


def test_every_game_has_schemas_and_one_without_a_view_shows_its_state():
    for game in GAMES.values():
        assert schemas_of(game).event
    assert schemas_of(Open()).view["$ref"] == "#/$defs/Memory"


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [("https://games.example", "https://games.example"), ("https://evil.example", None)],
)
async def test_pages_of_listed_sites_may_read_the_answers_and_no_others(origin, allowed):
    settings = Settings(origins=["https://games.example"])
    async with World(GAMES) as world:
        api = Api(world.server, Tokens(b"k" * 32), Limits(settings, world.clock), settings)
        transport = httpx.ASGITransport(web_app(api, None))
        async with httpx.AsyncClient(transport=transport, base_url="http://parlour.test") as http:
            answer = await http.get("/api/games", headers={"Origin": origin})
            assert answer.headers.get("access-control-allow-origin") == allowed
            asked = {"Origin": origin, "Access-Control-Request-Method": "POST",
                     "Access-Control-Request-Headers": "authorization"}  # fmt: skip
            before = await http.options("/api/rooms", headers=asked)
            assert before.headers.get("access-control-allow-origin") == allowed
            assert before.status_code == (200 if allowed else 400)


async def test_without_listed_sites_no_other_page_may_read_the_answers(http):
    answer = await http.get("/api/games", headers={"Origin": "https://games.example"})
    assert "access-control-allow-origin" not in answer.headers


# Rooms.


async def test_a_new_room_has_four_capital_letters_and_a_published_hash(http):
    response = await http.post("/api/rooms", json={"game": "tictactoe"})
    room = response.json()
    assert response.status_code == 201
    assert (len(room["id"]), room["id"].isupper(), room["id"].isalpha()) == (4, True, True)
    assert (room["game"], room["status"], room["seats"], len(room["seed_hash"])) == (
        "tictactoe",
        "waiting",
        [None, None],
        64,
    )


async def test_a_room_says_what_is_played_in_it_also_in_lists(http):
    wanted = {"variant": "tavli", "match": "five_points", "turn_seconds": 60}
    room = (await http.post("/api/rooms", json={"game": "backgammon", "config": wanted})).json()
    everything = {**wanted, "crawford": False, "opening_dice": False}
    everything |= {"turn_seconds": None, "absence_seconds": None}  # which is the room's clock today
    assert (room["config"], room["clock"]) == (everything, {"kind": "turn", "seconds": 60})
    (listed,) = (await http.get("/api/rooms")).json()
    assert (listed["config"], listed["clock"]) == (room["config"], room["clock"])


async def test_a_chosen_id_is_taken_once(http):
    assert (await http.post("/api/rooms", json={"game": "probe", "id": "friday.night-1"})).status_code == 201
    again = await http.post("/api/rooms", json={"game": "probe", "id": "friday.night-1"})
    assert (again.status_code, again.json()["code"], again.json()["path"]) == (409, "name_taken", "$.id")


@pytest.mark.parametrize(
    ("body", "status", "code", "path"),
    [
        ({}, 400, "malformed", "$"),
        ({"game": 7}, 400, "malformed", "$.game"),
        ({"game": "chess"}, 404, "unknown_game", None),
        ({"game": "probe", "colour": "red"}, 400, "malformed", "$"),
        ({"game": "probe", "config": {"size": "big"}}, 400, "invalid_config", "$.config.size"),
        ({"game": "probe", "config": {"size": -1}}, 400, "invalid_config", None),
        ({"game": "probe", "config": {"size": 2000}}, 500, "game_error", None),
        ({"game": "probe", "id": "has space"}, 400, "malformed", "$.id"),
        ({"game": "probe", "id": "x" * 65}, 400, "malformed", "$.id"),
        ({"game": "probe", "id": ""}, 400, "malformed", "$.id"),
        ({"game": "probe", "id": "."}, 400, "malformed", "$.id"),
        ({"game": "probe", "id": ".."}, 400, "malformed", "$.id"),
        ({"game": "minesweeper", "config": {"mines": 10_000}}, 400, "invalid_config", "$.config.mines"),
        ([], 400, "malformed", "$"),
    ],
)
async def test_a_room_that_cannot_be_is_refused_with_where_and_why(http, body, status, code, path):
    response = await http.post("/api/rooms", json=body)
    problem = response.json()
    assert (response.status_code, problem["code"], problem.get("path")) == (status, code, path)
    assert problem["reason"] == code
    assert problem["message"]


@pytest.mark.parametrize(
    "content", [b"not json", b"\xff\xfe", b"[" * 2000, b'{"game":"probe","config":{"size":1e999}}']
)
async def test_a_body_that_is_no_json_is_refused(http, content):
    response = await http.post("/api/rooms", content=content)
    assert (response.status_code, response.json()["code"]) == (400, "malformed")


async def test_a_huge_body_is_refused_before_it_is_read(http):
    response = await http.post("/api/rooms", content=b" " * 100_000)
    assert (response.status_code, response.json()["code"]) == (413, "too_large")


async def test_a_room_shows_who_plays_who_watches_and_how_it_ended(http, world):
    await world.open("tictactoe", "ABCD")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    zoe = await world.person("zoe")
    await zoe.join("ABCD", spectate=True)
    room = (await http.get("/api/rooms/ABCD")).json()
    assert room["seats"] == [{"id": "ann", "name": "Ann"}, {"id": "bob", "name": "Bob"}]
    assert (room["status"], room["spectators"], room["seq"]) == ("playing", 1, 4)
    published = room["seed_hash"]
    for person, cell in ((ann, 0), (bob, 3), (ann, 1), (bob, 4), (ann, 2)):
        await person.play("ABCD", {"type": "mark", "cell": cell})
    room = (await http.get("/api/rooms/ABCD")).json()
    assert room["status"] == "over"
    assert room["outcome"] == {"won": ["ann"], "lost": ["bob"], "why": "three in a row"}
    assert hashlib.sha256(bytes.fromhex(room["seeds"][0]["seed"])).hexdigest() == published


async def test_open_rooms_are_listed_newest_first_private_ones_are_not(http, world):
    await world.open("probe", "ONE")
    await world.open("probe", "TWO", private=True)
    await world.open("probe", "THREE")
    assert [room["id"] for room in (await http.get("/api/rooms")).json()] == ["THREE", "ONE"]
    assert (await http.get("/api/rooms/TWO")).status_code == 200


async def test_i_see_the_rooms_in_which_i_have_a_seat(http, world):
    ann = await guest(http, "Ann")
    await world.open("probe", "MINE")
    await world.open("probe", "NOT-MINE")
    await (await world.person(ann["id"])).join("MINE")
    rooms = (await http.get("/api/players/me/rooms", headers=bearer(ann))).json()
    assert [room["id"] for room in rooms] == ["MINE"]
    assert (await http.get("/api/players/me/rooms")).status_code == 401


async def test_my_rooms_say_which_of_them_wait_for_me(http, world):
    ann = await guest(http, "Ann")
    for room, friends in (("MINE", ["bob"]), ("HIS", ["bob"]), ("ALONE", [])):
        await world.open("tictactoe", room)
        me, *others = await world.seated(room, ann["id"], *friends)
        if room == "HIS":
            await me.play(room, {"type": "mark", "cell": 4})
    rooms = (await http.get("/api/players/me/rooms", headers=bearer(ann))).json()
    waits = {"ALONE": False, "HIS": False, "MINE": True}
    assert {room["id"]: room["waits_for_you"] for room in rooms} == waits


async def test_a_room_of_mine_that_cannot_be_asked_is_listed_all_the_same(http, world):
    ann = await guest(http, "Ann")
    await world.open("probe", "ABCD")
    me, _ = await world.seated("ABCD", ann["id"], "bob")
    await me.play("ABCD", {"type": "break", "callbacks": ["scene"]})
    (room,) = (await http.get("/api/players/me/rooms", headers=bearer(ann))).json()
    assert room["waits_for_you"] is None


async def test_an_id_in_other_capitals_finds_the_only_room_that_it_can_mean_where_that_is_asked_for(
    world, http
):
    for id in ("lair42", "Den", "den"):
        await world.open("tictactoe", id)
    assert (await http.get("/api/rooms/LAIR42")).status_code == 404
    assert (await http.get("/api/rooms/LAIR42?any_case=true")).json()["id"] == "lair42"
    assert (await http.get("/api/rooms/den?any_case=true")).json()["id"] == "den"
    assert (await http.get("/api/rooms/DEN?any_case=true")).status_code == 404


async def test_an_unknown_room_is_not_found(http):
    response = await http.get("/api/rooms/NONE")
    assert (response.status_code, response.json()["code"]) == (404, "unknown_room")


# The rest.


async def test_what_is_not_there_is_not_found_in_the_same_shape(http):
    response = await http.get("/api/weather")
    assert (response.status_code, response.json()["code"]) == (404, "not_found")
    wrong = await http.delete("/api/rooms")
    assert (wrong.status_code, wrong.json()["code"]) == (405, "malformed")
    assert set(wrong.headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}
    assert (await http.head("/api/rooms")).status_code == 200


async def test_a_failure_of_ours_tells_nothing(world):
    app = web_app(
        Api(world.server, Tokens(b"k" * 32), Limits(world.settings, world.clock), world.settings), None
    )
    world.server.games = None  # a bug
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://parlour.test") as http:
        response = await http.get("/api/games")
    assert response.status_code == 500
    assert response.json() == {
        "code": "internal_error",
        "message": "this went wrong on our side",
        "reason": "internal_error",
    }


class CutOff(SoleOwner):
    """A worker that cannot renew its lease."""

    def is_fresh(self) -> bool:
        return False


async def test_a_server_is_not_ready_while_it_cannot_write_is_cut_off_or_stops(http, world):
    async def why() -> str:
        answer = await http.get("/ready")
        assert answer.status_code == 503
        return str(answer.json()["reason"])

    world.server.environment.trouble = "the disk is full"
    assert await why() == "the journal cannot write"
    world.server.environment.trouble = None
    world.server.environment.ownership = CutOff()
    assert await why() == "this worker is cut off from the database"
    world.server.environment.ownership = SoleOwner()
    world.server.rooms.stopping = True
    assert await why() == "the server is about to stop"
    world.server.rooms.stopping = False
    assert (await http.get("/ready")).status_code == 200


async def test_the_server_says_that_it_lives(http):
    assert (await http.get("/health")).json()["status"] == "ok"
    assert (await http.get("/ready")).json()["status"] == "ok"


async def test_metrics_are_prometheus_text(http):
    response = await http.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    assert "parlour_rooms_live" in response.text


async def test_the_openapi_document_lists_every_call(http):
    document = (await http.get("/api/openapi.json")).json()
    assert document["openapi"].startswith("3.1")
    assert "post" in document["paths"]["/api/rooms"]


def test_statuses_are_given_for_known_codes_only():
    assert set(STATUS) <= set(Code)


async def test_answers_match_the_documented_shapes(http, world):
    room = (await http.post("/api/rooms", json={"game": "probe"})).json()
    document = (await http.get("/api/openapi.json")).json()
    schema = document["components"]["schemas"]["PublicRoom"]
    assert set(schema["properties"]) == set(room)
    assert msgspec.json.decode(msgspec.json.encode(room)) == room


# What every call has in common.


async def test_every_address_but_the_health_check_is_paid_for():
    async with World(GAMES, address_rate=2.5) as world:
        api = Api(world.server, Tokens(b"k" * 32), Limits(world.settings, world.clock), world.settings)
        app = web_app(api, None, {})
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://parlour.test") as http:
            while (await http.get("/relay")).status_code != 429:
                pass
            for route in cast("list[Route]", app.routes):
                path = route.path.replace("{id}", "ABCD")
                method = min(route.methods or {"GET"})
                answer = await http.request(method, path)
                assert (answer.status_code == 429) == (path not in ("/health", "/ready")), path
            refused = await http.get("/nowhere")
            assert (refused.status_code, refused.headers["connection"]) == (429, "close")


async def test_the_document_says_of_every_call_but_the_health_check_that_it_may_refuse_the_hasty(http):
    document = (await http.get("/api/openapi.json")).json()
    for path, methods in document["paths"].items():
        for operation in methods.values():
            assert ("429" in operation["responses"]) == (path not in ("/health", "/ready"))


@pytest.mark.parametrize("path", ["/api/games", "/api/rooms", "/api/rooms/NONE", "/nowhere", "/health",
                                  "/metrics", "/api/openapi.json", "/g", "/g/table"])  # fmt: skip
async def test_no_cache_keeps_an_answer_and_nobody_takes_it_for_a_page(http, path):
    headers = (await http.get(path)).headers
    assert (headers["cache-control"], headers["x-content-type-options"]) == ("no-store", "nosniff")


@pytest.mark.parametrize("path", ["/api/games", "/api/texts/de", "/api/games/tictactoe/rules"])
async def test_a_long_answer_that_is_the_same_for_all_is_zipped_for_those_who_take_that(http, path):
    zipped = await http.get(path, headers={"accept-encoding": "gzip"})
    plain = await http.get(path, headers={"accept-encoding": "identity"})
    assert (zipped.headers["content-encoding"], zipped.json()) == ("gzip", plain.json())
    assert "content-encoding" not in plain.headers
    assert zipped.headers["content-type"] == plain.headers["content-type"] == "application/json"
    assert int(zipped.headers["content-length"]) < len(plain.content)


@pytest.mark.parametrize(
    ("headers", "known"),
    [
        ({}, True),
        ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Sec-Fetch-Site": "none"}, True),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "same-site"}, False),
        ({"Origin": "http://parlour.test"}, True),
        ({"Origin": "https://parlour.test", "X-Forwarded-Proto": "https"}, True),
        ({"Origin": "http://parlour.test", "X-Forwarded-Proto": "https"}, False),
        ({"Origin": "http://parlour.test", "X-Forwarded-Proto": "http, https"}, False),
        (
            [
                ("Origin", "http://parlour.test"),
                ("X-Forwarded-Proto", "http"),
                ("X-Forwarded-Proto", "https"),
            ],
            False,
        ),
        ({"Origin": "ftp://parlour.test"}, False),
    ],
)
async def test_a_cookie_counts_only_on_our_own_pages_by_the_scheme_they_came_by(http, headers, known):
    await http.post("/api/players", json={"name": "Ann"})  # which leaves her cookie
    answer = await http.get("/api/players/me/rooms", headers=headers)
    assert answer.status_code == (200 if known else 401)

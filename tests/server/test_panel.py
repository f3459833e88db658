"""The panel for authors: it shows every seat and every secret of a room, to whoever has its key."""

import httpx
import msgspec
import pytest

from parlour.games import GAMES
from parlour.server.api.endpoints import Api, web_app
from parlour.server.api.panel import Panel
from parlour.server.limits import Limits
from parlour.server.tokens import Tokens
from tests.server.test_history import Cards
from tests.server.test_hot_reload import BY_TEN, TicketIndex
from tests.server.world import World

TOKENS = Tokens(b"k" * 32)
CORNERS = (0, 8, 2)


class Author:
    """Somebody at the panel of a server."""

    def __init__(self, world: World) -> None:
        self.panel = Panel(world.server, TOKENS)
        api = Api(world.server, TOKENS, Limits(world.settings, world.clock), world.settings)
        self.app = web_app(api, None, panel=self.panel)
        self.key = self.panel.key

    async def ask(self, method, path, status=None, **more):
        transport, headers = httpx.ASGITransport(self.app), {"Authorization": f"Bearer {self.key}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://parlour.test") as http:
            answer = await http.request(method, f"/api/panel{path}", headers=headers, **more)
        assert answer.status_code == (status or (201 if method == "POST" else 200)), answer.text
        return answer.json()

    async def look(self, room="ABCD", step=None):
        return await self.ask("GET", f"/rooms/{room}", params={} if step is None else {"step": step})

    async def branch(self, step, room="ABCD"):
        return (await self.ask("POST", f"/rooms/{room}/branch", json={"step": step}))["id"]


@pytest.fixture
async def world():
    async with World({**GAMES, "cards": Cards()}, store_every=4) as world:
        yield world


@pytest.fixture
def author(world):
    return Author(world)


async def mark(world, *cells):
    """Noughts and crosses, played by Ann and Bob."""
    await world.open("tictactoe")
    people = await world.seated("ABCD", "ann", "bob")
    for turn, cell in enumerate(cells):
        await people[turn % 2].play("ABCD", {"type": "mark", "cell": cell})
    return people


async def kept(world, room):
    """The steps of a room as the journal has them."""
    found = await world.journal.find(room)
    return [step.body async for step in world.journal.replay(found.number)]


@pytest.mark.parametrize("key", ["", "undefined", "a guess"])
async def test_without_the_key_nothing_is_shown(world, author, key):
    await mark(world)
    author.key = key
    for method, path in (("GET", "/rooms"), ("GET", "/rooms/ABCD"), ("GET", "/rooms/ABCD/steps")):
        assert (await author.ask(method, path, 401))["code"] == "bad_token"
    assert (await author.ask("POST", "/rooms/ABCD/branch", 401, json={"step": 1}))["code"] == "bad_token"


async def test_a_server_without_a_panel_knows_none_of_its_calls(world, author):
    api = Api(world.server, TOKENS, Limits(world.settings, world.clock), world.settings)
    author.app = web_app(api, None)
    assert (await author.ask("GET", "/rooms", 404))["code"] == "not_found"


async def test_a_secret_stands_in_the_state_and_in_the_view_of_its_owner_alone(world, author):
    await world.open("cards")
    ann, _ = await world.seated("ABCD", "ann", "bob")
    await ann.play("ABCD", {"type": "deal"})
    room = await author.look()
    first, second = room["state"]["cards"]
    assert [viewer["view"]["card"] for viewer in room["viewers"]] == [first, second, None]
    assert [viewer["seat"] for viewer in room["viewers"]] == [0, 1, None]
    assert [viewer["player"]["name"] for viewer in room["viewers"]] == ["Ann", "Bob", "Spectator"]


async def test_each_step_is_there_with_what_was_asked_and_what_came_of_it(world, author):
    await mark(world, *CORNERS)
    steps = await author.ask("GET", "/rooms/ABCD/steps")
    assert [step["command"]["do"] for step in steps] == ["join", "connect"] * 2 + ["act"] * 3
    assert steps[4]["command"]["player"] == "ann"
    assert steps[4]["command"]["event"] == {"type": "mark", "cell": 0}
    assert (await author.look(step=5))["state"]["cells"] == "X........"
    later = await author.ask("GET", "/rooms/ABCD/steps", params={"from": 6})
    assert [step["seq"] for step in later] == [6, 7]


async def test_the_token_of_a_seat_is_that_players_own_and_bots_have_none(world, author):
    await world.open("tictactoe")
    await world.seated("ABCD", "ann")
    await world.seat_bot("ABCD")
    await world.quiet()
    person, bot, spectator = (await author.look())["viewers"]
    assert TOKENS.read(person["token"]) == "ann"
    assert bot["token"] is None
    assert TOKENS.read(spectator["token"]) not in ("ann", bot["player"]["id"])


async def test_a_new_room_has_as_many_players_as_its_game_needs(author):
    room = await author.ask("POST", "/rooms", json={"game": "hearts"})
    assert [seat["name"] for seat in room["seats"]] == ["Player 1", "Player 2", "Player 3", "Player 4"]
    assert [one["id"] for one in (await author.ask("GET", "/rooms"))["rooms"]] == [room["id"]]


async def test_a_free_seat_can_be_taken_by_one_more_player(world, author):
    await world.open("tictactoe")
    await author.ask("POST", "/rooms/ABCD/players")
    assert [viewer["player"] is None for viewer in (await author.look())["viewers"]] == [False, True, False]


async def test_back_and_on_is_a_new_room_and_the_old_one_is_untouched(world, author):
    ann, _ = await mark(world, *CORNERS)
    before = await kept(world, "ABCD")
    other = await author.branch(5)
    assert (await author.look(other))["state"]["cells"] == "X........"
    assert (await kept(world, other))[:5] == before[:5]
    assert await kept(world, "ABCD") == before
    again, bob = [await world.person(player) for player in ("ann", "bob")]
    for person in (again, bob):
        assert (await person.join(other))[0] == "ok"
    assert (await bob.play(other, {"type": "mark", "cell": 4}))[0] == "ok"
    assert world.room(other).state.cells == "X...O...."
    assert world.room().state.cells == "X.X.....O"
    assert ann.closed is None


@pytest.mark.parametrize("step", range(8))
async def test_the_new_room_replays_by_itself(world, author, step):
    await mark(world, *CORNERS)
    other = await author.branch(step)
    state = (await author.look(other))["state"]
    again = await world.restart()
    await again.person("ann")
    await again.seated(other, "ann")
    assert msgspec.to_builtins(again.room(other).state)["cells"] == state["cells"]
    await again.server.stop()


async def test_a_room_that_has_ended_can_be_looked_at_and_gone_on_from(world, author):
    for person in await mark(world, 0, 3, 1, 4, 2):
        await person.drop()
    await world.wait(3600)
    assert (await author.ask("GET", "/rooms"))["rooms"] == []
    room = await author.look(step=5)
    assert (room["ended"], room["state"]["cells"]) == ("game_timeout", "X........")
    assert (await author.look(await author.branch(5)))["state"]["cells"] == "X........"


async def test_the_same_moves_have_the_same_luck(world, author):
    await world.open("cards")
    ann, _ = await world.seated("ABCD", "ann", "bob")
    await ann.play("ABCD", {"type": "deal"})
    other = await author.branch(5)
    assert (await author.look(other))["state"]["cards"] == (await author.look())["state"]["cards"]


async def test_no_time_has_passed_in_the_new_room_since_the_step(world, author):
    await mark(world, 0)
    await world.wait(30)
    other = await author.branch(5)
    found = await world.journal.recall(other)
    assert found.steps[-1].command.seconds == 30


async def test_there_is_no_way_on_from_a_step_that_is_not_there(world, author):
    await mark(world)
    why = await author.ask("POST", "/rooms/ABCD/branch", 400, json={"step": 9})
    assert why["message"] == "expected a step from 0 to 4, got 9"


async def test_moves_are_played_again_under_the_rules_that_the_author_has_saved_since(tmp_path):
    index = TicketIndex(tmp_path)
    await index.open()
    await index.count()
    await index.reload(BY_TEN)
    author = Author(index.world)
    other = await author.branch(3)
    assert (await author.look(other))["state"]["number"] == 10
    assert (await author.look())["state"]["number"] == 1
    await index.world.server.stop()


async def test_moves_that_the_saved_rules_refuse_are_named(tmp_path):
    index = TicketIndex(tmp_path)
    await index.open()
    await index.count()
    refuse = 'raise Refused("illegal_move", "nobody counts any more")\n        return Update('
    await index.reload(BY_TEN.replace("import ", "import Refused, ", 1).replace("return Update(", refuse))
    why = await Author(index.world).ask("POST", "/rooms/ABCD/branch", 400, json={"step": 3})
    assert why["message"] == "step 3 cannot be made under today's rules: nobody counts any more"
    await index.world.server.stop()

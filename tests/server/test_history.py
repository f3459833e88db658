"""A room's history: what somebody may see of it, and no more than they could see then."""

import hashlib
import hmac

import httpx
import msgspec
import pytest
from msgspec.structs import replace

from parlour.game import Chance, Event, Game, Joined, Outcome, Send, State, Update
from parlour.games import GAMES
from parlour.games.tictactoe import TicTacToe
from parlour.scene import Patch, Scene, apply
from parlour.server.api.endpoints import Api, web_app
from parlour.server.limits import Limits
from parlour.server.tokens import Tokens
from tests.scenes import same
from tests.server.world import World

TOKENS = Tokens(b"k" * 32)


class Deal(Event, frozen=True):
    """Draw a card, in secret."""


class Fold(Event, frozen=True):
    """Give up."""


class Hands(State, frozen=True):
    """A card for each seat."""

    cards: tuple[int, ...] = ()
    over: bool = False


class Cards(Game[Hands]):
    """Everybody sees only their own card, also when it is over."""

    name = "cards"
    display_name = "Cards"
    seats = range(2, 3)
    State = Hands
    Event = Deal | Fold

    def init(self, config, moment):
        return Hands()

    def join_game(self, state, player, spectate, moment):
        joined = super().join_game(state, player, spectate, moment)
        return Joined(("players",) if joined.seat is not None else ("audience",), joined.seat, joined.update)

    def handle_event(self, state, sender, event, moment):
        if isinstance(event, Fold):
            return Update(replace(state, over=True))
        cards = (moment.chance.below(1000), moment.chance.below(1000))
        whisper = [
            Send(f"player:{player}", {"card": card})
            for player, card in zip(state.players, cards, strict=True)
        ]
        return Update(
            replace(state, cards=cards), (*whisper, Send("players", "dealt"), Send("audience", "look"))
        )

    def view(self, state, viewer):
        seat = state.seat(viewer)
        return {"card": state.cards[seat] if seat is not None and state.cards else None, "over": state.over}

    def outcome(self, state):
        return Outcome(drew=tuple(filter(None, state.players)), why="folded") if state.over else None


@pytest.fixture
async def world():
    async with World({**GAMES, "cards": Cards()}, store_every=4) as world:
        yield world


@pytest.fixture
async def http(world):
    app = web_app(Api(world.server, TOKENS, Limits(world.settings, world.clock), world.settings), None)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://parlour.test") as http:
        yield http


def as_(player):
    return {"Authorization": f"Bearer {TOKENS.issue(player)}"}


async def history(http, player=None, room="ABCD", **wanted):
    headers = {} if player is None else as_(player)
    answer = await http.get(f"/api/rooms/{room}/history", params=wanted, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def win(world, *cells):
    """Noughts and crosses, played by Ann and Bob."""
    await world.open("tictactoe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    for turn, cell in enumerate(cells or (4, 0, 2, 5, 6)):
        assert (await (ann, bob)[turn % 2].play("ABCD", {"type": "mark", "cell": cell}))[0] == "ok"
    return ann, bob


async def test_a_history_begins_with_the_room_as_it_was_opened_and_has_every_step(world, http):
    await win(world)
    told = await history(http)
    assert (told["id"], told["game"], told["seq"]) == ("ABCD", "tictactoe", 9)
    assert [step["seq"] for step in told["steps"]] == list(range(10))
    assert [step["view"]["cells"] for step in told["steps"][4:]] == [
        ".........",
        "....X....",
        "O...X....",
        "O.X.X....",
        "O.X.XO...",
        "O.X.XOX..",
    ]


async def test_who_sits_where_is_told_when_it_changed(world, http):
    await win(world)
    ann, bob = {"id": "ann", "name": "Ann"}, {"id": "bob", "name": "Bob"}
    seats = [(step["seq"], step["seats"]) for step in (await history(http))["steps"] if "seats" in step]
    assert seats == [(0, [None, None]), (1, [ann, None]), (3, [ann, bob])]


@pytest.mark.parametrize("first", range(10))
async def test_any_part_of_a_history_is_like_that_part_of_the_whole(world, http, first):
    await win(world)
    whole = (await history(http, "ann"))["steps"]
    part = (await history(http, "ann", **{"from": first, "limit": 3}))["steps"]
    assert [step["seq"] for step in part] == list(range(10))[first : first + 3]
    for step in part:
        assert step["view"] == whole[step["seq"]]["view"]
        assert step.get("pushes") == whole[step["seq"]].get("pushes")


async def test_a_history_that_begins_after_the_last_step_is_empty(world, http):
    await win(world)
    assert (await history(http, **{"from": 10}))["steps"] == []


async def test_everybody_sees_what_was_theirs_to_see(world, http):
    await world.open("cards")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    await ann.play("ABCD", {"type": "deal"})
    await bob.play("ABCD", {"type": "fold"})
    one, two = world.room().state.cards
    for player, card, said in (
        ("ann", one, "dealt"),
        ("bob", two, "dealt"),
        ("zoe", None, "look"),
        (None, None, "look"),
    ):
        deal, fold = (await history(http, player))["steps"][5:]
        assert (deal["view"]["card"], fold["view"]["card"]) == (card, card)
        heard = [push["payload"]["payload"] for push in deal["pushes"]]
        assert heard == ([{"card": card}] if card is not None else []) + [said]


async def test_who_gave_the_seat_up_sees_with_their_old_eyes_what_was_before(world, http):
    await world.open("cards")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    await ann.play("ABCD", {"type": "deal"})
    card = world.room().state.cards[0]
    await ann.push("ABCD", "leave", {})
    deal, left = (await history(http, "ann"))["steps"][5:]
    assert (deal["view"]["card"], left["view"]["card"]) == (card, None)


async def test_chat_is_in_a_history(world, http):
    ann, _ = await win(world, 4)
    await ann.push("ABCD", "chat", {"text": "well?"})
    (said,) = (await history(http))["steps"][-1]["pushes"]
    assert (said["name"], said["payload"]["text"], said["payload"]["name"]) == ("chat", "well?", "Ann")


async def test_the_seed_stands_at_the_step_that_brought_the_outcome_and_nowhere_before(world, http):
    ann, bob = await win(world, 4, 0, 2, 5)
    seed_hash = (await http.get("/api/rooms/ABCD")).json()["seed_hash"]
    assert not any("result" in step for step in (await history(http))["steps"])
    await ann.play("ABCD", {"type": "mark", "cell": 6})
    results = {step["seq"]: step["result"] for step in (await history(http))["steps"] if "result" in step}
    assert list(results) == [9]
    assert results[9]["outcome"]["won"] == ["ann"]
    assert hashlib.sha256(bytes.fromhex(results[9]["seed"])).hexdigest() == seed_hash


async def test_the_draws_of_a_step_are_told_with_the_seed_and_not_before(world, http):
    await world.open("cards")
    ann, _ = await world.seated("ABCD", "ann", "bob")
    await ann.push("ABCD", "luck", {"luck": "07" * 16})
    await ann.play("ABCD", {"type": "deal"})
    steps = (await history(http, "ann"))["steps"]
    assert not any("draws" in step for step in steps)
    await ann.play("ABCD", {"type": "fold"})
    steps = (await history(http, "ann"))["steps"]
    (drawing,) = [step for step in steps if "draws" in step]
    result = steps[-1]["result"]
    assert result["added"] == [{"player": "ann", "luck": "07" * 16}]
    key = hmac.digest(bytes.fromhex(result["seed"]), bytes.fromhex("07" * 16), "sha256")
    chance = Chance(key, drawing["seq"])
    assert drawing["draws"] == [[1000, chance.below(1000)], [1000, chance.below(1000)]]


async def test_in_format_scene_a_history_is_a_scene_and_patches(world, http):
    await win(world)
    steps = (await history(http, "ann", format="scene"))["steps"]
    shown = msgspec.convert(steps[0]["scene"], Scene)  # Ann had no seat yet
    for step in steps[1:]:
        if "scene" in step:
            shown = msgspec.convert(step["scene"], Scene)
        elif "patch" in step:
            shown = apply(msgspec.convert(step["patch"], Patch), shown)
    assert same(shown, TicTacToe().scene(world.room().state, "ann"))
    assert [step["seq"] for step in steps if "scene" in step] == [0, 1]


async def test_a_room_that_has_ended_keeps_its_history_under_its_number(world, http):
    for person in await win(world):
        await person.drop()
    await world.wait(3600)
    number = (await history(http))["room"]
    await world.open("minesweeper")
    assert (await history(http))["game"] == "minesweeper"
    answer = await http.get(f"/api/rooms/ABCD/history?room={number}")
    assert answer.json()["game"] == "tictactoe"
    assert answer.json()["steps"][9]["view"]["over"] is True


async def test_a_number_alone_opens_nobodys_room(world, http):
    await world.open("tictactoe", "secret-name", private=True)
    await world.open("tictactoe", "ABCD")
    answer = await http.get("/api/rooms/ABCD/history?room=1")
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_room")


class Changed(TicTacToe):
    """Rules under which every history plays differently."""

    def handle_event(self, state, sender, event, moment):
        update = super().handle_event(state, sender, event, moment)
        return replace(update, effects=(*update.effects, Send("all", "new")))


async def test_of_a_room_whose_rules_changed_the_pushes_and_the_states_that_were_stored_are_told(world, http):
    await win(world)
    later = await world.restart({**GAMES, "tictactoe": Changed()})
    app = web_app(Api(later.server, TOKENS, Limits(later.settings, later.clock), later.settings), None)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://parlour.test") as again:
        steps = (await history(again))["steps"]
    assert [step["seq"] for step in steps if "view" in step] == [0, 1, 2, 3, 4, 8]  # 4 and 8 were stored
    assert [push["payload"]["payload"]["cell"] for step in steps for push in step.get("pushes", [])] == [
        4,
        0,
        2,
        5,
        6,
    ]
    await later.server.stop()


@pytest.mark.parametrize(
    "query", ["from=-1", "from=x", "limit=0", "limit=201", "format=film", "surprise=1", "room=0"]
)
async def test_a_history_that_makes_no_sense_is_refused(world, http, query):
    await win(world)
    answer = await http.get(f"/api/rooms/ABCD/history?{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")


async def test_there_is_no_history_of_a_room_that_is_not_there(http):
    answer = await http.get("/api/rooms/NOPE/history")
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_room")


# Rematch.


async def test_a_rematch_begins_when_every_seat_has_asked_over_http_or_the_socket(world, http):
    ann, bob = await win(world)
    answer = await http.post("/api/rooms/ABCD/rematch", json={"id": "again"}, headers=as_("ann"))
    assert (answer.status_code, answer.json()) == (200, {"seq": 10})
    again = await http.post("/api/rooms/ABCD/rematch", json={"id": "again"}, headers=as_("ann"))
    assert again.json() == {"seq": 10}
    await bob.push("ABCD", "rematch", {})
    assert world.room().state.cells == "........."
    assert world.room().players == ("bob", "ann")


@pytest.mark.parametrize(
    ("player", "status", "code"), [(None, 401, "bad_token"), ("zoe", 400, "not_seated"), ("ann", 200, None)]
)
async def test_only_who_has_a_seat_can_ask_for_a_rematch(world, http, player, status, code):
    await win(world)
    headers = {} if player is None else as_(player)
    answer = await http.post("/api/rooms/ABCD/rematch", json={}, headers=headers)
    assert (answer.status_code, answer.json().get("code")) == (status, code)


async def test_a_rematch_waits_for_the_end(world, http):
    await win(world, 4)
    answer = await http.post("/api/rooms/ABCD/rematch", headers=as_("ann"))
    assert (answer.status_code, answer.json()["code"]) == (400, "not_over")


async def test_a_rematch_in_a_room_that_is_not_there_is_refused(world, http):
    answer = await http.post("/api/rooms/NOPE/rematch", headers=as_("ann"))
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_room")


# Rooms by a name of one's own.


async def test_a_name_leads_to_its_running_room_or_to_a_new_one(world, http):
    first = await http.put("/api/rooms/friday", json={"game": "tictactoe"})
    assert (first.status_code, first.json()["id"], first.json()["seq"]) == (200, "friday", 0)
    (ann,) = await world.seated("friday", "ann")
    second = await http.put("/api/rooms/friday", json={"game": "tictactoe"})
    assert (second.json()["created"], second.json()["seq"]) == (first.json()["created"], 2)
    await ann.push("friday", "leave", {})
    await world.wait(3600)
    third = await http.put("/api/rooms/friday", json={"game": "minesweeper"})
    assert (third.status_code, third.json()["seq"]) == (200, 0)


async def test_a_room_that_has_ended_is_opened_again_under_its_id_as_it_was(world, http):
    config = {"preset": "custom", "width": 5, "height": 4, "mines": 3}
    await world.open("minesweeper", "field", config, private=True)
    (ann,) = await world.seated("field", "ann")
    running = await http.post("/api/rooms/field/again")
    assert (running.status_code, running.json()["seq"]) == (200, 2)
    await ann.push("field", "leave", {})
    await world.wait(5)
    assert (await world.server.rooms.look("field")).ended == "game_ended"
    again = await http.post("/api/rooms/field/again")
    assert (again.status_code, again.json()["private"], again.json()["ended"]) == (200, True, None)
    await ann.join("field")
    assert (world.room("field").state.width, world.room("field").config["mines"]) == (5, 3)


async def test_what_was_never_there_cannot_be_opened_again(http):
    answer = await http.post("/api/rooms/NOPE/again")
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_room")


async def test_a_game_says_how_long_its_rooms_wait(http):
    games = {game["name"]: game["timeouts"] for game in (await http.get("/api/games")).json()}
    assert games["tictactoe"] == {
        "game": 14 * 86400, "away": None, "nobody": None, "empty": 3600, "ends_under_players": False,
    }  # fmt: skip
    assert games["cards"] == {
        "game": 300, "away": 120, "nobody": 60, "empty": 300, "ends_under_players": True,
    }  # fmt: skip


async def test_a_running_room_of_another_game_is_refused(world, http):
    await world.open("tictactoe", "friday")
    answer = await http.put("/api/rooms/friday", json={"game": "minesweeper"})
    assert (answer.status_code, answer.json()["code"]) == (409, "wrong_game")
    assert answer.json()["message"] == "room friday plays tictactoe, not minesweeper"


@pytest.mark.parametrize("name", ["a b", "ü", "x" * 65])
async def test_a_name_that_is_none_is_refused(http, name):
    answer = await http.put(f"/api/rooms/{name}", json={"game": "tictactoe"})
    assert (answer.status_code, answer.json()["path"]) == (400, "$.id")


# The games' little boards.


async def test_every_game_shows_a_little_board_with_some_moves_on_it(http):
    async def scene(game):
        return (await http.get(f"/api/games/{game}/preview")).json()["scene"]

    assert len((await scene("tictactoe"))["pieces"]) == 5
    assert len((await scene("minesweeper"))["spots"]) == 81
    assert (await scene("cards"))["text"]

"""The door ``games:<name>``: Ogetarts' clients play Stratego, without the bugs of the original."""

import random
from typing import Any

import msgspec
import pytest

from parlour.doors.ogetarts import WithOgetarts, show
from parlour.game import Chance
from parlour.games.stratego import Stratego
from parlour.games.stratego.position import Position
from parlour.games.stratego.rules import Move
from parlour.journal.base import Player
from parlour.server.limits import CREATE_COST, cost_of
from parlour.server.sessions import player_record
from parlour.testing import legal
from parlour.wire import Company, Sitter
from tests.server.world import PLAYABLE, Person, World

FIELDS = {
    "board",
    "last_click",
    "p1_piece_count",
    "p2_piece_count",
    "p1_captured",
    "p2_captured",
    "flag_found",
    "players",
    "winner",
    "reason",
}


class Visitor(Person):
    """Somebody with the original's client."""

    async def ask(self, event: str, payload: Any, name: str = "den") -> tuple[str, Any]:
        """Push to a game's topic; the status and the response."""
        ref = str(next(self._refs))
        topic = f"games:{name}"
        if event == "phx_join":
            self._join_refs[topic] = ref
        await self.send([self._join_refs.get(topic), ref, topic, event, payload])
        reply = next(f for f in reversed(self.frames) if f[1] == ref and f[3] == "phx_reply")
        return reply[4]["status"], reply[4]["response"]

    async def click(self, square: int) -> tuple[str, Any]:
        return await self.ask("click", {"i": square // 10, "j": square % 10})

    async def move(self, start: int, end: int) -> tuple[str, Any]:
        await self.click(start)
        return await self.click(end)

    def updates(self) -> list[Any]:
        return [payload["game"] for _, payload in self.heard("update")]


@pytest.fixture
async def world():
    async with World(PLAYABLE) as world:
        yield world


async def visitor(world: World, player: str, name: str = "den", **payload: Any) -> Visitor:
    """Somebody who has come in under their own name."""
    await world.journal.keep(player_record(Player(player, player.capitalize()), world.clock.now()))
    comes = Visitor(world, player, WithOgetarts())
    status, response = await comes.ask("phx_join", payload or {"user": player.capitalize()}, name)
    assert status == "ok", response
    return comes


async def two(world: World) -> tuple[Visitor, Visitor]:
    ann, bob = await visitor(world, "ann"), await visitor(world, "bob")
    ann.forget()
    bob.forget()
    return ann, bob


def state(world: World, name: str = "den") -> Position:
    position: Position = world.server.rooms.get(name).here.state
    return position


def a_move(world: World) -> tuple[int, int]:
    """A legal move of whoever is to move."""
    position = state(world)
    return next(position.moves(position.turn))


# Coming in.


async def test_who_joins_opens_the_game_and_is_answered_with_it(world):
    comes = Visitor(world, "ann", WithOgetarts())
    status, response = await comes.ask("phx_join", {"user": "Ann"})
    assert (status, response.keys()) == ("ok", {"join", "game"})
    assert response["join"] == "den"
    assert response["game"].keys() == FIELDS
    assert (response["game"]["players"], response["game"]["last_click"]) == (["Ann"], [])
    sheet = await world.server.rooms.look("den")
    assert sheet.game == "stratego"
    assert world.server.rooms.get("den").here.config["preset"] == "ogetarts"


def test_coming_in_costs_as_much_as_opening_a_room_for_it_may():
    (request,) = WithOgetarts().receive('["1","1","games:den","phx_join",{"user":"Ann"}]')
    assert cost_of(request.wish) == CREATE_COST


async def test_who_brought_no_token_is_told_one(world):
    comes = Visitor(world, "ann", WithOgetarts())
    comes.client.token = "fresh"
    _, response = await comes.ask("phx_join", {"user": "Ann"})
    assert response["token"] == "fresh"


async def test_two_who_open_a_game_at_once_meet_in_it(world):
    people = [Visitor(world, player, WithOgetarts()) for player in ("ann", "bob")]
    for person in people:
        frame = ["1", "1", "games:den", "phx_join", {"user": person.player}]
        person.send_soon(msgspec.json.encode(frame).decode())
    await world.quiet()
    assert world.server.rooms.get("den").here.players == ("ann", "bob")


async def test_the_first_two_play_and_all_others_watch_without_a_rank(world):
    ann, bob = await two(world)
    zoe = await visitor(world, "zoe")
    for person, known in ((ann, {1}), (bob, {2}), (zoe, set())):
        _, response = await person.ask("phx_join", {"user": person.player.capitalize()})
        pieces = [piece for row in response["game"]["board"] for piece in row if piece]
        assert len(pieces) == 80
        assert {piece[2] for piece in pieces if piece[1]} == known
        assert response["game"]["players"] == ["Ann", "Bob"]
    status, response = await zoe.click(30)
    assert (status, response["code"]) == ("error", "not_seated")


async def test_player_one_has_the_upper_rows_for_everybody(world):
    _, bob = await two(world)
    _, response = await bob.ask("phx_join", {"user": "Bob"})
    board = response["game"]["board"]
    for i, row in enumerate(board):
        for j, piece in enumerate(row):
            assert (
                piece == [] if i in (4, 5) else (piece[0], *piece[2:5]) == (10 * i + j + 1, 1 + (i > 5), i, j)
            )


async def test_joining_again_keeps_the_seat_and_seats_nobody_twice(world):
    ann, bob = await two(world)
    for _ in range(2):
        await ann.ask("phx_join", {"user": "Ann"})
    again = await visitor(world, "ann")
    assert world.server.rooms.get("den").here.players == ("ann", "bob")
    await again.drop()
    await ann.drop()
    assert world.server.rooms.get("den").here.players == ("ann", "bob")
    back = await visitor(world, "ann")
    status, _ = await back.move(*a_move(world))
    assert status == "ok"
    assert bob.updates()


async def test_nobody_comes_in_under_the_name_of_a_bot(world):
    eve = Visitor(world, "eve", WithOgetarts())
    status, response = await eve.ask("phx_join", {"user": "random  BOT 2"})
    assert (status, response["code"]) == ("error", "invalid_name")


async def test_a_name_that_another_player_of_the_room_has_is_refused_and_brings_neither_seat_nor_ranks(world):
    await two(world)
    thief = Visitor(world, "eve", WithOgetarts())
    status, response = await thief.ask("phx_join", {"user": "bob"})
    assert (status, response["code"]) == ("error", "name_taken")
    assert "connect with the token" in response["message"]
    assert thief.updates() == []
    status, response = await thief.click(60)
    assert (status, response["code"]) == ("error", "not_joined")
    assert world.server.rooms.get("den").here.players == ("ann", "bob")


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ({"user": ""}, "invalid_name"),
        ({"user": 7}, "malformed"),
        ({"user": "x" * 41}, "invalid_name"),
        ([], "malformed"),
    ],
)
async def test_a_name_that_is_none_is_refused(world, payload, code):
    status, response = await Visitor(world, "ann", WithOgetarts()).ask("phx_join", payload)
    assert (status, response["code"]) == ("error", code)


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "ä", ".", ".."])
async def test_a_game_whose_name_cannot_be_a_rooms_is_refused(world, name):
    status, response = await Visitor(world, "ann", WithOgetarts()).ask("phx_join", {"user": "Ann"}, name)
    assert (status, response["code"]) == ("error", "invalid_name")


async def test_the_door_leads_to_stratego_alone(world):
    await world.open("tictactoe", "den")
    status, response = await Visitor(world, "ann", WithOgetarts()).ask("phx_join", {"user": "Ann"})
    assert (status, response["code"]) == ("error", "wrong_game")


async def test_the_native_topics_are_there_as_ever(world):
    await world.open("tictactoe", "ABCD")
    both = Visitor(world, "ann", WithOgetarts())
    status, response = await both.join("ABCD")
    assert (status, response["seat"]) == ("ok", 0)
    status, _ = await both.ask("phx_join", {"user": "Ann"})
    assert status == "ok"


# Clicks.


async def test_the_first_click_chooses_the_second_moves(world):
    ann, bob = await two(world)
    start, end = a_move(world)
    status, response = await ann.click(start)
    assert status == "ok"
    assert response["game"]["last_click"] == response["game"]["board"][start // 10][start % 10]
    assert ann.updates() == bob.updates() == []
    status, response = await ann.click(end)
    game = response["game"]
    assert (status, game["last_click"]) == ("ok", [])
    assert game["board"][end // 10][end % 10][0] == start + 1
    assert game["board"][start // 10][start % 10] == []
    assert [len(person.updates()) for person in (ann, bob)] == [1, 1]
    assert bob.updates()[0]["board"][end // 10][end % 10][1:3] == [0, 1]


async def test_the_same_square_again_lets_go_and_another_piece_of_mine_changes_nothing(world):
    ann, _ = await two(world)
    start, _ = a_move(world)
    await ann.click(start)
    other = next(square for square in range(40) if square != start)
    _, response = await ann.click(other)
    assert response["game"]["last_click"][0] == start + 1
    _, response = await ann.click(start)
    assert response["game"]["last_click"] == []


async def test_what_i_have_chosen_is_mine_alone(world):
    """In the original the opponent's click moved my piece, and its rank was told to all."""
    ann, bob = await two(world)
    start, end = a_move(world)
    await ann.click(start)
    status, _ = await bob.click(end)
    assert status == "error"
    assert bob.updates() == []
    _, response = await bob.ask("phx_join", {"user": "Bob"})
    assert response["game"]["last_click"] == []


async def test_they_take_turns_and_player_one_begins(world):
    ann, bob = await two(world)
    start, end = next(state(world).moves(1))
    status, response = await bob.move(start, end)
    assert (status, response["code"]) == ("error", "not_your_turn")
    await ann.move(*a_move(world))
    status, response = await ann.move(*next(state(world).moves(0)))
    assert (status, response["code"]) == ("error", "not_your_turn")


async def test_nobody_moves_before_there_is_an_opponent(world):
    ann = await visitor(world, "ann")
    status, response = await ann.click(30)
    assert (status, response["message"]) == ("error", "the game has not begun")


async def test_nobody_moves_while_pieces_are_arranged_elsewhere(world):
    await world.open("stratego", "den")
    ann, _ = await two(world)
    assert (await ann.click(30))[1]["message"] == "the game has not begun"
    await world.wait(300)
    assert (await ann.move(*a_move(world)))[0] == "ok"


@pytest.mark.parametrize("square", [45, 60, 99])
async def test_only_a_piece_of_ones_own_is_chosen(world, square):
    ann, _ = await two(world)
    status, response = await ann.click(square)
    assert (status, response["message"]) == ("error", "first click a piece of yours that can move")


async def test_bombs_and_the_flag_are_not_chosen(world):
    ann, _ = await two(world)
    for square, piece in enumerate(state(world).cells[:40]):
        if piece and piece.rank > 10:
            assert (await ann.click(square))[0] == "error"


@pytest.mark.parametrize(
    "where", [{"i": -1, "j": 0}, {"i": 10, "j": 0}, {"i": 0, "j": 10**9}, {"i": "0", "j": 0}, {}]
)
async def test_there_is_nothing_beyond_the_edges(world, where):
    ann, _ = await two(world)
    status, response = await ann.ask("click", where)
    assert (status, response["code"]) == ("error", "malformed")


async def test_a_move_that_is_none_is_refused_with_the_reason_and_the_choice_stays(world):
    ann, _ = await two(world)
    start, end = a_move(world)
    await ann.click(start)
    diagonal = next(square for square in range(60, 100) if square % 10 != start % 10)
    status, response = await ann.click(diagonal)
    assert (status, response["code"]) == ("error", "illegal_move")
    assert (await ann.click(end))[0] == "ok"


# A whole game.


async def play(world: World, ann: Visitor, bob: Visitor, seed: int) -> None:
    """Random moves by clicks until it is over."""
    rng = random.Random(seed)
    while state(world).phase == "playing":
        position = state(world)
        start, end = rng.choice(list(position.moves(position.turn)))
        status, response = await (ann, bob)[position.turn].move(start, end)
        assert status == "ok", response


async def test_a_game_to_the_end_its_trays_and_counts_and_who_won(world):
    ann, bob = await two(world)
    zoe = await visitor(world, "zoe")
    await play(world, ann, bob, 3)
    position = state(world)
    assert position.ending is not None
    games = [person.updates()[-1] for person in (ann, bob, zoe)]
    for game in games:
        assert all(piece[1] for row in game["board"] for piece in row if piece)
        assert game["reason"] == position.ending.reason
        assert game["winner"] == (
            None if position.ending.winner is None else ("Ann", "Bob")[position.ending.winner]
        )
        assert game["flag_found"] is (position.ending.reason == "flag")
        for player in (1, 2):
            captured = game[f"p{player}_captured"]
            assert [(piece[0], piece[1], piece[2]) for piece in captured] == [
                (piece.id, piece.rank, player) for piece in position.fallen[player - 1]
            ]
            lost = sum(piece.rank <= 10 for piece in position.fallen[player - 1])
            assert game[f"p{player}_piece_count"] == 33 - lost
    status, response = await ann.click(30)
    assert (status, response["message"]) == ("error", "the game is over")


async def test_a_new_game_begins_by_reset_but_not_before_the_end_and_not_by_spectators(world):
    ann, bob = await two(world)
    zoe = await visitor(world, "zoe")
    status, response = await bob.ask("reset", {})
    assert (status, response["code"]) == ("error", "not_over")
    native = await world.person("ann")
    await native.join("den")
    await native.play("den", {"type": "resign"})
    assert bob.updates()[-1]["winner"] == "Bob"
    status, response = await zoe.ask("reset", {})
    assert (status, response["code"]) == ("error", "not_seated")
    status, response = await bob.ask("reset", {})
    assert (status, response["game"]["winner"]) == ("ok", None)
    for person in (ann, bob, zoe):
        assert person.updates()[-1]["players"] == ["Ann", "Bob"]
        assert sum(piece != [] for row in person.updates()[-1]["board"] for piece in row) == 80


async def test_a_new_game_begins_by_itself_after_ten_seconds(world):
    ann, bob = await two(world)
    native = await world.person("bob")
    await native.join("den")
    await native.play("den", {"type": "resign"})
    await world.wait(9)
    assert ann.updates()[-1]["winner"] == "Ann"
    await world.wait(1)
    assert ann.updates()[-1]["winner"] is None
    assert bob.updates()[-1]["p1_captured"] == []


# Beside the browser.


async def test_the_same_room_is_played_from_the_native_socket_at_once(world):
    ann = await visitor(world, "ann")
    bob = await world.person("bob")
    assert (await bob.join("den"))[0] == "ok"
    ann.forget()
    bob.forget()
    await ann.move(*a_move(world))
    assert [name for name, _ in bob.heard("update", "game_event")] == ["game_event", "update"]
    (event, *_) = legal(Stratego(), state(world), "bob")
    assert isinstance(event, Move)
    await bob.play("den", event)
    assert ann.updates()[-1]["board"][event.end // 10][event.end % 10][0] == event.start + 1
    assert {frame[2] for frame in ann.frames} == {"games:den"}
    assert {frame[3] for frame in ann.frames} == {"update", "phx_reply"}


async def test_chat_reaches_everybody_under_both_names(world):
    ann, _ = await two(world)
    zoe = await visitor(world, "zoe")
    native = await world.person("bob")
    await native.join("den")
    status, _ = await zoe.ask("chat", {"message": " hello "})
    assert status == "ok"
    assert ann.heard("new message") == [("new message", {"message": "hello", "user": "Zoe"})]
    assert native.heard("chat")[0][1]["text"] == "hello"
    await native.push("den", "chat", {"text": "hi"})
    assert zoe.heard("new message")[-1][1] == {"message": "hi", "user": "Bob"}


@pytest.mark.parametrize(
    ("event", "payload", "code"),
    [
        ("chat", {"message": ""}, "invalid_text"),
        ("chat", {}, "malformed"),
        ("game_event", {"event": {"type": "resign"}}, "unknown_event"),
        ("leave", {}, "unknown_event"),
    ],
)
async def test_what_the_channel_does_not_know_is_refused(world, event, payload, code):
    ann, _ = await two(world)
    status, response = await ann.ask(event, payload)
    assert (status, response["code"]) == ("error", code)


async def test_the_game_is_there_after_a_restart(world):
    ann, bob = await two(world)
    await ann.move(*a_move(world))
    before = bob.updates()[-1]
    again = await world.restart()
    bob = await visitor(again, "bob")
    assert bob.updates()[-1]["board"] == before["board"]
    status, _ = await bob.move(*a_move(again))
    assert status == "ok"
    await again.server.stop()


async def test_nothing_that_is_shown_tells_a_hidden_rank(world):
    ann, bob = await two(world)
    for _ in range(30):
        position = state(world)
        person = (ann, bob)[position.turn]
        assert (await person.move(*random.Random(7).choice(list(position.moves(position.turn)))))[0] == "ok"
    audience = world.server.gateway._audiences["den"]
    assert len(audience) == 2
    for place in audience.places():
        other = Stratego().resample(state(world), place.viewer, Chance(bytes(32), 1))
        view = Stratego().view(other, place.viewer)
        both = Company((Sitter("ann", "Ann"), Sitter("bob", "Bob")))
        assert show(view, both) == audience.look(place).shown

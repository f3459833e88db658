"""The tools of a language model against a real server, called by the protocol's own client in memory."""

import asyncio

import pytest

from tests.e2e.servers import Server
from tests.mcp.models import models, play_out

pytestmark = pytest.mark.e2e

TOOLS = [
    "list_games", "list_rooms", "open_room", "sit_down", "observe", "act", "wait_for_turn", "negotiate",
    "leave",
]  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("mcp")).start()
    yield server
    server.kill()


async def test_there_are_nine_tools_and_each_says_what_it_does_and_takes(server):
    async with models(server, "Ann") as (call,):
        tools = (await call.tools.list_tools()).tools
        assert [tool.name for tool in tools] == TOOLS
        for tool in tools:
            assert tool.description
            assert all("description" in str(one) for one in tool.input_schema["properties"].values())


async def test_two_language_models_play_a_game_to_its_end(server):
    async with models(server, "Ann", "Bob") as (ann, bob):
        room = (await ann("open_room", game="tictactoe"))["room"]
        assert (await bob("sit_down", room=room))["seat"] == 1
        seen, other = await asyncio.gather(play_out(ann, room), play_out(bob, room))
        assert "Ann won; Bob lost" in seen["text"]
        assert "Ann won; Bob lost" in other["text"]


async def test_a_game_against_a_bot_of_the_server(server):
    async with models(server, "Ann") as (ann,):
        seen = await ann("open_room", game="tictactoe", bot="random", private=True)
        assert "seats: 0 Ann, 1 " in seen["text"]
        assert (await play_out(ann, seen["room"]))["over"]


async def test_what_is_seen_is_told_with_names_and_with_what_is_legal(server):
    async with models(server, "Ann", "Bob") as (ann, bob):
        room = (await ann("open_room", game="tictactoe"))["room"]
        await bob("sit_down", room=room)
        seen = await ann("act", room=room, event={"type": "mark", "cell": 4})
        assert "to act: Bob" in seen["text"]
        assert "centre: X" in seen["text"]
        assert (seen["your_turn"], seen["legal"]) == (False, [])
        seen = await bob("observe", room=room)
        assert seen["your_turn"]
        assert {"type": "mark", "cell": 0} in seen["legal"]


async def test_a_refusal_is_data_with_a_code_a_sentence_and_what_is_legal(server):
    async with models(server, "Ann", "Bob") as (ann, bob):
        room = (await ann("open_room", game="tictactoe"))["room"]
        await bob("sit_down", room=room)
        await ann("act", room=room, event={"type": "mark", "cell": 4})
        answer = await bob.tools.call_tool("act", {"room": room, "event": {"type": "mark", "cell": 4}})
        assert answer.is_error
        told = answer.structured_content
        assert told["code"] == "illegal_move"
        assert len(told["legal"]) == 8
        assert told["message"] in answer.content[0].text


async def test_nobody_acts_for_another_seat(server):
    async with models(server, "Ann", "Bob", "Eve") as (ann, bob, eve):
        room = (await ann("open_room", game="tictactoe"))["room"]
        await bob("sit_down", room=room)
        move = {"type": "mark", "cell": 4}
        assert (await bob("act", room=room, event=move))["code"] == "not_your_turn"
        assert (await eve("act", room=room, event=move))["code"] == "not_seated"
        assert (await eve("act", room=room, event=move, seat=0))["code"] == "malformed"
        assert (await eve("leave", room=room))["code"] == "not_seated"
        assert "board" not in (await eve("observe", room=room))["text"]


async def test_whoever_has_no_seat_watches_and_sees_what_everybody_sees(server):
    async with models(server, "Ann", "Eve") as (ann, eve):
        room = (await ann("open_room", game="stratego", bot="random", config={"setup": "random"}))["room"]
        seen = await eve("observe", room=room)
        assert (seen["seat"], seen["legal"]) == (None, [])
        assert "flag" not in seen["text"].lower().replace("flags", "")


async def test_legal_events_are_told_up_to_a_hundred(server):
    async with models(server, "Ann") as (ann,):
        seen = await ann("open_room", game="hex", bot="random")
        if not seen["your_turn"]:
            seen = await ann("wait_for_turn", room=seen["room"])
        assert len(seen["legal"]) == 100 < seen["legal_count"]
        told = await ann("act", room=seen["room"], event={"type": "place", "cell": 7_000})
        assert len(told["legal"]) == 100


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("observe", {"room": "NOPE"}, "unknown_room"),
        ("observe", {}, "malformed"),
        ("observe", {"room": 7}, "malformed"),
        ("act", {"room": "NOPE", "event": "mark"}, "malformed"),
        ("open_room", {"game": "chess"}, "unknown_game"),
        ("open_room", {"game": "tictactoe", "config": {"size": 3}}, "invalid_config"),
        ("open_room", {"game": "tictactoe", "bot": "nobody"}, "unknown_bot"),
        ("list_games", {"game": "chess"}, "unknown_game"),
        ("sit_down", {}, "malformed"),
        ("wait_for_turn", {"room": "NOPE", "seconds": 26}, "malformed"),
        ("cheat", {}, "unknown_event"),
    ],
)
async def test_what_cannot_be_done_is_refused_with_a_code(server, tool, arguments, code):
    async with models(server, "Ann") as (call,):
        told = await call(tool, **arguments)
        assert told["code"] == code
        assert told["message"]


async def test_games_are_listed_and_one_of_them_with_its_rules(server):
    async with models(server, "Ann") as (call,):
        games = (await call("list_games"))["games"]
        assert {"tictactoe", "backgammon", "hearts"} <= {game["name"] for game in games}
        told = await call("list_games", game="tictactoe")
        assert "three" in told["rules"]
        assert "mark" in str(told["event"])


async def test_rooms_are_listed_mine_and_those_with_a_free_seat(server):
    async with models(server, "Ann", "Bob") as (ann, bob):
        room = (await ann("open_room", game="tictactoe"))["room"]
        assert room in [one["room"] for one in (await ann("list_rooms"))["mine"]]
        assert room in [one["room"] for one in (await bob("list_rooms"))["open"]]
        assert (await ann("leave", room=room))["left"]
        assert room not in [one["room"] for one in (await ann("list_rooms"))["mine"]]


async def test_a_wait_in_vain_ends_and_says_how_it_stands(server):
    async with models(server, "Ann") as (ann,):
        room = (await ann("open_room", game="tictactoe"))["room"]
        seen = await ann("wait_for_turn", room=room, seconds=0)
        assert (seen["your_turn"], seen["over"]) == (False, False)


async def test_after_a_game_sitting_down_again_asks_for_another(server):
    async with models(server, "Ann", "Bob") as (ann, bob):
        room = (await ann("open_room", game="tictactoe"))["room"]
        await bob("sit_down", room=room)
        await asyncio.gather(play_out(ann, room), play_out(bob, room))
        assert (await ann("sit_down", room=room))["over"]
        assert not (await bob("sit_down", room=room))["over"]


async def test_two_who_look_for_a_ranked_game_are_paired_and_rated_on_the_ladder_of_bots(server):
    async with models(server, "Tara", "Tom") as (ann, bob):
        seats = await asyncio.gather(*(one("sit_down", game="tictactoe", ranked=True) for one in (ann, bob)))
        room = seats[0]["room"]
        await asyncio.gather(play_out(ann, room), play_out(bob, room))
        ladder = server.call("GET", "/api/leaderboard", params={"game": "tictactoe", "bots": "true"}).json()
        assert {"Tara", "Tom"} <= {row["name"] for row in ladder}


async def test_what_is_offered_is_told_and_answered_and_a_move_declines_it(server):
    async with models(server, "Ann", "Bob") as (ann, bob):
        room = (await ann("open_room", game="tictactoe"))["room"]
        await bob("sit_down", room=room)
        await ann("act", room=room, event={"type": "mark", "cell": 4})
        assert "Ann offers a draw" in (await ann("negotiate", room=room, do="draw"))["text"]
        seen = await bob("wait_for_turn", room=room)
        assert seen["offered"] == "draw"
        assert "Ann offers a draw: negotiate to accept or decline it" in seen["text"]
        assert "offered" not in await bob("act", room=room, event=seen["legal"][0])
        assert (await bob("negotiate", room=room, do="accept"))["code"] == "no_such_offer"
        assert (await ann("negotiate", room=room, do="draw"))["code"] == "offer_declined"
        await bob("negotiate", room=room, do="draw")
        assert "both sides agreed" in (await ann("negotiate", room=room, do="accept"))["text"]


async def test_a_pause_is_agreed_upon_and_whoever_has_enough_resigns(server):
    async with models(server, "Ann", "Bob", "Eve") as (ann, bob, eve):
        room = (await ann("open_room", game="stratego", config={"setup": "random"}))["room"]
        await bob("sit_down", room=room)
        await ann("negotiate", room=room, do="pause")
        assert (await bob("negotiate", room=room, do="accept"))["paused"]
        seen = await ann("observe", room=room)
        assert (seen["paused"], seen["your_turn"]) == (True, False)
        await bob("negotiate", room=room, do="resume")
        assert (await ann("wait_for_turn", room=room))["offered"] == "resume"
        assert (await ann("negotiate", room=room, do="accept"))["your_turn"]
        assert (await eve("negotiate", room=room, do="resign"))["code"] == "not_seated"
        assert "Bob won; Ann lost" in (await ann("negotiate", room=room, do="resign"))["text"]

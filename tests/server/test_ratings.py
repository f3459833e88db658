"""Ranked games count: for the ladder and for the player's page, in the very step that ended them."""

import asyncio
import json
import sqlite3
from contextlib import closing
from typing import Any

import httpx
import msgspec
import pytest

from parlour.journal.base import Damage, NotKept, RecordQuery
from parlour.journal.memory import MemoryJournal
from parlour.journal.sqlite import SqliteJournal
from parlour.server.api.endpoints import Api, web_app
from parlour.server.limits import Limits
from parlour.server.result_records import results_of
from parlour.server.standings import leaders
from parlour.server.tokens import Tokens
from tests.server.world import Person, World

MOVES = (0, 3, 1, 4, 2)


async def play(world: World, mode: str) -> tuple[str, str]:
    """A whole game between two from the lobby; who won, who lost."""
    return await play_out(world, *await pair(world, mode))


async def pair(world: World, mode: str, game: str = "tictactoe") -> tuple[str, dict[str, Person]]:
    """Two from the lobby come to their room."""
    people = {name: await world.person(name) for name in ("ann", "bob")}
    for name, person in people.items():
        await person.send(["L", name, "lobby", "phx_join", {}])
        await person.send(["L", "q", "lobby", "queue", {"game": game, "mode": mode}])
    room = people["ann"].heard("matched")[-1][1]["room"]
    for person in people.values():
        await person.join(room)
    return room, people


def turns(world: World, room: str, people: dict[str, Person]) -> list[tuple[Person, int]]:
    """Who plays what; the first of them wins."""
    players = world.room(room).players
    return [(people[players[turn % 2]], cell) for turn, cell in enumerate(MOVES)]


async def play_out(world: World, room: str, people: dict[str, Person]) -> tuple[str, str]:
    """The whole game; who won, who lost."""
    x, o = world.room(room).players
    for person, cell in turns(world, room, people):
        assert (await person.play(room, {"type": "mark", "cell": cell}))[0] == "ok"
    return x, o


async def end(world: World, room: str, people: dict[str, Person]) -> str:
    """The whole game, and no waiting for more than that its last step is kept; who won."""
    *moves, (winner, last) = turns(world, room, people)
    for person, cell in moves:
        await person.play(room, {"type": "mark", "cell": cell})
    frame = [None, "last", f"game:{room}", "game_event", {"event": {"type": "mark", "cell": last}}]
    winner.send_soon(json.dumps(frame))
    await world.server.rooms.get(room).mailbox.drained()
    return winner.player


async def test_a_ranked_game_counts_as_the_room_decided_it():
    async with World() as world:
        room, people = await pair(world, "ranked")
        await people["ann"].push(room, "resign", {})
        await world.quiet()
        (ann,), (bob,) = [await results_of(world.journal, name, 10) for name in ("ann", "bob")]
        assert (ann.how, bob.how, bob.why) == ("lost", "won", "the other side resigned")


async def test_a_ranked_game_counts_on_its_ladder():
    async with World() as world:
        won, lost = await play(world, "ranked")
        first, second = await leaders(world.journal, "tictactoe", 10)
        assert (first.player, second.player) == (won, lost)
        assert first.rating.rating > 1600
        assert second.rating.rating < 1400


async def test_a_normal_game_is_a_result_and_counts_on_no_ladder():
    async with World() as world:
        won, lost = await play(world, "normal")
        assert await leaders(world.journal, "tictactoe", 10) == []
        (result,) = await results_of(world.journal, won, 10)
        assert (result.how, result.why, result.ranked) == ("won", "three in a row", False)
        assert [player.id for player in result.against] == [lost]
        found = await world.journal.find(result.number)
        assert found is not None
        assert found.summary.id == result.room


async def test_the_next_ranked_ticket_has_the_new_rating():
    async with World() as world:
        won, _ = await play(world, "ranked")
        again = await world.person(won)
        await again.send(["L", "1", "lobby", "phx_join", {}])
        await again.send(["L", "2", "lobby", "queue", {"game": "tictactoe", "mode": "ranked"}])
        (ticket,) = world.server.pairing.index.open.values()
        assert ticket.rating > 1600


async def test_standings_outlast_a_restart():
    async with World() as world:
        won, _ = await play(world, "ranked")
        again = await world.restart()
        assert (await leaders(again.journal, "tictactoe", 1))[0].player == won
        await again.server.stop()


# How a game comes to count.


class Crowded(MemoryJournal):
    """A journal that has no room for what is written alone, when told so."""

    full = False

    async def keep(self, *changes):
        if self.full:
            raise NotKept("database or disk is full")
        await super().keep(*changes)


async def test_a_ranked_game_that_could_not_be_rated_counts_when_it_can(tmp_path):
    journal = Crowded(tmp_path, "process")
    async with World(journal=journal) as world:
        await world.person("ann")
        room, people = await pair(world, "ranked")
        journal.full = True
        won, _ = await play_out(world, room, people)
        assert await leaders(journal, "tictactoe", 10) == []
        (result,) = await results_of(journal, won, 10)
        assert result.how == "won"
        journal.full = False
        await world.wait(1)
        assert [standing.won for standing in await leaders(journal, "tictactoe", 10)] == [1, 0]


async def test_a_ranked_game_counts_once_although_the_server_fell_before_or_after_it_was_rated(tmp_path):
    journal = Crowded(tmp_path, "process")
    async with World(journal=journal) as world:
        room, people = await pair(world, "ranked")
        journal.full = True
        await play_out(world, room, people)
        journal.full = False
        again = await world.restart()
        assert [standing.won for standing in await leaders(journal, "tictactoe", 10)] == [1, 0]
        once_more = await again.restart()
        assert [standing.won for standing in await leaders(journal, "tictactoe", 10)] == [1, 0]
        await once_more.server.stop()


class Slow(MemoryJournal):
    """A journal that takes its time for what is written alone."""

    turns = 0

    async def keep(self, *changes):
        for _ in range(self.turns):
            await asyncio.sleep(0)
        await super().keep(*changes)


async def test_a_stop_waits_until_the_last_game_is_rated(tmp_path):
    journal = Slow(tmp_path, "process")
    async with World(journal=journal) as world:
        room, people = await pair(world, "ranked")
        journal.turns = 1000
        await end(world, room, people)
        assert len(await journal.records(RecordQuery("unrated"))) == 1
    await journal.open()
    assert await journal.records(RecordQuery("unrated")) == []
    assert [standing.won for standing in await leaders(journal, "tictactoe", 10)] == [1, 0]


async def test_a_damaged_standing_keeps_no_game_from_ending_and_begins_anew(tmp_path):
    journal = SqliteJournal(tmp_path, "process")
    async with World(journal=journal) as world:
        room, people = await pair(world, "ranked")
        won, lost = await play_out(world, room, people)
        with closing(sqlite3.connect(tmp_path / "parlour.db", isolation_level=None)) as db:
            db.execute("UPDATE records SET body = ? WHERE kind = 'standing' AND key = ?", (b"{", won))
        assert [one.player for one in await leaders(journal, "tictactoe", 9)] == [lost]
        for person in people.values():
            await person.push(room, "rematch", {})
        await play_out(world, room, people)
        games = {one.player: one.won + one.lost for one in await leaders(journal, "tictactoe", 9)}
        assert games == {won: 1, lost: 2}
        assert journal.damages() == (
            Damage("records", f"kind 'standing', in_group 'tictactoe', key '{won}'"),
        )


# What is at stake.

DRAW = (0, 1, 2, 4, 3, 5, 7, 6, 8)


async def told(http: httpx.AsyncClient, room: str) -> dict[str, Any]:
    """What each player of a room is told to be at stake."""
    answer = await http.get(f"/api/rooms/{room}/stakes")
    assert answer.status_code == 200
    return {stake.pop("player"): stake for stake in answer.json()}


async def rating(http: httpx.AsyncClient, player: str) -> float:
    (standing,) = (await http.get(f"/api/players/{player}")).json()["standings"]
    return float(standing["rating"]["rating"])


@pytest.mark.parametrize("weeks", [0, 1])
async def test_what_is_told_before_a_ranked_game_is_exactly_what_it_makes_of_the_ratings(weeks):
    async with World() as world, calls(world) as http:
        room, people = await pair(world, "ranked")
        for game in ("won", "drew", "won", "won", "drew"):
            await world.wait(weeks * 7 * 86400)
            stakes = await told(http, room)
            first, second = world.room(room).players
            moves = MOVES if game == "won" else DRAW
            for at, cell in enumerate(moves):
                await people[(first, second)[at % 2]].play(room, {"type": "mark", "cell": cell})
            how = ("won", "lost") if game == "won" else ("drew", "drew")
            for player, became in zip((first, second), how, strict=True):
                assert await rating(http, player) == stakes[player][became]
                (result, *_) = (await http.get(f"/api/players/{player}")).json()["results"]
                assert result["rating_before"] == stakes[player]["rating"]
            for person in people.values():
                await person.push(room, "rematch", {})


async def test_who_is_on_the_way_to_a_ranked_game_counts_as_there():
    async with World() as world, calls(world) as http:
        ann, bob = await world.person("ann"), await world.person("bob")
        for person in (ann, bob):
            await person.send(["L", "1", "lobby", "phx_join", {}])
            wish = {"game": "tictactoe", "mode": "ranked", "brings_luck": True}
            await person.send(["L", "2", "lobby", "queue", wish])
        (_, matched) = bob.heard("matched")[-1]
        room = (await http.get(f"/api/rooms/{matched['room']}")).json()
        assert room["seats"] == [None, None]
        stakes = await told(http, room["id"])
        assert sorted(stakes) == ["ann", "bob"]
        assert stakes["ann"] == stakes["bob"]
        assert stakes["ann"]["won"] > stakes["ann"]["drew"] == 1500 > stakes["ann"]["lost"]


async def test_while_one_of_the_two_is_missing_only_the_rating_of_the_other_is_told():
    async with World() as world, calls(world) as http:
        room, people = await pair(world, "ranked")
        await people["bob"].push(room, "leave", {})
        assert await told(http, room) == {"ann": {"rating": 1500.0, "won": None, "drew": None, "lost": None}}


async def test_no_draw_is_at_stake_where_none_can_come():
    async with World() as world, calls(world) as http:
        room, _ = await pair(world, "ranked", "hex")
        assert [stake["drew"] for stake in (await told(http, room)).values()] == [None, None]


async def test_nothing_is_at_stake_in_a_room_that_is_not_ranked_or_has_ended():
    async with World() as world, calls(world) as http:
        room, _ = await pair(world, "normal")
        assert await told(http, room) == {}
        ranked, people = await pair(world, "ranked")
        assert len(await told(http, ranked)) == 2
        for person in people.values():
            await person.push(ranked, "leave", {})
        await world.wait(2 * 3600)
        assert await told(http, ranked) == {}


# Over HTTP.


def calls(world: World) -> httpx.AsyncClient:
    api = Api(world.server, Tokens(b"k" * 32), Limits(world.settings, world.clock), world.settings)
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(web_app(api, None)), base_url="http://parlour.test"
    )


async def test_a_ranked_game_moves_both_on_the_leaderboard():
    async with World() as world, calls(world) as http:
        assert (await http.get("/api/leaderboard?game=tictactoe")).json() == []
        won, lost = await play(world, "ranked")
        first, second = (await http.get("/api/leaderboard?game=tictactoe")).json()
        assert (first["player"], first["name"], first["won"], first["streak"]) == (
            won,
            won.capitalize(),
            1,
            1,
        )
        assert (second["player"], second["lost"], second["streak"]) == (lost, 1, -1)
        assert first["rating"]["rating"] > 1500 > second["rating"]["rating"]
        assert (await http.get("/api/leaderboard?game=tictactoe&limit=1")).json() == [first]
        assert (await http.get("/api/leaderboard?game=stratego")).json() == []


async def test_a_leaderboard_has_every_game_that_ended_before_it_was_asked_for(tmp_path):
    async with World(journal=SqliteJournal(tmp_path, "process")) as world, calls(world) as http:
        room, people = await pair(world, "ranked")
        winner = await end(world, room, people)
        page = (await http.get(f"/api/players/{winner}")).json()
        assert [standing["won"] for standing in page["standings"]] == [1]
        ladder = (await http.get("/api/leaderboard?game=tictactoe")).json()
        assert [standing["won"] for standing in ladder if "won" in standing] == [1]


async def test_a_game_in_an_unlisted_room_is_shown_to_those_who_played_it_and_to_nobody_else():
    tokens = Tokens(b"k" * 32)
    async with World() as world, calls(world) as http:
        await world.open("tictactoe", listed=False)
        ann, bob = await world.seated("ABCD", "ann", "bob")
        for cell, who in zip((0, 3, 1, 4, 2), (ann, bob) * 3, strict=False):
            assert (await who.play("ABCD", {"type": "mark", "cell": cell}))[0] == "ok"
        for asker, rooms in (("ann", ["ABCD"]), ("bob", ["ABCD"]), ("eve", []), (None, [])):
            headers = {} if asker is None else {"Authorization": f"Bearer {tokens.issue(asker)}"}
            page = (await http.get("/api/players/ann", headers=headers)).json()
            assert [result["room"] for result in page["results"]] == rooms


async def test_a_players_page_shows_standings_results_and_streaks():
    async with World() as world, calls(world) as http:
        won, lost = await play(world, "ranked")
        again = await play(world, "normal")
        page = (await http.get(f"/api/players/{won}")).json()
        assert (page["id"], page["name"], page["bot"]) == (won, won.capitalize(), False)
        (standing,) = page["standings"]
        assert (standing["ladder"], standing["won"], standing["streak"]) == ("tictactoe", 1, 1)
        normal, ranked = page["results"]
        assert (ranked["how"], ranked["why"], ranked["ranked"]) == ("won", "three in a row", True)
        assert (normal["how"], "ranked" in normal) == ("won" if again[0] == won else "lost", False)
        assert ranked["against"] == [{"id": lost, "name": lost.capitalize()}]


async def test_a_players_page_tells_how_each_ranked_game_changed_the_rating():
    async with World() as world, calls(world) as http:
        won, _ = await play(world, "ranked")
        await play(world, "normal")
        page = (await http.get(f"/api/players/{won}")).json()
        normal, ranked = page["results"]
        rating = page["standings"][0]["rating"]["rating"]
        assert "rating_after" not in normal
        assert (ranked["rating_before"], ranked["rating_after"]) == (1500.0, rating)
        curve = [(point["ladder"], point["rating"]) for point in page["ratings"]]
        assert curve == [("tictactoe", round(rating, 1))]


async def test_a_result_that_cannot_be_read_does_not_keep_a_game_from_counting():
    async with World() as world:
        room, people = await pair(world, "ranked")
        won = await end(world, room, people)
        (kept,) = await world.journal.records(RecordQuery("result", owner=won))
        await world.journal.keep(msgspec.structs.replace(kept, body=b"?"))
        await world.server.ratings.settled()
        assert [standing.player for standing in await leaders(world.journal, "tictactoe", 1)] == [won]


async def test_a_result_leads_to_a_history_that_can_be_played_again():
    async with World() as world, calls(world) as http:
        won, _ = await play(world, "ranked")
        (result,) = (await http.get(f"/api/players/{won}")).json()["results"]
        room, number = result["room"], result["number"]
        history = (await http.get(f"/api/rooms/{room}/history?room={number}")).json()
        last = next(step for step in history["steps"] if step["seq"] == result["seq"])
        assert last["view"]["winner"] == "X"

"""Bots that play over the network: who they are, how they are marked, and where their games count."""

import pytest

from parlour.clocks import MAX_LAG, ClockSettings
from parlour.errors import Refused
from parlour.server.remote_bots import become_bot, invitable_bots
from parlour.server.result_records import results_of
from parlour.server.standings import leaders
from parlour.server.tokens import Bearer
from tests.server.test_ratings import pair, play_out
from tests.server.world import PLAYABLE, World


async def make_bot(world, player):
    """The player says that a program plays."""
    sessions = world.server.sessions
    known = await sessions.save(player, player.capitalize())
    return await become_bot(world.server.journal, sessions, known, player, bot=True)


@pytest.fixture
async def world():
    async with World(PLAYABLE) as world:
        yield world


async def test_a_player_becomes_a_bot_before_the_first_game_and_stays_one(world):
    bot = await make_bot(world, "ann")
    assert bot.bot
    assert await make_bot(world, "ann") == bot
    with pytest.raises(Refused, match="a bot stays a bot") as refused:
        await become_bot(world.server.journal, world.server.sessions, bot, "ann", bot=False)
    assert refused.value.code == "too_late"


@pytest.mark.parametrize("ends", ["by an account", "everywhere"])
async def test_a_stolen_token_that_ends_while_it_makes_its_player_a_bot_makes_none_and_gets_no_new_one(
    world, ends
):
    sessions, accounts, stolen = world.server.sessions, world.server.accounts, Bearer("ann", 0)
    as_it_was = await sessions.save(stolen, "Ann")
    if ends == "by an account":
        await accounts.open(stolen, "Ann", "a phone")
    else:
        await accounts.end_all(stolen, "a phone")
    with pytest.raises(Refused, match="bad_token"):
        await become_bot(world.server.journal, sessions, as_it_was, stolen, bot=True)
    assert not (await sessions.known("ann")).bot


async def test_whoever_has_taken_a_seat_can_become_no_bot(world):
    await world.open("tictactoe")
    await world.seated("ABCD", "ann")
    with pytest.raises(Refused, match="before the first game") as refused:
        await make_bot(world, "ann")
    assert refused.value.code == "too_late"


async def test_a_bot_is_marked_at_its_seat_in_the_list_and_among_those_who_are_here(world):
    await make_bot(world, "ann")
    await world.open("tictactoe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    summary = (await world.server.rooms.find("ABCD", None, None)).summary
    assert [seat.bot for seat in summary.seats] == [True, False]
    (meta,) = bob.heard("presence_state")[-1][1]["ann"]["metas"]
    assert meta["bot"] is True


async def test_a_bot_that_is_gone_is_absent_like_anybody(world):
    await make_bot(world, "ann")
    await world.open("tictactoe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    await ann.drop()
    assert world.room().connected == ["bob"]


async def test_the_time_of_a_bot_runs_like_anybodys_and_it_can_lose_by_it(world):
    await make_bot(world, "ann")
    await world.open("tictactoe", clock=ClockSettings("increment", 60.0))
    ann, bob = await world.seated("ABCD", "ann", "bob")
    await world.wait(60 + MAX_LAG)
    result = bob.heard("update")[-1][1]["result"]
    assert (result["outcome"]["lost"], result["verdict"]) == (["ann"], "flagged")


async def test_a_bot_is_still_a_bot_after_a_restart(world):
    await make_bot(world, "ann")
    await world.open("tictactoe")
    await world.seated("ABCD", "ann", "bob")
    async with await world.restart() as again:
        await again.seated("ABCD", "bob")
        assert [seat.remote for seat in again.room().seats] == [True, False]


async def test_bots_are_not_paired_with_people(world):
    await make_bot(world, "ann")
    people = [await world.person(name) for name in ("ann", "bob", "cid")]
    for person in people:
        await person.send(["L", "j", "lobby", "phx_join", {}])
        await person.send(["L", "q", "lobby", "queue", {"game": "tictactoe"}])
    assert [bool(person.heard("matched")) for person in people] == [False, True, True]


async def test_ranked_games_of_bots_count_on_a_ladder_of_their_own(world):
    for player in ("ann", "bob"):
        await make_bot(world, player)
    won, lost = await play_out(world, *await pair(world, "ranked"))
    await world.server.ratings.settled()
    journal = world.server.journal
    assert [standing.player for standing in await leaders(journal, "tictactoe//bots", 10)] == [won, lost]
    assert await leaders(journal, "tictactoe", 10) == []
    assert (await results_of(journal, won, 1))[0].ladder == "tictactoe//bots"


async def test_a_game_of_a_bot_against_a_person_is_kept_and_not_rated(world):
    await make_bot(world, "ann")
    await world.open("tictactoe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    await play_out(world, "ABCD", {"ann": ann, "bob": bob})
    await world.server.ratings.settled()
    journal = world.server.journal
    for player in ("ann", "bob"):
        (result,) = await results_of(journal, player, 5)
        assert not result.ranked
    assert await leaders(journal, "tictactoe", 10) == await leaders(journal, "tictactoe//bots", 10) == []


async def at_lobby(world, player, plays=None):
    """Somebody comes to the lobby, and may say to which games they can be invited."""
    person = await world.person(player)
    await person.send(["L", "j", "lobby", "phx_join", {} if plays is None else {"plays": plays}])
    return person


async def listed(world, game="tictactoe"):
    return [bot.id for bot in await invitable_bots(world.server, game, f"{game}//bots")]


async def test_bots_that_say_so_are_listed_for_whoever_looks_for_one(world):
    for player in ("ann", "bob", "cid", "dan"):
        await make_bot(world, player)
    ann = await at_lobby(world, "ann", ["tictactoe"])
    await at_lobby(world, "bob", [])
    await at_lobby(world, "cid", ["hex"])
    await at_lobby(world, "dan")
    await at_lobby(world, "eve", [])  # a person
    assert await listed(world) == ["ann", "bob"]
    assert await listed(world, "hex") == ["bob", "cid"]
    await at_lobby(world, "dan", ["tictactoe"])
    await ann.drop()
    assert await listed(world) == ["bob", "dan"]


async def test_a_bot_that_comes_again_without_games_is_listed_no_longer(world):
    await make_bot(world, "ann")
    ann = await at_lobby(world, "ann", [])
    assert await listed(world) == ["ann"]
    await ann.send(["M", "k", "lobby", "phx_join", {}])
    assert await listed(world) == []


async def test_the_best_of_their_ladder_come_first(world):
    for player in ("ann", "bob"):
        await make_bot(world, player)
    won, lost = await play_out(world, *await pair(world, "ranked"))
    await world.server.ratings.settled()
    for player in ("ann", "bob"):
        await at_lobby(world, player, [])
    assert await listed(world) == [won, lost]


async def test_what_somebody_says_to_play_is_kept_only_in_part(world):
    await make_bot(world, "ann")
    ann = await at_lobby(world, "ann", ["x" * 1000, *(f"game{number}" for number in range(1000))])
    assert ann.client.plays == tuple(f"game{number}" for number in range(50))

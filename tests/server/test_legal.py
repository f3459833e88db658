"""What is legal, as it is told to whoever asked for it at the join."""

from typing import Any

import pytest

from parlour.game import Game
from parlour.games import GAMES
from parlour.games.tictactoe import TicTacToe
from tests.server.world import World


class Silent(TicTacToe):
    """Noughts and crosses that does not list what is legal."""

    name = "silent"

    def legal_events(self, state, player):
        return None


class Failing(TicTacToe):
    """Noughts and crosses that fails at listing what is legal."""

    name = "failing"

    def legal_events(self, state, player):
        raise RuntimeError("no list")


GAMES_HERE: dict[str, Game[Any]] = {**GAMES, "silent": Silent(), "failing": Failing()}


@pytest.fixture
async def world():
    async with World(GAMES_HERE) as world:
        yield world


def lists(person):
    """What was told to be legal, push by push."""
    return [payload["legal"] for _, payload in person.heard("sync", "update") if "legal" in payload]


async def come(world, game, **payload):
    """Ann asks to be told what is legal, Bob does not."""
    await world.open(game)
    ann, bob = await world.person("ann"), await world.person("bob")
    await ann.join("ABCD", legal=True, **payload)
    await bob.join("ABCD")
    return ann, bob


async def test_whoever_asked_is_told_what_is_legal_whenever_that_changes(world):
    ann, bob = await come(world, "tictactoe")
    assert [len(legal) for legal in lists(ann)] == [0, 9]
    await ann.play("ABCD", lists(ann)[-1][4])
    await ann.push("ABCD", "chat", {"text": "your turn"})
    assert [len(legal) for legal in lists(ann)] == [0, 9, 0]


async def test_whoever_did_not_ask_is_told_nothing_of_it(world):
    ann, bob = await come(world, "tictactoe")
    await ann.play("ABCD", {"type": "mark", "cell": 4})
    assert lists(bob) == []


async def test_two_windows_of_one_player_are_told_what_each_asked_for(world):
    ann, bob = await come(world, "tictactoe")
    other = await world.person("ann")
    await other.join("ABCD")
    await ann.play("ABCD", {"type": "mark", "cell": 4})
    assert lists(ann)
    assert lists(other) == []


async def test_whoever_watches_is_told_none_whatever_they_asked(world):
    await come(world, "tictactoe")
    zoe = await world.person("zoe")
    await zoe.join("ABCD", legal=True, spectate=True)
    await world.quiet()
    assert lists(zoe) == []


async def test_whoever_gives_the_seat_up_is_told_none_any_more(world):
    ann, bob = await come(world, "tictactoe")
    await ann.push("ABCD", "leave", {})
    assert "legal" not in ann.heard("sync")[-1][1]


async def test_a_rematch_tells_what_is_legal_with_the_new_board(world):
    ann, bob = await come(world, "tictactoe")
    for person, cell in ((ann, 0), (bob, 3), (ann, 1), (bob, 4), (ann, 2)):
        await person.play("ABCD", {"type": "mark", "cell": cell})
    before = len(ann.heard("sync"))
    for person in (ann, bob):
        await person.push("ABCD", "rematch", {})
    ((_, sync),) = ann.heard("sync")[before:]
    assert "legal" in sync


async def test_it_comes_with_a_scene_as_well(world):
    ann, bob = await come(world, "tictactoe", format="scene")
    assert [len(legal) for legal in lists(ann)] == [0, 9]


@pytest.mark.parametrize("game", ["silent", "failing"])
async def test_where_a_game_lists_nothing_it_says_so_and_is_played_all_the_same(world, game):
    ann, bob = await come(world, game)
    assert lists(ann) == [None]
    assert (await ann.play("ABCD", {"type": "mark", "cell": 4}))[0] == "ok"


async def test_it_is_told_again_to_whoever_comes_back(world):
    ann, bob = await come(world, "tictactoe")
    await ann.drop()
    again = await world.person("ann")
    await again.join("ABCD", legal=True, since=4)
    assert [len(legal) for legal in lists(again)] == [9]


async def test_a_player_is_told_only_their_own_of_a_game_with_secrets(world):
    await world.open("stratego", config={"setup": "random"})
    people = [await world.person(player) for player in ("ann", "bob")]
    for person in people:
        await person.join("ABCD", legal=True)
    room = world.room()
    for person in people:
        expected = GAMES["stratego"].legal_events(room.state, person.player)
        assert len(lists(person)[-1]) == len(list(expected or ()))

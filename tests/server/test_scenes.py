"""Scenes for browsers: told when somebody looks, once per viewer, and then only what changed."""

from typing import Any

import msgspec
import pytest

from parlour.game import Game
from parlour.games import GAMES
from parlour.games.tictactoe import TicTacToe
from parlour.scene import Patch, Scene, apply
from tests.scenes import same
from tests.server.world import Person, World


class Counted(TicTacToe):
    """Noughts and crosses that counts how often it is drawn."""

    drawn = 0
    viewed = 0

    def scene(self, state, viewer):
        self.drawn += 1
        return super().scene(state, viewer)

    def view(self, state, viewer):
        self.viewed += 1
        return super().view(state, viewer)


@pytest.fixture
def game():
    return Counted()


@pytest.fixture
async def world(game):
    async with World({**GAMES, "tictactoe": game}) as world:
        yield world


async def join(world: World, player: str, **how: object) -> Person:
    person = await world.person(player)
    status, response = await person.join("ABCD", **how)
    assert status == "ok", response
    return person


def shown(person: Person) -> Scene:
    """The scene as this person's browser has it, from all that was told."""
    scene = Scene()
    for name, payload in person.heard("sync", "update"):
        if name == "sync":
            scene = msgspec.convert(payload["scene"], Scene)
        elif "patch" in payload:
            scene = apply(msgspec.convert(payload["patch"], Patch), scene)
    return scene


async def test_a_browser_gets_the_whole_scene_and_then_what_changed(world, game):
    await world.open("tictactoe")
    ann, bob = await join(world, "ann", format="scene"), await join(world, "bob")
    (first,) = ann.heard("sync")
    assert first[1]["scene"]["status"] == "Waiting for another player"
    ann.forget()
    await ann.play("ABCD", {"type": "mark", "cell": 4})
    ((_, update),) = ann.heard("update")
    assert sorted(update) == ["patch", "seq"]
    assert [piece["id"] for piece in update["patch"]["pieces"]] == ["m4"]
    assert len(update["patch"]["spots"]) == 9  # no cell can be clicked any more
    ((_, update),) = [heard for heard in bob.heard("update") if heard[1]["seq"] == 5]
    assert sorted(update) == ["seq", "view"]


async def test_every_viewers_browser_shows_what_the_game_draws_for_them(world, game):
    await world.open("tictactoe")
    people = {name: await join(world, name, format="scene") for name in ("ann", "bob")}
    people["zoe"] = await join(world, "zoe", format="scene", spectate=True)
    for player, cell in (("ann", 4), ("bob", 0), ("ann", 2), ("bob", 5), ("ann", 6)):
        await people[player].play("ABCD", {"type": "mark", "cell": cell})
        for name, person in people.items():
            viewer = None if name == "zoe" else name
            assert same(shown(person), TicTacToe().scene(world.room().state, viewer))


async def test_nothing_is_drawn_where_nobody_looks(world, game):
    await world.open("tictactoe")
    ann, _ = await world.seated("ABCD", "ann", "bob")
    await ann.play("ABCD", {"type": "mark", "cell": 4})
    assert game.drawn == 0


async def test_a_scene_is_drawn_once_for_all_who_share_it(world, game):
    await world.open("tictactoe")
    ann = await join(world, "ann", format="scene")
    await join(world, "bob", format="scene")
    for n in range(5):
        await join(world, f"zoe{n}", format="scene", spectate=True)
    game.drawn = game.viewed = 0
    await ann.play("ABCD", {"type": "mark", "cell": 4})
    assert (game.drawn, game.viewed) == (3, 0)


async def test_who_comes_back_gets_what_was_missed_and_the_whole_scene(world, game):
    await world.open("tictactoe")
    ann, bob = await join(world, "ann", format="scene"), await join(world, "bob", format="scene")
    await bob.drop()
    await ann.play("ABCD", {"type": "mark", "cell": 4})
    bob = await world.person("bob")
    await bob.join("ABCD", format="scene", since=4)
    assert [name for name, _ in bob.heard("game_event", "sync", "update")] == ["game_event", "sync"]
    assert same(shown(bob), TicTacToe().scene(world.room().state, "bob"))


async def test_who_gives_the_seat_up_sees_the_whole_with_other_eyes_and_no_patch_for_them(world, game):
    await world.open("tictactoe")
    ann, bob = await join(world, "ann", format="scene"), await join(world, "bob", format="scene")
    zoe = await join(world, "zoe", format="scene", spectate=True)
    bob.forget()
    await bob.push("ABCD", "leave", {})
    assert [(name, "patch" in payload) for name, payload in bob.heard("update", "sync")] == [
        ("update", False),
        ("sync", False),
    ]
    await ann.push("ABCD", "chat", {"text": "oh"})
    assert same(shown(bob), shown(zoe))


async def test_a_scene_comes_with_the_time_on_the_rooms_clock(world, game):
    await world.open("minesweeper")
    ann = await join(world, "ann", format="scene")
    await ann.play("ABCD", {"type": "open", "x": 1, "y": 1})
    await world.wait(20)
    zoe = await join(world, "zoe", format="scene", spectate=True)
    ((_, sync),) = zoe.heard("sync")
    (clock,) = sync["scene"]["clocks"]
    assert (clock["seconds"], clock["at"], sync["now"]) == (0, 0.0, 20.0)


async def test_a_restart_brings_the_whole_scene_and_no_patch(world, game):
    await world.open("minesweeper")
    ann = await join(world, "ann", format="scene")
    await ann.play("ABCD", {"type": "open", "x": 1, "y": 1})
    ann.forget()
    await ann.play("ABCD", {"type": "restart"})
    assert [(name, sorted(payload)) for name, payload in ann.heard("sync", "update")] == [
        ("sync", ["scene", "seq"]),
        ("update", ["seq"]),
    ]


class Undrawable(TicTacToe):
    """A game whose scene fails when something was played."""

    def scene(self, state, viewer):
        return "a board" if state.played else super().scene(state, viewer)


async def test_a_scene_that_fails_costs_the_command_and_nothing_is_told_by_half():
    games: dict[str, Game[Any]] = {**GAMES, "tictactoe": Undrawable()}
    async with World(games) as world:
        await world.open("tictactoe")
        ann, bob = await join(world, "ann", format="scene"), await join(world, "bob", format="scene")
        bob.forget()
        status, response = await ann.play("ABCD", {"type": "mark", "cell": 4})
        assert (status, response["code"]) == ("error", "game_error")
        assert bob.frames == []


async def test_one_click_on_a_large_field_sends_only_what_changed(world, game):
    await world.open("minesweeper", config={"preset": "advanced"})
    ann = await join(world, "ann", format="scene")
    ann.forget()
    await ann.play("ABCD", {"type": "flag", "x": 30, "y": 16})
    ((_, update),) = ann.heard("update")
    assert update["patch"] == {
        "spots": [{"id": "c479", "label": "column 30, row 16: flag", "click": None}],
        "pieces": [{"id": "p479", "look": "flag", "spot": "c479"}],
        "set": {"sides": [{"text": "1 of 99 flags"}]},
    }

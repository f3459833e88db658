"""A game file that is saved while it is played: rooms go on, close, or stay as they were."""

import os
from typing import Any

import pytest

from parlour.game import Game
from parlour.games import GAMES
from parlour.server.game_loader import load_games
from parlour.server.hot_reload import Reloader
from tests.server.world import World

COUNTER = """
from parlour import Event, Game, State, Timeouts, Update

class Count(State, frozen=True):
    number: int = 0

class Up(Event, frozen=True):
    pass

class Counter(Game[Count]):
    name = "counter"
    display_name = "Counter"
    seats = range(1, 2)
    timeouts = Timeouts(game=None, away=None, nobody=None)
    State = Count
    Event = Up

    def init(self, config, moment):
        return Count()

    def handle_event(self, state, sender, event, moment):
        return Update(Count(players=state.players, number=state.number + 1))

    def view(self, state, viewer):
        return {"number": state.number}
"""
BY_TEN = COUNTER.replace("state.number + 1", "state.number + 10").replace('{"number":', '{"so far":')


class TicketIndex:
    """A server that watches a file, and who writes it."""

    def __init__(self, folder):
        self.file = folder / "counter.py"
        self.saves = 0
        self.said: list[str] = []
        self.games: dict[str, Game[Any]] = {}

    async def open(self):
        self.save(COUNTER)
        self.games = {**GAMES, **{game.name: game for game in load_games(self.file)}}
        self.world = await World(self.games, reload=True).__aenter__()
        self.reloader = Reloader(self.world.server, self.games, [self.file], self.said.append)
        await self.world.open("counter")
        (self.ann,) = await self.world.seated("ABCD", "ann")

    def save(self, text):
        self.file.write_text(text)
        self.saves += 1
        os.utime(self.file, ns=(self.saves, self.saves))  # a save is a save, however soon after the last

    async def reload(self, text):
        self.save(text)
        self.reloader.look()
        await self.world.quiet()

    async def count(self):
        return await self.ann.play("ABCD", {"type": "up"})


@pytest.fixture
async def index(tmp_path):
    index = TicketIndex(tmp_path)
    await index.open()
    yield index
    await index.world.server.stop()


async def test_a_saved_file_is_played_on_by_its_new_rules_from_where_the_room_was(index):
    await index.count()
    await index.reload(BY_TEN)
    await index.count()
    assert index.world.room().state.number == 11
    assert index.said == [f"{index.file} is loaded again."]


async def test_everybody_sees_the_room_as_the_new_rules_show_it_without_a_step(index):
    await index.count()
    index.ann.forget()
    await index.reload(BY_TEN)
    assert index.ann.heard("sync", "update") == [("sync", {"seq": 3, "view": {"so far": 1}, "reset": True})]


async def test_nothing_older_is_played_again_after_a_crash(index):
    await index.count()
    await index.reload(BY_TEN)
    await index.count()
    index.world = await index.world.restart()
    ann = await index.world.person("ann")
    status, _ = await ann.join("ABCD")
    assert status == "ok"
    assert index.world.room().state.number == 11


async def test_a_room_whose_state_the_new_file_cannot_read_is_closed(index):
    await index.count()
    index.ann.forget()
    await index.reload(COUNTER.replace("number: int = 0", "number: str = ''"))
    assert index.ann.heard("shutdown") == [("shutdown", {"reason": "rules_changed"})]
    room = await index.world.server.rooms.look("ABCD")
    assert room.ended == "rules_changed"
    await index.world.open("counter", "NEXT")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def broken(:\n", "line 1: invalid syntax"),
        ("import no_such_module\n", "needs the package 'no_such_module'"),
        (COUNTER + "\nprint(1 / 0)\n", "ZeroDivisionError: division by zero"),
        (
            COUNTER.replace("def view(self, state, viewer)", "def view(self, state)"),
            "expected view(state, viewer), got view(state)",
        ),
        (COUNTER.replace("def init", "def begin"), "expected an init callback"),
        ("", "expected a class that derives from parlour.Game"),
        (
            COUNTER + COUNTER.replace("class Counter", "class Other"),
            "counter.py, line 36: Other: expected a name of its own for each game, but Counter is called",
        ),
    ],
)
async def test_a_file_that_does_not_load_leaves_the_old_rules_running_and_says_why(index, text, why):
    await index.count()
    await index.reload(text)
    assert (await index.count())[0] == "ok"
    assert index.world.room().state.number == 2
    assert len(index.said) == 1
    assert why in index.said[0]
    await index.reload(BY_TEN)
    await index.count()
    assert index.world.room().state.number == 12


async def test_the_rooms_of_a_file_that_does_not_load_are_told_why_until_it_does(index):
    index.ann.forget()
    await index.reload("def broken(:\n")
    (told,) = index.ann.heard("sync")
    assert told[1] == {
        "seq": 2, "view": {"number": 0}, "reset": True, "fault": "counter.py, line 1: invalid syntax"
    }  # fmt: skip
    index.ann.forget()
    await index.reload(BY_TEN)
    assert "fault" not in index.ann.heard("sync")[-1][1]


async def test_whoever_comes_later_is_told_why_the_file_does_not_load(index):
    await index.reload("def broken(:\n")
    bob = await index.world.person("bob")
    await bob.join("ABCD", spectate=True)
    assert bob.heard("sync")[-1][1]["fault"] == "counter.py, line 1: invalid syntax"


async def test_the_rooms_of_a_game_that_is_no_longer_in_its_file_are_told_that_it_loads(index):
    await index.reload("def broken(:\n")
    index.ann.forget()
    await index.reload(COUNTER.replace('"counter"', '"tally"'))
    assert index.ann.heard("sync") == [("sync", {"seq": 2, "view": {"number": 0}, "reset": True})]


async def test_a_file_that_was_not_saved_is_not_loaded(index):
    before = index.games["counter"]
    index.reloader.look()
    assert index.games["counter"] is before


async def test_a_file_that_is_gone_for_a_moment_changes_nothing(index):
    index.file.unlink()
    index.reloader.look()
    assert index.said == []
    await index.reload(BY_TEN)
    assert len(index.said) == 1


async def test_rooms_of_other_games_hear_nothing_of_it(index):
    await index.world.open("tictactoe", "OTHER")
    (bob,) = await index.world.seated("OTHER", "bob")
    bob.forget()
    await index.reload("def broken(:\n")
    await index.reload(BY_TEN)
    assert bob.frames == []


async def test_new_rules_that_cannot_show_the_room_can_be_mended(index):
    await index.count()
    await index.reload(BY_TEN.replace('{"so far":', "{state.nothing:"))
    assert (await index.count())[1]["code"] == "game_error"
    await index.reload(BY_TEN)
    assert (await index.count())[0] == "ok"
    assert index.world.room().state.number == 11


async def test_a_room_at_rest_wakes_under_the_new_rules(index):
    await index.count()
    await index.ann.drop()
    await index.world.wait(70)
    assert index.world.server.rooms.peek("ABCD") is None
    await index.reload(BY_TEN)
    (index.ann,) = await index.world.seated("ABCD", "ann")
    await index.count()
    assert index.world.room().state.number == 11


DRAWN = (
    COUNTER.rstrip()
    + """

    def scene(self, state, viewer):
        from parlour.scene import Piece, Scene, Spot
        spots = (Spot("a", 0, 0, label="a"),)
        return Scene(1, 1, spots, (Piece("p", LOOK, SPOT),))
"""
)
GOOD = DRAWN.replace("LOOK", '"disc"').replace("SPOT", '"a"')


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        (
            DRAWN.replace("LOOK", '"disc" if state.number < 1 else "pawn"').replace("SPOT", '"a"'),
            "scene: counter.py, line 30: ValueError: piece 'p': expected a look of ",
        ),
        (
            DRAWN.replace("LOOK", '"disc"').replace("SPOT", '"a" if state.number < 1 else "b"'),
            "scene: piece 'p' stands on spot 'b', which is not there; there is 'a'",
        ),
        (
            GOOD.replace("return Scene(", "spots *= 100_000 if state.number else 1\n        return Scene("),
            "scene: counter.py, line 31: ValueError: the scene: expected at most 10000 spots, pieces, ",
        ),
        (
            DRAWN.replace("LOOK", '"disc" if state.number < 1 else "fox.svg"').replace("SPOT", '"a"'),
            "scene: piece 'p': expected a picture of this game's own, of which there are none",
        ),
    ],
    ids=["it raises", "it is wrong", "it is too large", "it looks like a piece of another game"],
)
async def test_a_scene_that_cannot_be_drawn_is_told_in_the_room_until_the_file_is_mended(index, wrong, fault):
    await index.reload(wrong)
    eve = await index.world.person("eve")
    await eve.join("ABCD", format="scene", spectate=True)
    eve.forget()
    status, told = await index.count()
    assert (status, told["code"]) == ("error", "game_error")
    assert told["message"] == "Counter could not draw this; nothing changed"
    await index.world.quiet()
    assert eve.heard("sync")[-1][1]["fault"].startswith(fault)
    await index.reload(GOOD)
    assert "fault" not in eve.heard("sync")[-1][1]
    assert (await index.count())[0] == "ok"


FAILS = COUNTER.replace("number=state.number + 1", "number=state.numbr + 1")
FAILING = next(1 + at for at, line in enumerate(FAILS.splitlines()) if "numbr" in line)


async def test_what_a_callback_raises_is_told_in_the_room_and_to_the_author_with_its_line_once(index):
    await index.reload(FAILS)
    index.said.clear()
    index.ann.forget()
    for _ in range(2):
        assert (await index.count())[1]["code"] == "game_error"
    fault = f"counter.py, line {FAILING}: AttributeError: 'Count' object has no attribute 'numbr'"
    assert [told["fault"] for _, told in index.ann.heard("sync")] == [fault]
    assert index.said == [f"{index.file.parent}/{fault}"]
    index.ann.forget()
    await index.reload(BY_TEN)
    assert "fault" not in index.ann.heard("sync")[-1][1]
    assert (await index.count())[0] == "ok"


async def test_a_view_that_raises_is_told_in_the_room(index):
    await index.count()
    index.ann.forget()
    await index.reload(COUNTER.replace('{"number": state.number}', "1 / 0"))
    assert "ZeroDivisionError: division by zero" in index.ann.heard("sync")[-1][1]["fault"]


async def test_a_callback_that_returns_a_state_is_told_what_is_expected(index):
    await index.reload(
        COUNTER.replace(
            "return Update(Count(players=state.players, number=state.number + 1))", "return state"
        )
    )
    await index.count()
    assert index.said[-1].endswith(
        "counter.py: TypeError: counter: expected a callback to return an Update, got Count"
    )


async def test_what_players_write_cannot_reach_the_terminal_by_an_exception(index):
    await index.reload(COUNTER.replace("return Update(", "raise ValueError('\\x1b[2J') or Update("))
    await index.count()
    assert index.said[-1].endswith("ValueError: \\x1b[2J")
    assert index.said[-1].isprintable()


async def test_a_saved_file_cannot_take_the_name_of_a_game_of_another_file(index):
    other = index.file.with_name("tally.py")
    other.write_text(COUNTER.replace('"counter"', '"tally"'))
    index.games["tally"] = load_games(other)[0]
    index.reloader = Reloader(index.world.server, index.games, [index.file, other], index.said.append)
    await index.reload(COUNTER.replace('"counter"', '"tally"'))
    why = f"expected a name of its own for each game, but {other} has a game 'tally', too"
    assert index.said == [f"{index.file}, line 11: {why}. The old rules go on."]
    assert (await index.count())[0] == "ok"


async def test_a_file_that_prints_is_loaded_and_its_author_is_told(index):
    await index.reload(BY_TEN + "print('hello')\n")
    assert index.said[0].endswith("prints while it is loaded: 'hello'")
    assert index.said[1:] == [f"{index.file} is loaded again."]


async def test_a_file_that_changes_while_it_is_loaded_is_loaded_once_more(index):
    (index.file.parent / "next.py").write_text(BY_TEN)
    await index.reload(
        "from pathlib import Path\n"
        f"Path({str(index.file)!r}).write_bytes(Path({str(index.file.parent / 'next.py')!r}).read_bytes())\n"
        f"{COUNTER}"
    )
    await index.count()
    assert index.world.room().state.number == 1
    index.reloader.look()
    await index.count()
    assert index.world.room().state.number == 11


async def test_a_file_that_changes_while_it_is_written_is_loaded_when_it_is_whole(index):
    await index.reload(BY_TEN[: len(BY_TEN) // 2])
    assert "The old rules go on" in index.said[-1]
    await index.reload(BY_TEN)
    assert index.said[-1] == f"{index.file} is loaded again."

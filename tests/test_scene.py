"""Scenes: what a browser draws, and how little it is told when something changes."""

import json
import re
from collections.abc import Callable
from functools import cache
from itertools import chain
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.game import Game
from parlour.games import GAMES
from parlour.scene import (
    Clock,
    Control,
    Fill,
    Look,
    Mark,
    Narrow,
    Option,
    Patch,
    Piece,
    Scene,
    Shape,
    Side,
    Spot,
    apply,
    difference,
    grid,
    path,
    plain,
    polygon,
)
from parlour.scene.faults import GLYPHS
from parlour.testing import chance_of, full_table, play_on, scene_faults, viewers
from tests.boards.auction import Auction
from tests.boards.dice import Dice
from tests.boards.hexes import Hexes
from tests.boards.morris import Morris
from tests.boards.routes import Routes
from tests.boards.tricks import Tricks
from tests.scenes import FOLDER, same, story
from tests.scenes.played import Bet, Gamble, Heap, Nim, Take
from tests.scenes.stories import STORIES


def through_the_wire(patch: Patch) -> Patch:
    return msgspec.json.decode(msgspec.json.encode(patch), type=Patch)


BOARDS = ("tricks", "hexes", "morris", "auction", "routes", "dice")

# The stories that the browser's tests read.


@pytest.mark.parametrize("name", STORIES)
def test_the_kept_scenes_are_what_the_code_makes(name):
    kept = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    assert kept == story(STORIES[name]()), "write them anew with scripts/scenes"


@pytest.mark.parametrize("name", STORIES)
def test_the_patches_of_a_story_lead_from_its_first_scene_to_its_last(name):
    moments = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    scene = msgspec.convert(moments[0]["scene"], Scene)
    for moment in moments[1:]:
        scene = apply(msgspec.convert(moment["patch"], Patch), scene)
    assert same(scene, msgspec.convert(moments[-1]["scene"], Scene))


@pytest.mark.parametrize("name", STORIES)
def test_every_scene_of_a_story_can_be_drawn(name):
    for _, scene in STORIES[name]():
        assert not list(scene_faults(scene))


WORDS = {"shape": Shape, "fill": Fill, "look": Look, "mark": Mark}


@pytest.mark.parametrize("kind", [Spot, Piece, Control, Option, Side, Clock, Scene])
def test_the_vocabulary_has_no_field_that_no_story_uses(kind):
    used = set().union(*(json.loads(msgspec.json.encode(thing)) for thing in things() if type(thing) is kind))
    assert used == set(kind.__struct_fields__) - {"page"}  # which only the server sets


@pytest.mark.parametrize("field", WORDS)
def test_the_vocabulary_has_no_word_that_no_story_uses(field):
    used = {getattr(thing, field) for thing in things() if field in thing.__struct_fields__}
    files = {word for word in used if word and "." in word}  # pictures of a game's own
    assert used - files - {None} == set(get_args(WORDS[field]))


@cache
def things() -> tuple[msgspec.Struct, ...]:
    """Everything in all stories."""
    scenes = [scene for make in STORIES.values() for _, scene in make()]
    options = [option for scene in scenes for control in scene.controls for option in control.options]
    parts = [(*scene.spots, *scene.pieces, *scene.controls, *scene.sides, *scene.clocks) for scene in scenes]
    return (*scenes, *options, *chain.from_iterable(parts))


# Differences.


def test_a_piece_that_moves_is_told_by_its_id_and_its_spot_alone():
    before = Scene(pieces=(Piece("w1", "disc", "p6", owner=0), Piece("w2", "disc", "p8", owner=0)))
    after = Scene(pieces=(Piece("w1", "disc", "p2", owner=0), Piece("w2", "disc", "p8", owner=0)))
    assert difference(before, after) == Patch(pieces=({"id": "w1", "spot": "p2"},))


def test_a_field_that_is_as_by_default_again_is_told():
    before = Scene(3, 3, grid(3, 3, click={4: {"type": "mark"}}))
    after = Scene(3, 3, grid(3, 3))
    assert difference(before, after) == Patch(spots=({"id": "c4", "click": None},))


def test_where_nothing_changed_there_is_no_patch():
    assert difference(Scene(3, 3, grid(3, 3)), Scene(3, 3, grid(3, 3))) is None


def test_what_comes_is_told_whole_and_what_goes_by_its_id():
    before = Scene(pieces=(Piece("p1", "flag", "c0"),))
    after = Scene(pieces=(Piece("p2", "mine", "c1"),))
    assert difference(before, after) == Patch(
        gone=("p1",), pieces=({"id": "p2", "look": "mine", "spot": "c1"},)
    )


def test_the_order_of_pieces_means_nothing_and_costs_nothing():
    one, two = Piece("p1", "flag", "c0"), Piece("p2", "flag", "c1")
    assert difference(Scene(pieces=(one, two)), Scene(pieces=(two, one))) is None


def test_controls_come_in_the_order_of_the_scene():
    roll, double = Control("roll", "Roll", 1), Control("double", "Double", 2)
    before, after = Scene(controls=(double,)), Scene(controls=(roll, double))
    patch = difference(before, after)
    assert patch is not None
    assert apply(patch, before).controls == (roll, double)


def test_of_a_log_only_the_new_lines_are_told():
    assert difference(Scene(log=("e4",)), Scene(log=("e4", "e5"))) == Patch(log=("e5",))


def test_a_log_that_begins_anew_takes_the_place_of_the_old_one():
    before, after = Scene(log=("e4", "e5")), Scene(log=("d4",))
    patch = difference(before, after)
    assert patch == Patch(log=("d4",), set={"log": ()})
    assert apply(patch, before) == after


names = st.sampled_from("abcdef")
scenes = st.builds(
    Scene,
    width=st.integers(0, 3),
    spots=st.lists(
        st.builds(Spot, names, st.integers(0, 2), st.just(0), text=names), unique_by=lambda spot: spot.id
    ).map(tuple),
    pieces=st.lists(
        st.builds(
            Piece, names.map(str.upper), st.sampled_from(["x", "o"]), names, owner=st.sampled_from([None, 0])
        ),
        unique_by=lambda piece: piece.id,
    ).map(tuple),
    controls=st.lists(
        st.builds(Control, names.map("-".__add__), names, event=st.sampled_from([None, {"a": 1}])),
        unique_by=lambda control: control.id,
    ).map(tuple),
    status=names,
    turn=st.lists(st.integers(0, 1), max_size=1).map(tuple),
    log=st.lists(names, max_size=3).map(tuple),
)


@given(scenes, scenes)
def test_a_patch_leads_from_any_scene_to_any_other(before, after):
    patch = difference(before, after)
    if patch is None:
        assert same(before, after)
    else:
        assert same(apply(through_the_wire(patch), before), after)


# A game that draws no scene.


def test_a_game_without_a_scene_shows_its_view_and_a_button_for_each_legal_event():
    scene = Nim().scene(Heap(left=2), "ann")
    assert scene.text == "left: 2\nheap:\n  | | \n  = = "
    assert [(control.id, control.text) for control in scene.controls] == [
        ("take-1", "Take 1"),
        ("take-2", "Take 2"),
    ]


def test_who_watches_a_game_without_a_scene_can_press_nothing():
    assert Nim().scene(Heap(), None).controls == ()


def test_a_game_that_does_not_say_what_is_legal_has_a_form_for_each_kind_of_event():
    take, bet = Gamble().scene(Heap(), "ann").controls
    assert (take.text, take.event) == ("Take", {"type": "take"})
    assert bet.fields == {
        "type": "object",
        "properties": {
            "sum": {"type": "integer", "minimum": 1, "maximum": 100, "description": "in matches"},
            "loud": {"type": "boolean", "default": False},
        },
        "required": ["sum"],
    }


def test_too_many_legal_events_become_a_form():
    class Wide(Nim):
        def legal_events(self, state, player):
            return [Bet(sum) for sum in range(1, 100)]

    (bet,) = Wide().scene(Heap(), "ann").controls
    assert bet.fields is not None


@pytest.mark.parametrize("size", [-1, -0.001, float("nan"), float("inf"), -float("inf")])
def test_a_size_that_no_browser_can_draw_is_refused_with_a_sentence(size):
    for make in (
        lambda: Spot("c0", 0, 0, w=size),
        lambda: Spot("c0", 0, 0, h=size),
        lambda: Scene(size, 3),
        lambda: Scene(3, size),
    ):
        with pytest.raises(ValueError, match=r"(spot 'c0'|the scene): expected \w+ to be a number that is"):
            make()


@pytest.mark.parametrize("place", [float("nan"), float("inf"), -float("inf")])
def test_a_spot_is_somewhere(place):
    for x, y in ((place, 0), (0, place)):
        with pytest.raises(ValueError, match=r"spot 'c0': expected [xy] to be a number, got"):
            Spot("c0", x, y)
    assert Spot("c0", -1.5, -2).x == -1.5


SPOT = {"id": "c0", "x": 0, "y": 0}
WRONG_WORDS: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (Spot, SPOT | {"shape": "star"}, "spot 'c0': expected a shape of down, hand, hex, .*; got 'star'"),
    (Spot, SPOT | {"fill": "pink"}, "spot 'c0': expected a fill of dark, felt, .*; got 'pink'"),
    (Spot, SPOT | {"mark": "odd"}, "spot 'c0': expected a mark of last, win, wrong; got 'odd'"),
    (Spot, SPOT | {"tone": 9}, "spot 'c0': expected a tone from 0 to 8, got 9"),
    (Spot, SPOT | {"owner": -1}, "spot 'c0': expected an owner that is a seat, 0 or more, got -1"),
    (
        Piece,
        {"id": "p", "look": "pawn", "spot": "c0"},
        "piece 'p': expected a look of back, card, .*; got 'pawn'",
    ),
    (
        Piece,
        {"id": "p", "look": "card", "spot": "c0", "tone": -1},
        "piece 'p': expected a tone from 0 to 8, got -1",
    ),
]


@pytest.mark.parametrize(("kind", "fields", "said"), WRONG_WORDS)
def test_a_word_that_no_browser_knows_is_an_error_that_says_which_there_are(kind, fields, said):
    with pytest.raises(ValueError, match=f"^{said}$"):
        kind(**fields)


def test_a_scene_of_more_things_than_a_browser_can_draw_is_an_error():
    spot = Spot("c0", 0, 0)
    with pytest.raises(
        ValueError, match="expected at most 10000 spots, pieces, controls and lines, got 100000"
    ):
        Scene(1, 1, (spot,) * 100_000)


@pytest.mark.parametrize(
    ("scene", "said"),
    [
        (
            Scene(1, 1, grid(1, 1), (Piece("p", "disc", "c1"),)),
            "spot 'c1', which is not there; there is 'c0'",
        ),
        (
            Scene(1, 1, grid(1, 1), (Piece("p", "card", "c0", glyph="cups"),)),
            "expected a glyph of bomb, .*'cups'",
        ),
        (
            Scene(1, 1, grid(1, 1), narrow=Narrow(1, 1, {"c5": (0, 0, 1, 1)})),
            "narrow has a place for spot 'c5'",
        ),
        (
            Scene(1, 1, grid(1, 1), narrow=Narrow(1, 1, {"c0": (1, 0, 1, 1)})),
            "narrow: spot 'c0' leaves the board",
        ),
    ],
)
def test_a_scene_that_does_not_fit_together_is_told_by_name_and_place(scene, said):
    (fault,) = scene_faults(scene)
    assert re.search(said, fault)


def test_the_glyphs_that_are_known_are_those_that_are_drawn():
    drawn = (FOLDER.parents[1] / "web" / "src" / "board" / "glyphs.ts").read_text()
    table = re.search(r"GLYPHS.*? = \{(.*?)\n\};", drawn, re.DOTALL)
    assert table is not None
    assert set(re.findall(r"^  (\w+): ", table[1], re.MULTILINE)) == GLYPHS


class Open(Nim):
    """Nim that hides nothing and says whose turn it is by what is legal."""

    view = Game.view

    def legal_events(self, state: Heap, player: str) -> list[Take]:
        return [Take(1)] if state.seat(player) == 1 else []


def test_a_game_without_a_scene_says_whose_turn_it_is_and_calls_people_by_their_names():
    heap = Heap(players=("ann-7", "bob-8"))
    for viewer, status in (("ann-7", "Waiting for {1}"), ("bob-8", "Your turn"), (None, "Waiting for {1}")):
        scene = Open().scene(heap, viewer)
        assert (scene.status, scene.turn) == (status, (1,))
        assert scene.text == "left: 5\nplayers:\n  {0}\n  {1}"


def test_a_text_of_several_lines_is_drawn_below_its_name():
    assert plain({"board": "X.O\n.X."}, (), (), "").text == "board:\n  X.O\n  .X."


def test_a_polygon_has_corners_and_a_path_leads_somewhere():
    with pytest.raises(ValueError, match="spot 'p': expected 3 points or more for a polygon, got 2"):
        polygon("p", ((0, 0), (1, 1)))
    with pytest.raises(ValueError, match="spot 'p': expected 2 points or more for a path, got 1"):
        path("p", ((0, 0),))
    with pytest.raises(ValueError, match="spot 'p': expected points for a polygon or a path only"):
        Spot("p", 0, 0, points=((0, 0), (1, 1)))
    with pytest.raises(ValueError, match="spot 'p': expected y to be a number, got nan"):
        path("p", ((0, 0), (1, float("nan"))))


@pytest.mark.parametrize("name", BOARDS)
def test_a_board_takes_at_most_forty_lines_of_python(name):
    _, _, drawn = (FOLDER.parent / "boards" / f"{name}.py").read_text().partition("    def scene(")
    assert 0 < len([line for line in drawn.splitlines() if line.strip()]) <= 40


TABLES: dict[str, tuple[Game[Any], Any]] = {
    "tricks": (Tricks(), None),
    "hexes": (Hexes(), None),
    "morris": (Morris(), None),
    "auction": (Auction(), None),
    "routes": (Routes(), None),
    "dice": (Dice(), None),
    "hex": (GAMES["hex"], None),
    "hearts": (GAMES["hearts"], {"points": 0}),
    "goofspiel": (GAMES["goofspiel"], {"players": 5}),
}
"""The boards of `BOARDS`, and the games that came of them."""


@pytest.mark.parametrize("name", TABLES)
def test_each_move_of_a_whole_game_is_told_to_everybody_in_two_kilobytes(name):
    table, chance, told = full_table(*TABLES[name], luck=1), chance_of(1), 0
    everybody = viewers(table)
    before = {viewer: table.scene(viewer) for viewer in everybody}
    while table.outcome is None and len(table.steps) < MANY:
        play_on(table, chance)
        for viewer in everybody:
            after = table.scene(viewer)
            size = len(msgspec.json.encode(difference(before[viewer], after)))
            assert size <= 2048, f"step {len(table.steps)} as {viewer or 'those who watch'} see it"
            before[viewer], told = after, told + 1
    assert told > 10 * len(everybody)


MANY = 150
"""So many steps of a game are looked at."""


@pytest.mark.parametrize("time", [float("nan"), float("inf"), -float("inf")])
def test_a_clock_that_no_browser_can_show_is_refused_with_a_sentence(time):
    for make in (lambda: Clock(time), lambda: Clock(1, at=time)):
        with pytest.raises(ValueError, match=r"a clock: expected \w+ to be a number, got"):
            make()
    assert Clock(-1.5, at=2).seconds == -1.5

"""What every game keeps to; a game is tested by being in the registry."""

import json
from contextlib import suppress
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlour.errors import Refused
from parlour.game import Game
from parlour.games import GAMES
from parlour.scene import Scene
from parlour.testing import (
    GameContract,
    Table,
    Wanderer,
    chance_of,
    check_patch,
    check_replay,
    check_scenes,
    full_table,
    play_to_end,
    viewers,
)
from parlour.wire import Act
from tests.samples import SMALL
from tests.scenes.played import Nim

Setup = tuple[Game[Any], Any]
SETUPS: dict[str, Setup] = {name: (game, None) for name, game in GAMES.items()}
SETUPS |= {f"{name}-small": (GAMES[name], config) for name, config in SMALL.items()}
"""Every game as it comes, and those that have long games also with short ones."""


class TestEveryGame(GameContract):
    """The suite that authors inherit, for each game that comes with Parlour."""

    seeds = range(6)
    slow_bots = frozenset({"hard"})

    @pytest.fixture(params=list(SETUPS), autouse=True)
    def _game(self, request: pytest.FixtureRequest) -> None:
        self.game, self.config = SETUPS[request.param]

    @pytest.mark.long
    @pytest.mark.parametrize("hundred", range(1, 6))
    def test_a_lot_of_random_play_goes_well_too(self, hundred):
        self.seeds = range(hundred * 100, hundred * 100 + 100)
        self.test_random_play_goes_well_can_be_replayed_and_shows_no_secrets()


MATCHES = (
    {"variant": variant, "match": match}
    for variant in ("backgammon", "tavla", "tavli", "portes", "plakoto", "fevga")
    for match in ("cash", "five_points")
)
FOR_TWO = [
    (game.name, config) for game, config in SETUPS.values() if len(Table(game, config).room.seats) == 2
]
FOR_TWO += [("backgammon", match) for match in MATCHES] + [("goofspiel", {"cards": 3})]


@pytest.mark.parametrize(("name", "config"), FOR_TWO, ids=repr)
def test_a_game_for_two_has_draws_if_random_play_finds_one_and_no_others_say_so(name, config):
    table = full_table(GAMES[name], config)
    says = table.game.has_draws(table.game.read_config(table.room.config))
    tries = (full_table(table.game, config, luck=luck) for luck in range(300 if says else 10))
    assert any(play_to_end(one, chance_of(luck)).drew for luck, one in enumerate(tries)) is says


@pytest.mark.parametrize("seed", range(4))
def test_the_scenes_of_a_game_that_draws_none_keep_to_the_same(seed):
    table = full_table(Nim(), luck=seed)
    wanderer = Wanderer(table, chance_of(seed))
    before: dict[str | None, Scene] = {}
    for _ in range(25):
        check_scenes(table, seed)
        for viewer in viewers(table):
            check_patch(before.get(viewer, Scene()), table.scene(viewer))
            before[viewer] = table.scene(viewer)
        wanderer.go(2)


# Whatever a client sends.


def words(game: Game[Any]) -> list[str]:
    """The words that the events of a game are made of, and a strange one."""
    kinds = [kind for kind in get_args(game.Event) or (game.Event,) if hasattr(kind, "__struct_config__")]
    fields = {field for kind in kinds for field in kind.__struct_fields__}
    return sorted({"type", "gibberish", *fields, *(kind.__struct_config__.tag for kind in kinds)})


def json_made_of(words: list[str]) -> "st.SearchStrategy[Any]":
    """Anything that JSON can say with these words, most often an object that resembles an event."""
    word = st.sampled_from(words)
    scalar = st.none() | st.booleans() | st.integers(-2, 10) | st.sampled_from([2**53, 0.5, ""]) | word
    thing = scalar | st.lists(scalar, max_size=2) | st.dictionaries(word, scalar, max_size=2)
    likely = st.dictionaries(word, st.integers(0, 10) | thing, max_size=4)
    return thing | st.builds(lambda kind, rest: {**rest, "type": kind}, word, likely)


@pytest.mark.parametrize("name", list(GAMES))
def test_whatever_json_comes_is_played_or_refused(name):
    game = GAMES[name]

    @settings(max_examples=200)
    @given(events=st.lists(json_made_of(words(game)), min_size=1, max_size=8), luck=st.integers(0, 9))
    def send(events: list[Any], luck: int) -> None:
        table = full_table(game, SMALL.get(name), luck=luck)
        Wanderer(table, chance_of(luck)).go(4 * luck)
        for event in events:
            for player in filter(None, table.room.players):
                before = table.room
                try:
                    table.do(Act(player, msgspec.Raw(json.dumps(event).encode())))
                except Refused:
                    assert table.room is before
        check_replay(table)

    send()


@pytest.mark.parametrize("name", list(GAMES))
def test_whatever_config_comes_is_taken_or_refused(name):
    game = GAMES[name]
    fields = ["gibberish", *game.Config.__struct_fields__]

    @settings(max_examples=100)
    @given(config=json_made_of(fields))
    def open_with(config: Any) -> None:
        with suppress(Refused):
            Table(game, config)

    open_with()

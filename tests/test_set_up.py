"""What a game says about its settings to people: optional, and checked when the game is loaded."""

from typing import Annotated, Any, Literal

import msgspec
import pytest

from parlour.errors import Refused
from parlour.game import Config, Game
from parlour.games import GAMES
from parlour.server.api.bodies import public_game
from parlour.server.rooms.summary import Waits
from parlour.set_up import Card, Label, Preset, SetUp


class Settings(Config, frozen=True):
    """Two settings."""

    size: Literal["small", "large"] = "small"
    seconds: Annotated[int, msgspec.Meta(ge=1, le=60)] = 10


class Sized(Game[None]):
    """A game with settings."""

    name = "sized"
    display_name = "Sized"
    seats = range(1, 2)
    State = object
    Config = Settings

    def init(self, config: Any, moment: Any) -> None:
        return None


def with_set_up(set_up: Any) -> Game[None]:
    game = Sized()
    game.set_up = set_up
    return game


def test_a_game_need_not_say_anything():
    assert Sized().checked().set_up == SetUp()
    told = public_game(Sized(), Waits(None, None, None, None, ends_under_players=False))
    assert msgspec.to_builtins(told)["set_up"] == {}


def test_a_game_says_titles_units_cards_and_presets():
    said = SetUp(
        "size",
        (Preset("Quick", {"seconds": 5}), Preset("Slow", {"seconds": 60})),
        {
            "size": Label(choices={"small": Card("Small", "For the bus.")}),
            "seconds": Label("Time", unit="seconds"),
        },
    )
    assert with_set_up(said).checked().set_up is said


@pytest.mark.parametrize(
    ("set_up", "why"),
    [
        (SetUp(cards="seconds"), "set_up.cards: expected a field of choices, got 'seconds'"),
        (SetUp(cards="colour"), "set_up.cards: expected a field of choices, got 'colour'"),
        (
            SetUp(labels={"colour": Label("Colour")}),
            "set_up.labels: expected a field of the config, got 'colour'",
        ),
        (SetUp(labels={"size": Label(choices={"huge": Card("Huge")})}), "set_up.labels: $.config.size: "),
        (SetUp(presets=(Preset("Odd", {"colour": 1}),)), "set_up.presets: expected a field of the config"),
        (
            SetUp(presets=(Preset("Slow", {"seconds": 61}),)),
            "set_up.presets: $.config.seconds: expected int <= 60",
        ),
        (SetUp(usual={"colour": 1}), "set_up.usual: expected a field of the config, got 'colour'"),
        (SetUp(usual={"seconds": 61}), "set_up.usual: $.config.seconds: expected int <= 60"),
        (SetUp(negotiable=("colour",)), "set_up.negotiable: expected a field of the config, got 'colour'"),
        ({"cards": "size"}, "set_up: expected a SetUp, got dict"),
    ],
)
def test_what_the_config_would_refuse_is_refused_when_the_game_is_loaded(set_up, why):
    with pytest.raises(Refused) as refused:
        with_set_up(set_up).checked()
    assert refused.value.code == "game_error"
    assert refused.value.message.startswith(why)


@pytest.mark.parametrize("game", [game for game in GAMES.values() if game.Config is not Config])
def test_every_setting_of_the_bundled_games_and_each_of_their_choices_is_said_in_words(game):
    schema = msgspec.json.schema(game.Config)["$defs"][game.Config.__name__]
    labels = game.set_up.labels
    offered = {name: field for name, field in schema["properties"].items() if not field.get("deprecated")}
    assert set(labels) == set(offered)
    for name, field in offered.items():
        kinds = [field, *field.get("anyOf", ())]
        assert labels[name].title
        assert set(labels[name].choices) == {choice for kind in kinds for choice in kind.get("enum", ())}
        if any(kind.get("type") in ("integer", "number") for kind in kinds):
            assert labels[name].unit

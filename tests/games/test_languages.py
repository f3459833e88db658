"""Every game that comes with Parlour speaks German, whatever happens in it: no text is left in English."""

import ast
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

import parlour
from parlour.games import GAMES
from parlour.server.api.texts import texts_in
from parlour.testing import Table, chance_of, full_table, play_to_end, viewers
from tests.catalogue import HOLE, finder, spoken_at_set_up, spoken_in
from tests.samples import SMALL, first_of

GERMAN = texts_in("de", GAMES.values())
CONFIGS: list[tuple[str, Any]] = [
    ("tictactoe", None),
    ("minesweeper", SMALL["minesweeper"]),
    ("stratego", SMALL["stratego"]),
    ("hex", SMALL["hex"]),
    ("hearts", SMALL["hearts"]),
    ("hearts", {"points": 0}),
    ("goofspiel", SMALL["goofspiel"]),
    ("goofspiel", {"cards": 5}),
    ("backgammon", {"match": "five_points", "crawford": True}),
    *(("backgammon", {"variant": variant}) for variant in ("tavli", "fevga", "plakoto", "portes", "tavla")),
]
PLACES = ("games", "room", "server/rooms", "server/parts/pairing", "offers.py", "lobby.py")
"""Where refusals are made that people see."""

knows = finder(GERMAN)


def unknown(texts: set[str]) -> list[str]:
    return sorted(text for text in texts if not knows(text))


@pytest.mark.parametrize("name", GAMES)
def test_the_tile_and_the_settings_of_a_game_are_translated(name):
    assert unknown(set(spoken_at_set_up(GAMES[name]))) == []


@pytest.mark.parametrize("seed", first_of(range(6), 1))
@pytest.mark.parametrize(("name", "config"), CONFIGS)
def test_whatever_a_game_says_while_it_is_played_is_translated(name, config, seed):
    game = GAMES[name]
    said = set(spoken_in(game.scene(Table(game, config).state, None)))
    table = full_table(game, config, luck=seed)

    def look() -> None:
        for viewer in viewers(table):
            said.update(spoken_in(game.scene(table.state, viewer)))

    look()
    said.add(play_to_end(table, chance_of(seed), look).why)
    look()
    assert unknown(said) == []


def refusals() -> list[str]:
    """What refusals say that are written where they are raised; 7 for what is put in."""
    root = Path(parlour.__file__).parent
    files = [
        file for place in PLACES for file in [root / place, *(root / place).rglob("*.py")] if file.is_file()
    ]
    calls = (
        node for file in files for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)
    )
    made = (call.args for call in calls if isinstance(call.func, ast.Name) and call.func.id == "Refused")
    told = {_template(why) for code, why, *_ in made if "GAME_ERROR" not in ast.unparse(code)}
    return sorted(
        said.rpartition("$.")[2].rpartition(": ")[2] if "$." in said else said for said in told if said
    )


def _template(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        said = "".join(str(part.value) if isinstance(part, ast.Constant) else "7" for part in node.values)
        return re.sub(r"^7(?=\w)", "", said)  # where it is, which pages leave out
    return str(node.value) if isinstance(node, ast.Constant) else ""


def test_why_something_is_refused_is_translated():
    assert unknown(set(refusals())) == []


def test_a_translation_has_the_places_of_its_english():
    forms = {
        english: [said] if isinstance(said, str) else list(said.values()) for english, said in GERMAN.items()
    }
    wrong = [
        english
        for english, said in forms.items()
        for one in said
        if sorted(HOLE.findall(one)) != sorted(HOLE.findall(english))
    ]
    assert wrong == []


def test_games_that_say_the_same_in_english_say_the_same_in_german():
    root = Path(parlour.__file__).parent
    catalogues = {file.name: msgspec.json.decode(file.read_bytes()) for file in root.rglob("*.de.json")}
    differing = [
        (english, name)
        for name, texts in catalogues.items()
        for english, said in texts.items()
        if said != GERMAN[english]
    ]
    assert len(catalogues) == len(GAMES) + 1
    assert differing == []

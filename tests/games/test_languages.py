"""Every game that comes with Parlour speaks German, whatever happens in it: no text is left in English."""

import ast
import re
from collections.abc import Iterator
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
PLACES = (
    "games", "room", "offers.py", "lobby.py", "server/rooms", "server/parts", "server/bots",
    "server/gateway/gateway.py", "server/gateway/audience.py", "server/worker.py", "server/shared_lobby.py",
    "server/sessions.py", "server/tokens.py", "server/limits.py", "server/refusals.py", "server/outgoing.py",
    "server/remote_bots.py", "server/api/callers.py", "server/api/ladder_calls.py",
    "server/api/passkey_calls.py",
)  # fmt: skip
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
    """What refusals say, where they are raised or in a name that was set before; 7 for what is put in."""
    root = Path(parlour.__file__).parent
    files = {
        file for place in PLACES for file in [root / place, *(root / place).rglob("*.py")] if file.is_file()
    }
    told = {said for file in files for said in _told_in(ast.parse(file.read_text()))}
    return sorted(
        said.rpartition("$.")[2].rpartition(": ")[2] if "$." in said else said for said in told if said
    )


def _told_in(tree: ast.Module) -> Iterator[str]:
    nodes = sorted(ast.walk(tree), key=lambda node: getattr(node, "lineno", 0))
    named: dict[str, ast.expr] = {}
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            named[node.targets[0].id] = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Refused":
            code, why, *_ = node.args
            if "GAME_ERROR" not in ast.unparse(code):
                yield _template(named.get(why.id, why) if isinstance(why, ast.Name) else why)


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

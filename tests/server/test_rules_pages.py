"""Rules pages: Markdown beside a game becomes blocks, and nothing in it can do more than be read."""

from typing import get_args

import httpx
import pytest

from parlour.game import Config, Event, Game
from parlour.games import GAMES
from parlour.scene import Scene
from parlour.server.api.endpoints import Api, web_app
from parlour.server.api.rules_pages import (
    Diagram,
    Heading,
    Listing,
    Paragraph,
    Preformatted,
    Run,
    Table,
    described,
    rules_page,
    rules_text,
    rules_text_in,
)
from parlour.server.game_loader import load_games
from parlour.server.limits import Limits
from parlour.server.tokens import Tokens
from tests.server.world import World

VARIANTS = get_args(GAMES["backgammon"].Config.__annotations__["variant"].__args__[0])
PAGES = [(game, None) for game in GAMES.values()] + [(GAMES["backgammon"], variant) for variant in VARIANTS]


def no_board(_text: str) -> Scene:
    return Scene()


def blocks(text, draw=no_board):
    return rules_page("Nim", text, draw).blocks


def words(block):
    return "".join(run.text for run in block.runs)


# Markdown.


def test_a_page_is_headings_paragraphs_lists_and_tables():
    found = blocks("## One\n\nTwo **three** *four* `five`\n\n1. six\n\n- seven\n\n|a|b|\n|-|-|\n|c|d|")
    assert [type(block) for block in found] == [Heading, Paragraph, Listing, Listing, Table]
    _, paragraph, numbered, plain, table = found
    assert [run.text for run in paragraph.runs if run.strong] == ["three"]
    assert [run.text for run in paragraph.runs if run.em] == ["four"]
    assert [run.text for run in paragraph.runs if run.code] == ["five"]
    assert (numbered.ordered, plain.ordered) == (True, False)
    assert table == Table(((Run("a"),), (Run("b"),)), (((Run("c"),), (Run("d"),)),))


def test_the_first_heading_is_the_title_of_the_page():
    assert rules_page("nim", "# Nim\n\nTake.", no_board).title == "Nim"
    assert rules_page("nim", "Take.", no_board).title == "nim"


@pytest.mark.parametrize(
    "markup", ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a <b>bold</b> move"]
)
def test_markup_in_a_page_is_letters_and_nothing_else(markup):
    (block,) = blocks(markup)
    assert words(block) == markup
    assert not any(run.href or run.strong for run in block.runs)


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "/api/players", "mailto:a@b.c"]
)
def test_only_addresses_of_the_web_become_links(address):
    (block,) = blocks(f"[here]({address}) and [there](https://example.org/rules)")
    assert [run.href for run in block.runs if run.href] == ["https://example.org/rules"]


def test_a_picture_is_the_words_that_stand_for_it():
    assert words(blocks("![a board](https://example.org/x.png)")[0]) == "a board"


def test_a_fenced_board_is_drawn_by_the_game_and_has_a_caption():
    game = GAMES["tictactoe"]
    (diagram,) = blocks("```board X wins\nX X X\nO O .\n. . .\n```", game.diagram)
    assert isinstance(diagram, Diagram)
    assert diagram.caption == "X wins"
    assert [piece.mark for piece in diagram.scene.pieces].count("win") == 3


def test_other_fences_are_text_as_it_is_written():
    assert blocks("```\n1. e4\n```") == (Preformatted("1. e4\n"),)


# The pages that come with Parlour.


@pytest.mark.parametrize(("game", "variant"), PAGES, ids=lambda part: getattr(part, "name", part))
def test_every_game_and_variant_has_a_page_whose_boards_can_be_drawn(game, variant):
    text = rules_text(game, variant)
    assert text != described(game)
    page = rules_page(game.display_name, text, game.diagram)
    assert not [block for block in page.blocks if isinstance(block, Preformatted)]
    diagrams = [block for block in page.blocks if isinstance(block, Diagram)]
    assert diagrams
    assert all(diagram.caption and diagram.scene.width for diagram in diagrams)


def test_every_variant_has_a_page_of_its_own():
    backgammon = GAMES["backgammon"]
    texts = {variant: rules_text(backgammon, variant) for variant in VARIANTS}
    assert len(set(texts.values())) == len(VARIANTS) == 6
    assert texts["backgammon"] == rules_text(backgammon)


def outline(game, text):
    """What a page is made of, whatever its words say: kinds of blocks, sizes of lists and tables, boards."""
    return [
        (type(block), getattr(block, "level", None), len(getattr(block, "items", getattr(block, "rows", ()))))
        if not isinstance(block, Diagram)
        else block.scene
        for block in rules_page("", text, game.diagram).blocks
    ]


@pytest.mark.parametrize(("game", "variant"), PAGES, ids=lambda part: getattr(part, "name", part))
def test_every_page_is_there_in_german_with_the_same_parts_and_the_same_boards(game, variant):
    english, german = rules_text(game, variant), rules_text_in("de", game, variant)
    assert german not in ("", english)
    assert outline(game, german) == outline(game, english)


# Games of one's own.


class Pile(Config, frozen=True):
    """How large the pile is."""

    stones: int = 21


class Take(Event, frozen=True):
    """Take some stones from the pile."""

    count: int


class Nim(Game[int]):
    """Whoever takes the last stone wins."""

    name = "nim"
    display_name = "Nim"
    seats = range(2, 3)
    State = int
    Event = Take
    Config = Pile

    def init(self, config, moment):
        return config.stones

    def scene(self, state, viewer):
        return Scene(text="o" * state)


def test_a_game_without_a_page_has_one_made_of_its_events_and_settings():
    page = rules_page("Nim", rules_text(Nim()), Nim().diagram)
    said = [words(block) for block in page.blocks if not isinstance(block, Listing)]
    assert said == [
        "Whoever takes the last stone wins.", "For 2 players.", "What you can do", "What can be set up",
    ]  # fmt: skip
    events, settings = (words(block.items[0][0]) for block in page.blocks if isinstance(block, Listing))
    assert events == "Take. Take some stones from the pile. (count)"
    assert settings == "Stones. Usually 21."


@pytest.mark.parametrize("game", [*GAMES.values(), Nim()], ids=lambda game: game.name)
def test_every_game_could_be_described_by_its_types_alone(game):
    assert len(rules_page(game.display_name, described(game), game.diagram).blocks) >= 2


def test_a_game_may_bring_its_page_as_a_string_with_states_as_diagrams():
    class Told(Nim):
        rules = "# How to take\n\n```board Three are left\n3\n```"

    page = rules_page("Nim", rules_text(Told()), Told().diagram)
    assert page.title == "How to take"
    assert page.blocks == (Diagram(Scene(text="ooo"), "Three are left"),)


def test_a_game_in_a_file_has_the_page_in_the_file_beside_it(tmp_path):
    source = 'from parlour import Game\nclass Pile(Game):\n    name = "pile"\n    display_name = "Pile"\n'
    source += (
        "    seats = range(1, 2)\n    State = int\n    def init(self, config, moment):\n        return 1\n"
    )
    (tmp_path / "pile.py").write_text(source)
    (game,) = load_games(tmp_path / "pile.py")
    assert rules_text(game) == described(game)
    (tmp_path / "pile.md").write_text("Take it.")
    assert rules_text(game) == "Take it."


# The call.


@pytest.fixture
async def http():
    class Broken(Nim):
        name = "broken"
        rules = "```board\nnot a number\n```"

    async with World({**GAMES, "broken": Broken()}) as world:
        api = Api(world.server, Tokens(b"k" * 32), Limits(world.settings, world.clock), world.settings)
        transport = httpx.ASGITransport(web_app(api, None))
        async with httpx.AsyncClient(transport=transport, base_url="http://parlour.test") as http:
            yield http


async def test_the_page_of_a_variant_is_told(http):
    page = (await http.get("/api/games/backgammon/rules?variant=fevga")).json()
    assert page["title"] == "Fevga"
    assert page["blocks"][0]["is"] == "paragraph"
    assert page == (await http.get("/api/games/backgammon/rules?variant=fevga")).json()


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("chess/rules", "unknown_game"),
        ("backgammon/rules?variant=../play", "invalid_config"),
        ("tictactoe/rules?variant=fevga", "invalid_config"),
    ],
)
async def test_rules_of_what_is_not_played_here_are_refused(http, path, code):
    assert (await http.get(f"/api/games/{path}")).json()["code"] == code


async def test_a_board_that_cannot_be_drawn_is_shown_as_its_text(http):
    answer = await http.get("/api/games/broken/rules")
    assert answer.json()["blocks"] == [{"is": "code", "text": "not a number\n"}]

"""What games say in other languages: a file beside their rules, and nothing else."""

import httpx
import pytest

from parlour.errors import Refused
from parlour.server.api.endpoints import Api, web_app
from parlour.server.api.game_files import check_language
from parlour.server.api.texts import texts_in, titles_of
from parlour.server.game_loader import load_games
from parlour.server.limits import Limits
from parlour.server.tokens import Tokens
from tests.server.world import World

NIM = """
from parlour.game import Game, State

class Nim(Game):
    name = "nim"
    display_name = "Nim"
    seats = range(2, 3)
    State = State
    def init(self, config, moment):
        return State()
"""


@pytest.fixture
def nim(tmp_path):
    """A game in a file of somebody's own, and the folder in which it is."""
    (tmp_path / "nim.py").write_text(NIM)
    return load_games(tmp_path / "nim.py")[0]


def test_a_game_brings_a_language_in_one_file_beside_its_rules(nim, tmp_path):
    (tmp_path / "nim.fr.json").write_text('{"Take {count}": "Prends {count}"}')
    assert texts_in("fr", [nim]) == {"Take {count}": "Prends {count}"}


def test_home_knows_what_games_are_called_before_it_has_their_texts(nim, tmp_path):
    (tmp_path / "nim.de.json").write_text('{"Nim": "Nimm", "Take {count}": "Nimm {count}"}')
    assert titles_of((nim,)) == {"de": {"Nim": "Nimm"}}


SETTINGS = """
from typing import Literal
from parlour.game import Config
from parlour.set_up import Card, Label, SetUp

class Settings(Config):
    variant: Literal["last_wins", "last_loses"] = "last_wins"
"""
TOLD = """
    Config = Settings
    set_up = SetUp(cards="variant", labels={"variant": Label(choices={"last_loses": Card("The last loses")})})
    bots = {"very_good": lambda *_: None}
"""


def test_home_knows_what_variants_and_bots_are_called_too(tmp_path):
    (tmp_path / "nim.py").write_text(SETTINGS + NIM + TOLD)
    (nim,) = load_games(tmp_path / "nim.py")
    (tmp_path / "nim.de.json").write_text(
        '{"The last loses": "Misère", "Very good": "Sehr gut", "Take": "Nimm"}'
    )
    assert titles_of((nim,)) == {"de": {"The last loses": "Misère", "Very good": "Sehr gut"}}


def test_a_language_that_nobody_brought_has_no_texts(nim):
    assert texts_in("fr", [nim]) == {}


@pytest.mark.parametrize("wrong", ["[1]", '{"Take": 3}', "no json", '{"Take": {"one": 1}}'])
def test_a_file_that_cannot_be_read_costs_only_its_own_texts(nim, tmp_path, wrong):
    (tmp_path / "nim.de.json").write_text(wrong)
    assert texts_in("de", [nim]) == texts_in("de", [])


@pytest.mark.parametrize("code", ["", "DE", "../de", "de/..", "d", "deutsch", "de_AT", "de.json"])
def test_what_is_no_code_of_a_language_is_refused(code):
    with pytest.raises(Refused, match="expected the code of a language, such as de or pt-BR"):
        check_language(code)


async def test_the_page_asks_for_them_by_the_language():
    async with World() as world:
        api = Api(world.server, Tokens(b"k" * 32), Limits(world.settings, world.clock), world.settings)
        transport = httpx.ASGITransport(web_app(api, None))
        async with httpx.AsyncClient(transport=transport, base_url="http://parlour.test") as http:
            assert (await http.get("/api/texts/xx")).json() == {}
            refused = await http.get("/api/texts/nonsense!")
            assert (refused.status_code, refused.json()["code"]) == (400, "malformed")

"""What a link shows in a chat: a title, a sentence and a picture, and nothing that its door does not say."""

import struct
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace

from parlour.clocks import Absence, ClockSettings
from parlour.games import GAMES
from parlour.journal.base import Player
from parlour.server.api.endpoints import Api, web_app
from parlour.server.api.link_previews import GENERAL, SIZE, picture_name, variants_of
from parlour.server.api.preview import preview
from parlour.server.api.web_pages import File
from parlour.server.limits import Limits
from parlour.server.tokens import Tokens
from tests.link_drawings import PAGE, digests, kept_digests, modules, plain
from tests.probe import Probe
from tests.server.world import World

PICTURES = Path(__file__).parents[2] / "web" / "public" / "previews"
BUNDLED = [game for game in GAMES.values() if type(game).__module__.startswith("parlour.games.")]
"""Not those of packages that happen to be installed beside Parlour."""
ALL = [picture_name(game, variant) for game in BUNDLED for variant, _ in variants_of(game)]
ORIGIN = "http://parlour.test"
NOW = cache(digests)
"""Made once for all pictures."""


class Head(HTMLParser):
    """The tags in the head of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        name = said.get("property") or said.get("name")
        if tag == "meta" and name is not None:
            self.tags[name] = said["content"] or ""


@pytest.fixture
async def world():
    async with World({**GAMES, "probe": Probe()}, address_guesses=10) as world:
        yield world


@pytest.fixture
def tags(world):
    """The tags of a page, as whoever unfolds a link reads them."""
    pages = {"/index.html": File.of(b"<!doctype html><head></head><body></body>", "text/html")}
    pages |= {
        f"/previews/{path.name}": File.of(path.read_bytes(), "image/png") for path in PICTURES.iterdir()
    }

    async def read(path: str, public_url: str = "", **headers: str) -> dict[str, str]:
        settings = replace(world.settings, public_url=public_url)
        api = Api(world.server, Tokens(b"k" * 32), Limits(settings, world.clock), settings)
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(web_app(api, None, pages)), base_url=ORIGIN
        ) as http:
            answer = await http.get(path, headers=headers)
            assert answer.status_code == 200
            return Head(answer.text).tags

    return read


def shown(tags: dict[str, str]) -> tuple[str, str, str]:
    picture = tags["og:image"].removeprefix(f"{ORIGIN}/previews/").removesuffix(".png")
    return tags["og:title"], tags["og:description"], picture


async def test_the_home_page_says_what_parlour_is(tags):
    title, text, picture = shown(await tags("/"))
    assert (title, picture) == ("Parlour", GENERAL)
    assert "without an account" in text


@pytest.mark.parametrize(
    ("clock", "told"),
    [
        (None, "5 points"),
        (ClockSettings("increment", 300, 3), "5 points, 5 minutes and 3 seconds more a turn"),
        (ClockSettings("delay", 600, 12), "5 points, 10 minutes, the first 12 seconds of a turn free"),
        (ClockSettings("increment", 5400), "5 points, 90 minutes for the game"),
        (ClockSettings("turn", 86400), "5 points, 1 day a turn"),
        (ClockSettings("none", away=Absence(60)), "5 points"),
    ],
)
async def test_a_room_says_the_variant_who_waits_and_what_one_accepts(world, tags, clock, told):
    config = {"variant": "tavli", "match": "five_points", "crawford": True, "opening_dice": True}
    await world.open("backgammon", config=config, clock=clock)
    await world.seated("ABCD", "ann")
    assert shown(await tags("/r/ABCD")) == (
        "Backgammon: Tavli",
        f"Ann (guest) is waiting for you. {told}.",
        "backgammon-tavli",
    )


async def test_a_room_where_all_sit_can_be_watched(world, tags):
    await world.open("tictactoe")
    assert shown(await tags("/r/ABCD")) == ("Noughts and crosses", "The table is free.", "tictactoe")
    await world.seated("ABCD", "ann", "bob")
    assert shown(await tags("/r/ABCD"))[1] == "Ann (guest) and Bob (guest) play here. You can watch."


async def test_a_game_of_ones_own_has_the_general_picture(world, tags):
    await world.open("probe")
    title, _, picture = shown(await tags("/r/ABCD"))
    assert (title, picture) == (Probe.display_name, GENERAL)


async def test_a_replay_says_whose_game_it_is(world, tags):
    await world.open("stratego", config={"preset": "ogetarts"})
    await world.seated("ABCD", "ann", "bob")
    assert shown(await tags("/r/ABCD/replay?seq=3")) == (
        "Replay: Stratego: Quick start",
        "Ann (guest) against Bob (guest), move by move.",
        "stratego-ogetarts",
    )


async def test_nobody_but_a_guest_is_marked_as_one(world, tags):
    await world.open("tictactoe")
    await world.seated("ABCD", "ann")
    await world.seat_bot("ABCD", "perfect")
    assert shown(await tags("/r/ABCD"))[1] == "Ann (guest) and Perfect bot play here. You can watch."
    members = Player("p1", "Ann", account=True), Player("p2", "Ann")
    assert [one.is_guest for one in members] == [False, True]


async def test_a_player_and_a_bot_are_named(world, tags):
    player = await world.server.sessions.save("ann", "Ann")
    assert shown(await tags(f"/p/{player.id}"))[:2] == (
        "Ann (guest) at Parlour",
        "Ratings and last games of Ann (guest).",
    )
    assert shown(await tags("/p/bot:perfect"))[0] == "Perfect bot at Parlour"


@pytest.mark.parametrize(
    ("path", "title", "picture"),
    [
        ("/rules/backgammon/fevga", "How to play Backgammon: Fevga", "backgammon-fevga"),
        ("/rules/tictactoe", "How to play Noughts and crosses", "tictactoe"),
        ("/leaderboard/backgammon/plakoto", "Backgammon: Plakoto: the best", "backgammon-plakoto"),
        ("/watch", "Parlour", GENERAL),
    ],
)
async def test_every_other_page_says_what_it_is_about(tags, path, title, picture):
    found = shown(await tags(path))
    assert (found[0], found[2]) == (title, picture)


@pytest.mark.parametrize(
    "path",
    ["/r/NOWHERE", "/r/NOWHERE/replay", "/p/nobody", "/p/bot:nobody", "/rules/whist", "/leaderboard/whist"],
)
async def test_what_is_not_there_says_no_more_than_the_home_page(tags, path):
    assert shown(await tags(path)) == shown(await tags("/"))


async def test_whoever_guesses_too_often_learns_nothing_of_unlisted_rooms(world, tags):
    await world.open("tictactoe", listed=False, creator="zoe")
    for number in range(11):
        await tags(f"/r/NONE{number}")
    assert shown(await tags("/r/ABCD"))[0] == "Parlour"


async def test_names_are_text_and_no_markup(world, tags):
    await world.open("tictactoe")
    await world.seated("ABCD", '"><script>')
    assert shown(await tags("/r/ABCD"))[1] == '"><script> (guest) is waiting for you.'


async def test_addresses_are_whole_by_the_operators_or_the_requests_own(tags):
    assert (await tags("/watch"))["og:url"] == f"{ORIGIN}/watch"
    found = await tags("/watch", public_url="https://games.example")
    assert found["og:url"] == "https://games.example/watch"
    assert found["og:image"] == f"https://games.example/previews/{GENERAL}.png"
    assert (found["og:image:width"], found["og:image:height"]) == ("1200", "630")


async def test_a_host_that_is_none_is_repeated_nowhere(tags):
    found = await tags("/", host='x"><script>')
    assert "og:url" not in found
    assert "<script>" not in str(found)


# The pictures.


@pytest.mark.parametrize("name", [*ALL, GENERAL])
def test_every_game_and_variant_has_a_picture(name):
    data = (PICTURES / f"{name}.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == SIZE


def test_there_are_no_other_pictures_and_all_together_are_small():
    assert {path.stem for path in PICTURES.iterdir()} == {*ALL, GENERAL}
    assert sum(path.stat().st_size for path in PICTURES.iterdir()) < 600_000


@pytest.mark.parametrize("name", ["renderer", *ALL, GENERAL])
def test_a_picture_is_drawn_from_what_there_is_now(name):
    assert NOW()[name] == kept_digests()[name], "`make link-pictures` draws them again"


def test_hands_at_a_board_and_remarks_draw_nothing_and_all_else_that_boards_import_does(tmp_path):
    (source := tmp_path / "a.svelte").write_text("<!-- A. -->\n<script>\n  // B.\n  c() /* D. */;\n</script>")
    assert plain(source) == "<script> c() ; </script>"
    names = {path.name for path in modules(PAGE)}
    assert {"Board.svelte", "Piece.svelte", "Wordmark.svelte", "glyphs.ts", "places.ts"} <= names
    assert not names & {"hand.ts", "walk.ts", "language.svelte.ts"}


def test_the_picture_of_hearts_has_cards_on_the_table():
    scene = preview(GAMES["hearts"])
    assert scene is not None
    assert len([piece for piece in scene.pieces if piece.look == "card"]) == 3

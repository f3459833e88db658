"""The page for browsers: where it is, how long it is kept, and what it may not do."""

import gzip
from pathlib import Path

import httpx
import pytest

import parlour
from parlour.games import GAMES
from parlour.server.api.endpoints import Api, web_app
from parlour.server.api.web_pages import BUILT, read_pages
from parlour.server.limits import Limits
from parlour.server.tokens import Tokens
from tests.server.world import World

INDEX = "<!doctype html><title>Parlour</title>" + " " * 500
PUBLIC = Path(__file__).parents[2] / "web" / "public"
"""What is served as it is."""
FOR_DEVELOPERS = {"/api/docs": "<title>Calls</title>", "/relay": "<title>Relays</title>"}
SCRIPT = "console.log('parlour')" + " " * 500
ADDRESSES = [
    "/", "/r/ABCD", "/r/our.corner", "/r/ABCD/replay", "/r/ABCD/replay?room=3&seq=9", "/p/ann",
    "/p/bot:perfect", "/watch", "/games",
    "/leaderboard", "/leaderboard/tictactoe", "/leaderboard/backgammon/fevga",
]  # fmt: skip


@pytest.fixture
def built(tmp_path):
    """As Vite leaves it."""
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text(INDEX)
    (tmp_path / "api-docs.html").write_text(FOR_DEVELOPERS["/api/docs"])
    (tmp_path / "relay.html").write_text(FOR_DEVELOPERS["/relay"])
    (tmp_path / "icon.svg").write_text("<svg/>")
    (tmp_path / "serif.woff2").write_bytes(bytes(range(256)))
    (tmp_path / "assets" / "index-C0FFEE.js").write_text(SCRIPT)
    (tmp_path / "assets" / "index-C0FFEE.js.map").write_text("not for everybody")
    return tmp_path


@pytest.fixture
async def browse(built):
    """Asks a server for what is in this folder."""

    async def get(path, folder=built, **headers):
        api = Api(world.server, Tokens(b"k" * 32), Limits(world.settings, world.clock), world.settings)
        transport = httpx.ASGITransport(web_app(api, None, read_pages(folder)))
        async with httpx.AsyncClient(transport=transport, base_url="http://parlour.test") as http:
            names = {name.replace("_", "-"): value for name, value in headers.items()}
            return await http.get(path, headers=names)

    async with World(GAMES) as world:
        yield get


def test_the_pages_are_read_from_where_they_are_built():
    assert Path(parlour.__file__).parent / "web" == BUILT


@pytest.mark.parametrize("path", ADDRESSES)
async def test_every_address_of_the_page_is_the_same_page(browse, path):
    answer = await browse(path)
    assert (answer.status_code, answer.text) == (200, INDEX)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("path", FOR_DEVELOPERS)
async def test_developers_have_pages_of_their_own(browse, path):
    answer = await browse(path)
    assert (answer.status_code, answer.text) == (200, FOR_DEVELOPERS[path])
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"


async def test_a_file_that_is_named_by_what_is_in_it_is_kept_for_ever(browse):
    answer = await browse("/assets/index-C0FFEE.js")
    assert answer.text == SCRIPT
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"


async def test_the_page_itself_is_asked_for_anew_and_not_sent_twice(browse):
    first = await browse("/")
    assert first.headers["cache-control"] == "no-cache"
    again = await browse("/", if_none_match=first.headers["etag"])
    assert (again.status_code, again.content) == (304, b"")


async def test_who_takes_gzip_gets_gzip_and_others_get_the_same_unzipped(browse):
    zipped = await browse("/", accept_encoding="gzip")
    plain = await browse("/", accept_encoding="identity")
    assert zipped.headers["content-encoding"] == "gzip"
    assert int(zipped.headers["content-length"]) == len(gzip.compress(INDEX.encode(), mtime=0))
    assert "content-encoding" not in plain.headers
    assert zipped.text == plain.text


async def test_what_does_not_get_smaller_is_not_zipped(browse):
    font = await browse("/serif.woff2", accept_encoding="gzip")
    assert (font.headers["content-type"], font.content) == ("font/woff2", bytes(range(256)))
    assert "content-encoding" not in font.headers


@pytest.mark.parametrize("path", ["/", "/api/docs", "/relay", "/assets/index-C0FFEE.js", "/icon.svg"])
async def test_nothing_runs_on_a_page_but_our_own_scripts(browse, path):
    headers = (await browse(path)).headers
    policy = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
    opened = {name: sources for name, sources in policy.items() if name.endswith("-src")}
    assert opened == {
        "default-src": "'none'",
        **dict.fromkeys(("script-src", "style-src", "connect-src", "font-src"), "'self'"),
        **dict.fromkeys(("media-src", "worker-src", "manifest-src", "frame-src"), "'self'"),
        "img-src": "'self' blob:",
    }
    assert policy["base-uri"] == policy["frame-ancestors"] == policy["form-action"] == "'none'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize(
    "path",
    ["/assets/index-C0FFEE.js.map", "/assets/../../pyproject.toml", "/index.html", "/api-docs.html",
     "/relay.html", "/r/A/B"],
)  # fmt: skip
async def test_nothing_else_of_the_folder_is_served(browse, path):
    assert (await browse(path)).status_code == 404


async def test_the_page_can_be_installed_and_its_font_comes_with_its_licence(browse):
    manifest = await browse("/manifest.webmanifest", folder=PUBLIC)
    assert manifest.headers["content-type"] == "application/manifest+json"
    icons = {icon["src"]: icon["type"] for icon in manifest.json()["icons"]}
    assert {"/icon.svg", "/icon-192.png", "/icon-512.png"} < set(icons)
    for path, kind in icons.items():
        assert (await browse(path, folder=PUBLIC)).headers["content-type"] == kind
    licence = await browse("/newsreader-license.txt", folder=PUBLIC)
    assert "SIL OPEN FONT LICENSE" in licence.text


NAVIGATION = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.mark.parametrize("path", ["/rooms", "/r/A/B", "/r/", "/index.html", "/leaderbord/tictactoe"])
async def test_whoever_mistypes_an_address_gets_the_page_which_says_so(browse, path):
    answer = await browse(path, accept=NAVIGATION)
    assert (answer.status_code, answer.text) == (404, INDEX)
    assert answer.headers["cache-control"] == "no-store"
    assert "content-security-policy" in answer.headers


@pytest.mark.parametrize(
    ("path", "accept"),
    [("/api/nothing", NAVIGATION), ("/rooms", "application/json"), ("/assets/x.js", "*/*")],
)
async def test_a_program_that_asks_for_nothing_gets_a_problem_and_no_page(browse, path, accept):
    answer = await browse(path, accept=accept)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("path", ["/", *FOR_DEVELOPERS])
async def test_a_page_that_was_not_built_says_how_to_build_it(browse, tmp_path, path):
    answer = await browse(path, folder=tmp_path / "nothing")
    assert answer.status_code == 404
    assert "make setup" in answer.text
    assert (await browse("/api/games", folder=tmp_path / "nothing")).status_code == 200

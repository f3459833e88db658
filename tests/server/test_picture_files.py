"""The pictures of games over HTTP, and while their author is at work."""

import httpx
import pytest

from examples.fox import FoxAndHounds
from parlour.games import GAMES
from parlour.pictures import pictures_of
from parlour.server.api.endpoints import Api, web_app
from parlour.server.limits import Limits
from parlour.server.tokens import Tokens
from tests.server.test_hot_reload import COUNTER, TicketIndex
from tests.server.world import World

FOX = pictures_of(FoxAndHounds())["fox.svg"]
DOT = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="%d"/></svg>'
DRAWN = COUNTER.replace("import Event", "import scene, Event").replace(
    "    def view(",
    "    def scene(self, state, viewer):\n"
    "        dot = scene.Piece('d', 'dot.svg', 'a', label='dot')\n"
    "        return scene.Scene(1, 1, (scene.Spot('a', 0, 0),), (dot,))\n\n"
    "    def view(",
)


@pytest.fixture
async def http():
    async with World({**GAMES, "fox": FoxAndHounds()}) as world:
        api = Api(world.server, Tokens(b"k" * 32), Limits(world.settings, world.clock), world.settings)
        transport = httpx.ASGITransport(web_app(api, None))
        async with httpx.AsyncClient(transport=transport, base_url="http://parlour.test") as http:
            yield http


async def test_a_picture_is_kept_for_ever_and_can_neither_run_nor_load_anything(http):
    answer = await http.get(FOX.address)
    assert (answer.status_code, answer.content) == (200, FOX.body)
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_a_picture_whose_hash_is_of_another_day_is_shown_and_not_kept(http):
    answer = await http.get("/pictures/fox/0123456789abcdef/fox.svg")
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache")


@pytest.mark.parametrize(
    "path",
    [
        "/pictures/fox/x/wolf.svg",
        "/pictures/hearts/x/fox.svg",
        "/pictures/none/x/fox.svg",
        "/pictures/fox/x/..%2F..%2Ffox.py",
        "/pictures/fox/x/%2e%2e/fox.py",
        "/pictures/fox/../../fox.py",
    ],
)
async def test_a_picture_that_is_not_there_is_not_found_whatever_its_name(http, path):
    assert (await http.get(path)).status_code == 404


@pytest.fixture
async def author(tmp_path):
    author = TicketIndex(tmp_path)
    await author.open()
    yield author
    await author.world.__aexit__(None, None, None)


async def test_a_picture_that_is_saved_is_loaded_again_and_a_wrong_one_is_told(author, tmp_path):
    await author.reload(DRAWN)
    (tmp_path / "counter-board").mkdir()
    picture = tmp_path / "counter-board" / "dot.svg"
    seen = []
    for body in (DOT % 3, DOT % 4, b"<svg", DOT % 4):
        picture.write_bytes(body)
        await author.reload(DRAWN)
        seen.append((author.said[-1], pictures_of(author.games["counter"])["dot.svg"].body))
    assert [said.endswith("is loaded again.") for said, _ in seen] == [True, True, False, True]
    assert "counter-board/dot.svg, line 1: expected an SVG picture, got " in seen[2][0]
    assert seen[0][1] != seen[1][1]
    assert seen[1][1] == seen[2][1] == seen[3][1]


async def test_saving_a_picture_alone_is_a_save(author, tmp_path):
    author.said.clear()
    (tmp_path / "counter-board").mkdir()
    (tmp_path / "counter-board" / "dot.svg").write_bytes(DOT % 3)
    author.reloader.look()
    assert author.said == [f"{author.file} is loaded again."]

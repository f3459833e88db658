"""A game's own board page: where it lies, who is told what by it, and what it may not do."""

import importlib
import os
import shutil
import sys
from pathlib import Path

import httpx
import pytest

from parlour.checking import check_file
from parlour.errors import Refused
from parlour.games import GAMES
from parlour.pictures import pictures_of
from parlour.server.api.endpoints import Api, web_app
from parlour.server.board_pages import MAX_FILE, MAX_FILES, read_board
from parlour.server.game_loader import load_games
from parlour.server.hot_reload import Reloader
from parlour.server.limits import Limits
from parlour.server.rooms.history import HistoryWanted
from parlour.server.tokens import Tokens
from tests.server.world import World

EXAMPLES = Path(__file__).parents[2] / "examples"
STICKS = EXAMPLES / "sticks"


@pytest.fixture
def file(tmp_path):
    """The example, to be changed."""
    shutil.copytree(f"{STICKS}-board", tmp_path / "sticks-board")
    return Path(shutil.copy(f"{STICKS}.py", tmp_path))


@pytest.fixture
def board(file):
    return file.parent / "sticks-board"


@pytest.fixture
async def table(file):
    """A room of the example."""
    async with World({game.name: game for game in load_games(file)}) as world:
        await world.open("sticks")
        yield world


@pytest.fixture
async def people(table):
    """Ann and Bob sit before the example's board, and Eve watches."""
    people = [await table.person(name) for name in ("ann", "bob", "eve")]
    for person in people:
        status, _ = await person.join("ABCD", format="scene", spectate=person.player == "eve")
        assert status == "ok"
    return people


def page_of(person):
    """What somebody's board page was told last."""
    told = [push for _, push in person.heard("sync", "update")]
    pages = [
        push["scene"]["page"] if "scene" in push else push.get("patch", {}).get("set", {}).get("page")
        for push in told
    ]
    return [page for page in pages if page][-1]


def read(game):
    """The board page of a game that has one."""
    page = read_board(game)
    assert page is not None
    return page


def wrong(file):
    """What is said of a board page that cannot be shown."""
    (game,) = load_games(file)
    with pytest.raises(Refused) as refused:
        read_board(game)
    return refused.value.message


# Where it lies.


def test_the_example_is_at_most_sixty_lines_of_rules_and_page():
    files = [Path(f"{STICKS}.py"), *Path(f"{STICKS}-board").iterdir()]
    assert sum(len(file.read_text().splitlines()) for file in files) <= 60


def test_a_page_lies_in_a_folder_of_the_games_name_beside_its_file(file):
    (game,) = load_games(file)
    assert set(read(game).files) == {"index.html", "board.css", "board.js"}


def test_a_folder_with_pictures_alone_is_no_page(file, board):
    shutil.rmtree(board)
    shutil.copytree(EXAMPLES / "fox-board", board)
    (game,) = load_games(file)
    assert read_board(game) is None
    assert set(pictures_of(game)) == {"fox.svg", "hound.svg"}


def test_pictures_of_a_page_are_looks_of_pieces_too_but_not_those_in_folders_inside(file, board):
    (board / "stick.svg").write_bytes((EXAMPLES / "fox-board" / "fox.svg").read_bytes())
    (board / "art").mkdir()
    (board / "art" / "sky.svg").write_text("<svg onload='x'/>")
    (game,) = load_games(file)
    assert {"stick.svg", "art/sky.svg", "index.html"} <= set(read(game).files)
    assert set(pictures_of(game)) == {"stick.svg"}


def test_a_game_that_is_a_package_has_it_beside_the_file_of_its_class(tmp_path, monkeypatch):
    package = tmp_path / "stick_games"
    shutil.copytree(f"{STICKS}-board", package / "sticks-board")
    shutil.copy(f"{STICKS}.py", package / "__init__.py")
    monkeypatch.syspath_prepend(tmp_path)
    stick_games = importlib.import_module("stick_games")
    try:
        assert "index.html" in read(stick_games.Sticks()).files
    finally:
        del sys.modules["stick_games"]


def test_none_of_our_own_games_has_one():
    assert [name for name, game in GAMES.items() if read_board(game)] == []


def test_a_page_that_is_saved_has_another_version(file, board):
    (game,) = load_games(file)
    before = read(game).version
    (board / "board.css").write_text("body { margin: 1px }")
    assert read(game).version != before


# What is wrong with one is told with its file; the game is played by its scene.


def test_a_folder_without_the_page_is_told(file, board):
    (board / "index.html").unlink()
    assert wrong(file) == f"{board}/index.html: expected the page of the board, got none"


def test_a_page_that_is_a_folder_is_told(file, board):
    (board / "index.html").unlink()
    (board / "index.html").mkdir()
    assert wrong(file) == f"{board}/index.html: expected the page of the board, got none"


def test_a_file_that_is_too_large_is_told_without_reading_it(file, board):
    with (board / "board.js").open("wb") as script:
        script.truncate(50 << 20)
    assert wrong(file) == f"{board}/board.js: expected at most {MAX_FILE} bytes, got {50 << 20}"


def test_too_many_files_are_told(file, board):
    for number in range(MAX_FILES):
        (board / f"{number}.txt").touch()
    assert wrong(file) == f"{board}: expected at most {MAX_FILES} files, got more"


def test_a_file_of_a_kind_that_no_page_needs_is_told(file, board):
    (board / "run.exe").touch()
    assert wrong(file).startswith(f"{board}/run.exe: expected a file that ends in one of .css .gif .html")


def test_files_that_editors_hide_do_not_count(file, board):
    (board / ".board.js.swp").touch()
    (game,) = load_games(file)
    assert ".board.js.swp" not in read(game).files


def test_the_check_of_a_game_finds_it(file, board):
    (board / "index.html").unlink()
    (checked,) = check_file(file)
    assert "expected the page of the board" in str(checked.findings[0])


async def test_a_game_whose_page_is_wrong_is_played_by_its_scene(file, board):
    (board / "index.html").unlink()
    async with World({game.name: game for game in load_games(file)}) as world:
        await world.open("sticks")
        ann = await world.person("ann")
        await ann.join("ABCD", format="scene")
        ((_, sync),) = ann.heard("sync")
        assert "page" not in sync["scene"]
        assert "left: 15" in sync["scene"]["text"]


# What it is told.


async def test_each_page_is_told_its_viewers_view_and_legal_events(people):
    ann, bob, eve = people
    assert page_of(ann)["legal"] == [{"type": "take", "count": count} for count in (1, 2, 3)]
    for other in (bob, eve):
        assert "legal" not in page_of(other)
        assert page_of(other)["view"]["left"] == 15


async def test_after_a_move_a_page_is_told_the_next_view_and_the_room_says_whose_turn_it_is(people):
    ann, bob, eve = people
    assert (await ann.play("ABCD", {"type": "take", "count": 2}))[0] == "ok"
    assert [page_of(person)["view"]["left"] for person in (ann, bob, eve)] == [13, 13, 13]
    assert "legal" not in page_of(ann)
    _, update = bob.heard("update")[-1]
    assert update["patch"]["set"]["status"] == "Your turn"
    assert "controls" not in update["patch"]


async def test_an_event_that_a_page_makes_up_is_refused_like_any_other(people):
    ann, bob, _ = people
    assert (await ann.play("ABCD", {"type": "take", "count": 9}))[1]["code"] == "illegal_move"
    assert (await bob.play("ABCD", {"type": "take", "count": 1}))[1]["code"] == "illegal_move"
    assert (await ann.play("ABCD", {"type": "take", "count": "all"}))[1]["code"] == "malformed"


async def test_a_replay_tells_the_page_what_it_was_told_then(table, people):
    ann = people[0]
    await ann.play("ABCD", {"type": "take", "count": 3})
    history = await table.server.history.read("ABCD", "ann", HistoryWanted(format="scene"))
    pages = [step.patch.set["page"] for step in history.steps if step.patch and "page" in step.patch.set]
    assert pages[-1].view.left == 12


# How it is served.


@pytest.fixture
async def browse(table):
    api = Api(table.server, Tokens(b"k" * 32), Limits(table.settings, table.clock), table.settings)
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(web_app(api, None, {})), base_url="http://parlour.test"
    ) as http:
        yield http.get


async def test_a_page_has_no_origin_and_may_call_nobody(browse):
    answer = await browse("/boards/sticks/index.html")
    policy = dict(part.partition(" ")[::2] for part in answer.headers["content-security-policy"].split("; "))
    assert answer.status_code == 200
    assert policy["sandbox"] == "allow-scripts"
    assert policy["default-src"] == policy["connect-src"] == policy["form-action"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["frame-ancestors"] == "'self'"
    assert answer.headers["referrer-policy"] == "no-referrer"


async def test_its_files_are_asked_for_again_and_not_sent_twice(browse):
    answer = await browse("/boards/sticks/board.js")
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    again = await browse("/boards/sticks/board.js", headers={"if-none-match": answer.headers["etag"]})
    assert again.status_code == 304


@pytest.mark.parametrize(
    "path",
    [
        "chess/index.html",
        "sticks/",
        "sticks/../sticks.py",
        "sticks/%2e%2e/%2e%2e/sticks.py",
        "sticks//etc/passwd",
        "sticks/board.js%00",
    ],
)
async def test_nothing_else_is_served_from_there(browse, path):
    assert (await browse(f"/boards/{path}")).status_code == 404


# While its author is at work.


async def test_a_saved_page_is_shown_in_the_rooms_and_what_is_wrong_with_one_is_told(file, board):
    games = {game.name: game for game in load_games(file)}
    said: list[str] = []
    async with World(games, reload=True) as world:
        reloader = Reloader(world.server, games, [file], said.append)
        await world.open("sticks")
        ann = await world.person("ann")
        await ann.join("ABCD", format="scene")
        before = page_of(ann)["version"]

        def save(name, text, at):
            (board / name).write_text(text)
            os.utime(board / name, ns=(at, at))
            reloader.look()

        save("board.css", "body { margin: 2px }", 1)
        await world.quiet()
        assert page_of(ann)["version"] != before
        save("index.html", " ", 2)
        await world.quiet()
        _, sync = ann.heard("sync")[-1]
        assert sync["fault"] == "board: sticks-board/index.html: expected the page of the board, got none"
        assert "page" not in sync["scene"]
        assert said == [f"{board}/index.html: expected the page of the board, got none"]
        save("index.html", "<p>", 3)
        await world.quiet()
        _, sync = ann.heard("sync")[-1]
        assert "fault" not in sync
        assert sync["scene"]["page"]["view"]["left"] == 15

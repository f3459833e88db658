"""The documentation is true: its code runs, its names exist, its lists are complete."""

import ast
import doctest
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, cast, get_args

import httpx
import msgspec
import pytest
from websockets.sync.client import connect

import parlour
from parlour.checking import check_file
from parlour.cli import load_games
from parlour.doors.gammonx.hub import COMMANDS
from parlour.doors.gammonx.news import TOLD
from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.games import GAMES
from parlour.games.stratego.rules import PRESETS
from parlour.server.api.calls import STATUS
from parlour.server.api.endpoints import Api, web_app
from parlour.server.api.web_pages import read_pages
from parlour.server.limits import Limits
from parlour.server.settings import GROUPS, Settings
from parlour.server.tokens import Tokens
from parlour.testing import Table, clicks, scene_faults
from tests.server.world import World

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
NODE_MODULES = ROOT / "tests" / "e2e" / "node_modules"


class Block(NamedTuple):
    """A fenced block of a page, and the line it begins at."""

    text: str
    line: int


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[Block]:
    text = read(page)
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [Block(match[1], text.count("\n", 0, match.start()) + 1) for match in found]


def rows(page: str) -> list[list[str]]:
    """The rows of a page's tables, without their heads."""
    lines = [line for line in read(page).splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def is_dialogue(block: Block) -> bool:
    return block.text.startswith(">>>")


def source(page: str) -> str:
    """The blocks without >>>, which are one file."""
    return "\n".join(block.text for block in blocks(page, "python") if not is_dialogue(block))


def run(page: str) -> dict[str, Any]:
    """Run a page from top to bottom: dialogues must print what they show, the file grows block by block."""
    module = ModuleType(f"page_{Path(page).stem.replace('-', '_')}")
    names, file = module.__dict__, ""
    sys.modules[module.__name__] = module
    for block in blocks(page, "python"):
        if is_dialogue(block):
            run_dialogue(page, block, names)
        else:
            file += "\n" + block.text
            exec(compile(file, page, "exec"), names)
    return names


def run_dialogue(page: str, block: Block, names: dict[str, Any]) -> None:
    said: list[str] = []
    dialogue = doctest.DocTestParser().get_doctest(block.text, {}, f"{page}:{block.line}", page, block.line)
    dialogue.globs = names  # the very same, so that a function of one block sees what later ones define
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    failed, _ = runner.run(dialogue, out=said.append, clear_globs=False)
    assert not failed, "".join(said)


def find(game_class: str, page: str) -> Game[Any]:
    game: Game[Any] = run(page)[game_class]().checked()
    return game


# Code that runs.


@pytest.mark.parametrize("page", [str(page.relative_to(ROOT)) for page in PAGES])
def test_every_piece_of_python_on_a_page_runs_and_prints_what_it_shows(page):
    run(page)


def test_the_game_in_the_readme_is_complete_and_correct():
    table = Table(find("Nim", "README.md")).sit("ann", "bob")
    counts = [3, 1, 3, 1, 3, 1, 2]
    for turn, count in enumerate(counts):
        table.act(("ann", "bob")[turn % 2], {"type": "take", "count": count})
    assert table.state.left == 1
    for player, count, code in (
        ("ann", 1, "not_your_turn"),
        ("bob", 2, "illegal_move"),
        ("bob", 4, "malformed"),
    ):
        with pytest.raises(Refused, match=code):
            table.act(player, {"type": "take", "count": count})
    table.act("bob", {"type": "take", "count": 1})
    assert table.room.outcome is not None
    assert (table.room.outcome.won, table.room.outcome.lost) == (("bob",), ("ann",))
    with pytest.raises(Refused, match="the game is over"):
        table.act("ann", {"type": "take", "count": 1})


def test_the_game_in_the_readme_waits_for_its_second_player():
    table = Table(find("Nim", "README.md")).sit("ann")
    with pytest.raises(Refused, match="wait for the other player"):
        table.act("ann", {"type": "take", "count": 1})


THROWS = [(one, two) for one in ("rock", "paper", "scissors") for two in ("rock", "paper", "scissors")]


@pytest.mark.parametrize(("one", "two"), THROWS)
def test_the_game_in_the_tutorial_knows_who_beats_whom(one, two):
    table = Table(find("RockPaperScissors", "docs/tutorial.md")).sit("ann", "bob")
    table.act("ann", {"type": "throw", "hand": one})
    table.act("bob", {"type": "throw", "hand": two})
    wins = {("rock", "scissors"), ("scissors", "paper"), ("paper", "rock")}
    outcome = table.room.outcome
    assert outcome is not None
    if one == two:
        assert outcome.drew == ("ann", "bob")
    else:
        assert outcome.won == (("ann",) if (one, two) in wins else ("bob",))


def test_the_game_in_the_tutorial_hides_a_hand_until_both_are_shown():
    game = find("RockPaperScissors", "docs/tutorial.md")
    views = []
    for hand in ("rock", "paper", "scissors"):
        table = Table(game).sit("ann", "bob")
        table.act("ann", {"type": "throw", "hand": hand})
        views.append((game.view(table.state, "bob"), game.view(table.state, None)))
    assert views[0] == views[1] == views[2]


def test_the_game_in_the_tutorial_ends_by_its_timer_whoever_is_late():
    for player, other in (("ann", "bob"), ("bob", "ann")):
        table = Table(find("RockPaperScissors", "docs/tutorial.md")).sit("ann", "bob")
        table.act(player, {"type": "throw", "hand": "rock"})
        table.wait(10)
        assert table.room.outcome is not None
        assert (table.room.outcome.won, table.room.outcome.lost) == ((player,), (other,))


@pytest.mark.parametrize(("page", "name"), [("README.md", "nim"), ("docs/tutorial.md", "rps")])
def test_the_games_on_the_pages_can_be_served(page, name, tmp_path):
    file = tmp_path / f"{name}.py"
    file.write_text(source(page))
    assert [game.name for game in load_games(file)] == [name]


@pytest.mark.parametrize(
    "page", ["docs/tutorial.md", "docs/tutorial-board.md", "docs/how-to/check-for-leaks.md"]
)
def test_the_games_on_the_pages_pass_the_check(page, tmp_path):
    file = tmp_path / "game.py"
    file.write_text(source(page))
    (checked,) = check_file(file)
    assert checked.ok, [str(finding) for finding in checked.findings]


@pytest.mark.long
def test_every_game_of_the_recipes_passes_the_check(tmp_path):
    file = tmp_path / "recipes.py"
    file.write_text(source("docs/recipes.md"))
    checks = check_file(file)
    assert len(checks) >= 7
    assert [str(finding) for checked in checks for finding in checked.findings] == []


@pytest.mark.parametrize(
    ("page", "game", "name"),
    [("docs/tutorial.md", "docs/tutorial.md", "rps"), ("docs/how-to/test-your-game.md", "README.md", "nim")],
)
def test_the_tests_on_a_page_pass(page, game, name, tmp_path):
    own = "".join(block.text for block in blocks(page, "python") if not is_dialogue(block))
    more = "" if page == game else f"\n\n{own}\n\nNim.legal_events = legal_events\n"
    (tmp_path / f"{name}.py").write_text(source(game) + more)
    (tmp_path / f"test_{name}.py").write_text(
        "\n".join(block.text for block in blocks(page, f"python test_{name}.py"))
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"test_{name}.py"]
    tested = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert tested.returncode == 0, tested.stdout


# The real client, as the pages use it.


@pytest.fixture
def server(tmp_path):
    """A real server on a free port with the README's game; its address."""
    (tmp_path / "nim.py").write_text(source("README.md"))
    command = [sys.executable, "-m", "parlour", "serve", "nim.py", "--port", "0", "--journal", "memory"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "200"}
    )
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if found := re.search(r"http://(127\.0\.0\.1:\d+)", line):
                yield found[1]
                break
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert process.returncode == 0


@contextmanager
def printing(command: list[str], folder: Path) -> Iterator[Callable[[], str]]:
    """A program; each call gives the next line that it prints."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = process.stdout
    with lines:
        try:
            yield lambda: lines.readline().rstrip("\n")
        finally:
            process.kill()
            process.wait()


def node_client(
    page: str, address: str, folder: Path, *words: str
) -> AbstractContextManager[Callable[[], str]]:
    """A page's JavaScript, run against a real server."""
    (program,) = blocks(page, "js")
    (folder / "client.mjs").write_text(program.text.replace("127.0.0.1:8000", address))
    (folder / "node_modules").symlink_to(NODE_MODULES)
    return printing(["node", "client.mjs", *words], folder)


def print_by_node(page: str, address: str, folder: Path, lines: int, *words: str) -> list[str]:
    """The first lines that a page's JavaScript prints."""
    with node_client(page, address, folder, *words) as printed:
        return [printed() for _ in range(lines)]


needs_clients = pytest.mark.skipif(not NODE_MODULES.exists(), reason="the npm clients are not installed")


@pytest.mark.e2e
@needs_clients
def test_the_client_of_twenty_lines_prints_what_it_says(server, tmp_path):
    printed = print_by_node("docs/how-to/write-a-client.md", server, tmp_path, 3)
    assert printed == ["wait for the other player", "taken: 3", "left: 12"]


@pytest.mark.e2e
@needs_clients
def test_the_client_on_the_page_of_the_socket_plays(server, tmp_path):
    room = httpx.post(f"http://{server}/api/rooms", json={"game": "tictactoe", "id": "ABCD"})
    assert room.status_code == 201
    printed = print_by_node("docs/protocols/phoenix.md", server, tmp_path, 2)
    assert printed == ["2 .........", "not_your_turn the game begins when both players are here"]


@pytest.mark.e2e
@needs_clients
def test_the_javascript_client_of_relays_says_hello_and_returns_to_what_it_missed(server, tmp_path):
    with node_client("docs/protocols/relay.md", server, tmp_path) as printed:
        meet_a_relays_client(server, "js", printed)


@pytest.mark.e2e
def test_the_python_client_of_relays_says_hello_and_returns_to_what_it_missed(server, tmp_path):
    (tmp_path / "client.py").write_text(source("docs/protocols/relay.md"))
    command = [sys.executable, "client.py", f"ws://{server}/g/red-table"]
    with printing(command, tmp_path) as printed:
        meet_a_relays_client(server, "py", printed)


def meet_a_relays_client(address: str, id: str, printed: Callable[[], str]) -> None:
    """Come to where a client is, talk to it, cut its line, and say what it has to find when it returns."""
    assert printed() == "0 Welcome "
    room = f"ws://{address}/g/red-table"
    with connect(f"{room}?id=ann", proxy=None) as ann:
        assert (printed(), printed()) == (
            "1 Joiner ann",
            '2 Receipt {"hello": "ann"}'.replace(": ", JSON_COLON[id]),
        )
        with connect(f"{room}?id={id}&lastnum=2", proxy=None):  # takes its place: its own line is cut
            ann.send("♠ missed")
            assert printed() == "3 Peer ♠ missed"


JSON_COLON = {"js": ":", "py": ": "}
"""How each language writes JSON by itself."""


@pytest.mark.e2e
@needs_clients
@pytest.mark.parametrize("first", ["python", "javascript"])
def test_the_two_clients_on_the_page_of_the_xsos_door_play_a_whole_game(server, tmp_path, first):
    page = "docs/protocols/xsos.md"
    play = run(page)["play"]
    with ThreadPoolExecutor(2) as pool:
        clients = {
            "python": lambda: play(server, "pat", "a chat"),
            "javascript": lambda: print_by_node(page, server, tmp_path, 1, "jay", "a chat"),
        }
        games = [pool.submit(clients.pop(name)) for name in (first, *set(clients) - {first})]
        ends = [game.result(timeout=20) for game in games]
    board = [1, -1, 1, -1, 1, -1, 1, 0, 0]
    assert sorted(map(str, ends)) == sorted(map(str, [board, [",".join(map(str, board))]]))


# Names that exist.


@pytest.mark.parametrize(("page", "least"), [("docs/design.md", 50), ("docs/reliability.md", 30)])
def test_every_test_that_a_page_names_is_there(page, least):
    files = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "src" / "parlour" / "testing").rglob("*.py")]
    written = "".join(path.read_text() for path in files if "node_modules" not in path.parts)
    there = set(re.findall(r"def (test_\w+)", written))
    named = set(re.findall(r"\b(test_\w+)\b(?!\.py)", read(page)))
    assert len(named) > least
    assert named <= there, named - there


def functions(path: Path) -> set[str]:
    """Every function of a module, by its own name."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kinds)}


def test_a_move_walks_through_functions_that_are_there_in_at_most_sixteen_files():
    walk = read("docs/design.md").partition("## One move")[2].partition("\n## ")[0]
    steps = re.findall(r"^\| \d+ \| `([\w/]+\.py)` \| (.*?) \|", walk, re.MULTILINE)
    assert len(steps) > 5
    for file, names in steps:
        missing = set(re.findall(r"`(\w+)`", names)) - functions(ROOT / "src" / "parlour" / file)
        assert not missing, (file, missing)
    assert len({file for file, _ in steps}) <= 16


def test_the_design_has_a_paragraph_for_every_module():
    package = ROOT / "src" / "parlour"
    design = read("docs/design.md")
    modules = [path for path in package.rglob("*.py") if path.name not in ("__init__.py", "__main__.py")]
    missing = [path.name for path in modules if f"**`{path.relative_to(package)}`**" not in design]
    assert not missing


@pytest.mark.parametrize("folder", ["src", "tests"])
def test_no_file_is_longer_than_the_page_for_contributors_says(folder):
    most = int(re.findall(r"Files stay under (\d+) lines", read("CONTRIBUTING.md"))[0])
    files = [path for path in (ROOT / folder).rglob("*.py") if "node_modules" not in path.parts]
    assert not [path.name for path in files if path.read_text().count("\n") >= most]


def test_the_design_gives_a_reason_for_every_dependency():
    project = tomllib.loads(read("pyproject.toml"))
    wanted = project["project"]["dependencies"]
    wanted += [name for group in project["dependency-groups"].values() for name in group]
    wanted += [name for extra in project["project"]["optional-dependencies"].values() for name in extra]
    names = {re.split(r"[<>=;\[ ]", requirement)[0] for requirement in wanted}
    for folder in ("web", "tests/e2e"):
        package = json.loads(read(f"{folder}/package.json"))
        names |= {*package.get("dependencies", {}), *package.get("devDependencies", {})}
    design = read("docs/design.md")
    missing = {name for name in names if not re.search(rf"^\| {name} \| \S", design, re.MULTILINE)}
    assert not missing


# Lists that are complete.


def test_every_error_code_is_explained_with_its_status():
    explained = {
        row[0].strip("`"): row[1] for row in rows("docs/reference/errors.md") if row[0].startswith("`")
    }
    assert set(explained) == {code.value for code in Code}
    for code in Code:
        assert explained[code] == str(STATUS.get(code, 400)), code


def test_every_setting_is_listed_with_its_default_in_the_order_of_the_help():
    listed = {row[0]: row[1:3] for row in rows("docs/reference/settings.md") if row[0].startswith("`--")}
    wanted = {}
    for name in chain.from_iterable(GROUPS.values()):
        default = getattr(Settings(), name)
        shown = "none" if default in ([], "") else f"`{default}`"
        wanted[f"`--{name.replace('_', '-')}`"] = [f"`PARLOUR_{name.upper()}`", shown]
    assert list(listed.items()) == list(wanted.items())


def test_every_callback_and_every_part_of_a_game_is_explained():
    page = read("docs/reference/game.md")
    own = {name for name in vars(Game) if not name.startswith("_")} | set(Game.__annotations__)
    for name in sorted(own):
        assert f"`{name}`" in page or f"`{name}(" in page, name
    for name in parlour.__all__:
        assert f"`{name}" in page, name


def test_every_http_call_is_on_its_page():
    api = Api(World().server, Tokens(b"k" * 32), cast("Any", None), Settings())
    page = read("docs/reference/http.md")
    calls = [f"{call.method} {call.path}" for call in api.calls]
    for call in (*calls, "GET /metrics", "GET /api/openapi.json", "GET /api/docs"):
        assert f"\n## `{call}`\n" in page, call


async def test_the_curl_examples_do_what_they_say():
    async with World(GAMES) as world:
        app = web_app(
            Api(world.server, Tokens(b"k" * 32), Limits(world.settings, world.clock), world.settings),
            None,
            read_pages(),
        )
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as http:
            token = (await http.post("http://parlour.test/api/players")).json()["token"]
            http.cookies.clear()
            examples = 0
            for block in blocks("docs/reference/http.md", "sh"):
                await call_like_curl(http, block.text.replace("$TOKEN", token))
                examples += 1
            assert examples >= 10


async def call_like_curl(http: httpx.AsyncClient, command: str) -> None:
    """Make the call of a curl command; a comment in its first line says which status must come."""
    comment, _, command = command.partition("\n")
    words = shlex.split(command.replace("\\\n", " "))
    assert words.pop(0) == "curl"
    method, headers, body, url = "GET", {}, None, ""
    while words:
        match words.pop(0):
            case "-X":
                method = words.pop(0)
            case "-H":
                name, _, value = words.pop(0).partition(": ")
                headers[name] = value
            case "-d":
                body = words.pop(0)
            case address:
                url = address
    response = await http.request(method, url, headers=headers, content=body)
    http.cookies.clear()
    assert comment == f"# {response.status_code}", (command, response.text)


def test_every_frame_on_the_page_of_the_socket_is_in_a_transcript():
    folder = ROOT / "tests" / "transcripts" / "phoenix"
    told = "".join(path.read_text() for path in folder.glob("*.txt"))
    known = {line.split(" ", 2)[2] for line in told.splitlines() if re.match(r"\w+ [<>] ", line)}
    shown = [
        line[2:] for block in blocks("docs/protocols/phoenix.md", "text") for line in block.text.splitlines()
    ]
    assert len(shown) > 15
    for frame in shown:
        assert len(json.loads(frame)) == 5
        assert frame in known, frame


def test_every_frame_on_the_page_of_the_xsos_door_is_in_a_transcript():
    folder = ROOT / "tests" / "transcripts" / "xsos"
    told = "".join(path.read_text() for path in folder.glob("*.txt"))
    known = {line.split(" ", 1)[1] for line in told.splitlines() if re.match(r"\w+ [<>] ", line)}
    shown = [line for block in blocks("docs/protocols/xsos.md", "text") for line in block.text.splitlines()]
    assert len(shown) > 15
    assert not set(shown) - known


def test_every_frame_on_the_page_of_the_gammonx_door_is_in_a_transcript():
    folder = ROOT / "tests" / "transcripts" / "gammonx"
    told = "".join(path.read_text() for path in folder.glob("*.txt"))
    known = {line.split(" ", 1)[1] for line in told.splitlines() if re.match(r"\w+ [<>] ", line)}
    shown = [
        line for block in blocks("docs/protocols/gammonx.md", "text") for line in block.text.splitlines()
    ]
    assert len(shown) > 10
    assert not set(shown) - known


def test_every_call_of_the_gammonx_hub_is_on_its_page():
    page = (ROOT / "docs" / "protocols" / "gammonx.md").read_text()
    for command in COMMANDS.values():
        assert f"`{command.name}`" in page
        assert f"`{command.code}`" in page
    for event in (*TOLD.values(), "match-ended", "force-disconnect", "turn-timer", "double-declined"):
        assert f"`{event}`" in page


# A board of one's own.


def test_the_board_of_the_tutorial_is_one_file_of_at_most_sixty_lines():
    lines = [line for line in source("docs/tutorial-board.md").splitlines() if line.strip()]
    assert len(lines) <= 60


def test_the_board_of_the_tutorial_can_be_played_to_the_end_by_what_its_scenes_offer(tmp_path):
    file = tmp_path / "connect_four.py"
    file.write_text(source("docs/tutorial-board.md"))
    (game,) = load_games(file)
    table = Table(game).sit("ann", "bob")
    for turn, column in enumerate((0, 1, 0, 1, 0, 1, 0)):
        player = ("ann", "bob")[turn % 2]
        scene = game.scene(table.state, player)
        assert not list(scene_faults(scene))
        table.act(player, scene.spots[column].click)
    assert table.room.outcome is not None
    assert table.room.outcome.won == ("ann",)
    last = game.scene(table.state, "bob")
    assert [piece.spot for piece in last.pieces if piece.mark == "win"] == ["c14", "c21", "c28", "c35"]
    assert not clicks(last)


def test_every_line_of_a_conversation_on_the_page_of_relays_is_in_a_transcript():
    folder = ROOT / "tests" / "transcripts" / "relay"
    known = {line for path in folder.glob("*.txt") for line in path.read_text().splitlines()}
    shown = [line for block in blocks("docs/protocols/relay.md", "text") for line in block.text.splitlines()]
    assert len(shown) > 15
    assert [line for line in shown if line not in known] == []


# Stratego, whose page is made of lists.


def section(page: str, heading: str) -> list[list[str]]:
    """The rows of the table under a heading."""
    lines = read(page).partition(f"\n## {heading}\n")[2].partition("\n## ")[0].splitlines()
    cells = [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| ")
    ]
    return cells[1:]


def test_the_package_on_the_page_about_publishing_is_the_one_that_the_tests_install():
    (shown,) = blocks("docs/how-to/publish-a-game.md", "toml")
    assert shown.text == read("tests/plugins/race/pyproject.toml")


def test_the_settings_of_stratego_are_those_of_its_presets():
    listed = {row[0].strip("`"): row[1:3] for row in section("docs/reference/stratego.md", "Settings")}
    rules = [msgspec.to_builtins(PRESETS[name]) for name in ("classic", "ogetarts")]
    shown = {
        name: [f"`{value}`" if isinstance(value, str) else json.dumps(value) for value in values]
        for name, *values in ((name, *(preset[name] for preset in rules)) for name in rules[0])
    }
    assert listed == shown


def test_the_settings_of_backgammon_are_those_of_its_config():
    listed = {
        row[0].strip("`"): row[1].strip("`") for row in section("docs/reference/backgammon.md", "Settings")
    }
    config = msgspec.to_builtins(GAMES["backgammon"].Config())
    assert listed == {
        name: value if isinstance(value, str) else json.dumps(value) for name, value in config.items()
    }


@pytest.mark.parametrize("name", ["stratego", "backgammon"])
def test_every_field_of_a_view_and_every_event_is_explained(name):
    game, page = GAMES[name], f"docs/reference/{name}.md"
    fields = re.findall(r"`(\w+)`", " ".join(row[0] for row in section(page, "A view")))
    sometimes = ["record", "resigning"] if name == "backgammon" else []
    assert sorted(fields) == sorted([*game.view(Table(game).state, None), *sometimes])
    events = re.findall(r'"type": "(\w+)"', " ".join(row[0] for row in section(page, "Events")))
    assert sorted(events) == sorted(str(kind.__struct_config__.tag) for kind in get_args(game.Event))

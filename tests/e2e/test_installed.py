"""What `pip install` brings: from the sdist by the wheel to a game in the browser, without Node."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import parlour
from tests.e2e.browser import Visitor
from tests.e2e.conftest import end
from tests.e2e.servers import Server
from tests.e2e.test_browser_lobby import NOUGHTS, arrive, button, play_the_bot
from tests.e2e.test_browser_pictures import DRAWN

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
RACE = ROOT / "tests" / "plugins" / "race"
LOCKED = ("--constraint", ROOT / "requirements.lock")


def run(*command: Any, path: Path | None = None, **more: Any) -> str:
    """What a command says; with *path* it finds no other programs than those there."""
    environment = {**os.environ, **({} if path is None else {"PATH": str(path)})}
    done = subprocess.run(
        [str(word) for word in command],
        check=False, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return str(done.stdout)


class Installed:
    """A virtual environment with the wheel and what it depends on, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.empty = folder / "empty"
        """A path without Node, and without anything else."""
        self.empty.mkdir()
        self.python = folder / "venv" / "bin" / "python"
        run(sys.executable, "-m", "hatchling", "build", "-d", folder / "dist", cwd=ROOT)
        (self.built,) = (folder / "dist").glob("*.whl")
        """The wheel as it is made of a clone; ours is made of the sdist, without Node."""
        (self.sdist,) = (folder / "dist").glob("*.tar.gz")
        self.pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, self.sdist)
        (self.wheel,) = folder.glob("*.whl")
        run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
        self.install(self.wheel, *LOCKED)

    def add_plugins(self) -> None:
        """One package with a game, and one whose games cannot be loaded."""
        self.pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", self.folder / "race", RACE)
        self.install("--no-deps", *(self.folder / "race").iterdir())
        self.register("broken", chess="no_such_module:Chess", tictactoe="parlour_race:Race")

    def register(self, package: str, **games: str) -> None:
        """Another package, of which there is no more than that it says it has games."""
        (site,) = (self.folder / "venv" / "lib").glob("python*/site-packages")
        metadata = site / f"{package}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = "".join(f"{name} = {value}\n" for name, value in games.items())
        (metadata / "entry_points.txt").write_text(f"[parlour.games]\n{lines}")

    def pip(self, *arguments: Any) -> None:
        # By the tests' own pip: a clean environment need not have one.
        run(
            sys.executable, "-m", "pip", *arguments, "--quiet", "--disable-pip-version-check", path=self.empty
        )

    def install(self, *what: Any) -> None:
        run(sys.executable, "-m", "pip", "--python", self.python, "install", "--quiet",
            "--disable-pip-version-check", *what, path=self.empty)  # fmt: skip

    def parlour(self, *arguments: Any, cwd: Path | None = None) -> str:
        command = self.python.with_name("parlour")
        return run(command, *arguments, path=self.empty, cwd=cwd or self.folder)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Made once, because that is what takes long."""
    return Installed(tmp_path_factory.mktemp("installed"))


@pytest.fixture
def serving(installed: Installed, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts the installed Parlour."""
    environment = {"PATH": str(installed.empty), "PARLOUR_BOT_PACE": "0"}
    with ExitStack() as stack:

        def start(*options: Any) -> Server:
            python = str(installed.python)
            server = Server(tmp_path / "data", *map(str, options), environment=environment, python=python)
            stack.callback(end, server.start())
            return server

        yield start


def test_a_newcomer_makes_checks_tests_serves_and_plays_a_game(installed, serving, visit, tmp_path):
    said = installed.parlour("new", "king_of_squares", cwd=tmp_path)
    assert said.splitlines()[-3:] == [
        "play:   parlour serve king_of_squares/king_of_squares.py --reload",
        "check:  parlour check king_of_squares/king_of_squares.py",
        "test:   pytest king_of_squares",
    ]
    file = tmp_path / "king_of_squares" / "king_of_squares.py"
    assert installed.parlour("check", file, cwd=tmp_path).startswith("king_of_squares: passes")
    installed.install("pytest", *LOCKED)
    tested = run(installed.python, "-m", "pytest", "-q", file.parent, path=installed.empty, cwd=tmp_path)
    assert " passed" in tested
    server = serving(file, "--reload")
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    bob.come_in(ann.open_room("King of squares"))
    for turn, square in enumerate(("1, row 1", "1, row 2", "2, row 1", "2, row 2", "3, row 1")):
        player = (ann, bob)[turn % 2]
        player.sees("Your turn")
        player.board.get_by_label(re.compile(rf"^column {square}\b")).click()
    ann.sees("You win: three in a row")
    bob.sees("Ann wins: three in a row")


def test_the_wheel_alone_brings_page_game_bots_and_leakcheck(installed, serving, visit):
    installed.add_plugins()
    hall = serving()
    check_contents(installed)
    assert installed.parlour("--version") == f"Parlour {parlour.__version__}\n"
    assert "tictactoe" in installed.parlour("leakcheck", "tictactoe", "--games", 1, "--steps", 10)
    assert hall.call("GET", "/health").json() == {"status": "ok", "version": parlour.__version__}
    ann = visit(hall, "Ann")
    button(arrive(ann), f"A bot to play {NOUGHTS} with").click()
    button(ann, "Play the bot").click()
    play_the_bot(ann)
    check_plugins(hall, ann)


def check_plugins(hall: Server, ann: Visitor) -> None:
    """The game of another package is in the lobby with its bot; what cannot be loaded is said, no more."""
    games = {game["name"]: game for game in hall.call("GET", "/api/games").json()}
    assert list(games) == [
        "tictactoe",
        "minesweeper",
        "stratego",
        "backgammon",
        "hex",
        "hearts",
        "goofspiel",
        "race",
    ]
    assert games["race"]["bots"] == ["random", "hasty"]
    button(arrive(ann), "A bot to play Race to ten with").click()
    button(ann, "Play the bot").click()
    expect(ann.page.locator("[data-seat]").get_by_role("img", name="a bot")).to_have_count(1)
    assert ann.page.evaluate(DRAWN) == [True], "the picture is in the wheel of the game"
    said = " ".join(hall.log.split())
    assert "chess (no_such_module:Chess, of the package broken) is left out: ModuleNotFoundError" in said
    assert "tictactoe (parlour_race:Race, of the package broken) is left out: expected a game of the" in said


def check_contents(installed: Installed) -> None:
    """Sdist and wheel have the page; the wheel has nothing but the package, whatever it was made of."""
    with tarfile.open(installed.sdist) as sdist:
        packed = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"src/parlour/web/index.html", "web/src/main.ts", "hatch_build.py", "PKG-INFO"} <= packed
    assert not [name for name in packed if "node_modules" in name or name.startswith("tests")]
    names = zipfile.ZipFile(installed.wheel).namelist()
    assert sorted(zipfile.ZipFile(installed.built).namelist()) == sorted(names)
    page = [name.removeprefix("parlour/web/") for name in names if name.startswith("parlour/web/")]
    assert {"index.html", "api-docs.html", "relay.html", "panel.html", "icon.svg"} <= set(page)
    assert {Path(name).suffix for name in page if name.startswith("assets/")} == {".css", ".js", ".woff2"}
    assert {name.partition("/")[0] for name in names} == {
        "parlour",
        f"parlour-{parlour.__version__}.dist-info",
    }


@pytest.mark.skipif(shutil.which("bash") is None, reason="the page is built by a script")
def test_without_node_a_clone_is_no_wheel_and_says_why_in_a_sentence(tmp_path):
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    (tmp_path / "web").mkdir()
    package = tmp_path / "src" / "parlour"
    package.mkdir(parents=True)
    shutil.copy(ROOT / "src" / "parlour" / "__init__.py", package)
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("bash", "dirname", "env"):
        (tools / tool).symlink_to(shutil.which(tool) or tool)
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"],
        cwd=tmp_path, check=False, env={**os.environ, "PATH": str(tools)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1
    assert "expected Node.js 20.19 or newer with npm, found none" in done.stderr
    assert "the page for browsers could not be built" in done.stderr
    assert "Traceback" not in done.stderr

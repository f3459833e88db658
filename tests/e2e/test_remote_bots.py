"""Bots that play over the real wire: the one of the docs, also against a person, and rated ones."""

import os
import shlex
import signal
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.lines import Lines
from tests.e2e.servers import launch
from tests.e2e.test_browser_access import serious_faults
from tests.test_docs import blocks

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]


class RunningBot:
    """A `parlour bot` in a process, and what it says."""

    def __init__(self, folder, server, function, *options):
        self.process = launch(
            "bot", function, "--server", f"http://{server.address}", *options,
            cwd=folder, more_environment={"PYTHONPATH": str(ROOT / "src")}, columns=1000,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.output = self.process.stdout
        self.lines = Lines(self.output)

    def wait_for(self, words):
        return self.lines.wait(lambda lines: next((one for one in lines if words in one), None), words)

    @property
    def id(self):
        return self.wait_for("its id is ").rpartition(" ")[2]

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.lines.end()
        self.output.close()


@contextmanager
def running(folder, server, function, *options):
    bot = RunningBot(folder, server, function, *options)
    try:
        yield bot
    finally:
        bot.kill()


@pytest.fixture
def folder(tmp_path):
    """A folder with the bot of the docs in it."""
    (tmp_path / "mybot.py").write_text(blocks("docs/how-to/write-a-bot.md", "python")[0].text)
    return tmp_path


def test_the_bot_of_the_docs_is_a_function_of_ten_lines():
    lines = blocks("docs/how-to/write-a-bot.md", "python")[0].text.strip().splitlines()
    assert len([line for line in lines if line]) <= 10


def test_a_person_plays_a_bot_that_is_killed_in_the_middle_and_comes_back(server, visit, folder):
    ann = visit(server, "Ann")
    room = ann.open_room()
    command = shlex.split(blocks("docs/how-to/write-a-bot.md", "sh")[0].text)
    assert command[:4] == ["parlour", "bot", "mybot:choose", "--server"]
    options = command[5:]
    with running(folder, server, "mybot:choose", *options) as bot:
        me = bot.id
        add = ann.page.get_by_role("button", name="Add a bot")
        add.focus()
        ann.press("Enter")
        visiting = ann.page.get_by_role("group", name="Bots that play over the network")
        bots = visiting.get_by_role("button", name="Ten Lines a bot")
        expect(ann.page.get_by_role("group", name="Which bot?").get_by_role("button").first).to_be_focused()
        assert serious_faults(ann) == []
        bots.focus()
        ann.press("Enter")
        ann.sees("Your turn")
        ann.mark("top left")
        expect(ann.board.locator("[data-piece]")).to_have_count(2)
    ann.sees("Your turn")
    seats = server.room(room)["seats"]
    assert [seat.get("bot", False) for seat in seats] == [False, True]
    ann.mark("top right")
    expect(ann.board.locator("[data-piece]")).to_have_count(3)
    with running(folder, server, "mybot:choose", *options) as bot:
        assert bot.id == me
        expect(ann.board.locator("[data-piece]")).to_have_count(4)


def test_two_bots_play_ranked_games_that_count_on_their_own_ladder(server, visit, folder):
    def ladder(**more):
        asked = {"game": "tictactoe", **more}
        return server.call("GET", "/api/leaderboard", params=asked).json()

    people = ladder()
    options = ("--games", "tictactoe", "--ranked")
    with (
        running(folder, server, "mybot:choose", *options, "--token-file", "1", "--name", "One") as one,
        running(folder, server, "mybot:choose", *options, "--token-file", "2", "--name", "Two") as two,
    ):
        ids = {one.id, two.id}
        one.wait_for("the game is over")
        assert ids <= {row["player"] for row in ladder(bots="true")}
    assert ladder() == people
    zoe = visit(server, "Zoe").go("/leaderboard/tictactoe")
    zoe.page.get_by_role("link", name="Bots").click()
    expect(zoe.page.get_by_role("row", name="One").get_by_role("img", name="bot")).to_be_visible()
    zoe.page.get_by_role("link", name="One").click()
    expect(zoe.page.get_by_role("heading", level=1).get_by_role("img", name="bot")).to_be_visible()
    zoe.page.get_by_role("link", name="Noughts and crosses").first.click()
    expect(zoe.page.get_by_role("link", name="Bots")).to_have_attribute("aria-current", "page")


def test_only_a_bot_at_the_lobby_can_be_invited_and_only_by_somebody_of_the_room(server, folder):
    ann, zoe = server.guest("Ann"), server.guest("Zoe")
    headers = {"Authorization": f"Bearer {ann.token}"}
    room = server.call("POST", "/api/rooms", {"game": "tictactoe"}, headers=headers).json()["id"]

    def ask(bot, who=ann):
        headers = {"Authorization": f"Bearer {who.token}"}
        return (
            server.call("POST", "/api/invitations", {"room": room, "bot": bot}, headers=headers)
            .json()
            .get("code")
        )

    bot = server.call("POST", "/api/players", {"bot": True}).json()
    assert ask(zoe.id) == ask("nobody") == ask(bot["id"]) == "unknown_bot"
    assert ask(bot["id"], zoe) == "not_seated"

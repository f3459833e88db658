"""The panel for authors in a real browser: all seats in one window, what each sees, back to a step and on."""

import re

import pytest
from playwright.sync_api import FrameLocator, Locator, Page, expect

from tests.e2e.browser import Visitor
from tests.e2e.servers import Server

pytestmark = pytest.mark.e2e

FIRST, SECOND, SPECTATOR = "Seat 0: Player 1", "Seat 1: Player 2", "Spectator"


def link_of(server: Server) -> str:
    """The way to the panel, as the terminal shows it."""
    server.wait_for_log("/panel#")
    found = re.search(r"http://[\d.:]+(/panel#\S+)", server.log)
    assert found is not None
    return found[1]


def board(page: Page, who: str) -> FrameLocator:
    """The room's own page of one seat."""
    return page.frame_locator(f"iframe[title='{who}']")


def sees(page: Page, who: str, words: str) -> None:
    """What stands in the tree of somebody's view."""
    expect(page.get_by_role("region", name=who).locator(".leaf", has_text=words)).to_be_visible()


def step(page: Page, words: str | re.Pattern[str]) -> Locator:
    return page.get_by_role("list", name="Steps").get_by_role("button", name=words)


@pytest.fixture
def author(serve, visit):
    """Somebody who serves games with --reload."""
    return visit(serve("--reload"), "Author")


def open_goofspiel(author: Visitor) -> Page:
    """A room of Goofspiel with two players, in the panel."""
    page = author.go(link_of(author.server)).page
    page.get_by_label("Game").select_option("Goofspiel")
    page.get_by_label("Config, as JSON").fill('{"cards": 5}')
    page.get_by_role("button", name="Open a room").click()
    for who in (FIRST, SECOND):
        expect(board(page, who).get_by_test_id("status")).to_have_text(re.compile("^Your turn: bid for"))
    expect(board(page, SPECTATOR).get_by_test_id("status")).to_have_text(re.compile("^Everybody bids for"))
    return page


@pytest.fixture
def panel(author):
    open_goofspiel(author)
    return author


def test_two_seats_and_a_spectator_side_by_side_and_a_secret_in_one_view_only(panel):
    page = panel.page
    board(page, FIRST).locator("[data-piece='k0-5']").click()
    sees(page, FIRST, "bid: 5")
    for who in (SECOND, SPECTATOR):
        sees(page, who, "sealed: [true,false]")
        sees(page, who, "bid: null")
        expect(board(page, who).locator("[data-piece='bid0']")).to_be_attached()
    expect(page.locator(".state .leaf", has_text="bids: [5,null]")).to_be_visible()


def test_back_to_a_step_and_on_from_there_in_a_new_room(panel):
    page, old = panel.page, panel.page.url
    board(page, FIRST).locator("[data-piece='k0-5']").click()
    expect(step(page, re.compile('Player 1 {"type":"bid","card":5}'))).to_have_attribute(
        "aria-current", "step"
    )
    step(page, "Player 2 connect").click()
    sees(page, FIRST, "bid: null")
    expect(page.get_by_role("region", name=FIRST).locator("svg.board")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Go on from step 4 in a new room")).click()
    page.wait_for_url(lambda url: url != old)
    board(page, FIRST).locator("[data-piece='k0-3']").click()
    sees(page, FIRST, "bid: 3")
    page.goto(old)
    page.reload()
    sees(page, FIRST, "bid: 5")


def test_only_an_author_with_the_key_has_a_panel_and_only_there_pages_can_be_framed(server, author):
    author.provoked.add(401)
    author.go("/panel#a-guess")
    why = "the panel opens by the link that the server's terminal shows"
    expect(author.page.get_by_role("alert")).to_have_text(why)
    expect(author.page.get_by_role("button", name="Open a room")).to_have_count(0)
    paths = ("/panel", "/panel/ABCD", "/panel.html", "/api/panel/rooms")
    assert [server.call("GET", path).status_code for path in paths] == [404] * 4
    policies = [one.call("GET", "/").headers["content-security-policy"] for one in (server, author.server)]
    assert ["frame-ancestors 'none'" in policy for policy in policies] == [True, False]

"""Hex, Hearts and Goofspiel in real browsers, played by pressing alone, from the first press to the end."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.clicker import play_to_the_end, watch_answers
from tests.e2e.conftest import end
from tests.e2e.servers import Server
from tests.e2e.test_browser_moves import SCREENS

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """A server whose bots take no time for show."""
    server = Server(tmp_path_factory.mktemp("quick"), "--bot-pace", "0").start()
    yield server
    end(server)


def with_bots(visitor, count: int, bot: str) -> None:
    """Bots take the free seats."""
    for number in range(count):
        visitor.page.get_by_role("button", name="Add a bot").click()
        visitor.page.get_by_role("group", name="Which bot?").get_by_role("button", name=bot).click()
        expect(visitor.page.locator(".bar .who strong")).to_have_count(2 + number)


ARE_WHOLE = """(names) => names.length === 3 && names.every(
    (name) => name.scrollWidth <= name.clientWidth + 1 && name.scrollHeight <= name.clientHeight + 2)"""


@pytest.mark.parametrize("screen", ["desk", "phone"])
def test_a_deal_of_hearts_is_played_with_three_bots(quick, visit, screen):
    ann = visit(quick, "Ann", **SCREENS[screen])
    watch_answers(ann)
    ann.come_in(quick.open_room("hearts", config={"points": 0})["id"])
    with_bots(ann, 3, "Sensible")
    ann.sees(re.compile("^Your turn: choose 3 for Sensible bot"))
    hand = ann.board.locator("[data-piece^=k]")
    expect(hand).to_have_count(13)
    assert ann.page.locator(".others .who a span").evaluate_all(ARE_WHOLE), "a name is cut off"
    assert play_to_the_end(ann, seed=3) >= 3 + 1 + 13
    expect(ann.status).to_have_text(re.compile("win|lose|draw"))
    expect(hand).to_have_count(4)  # the last trick
    ann.page.get_by_role("link", name="Replay").click()
    expect(ann.page.get_by_role("slider", name="Moment")).to_be_visible()


def test_two_people_play_hex_and_one_takes_the_first_stone_over(server, visit):
    room = server.open_room("hex", config={"size": 3})["id"]
    ann, bob = (visit(server, name).come_in(room) for name in ("Ann", "Bob"))
    ann.sees("Your turn")
    ann.spot("b1").click()
    bob.sees("Your turn: put a stone, or take the red one over")
    bob.page.get_by_role("button", name="Take the red stone over").click()
    ann.sees("Your turn")
    expect(ann.spot("a2, blue")).to_be_attached()
    for mine, yours in (("b2", "c1"), ("b1", "c2")):
        ann.spot(mine).click()
        bob.sees("Your turn")
        bob.spot(yours).click()
        ann.sees("Your turn")
    ann.spot("a3").click()
    ann.sees(re.compile("You win: a chain from the top to the bottom"))
    bob.sees(re.compile("Ann wins: a chain from the top to the bottom|You lose"))


def test_two_people_and_a_bot_bid_in_secret(quick, visit):
    config = {"players": 3, "cards": 4}
    room = quick.open_room("goofspiel", config=config)["id"]
    ann, bob = (visit(quick, name) for name in ("Ann", "Bob"))
    for visitor in (ann, bob):
        watch_answers(visitor)
        visitor.come_in(room)
    with_bots_from = ann.page.get_by_role("button", name="Add a bot")
    with_bots_from.click()
    ann.page.get_by_role("group", name="Which bot?").get_by_role("button", name="Fair").click()
    for visitor in (ann, bob):
        visitor.sees(re.compile(r"^Your turn: bid for \d$"))
    ann.board.locator("[data-piece='k0-4']").click()
    ann.sees("Waiting for the other bids")
    expect(ann.board.locator("[data-piece='k0-4']")).to_be_attached()
    expect(bob.board.locator("[data-piece='bid0']")).to_be_attached()
    bob.board.locator("[data-piece='k1-3']").click()
    expect(bob.board.get_by_label(re.compile("^last bid of Ann, 4"))).to_be_attached()
    for card in (3, 2, 1):
        for visitor, seat in ((ann, 0), (bob, 1)):
            visitor.sees(re.compile("^Your turn: bid for"))
            bid = card if seat == 0 else {3: 4, 2: 2, 1: 1}[card]
            visitor.board.locator(f"[data-piece='k{seat}-{bid}']").click()
    for visitor in (ann, bob):
        expect(visitor.status).to_have_text(re.compile("win|lose|draw"))

"""Hex, Hearts and Goofspiel in real browsers, played by pressing alone, from the first press to the end."""

import re
from random import Random

import pytest
from playwright.sync_api import expect

from tests.e2e.clicker import play_to_the_end, press_next, watch_answers
from tests.e2e.test_browser_moves import SCREENS

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def quick(serve_all):
    """A server whose bots take no time for show."""
    return serve_all("--bot-pace", 0)


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
    laid_out = ann.board.get_attribute("viewBox")
    assert laid_out is not None
    ann.press("ArrowLeft")
    expect(ann.page.get_by_role("group", name="An earlier moment")).to_be_visible()
    expect(ann.board).to_have_attribute("viewBox", laid_out)
    ann.page.get_by_role("link", name="Replay").click()
    expect(ann.page.get_by_role("slider", name="Moment")).to_be_visible()
    expect(ann.board).to_have_attribute("viewBox", laid_out)
    expect(ann.page.get_by_role("list", name="Players").get_by_role("listitem")).to_have_count(4)
    ann.press("End")
    expect(ann.page.get_by_role("button", name="After deal 1")).to_have_attribute("aria-current", "step")
    assert ann.page.evaluate("scrollY") == 0, "the board is out of sight"


def test_four_people_play_hearts_and_each_sees_their_own_hand_alone(server, visit):
    room = server.open_room("hearts", config={"points": 0})["id"]
    table = [visit(server, name) for name in ("Ann", "Bob", "Cat", "Dan")]
    for visitor in table:
        watch_answers(visitor)
        visitor.come_in(room)
    for visitor in table:
        visitor.sees(re.compile("^Your turn: choose 3 for "))
    hands = [in_hand(visitor) for visitor in table]
    assert len(set().union(*hands)) == 52
    random = Random(3)
    for visitor in table:
        for _ in range(3 + 1):  # three cards, and the button that passes them on
            press_next(visitor, random)
    for _ in range(4 * 13):
        meet(table)
        (one,) = [who for who in table if who.status.inner_text().startswith("Your turn")]
        press_next(one, random)
    for visitor in table:
        expect(visitor.status).to_have_text(re.compile("win|lose|draw"))
        expect(visitor.board.locator("[data-piece^=k]")).to_have_count(4)  # the last trick


def in_hand(visitor) -> set[str]:
    """The cards that somebody sees, of which nobody else sees one."""
    hand = visitor.board.locator("[data-piece^=k]")
    expect(hand).to_have_count(13)
    return set(hand.evaluate_all("(cards) => cards.map((card) => card.dataset.piece)"))


def meet(table) -> None:
    """Returns when everybody was answered and sees the newest step."""
    for visitor in table:
        visitor.page.wait_for_function("() => !window.unanswered.size")
    newest = max(visitor.seq for visitor in table)
    for visitor in table:
        visitor.catch_up(newest)


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


def test_four_people_bid_in_secret(server, visit):
    room = server.open_room("goofspiel", config={"players": 4, "cards": 3})["id"]
    table = [visit(server, name) for name in ("Ann", "Bob", "Cat", "Dan")]
    for visitor in table:
        visitor.come_in(room)
    for visitor in table:
        visitor.sees(re.compile(r"^Your turn: bid for \d$"))
    bids = ((3, 1, 2), (2, 3, 1), (1, 2, 3), (1, 3, 2))
    for number in range(3):
        for seat, visitor in enumerate(table):
            visitor.board.locator(f"[data-piece='k{seat}-{bids[seat][number]}']").click()
            if number == 0 and seat < 3:
                visitor.sees("Waiting for the other bids")
                sealed = re.compile(f"^bid of {visitor.name}, sealed bid")
                for other in table[:seat] + table[seat + 1 :]:
                    expect(other.board.get_by_label(sealed)).to_be_attached()
        for visitor in table if number < 2 else ():
            visitor.sees(re.compile("^Your turn: bid for"))
            revealed = re.compile(f"^last bid of Ann, {bids[0][number]}")
            expect(visitor.board.get_by_label(revealed)).to_be_attached()
    for visitor in table:
        expect(visitor.status).to_have_text(re.compile("win|lose|draw"))

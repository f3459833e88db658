"""The settings sheet: what a player likes is used at once, and kept."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import DESKTOP, PHONE
from tests.e2e.hands import button, movable, tap, wait_for_dice
from tests.e2e.test_browser_access import serious_faults

pytestmark = pytest.mark.e2e

PAPER = "getComputedStyle(document.body).backgroundColor"
LIGHT, DARK = "rgb(247, 243, 234)", "rgb(23, 21, 18)"


def open_settings(visitor):
    visitor.page.get_by_role("button", name="Settings").click()
    return visitor.page.get_by_role("dialog", name="Settings")


def choose(visitor, *labels):
    sheet = open_settings(visitor)
    for label in labels:
        with visitor.page.expect_response("**/me/preferences"):
            sheet.get_by_text(label, exact=True).click()
    sheet.get_by_role("button", name="Done").click()


def test_settings_are_kept_over_a_reload_and_in_a_browser_that_forgets(server, visit):
    ann = visit(server, "Ann").go("/")
    assert ann.page.evaluate(PAPER) == LIGHT
    choose(ann, "Dark", "None")
    assert ann.page.evaluate(PAPER) == DARK
    ann.page.reload()
    expect(ann.page.locator("html")).to_have_attribute("data-theme", "dark")
    assert ann.page.evaluate(PAPER) == DARK
    ann.page.evaluate("localStorage.clear()")
    ann.page.reload()
    expect(ann.page.locator("html")).to_have_attribute("data-theme", "dark")  # the server has kept it
    expect(ann.page.locator("html")).to_have_attribute("data-animation", "none")


def test_a_board_that_is_turned_around_shows_the_other_side_first(server, visit):
    ann = visit(server, "Ann")
    ann.open_room()
    before = ann.spot("top left").bounding_box()
    choose(ann, "Turn the board around")
    after, opposite = ann.spot("top left").bounding_box(), ann.spot("bottom right").bounding_box()
    assert opposite["x"] < after["x"] > before["x"]
    assert opposite["y"] < after["y"] > before["y"]


MOTIONS = """window.motions = [];
const animate = Element.prototype.animate;
Element.prototype.animate = function (frames, how) {
    window.motions.push(how.duration);
    return animate.call(this, frames, how);
};"""
"""How long each motion of a piece takes, in milliseconds."""


def test_pieces_move_calmly_quickly_or_not_at_all_as_one_has_chosen(server, visit):
    room = server.open_room("backgammon", config={"variant": "portes", "opening_dice": True})["id"]
    pair = [
        visit(server, name, picks_up=False, reduced_motion="no-preference", viewport=size)
        for name, size in (("Ann", DESKTOP), ("Bob", PHONE))
    ]
    for who in pair:
        who.context.add_init_script(MOTIONS)
        who.come_in(room)
    for who in pair:
        button(who, "Ready").click()
    ann = pair[0]
    expect(ann.board.get_by_role("img", name=re.compile("^dice of .*, an? "))).to_be_visible()
    who = pair[int(ann.page.locator(".bar.turn").get_attribute("data-seat"))]
    expect(movable(who).first).to_be_visible()

    def motions(*labels):
        """What moves where this is chosen: a checker goes there and back, and its die is thrown again."""
        choose(who, *labels)
        who.page.evaluate("motions.length = 0")
        tap(who, movable(who).last)
        wait_for_dice(who, 0)
        button(who, "Undo").click()
        expect(who.board.locator(".piece.dim[data-piece^=die]")).to_have_count(0)
        return set(who.page.evaluate("motions"))

    calm, quick = {180, 360}, {90, 180}
    assert motions() == calm
    assert motions("Quick") == quick
    assert motions("None") == set()
    assert motions("Calm") == calm


def test_a_move_waits_until_it_is_confirmed_for_whoever_wants_that(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    bob.come_in(ann.open_room())
    ann.sees("Your turn")
    choose(ann, "Ask before a move counts")
    ann.mark("centre")
    ann.page.get_by_role("button", name="Take it back").click()
    ann.mark("left")
    ann.press("Enter")  # the question has the focus
    bob.sees("Your turn")
    expect(bob.spot("left, X")).to_be_attached()
    expect(bob.spot("centre")).to_be_attached()


@pytest.mark.parametrize(
    "options", [{}, {"viewport": PHONE, "color_scheme": "dark"}], ids=["desktop", "phone"]
)
def test_axe_finds_no_serious_fault_in_the_settings(server, visit, options):
    ann = visit(server, "Ann", **options).go("/")
    open_settings(ann)
    assert serious_faults(ann) == []


def test_what_to_do_first_stands_beside_the_first_game_until_it_is_put_away(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    bob.come_in(ann.open_room())
    hint = ann.page.get_by_role("note", name="Your first game")
    expect(hint).to_contain_text("Click any free square")
    assert serious_faults(ann) == []
    hint.get_by_role("button", name="The rules").click()
    expect(ann.page.get_by_role("dialog", name="How to play")).to_be_visible()
    ann.press("Escape")
    with ann.page.expect_response(
        lambda answer: answer.url.endswith("/preferences") and answer.status == 200
    ):
        hint.get_by_role("button", name="Put this away").click()
    expect(hint).to_have_count(0)
    ann.open_room()
    expect(ann.page.get_by_text("Waiting for your friend")).to_be_visible()
    expect(hint).to_have_count(0)
    ann.open_room("Minesweeper")
    expect(hint).to_contain_text("the first is never a mine")
    again = visit(server, "Ann")  # on another device, by the same token
    again.context.add_cookies(ann.context.cookies())
    again.open_room()
    expect(again.page.get_by_text("Waiting for your friend")).to_be_visible()
    expect(again.page.get_by_role("note", name="Your first game")).to_have_count(0)


NO_STORAGE = """for (const area of ["localStorage", "sessionStorage"])
    Object.defineProperty(window, area, { get() { throw new DOMException("off", "SecurityError"); } });"""


def test_a_browser_that_keeps_nothing_plays_all_the_same(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    ann.context.add_init_script(NO_STORAGE)
    room = ann.open_room()
    choose(ann, "Dark")
    bob.come_in(room)
    ann.sees("Your turn")
    ann.mark("centre")
    bob.sees("Your turn")


NEITHER_COPIED_NOR_SENT = """delete Navigator.prototype.share;
Object.defineProperty(navigator, "clipboard", {
    value: { writeText: () => Promise.reject(new DOMException("no", "NotAllowedError")) },
});"""


def test_where_a_page_may_neither_copy_nor_send_the_link_is_there_to_be_selected(server, visit):
    ann = visit(server, "Ann")
    ann.context.add_init_script(NEITHER_COPIED_NOR_SENT)
    room = ann.open_room()
    expect(ann.page.get_by_role("button", name="Send", exact=True)).to_have_count(1)  # that of the chat
    ann.page.get_by_role("button", name="Copy").click()
    expect(ann.page.get_by_text("select the link instead")).to_be_visible()
    ann.go(f"/r/{room}/replay")
    ann.page.get_by_role("button", name="Link to this moment").click()
    expect(ann.page.get_by_role("textbox", name="Link to this moment")).to_have_value(
        re.compile(f"/r/{room}/replay#")
    )

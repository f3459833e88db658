"""Whatever opens at a table and around it: for screen readers, by keyboard alone, in light and dark."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import LANDSCAPE
from tests.e2e.hands import button, choose
from tests.e2e.test_browser_lobby import TWO_LOOKS, looked_at

pytestmark = pytest.mark.e2e

SIDEWAYS = (LANDSCAPE, "light")


def win(ann, bob):
    for mine, yours in (("centre", "left"), ("top", "right")):
        ann.mark(mine)
        bob.sees("Your turn")
        bob.mark(yours)
        ann.sees("Your turn")
    ann.mark("bottom")
    ann.sees("You win: three in a row")


def test_axe_finds_no_serious_fault_in_the_waiting_room_among_offers_and_at_the_end(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    room = ann.open_room()
    expect(ann.page.get_by_role("heading", name="Waiting for your friend")).to_be_visible()
    assert looked_at(ann, [*TWO_LOOKS, SIDEWAYS]) == []
    bob.come_in(room)
    ann.sees("Your turn")
    button(ann, "Offers and resigning").click()
    expect(button(ann, "Offer a draw")).to_be_visible()
    assert looked_at(ann, [*TWO_LOOKS, SIDEWAYS]) == []
    button(ann, "Offer a draw").click()
    expect(button(bob, "Agree")).to_be_visible()
    for who in (ann, bob):
        assert looked_at(who, TWO_LOOKS) == []
    button(bob, "Decline").click()
    expect(button(bob, "Agree")).to_have_count(0)
    choose(bob, "Resign")
    expect(bob.page.get_by_role("dialog")).to_be_visible()
    assert looked_at(bob, TWO_LOOKS) == []
    bob.page.get_by_role("dialog").get_by_role("button", name="No").click()
    bob.page.set_viewport_size({"width": 1280, "height": 800})
    ann.page.set_viewport_size({"width": 1280, "height": 800})
    button(bob, "Offers and resigning").click()
    win(ann, bob)
    expect(ann.page.get_by_role("link", name="Replay")).to_be_visible()
    for who in (ann, bob):
        assert looked_at(who, [*TWO_LOOKS, SIDEWAYS]) == []
    ann.go(f"/r/{room}/replay#999")
    ann.reads("There is no step 999 in this replay: its last is")
    assert looked_at(ann, [*TWO_LOOKS, SIDEWAYS]) == []


def test_axe_finds_no_serious_fault_on_the_pages_around_the_rooms(server, visit):
    ann = visit(server, "Ann")
    ann.provoked = {404}
    for path, heading in (
        ("/", "Noughts and crosses"),
        ("/leaderboard", "Leaderboard"),
        ("/p/bot:casual", "Casual bot"),
        ("/watch", "Watch"),
        ("/games", "Ratings"),
        ("/account", "Make an account"),
        ("/nowhere", "There is nothing here"),
        ("/r/NOWHERE", "There is no room NOWHERE"),
        ("/rules/stratego", "Stratego"),
        ("/rules/backgammon/plakoto", "Plakoto"),
    ):
        ann.go(path)
        expect(ann.page.get_by_role("heading", name=heading).first).to_be_visible()
        assert looked_at(ann, [*TWO_LOOKS, SIDEWAYS]) == []
    ann.go("/").set_up("Backgammon")
    assert looked_at(ann, [*TWO_LOOKS, SIDEWAYS]) == []


def test_axe_finds_no_serious_fault_at_doors_and_in_a_room_that_closes(server, visit):
    ann, bob, eve = visit(server, "Ann"), visit(server, "Bob"), visit(server, "Eve")
    for watching, way in (("anyone", "Watch"), ("nobody", "To the games")):
        room = server.open_room("tictactoe", watching=watching)["id"]
        for who in (ann, bob):
            who.come_in(room)
        eve.go(f"/r/{room}")
        expect(button(eve, way).or_(eve.page.get_by_role("link", name=way)).first).to_be_visible()
        assert looked_at(eve, [*TWO_LOOKS, SIDEWAYS]) == []
    room = server.open_room("backgammon", config={"match": "five_points"})["id"]
    eve.go(f"/r/{room}")
    expect(button(eve, "Sit down")).to_be_visible()
    assert looked_at(eve, [*TWO_LOOKS, SIDEWAYS]) == []
    room = server.open_room("minesweeper")["id"]
    ann.come_in(room)
    eve.come_in(room, "Watch")
    button(ann, "Leave").click()
    ann.page.get_by_role("dialog").get_by_role("button", name="Leave").click()
    eve.sees("This room has closed.")
    assert looked_at(eve, [*TWO_LOOKS, SIDEWAYS]) == []
    eve.page.reload()
    expect(eve.page.get_by_role("heading", name="This room has closed.")).to_be_visible()
    assert looked_at(eve, [*TWO_LOOKS, SIDEWAYS]) == []


def test_a_game_is_set_up_and_a_friend_invited_by_keyboard_alone(server, visit):
    ann = visit(server, "Ann").go("/")
    ann.context.grant_permissions(["clipboard-read", "clipboard-write"])
    expect(button(ann, "Set up Backgammon")).to_be_visible()
    ann.tab_to("Your name")
    ann.page.keyboard.type("Ann")
    ann.tab_to("Set up Backgammon")
    ann.press("Enter")
    dialog = ann.page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    tab_until(ann, "backgammon-card")
    ann.press("ArrowRight", "ArrowRight")
    expect(dialog.get_by_role("radio", name="Tavli")).to_be_checked()
    tab_until(ann, "backgammon-Match")
    ann.press("ArrowRight")
    expect(dialog.get_by_role("radio", name="5 points")).to_be_checked()
    ann.tab_to("Open the room")
    ann.press("Enter")
    expect(ann.page.get_by_role("heading", name="Waiting for your friend")).to_be_visible()
    ann.tab_to("Copy")
    ann.press("Enter")
    expect(button(ann, "Copied")).to_be_visible()
    assert ann.page.evaluate("navigator.clipboard.readText()") == ann.page.url
    ann.tab_to("Settings")
    ann.press("Enter")
    expect(ann.page.get_by_role("dialog", name="Settings")).to_be_visible()
    tab_until(ann, "settings-theme")
    ann.press("ArrowRight", "ArrowRight")
    expect(ann.page.locator("html")).to_have_attribute("data-theme", "dark")
    ann.press("Escape")
    expect(button(ann, "Settings")).to_be_focused()


def tab_until(visitor, name, most=40):
    """Press Tab until a radio button of these has the focus."""
    for _ in range(most):
        visitor.press("Tab")
        if visitor.page.evaluate("document.activeElement.name") == name:
            return
    raise AssertionError(f"expected Tab to come to {name}, it did not")


def test_offers_are_made_and_answered_by_keyboard_alone(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    bob.come_in(ann.open_room())
    ann.sees("Your turn")
    ann.tab_to("Offers and resigning")
    ann.press("Enter")
    ann.tab_to("Offer a draw")
    ann.press("Enter")
    expect(bob.page.get_by_test_id("offer")).to_have_text("Ann offers a draw.")
    bob.tab_to("Decline")
    bob.press("Enter")
    expect(ann.page.get_by_test_id("offer")).to_have_text("Your draw was declined.")
    bob.tab_to("Offers and resigning")
    bob.press("Enter")
    bob.tab_to("Resign")
    bob.press("Enter")
    bob.tab_to("Yes")
    bob.press("Enter")
    ann.sees("You win: the other side resigned")


def test_the_end_of_a_game_is_read_and_left_by_keyboard_alone(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    bob.come_in(ann.open_room())
    ann.sees("Your turn")
    win(ann, bob)
    ann.tab_to("Fair play")
    ann.press("Enter")
    expect(ann.page.get_by_text(re.compile("seed")).first).to_be_visible()
    ann.tab_to("Rematch")
    ann.press("Enter")
    bob.tab_to("Replay")
    bob.press("Enter")
    expect(bob.page.get_by_role("slider", name="Moment")).to_be_visible()
    bob.tab_to("A move on")
    bob.press("Enter")
    expect(bob.page.get_by_role("status").first).to_contain_text("centre")

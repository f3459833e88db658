"""My games: home, title and icon say how many wait for me, and the results say who was a guest."""

import pytest
from playwright.sync_api import expect

from tests.e2e.test_browser_accounts import open_account
from tests.e2e.test_browser_attention import shows_icon

pytestmark = pytest.mark.e2e

BADGED = (
    "window.badges = []; Navigator.prototype.setAppBadge = async (count) => void window.badges.push(count);"
)
"""A browser that notes what the icon of the installed page is to show."""


def shows_badge(visitor, count):
    visitor.page.wait_for_function("(count) => window.badges.at(-1) === count", arg=count)


def says_of_my_games(visitor, words):
    """Home, on which a link has these words; and so have its title and icon, as far as something waits."""
    visitor.go("/")
    expect(visitor.page).to_have_title(f"● {words} · Parlour")
    shows_icon(visitor, "/icon-turn.svg")


def test_home_title_and_icon_say_in_how_many_games_it_is_my_move(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    ann.context.add_init_script(BADGED)
    rooms = [server.open_room()["id"] for _ in range(2)]
    for room in rooms:
        ann.come_in(room)
        bob.come_in(room)
        ann.sees("Your turn")
    says_of_my_games(ann, "Your move in 2 games")
    shows_badge(ann, 2)
    ann.page.get_by_role("link", name="Your move in 2 games").click()
    expect(ann.page).to_have_title("● Your move in 2 games · Your games · Parlour")
    ann.go(f"/r/{rooms[0]}").mark("centre")
    bob.go(f"/r/{rooms[0]}").sees("Your turn")
    says_of_my_games(ann, "Your turn")
    shows_badge(ann, 1)
    ann.page.get_by_role("link", name="Your turn").click()
    ann.sees("Your turn")
    ann.mark("centre")
    bob.go(f"/r/{rooms[1]}").sees("Your turn")
    ann.go("/")
    shows_badge(ann, 0)
    expect(ann.page).to_have_title("Parlour")
    shows_icon(ann, "/icon.svg")
    expect(ann.page.get_by_role("link", name="Your turn")).to_have_count(0)


def test_guests_are_marked_in_the_results_of_those_they_played_with(server, visit):
    ann, gus = visit(server, "Anneke"), visit(server, "Gus")
    open_account(ann)
    room = server.open_room()["id"]
    ann.go(f"/r/{room}").page.get_by_role("button", name="Sit down").click()
    gus.come_in(room)
    for visitor, mark in zip((ann, gus) * 3, ("centre", "left", "top", "right", "bottom"), strict=False):
        visitor.sees("Your turn")
        visitor.mark(mark)
    ann.sees("You win: three in a row")
    for who, result in ((ann, "Won against Gus guest"), (gus, "Lost against Anneke")):
        expect(who.go("/games").page.locator(".results .what")).to_have_text(result)

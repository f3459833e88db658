"""The first minute: from a first visit to a game, what the home page shows first, and who waits for me."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import DESKTOP, PHONE
from tests.e2e.hands import choose
from tests.e2e.test_browser_lobby import looked_at

pytestmark = pytest.mark.e2e

LANDSCAPE = {"width": 844, "height": 390}
SCREENS = pytest.mark.parametrize(
    "screen",
    [
        {"viewport": DESKTOP},
        {"viewport": PHONE, "has_touch": True},
        {"viewport": LANDSCAPE, "has_touch": True},
    ],
    ids=["desktop", "phone", "landscape"],
)


@SCREENS
def test_a_stranger_plays_a_bot_after_two_taps(server, visit, screen):
    ann = visit(server, "Ann", **screen).go("/")
    tap = "tap" if screen.get("has_touch") else "click"
    getattr(ann.page.get_by_role("button", name="A bot to play Noughts and crosses with"), tap)()
    getattr(ann.page.get_by_role("dialog").locator("button.main").first, tap)()
    ann.page.wait_for_url(re.compile(r"/r/\w+$"))
    expect(ann.page.locator("[data-seat]").get_by_role("img", name="a bot")).to_have_count(1)
    expect(ann.status).to_have_text(re.compile("Your turn|Waiting for"))


@SCREENS
def test_the_first_play_now_is_on_the_first_screen_whatever_rooms_there_are(server, visit, screen):
    for _ in range(8):
        server.open_room()
    ann = visit(server, "Ann", **screen).go("/")
    expect(ann.page.get_by_role("button", name=re.compile("^Show all"))).to_be_attached()
    box = ann.page.get_by_role("button", name=re.compile("^Play now")).first.bounding_box()
    assert box["y"] + box["height"] <= screen["viewport"]["height"]
    expect(ann.page.locator(".main").first).to_have_text("Play now")


def test_the_header_says_how_many_games_wait_for_me_and_leads_there(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    room = ann.open_room()
    bob.come_in(room)
    ann.sees("Your turn")
    ann.page.get_by_role("link", name="Parlour").click()
    expect(ann.page.get_by_role("link", name="Your turn at Noughts and crosses: Bob waits")).to_be_visible()
    ann.page.get_by_role("link", name="Your games: 1 waits for you").click()
    running = ann.page.get_by_role("region", name="Now")
    running.get_by_role("button", name=f"Play on: Ann and Bob, room {room}").click()
    ann.mark("centre")
    bob.sees("Your turn")
    ann.page.get_by_role("link", name="Parlour").click()
    expect(ann.page.get_by_role("button", name=f"Return: Ann and Bob, room {room}")).to_be_visible()
    ann.page.get_by_role("link", name="Your games", exact=True).click()
    choose(bob, "Resign")
    bob.page.get_by_role("dialog").get_by_role("button", name="Yes").click()
    bob.sees(re.compile("resigned"))
    ann.page.reload()
    expect(running.get_by_text("You sit at no table right now.")).to_be_visible()
    ann.click("Show those that are over (1)")
    expect(running.get_by_role("button", name=f"Return: Ann and Bob, room {room}")).to_be_visible()


def test_rooms_are_chosen_by_what_happens_in_them_and_watched_from_their_page(server, visit):
    ann, bob, eve, fay = (visit(server, name) for name in ("Ann", "Bob", "Eve", "Fay"))
    room = server.open_room("backgammon", config={"variant": "fevga", "match": "five_points"})["id"]
    ann.come_in(room)
    bob.come_in(room)
    eve.go("/").page.get_by_role("link", name="Watch", exact=True).click()
    eve.page.get_by_role("button", name="Being played").click()
    row = eve.page.get_by_role("listitem").filter(has_text=room)
    expect(row).to_contain_text(re.compile("Ann and Bob.*Backgammon: Fevga.*0.:.0"))
    row.get_by_role("button", name="Watch").click()
    expect(ann.page.get_by_text("1 person is watching")).to_be_visible()
    fay.go("/watch").page.get_by_role("button", name="Being played").click()
    expect(fay.page.get_by_role("listitem").filter(has_text=room)).to_contain_text("1 person watches")


def test_the_pages_of_the_header_are_reached_by_keyboard_and_fit_every_screen(server, visit):
    ann = visit(server, "Ann").go("/")
    expect(ann.page.get_by_role("button", name="Play Minesweeper")).to_be_visible()
    for link, heading in (("Watch", "Watch"), ("Leaderboard", "Leaderboard"), ("Your games", "Guest")):
        ann.tab_to(link)
        ann.press("Enter")
        expect(ann.page.get_by_role("heading", name=heading, level=1)).to_be_visible()
        assert looked_at(ann) == []

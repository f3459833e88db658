"""The list of moves: beside the board while a game goes on, and in the replay, with a link to each moment."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import DESKTOP, PHONE
from tests.e2e.test_browser_access import serious_faults
from tests.e2e.test_browser_small import ON_ITS_SIDE, TOUCH

pytestmark = pytest.mark.e2e

SCREENS: dict[str, dict[str, Any]] = {
    "desk": {"viewport": DESKTOP},
    "phone": {"viewport": PHONE, **TOUCH},
    "on its side": {"viewport": ON_ITS_SIDE, **TOUCH},
}

MOST_SCREENS = ["desk", "phone", pytest.param("on its side", marks=pytest.mark.long)]
"""For what a phone on its side does as one held upright, where other tests see that it has room there."""


@pytest.fixture(params=list(SCREENS))
def pair(request, server, visit):
    """Ann on one kind of screen and Bob at his desk, four moves into a game."""
    room = server.open_room()["id"]
    ann = visit(server, "Ann", **SCREENS[request.param]).come_in(room)
    bob = visit(server, "Bob").come_in(room)
    for mine, yours in (("centre", "top left"), ("top right", "right")):
        ann.sees("Your turn")
        ann.mark(mine)
        bob.sees("Your turn")
        bob.mark(yours)
    ann.sees("Your turn")
    return ann, bob


def moves(visitor):
    """The lines of the list; where there is no room beside the board it comes in a sheet."""
    opener = visitor.page.get_by_role("button", name="Moves", exact=True)
    if opener.is_visible():
        opener.click()
    return visitor.page.get_by_role("region", name="Moves").get_by_role("button")


def has_pieces(visitor, count):
    expect(visitor.board.locator("[data-piece]")).to_have_count(count)


def test_on_a_desk_moves_stand_beside_the_board_and_the_chat_below_them(server, visit):
    room = server.open_room()["id"]
    ann = visit(server, "Ann", viewport=DESKTOP).come_in(room)
    visit(server, "Bob").come_in(room).say("good luck")
    played = ann.page.get_by_role("region", name="Moves").bounding_box()
    said = ann.page.get_by_role("region", name="Chat").bounding_box()
    board = ann.board.bounding_box()
    expect(ann.page.get_by_text("good luck")).to_be_in_viewport(ratio=1)
    expect(ann.page.get_by_label("Say something")).to_be_in_viewport(ratio=1)
    assert board["x"] + board["width"] <= played["x"]
    assert played["y"] + played["height"] <= said["y"]
    assert abs(played["x"] - said["x"]) < played["width"] / 2


def test_a_click_on_a_move_shows_that_moment_while_the_game_goes_on(pair):
    ann, bob = pair
    expect(moves(ann)).to_have_text([re.compile("Ann: centre"), re.compile("Bob: top left"),
                                     re.compile("Ann: top right"), re.compile("Bob: right")])  # fmt: skip
    assert serious_faults(ann) == []
    ann.page.get_by_role("region", name="Moves").get_by_role("button").nth(1).click()
    expect(ann.page.get_by_text("Move 2 of 4")).to_be_in_viewport(ratio=1)
    has_pieces(ann, 2)
    has_pieces(bob, 4)
    expect(ann.board.get_by_role("button")).to_have_count(0)
    assert serious_faults(ann) == []
    ann.page.get_by_role("button", name="A move back").click()
    has_pieces(ann, 1)
    ann.page.get_by_role("button", name="Back to now").click()
    has_pieces(ann, 4)
    ann.mark("bottom left")
    ann.sees("You win: three in a row")


@pytest.mark.parametrize("pair", ["desk"], indirect=True)  # keys are pressed at a desk
def test_arrow_keys_leaf_through_the_moves_and_one_key_brings_the_present_back(pair):
    ann, bob = pair
    bob.page.get_by_role("heading", level=1).focus()
    for key, count in (("ArrowLeft", 3), ("ArrowLeft", 2), ("ArrowRight", 3)):
        bob.press(key)
        has_pieces(bob, count)
    ann.mark("bottom")
    expect(bob.page.get_by_text("Move 3 of 5")).to_be_visible()
    bob.sees("Your turn")
    has_pieces(bob, 3)
    bob.press("Escape")
    has_pieces(bob, 5)


@pytest.mark.parametrize("pair", MOST_SCREENS, indirect=True)
def test_a_replay_has_a_line_a_turn_and_a_link_to_each_moment(pair, visit, server):
    ann, _ = pair
    room = ann.page.url.rpartition("/")[2]
    ann.go(f"/r/{room}/replay")
    lines = ann.page.get_by_role("region", name="Moves").get_by_role("button")
    expect(lines).to_have_count(4)
    lines.nth(2).click()
    has_pieces(ann, 3)
    expect(ann.page).to_have_url(re.compile(r"/replay#\d+$"))
    assert serious_faults(ann) == []
    friend = visit(server, "Eve").go(ann.page.url.removeprefix(f"http://{server.address}"))
    has_pieces(friend, 3)
    expect(friend.page.get_by_text("Ann: top right", exact=True).first).to_be_attached()
    friend.press("ArrowLeft")
    has_pieces(friend, 2)
    friend.press("Home")
    has_pieces(friend, 0)
    friend.page.get_by_label("Speed").select_option("4")
    friend.page.get_by_role("button", name="Play").click()
    has_pieces(friend, 4)


@pytest.mark.parametrize("step", ["999", "x"])
def test_a_link_to_a_step_that_is_not_there_says_so_and_shows_the_beginning(server, visit, step):
    room = server.open_room()["id"]
    ann = visit(server, "Ann").go(f"/r/{room}/replay#{step}")
    expect(ann.page.get_by_role("alert")).to_have_text(
        f"There is no step {step} in this replay: its last is 0."
    )
    expect(ann.board).to_be_visible()


def test_where_nothing_may_be_copied_the_link_is_there_to_be_copied_by_hand(server, visit):
    room = server.open_room()["id"]
    ann = visit(server, "Ann").go(f"/r/{room}/replay")
    ann.page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    expect(ann.board).to_be_visible()
    ann.page.get_by_role("button", name="Link to this moment").click()
    expect(ann.page.get_by_role("textbox", name="Link to this moment")).to_have_value(
        f"http://{server.address}/r/{room}/replay#0"
    )

"""Moving a piece in a real browser: by clicks, by dragging, by keys; and what happens when it is refused."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.e2e

FERRY = Path(__file__).with_name("ferry.py")


@pytest.fixture(scope="module")
def river(serve_all):
    """A server with the ferry."""
    return serve_all(FERRY)


@pytest.fixture
def ann(river, visit):
    """Ann at the river, the boat in the north."""
    ann = visit(river, "Ann", reduced_motion="no-preference")
    ann.open_room("Ferry")
    lies(ann, "north")
    return ann


def lies(ann, bank):
    """The server says so, the screen reader hears it, and it is drawn there."""
    ann.sees(f"The boat lies in the {bank}")
    expect(ann.spot(f"{bank}, boat")).to_be_attached()
    x = ("north", "east", "south", "west").index(bank) * 100 + 50
    expect(boat(ann)).to_have_attribute("transform", f"translate({x} 50) scale(1)")


def boat(ann):
    return ann.board.locator("[data-piece=boat]")


def grab(ann, bank, *, drop=True):
    """Drag the boat to a bank; its name may say what can be done there."""
    box = boat(ann).bounding_box()
    there = ann.board.locator(f"[data-spot=c{('north', 'east', 'south', 'west').index(bank)}]").bounding_box()
    mouse = ann.page.mouse
    mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    mouse.down()
    mouse.move(there["x"] + there["width"] / 2, there["y"] + there["height"] / 2, steps=5)
    if drop:
        mouse.up()


def test_a_piece_is_picked_up_by_a_click_and_put_down_by_another(ann):
    boat(ann).click()
    expect(ann.board.locator(".aim")).to_have_count(3)
    ann.spot("south, can go here").click()
    lies(ann, "south")
    expect(ann.board.locator(".aim")).to_have_count(0)


def test_a_piece_is_dragged_to_where_it_may_go(ann):
    grab(ann, "south", drop=False)
    expect(ann.board.locator(".aim")).to_have_count(3)
    ann.page.mouse.up()
    lies(ann, "south")
    grab(ann, "east")
    lies(ann, "east")


def test_a_piece_that_is_dropped_elsewhere_or_let_go_by_escape_stays(ann):
    grab(ann, "south", drop=False)
    ann.page.mouse.move(400, 40)
    ann.page.mouse.up()
    expect(ann.board.locator(".aim")).to_have_count(0)
    lies(ann, "north")
    boat(ann).click()
    ann.spot("north, boat").focus()
    ann.press("Escape")
    expect(ann.board.locator(".aim")).to_have_count(0)


def test_a_piece_is_moved_by_keys(ann):
    ann.tab_to("svg.board")
    ann.press("Enter", "ArrowRight", "Enter")
    lies(ann, "east")


@pytest.mark.parametrize("how", ["drag", "clicks"])
def test_a_piece_that_is_refused_goes_back_and_the_reason_stands_beside_the_board(ann, how):
    if how == "drag":
        grab(ann, "west")
    else:
        boat(ann).click()
        ann.spot("west, can go here").click()
    expect(ann.page.get_by_role("alert").get_by_text("The west bank is too steep")).to_be_visible()
    lies(ann, "north")


def test_in_texts_beside_the_board_a_seat_is_called_by_the_name_of_who_has_it(ann):
    ann.click("Options")
    expect(ann.page.get_by_label("Tell Ann about the weather")).to_be_visible()
    ann.click("Row for Ann")
    expect(ann.page.get_by_text("where Ann wants to go")).to_be_visible()
    ann.click("Wave to Ann")
    ann.click("Wave as Ann does")
    lies(ann, "south")


WATCH = """() => {
    window.glided = null;
    const look = () => {
        const [motion] = document.querySelector("[data-piece=boat]").getAnimations();
        if (motion) window.glided = motion.effect.getTiming().duration;
        else requestAnimationFrame(look);
    };
    look();
}"""
"""Notes how long the boat's first motion takes, in milliseconds."""


def test_a_piece_glides_to_its_new_place_and_does_not_where_motion_is_unwanted(ann, visit):
    calm = visit(ann.server, "Bob", reduced_motion="reduce")
    calm.open_room("Ferry")
    for visitor, wanted in ((ann, 180), (calm, None)):
        visitor.page.evaluate(WATCH)
        boat(visitor).click()
        visitor.spot("south, can go here").click()
        lies(visitor, "south")
        assert visitor.page.evaluate("window.glided") == wanted

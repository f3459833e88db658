"""Minesweeper by thumb: a mode in which a tap sets a flag, and two fingers that draw a wide field larger."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import PHONE
from tests.e2e.test_browser_access import serious_faults
from tests.e2e.test_browser_moves import MOST_SCREENS, SCREENS
from tests.e2e.test_browser_small import TOUCH

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("screen", MOST_SCREENS)
def test_in_flag_mode_a_press_sets_a_flag_and_takes_it_away(server, visit, screen):
    room = server.open_room("minesweeper")["id"]
    ann = visit(server, "Ann", **SCREENS[screen]).come_in(room)
    mode = ann.page.get_by_role("button", name="Flag mode")
    expect(mode).to_be_in_viewport(ratio=1)
    press = "tap" if "has_touch" in SCREENS[screen] else "click"
    getattr(mode, press)()
    expect(mode).to_have_attribute("aria-pressed", "true")
    assert serious_faults(ann) == []
    getattr(ann.spot("column 1, row 1: closed"), press)()
    expect(ann.spot("column 1, row 1: flag")).to_be_attached()
    getattr(ann.spot("column 1, row 1: flag"), press)()
    expect(ann.spot("column 1, row 1: closed")).to_be_attached()
    ann.spot("column 1, row 1: closed").focus()
    ann.press("Enter")
    expect(ann.board.locator("[data-piece]")).to_have_count(1)
    getattr(mode, press)()
    getattr(ann.spot("column 5, row 5: closed"), press)()
    expect(ann.spot("column 5, row 5: closed")).to_have_count(0)


def test_two_fingers_draw_a_wide_field_larger_and_smaller_and_press_nothing(server, visit):
    room = server.open_room("minesweeper", config={"preset": "advanced"})["id"]
    ann = visit(server, "Ann", viewport=PHONE, **TOUCH).come_in(room)
    touch = ann.context.new_cdp_session(ann.page)

    def pinch(before: int, after: int) -> None:
        for kind, apart in (
            ("touchStart", before),
            ("touchMove", (before + after) // 2),
            ("touchMove", after),
        ):
            fingers = [{"x": 195 - apart // 2, "y": 300}, {"x": 195 + apart // 2, "y": 300}]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    width = ann.board.bounding_box()["width"]
    pinch(100, 150)
    larger = ann.board.bounding_box()["width"]
    assert larger == pytest.approx(1.5 * width, rel=0.05)
    pinch(300, 20)
    pinch(300, 20)
    expect(ann.board).to_be_in_viewport(ratio=1)
    assert ann.page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
    expect(ann.board.locator("[data-piece]")).to_have_count(0)
    assert ann.seq >= 0
    expect(ann.spot("column 1, row 1: closed")).to_be_attached()


def test_one_finger_pans_a_wide_field_and_opens_nothing(server, visit):
    room = server.open_room("minesweeper", config={"preset": "advanced"})["id"]
    ann = visit(server, "Ann", viewport=PHONE, **TOUCH).come_in(room)
    touch = ann.context.new_cdp_session(ann.page)
    closed = ann.board.get_by_label(re.compile(": closed$"))
    expect(closed).to_have_count(30 * 16)
    before = ann.seq
    assert ann.page.evaluate(PANNED) == 0

    def put(kind: str, *places: int) -> None:
        fingers = [{"x": x, "y": 400} for x in places]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})

    put("touchStart", 330)
    for x in range(320, 90, -10):
        put("touchMove", x)
    put("touchEnd")
    ann.page.wait_for_function(f"() => {PANNED} > 100")
    assert ann.page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
    ann.click("Chat")
    ann.say("that was a finger")  # comes after whatever the finger has sent
    ann.reads("that was a finger")
    expect(closed).to_have_count(30 * 16)
    assert server.room(room)["seq"] == before + 1, "what was said, and nothing else"


PANNED = "document.querySelector('.field').scrollLeft"

"""The page for everybody: by keyboard alone, by touch, for screen readers, in light and dark."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from parlour.game import Chance
from parlour.games.minesweeper import Field
from tests.e2e.browser import DESKTOP, PHONE

pytestmark = pytest.mark.e2e

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"


def serious_faults(visitor):
    """What axe-core finds on the page as it is."""
    visitor.page.evaluate(AXE.read_text(encoding="utf-8"))
    found = visitor.page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    assert found["passes"] is not None
    return [
        (fault["id"], node["html"][:200], node["failureSummary"])
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]


@pytest.mark.parametrize(("scheme", "size"), [("light", DESKTOP), ("dark", PHONE)])
def test_axe_finds_no_serious_fault_on_any_page(server, visit, scheme, size):
    options = {"color_scheme": scheme, "viewport": size}
    ann, bob = visit(server, "Ann", **options), visit(server, "Bob", **options)
    ann.go("/")
    expect(ann.page.get_by_role("button", name="Play Minesweeper")).to_be_visible()
    assert serious_faults(ann) == []
    ann.page.get_by_role("button", name="Set up Minesweeper").click()
    assert serious_faults(ann) == []
    room = ann.open_room()
    bob.go(f"/r/{room}")
    expect(bob.page.get_by_role("button", name="Sit down")).to_be_visible()
    assert serious_faults(bob) == []
    bob.come_in(room)
    ann.sees("Your turn")
    assert serious_faults(ann) == []
    for mine, yours in (("centre", "left"), ("top", "right")):
        ann.mark(mine)
        bob.sees("Your turn")
        bob.mark(yours)
        ann.sees("Your turn")
    ann.mark("bottom")
    ann.sees("You win: three in a row")
    assert serious_faults(ann) == []
    ann.page.get_by_role("button", name="Invite").click()
    assert serious_faults(ann) == []
    bob.page.get_by_role("link", name="Replay").click()
    expect(bob.page.get_by_role("slider", name="Moment")).to_be_visible()
    assert serious_faults(bob) == []
    mines = visit(server, "Cy", **options)
    mines.open_room("Minesweeper")
    mines.board.get_by_role("button").nth(40).click()
    expect(mines.status).to_have_text(re.compile("flag|Boom|mine"))
    assert serious_faults(mines) == []


def test_a_whole_game_is_played_by_keyboard_alone(server, visit):
    ann, bob = visit(server, "Ann").go("/"), visit(server, "Bob")
    expect(ann.page.get_by_role("button", name="A friend to play Noughts and crosses")).to_be_visible()
    ann.tab_to("Your name")
    ann.page.keyboard.type("Ann")
    ann.tab_to("A friend to play Noughts and crosses with")
    ann.press("Enter")
    ann.page.wait_for_url(re.compile(r"/r/\w+$"))
    bob.go(f"/r/{ann.page.url.rpartition('/')[2]}")
    expect(bob.page.get_by_label("Your name")).to_be_visible()
    bob.tab_to("Your name")
    bob.page.keyboard.type("Bob")
    bob.press("Enter")
    ann.sees("Your turn")
    ann.tab_to("svg.board")
    ann.press("ArrowRight", "ArrowDown", "Enter")  # from the top left to the centre
    bob.sees("Your turn")
    bob.tab_to("svg.board")
    bob.press("Enter")
    ann.sees("Your turn")
    ann.press("ArrowUp", "Enter")
    bob.sees("Your turn")
    bob.press("ArrowDown", "Enter")
    ann.sees("Your turn")
    ann.press("ArrowDown", "ArrowDown", "Enter")
    ann.sees("You win: three in a row")
    bob.sees("Ann wins: three in a row")
    bob.tab_to("Rematch")
    bob.press("Enter")
    ann.tab_to("Rematch")
    ann.press("Enter")
    bob.sees("Your turn")


def test_a_flag_is_put_by_a_right_click_a_long_press_or_shift_and_enter(server, visit):
    for how in ("mouse", "touch", "keys"):
        ann = visit(server, "Ann", has_touch=how == "touch")
        ann.open_room("Minesweeper")
        cell = ann.spot("column 3, row 4: closed")
        finger = ann.context.new_cdp_session(ann.page)
        if how == "mouse":
            cell.click(button="right")
        elif how == "keys":
            cell.focus()
            ann.press("Shift+Enter")
        else:
            box = cell.bounding_box()
            at = {"x": box["x"] + 5, "y": box["y"] + 5}
            finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [at]})
        expect(ann.spot("column 3, row 4: flag")).to_be_attached()
        if how == "touch":
            finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
            expect(ann.spot("column 3, row 4: flag")).to_be_attached()
        assert [
            frame for frame in ann.frames if frame[3] == "phx_reply" and frame[4]["status"] == "error"
        ] == []


FOCUS = (
    "() => [document.activeElement.tagName, document.activeElement.value, document.activeElement.textContent]"
)


def test_whoever_comes_into_a_room_has_the_focus_at_its_name(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    room = ann.open_room()
    bob.come_in(room)
    for visitor in (ann, bob):
        tag, _, text = visitor.page.evaluate(FOCUS)
        assert (tag, text) == ("H1", f"Noughts and crosses {room}")


def test_the_dialog_about_bots_has_the_focus_at_what_is_chosen(server, visit):
    ann = visit(server, "Ann").go("/")
    ann.page.get_by_role("button", name="A bot to play Noughts and crosses with").click()
    expect(ann.page.get_by_role("radio", name="A bot")).to_be_focused()
    ann.press("ArrowLeft")
    expect(ann.page.get_by_role("radio", name="Ranked")).to_be_checked()


def test_a_lost_field_has_one_main_button(server, visit):
    ann = visit(server, "Ann")
    room = server.open_room("minesweeper", config={"preset": "advanced"})["id"]
    ann.come_in(room)
    ann.spot("column 15, row 8: closed").click()
    expect(ann.spot("column 15, row 8: clear")).to_be_attached()
    chance = Chance(server.secret_luck(room), step=server.room(room)["seq"])
    laid = Field(30, 99, "#" * 480).lay(7 * 30 + 14, chance)
    ann.board.locator(f"[data-spot=c{min(laid.mined)}]").click()
    ann.sees("You lose: a mine was opened")
    assert ann.page.locator(".main:visible").all_inner_texts() == ["New field"]
    expect(ann.page.get_by_role("button", name="Rematch")).to_have_count(0)


def test_a_control_is_pressed_by_its_key_and_asks_before_it_gives_up(server, visit):
    ann = visit(server, "Ann")
    ann.open_room("Minesweeper")
    ann.board.get_by_role("button").first.click()
    expect(ann.spot("column 1, row 1: closed")).to_have_count(0)
    ann.press("n")
    ann.page.get_by_role("dialog").get_by_role("button", name="Yes").click()
    expect(ann.spot("column 1, row 1: closed")).to_have_count(1)


@pytest.mark.parametrize("size", [{"width": 1280, "height": 720}, PHONE, {"width": 320, "height": 568}])
def test_no_page_is_wider_than_the_screen(server, visit, size):
    ann = visit(server, "Ann " * 9, viewport=size)
    for page in ("/", None):
        if page:
            ann.go(page)
            expect(ann.page.get_by_role("button", name="Play Minesweeper")).to_be_visible()
        else:
            ann.open_room()
        wide, screen = json.loads(
            ann.page.evaluate("JSON.stringify([document.documentElement.scrollWidth, innerWidth])")
        )
        assert wide <= screen

"""What looks for faults of a screen finds each kind where it is planted, and none where there is none."""

import pytest
from playwright.sync_api import Page

from tests.e2e.browser import PHONE
from tests.e2e.test_browser_languages import FAULTS

pytestmark = pytest.mark.e2e

STYLE = "body { margin: 0; font: 16px/1.25 sans-serif } p { margin: 0 } .at { position: absolute; top: 0 }"
BOARD = "<svg class=board viewBox='0 0 100 100' width=100 height=100 font-size=10>{}</svg>"

PLANTED = {
    "the page is": "<p style='width: 900px'>ñ</p>",
    "in English": "<p>plain</p>",
    "cut off by": "<p style='width: 20px; overflow: hidden'>ñññññññññññ</p>",
    "cut off below by": "<p style='width: 40px; height: 10px; overflow: hidden'>ñ ñ ñ ñ ñ ñ ñ</p>",
    "beyond the screen": "<p style='margin-left: -90px'>ñññ</p>",
    "larger than button": "<button style='width: 20px; padding: 0'>ñññññññ</button>",
    "lies on button.at": "<button>ñóñ</button><button class=at style='left: 9px'>ñéñ</button>",
    "lies on the board": BOARD.format("") + "<button class=at style='left: 9px'>ñ</button>",
    "“ñóñ” lies on “ñéñ”": "<p>ñóñ</p><p class=at>ñéñ</p>",
    "“ñóñ” lies on input": "<p>ñóñ</p><input class=at>",
    "beyond its drawing": BOARD.format("<text x=80 y=50>ñññññ</text>"),
    "is drawn on": BOARD.format(
        "<text class=caption x=5 y=50>ñóñ</text><text class=caption x=9 y=50>ñéñ</text>"
    ),
}
"""A fault for each thing that is looked for."""

SOUND = f"""
<h1>ñññ <span>ñ</span></h1><p>ñññ <a href="/">{"ñóñ " * 30}</a></p>
<div style="height: 3em; overflow: auto">{"<p>ñéñ</p>" * 9}</div><p><button>ñóñ</button> <input></p>
<label>ñ <input type=checkbox></label><details><summary>ñ</summary><p>ñóñ</p></details><p>ñ</p>
{BOARD.format("<text class=caption x=5 y=50>ñóñ</text><text class=caption x=50 y=50>ñéñ</text>")}
"""
"""Lines that wrap, a list that scrolls over what follows it, something folded away."""


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page(viewport=PHONE)
    yield page
    page.close()


def faults(page: Page, body: str) -> list[str]:
    page.set_content(f"<!doctype html><style>{STYLE}</style>{body}")
    found: list[str] = page.evaluate(FAULTS, [])
    return found


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_of_a_screen_is_found(page, fault):
    found = faults(page, PLANTED[fault])
    assert [one for one in found if fault in one], found


def test_a_screen_without_a_fault_has_none(page):
    assert faults(page, SOUND) == []

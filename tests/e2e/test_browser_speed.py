"""The page is small, and quick: what it weighs, what a click sends, what it draws again."""

import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from parlour.game import Chance
from parlour.games.minesweeper import Field
from parlour.server.api.web_pages import BUILT
from tests.e2e.weighing import bytes_until_usable

pytestmark = pytest.mark.e2e

LARGE = {"preset": "advanced"}


ALLOWED = 120 * 1024


@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
def test_home_sends_at_most_120_kilobytes_with_its_font_until_it_can_be_used(server, browser, locale):
    """In every language, and with the head of each answer; sounds and other pages come later."""
    sent = bytes_until_usable(browser, f"http://{server.address}/", locale)
    assert sum(sent.values()) <= ALLOWED, sent
    assert any(path.endswith(".woff2") for path in sent)
    assert any("/de." in path for path in sent) == (locale == "de-DE")
    assert not any("RoomPage" in path for path in sent)


def test_the_font_has_at_most_30_kilobytes():
    (font,) = BUILT.rglob("*.woff2")
    assert font.stat().st_size <= 30 * 1024


def rooms_page(request):
    return "RoomPage" in request.url


def test_a_rooms_page_is_there_before_somebody_goes_to_a_room(server, visit):
    ann = visit(server, "Ann")
    with ann.page.expect_event("requestfinished", rooms_page):
        ann.page.goto(f"http://{server.address}/")


def test_whoever_reaches_for_a_button_does_not_wait_until_the_browser_is_idle(server, browser):
    page = browser.new_context(reduced_motion="reduce").new_page()
    page.add_init_script("window.requestIdleCallback = () => 0")
    page.goto(f"http://{server.address}/")
    button = page.get_by_role("button", name="Play now: Noughts and crosses")
    expect(button).to_be_enabled()
    with page.expect_event("requestfinished", rooms_page):
        button.hover()
    page.context.close()


def numbered_cells(server, room, first, step):
    """Cells that open alone, by the seed that only the server knows: beside a mine, not yet open."""
    width, mines = 30, 99
    laid = Field(width, mines, "#" * 480).lay(first, Chance(server.secret_luck(room), step=step))
    opened = laid.open(first)
    return [
        cell
        for cell in range(480)
        if cell not in laid.mined
        and opened.cells[cell] == "#"
        and any(n in laid.mined for n in laid.around(cell))
    ]


@pytest.fixture
def field(server, visit):
    """Ann at a field of 30 x 16 whose first cell is open, and the cells that open alone."""
    ann = visit(server, "Ann")
    room = server.open_room("minesweeper", config=LARGE)["id"]
    ann.come_in(room)
    expect(ann.spots).to_have_count(480)
    first = 7 * 30 + 14
    ann.spot("column 15, row 8: closed").click()
    expect(ann.spot("column 15, row 8: clear")).to_be_attached()
    step = server.room(room)["seq"]
    return ann, numbered_cells(server, room, first, step)


def place(cell):
    return {"x": cell % 30 + 1, "y": cell // 30 + 1}


def test_one_click_on_a_large_field_sends_only_what_changed(field):
    ann, cells = field
    at = place(cells[0])
    before = len(ann.frames)
    ann.spot(f"column {at['x']}, row {at['y']}: closed").click()
    expect(ann.spot(f"column {at['x']}, row {at['y']}: closed")).to_have_count(0)
    (told,) = [frame[4] for frame in ann.frames[before:] if frame[3] == "update"]
    patch = told["patch"]
    assert [spot["id"] for spot in patch["spots"] if "fill" in spot] == [f"c{cells[0]}"]
    assert len(patch["spots"]) <= 9, "the cell, and neighbours whose chord may have changed"
    assert not patch.get("gone")
    assert not patch.get("pieces")
    assert len(str(told)) < 1500


CLICK = """id => new Promise(done => {
    const touched = new Set();
    const seen = new MutationObserver(records => {
        for (const { target } of records)
            touched.add(target.closest("[data-spot]")?.dataset.spot ?? target.tagName);
        if (document.querySelector(`[data-spot="${id}"] .f-sunken`)) requestAnimationFrame(() => {
            seen.disconnect();
            done([...touched]);
        });
    });
    seen.observe(document.querySelector("svg.board"), { subtree: true, childList: true, attributes: true });
    document.querySelector(`[data-spot="${id}"]`).dispatchEvent(new MouseEvent("click", { bubbles: true }));
})"""
"""A click on a cell of the board: what of the board is drawn again until the cell is seen open."""


def test_one_click_on_a_large_field_draws_only_what_changed(field):
    ann, cells = field
    for cell in cells[:5]:
        touched = [one for one in ann.page.evaluate(CLICK, f"c{cell}") if one.startswith("c")]
        assert f"c{cell}" in touched
        assert len(touched) <= 10, "the cell, its neighbours, and the one that had the focus before"


def test_the_first_board_and_play_now_need_nothing_that_the_page_does_not_name(server, visit):
    """So they are there after two round trips: the page, and what it names."""
    ann = visit(server, "Ann")
    page = server.call("GET", "/").text
    named, held = set[str](), list[Any]()
    is_drawn = False

    def pass_named(route):
        path = urlsplit(route.request.url).path
        if path == "/" or f'"{path}"' in page or is_drawn:
            named.add(path)
            route.continue_()
        else:
            held.append(route)

    ann.page.route("**/*", pass_named)
    ann.page.goto(f"http://{server.address}/", wait_until="commit")
    expect(ann.board.first.locator("[data-spot]").first).to_be_attached()
    expect(ann.page.get_by_role("button", name=re.compile("^Play now")).first).to_be_enabled()
    assert len(named) <= 15
    is_drawn = True
    for route in held:
        route.continue_()
    ann.page.get_by_role("button", name="Play now: Noughts and crosses").click()
    expect(ann.page.get_by_role("button", name="Play now: Noughts and crosses")).to_have_text("Waiting…")

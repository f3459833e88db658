"""Each board of tests/boards on every kind of screen, in both themes, played by clicks and by keys alone."""

from collections.abc import Callable
from itertools import cycle, product
from random import Random

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import FOCUSED, Visitor
from tests.e2e.clicker import PATIENCE, find_next, press, press_next, watch_answers
from tests.e2e.test_browser_access import serious_faults
from tests.e2e.test_browser_boards import BOARDS
from tests.e2e.test_browser_moves import SCREENS
from tests.e2e.test_browser_small import LAYOUT

pytestmark = pytest.mark.e2e

SEAT_BOT = """(room) => fetch(`/api/rooms/${room}/bots`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: "{}",
}).then(({ status }) => status)"""
LIVE = "document.activeElement.matches('.spot.active, .piece.held[role=button]')"
ARROWS = ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown")


@pytest.fixture(scope="module")
def boards(serve_all):
    """A server with all of these games, whose bots take no time for show."""
    files = [file for file in sorted(BOARDS.glob("*.py")) if file.stem != "__init__"]
    return serve_all("--bot-pace", 0, *files)


def moves(visitor: Visitor) -> int:
    """How many moves of this visitor were accepted."""
    replies = (frame[4] for frame in visitor.frames if frame[3] == "phx_reply")
    return sum(reply["status"] == "ok" and set(reply["response"]) == {"seq"} for reply in replies)


def play_on_the_board(visitor: Visitor, random: Random, *, by_keys: bool) -> None:
    """Press one thing that can be pressed: a cell, a road, a card of the hand."""
    if not by_keys:
        return press_next(visitor, random)
    assert find_next(visitor, random) is not None, "the game is over"
    if not visitor.page.evaluate(FOCUSED, "svg.board"):
        visitor.tab_to("svg.board")
    visitor.press(*random.choices(ARROWS, k=5))
    for key in ("PageDown", "PageUp"):
        for _ in range(150):
            if visitor.page.evaluate(LIVE):
                return visitor.press("Enter")
            visitor.press(key)
    raise AssertionError("expected the keys to come to something that can be pressed, they did not")


def roll_and_keep(visitor: Visitor, random: Random, *, by_keys: bool) -> None:
    """Roll, keep a die, and roll again."""
    before = moves(visitor)
    press_control(visitor, "Roll", by_keys=by_keys)
    expect(visitor.page.get_by_role("button", name="Roll again")).to_be_visible()
    die = visitor.board.locator(f"[data-spot=d{random.randrange(5)}]")
    label = (die.get_attribute("aria-label") or "").split(",")[0]
    if not by_keys:
        press_middle(visitor, die)
    else:
        visitor.tab_to("svg.board")
        while not visitor.page.evaluate(NAMED, label):
            visitor.press("PageDown" if before % 2 == 0 else "PageUp")
        visitor.press("Enter")
    expect(visitor.board.get_by_label("kept")).to_have_count(1)
    press_control(visitor, "Roll again", by_keys=by_keys)


NAMED = "(label) => document.activeElement.getAttribute('aria-label')?.startsWith(label)"


def press_middle(visitor: Visitor, thing) -> None:
    thing.scroll_into_view_if_needed()
    box = thing.bounding_box()
    press(visitor, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def press_control(visitor: Visitor, name: str, *, by_keys: bool) -> None:
    button = visitor.page.get_by_role("button", name=name, exact=True)
    expect(button).to_be_visible(timeout=PATIENCE)
    if by_keys:
        visitor.tab_to(name)
        visitor.press("Enter")
    else:
        press_middle(visitor, button)


def bid(visitor: Visitor, random: Random, *, by_keys: bool) -> None:
    """Write down how many coins."""
    press_control(visitor, "Bid", by_keys=by_keys)
    coins = visitor.page.get_by_label("Coins", exact=True)
    if by_keys:
        visitor.tab_to("Coins")
    else:
        press_middle(visitor, coins)
    expect(coins).to_be_focused()
    visitor.page.keyboard.type(str(random.randrange(3)))
    if by_keys:
        visitor.press("Enter")
    else:
        press_middle(visitor, visitor.page.locator("form").get_by_role("button", name="Bid", exact=True))


TWICE = "label-content-name-mismatch"
"""A card shows its rank in two corners, and axe reads "4 4" where the name is "4 of spades"."""

Play = Callable[..., None]
GAMES: dict[str, tuple[int, Play]] = {
    "tricks": (4, play_on_the_board),
    "hexes": (2, play_on_the_board),
    "morris": (2, play_on_the_board),
    "routes": (5, play_on_the_board),
    "auction": (5, bid),
    "dice": (8, roll_and_keep),
}


def sit_among_bots(server, visitor: Visitor, game: str, seats: int) -> None:
    room = server.open_room(game)["id"]
    visitor.come_in(room)
    for _ in range(seats - 1):
        assert visitor.page.evaluate(SEAT_BOT, room) == 201
    expect(visitor.page.locator(".bar .who strong")).to_have_count(seats)


def layout_faults(visitor: Visitor) -> list[object]:
    """What is wider than the screen, lies outside of it or over something else."""
    layout = visitor.page.evaluate(LAYOUT)
    wide = [f"{layout['scrolls'][0]} pixels wider than the screen"] if layout["scrolls"][0] > 0 else []
    return [*wide, *layout["overlaps"]]


WAYS = {"by clicks": False, "by keys": True}
ALL = [*product(GAMES, SCREENS, WAYS)]
SAMPLE = [*zip(GAMES, cycle(SCREENS), cycle(WAYS), strict=False), ("tricks", "phone", "by clicks")]
"""Each board once, each screen both ways, a hand on a phone; the rest is for ``make test-long``."""


@pytest.mark.parametrize(
    ("game", "screen", "way"),
    [pytest.param(*one, marks=[] if one in SAMPLE else pytest.mark.long) for one in ALL],
)
def test_a_board_is_played_on_every_screen_in_both_themes(boards, visit, game, screen, way):
    ann = visit(boards, "Ann", **SCREENS[screen])
    watch_answers(ann)
    seats, play = GAMES[game]
    sit_among_bots(boards, ann, game, seats)
    random = Random(7)
    for scheme in ("light", "dark"):
        ann.page.emulate_media(color_scheme=scheme)
        before = moves(ann)
        while moves(ann) < before + 2:
            play(ann, random, by_keys=WAYS[way])
            ann.page.wait_for_function("() => !window.unanswered.size")
        expect(ann.status).to_be_visible()
        assert layout_faults(ann) == []
        assert [fault for fault in serious_faults(ann) if fault[0] != TWICE] == []

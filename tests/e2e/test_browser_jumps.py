"""Nothing on a page jumps while it loads: whoever is about to press something presses that."""

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import DESKTOP, LANDSCAPE, PHONE

pytestmark = pytest.mark.e2e

WATCH = """
window.jumps = [];
const told = ({ node, previousRect: from, currentRect: to }) =>
    `${node?.className || node?.nodeName || "?"} from ${from.x}, ${from.y} to ${to.x}, ${to.y}`;
new PerformanceObserver((list) => {
    for (const shift of list.getEntries())
        if (!shift.hadRecentInput) window.jumps.push([shift.value, shift.sources.map(told)]);
}).observe({ type: "layout-shift", buffered: true });
"""

MOST = 0.01
"""So much may move, such as a line of chat; a board that pushes the rest down is 0.1 and more."""

SETTLED = (
    "() => new Promise((done) => requestIdleCallback(() => requestAnimationFrame(() => setTimeout(done))))"
)


def jumps(visitor, path, there):
    """Everything that moved by itself on a page, from its first picture until *there* is to be seen."""
    visitor.go(path)
    expect(there(visitor.page)).to_be_visible()
    visitor.page.wait_for_load_state("networkidle")
    visitor.page.evaluate(SETTLED)
    return visitor.page.evaluate("window.jumps")


@pytest.mark.parametrize("screen", [DESKTOP, PHONE, LANDSCAPE], ids=["desktop", "phone", "landscape"])
def test_nothing_jumps_while_a_page_loads(server, visit, screen):
    ann = visit(server, "Ann", viewport=screen)
    room = server.open_room("backgammon", config={"match": "five_points"})["id"]
    ann.come_in(room)
    ann.page.get_by_role("button", name="Add a bot").click()
    ann.page.get_by_role("button", name="Easy", exact=True).click()
    ann.page.get_by_role("button", name="Ready").click()
    expect(ann.status).to_contain_text("Your turn")  # from now on the bot waits for her
    ann.context.add_init_script(WATCH)
    pages = {
        "/": lambda page: page.get_by_role("button", name="Play now: Backgammon"),
        f"/r/{room}": lambda page: page.get_by_test_id("status"),
        f"/r/{room}/replay": lambda page: page.get_by_role("slider", name="Moment"),
        "/leaderboard/backgammon": lambda page: page.get_by_role("heading", name="Leaderboard"),
        "/games": lambda page: page.get_by_role("heading", name="Now"),
        "/account": lambda page: page.get_by_role("heading", name="Make an account"),
        "/rules/backgammon": lambda page: page.get_by_role("heading", name="Backgammon").first,
    }
    found = {path: jumps(ann, path, there) for path, there in pages.items()}
    assert {path: moved for path, moved in found.items() if sum(value for value, _ in moved) > MOST} == {}

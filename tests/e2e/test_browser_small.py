"""Small screens, a phone on its side, a large zoom: the board fits, and fingers find what they press."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import ViewportSize, expect

from tests.e2e.browser import DRAWN, PHONE, Visitor
from tests.e2e.hands import choose
from tests.e2e.test_browser_access import serious_faults

pytestmark = pytest.mark.e2e

ON_ITS_SIDE: ViewportSize = {"width": 844, "height": 390}
ZOOMED = {"width": 640, "height": 400}
"""A window of 1280 x 800 at 200 %."""
TABLETS = ({"width": 820, "height": 1180}, {"width": 1180, "height": 820})
TOUCH = {"has_touch": True, "is_mobile": True}

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("tictactoe", {}),
    ("stratego", {"arrange_seconds": 0}),
    ("backgammon", {"match": "five_points"}),
    ("minesweeper", {}),
    ("minesweeper", {"preset": "advanced"}),
]


def sit_down(server, visit, game, config, **options):
    """Ann in a room, with Bob where two are needed."""
    room = server.open_room(game, config=config)["id"]
    ann = visit(server, "Ann", **options).come_in(room)
    if game != "minesweeper":
        visit(server, "Bob").come_in(room)
        expect(ann.page.get_by_text("Nobody yet")).to_have_count(0)
    return ann


LAYOUT = """() => {
    const box = (name) => document.querySelector(name).getBoundingClientRect();
    const parts = Object.fromEntries(
        [".field", ".others", ".act", ".me", ".talking", "header"].map((name) => [name, box(name)])
    );
    const within = ({ left, top, right, bottom }) =>
        left >= -0.5 && top >= -0.5 && right <= innerWidth + 0.5 && bottom <= innerHeight + 0.5;
    const meet = (a, b) =>
        a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 0.5 && b.top < a.bottom - 0.5;
    const names = Object.keys(parts);
    const page = document.documentElement;
    const board = box("svg.board");
    return {
        scrolls: [page.scrollWidth - innerWidth, page.scrollHeight - innerHeight],
        outside: names.filter((name) => parts[name].height && !within(parts[name])),
        overlaps: names.flatMap((one, n) =>
            names.slice(n + 1).filter((two) => meet(parts[one], parts[two])).map((two) => `${one} ${two}`)
        ),
        board: { top: board.top, bottom: board.bottom, high: board.height, wide: board.width },
        screen: innerHeight,
        field: parts[".field"].width,
        hidden: document.querySelector(".act").scrollHeight - document.querySelector(".act").clientHeight,
    };
}"""
"""Where everything lies: what sticks out, what lies on what, and how much of the screen the board has."""

SMALL_TARGETS = (Path(__file__).parent / "small_targets.js").read_text()
"""What is lower or narrower than a fingertip, by all that a finger hits around its middle."""


@pytest.mark.parametrize(("game", "config"), GAMES, ids=[f"{game}{len(config)}" for game, config in GAMES])
def test_a_low_screen_has_the_whole_board_with_everything_else_beside_it(server, visit, game, config):
    ann = sit_down(server, visit, game, config, viewport=ON_ITS_SIDE, **TOUCH)
    for size in (ZOOMED, ON_ITS_SIDE):
        ann.page.set_viewport_size(size)
        ann.page.evaluate(DRAWN)
        check_low_screen(ann)
    assert serious_faults(ann) == []


def check_low_screen(ann):
    """Board, players and buttons are in sight, and so are the players while one reads the chat."""
    found = ann.page.evaluate(LAYOUT)
    assert found["scrolls"] == [0, 0]
    assert found["outside"] == []
    assert found["overlaps"] == []
    assert found["hidden"] <= 0, "everything to press is in sight"
    board = found["board"]
    assert board["top"] >= 0
    assert board["bottom"] <= found["screen"]
    fills = board["high"] > found["screen"] * 0.9 or board["wide"] > found["field"] * 0.97
    assert fills, "it is as large as one side of its place"
    ann.page.get_by_role("button", name="Chat").click()
    expect(ann.page.get_by_label("Say something")).to_be_in_viewport(ratio=1)
    covered = ann.page.evaluate(LAYOUT)["overlaps"]
    assert covered == [".act .talking"], "the players stay in sight while one reads"
    ann.page.get_by_role("button", name="Chat").click()


@pytest.mark.parametrize(("game", "config"), [GAMES[2], GAMES[4]], ids=["backgammon", "minefield"])
def test_a_tablet_has_the_board_and_all_that_is_pressed_in_sight_whichever_way_it_is_held(
    server, visit, game, config
):
    ann = sit_down(server, visit, game, config, viewport=TABLETS[0], **TOUCH)
    for size in TABLETS:
        ann.page.set_viewport_size(size)
        ann.page.evaluate(DRAWN)
        found = ann.page.evaluate(LAYOUT)
        assert found["scrolls"] == [0, 0], size
        assert (found["outside"], found["overlaps"]) == ([], []), size
        assert found["board"]["wide"] > found["field"] * 0.97 or found["board"]["high"] > size["height"] / 2
        assert ann.page.evaluate(SMALL_TARGETS, 40) == [], size
        assert serious_faults(ann) == []


def test_a_press_makes_the_squares_of_a_wide_field_as_large_as_a_thumb_and_back(server, visit):
    ann = sit_down(server, visit, "minesweeper", {"preset": "advanced"}, viewport=ON_ITS_SIDE, **TOUCH)
    size = lambda: ann.spot("column 15, row 8: closed").bounding_box()["width"]  # noqa: E731
    before = size()
    ann.page.get_by_role("button", name="Larger squares").click()
    assert size() >= 40
    expect(ann.spot("column 15, row 8: closed")).to_be_in_viewport(ratio=1)
    assert ann.page.evaluate(LAYOUT)["scrolls"] == [0, 0], "the board scrolls in its place, not the page"
    ann.page.get_by_role("button", name="Larger squares").click()
    assert size() == pytest.approx(before, abs=0.1)


def test_on_a_phone_on_its_side_a_table_for_four_is_filled_with_bots(server, visit):
    ann = visit(server, "Ann", viewport=ON_ITS_SIDE, **TOUCH).come_in(server.open_room("hearts")["id"])
    for free in (3, 2, 1):
        expect(ann.page.get_by_text("Nobody yet")).to_have_count(free)
        ann.page.get_by_role("button", name="Add a bot").click()
        ann.page.get_by_role("button", name="Sensible", exact=True).click()
    expect(ann.status).to_contain_text("Your turn: choose 3")


def test_a_friend_sees_what_they_accept_and_where_to_press_on_a_phone_on_its_side(server, visit):
    wish = {"game": "backgammon", "config": {"variant": "plakoto", "match": "five_points"}}
    room = server.call(
        "POST", "/api/rooms", wish | {"clock": {"kind": "increment", "seconds": 180, "extra": 2}}
    )
    bob = visit(server, "Bob", viewport=ON_ITS_SIDE, **TOUCH).go(f"/r/{room.json()['id']}")
    expect(bob.page.get_by_role("heading", name="Backgammon")).to_be_in_viewport(ratio=1)
    expect(bob.page.get_by_label("What is played here")).to_be_in_viewport(ratio=1)
    expect(bob.page.get_by_role("button", name="Sit down")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("size", [None, PHONE], ids=["desktop", "phone"])
def test_from_a_room_and_a_replay_one_comes_to_every_page(server, visit, size):
    ann = visit(server, "Ann", **({"viewport": size, **TOUCH} if size else {}))
    room = ann.open_room()
    for path in (f"/r/{room}", f"/r/{room}/replay"):
        ann.go(path)
        if size:
            ann.page.get_by_role("button", name="Pages").click()
        pages = ann.page.get_by_role("navigation", name="Pages")
        expect(pages.get_by_role("link")).to_have_text(["Play", "Watch", "Leaderboard", "Your games"])
        assert serious_faults(ann) == []
        pages.get_by_role("link", name="Leaderboard").click()
        expect(ann.page.get_by_role("heading", name="Leaderboard")).to_be_visible()


def test_the_replay_has_the_whole_board_on_a_low_screen_too(server, visit):
    ann = sit_down(server, visit, "backgammon", {"match": "five_points"}, viewport=ON_ITS_SIDE, **TOUCH)
    ann.go(f"/r/{ann.page.url.rpartition('/')[2]}/replay")
    expect(ann.page.get_by_role("slider", name="Moment")).to_be_in_viewport(ratio=1)
    expect(ann.board).to_be_in_viewport(ratio=1)
    page = "document.documentElement"
    assert ann.page.evaluate(f"[{page}.scrollWidth - innerWidth, {page}.scrollHeight - innerHeight]") == [
        0,
        0,
    ]


class Fingers:
    """Looks at screens on a phone that is held upright and on its side, and notes what is hard to hit."""

    def __init__(self, server: Any, visit: Callable[..., Visitor]) -> None:
        self.server = server
        self.ann, self.bob = (visit(server, name, viewport=PHONE, **TOUCH) for name in ("Ann", "Bob"))
        self.small: list[str] = []

    def look(self, screen: str, visitor: Visitor | None = None) -> None:
        page = (visitor or self.ann).page
        for way, size in (("on its side", ON_ITS_SIDE), ("upright", PHONE)):
            page.set_viewport_size(size)
            page.evaluate(DRAWN)
            self.small += [f"{screen}, {way}: {one}" for one in page.evaluate(SMALL_TARGETS, 40)]

    def unfold(self, *buttons: str) -> None:
        """Press each, look at what it opens, and close that again."""
        for name in buttons:
            button = self.ann.page.get_by_role("button", name=name, exact=True)
            button.click()
            self.look(name)
            if self.ann.page.locator("dialog[open]").count():
                self.ann.press("Escape")
            else:
                button.click()

    def pages(self) -> None:
        """The pages around the rooms, with games in their lists."""
        ann, bob = self.ann, self.bob
        for game in ("tictactoe", "hearts"):
            ann.come_in(self.server.open_room(game, listed=True)["id"])
        for path in (
            "/", "/watch", "/leaderboard/backgammon/fevga", "/games", "/account", "/sign-in", "/nowhere",
            "/rules/stratego", "/rules/backgammon/plakoto", "/p/bot:random",
        ):  # fmt: skip
            for who in (ann, bob):
                who.provoked = {404}
                who.go(path)
                expect(who.page.locator("main h1").first).to_be_visible()
                expect(who.page.get_by_text("Looking…")).to_have_count(0)
                self.look(path, who)
        ann.go("/")
        self.unfold("Settings", "Set up Minesweeper", "Set up Backgammon", "A bot to play Hearts with")

    def a_game(self) -> None:
        """From the door to the replay."""
        ann, bob = self.ann, self.bob
        room = ann.open_room()
        self.look("waiting")
        self.unfold("Invite", "Leave", "Settings", "How to play", "Pages", "Chat", "Moves")
        ann.page.get_by_role("button", name="Add a bot").click()
        self.look("bots")
        bob.go(f"/r/{room}")
        expect(bob.page.get_by_role("button", name="Sit down")).to_be_visible()
        self.look("door", bob)
        bob.come_in(room)
        for mine, yours in (("centre", "left"), ("top", "right")):
            ann.sees("Your turn")
            ann.mark(mine)
            bob.sees("Your turn")
            bob.mark(yours)
        ann.sees("Your turn")
        self.unfold("Offers and resigning")
        ann.page.locator("header h1").focus()
        ann.press("ArrowLeft")
        expect(ann.page.get_by_role("button", name="Back to now")).to_be_visible()
        self.look("earlier")
        ann.press("Escape")
        choose(ann, "Offer a draw")
        expect(bob.page.get_by_role("button", name="Agree")).to_be_visible()
        self.look("an offer", bob)
        self.look("an offer of one's own")
        bob.page.get_by_role("button", name="Decline").click()
        ann.mark("bottom")
        ann.sees("You win: three in a row")
        ann.page.get_by_text("Fair play").click()
        self.look("ended")
        ann.page.get_by_role("link", name="Replay").click()
        expect(ann.page.get_by_role("slider", name="Moment")).to_be_visible()
        self.look("replay")
        ann.go("/games")
        expect(ann.page.get_by_role("link", name="Bob", exact=True)).to_be_visible()
        self.look("results")

    def tables(self) -> None:
        """The tables of all games, with people and with bots at them."""
        for game, config in GAMES[1:]:
            room = self.server.open_room(game, config=config)["id"]
            self.ann.come_in(room)
            if game != "minesweeper":
                self.bob.come_in(room)
                expect(self.ann.page.get_by_text("Nobody yet")).to_have_count(0)
            self.look(game)
        for game, config, others in (
            ("hex", {}, 1),
            ("hearts", {"players": 5}, 4),
            ("goofspiel", {"players": 3}, 2),
        ):
            room = self.server.open_room(game, config=config)["id"]
            self.ann.come_in(room)
            for there in range(1, others + 1):
                self.look(f"{game}, {there}")
                self.ann.page.get_by_role("button", name="Add a bot").click()
                self.ann.page.get_by_role("button", name="Random", exact=True).click()
                expect(self.ann.page.locator(".bar .bot")).to_have_count(there)
            self.look(f"{game} with bots")
            self.ann.go(f"/r/{room}/replay")
            expect(self.ann.page.get_by_role("slider", name="Moment")).to_be_visible()
            self.look(f"replay of {game}")


SMALL_LINKS = """() => {
    document.body.replaceChildren();
    const put = (tag, text, around = document.body) => {
        const made = document.createElement(tag);
        made.textContent = text;
        if (tag === "a") made.href = "/";
        around.append(made);
        return made;
    };
    put("a", "in a sentence", put("p", "A link "));
    put("a", "alone", put("p", ""));
    const row = put("p", "A row ");
    row.style.display = "flex";
    put("a", "beside words", row);
    const button = put("button", "in a sentence", put("p", "A button "));
    Object.assign(button.style, { minHeight: 0, padding: 0 });
}"""


@pytest.mark.parametrize("way", [Fingers.pages, Fingers.a_game, Fingers.tables], ids=lambda way: way.__name__)
def test_whatever_is_pressed_on_a_phone_is_as_high_and_as_wide_as_a_fingertip_whichever_way_it_is_held(
    server, visit, way
):
    fingers = Fingers(server, visit)
    way(fingers)
    assert fingers.small == []


def test_a_link_that_is_as_small_as_its_words_stands_in_a_sentence(server, visit):
    """What the test above leaves out, and that it leaves out nothing else."""
    ann = visit(server, "Ann", viewport=PHONE, **TOUCH).go("/")
    expect(ann.page.locator("article").first).to_be_visible()
    ann.page.evaluate(SMALL_LINKS)
    small = ann.page.evaluate(SMALL_TARGETS, 40)
    assert [one.partition(":")[0] for one in small] == ["A alone", "A beside words", "BUTTON in a sentence"]


def test_the_cells_of_a_fine_board_are_as_large_on_a_phone_as_its_height_allows(server, visit):
    ann = sit_down(server, visit, "minesweeper", {"preset": "advanced"}, viewport=PHONE, **TOUCH)
    cell = ann.spot("column 1, row 1: closed").bounding_box()
    assert cell["width"] >= 32
    wide = ann.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide == 0, "the board scrolls in its place, not the page"

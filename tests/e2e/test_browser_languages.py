"""Every screen in a language that is longer and from right to left; German; one that does not exist."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.backgammon import hasten
from tests.e2e.browser import DESKTOP, DRAWN, LANDSCAPE, PHONE, Visitor, lose_the_server
from tests.e2e.hands import choose
from tests.e2e.test_browser_lobby import is_seated, play_ranked

pytestmark = pytest.mark.e2e

SIZES = {"desktop": DESKTOP, "landscape": LANDSCAPE, "phone": PHONE}
"""Each screen is looked at in all of them; the last is that in which people press things."""

FAULTS = (Path(__file__).parent / "layout_faults.js").read_text()
"""What is wrong with the screen as it is: too wide, in English, cut off, or one thing on another."""

RULES = [
    "tictactoe", "minesweeper", "stratego", "hex", "goofspiel", "hearts", "backgammon", "backgammon/plakoto",
]  # fmt: skip
"""Pages of rules with everything that stands in them: lists, tables, boards of each kind."""

BLITZ = {"kind": "increment", "seconds": 180, "extra": 2}
ROOMS: list[tuple[str, dict[str, Any], dict[str, Any] | None]] = [
    ("minesweeper", {}, None),
    ("stratego", {}, None),
    ("backgammon", {"match": "five_points"}, None),
    ("hex", {}, BLITZ),
    ("hearts", {"players": 3}, None),
    ("goofspiel", {"players": 3}, None),
]
"""A room of each game, as it is set up, and with which clock."""

SPARED = [
    "Ann", "Bob", "Cleo", "Guest", "Parlour", "and", "days", "day", "hours", "minutes", "minute", "seconds",
    "second", "ago", "bar", "off", "https", "Deutsch", "English",
]  # fmt: skip
"""Names (of rooms: four capitals), what the browser says of times and lists, how moves are written."""


class Walk:
    """Somebody who goes from screen to screen in the made-up language, and notes what is wrong on each."""

    def __init__(self, visit: Callable[..., Visitor], server: Any) -> None:
        self.server, self.visit = server, visit
        self.ann = self.come("Ann")
        self.faults: list[str] = []

    def come(self, name: str) -> Visitor:
        visitor = self.visit(self.server, name, viewport=PHONE, has_touch=True, is_mobile=True)
        visitor.context.add_init_script("try { sessionStorage.lang ??= 'pseudo' } catch {}")
        return visitor

    def look(self, screen: str, visitor: Visitor | None = None, *more: str) -> None:
        page = (visitor or self.ann).page
        for name, size in SIZES.items():
            page.set_viewport_size(size)
            page.evaluate(DRAWN)
            found = page.evaluate(FAULTS, [*SPARED, *more])
            self.faults += [f"{screen}, {name}: {fault}" for fault in found]

    def sit(self, visitor: Visitor, room: str) -> None:
        """Through the door, whose words nobody can read."""
        visitor.go(f"/r/{room}")
        visitor.page.locator("#name").fill(visitor.name)
        visitor.page.locator("form button.main").click()
        expect(visitor.spots.first).to_be_attached()

    def around(self) -> None:
        """The pages around the rooms."""
        ann = self.ann
        for path, there in (
            ("/", "article svg.board"),
            ("/watch", "main h1"),
            ("/leaderboard", "main .empty"),
            ("/games", "#results"),
            ("/account", "main h1"),
            ("/sign-in", "main h1"),
            *((f"/rules/{page}", "main h2") for page in RULES),
            ("/nowhere", "main h1"),
            ("/r/NOWHERE", "main h1"),
            ("/r/NOWHERE/replay", "main h1"),
        ):
            ann.provoked = {404}
            ann.go(path)
            expect(ann.page.locator(there).first).to_be_visible()
            self.look(path, ann, "NOWHERE")
        ann.go("/")
        expect(ann.page.locator("article").first).to_be_visible()
        for number, tile in enumerate(ann.page.locator("article").all()):
            tile.locator(":scope > .ways button").last.click()
            more = tile.locator("dialog details")
            if more.count():
                more.locator("summary").first.click()
            clock = tile.locator("dialog select[id$=clock]")
            if clock.count():
                clock.select_option("0")
            self.look(f"set up game {number}")
            ann.press("Escape")
        ann.page.locator("header .end button.tool").click()
        self.look("settings")
        ann.press("Escape")
        ann.page.locator("article .now:not(:disabled)").first.click()
        expect(ann.page.locator(".bar [role=status]")).to_be_visible()
        self.look("waiting")
        ann.page.locator(".bar .ways button").last.click()

    def play(self) -> None:
        """The waiting room, the door, a game with its menu, its end, and its replay."""
        ann, bob = self.ann, self.come("Bob")
        room = self.server.open_room("tictactoe")["id"]
        self.sit(ann, room)
        self.look("waiting room", ann, room)
        ann.page.locator(".add > button").first.click()
        expect(ann.page.locator(".bots button").first).to_be_visible()
        self.look("which bot?", ann, room)
        ann.press("Escape")
        bob.go(f"/r/{room}")
        expect(bob.page.locator("#name")).to_be_visible()
        self.look("door", bob)
        self.sit(bob, room)
        expect(ann.page.locator(".spot.active").first).to_be_visible()
        ann.page.locator(".act [aria-expanded]").last.click()
        self.look("offers", ann, room)
        ann.page.locator(".menu .controls > button").last.click()
        self.look("resign?", ann, room)
        ann.press("Escape")
        ann.page.locator(".menu .controls > button").first.click()
        expect(bob.page.get_by_test_id("offer")).to_be_visible()
        self.look("an offer", bob, room)
        for mine, yours in (("c4", "c0"), ("c2", "c5"), ("c6", None)):
            ann.page.locator(f".spot.active[data-spot={mine}]").click()
            if yours:
                bob.page.locator(f".spot.active[data-spot={yours}]").click()
                expect(ann.page.locator(".spot.active").first).to_be_visible()
        expect(ann.page.locator(".ending")).to_be_visible()
        ann.page.locator(".ending summary").click()
        self.look("the end", ann, room)
        ann.go(f"/r/{room}/replay")
        expect(ann.page.locator(".slider select")).to_be_visible()
        self.look("replay", ann, room)

    def boards(self) -> None:
        """A room of each game: while it waits, when all are there, and what can be unfolded."""
        for game, config, clock in ROOMS:
            wish = {"game": game, "config": config, "clock": clock}
            room = self.server.call("POST", "/api/rooms", wish).json()["id"]
            self.sit(self.ann, room)
            self.look(game, self.ann, room)
            for name in () if game == "minesweeper" else ("Bob", "Cleo")[: config.get("players", 2) - 1]:
                other = self.come(name)
                self.sit(other, room)
                expect(self.ann.page.locator(".bar .who").filter(has_text=name)).to_be_visible()
                self.look(f"{game} with {name}", self.ann, room)
                self.look(f"{game} as {name}", other, room)
            for handle in self.ann.page.locator(".handles button").all():
                handle.click()
                self.look(f"{game}, a sheet", self.ann, room)
                handle.click()

    def add_bots(self, who: Visitor, count: int) -> None:
        """One after the other, the first that is offered at each seat."""
        for there in range(1, count + 1):
            who.page.locator(".add > button").first.click()
            who.page.locator(".bots button").first.click()
            expect(who.page.locator(".bar .bot")).to_have_count(there)

    def moments(self) -> None:
        """A running game as a spectator sees it, an earlier moment of it, and leaving it."""
        ann, bob, cleo = self.ann, self.come("Bob"), self.come("Cleo")
        room = self.server.open_room("tictactoe")["id"]
        self.sit(ann, room)
        self.sit(bob, room)
        self.sit(cleo, room)
        self.look("spectator", cleo, room)
        for who, cell in ((ann, "c4"), (bob, "c0")):
            who.page.locator(f".spot.active[data-spot={cell}]").click()
        expect(ann.page.locator(".spot.active").first).to_be_attached()
        for visitor in (ann, cleo):
            visitor.page.locator("header h1").focus()
            visitor.press("ArrowLeft")
            expect(visitor.page.locator(".looking")).to_be_visible()
            self.look(f"an earlier moment as {visitor.name}", visitor, room)
        ann.press("Escape")
        doings = ann.page.locator(".doings > button")
        for name, doing in (("leave?", doings.last), ("invite", ann.page.locator(".doings .invite"))):
            doing.click()
            expect(ann.page.locator("dialog[open]")).to_be_visible()
            self.look(name, ann, room)
            ann.press("Escape")
        bob.page.locator(".doings > button").last.click()
        bob.page.locator("dialog[open] button.main").click()
        expect(ann.page.locator(".act .news")).to_be_visible()
        self.look("somebody left", ann, room)

    def dice(self) -> None:
        """Backgammon after a roll, with a double on offer, and paused."""
        ann, bob = pair = self.ann, self.come("Bob")
        wish = {"game": "backgammon", "config": {"match": "five_points"}, "clock": BLITZ}
        room = self.server.call("POST", "/api/rooms", wish).json()["id"]
        for who in pair:
            self.sit(who, room)
        buttons = lambda who: who.page.locator(".act .controls > button")  # noqa: E731
        for who in pair:
            buttons(who).first.click()
        tokens = [who.token for who in pair]
        hasten(self.server, tokens, room, lambda view: view["phase"] == "move")
        for who in pair:
            expect(who.board.locator("[data-piece^=die]").first).to_be_attached()
            self.look(f"a roll as {who.name}", who, room)
        hasten(self.server, tokens, room, lambda view: view["phase"] == "roll")
        for who in pair:
            who.catch_up(self.server.room(room)["seq"])
        first, other = pair if buttons(ann).count() else (bob, ann)
        expect(buttons(first)).to_have_count(2)
        self.look("roll or double", first, room)
        buttons(first).last.click()
        expect(buttons(other)).to_have_count(2)
        self.look("a double", other, room)
        self.look("a double of one's own", first, room)
        buttons(other).first.click()
        expect(buttons(first)).to_have_count(1)
        first.page.locator(".act [aria-expanded]").last.click()
        first.page.locator(".menu .controls > button").first.click()
        answer = other.page.locator(".act .offer button")
        expect(answer).to_have_count(2)
        self.look("a pause?", other, room)
        answer.first.click()
        for who in (first, other):
            expect(who.page.locator(".act .offer button")).to_have_count(1)
            self.look("paused", who, room)

    def bots(self) -> None:
        """Tables of bots, and their advice; then the lists of rooms of all kinds, and of one's own."""
        ann, cleo, room = self.ann, self.come("Cleo"), ""
        for game, config, bots in (("hearts", {}, 3), ("goofspiel", {"players": 5}, 4), ("hex", {}, 1)):
            wish = {"game": game, "config": config, "listed": True}
            room = self.server.call("POST", "/api/rooms", wish).json()["id"]
            self.sit(ann, room)
            self.add_bots(ann, bots)
            self.look(f"{game} with bots", ann, room)
        ann.page.locator(".doing > button.tool").first.click()
        expect(ann.page.locator(".act > p[role=status]")).to_be_visible()
        self.look("a hint", ann, room)
        self.sit(cleo, self.server.open_room("backgammon", config={"variant": "plakoto"}, listed=True)["id"])
        for path, there in (("/", "a.turn"), ("/games", "#running ~ ul")):
            ann.go(path)
            expect(ann.page.locator(there).first).to_be_visible()
            self.look(f"{path} with games", ann)
        for path in ("/", "/watch"):
            cleo.go(path)
            expect(cleo.page.locator(".kinds button")).to_have_count(3)
            for number, kind in enumerate(cleo.page.locator(".kinds button").all()):
                kind.click()
                self.look(f"{path}, rooms {number}", cleo)

    def ladder(self) -> None:
        """A ranked game at its end, and what it leaves on the ladder, at its players and in their account."""
        ann, bob = (self.visit(self.server, name, viewport=PHONE, has_touch=True) for name in ("Ann", "Bob"))
        for who in (ann, bob):
            play_ranked(who)
        is_seated(ann, bob)
        room = ann.page.url.rpartition("/")[2]
        ann.page.evaluate("sessionStorage.lang = 'pseudo'")
        ann.page.reload()
        expect(ann.page.get_by_test_id("stake")).to_be_visible()
        self.look("a ranked game", ann, room)
        ann.page.evaluate("sessionStorage.removeItem('lang')")
        ann.page.reload()
        choose(bob, "Resign")
        bob.page.get_by_role("dialog").get_by_role("button", name="Yes").click()
        expect(ann.page.get_by_test_id("rating")).to_have_count(2)
        ann.go("/account").page.get_by_role("textbox", name="Your name").press("Enter")
        expect(ann.page.get_by_test_id("code")).to_be_visible()
        ann.page.evaluate("sessionStorage.lang = 'pseudo'")
        for path, there in (
            (f"/r/{room}", "[data-testid=rating]"),
            ("/leaderboard/tictactoe", "main tbody a"),
            ("/games", ".standings a"),
            ("/account", "#devices"),
        ):
            ann.go(path)
            expect(ann.page.locator(there).first).to_be_visible()
            expect(ann.page.locator("html")).to_have_attribute("dir", "rtl")
            self.look(path, ann, room)

    def offline(self) -> None:
        """The page that is there when the server is not."""
        self.ann.go("/leaderboard")
        expect(self.ann.page.locator("main h1")).to_be_visible()
        lose_the_server(self.ann)
        expect(self.ann.page.locator("html")).to_have_attribute("dir", "rtl")
        expect(self.ann.page.locator("main a")).to_be_visible()
        self.look("offline")


WAYS: list[tuple[Callable[[Walk], None], ...]] = [
    (Walk.around, Walk.offline),
    (Walk.play, Walk.ladder),
    (Walk.boards,),
    (Walk.moments, Walk.dice),
    (Walk.bots,),
]
"""Each at a server of its own, where nobody else's name is in a list."""


@pytest.mark.parametrize("way", WAYS, ids=[way[0].__name__ for way in WAYS])
def test_no_screen_overflows_or_overlaps_in_a_language_that_is_longer_and_runs_the_other_way(
    serve, visit, way
):
    walk = Walk(visit, serve())
    for part in way:
        part(walk)
    expect(walk.ann.page.locator("html")).to_have_attribute("dir", "rtl")
    assert walk.faults == []


def choose_language(visitor: Visitor, code: str) -> None:
    with visitor.page.expect_response("**/me/preferences"):
        visitor.page.locator("dialog[open] select").select_option(code)


def test_german_is_chosen_in_the_settings_and_kept_and_the_game_speaks_it_too(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    room = ann.open_room()
    bob.come_in(room)
    ann.sees("Your turn")
    ann.page.get_by_role("button", name="Settings").click()
    choose_language(ann, "de")
    ann.page.get_by_role("button", name="Fertig").click()
    ann.sees("Du bist dran")
    bob.sees("Waiting for Ann")
    expect(ann.page.locator("html")).to_have_attribute("lang", "de")
    ann.spot("Mitte").click()
    bob.sees("Your turn")
    bob.mark("top")
    expect(ann.page.get_by_role("region", name="Züge")).to_contain_text("oben")
    ann.page.evaluate("localStorage.clear()")
    ann.go("/")
    ann.reads("Offene Räume")  # the server has kept the choice
    ann.go("/rules/backgammon/plakoto")
    ann.reads("Hier wird niemand geschlagen")
    expect(ann.page.locator("main figure").first).to_contain_text("So beginnt eine Partie.")


def test_a_bot_of_the_server_is_called_in_the_readers_language_wherever_it_is_named(server, visit):
    """People's own names stay, also one that looks like a translated bot's."""
    ann, bob = visit(server, "Bot Locker", locale="de-DE"), visit(server, "Bob")
    room = server.open_room("tictactoe", listed=True)["id"]
    ann.go(f"/r/{room}")
    ann.page.get_by_label("Dein Name").fill(ann.name)
    ann.page.get_by_role("button", name="Hinsetzen").click()
    bob.go(f"/r/{room}").page.get_by_role("button", name="Watch").click()
    ann.page.get_by_role("button", name="Bot dazusetzen").click()
    ann.page.get_by_role("button", name="Locker", exact=True).click()
    expect(ann.page.locator("[data-seat='1']")).to_contain_text("Bot Locker 2")
    expect(ann.page.get_by_role("region", name="Chat")).to_contain_text("Bot Locker 2 setzt sich")
    expect(bob.page.locator("[data-seat='1']")).to_contain_text("Casual bot")
    ann.spot("Mitte").click()
    expect(ann.page.get_by_role("region", name="Züge").get_by_role("listitem")).to_have_count(2)
    ann.go(f"/r/{room}/replay")
    expect(ann.page.get_by_role("list", name="Spieler")).to_contain_text("Bot Locker 2")
    ann.go("/games")
    expect(ann.page.locator("#running ~ ul")).to_contain_text("Bot Locker und Bot Locker 2")
    ann.go("/p/bot:casual")
    expect(ann.page.get_by_role("heading", level=1)).to_contain_text("Bot Locker")


def test_a_browser_that_prefers_german_gets_german_at_once(server, visit):
    ann = visit(server, "Ann", locale="de-AT").go("/")
    expect(ann.page.get_by_role("button", name="Jetzt spielen: Drei gewinnt")).to_be_visible()


def test_what_home_fetched_ahead_in_vain_is_fetched_again_by_whoever_goes_to_a_room(server, visit):
    ann = visit(server, "Ann", locale="de-DE")
    ann.provoked.add(503)
    first, lost = set[str](), set[str]()
    comes: list[bool] = []

    def lose(route):
        path = route.request.url
        if "/de.json" in path and not first:
            first.add(path)  # what home says
        if path in first or comes:
            return route.fallback()
        lost.add(path)
        return route.fulfill(status=503)

    ann.context.route(re.compile(r"/assets/(de\.json|RoomPage)[^/]*\.js$"), lose)
    ann.go("/").page.get_by_placeholder("Code des Raums").fill(server.open_room()["id"])
    while len(lost) < 2:
        ann.page.evaluate("1")
    ann.page.wait_for_load_state("networkidle")
    comes.append(True)
    ann.press("Enter")
    expect(ann.page.get_by_role("button", name="Verlassen")).to_be_visible()


def test_a_language_that_does_not_exist_is_english_and_the_settings_say_so(server, visit):
    ann = visit(server, "Ann", locale="de-DE").go("/?lang=klingon")
    expect(ann.page.locator("html")).to_have_attribute("lang", "en")
    ann.page.get_by_role("button", name="Settings").click()
    ann.reads("There is no language “klingon” here, so the pages are in English.")
    choose_language(ann, "de")  # what somebody chooses counts more than the address
    ann.reads("Einstellungen")
    ann.reads_no_more("klingon")
    assert "lang" not in ann.page.url

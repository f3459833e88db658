"""People at real browsers: what they see, click, type and press."""

import json
import os
import re
import shutil
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    BrowserContext,
    Locator,
    Page,
    Playwright,
    ViewportSize,
    WebSocket,
    expect,
)

from tests.e2e.lines import PATIENCE
from tests.e2e.servers import Server

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
DESKTOP: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}
LANDSCAPE: ViewportSize = {"width": 844, "height": 390}

expect.set_options(timeout=10_000)


SANDBOX = ["--no-sandbox"] if os.geteuid() == 0 else []
"""As root it cannot put itself into a sandbox."""


CLUB = "club.test"
"""A name by which browsers reach servers of this machine, over plain http and not as localhost."""


def launch(playwright: Playwright, *arguments: str) -> Browser:
    """Debian's own; all pages of a profile share one process."""
    started = [*SANDBOX, "--process-per-site", f"--host-resolver-rules=MAP {CLUB} 127.0.0.1", *arguments]
    return playwright.chromium.launch(executable_path=CHROMIUM, args=started)


class Profile:
    """Cookies, storage and pages of one visitor, and a page that keeps their process alive."""

    def __init__(self, browser: Browser, kind: str, script: str, options: dict[str, Any]) -> None:
        self.kind = kind
        self.context: BrowserContext = browser.new_context(**options)
        if script:
            self.context.add_init_script(script)
        self._anchor: Page | None = None

    def new_page(self, server: Server) -> Page:
        """A page in the process that draws pages of this server."""
        if self._anchor is None:
            self._anchor = self.context.new_page()
            self._anchor.goto(f"http://{server.address}/health")
        return self.context.new_page()

    def clear(self) -> None:
        """Forget everything that a visitor left here."""
        assert self._anchor is not None
        storage = self.context.new_cdp_session(self._anchor)
        for page in self.context.pages:
            where = urlsplit(page.url)
            origin = {"origin": f"{where.scheme}://{where.netloc}", "storageTypes": "all"}
            if page is not self._anchor:
                page.close()
                storage.send("Storage.clearDataForOrigin", origin)
        storage.detach()
        self.context.clear_cookies()


class Profiles:
    """Profiles for one visitor after the other: where a process runs already, a page costs half as much."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: dict[str, list[Profile]] = {}

    def take(self, script: str, options: dict[str, Any]) -> Profile:
        """An empty profile."""
        kind = f"{script} {sorted(options.items())}"
        free = self._free.get(kind)
        return free.pop() if free else Profile(self._browser, kind, script, options)

    def give_back(self, profile: Profile) -> None:
        """Keep a profile for the next visitor of its kind."""
        profile.clear()
        self._free.setdefault(profile.kind, []).append(profile)


class Visitor:
    """Somebody at a browser of their own: cookies, storage and complaints are theirs alone."""

    def __init__(
        self, profiles: Profiles, server: Server, name: str, *, picks_up: bool = True, **options: Any
    ) -> None:
        self.server = server
        self.name = name
        self.has_touch: bool = options.get("has_touch", False)
        self._profiles = profiles
        self._profile = profiles.take(
            PICK_UP if picks_up else "", {"viewport": DESKTOP, "reduced_motion": "reduce", **options}
        )
        self._altered = "permissions" in options
        self.page: Page = self._profile.new_page(server)
        self.page.set_default_timeout(10_000)
        self.complaints: list[str] = []
        """What the browser logged as an error, and exceptions that nobody caught."""
        self.frames: list[Any] = []
        """Every frame that came over a socket."""
        self.provoked: set[int] = set()
        """Refusals over HTTP that a test asks for: a browser logs each."""
        self.page.on("console", self._listen)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("websocket", self._follow)

    @property
    def context(self) -> BrowserContext:
        """Everything that this visitor's pages share; whoever changes it is the last to use it."""
        self._altered = True
        return self._profile.context

    @property
    def token(self) -> str:
        """The token of whoever this visitor is."""
        cookies = self._profile.context.cookies()
        return next(one["value"] for one in cookies if one["name"] == "parlour_token")

    def _listen(self, message: Any) -> None:
        # While a server is down, the browser itself logs each try in vain, and what was cut off when it went.
        gone = ("ERR_CONNECTION", "closed before receiving a handshake")
        cut_off = ("ERR_CONTENT_LENGTH_MISMATCH", "ERR_EMPTY_RESPONSE") if self.server.past else ()
        plain = "Cross-Origin-Opener-Policy header has been ignored"  # it is for https
        expected = [*gone, *cut_off, plain, *(f"status of {status}" for status in self.provoked)]
        if message.type == "error" and not any(words in message.text for words in expected):
            self.complaints.append(message.text)

    def _follow(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: self.frames.append(json.loads(frame)))

    def close(self) -> None:
        if self._altered:
            self._profile.context.close()
        else:
            self._profiles.give_back(self._profile)

    # Going about.

    def go(self, path: str) -> "Visitor":
        self.page.goto(f"http://{self.server.address}{path}")
        return self

    def open_room(self, game: str = "Noughts and crosses") -> str:
        """From the home page into a new room; its id."""
        self.go("/")
        self.page.get_by_label("Your name").fill(self.name)
        # A game for one is simply played; at the others' tables there is a seat for a friend.
        way = re.compile(f"^(Play {re.escape(game)}|A friend to play {re.escape(game)} with)$")
        self.page.get_by_role("button", name=way).click()
        self.page.wait_for_url(re.compile(r"/r/\w+$"))
        expect(self.spots.first).to_be_attached()
        return self.page.url.rpartition("/")[2]

    def set_up(self, game: str) -> Locator:
        """The dialog in which a game is set up, with everything in it unfolded."""
        self.page.get_by_role("button", name=f"Set up {game}").click()
        dialog = self.page.get_by_role("dialog")
        dialog.get_by_text("More", exact=True).click()
        return dialog

    def come_in(self, room: str, way: str = "Sit down") -> "Visitor":
        """By the link that a friend sent."""
        self.go(f"/r/{room}")
        self.page.get_by_label("Your name").fill(self.name)
        self.page.get_by_role("button", name=way, exact=True).click()
        expect(self.board).to_be_visible()
        return self

    # What there is.

    @property
    def board(self) -> Locator:
        return self.page.locator("svg.board")

    @property
    def spots(self) -> Locator:
        return self.board.locator("[data-spot]")

    @property
    def status(self) -> Locator:
        return self.page.get_by_test_id("status")

    def spot(self, label: str) -> Locator:
        """A spot by what a screen reader says of it."""
        return self.board.get_by_label(label, exact=True)

    def catch_up(self, seq: int) -> None:
        """Returns when the page has heard of this step, and has drawn it."""
        until = monotonic() + PATIENCE
        while self.seq < seq:
            assert monotonic() < until, f"{self.name}'s browser heard of step {self.seq}, and not of {seq}"
            self.page.evaluate(DRAWN)
        self.page.evaluate(DRAWN)

    @property
    def seq(self) -> int:
        """Of the last step that came over the socket."""
        told = (frame[4]["seq"] for frame in reversed(self.frames) if frame[3] in ("sync", "update"))
        return next(told, -1)

    def sees(self, status: str) -> None:
        expect(self.status).to_have_text(status)

    def reads(self, words: str) -> None:
        expect(self.page.get_by_text(words).first).to_be_visible()

    def reads_no_more(self, words: str) -> None:
        expect(self.page.get_by_text(words)).to_have_count(0)

    def has(self, selector: str, count: int) -> None:
        expect(self.page.locator(selector)).to_have_count(count)

    # Doing.

    def click(self, name: str) -> None:
        """Press the button, or follow the link, that a screen reader calls so."""
        one = self.page.get_by_role("button", name=name, exact=True)
        one.or_(self.page.get_by_role("link", name=name, exact=True)).first.click()

    def mark(self, label: str) -> None:
        """Play noughts and crosses."""
        self.spot(label).click()

    def say(self, text: str) -> None:
        self.page.get_by_label("Say something").fill(text)
        self.page.get_by_role("button", name="Send").click()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def tab_to(self, wanted: str, most: int = 40) -> None:
        """Press Tab until what has the focus is called so, or lies in an element that matches."""
        for _ in range(most):
            self.press("Tab")
            if self.page.evaluate(FOCUSED, wanted):
                return
        raise AssertionError(f"expected Tab to come to {wanted}, it did not")


def lose_the_server(visitor: Visitor) -> None:
    """The server goes when the browser is prepared for that, and the page is loaded anew."""
    visitor.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    visitor.page.wait_for_function("() => caches.match('/offline.html').then(Boolean)")
    visitor.server.kill()
    visitor.page.reload()


PICK_UP = """try {
    localStorage["choices:backgammon"] ??= '["pick_up"]';
} catch {}"""
"""At backgammon most of our visitors choose where a checker goes; by default one click plays it."""

DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""What has come is on the screen when the frame after the next begins."""

FOCUSED = """wanted => {
    const element = document.activeElement;
    const [named, labelled] = [element.getAttribute("aria-label"), element.labels?.[0]?.textContent];
    const label = named ?? labelled ?? element.textContent;
    return label.trim() === wanted || (wanted.startsWith("svg") && element.closest(wanted) !== null);
}"""

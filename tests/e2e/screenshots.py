"""Takes pictures of every page and board, on a desktop and on a phone both ways, in light and dark.

They are made to be looked at: nothing may overflow, overlap or be hard to read. Those that the docs show are
taken over into docs/images.
"""

import base64
import functools
import http.server
import itertools
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, expect, sync_playwright

from parlour.game import Chance
from parlour.games.minesweeper import Field
from tests.e2e.armies import STAND_STILL, draw_up, move, press_button, square, stands
from tests.e2e.browser import DESKTOP, LANDSCAPE, PHONE, Profiles, Visitor, launch
from tests.e2e.pictures_backgammon import take_backgammon
from tests.e2e.pictures_lobby import take_lobby, take_pages, take_tables
from tests.e2e.pictures_panel import take_panel
from tests.e2e.servers import Server

ROOT = Path(__file__).parents[2]
SHOWN = ROOT / "docs" / "images"
SCREENS = {"desktop": DESKTOP, "phone": PHONE, "landscape": LANDSCAPE}
STORIES = {
    "backgammon": 2,
    "stratego": 2,
    "connect_four": 2,
    "plain": 0,
    "tricks": 1,
    "hexes": 1,
    "morris": 1,
    "auction": 1,
    "routes": 1,
    "dice": 1,
}
"""Boards that are drawn from tests/scenes, and which moment of each."""


class Album:
    """Keeps pictures as WebP: nobody sees a difference, and they take less than half the room."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self._folder = folder
        self._page = browser.new_page()  # the browser itself is the one that can write it

    def keep(self, name: str, taken: bytes) -> None:
        developed = self._page.evaluate(DEVELOP, base64.b64encode(taken).decode())
        (self._folder / f"{name}.webp").write_bytes(base64.b64decode(developed))


DEVELOP = """async (taken) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${taken}`)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height);
    canvas.getContext("2d").drawImage(image, 0, 0);
    const developed = await canvas.convertToBlob({ type: "image/webp", quality: 0.95 });
    const bytes = new Uint8Array(await developed.arrayBuffer());
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}"""


CODES_DRAWN = "() => [...document.querySelectorAll('.qr path')].every((drawn) => drawn.getAttribute('d'))"
"""What draws a QR code is loaded when somebody shows one."""


class Photographer:
    """Somebody who looks at one scheme, on one kind of screen."""

    def __init__(self, browser: Browser, server: Server, album: Album, scheme: str, screen: str) -> None:
        self.browser, self.server, self.album = browser, server, album
        self.scheme, self.screen = scheme, screen
        self.visitors: list[Visitor] = []

    @property
    def options(self) -> dict[str, Any]:
        touch = {"is_mobile": True, "has_touch": True} if self.screen != "desktop" else {}
        return {
            "color_scheme": self.scheme,
            "viewport": SCREENS[self.screen],
            "device_scale_factor": 1,
            **touch,
        }

    def visitor(self, name: str) -> Visitor:
        self.visitors.append(Visitor(Profiles(self.browser), self.server, name, **self.options))
        return self.visitors[-1]

    def take(self, visitor: Visitor, name: str, *, whole: bool = False) -> None:
        """From the top: a click may have scrolled the page; *whole*, however long it is."""
        visitor.page.evaluate("scrollTo(0, 0)")
        visitor.page.wait_for_function(CODES_DRAWN)
        taken = visitor.page.screenshot(full_page=whole)
        self.album.keep(f"{name}-{self.screen}-{self.scheme}", taken)

    def close(self) -> None:
        for visitor in self.visitors:
            visitor.close()

    def shoot(self) -> None:
        ann, bob = self.visitor("Ann"), self.visitor("Bob")
        self.take_minesweeper(self.visitor("Cy"))
        self.take_stratego(self.visitor("Ann"), self.visitor("Bob"))
        room = self.server.open_room()["id"]
        ann.come_in(room)
        home = self.visitor("Bob").go("/")
        home.page.get_by_label("Your name").fill("Bob")
        expect(home.page.get_by_text("Ann", exact=True).first).to_be_visible()
        for picture in home.page.locator("article .picture").all():  # drawn when somebody comes near
            picture.scroll_into_view_if_needed()
            expect(picture.locator("svg")).to_be_visible()
        self.take(home, "home", whole=True)
        home.page.get_by_role("button", name="Set up Minesweeper").click()
        self.take(home, "set-up")
        bob.go(f"/r/{room}")
        bob.page.get_by_label("Your name").fill("Bob")
        self.take(bob, "door")
        bob.come_in(room)
        ann.sees("Your turn")
        self.talk(ann, bob)
        for mine, yours in (("centre", "top left"), ("top right", "right")):
            ann.mark(mine)
            bob.sees("Your turn")
            bob.mark(yours)
            ann.sees("Your turn")
        self.take(ann, "room")
        ann.mark("bottom left")
        ann.sees("You win: three in a row")
        self.take(ann, "won")
        ann.page.get_by_role("button", name="Invite").click()
        self.take(ann, "invite")
        bob.page.get_by_role("link", name="Replay").click()
        slider = bob.page.get_by_role("slider", name="Moment")
        expect(slider).to_have_attribute("max", "6")
        slider.fill("4")
        self.take(bob, "replay")
        lost = self.visitor("Bob").go("/r/NOWHERE")
        expect(lost.page.get_by_role("heading")).to_be_visible()
        self.take(lost, "unknown")

    def talk(self, ann: Visitor, bob: Visitor) -> None:
        for visitor, words in ((ann, "Shall we?"), (bob, "I have been practising all week.")):
            if self.screen != "desktop":
                visitor.page.get_by_role("button", name="Chat").click()
            visitor.say(words)
            expect(visitor.page.get_by_text(words)).to_be_visible()
            if self.screen != "desktop":
                if visitor is bob:
                    self.take(bob, "chat")
                visitor.page.get_by_role("button", name="Chat").click()

    def take_minesweeper(self, cy: Visitor) -> None:
        room = self.server.open_room("minesweeper", config={"preset": "advanced"})["id"]
        cy.come_in(room)
        first = 7 * 30 + 14
        cy.spot("column 15, row 8: closed").click()
        expect(cy.spot("column 15, row 8: clear")).to_be_attached()
        chance = Chance(self.server.secret_luck(room), step=self.server.room(room)["seq"])
        laid = Field(30, 99, "#" * 480).lay(first, chance)
        safe = [cell for cell in range(480) if cell not in laid.mined]
        for cell in safe[::9]:
            at = cy.board.locator(f"[data-spot=c{cell}]")
            if at.locator(".f-raised").count():
                at.click()
                expect(at.locator(".f-raised")).to_have_count(0)
        for cell in sorted(laid.mined)[::3]:
            at = cy.board.locator(f"[data-spot=c{cell}]")
            at.focus()
            cy.press("Shift+Enter")
            expect(cy.board.locator(f"[data-spot=c{cell}][aria-label$=flag]")).to_have_count(1)
        cy.page.evaluate("document.activeElement.blur()")
        self.take(cy, "minesweeper")

    def take_stratego(self, ann: Visitor, bob: Visitor) -> None:
        room = self.server.open_room("stratego", config={"arrange_seconds": 0}, private=True)["id"]
        for visitor in (ann, bob):
            visitor.come_in(room)
        for visitor in (ann, bob):
            draw_up(visitor, "Corner")
        square(ann, "a4").click(force=True)
        self.take(ann, "stratego-arrange")
        square(ann, "d4").click(force=True)
        move(bob, "a10", "b7")
        for visitor in (bob, ann):
            press_button(visitor, "Ready")
        ann.sees("Your turn")
        square(ann, "b4").click(force=True)
        self.take(ann, "stratego-targets")
        square(ann, "b4").click(force=True)
        move(ann, "a4", "a7")
        bob.page.wait_for_function(STAND_STILL)
        self.take(bob, "stratego-fight")
        bob.page.evaluate("document.getAnimations().forEach((motion) => motion.finish())")
        move(bob, "a7", "a6")
        stands(ann, "a6", "captain of Bob")
        ann.sees("Your turn")
        move(ann, "b4", "b7")
        ann.sees("You win: the flag is captured")
        ann.page.wait_for_function("() => !document.getAnimations().length")
        self.take(ann, "stratego-won")


@contextmanager
def gallery() -> Iterator[str]:
    """The boards of tests/scenes, served; its address. `npm run build -- --mode gallery` makes it."""

    class Silent(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    handler = functools.partial(Silent, directory=str(ROOT / "web" / "dist-gallery"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/index.html"
        server.shutdown()


def take_boards(browser: Browser, album: Album, address: str) -> None:
    for scheme, (screen, size) in itertools.product(("light", "dark"), SCREENS.items()):
        with closing(browser.new_context(viewport=size)) as context:
            page = context.new_page()
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            for story, moment in STORIES.items():
                page.goto(f"{address}#{story}/{moment}")
                page.reload()
                page.add_style_tag(content="nav { height: 0; overflow: hidden; }")
                taken = page.locator(".field > *").screenshot()
                album.keep(f"board-{story}-{screen}-{scheme}", taken)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        playwright = stack.enter_context(sync_playwright())
        browser = launch(playwright)
        stack.callback(browser.close)
        album = Album(browser, folder)
        take_boards(browser, album, stack.enter_context(gallery()))
        take_panel(browser, album)
        for scheme in ("light", "dark"):
            for screen in SCREENS:
                with tempfile.TemporaryDirectory() as data:  # an empty lobby for each
                    server = Server(Path(data)).start()
                    try:
                        with closing(Photographer(browser, server, album, scheme, screen)) as photographer:
                            photographer.shoot()
                            take_backgammon(photographer)
                            take_lobby(photographer)
                            take_pages(photographer)
                            take_tables(photographer)
                    finally:
                        server.stop()

    for shown in SHOWN.glob("*.webp"):
        shutil.copy(folder / shown.name, shown)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

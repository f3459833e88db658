"""How smoothly 13 cards glide on a slow phone, beside what this browser can do at all. `make bench-glide`."""

import os
import statistics
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from benchmarks.page import say
from tests.e2e.browser import PHONE, Profiles, Visitor, launch
from tests.e2e.servers import Server

ROUNDS = int(os.environ.get("ROUNDS", "5"))
SLOWER = float(os.environ.get("SLOWER", "4"))
"""How many times as slow the browser's CPU is."""
CARDS = 13
"""One is played, and the others of the hand close up."""
MOST = 17.0
"""Milliseconds that the median frame may take: 60 frames a second."""
TRICKS = Path(__file__).parents[1] / "tests" / "boards" / "tricks.py"

Frame = tuple[float, int]
"""How many milliseconds it took, and how many things were in motion."""

RECORD = """() => {
    const gliding = new Set();
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (...how) {
        const motion = animate.apply(this, how);
        if (!this.matches("[data-piece]")) return motion;
        gliding.add(motion);
        motion.finished.catch(() => undefined).finally(() => gliding.delete(motion));
        return motion;
    };
    const taken = [];
    let before = null;
    const look = (now) => {
        if (gliding.size && before) taken.push([now - before, gliding.size]);
        before = gliding.size ? now : null;
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
    window.glides = { taken, gliding };
}"""
"""Notes how long each frame took in which something glided, and how many things did; it asks for no style."""
LANDED = "(most) => glides.taken.some(([, moving]) => moving >= most) && !glides.gliding.size"

PART = "<g data-piece><rect width=60 height=84 /></g>"
EMPTY = {
    "13 HTML layers": "<div data-piece></div>" * CARDS,
    "13 parts of an SVG": f"<svg width=390 height=700>{PART * CARDS}</svg>",
}
"""Pages on which nothing happens but that 13 things glide: no page is smoother in this browser, here."""
STYLE = """<style>
    [data-piece] { position: absolute; width: 60px; height: 84px; background: #eee; will-change: transform }
</style>"""
GLIDE = """() => document.querySelectorAll("[data-piece]").forEach((thing, at) => {
    const from = `translate(${at * 25}px, 500px)`, to = `translate(${at * 25 + 10}px, 480px)`;
    thing.animate([{ transform: from }, { transform: to }], { duration: 180, easing: "ease-out" });
})"""


def main() -> int:
    """Print the median frame beside that of empty pages; 1 if the best round takes longer than it may."""
    rounds: dict[str, list[list[float]]] = {name: [] for name in (*EMPTY, "Parlour")}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = Server(folder / "data", str(TRICKS)).start()
        stack.callback(server.stop)
        browser = launch(stack.enter_context(sync_playwright()))
        stack.callback(browser.close)
        for _ in range(ROUNDS):
            for name, body in EMPTY.items():
                rounds[name].append(empty(browser, body))
            rounds["Parlour"].append(played(browser, server))
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    say(f"{load}, CPU slowed {SLOWER:g} times, {ROUNDS} rounds of {CARDS} cards that glide")
    medians = {name: [statistics.median(frames) for frames in taken] for name, taken in rounds.items()}
    for name, taken in rounds.items():
        each = " ".join(f"{median:.1f}" for median in medians[name])
        longest = max(max(frames) for frames in taken)
        usual = statistics.median(medians[name])
        say(f"  {name:18} median frame {usual:5.1f} ms (rounds: {each}), longest {longest:.1f} ms")
    ours, floor = (statistics.median(medians[name]) for name in ("Parlour", "13 HTML layers"))
    best = min(medians["Parlour"])
    say(f"{ours / floor:.2f} times an empty page; the best round {best:.1f} ms, at most {MOST}")
    return int(best > MOST)


def empty(browser: Browser, body: str) -> list[float]:
    """Milliseconds of each frame on a page of nothing but things that glide."""
    context = browser.new_context(viewport=PHONE, device_scale_factor=2)
    page = context.new_page()
    page.set_content(STYLE + body)
    return glided(context, page, lambda: page.evaluate(GLIDE))


def played(browser: Browser, server: Server) -> list[float]:
    """Milliseconds of each frame while a card is played from a full hand."""
    ann = Visitor(
        Profiles(browser),
        server,
        "Ann",
        viewport=PHONE,
        reduced_motion="no-preference",
        device_scale_factor=2,
    )
    room = ann.open_room("Tricks")
    for _ in range(3):
        ann.page.evaluate(SEAT_BOT, room)
    expect(ann.board.locator("[data-piece^=k]")).to_have_count(CARDS)
    ann.sees("Your turn")
    ann.board.locator("[data-piece^=k][role=button]").nth(CARDS // 2).focus()
    return glided(ann.context, ann.page, lambda: ann.press("Enter"))


def glided(context: BrowserContext, page: Page, move: Any) -> list[float]:
    """Make the CPU slow, move, and wait until everything has landed."""
    context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.evaluate(RECORD)
    page.wait_for_function("true")  # what Playwright brings into a page is there before the cards move
    move()
    page.wait_for_function(LANDED, arg=CARDS)
    taken: list[Frame] = page.evaluate("glides.taken")
    context.close()
    return [time for time, moving in taken if moving >= CARDS]


SEAT_BOT = """(room) => fetch(`/api/rooms/${room}/bots`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: "{}",
}).then(({ status }) => status)"""

if __name__ == "__main__":
    sys.exit(main())

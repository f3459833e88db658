"""How smoothly 13 cards glide on a slow phone, beside what this browser can do at all. `make bench-glide`.

Counted are the frames that the browser draws, as it traces them itself, while all 13 are in motion.
"""

import json
import os
import statistics
import sys
import tempfile
from contextlib import ExitStack
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from benchmarks.page import say
from tests.e2e.browser import PHONE, Profiles, Visitor, launch
from tests.e2e.servers import Server

ROUNDS = int(os.environ.get("ROUNDS", "5"))
SLOWER = float(os.environ.get("SLOWER", "4"))
"""How many times as slow the CPU of the page is."""
CARDS = 13
"""So many at least: one is played, and the others of the hand close up."""
MOST = 17.0
"""Milliseconds that the median frame may take: 60 frames a second."""
TABLE = {"players": 3, "points": 0, "passing": False}
"""Hearts for three: each has 17 cards, and those at the ends of a hand stay where they are."""
TRACED = ["cc", "blink.animations", "devtools.timeline"]
DRAWN = "ProxyImpl::ScheduledActionDraw"
"""How the browser's trace calls a frame that is drawn."""

FOLLOW = """() => {
    const gliding = new Set();
    let most = 0;
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (...how) {
        const motion = animate.apply(this, how);
        if (!this.matches("[data-piece]")) return motion;
        most = Math.max(most, gliding.add(motion).size);
        motion.finished.catch(() => undefined).finally(() => gliding.delete(motion));
        return motion;
    };
    window.glides = { landed: (count) => most >= count && !gliding.size };
}"""
"""Notes how many things glide. It asks for no frame: a script that did would have the page work for each."""
LANDED = "(count) => glides.landed(count)"

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
        server = Server(folder / "data").start()
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
    return glided(browser, context, page, lambda: page.evaluate(GLIDE))


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
    room = server.open_room("hearts", config=TABLE)["id"]
    ann.come_in(room)
    for _ in range(TABLE["players"] - 1):
        ann.page.evaluate(SEAT_BOT, room)
    cards = ann.board.locator("[data-piece^=k][role=button]")
    expect(cards).not_to_have_count(0)
    cards.nth(cards.count() // 2).focus()
    return glided(browser, ann.context, ann.page, lambda: ann.press("Enter"))


def glided(browser: Browser, context: BrowserContext, page: Page, move: Any) -> list[float]:
    """Make the CPU slow, move, and wait until everything has landed."""
    context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.evaluate(FOLLOW)
    page.wait_for_function("true")  # what Playwright brings into a page is there before the cards move
    browser.start_tracing(page=page, categories=TRACED)
    move()
    page.wait_for_function(LANDED, arg=CARDS, polling=200)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    context.close()
    since, until = in_motion(events)
    drawn = sorted(one["ts"] for one in events if one["name"] == DRAWN and since <= one["ts"] <= until)
    return [(after - before) / 1000 for before, after in pairwise(drawn)]


def in_motion(events: list[Any]) -> tuple[float, float]:
    """From when to when the browser drew so many things in motion."""
    moving: set[str] = set()
    since = 0.0
    for event in sorted((one for one in events if one["name"] == "Animation"), key=itemgetter("ts")):
        if event["ph"] == "n" and event["args"].get("data", {}).get("state") == "running":
            moving.add(event["id2"]["local"])
        elif event["ph"] == "e":
            moving.discard(event["id2"]["local"])
        if len(moving) >= CARDS:
            since = since or event["ts"]
        elif since:
            return since, event["ts"]
    raise AssertionError(
        f"expected {CARDS} things that the browser moves by itself at once, there were fewer"
    )


SEAT_BOT = """(room) => fetch(`/api/rooms/${room}/bots`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: "{}",
}).then(({ status }) => status)"""

if __name__ == "__main__":
    sys.exit(main())

"""How smoothly 13 cards glide on a phone whose CPU is four times as slow as this one. `make bench-glide`."""

import os
import statistics
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Browser, expect, sync_playwright

from benchmarks.page import say
from tests.e2e.browser import PHONE, Visitor, launch
from tests.e2e.servers import Server

ROUNDS = int(os.environ.get("ROUNDS", "5"))
SLOWER = 4
"""How many times as slow the browser's CPU is."""
CARDS = 13
"""One is played, and the others of the hand close up."""
MOST = 17.0
"""Milliseconds that the median frame may take: 60 frames a second."""
TRICKS = Path(__file__).parents[1] / "tests" / "boards" / "tricks.py"

RECORD = """() => {
    window.frames_taken = [];
    let before = null;
    const look = (now) => {
        const things = document.getAnimations().map(({ effect }) => effect?.target);
        const moving = things.filter((thing) => thing?.closest?.("[data-piece]")).length;
        if (moving && before) window.frames_taken.push([now - before.now, moving]);
        before = moving ? { now } : null;
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}"""
"""Notes how long each frame took in which something glided, and how many things did."""


def main() -> int:
    """Print the median frame beside how busy the machine was; 1 if the best round takes longer."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = Server(folder / "data", str(TRICKS), "--bot-pace", "0").start()
        stack.callback(server.stop)
        browser = launch(stack.enter_context(sync_playwright()))
        stack.callback(browser.close)
        rounds = [measure(browser, server) for _ in range(ROUNDS)]
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    say(f"{load}, CPU slowed {SLOWER} times, {ROUNDS} rounds of {CARDS} cards that glide")
    medians = [statistics.median(frames) for frames in rounds]
    for frames, median in zip(rounds, medians, strict=True):
        say(f"  median frame {median:5.1f} ms, longest {max(frames):5.1f} ms, {len(frames)} frames")
    best, usual = min(medians), statistics.median(medians)
    say(f"median of the best round {best:.1f} ms, of all {usual:.1f}; at most {MOST}")
    return int(min(medians) > MOST)


def measure(browser: Browser, server: Server) -> list[float]:
    """Milliseconds of each frame while a card is played from a full hand."""
    ann = Visitor(
        browser, server, "Ann", viewport=PHONE, reduced_motion="no-preference", device_scale_factor=2
    )
    room = ann.open_room("Tricks")
    for _ in range(3):
        ann.page.evaluate(SEAT_BOT, room)
    expect(ann.board.locator("[data-piece^=k]")).to_have_count(CARDS)
    ann.sees("Your turn")
    devtools = ann.context.new_cdp_session(ann.page)
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    ann.page.evaluate(RECORD)
    ann.board.locator("[data-piece^=k][role=button]").nth(CARDS // 2).focus()
    ann.press("Enter")
    ann.page.wait_for_function(LANDED, arg=CARDS)
    taken = ann.page.evaluate("window.frames_taken")
    ann.close()
    return [time for time, moving in taken if moving >= CARDS]


LANDED = """(most) => {
    const all = window.frames_taken.some(([, moving]) => moving >= most);
    return all && !document.getAnimations().length;
}"""
SEAT_BOT = """(room) => fetch(`/api/rooms/${room}/bots`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: "{}",
}).then(({ status }) => status)"""

if __name__ == "__main__":
    sys.exit(main())

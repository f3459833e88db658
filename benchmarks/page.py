"""How soon the page is there: home over a slow line, and a long match in the replay. `make bench-page`."""

import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from tests.e2e.browser import launch
from tests.e2e.long_match import play_long_match
from tests.e2e.servers import Server
from tests.e2e.weighing import USABLE

ROUNDS = int(os.environ.get("ROUNDS", "5"))
SLOW_LINE = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 93_750}
"""1.6 Mbit/s down, 150 ms."""
STEPS = 905
MOST = {"home": 1500, "replay": 1000}
"""Milliseconds that are asked for."""


def main() -> int:
    """Print both figures beside how busy the machine was; 1 if a median is above what is asked for."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = Server(folder / "data").start()
        stack.callback(server.stop)
        room = play_long_match(server, STEPS)
        browser = launch(stack.enter_context(sync_playwright()))
        stack.callback(browser.close)
        found = {
            "home": [measure(browser, f"http://{server.address}/", SLOW_LINE) for _ in range(ROUNDS)],
            "replay": [measure(browser, f"http://{server.address}/r/{room}/replay") for _ in range(ROUNDS)],
        }
    say(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {ROUNDS} rounds: median (best)")
    for name, figures in found.items():
        wall, cpu = ([one[key] for one in figures] for key in ("wall", "cpu"))
        median = f"{statistics.median(wall):6.0f} ({min(wall):.0f}) ms after the first byte"
        inside = f"{statistics.median(cpu):.0f} ({min(cpu):.0f}) ms of CPU in the page"
        say(f"{name:<7} {median}, at most {MOST[name]}; {inside}")
    usual = {name: statistics.median(one["wall"] for one in figures) for name, figures in found.items()}
    return int(any(usual[name] > MOST[name] for name in usual))


def say(text: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{text}\n")


def measure(browser: Browser, address: str, line: dict[str, Any] | None = None) -> dict[str, float]:
    """Milliseconds from the first byte until it was drawn, and of CPU in the page's thread."""
    with fresh_page(browser) as (page, devtools):
        if line:
            devtools.send("Network.enable")
            devtools.send("Network.emulateNetworkConditions", line)
        page.goto(address, wait_until="commit")
        page.wait_for_function("() => window.seen", timeout=60_000)
        told = devtools.send("Performance.getMetrics")["metrics"]
        cpu = next(one["value"] for one in told if one["name"] == "TaskDuration")
        first = page.evaluate("performance.getEntriesByType('navigation')[0].responseStart")
        return {"wall": page.evaluate("window.seen") - first, "cpu": cpu * 1000}


@contextmanager
def fresh_page(browser: Browser) -> Iterator[tuple[Page, CDPSession]]:
    """A page of somebody new, and what measures it."""
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(USABLE % STEPS)
    devtools = context.new_cdp_session(page)
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    yield page, devtools
    context.close()


if __name__ == "__main__":
    sys.exit(main())

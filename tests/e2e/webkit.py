"""Somebody at WebKit, the engine of Safari: Debian's WebKitGTK, driven as the WebDriver standard has it."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import httpx

from tests.e2e.lines import PATIENCE
from tests.e2e.servers import Server

DRIVER = shutil.which("WebKitWebDriver")
SCREEN_SERVER = shutil.which("Xvfb")
SCREEN = "1600x1200x24"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""The name by which the standard hands out elements."""


class WebKit:
    """Somebody at a window of their own, who does and sees what a `Visitor` does."""

    def __init__(self, http: httpx.Client, session: str, server: Server, name: str) -> None:
        self.server = server
        self.name = name
        self._http = http
        self._session = session

    def do(self, method: str, path: str, body: Any = None) -> Any:
        """A command of the standard; what it answers."""
        answer = self._http.request(method, f"/session/{self._session}{path}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()["value"]

    def run(self, script: str, *arguments: Any) -> Any:
        """The value of an expression in the page."""
        return self.do("POST", "/execute/sync", {"script": f"return {script}", "args": list(arguments)})

    def wait_for(self, expression: str, *arguments: Any) -> Any:
        """The value of an expression, once it has one."""
        until = monotonic() + PATIENCE
        while not (found := self.run(expression, *arguments)):
            assert monotonic() < until, f"expected {expression} of {arguments}, it did not come"
        return found

    # Going about.

    def go(self, path: str) -> "WebKit":
        self.do("POST", "/url", {"url": f"http://{self.server.address}{path}"})
        return self

    def open_room(self, game: str = "Noughts and crosses") -> str:
        """From the home page into a new room; its id."""
        self.go("/")
        self.fill("Your name", self.name)
        self.click(f"A friend to play {game} with")
        self.wait_for(
            "document.querySelector('svg.board [data-spot]') && location.pathname.startsWith('/r/')"
        )
        return str(self.run("location.pathname")).rpartition("/")[2]

    def come_in(self, room: str, way: str = "Sit down") -> "WebKit":
        """By the link that a friend sent."""
        self.go(f"/r/{room}")
        self.fill("Your name", self.name)
        self.click(way)
        self.wait_for("document.querySelector('svg.board')")
        return self

    # What there is.

    def sees(self, status: str) -> None:
        self.wait_for(
            "document.querySelector('[data-testid=status]')?.textContent.trim() === arguments[0]", status
        )

    def reads(self, words: str) -> None:
        self.wait_for("document.body.innerText.includes(arguments[0])", words)

    def reads_no_more(self, words: str) -> None:
        self.wait_for("!document.body.innerText.includes(arguments[0])", words)

    def has(self, selector: str, count: int) -> None:
        self.wait_for("document.querySelectorAll(arguments[0]).length === arguments[1]", selector, count)

    # Doing.

    def click(self, name: str) -> None:
        """Press the button, or follow the link, that a screen reader calls so."""
        self._click("button, a", name)

    def mark(self, label: str) -> None:
        """Play noughts and crosses."""
        self._click("svg.board [data-spot]", label)

    def fill(self, label: str, text: str) -> None:
        field = self.wait_for(f"({NAMED})('input', arguments[0])", label)[ELEMENT]
        self.do("POST", f"/element/{field}/clear", {})
        self.do("POST", f"/element/{field}/value", {"text": text})

    def _click(self, selector: str, name: str) -> None:
        """With the mouse, in its middle: the driver's own click knows no elements of SVG."""
        x, y = self.wait_for(f"({MIDDLE})(({NAMED})(arguments[0], arguments[1]))", selector, name)
        there = {"type": "pointerMove", "x": round(x), "y": round(y)}
        press = [{"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp")]
        mouse = {"type": "pointer", "id": "mouse", "actions": [there, *press]}
        self.do("POST", "/actions", {"actions": [mouse]})


MIDDLE = """(one) => {
    one?.scrollIntoView({ block: "nearest", behavior: "instant" });
    const box = one?.getBoundingClientRect();
    return box && [box.x + box.width / 2, box.y + box.height / 2];
}"""

NAMED = """(selector, name) => [...document.querySelectorAll(selector)].find((one) =>
    (one.getAttribute("aria-label") ?? one.labels?.[0]?.textContent ?? one.textContent).trim() === name
    && !one.disabled && one.getClientRects().length > 0)"""
"""The first of the elements with this name that can be pressed."""


@contextmanager
def launch_webkit(server: Server, name: str, width: int = 1280, height: int = 800) -> Iterator[WebKit]:
    """Somebody at a window of this size, on a screen of its own."""
    with ExitStack() as stack:
        screen = _screen(stack)
        environment = {**os.environ, "DISPLAY": screen, "WEBKIT_SKIA_ENABLE_CPU_RENDERING": "1"}
        http = _driver(stack, environment)
        [browser] = Path("/usr/lib").glob("*/webkit2gtk-4.1/MiniBrowser")
        options = {"binary": str(browser), "args": ["--automation"]}
        wanted = {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}}
        answer = http.post("/session", json=wanted)
        assert answer.status_code == 200, answer.text
        window = WebKit(http, answer.json()["value"]["sessionId"], server, name)
        stack.callback(window.do, "DELETE", "")
        window.do("POST", "/window/rect", {"width": width, "height": height})
        yield window


def _screen(stack: ExitStack) -> str:
    """A screen that nobody sees; its name."""
    reading, writing = os.pipe()
    command = [str(SCREEN_SERVER), "-displayfd", str(writing), "-screen", "0", SCREEN, "-nolisten", "tcp"]
    process = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
    stack.callback(process.wait)
    stack.callback(process.terminate)
    os.close(writing)
    with os.fdopen(reading) as told:
        return f":{told.readline().strip()}"


def _driver(stack: ExitStack, environment: dict[str, str]) -> httpx.Client:
    """A driver that listens, which it does not tell: it is asked until it answers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen([str(DRIVER), f"--port={port}"], env=environment)
    stack.callback(process.wait)
    stack.callback(process.terminate)
    http = stack.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60))
    until = monotonic() + PATIENCE
    while True:
        try:
            http.get("/status")
        except httpx.TransportError:
            assert monotonic() < until, "the driver does not listen"
        else:
            return http

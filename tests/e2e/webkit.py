"""Somebody at WebKit, the engine of Safari: Debian's WebKitGTK, driven as the WebDriver standard has it."""

import base64
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

DRIVER = shutil.which("WebKitWebDriver")
SCREEN = "1600x1200x24"


class WebKit:
    """One window."""

    def __init__(self, http: httpx.Client, session: str) -> None:
        self._http = http
        self._session = session

    def do(self, method: str, path: str, body: Any = None) -> Any:
        """A command of the standard; what it answers."""
        answer = self._http.request(method, f"/session/{self._session}{path}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()["value"]

    def go(self, address: str) -> None:
        self.do("POST", "/url", {"url": address})

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        return self.do("POST", "/execute/sync", {"script": f"return {script}", "args": []})

    def wait_for(self, expression: str) -> Any:
        """The value of an expression, once it has one."""
        until = monotonic() + PATIENCE
        while not (found := self.run(expression)):
            assert monotonic() < until, f"expected {expression}, it did not come"
        return found

    def press(self, name: str) -> None:
        """Click the button with this text, once there is one."""
        self.wait_for(PRESS % name)

    def picture(self) -> bytes:
        return base64.b64decode(self.do("GET", "/screenshot"))


PRESS = """(() => {
    const found = [...document.querySelectorAll("button")].find((one) => one.textContent.trim() === "%s");
    found?.click();
    return Boolean(found);
})()"""


@contextmanager
def launch_webkit(width: int, height: int) -> Iterator[WebKit]:
    """A window of this size, on a screen of its own."""
    assert DRIVER is not None
    with ExitStack() as stack:
        screen = _screen(stack)
        environment = {**os.environ, "DISPLAY": screen, "WEBKIT_SKIA_ENABLE_CPU_RENDERING": "1"}
        http = _driver(stack, environment)
        [browser] = Path("/usr/lib").glob("*/webkit2gtk-4.1/MiniBrowser")
        options = {"binary": str(browser), "args": ["--automation"]}
        wanted = {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}}
        answer = http.post("/session", json=wanted)
        assert answer.status_code == 200, answer.text
        window = WebKit(http, answer.json()["value"]["sessionId"])
        stack.callback(window.do, "DELETE", "")
        window.do("POST", "/window/rect", {"width": width, "height": height})
        yield window


def _screen(stack: ExitStack) -> str:
    """A screen that nobody sees; its name."""
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", SCREEN, "-nolisten", "tcp"]
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

"""A real Chromium, driven by its own debugging protocol."""

import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.e2e.lines import PATIENCE

CHROMIUM = shutil.which("chromium")


class Tab:
    """One page of a browser."""

    def __init__(self, line: ClientConnection, numbers: Iterator[int]) -> None:
        self._line = line
        self._numbers = numbers
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def visit(self, url: str) -> None:
        """Go to a page and wait until it is there."""
        self._ask("Page.navigate", self._session, url=url)
        there = f"complete {url}"
        for _ in range(5000):
            if self.run("`${document.readyState} ${location.href}`") == there:
                return
        raise AssertionError(f"expected to get to {url}")

    def run(self, script: str) -> Any:
        """What a piece of JavaScript gives, awaited."""
        how = {"expression": script, "awaitPromise": True, "returnByValue": True}
        answer = self._ask("Runtime.evaluate", self._session, **how)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def _ask(self, method: str, session: str | None = None, **params: Any) -> Any:
        number = next(self._numbers)
        wanted = {"id": number, "method": method, "params": params}
        self._line.send(json.dumps({**wanted, "sessionId": session} if session else wanted))
        while True:
            answer = json.loads(self._line.recv(timeout=PATIENCE))
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]


@contextmanager
def chromium(profile: Path) -> Iterator[Any]:
    """A browser with a profile of its own; each call opens a tab."""
    assert CHROMIUM is not None
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"]
    process = subprocess.Popen(
        [CHROMIUM, *options, f"--user-data-dir={profile}", "about:blank"], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    with process.stderr:
        try:
            found = (re.search(r"DevTools listening on (ws://\S+)", line) for line in process.stderr)
            url = next(match[1] for match in found if match)
            numbers = itertools.count(1)
            with connect(url, proxy=None, max_size=None, compression=None) as line:
                yield lambda: Tab(line, numbers)
        finally:
            process.kill()
            process.wait()

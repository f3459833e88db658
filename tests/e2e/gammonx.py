"""Players at the real npm `@microsoft/signalr`, which knows nothing of Parlour."""

import itertools
import json
import signal
import subprocess
import uuid
from pathlib import Path
from typing import Any

from tests.e2e.lines import PATIENCE, Lines
from tests.e2e.servers import Server

FOLDER = Path(__file__).parent
WHOLE_MATCH = 120.0
"""Seconds in which two programs have played a match."""


class HubPlayer:
    """Somebody at a SignalR client of their own."""

    def __init__(self, server: Server, id: str | None = None) -> None:
        self.id = id or str(uuid.uuid4())
        self.match = ""
        self._server = server
        self._numbers = itertools.count(1)
        self._node = subprocess.Popen(
            ["node", "gammonx.mjs"], cwd=FOLDER, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._node.stdout is not None
        self.lines = Lines(self._node.stdout, json.loads)

    def want(self, variant: int = 0, modus: int = 0, type: int = 2, **headers: str) -> str:
        wish = {"PlayerId": self.id, "MatchVariant": variant, "MatchModus": modus, "MatchType": type}
        answer = self._server.call("POST", "/api/matches/join", wish, headers=headers)
        assert answer.status_code == 200, answer.text
        self.match = answer.json()["payload"]["matchId"]
        return self.match

    def connect(self, prefix: str = "", **options: Any) -> None:
        url = f"http://{self._server.address}{prefix}/matchhub"
        query = f"matchId={self.match}&playerId={self.id}"
        assert self.ask("connect", url=url, query=query, options=options) is None

    def do(self, what: str, **more: Any) -> None:
        assert self._node.stdin is not None
        self._node.stdin.write(json.dumps({"do": what, **more}) + "\n")
        self._node.stdin.flush()

    def ask(self, what: str, **more: Any) -> str | None:
        """Do something and wait until it is done; what went wrong."""
        number = next(self._numbers)
        self.do(what, n=number, **more)

        def there(lines: list[Any]) -> Any:
            return next((line for line in lines if line.get("answer") == number), None)

        error: str | None = self.lines.wait(there, f"an answer to {what}").get("error")
        return error

    def invoke(self, target: str, *arguments: Any) -> str | None:
        return self.ask("invoke", args=[target, self.match, *arguments])

    def hear(self, name: str, count: int = 1, patience: float = PATIENCE) -> Any:
        """The payload of an event, as soon as it has come so often."""

        def there(lines: list[Any]) -> Any:
            like = [line for line in lines if line.get("heard") == name]
            return like[count - 1] if len(like) >= count else None

        return self.lines.wait(there, f"{name} for the {count}. time", patience).get("payload")

    def play(self, seed: int, *, cuts: int = 0, after: int = 0) -> None:
        """Join, and play by itself until the match is over; the line is cut after so many calls."""
        self.do("play", match=self.match, player=self.id, seed=seed, cuts=cuts, after=after)

    def heard(self, name: str) -> list[Any]:
        return [line.get("payload") for line in list(self.lines.all) if line.get("heard") == name]

    def freeze(self) -> None:
        """The machine stands still: its line is open, and nothing answers any more."""
        self._node.send_signal(signal.SIGSTOP)

    def close(self) -> None:
        self._node.send_signal(signal.SIGCONT)  # whoever stands still cannot go either
        with self._node:
            assert self._node.stdin is not None
            self._node.stdin.close()
            try:
                self._node.wait(PATIENCE)
            finally:
                self._node.kill()
            self.lines.end()

"""Players at the real npm `@microsoft/signalr`, which knows nothing of Parlour."""

import json
import signal
import uuid
from typing import Any

from tests.e2e.lines import PATIENCE
from tests.e2e.node import NodeClient
from tests.e2e.servers import Server

WHOLE_MATCH = 120.0
"""Seconds in which two programs have played a match."""


def by_seat(end: Any) -> Any:
    """How a match ended, with seats in place of the ids by which this player knows both."""
    ids = {end[seat]["id"]: seat for seat in ("player1", "player2")}
    text = json.dumps(end)
    for id, seat in ids.items():
        text = text.replace(id, seat)
    return json.loads(text)


class HubPlayer(NodeClient):
    """Somebody at a SignalR client of their own."""

    def __init__(self, server: Server, id: str | None = None) -> None:
        self.id = id or str(uuid.uuid4())
        self.match = ""
        self.server = server
        super().__init__("gammonx.mjs")

    def want(self, variant: int = 0, modus: int = 0, type: int = 2, **headers: str) -> str:
        wish = {"PlayerId": self.id, "MatchVariant": variant, "MatchModus": modus, "MatchType": type}
        answer = self.server.call("POST", "/api/matches/join", wish, headers=headers)
        assert answer.status_code == 200, answer.text
        self.match = answer.json()["payload"]["matchId"]
        return self.match

    def connect(self, prefix: str = "", **options: Any) -> None:
        url = f"http://{self.server.address}{prefix}/matchhub"
        query = f"matchId={self.match}&playerId={self.id}"
        assert self.ask("connect", url=url, query=query, options=options) is None

    def ask(self, what: str, **more: Any) -> str | None:
        """Do something and wait until it is done; what went wrong."""
        error: str | None = self.answered(self.tell(what, **more)).get("error")
        return error

    def invoke(self, target: str, *arguments: Any) -> str | None:
        return self.ask("invoke", args=[target, self.match, *arguments])

    def hear(self, name: str, count: int = 1, patience: float = PATIENCE) -> Any:
        """The payload of an event, as soon as it has come so often."""
        return self.hear_line(name, count, patience=patience).get("payload")

    def play(self, seed: int, *, cuts: int = 0, after: int = 0) -> None:
        """Join, and play by itself until the match is over; the line is cut after so many calls."""
        self.tell("play", match=self.match, player=self.id, seed=seed, cuts=cuts, after=after)

    def heard(self, name: str) -> list[Any]:
        return [line.get("payload") for line in self.heard_lines(name)]

    def freeze(self) -> None:
        """The machine stands still: its line is open, and nothing answers any more."""
        self._node.send_signal(signal.SIGSTOP)

    def close(self) -> None:
        self._node.send_signal(signal.SIGCONT)  # whoever stands still cannot go either
        super().close()

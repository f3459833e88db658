"""A bare client that keeps to one room and looks closely at what it hears."""

from typing import Any

from tests.e2e.clients import Answer, Raw
from tests.e2e.servers import Guest, Server


class Seated:
    """Somebody in a room at a bare WebSocket."""

    def __init__(self, raw: Raw, room: str) -> None:
        self.raw = raw
        self.topic = f"game:{room}"
        self.heard: list[list[Any]] = []
        """Every frame since the join was asked for."""

    def enter(self, **payload: Any) -> Answer:
        """Join, and listen until everything is there."""
        self.raw.send(["1", "join", self.topic, "phx_join", payload])
        reply = self.raw.hear("phx_reply")[4]
        while reply["status"] == "ok" and "sync" not in self.names():
            self.heard.append(self.raw.hear())
        return Answer(reply["status"], reply["response"])

    def names(self) -> list[str]:
        return [frame[3] for frame in self.heard]

    def pushes(self, name: str) -> list[Any]:
        """The payloads of one kind of push."""
        return [frame[4] for frame in self.heard if frame[3] == name]

    def mark(self, cell: int, id: str | None = None) -> Answer:
        payload = {"event": {"type": "mark", "cell": cell}}
        return self._ask("game_event", payload if id is None else {**payload, "id": id})

    def chat(self, text: str, id: str | None = None) -> Answer:
        return self._ask("chat", {"text": text} if id is None else {"text": text, "id": id})

    def _ask(self, event: str, payload: Any) -> Answer:
        self.raw.send(["1", "ask", self.topic, event, payload])
        while (frame := self.raw.hear())[3] != "phx_reply":
            self.heard.append(frame)
        return Answer(frame[4]["status"], frame[4]["response"])


def sit(knock: Any, server: Server, room: str, guest: Guest, **payload: Any) -> Seated:
    """Bring a player to a room."""
    seated = Seated(knock(server, guest.token), room)
    answer = seated.enter(**payload)
    assert answer.status == "ok", answer
    return seated

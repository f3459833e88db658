"""A server that echoes: Parlour's own sockets, with an adapter for a suite that speaks no Phoenix."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from parlour.errors import Refused
from parlour.server import app
from parlour.server.gateway import connections as clients
from parlour.server.gateway import outboxes as lines
from parlour.server.gateway.doors.registry import DOORS
from parlour.server.gateway.native import RoomDoor
from parlour.server.settings import Settings
from parlour.wire import Greeting, Push, Request


class Binary(bytes):
    """A message that came in a binary frame and goes back in one."""


class Echo:
    """Sends back what it gets."""

    name = "echo"
    path = "/echo"
    personal = False
    shows = False

    def __init__(self) -> None:
        self._out: list[bytes] = []

    @staticmethod
    def greet(query: Mapping[str, str], subprotocols: Sequence[str]) -> Greeting:
        return Greeting()

    def receive(self, frame: str | bytes) -> list[Request]:
        self._out.append(frame.encode() if isinstance(frame, str) else Binary(frame))
        return []

    def frames(self) -> list[bytes]:
        out, self._out = self._out, []
        return out

    def accept(self, request: Request, payload: Any) -> None:
        """Nothing is ever asked."""

    def refuse(self, request: Request, why: Refused) -> None:
        """Nothing is ever asked."""

    def dismiss(self, room: str | None) -> None:
        """There are no rooms."""

    @staticmethod
    def encode(room: str | None, push: Push) -> bytes:
        return b""

    def encode_own(self, room: str | None, push: Push, ref: Any = None) -> bytes:
        return b""


framed_as_text = lines.framed


def framed(text: bytes) -> bytes:
    """As the server frames it, but what came as binary goes back as binary."""
    frame = framed_as_text(text)
    return b"\x82" + frame[1:] if isinstance(text, Binary) else frame


def main() -> None:
    vars(clients)["framed"] = framed
    DOORS[Echo.name] = lambda needs: RoomDoor(Echo, needs.parlour, needs.tokens, needs.settings)
    settings = Settings(port=0, data=Path(os.environ["ECHO_DATA"]), journal="memory")
    app.run({}, settings, lambda reach, _: print(urlsplit(reach.local).port, flush=True))


if __name__ == "__main__":
    main()

"""Clients of relays: bare WebSockets that keep what they hear."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.e2e.lines import PATIENCE
from tests.e2e.servers import Server


class Member:
    """A client at a relay."""

    def __init__(self, server: Server, path: str, **more: Any) -> None:
        self._stack = ExitStack()
        url = f"ws://{server.address}{path}"
        options = {
            "compression": None,
            "ping_interval": None,
            "proxy": None,
            "max_queue": None,
            "max_size": None,
        }
        self.line: ClientConnection = self._stack.enter_context(connect(url, **options, **more))

    def close(self) -> None:
        """Say goodbye."""
        self._stack.close()

    def say(self, message: str | bytes, *, text: bool | None = None) -> None:
        with suppress(ConnectionClosed):
            self.line.send(message, text=text)

    def hear(self, intent: str | None = None) -> Any:
        """The next envelope, or the next with this intent."""
        while True:
            envelope = json.loads(self.line.recv(timeout=PATIENCE))
            if intent in (None, envelope["Intent"]):
                return envelope

    def end(self) -> tuple[int, str]:
        """How the server ends it; 1006 when it just cuts the line."""
        try:
            while True:
                self.line.recv(timeout=PATIENCE)
        except ConnectionClosed as closed:
            return (1006, "") if closed.rcvd is None else (int(closed.rcvd.code), closed.rcvd.reason)

    @property
    def cookie(self) -> str:
        """What the answer set, as it is sent back."""
        assert self.line.response is not None
        return self.line.response.headers["Set-Cookie"].partition(";")[0]


def members() -> Iterator[Any]:
    """For a fixture: brings members to a server, and sends them home."""
    with ExitStack() as stack:

        def bring(server: Server, path: str, **more: Any) -> Member:
            member = Member(server, path, **more)
            stack.callback(member.close)
            return member

        yield bring

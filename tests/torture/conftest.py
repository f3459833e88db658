"""Servers that fail as told, and the bare clients of the end-to-end tests."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.conftest import knock
from tests.e2e.servers import Server
from tests.torture.load import new_server

__all__ = ["fail", "knock"]

Fail = Callable[..., Server]


def end(server: Server) -> None:
    """Kill it, if it still runs."""
    if server.running:
        server.kill()


@pytest.fixture
def fail(tmp_path: Path) -> Iterator[Fail]:
    """Starts a server of this test's own with a writer that can fail; it is killed at the end."""
    with ExitStack() as stack:

        def start(*options: str, kind: str = "moody", data: Path | None = None, **more: str) -> Server:
            server = new_server(data or tmp_path / "data", *options, kind=kind)
            server.environment |= more
            server.start()
            stack.callback(end, server)
            return server

        yield start

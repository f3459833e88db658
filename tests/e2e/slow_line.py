"""A way to a server by which everything comes later, in both directions."""

import selectors
import socket
import threading
from collections import deque
from contextlib import suppress
from time import monotonic

from tests.e2e.servers import Server

LOOK = 0.1
"""Seconds after which a thread that waits looks whether all is over."""


class SlowLine:
    """Stands between a browser and a server; every byte comes so many seconds later."""

    def __init__(self, server: Server, seconds: float) -> None:
        self._server = server
        self._seconds = seconds
        self._ended = threading.Event()
        self._door = socket.create_server(("127.0.0.1", 0))
        self._door.settimeout(LOOK)
        threading.Thread(target=self._welcome, daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._door.getsockname()[1]}"

    @property
    def past(self) -> list[str]:
        return self._server.past

    def close(self) -> None:
        self._ended.set()

    def _welcome(self) -> None:
        with self._door:
            while not self._ended.is_set():
                with suppress(TimeoutError):
                    line, _ = self._door.accept()
                    threading.Thread(target=self._carry, args=(line,), daemon=True).start()

    def _carry(self, line: socket.socket) -> None:
        """Both ways, until one side closes; what came before that still arrives."""
        under_way: deque[tuple[float, socket.socket, bytes]] = deque()
        with (
            line,
            socket.create_connection(("127.0.0.1", self._server.port)) as far,
            suppress(ConnectionError),
        ):
            watch = selectors.DefaultSelector()
            for source, target in ((line, far), (far, line)):
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                watch.register(source, selectors.EVENT_READ, target)
            while not self._ended.is_set():
                wait = min(LOOK, under_way[0][0] - monotonic()) if under_way else LOOK
                for key, _ in watch.select(max(0.0, wait)):
                    read = key.fileobj.recv(65536)  # type: ignore[union-attr]
                    under_way.append((monotonic() + self._seconds, key.data, read))
                    if not read:
                        watch.unregister(key.fileobj)
                while under_way and under_way[0][0] <= monotonic():
                    _, target, piece = under_way.popleft()
                    if not piece:
                        return
                    target.sendall(piece)

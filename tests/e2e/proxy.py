"""A way to a server that can freeze: nothing comes through any more, and nobody is told."""

import selectors
import socket
import threading
from contextlib import suppress

from tests.e2e.servers import Server


class Proxy:
    """Stands between browsers and a server, with a port of its own."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._frozen = threading.Event()
        self._open = threading.Event()
        self._open.set()
        self._ended = threading.Event()
        self._door = socket.create_server(("127.0.0.1", 0))
        self._door.settimeout(0.1)
        threading.Thread(target=self._welcome, daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._door.getsockname()[1]}"

    @property
    def past(self) -> list[str]:
        return self._server.past

    def freeze(self) -> None:
        """From now on connections stay open and carry nothing, those that there are for good."""
        self._open.clear()
        self._frozen.set()
        self._frozen = threading.Event()

    def thaw(self) -> None:
        """Connections that were made since it froze work, and new ones."""
        self._open.set()

    def close(self) -> None:
        self._ended.set()
        self._open.set()
        self._door.close()

    def _welcome(self) -> None:
        while not self._ended.is_set():
            with suppress(TimeoutError, OSError):
                line, _ = self._door.accept()
                threading.Thread(target=self._carry, args=(line, self._frozen), daemon=True).start()

    def _carry(self, line: socket.socket, frozen: threading.Event) -> None:
        """Both ways, until one side closes; a frozen line is only held."""
        self._open.wait()
        with line, socket.create_connection(("127.0.0.1", self._server.port)) as far, suppress(OSError):
            watch = selectors.DefaultSelector()
            watch.register(line, selectors.EVENT_READ, far)
            watch.register(far, selectors.EVENT_READ, line)
            while not self._ended.is_set():
                for key, _ in watch.select(0.1):
                    if frozen.is_set():
                        self._ended.wait()
                        return
                    read = key.fileobj.recv(65536)  # type: ignore[union-attr]
                    if not read:
                        return
                    key.data.sendall(read)

"""What a process says, line by line, for tests that wait for words and never for time."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, TypeVar

T = TypeVar("T")

PATIENCE = 60.0
"""Seconds after which something that should have been said is missing."""


class Lines:
    """Reads a process's output from its start; *read* turns each line into what is kept of it."""

    def __init__(self, stream: IO[str], read: Callable[[str], Any] = str.rstrip) -> None:
        self.all: list[Any] = []
        self._ended = False
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._listen, args=(stream, read), daemon=True)
        self._thread.start()

    def _listen(self, stream: IO[str], read: Callable[[str], Any]) -> None:
        with suppress(OSError):  # how a terminal ends
            for line in stream:
                with self._news:
                    self.all.append(read(line))
                    self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def wait(self, look: Callable[[list[Any]], T | None], what: str, patience: float = PATIENCE) -> T:
        """What *look* finds in all that was said, as soon as it finds something."""
        found: T | None = None

        def settled() -> bool:
            nonlocal found
            found = look(self.all)
            return found is not None or self._ended

        with self._news:
            self._news.wait_for(settled, patience)
        if found is None:
            told = "\n".join(map(str, self.all[-20:]))
            raise AssertionError(f"expected {what}, and this was all that came:\n{told}")
        return found

    def end(self) -> None:
        """Wait until the process has said its last word."""
        self._thread.join(PATIENCE)

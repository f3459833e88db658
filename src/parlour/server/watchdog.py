"""An eye on the event loop: cuts off a callback that eats CPU time, and logs whatever else blocks."""

import asyncio
import signal
import sys
import threading
import time
import traceback
from types import FrameType

import structlog

log = structlog.get_logger()

LOOK_EVERY = 0.05
"""Seconds between two looks."""
QUIET = 1.0
"""Seconds between two complaints about a blocked loop."""
SIGNAL = signal.SIGVTALRM


class Overrun(BaseException):
    """A callback took too long; no `except Exception` of a game gets hold of it."""


class Watchdog:
    """One thread that looks at the loop's thread; a callback costs two notes.

    Python runs signal handlers in the main thread between two bytecodes: that is where a callback is cut off.
    A single long call into C ends when it returns. Games are trusted code; this is for their bugs.
    """

    def __init__(self, patience: float, lag: float) -> None:
        self._patience = patience
        self._lag = lag
        self._callback = 0
        self._guarding = False
        self._condemned = 0
        self._beat = 0.0
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    # In the loop's thread.

    def start(self) -> None:
        """Watch the running loop, whose thread must be the main one."""
        signal.signal(SIGNAL, self._cut_off)
        self._pulse()
        self._thread = threading.Thread(
            target=self._watch, args=(threading.get_ident(),), name="watchdog", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Look no longer."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def enter(self) -> None:
        """A callback begins."""
        self._callback += 1
        self._guarding = True

    def leave(self) -> None:
        """It has ended."""
        self._guarding = False

    def _pulse(self) -> None:
        self._beat = time.monotonic()
        if not self._ended.is_set():
            asyncio.get_running_loop().call_later(LOOK_EVERY, self._pulse)

    def _cut_off(self, _signal: int, _frame: FrameType | None) -> None:
        if self._guarding and self._callback == self._condemned:
            self._guarding = False  # once is enough: whoever catches it must not be cut off, too
            raise Overrun(f"more than {self._patience} s of CPU time")

    # In the watchdog's thread.

    def _watch(self, watched: int) -> None:
        cpu = time.pthread_getcpuclockid(watched)
        seen, since, complained = 0, 0.0, 0.0
        while not self._ended.wait(LOOK_EVERY):
            callback = self._callback if self._guarding else 0
            if callback != seen or not callback:
                seen, since = callback, time.clock_gettime(cpu)
            elif time.clock_gettime(cpu) - since > self._patience:
                self._condemned = callback
                signal.pthread_kill(watched, SIGNAL)
            now = time.monotonic()
            if now - self._beat > self._lag + LOOK_EVERY and now - complained > QUIET:
                complained = now
                _complain(watched, now - self._beat)


def _complain(watched: int, seconds: float) -> None:
    """Say what the loop is doing instead of turning; code only, no values."""
    frame = sys._current_frames().get(watched)  # noqa: SLF001 - there is no other way to see it
    stack = [] if frame is None else traceback.format_stack(frame)[-8:]
    log.warning("loop_blocked", seconds=round(seconds, 3), stack="".join(stack))

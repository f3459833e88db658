"""Watches the event loop: interrupts a callback that does not end, and logs whatever else blocks the loop."""

import asyncio
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

import structlog

T = TypeVar("T")
log = structlog.get_logger()

LOOK_EVERY = 0.05
"""Seconds between two checks: CPU time of the process for its timer, real time for the thread."""
QUIET = 1.0
"""Seconds between two log entries about a blocked loop."""
SIGNAL = signal.SIGPROF
WAITS = 10
"""A callback may wait this many times the CPU time that it may use."""
LATE = 0.2
"""Seconds of CPU time between two checks that only a single long call into C explains."""


class Overrun(BaseException):
    """A callback took too long; a game's `except Exception` does not catch it."""

    def __init__(self, what: str, *, late: bool = False) -> None:
        super().__init__(what)
        self.late = late
        """It could not be interrupted, and was stopped when it returned to the interpreter."""


class Watchdog:
    """A timer of the process's CPU time, whose signal checks the callback that runs.

    Python runs signal handlers in the main thread between two bytecodes, and where C code asks for them, as
    regular expressions do: there a callback is interrupted. Any other call into C ends when it returns.
    A thread checks as well: it logs what blocks the loop, and ends a callback that only waits.
    Games are trusted code; this is for their bugs.
    """

    def __init__(self, patience: float, lag: float) -> None:
        self._patience = patience
        self._lag = lag
        self._callback = 0
        self._guarding = False
        self._seen = 0
        self._since = 0.0
        """The CPU time of the loop's thread when the checked callback began, or a little later."""
        self._looked = 0.0
        self._overrun: Overrun | None = None
        """The exception raised in the running callback, even if the callback caught it."""
        self._times = 0
        self._waiting = 0
        """The callback that has waited for too long."""
        self._armed = False
        self._beat = 0.0
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    # In the loop's thread.

    def start(self) -> None:
        """Watch the running loop; a callback can be interrupted only in the main thread."""
        if threading.current_thread() is threading.main_thread():
            self._armed = True
            self._looked = time.thread_time()
            signal.signal(SIGNAL, self._look)
            signal.setitimer(signal.ITIMER_PROF, LOOK_EVERY, LOOK_EVERY)
        self._pulse()
        self._thread = threading.Thread(
            target=self._watch, args=(threading.get_ident(),), name="watchdog", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop watching."""
        if self._armed:
            signal.setitimer(signal.ITIMER_PROF, 0)
            self._armed = False
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def run(self, callback: Callable[[], T]) -> T:
        """Run a callback and return its result; `Overrun` if it was interrupted, even if it caught that."""
        self._callback += 1
        self._guarding = True
        try:
            return callback()
        finally:
            self._guarding = False
            if (overrun := self._overrun) is not None:
                self.rest()
                raise overrun

    def rest(self) -> None:
        """Note that the callback is over, however it ended."""
        self._guarding = False
        self._overrun = None
        if sys.gettrace() is _insist:
            sys.settrace(None)

    def _pulse(self) -> None:
        self._beat = time.monotonic()
        if not self._ended.is_set():
            asyncio.get_running_loop().call_later(LOOK_EVERY, self._pulse)

    def _look(self, _signal: int, frame: FrameType | None) -> None:
        """Check how long the callback has run; called by the signal, now or as soon as Python handles it."""
        now, before = time.thread_time(), self._looked
        self._looked = now
        if not self._guarding:
            return
        if self._seen != self._callback:
            # It began since the last check. If that was long ago, it let no check happen until now.
            self._seen, self._since = self._callback, min(now, before + LOOK_EVERY)
        if now - self._since > self._patience:
            self._cut_off(f"more than {self._patience} s of CPU time", frame, late=now - before > LATE)
        if self._waiting == self._callback:
            self._cut_off(f"more than {WAITS * self._patience} s of waiting", frame)

    def _cut_off(self, what: str, frame: FrameType | None, *, late: bool = False) -> None:
        """Raise `Overrun` here; if it was caught before, once more in one of the callers, each in turn."""
        if self._overrun is None:
            self._overrun = Overrun(what, late=late)
        else:
            self._times += 1
            frames = []
            while frame is not None and frame.f_code is not Watchdog.run.__code__:
                frames.append(frame)
                frame = frame.f_back
            frames[self._times % len(frames)].f_trace = _insist
            sys.settrace(_insist)
        raise self._overrun

    # In the watchdog's thread.

    def _watch(self, watched: int) -> None:
        seen, looks, complained = 0, 0, 0.0
        while not self._ended.wait(LOOK_EVERY):
            callback = self._callback if self._guarding else 0
            looks = (
                looks + 1 if callback == seen else 0
            )  # count checks, not seconds: the whole process may have been stopped
            seen = callback
            if self._armed and callback and looks * LOOK_EVERY > WAITS * self._patience:
                self._waiting = callback
                signal.pthread_kill(watched, SIGNAL)
            now = time.monotonic()
            if now - self._beat > self._lag + LOOK_EVERY and now - complained > QUIET:
                complained = now
                _complain(watched, now - self._beat)


def _insist(_frame: FrameType, event: str, _argument: Any) -> Any:
    """Trace a function that may have caught an `Overrun`: it does not get to its next line."""
    if event == "line":
        raise Overrun("too long, and it did not stop when told")
    return None if event == "call" else _insist


def _complain(watched: int, seconds: float) -> None:
    """Log what blocks the loop: code only, no values."""
    frame = sys._current_frames().get(watched)  # noqa: SLF001 - there is no other way to see it
    stack = [] if frame is None else traceback.format_stack(frame)[-8:]
    log.warning("loop_blocked", seconds=round(seconds, 3), stack="".join(stack))

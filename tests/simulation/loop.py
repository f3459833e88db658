"""An event loop whose time is virtual, and simulated processes that can be paused and killed.

Whatever is planned belongs to the process that planned it: a paused process does nothing until it goes on, a
dead one does nothing any more. What happens outside of all processes belongs to the world.
"""

import asyncio
import heapq
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from itertools import count
from typing import Any


class Handle:
    """A planned call."""

    __slots__ = ("args", "callback", "process", "when")

    def __init__(self, process: "Process", callback: Callable[..., object], args: tuple[Any, ...]) -> None:
        self.process = process
        self.callback: Callable[..., object] | None = callback
        self.args = args
        self.when = 0.0

    def cancel(self) -> None:
        """Do not call it."""
        self.callback = None

    def cancelled(self) -> bool:
        return self.callback is None


class Process:
    """What is paused and killed together."""

    def __init__(self, loop: "VirtualLoop", name: str) -> None:
        self.loop = loop
        self.name = name
        self.is_alive = True
        self._held: list[Handle] | None = None
        """What has come up while it is paused."""

    @property
    def is_paused(self) -> bool:
        return self._held is not None

    def pause(self) -> None:
        """Do nothing until `resume`."""
        if self._held is None:
            self._held = []

    def resume(self) -> None:
        """Go on, with all that has come up."""
        held, self._held = self._held or [], None
        self.loop.ready.extend(held)

    def kill(self) -> None:
        """Do nothing any more."""
        self.is_alive = False
        self._held = None

    def hold(self, handle: Handle) -> None:
        assert self._held is not None
        self._held.append(handle)

    def call_soon(self, callback: Callable[..., object], *args: Any) -> Handle:
        """Have something done by this process, whoever asks for it."""
        handle = Handle(self, callback, args)
        self.loop.ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any) -> Handle:
        """The same, in so many seconds."""
        return self.loop.plan(Handle(self, callback, args), self.loop.now + delay)

    def start(self, job: Coroutine[Any, Any, Any]) -> None:
        """Start a task in this process."""
        self.call_soon(self.loop.create_task, job)


class VirtualLoop:
    """Runs what is ready, then goes on to the time of what is planned next; the same way each time."""

    def __init__(self) -> None:
        self.now = 0.0
        self.ready: deque[Handle] = deque()
        self.world = Process(self, "world")
        self.current = self.world
        """The process whose code runs."""
        self.errors: list[dict[str, Any]] = []
        """What nobody caught."""
        self._timers: list[tuple[float, int, Handle]] = []
        self._count = count()
        self._tasks: list[asyncio.Task[Any]] = []
        """All of them, so that those of the dead end with the schedule and not in the middle of it."""
        self._closed = False

    # For asyncio.

    def time(self) -> float:
        return self.now

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return not self._closed

    def is_closed(self) -> bool:
        return self._closed

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Any = None) -> Any:
        handle = Handle(self.current, callback, args)
        if not self._closed:
            self.ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> Any:
        return self.plan(Handle(self.current, callback, args), self.now + delay)

    def call_at(self, when: float, callback: Callable[..., object], *args: Any, context: Any = None) -> Any:
        return self.plan(Handle(self.current, callback, args), when)

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)  # type: ignore[arg-type]

    def create_task(self, coro: Any, *, name: str | None = None, context: Any = None) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.Task(coro, loop=self, name=name)  # type: ignore[arg-type]
        self._tasks.append(task)
        return task

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if not self._closed:
            self.errors.append(context)

    # For the simulation.

    def plan(self, handle: Handle, when: float) -> Handle:
        """Call a handle at that time."""
        handle.when = when
        if not self._closed:
            heapq.heappush(self._timers, (when, next(self._count), handle))
        return handle

    def run_until(self, end: float, is_done: Callable[[], bool] | None = None) -> bool:
        """Run until that time, or until *is_done*, which is asked now and then; tells which."""
        asyncio._set_running_loop(self)  # type: ignore[arg-type]
        try:
            return self._run_until(end, is_done)
        finally:
            asyncio._set_running_loop(None)
            self.current = self.world

    def _run_until(self, end: float, is_done: Callable[[], bool] | None) -> bool:
        ready, timers = self.ready, self._timers
        while True:
            while ready:
                self._call(ready.popleft())
            if is_done is not None and is_done():
                return True
            if not timers or timers[0][0] > end:
                self.now = end
                return False
            when, _, handle = heapq.heappop(timers)
            self.now = max(self.now, when)
            self._call(handle)

    def _call(self, handle: Handle) -> None:
        callback, process = handle.callback, handle.process
        if callback is None or not process.is_alive:
            return
        if process.is_paused:
            process.hold(handle)
            return
        self.current = process
        try:
            callback(*handle.args)
        except Exception as error:  # noqa: BLE001 - the judge is told
            self.call_exception_handler({"message": "in a callback", "exception": error})
        self.current = self.world

    def close(self) -> None:
        """Forget everything; whatever still runs at the end of its coroutine plans nothing any more."""
        self._closed = True
        self.ready.clear()
        self._timers.clear()
        for task in self._tasks:
            if not task.done():
                task._log_destroy_pending = False  # type: ignore[attr-defined]
                with suppress(Exception):
                    task.get_coro().close()
        self._tasks.clear()

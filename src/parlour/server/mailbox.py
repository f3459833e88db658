"""Runs jobs one at a time, in the order given: so a room has one owner and needs no lock."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from enum import Enum
from typing import Any

import structlog


class Held(Enum):
    """What a job returns that is not done yet: it is done when somebody calls `release`."""

    HELD = "held"


HELD = Held.HELD
Job = Callable[[], Coroutine[Any, Any, None] | Held | None]
"""A job. One that has to wait returns a coroutine or `HELD`."""

log = structlog.get_logger()


class Mailbox:
    """Runs jobs one after the other, and at once while none of them has to wait.

    A coroutine is driven here and not by an asyncio task: a task would cost a move more than its rules do.
    So a job has no current task. Whatever it awaits is a future in the end, and that is enough.
    """

    __slots__ = ("_coroutine", "_released", "_running", "busy", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[Job] | None = None
        """The jobs behind the one that runs; made when there is one, since most mailboxes are idle."""
        self._coroutine: Coroutine[Any, Any, None] | None = None
        self.busy = self._running = self._released = False
        """A job is not done yet; its code runs right now; it was released before it returned."""

    def put(self, job: Job) -> None:
        """Run this job after all earlier ones."""
        if self.busy:
            if self.waiting is None:
                self.waiting = deque()
            self.waiting.append(job)
            return
        self.busy = True
        self._run(job)

    async def drained(self) -> None:
        """Wait until all jobs that were put are done."""
        while self.busy:
            done = asyncio.get_running_loop().create_future()
            self.put(lambda done=done: None if done.done() else done.set_result(None))  # type: ignore[misc]
            await done

    def release(self, job: Job | None = None) -> None:
        """End the job that was held, or go on with another one first."""
        if job is not None:
            if self.waiting is None:
                self.waiting = deque()
            self.waiting.appendleft(job)
        if self._running:
            self._released = True
        else:
            self._next()

    def _next(self) -> None:
        if self.waiting:
            self._run(self.waiting.popleft())
        else:
            self.busy = False

    def _run(self, job: Job) -> None:
        """Run jobs until one of them has to wait."""
        while True:
            self._running, self._released = True, False
            try:
                came = job()
            except (Exception, asyncio.CancelledError) as error:
                came = None
                log.error("job_failed", exc_info=error)
            except BaseException:
                self._running = self.busy = False  # an error must not block the next job
                raise
            self._running = False
            if came is not None and self._must_wait(came):
                return
            if not self.waiting:
                self.busy = False
                return
            job = self.waiting.popleft()

    def _must_wait(self, came: Coroutine[Any, Any, None] | Held) -> bool:
        """True if a job is not done yet that returned this."""
        if came is HELD:
            return not self._released
        self._coroutine = came
        return self._drive()

    def _drive(self) -> bool:
        """Run the coroutine until it has to wait; False if it is done."""
        coroutine, self._running = self._coroutine, True
        assert coroutine is not None  # noqa: S101 - the caller checked
        try:
            future = coroutine.send(None)
        except StopIteration:
            self._coroutine = None
        except (Exception, asyncio.CancelledError) as error:
            self._coroutine = None
            log.error("job_failed", exc_info=error)
        except BaseException:
            self._coroutine = None
            self.busy = False
            raise
        else:
            self._wait_for(future)
            return True
        finally:
            self._running = False
        return False

    def _wait_for(self, future: asyncio.Future[Any] | None) -> None:
        if future is None:  # it only lets others go first
            asyncio.get_running_loop().call_soon(self._go_on)
            return
        future._asyncio_future_blocking = False  # noqa: SLF001 - how a task says that it has seen the future
        future.add_done_callback(self._go_on)

    def _go_on(self, _: object = None) -> None:
        """Resume the coroutine: what it waited for is there."""
        if not self._drive():
            self._next()

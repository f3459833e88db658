"""Runs jobs one at a time, in the order given: so a room has one owner and needs no lock."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

Job = Callable[[], Coroutine[Any, Any, None] | None]
"""A job. One that has to wait returns a coroutine, or calls `hold` and later `release`."""

log = structlog.get_logger()


class Mailbox:
    """Runs jobs one after the other, and at once while none of them has to wait.

    A coroutine is driven here and not by an asyncio task: a task would cost a move more than its rules do.
    So a job has no current task. Whatever it awaits is a future in the end, and that is enough.
    """

    __slots__ = ("_busy", "_coroutine", "_held", "_running", "_waiting")

    def __init__(self) -> None:
        self._waiting: deque[Job] | None = None
        """The jobs behind the running one; the queue is made when needed, since most mailboxes are idle."""
        self._coroutine: Coroutine[Any, Any, None] | None = None
        self._busy = self._running = self._held = False
        """A job is not done yet; its code runs right now; it waits for `release`."""

    def put(self, job: Job) -> None:
        """Run this job after all earlier ones."""
        if self._busy:
            if self._waiting is None:
                self._waiting = deque()
            self._waiting.append(job)
            return
        self._busy = True
        self._run(job)

    @property
    def waiting(self) -> bool:
        """True if the current job waits for something."""
        return bool(self._waiting)

    @property
    def busy(self) -> bool:
        """True if a job runs or waits."""
        return self._busy

    async def drained(self) -> None:
        """Wait until all jobs that were put are done."""
        while self._busy:
            done = asyncio.get_running_loop().create_future()
            self.put(lambda done=done: done.set_result(None))  # type: ignore[misc]
            await done

    def hold(self) -> None:
        """Keep the current job open after it returns, until somebody calls `release`."""
        self._held = True

    def release(self, job: Job | None = None) -> None:
        """End the job that was held, or go on with another one first."""
        self._held = False
        if job is not None:
            if self._waiting is None:
                self._waiting = deque()
            self._waiting.appendleft(job)
        if not self._running:
            self._next()

    def _next(self) -> None:
        if self._waiting:
            self._run(self._waiting.popleft())
        else:
            self._busy = False

    def _run(self, job: Job) -> None:
        """Run jobs until one of them has to wait."""
        while True:
            self._running = True
            try:
                self._coroutine = job()
            except (Exception, asyncio.CancelledError) as error:
                self._held = False
                log.error("job_failed", exc_info=error)
            except BaseException:
                self._running = self._busy = self._held = False  # an error must not block the next job
                raise
            self._running = False
            if (self._coroutine is not None and self._drive()) or self._held:
                return
            if not self._waiting:
                self._busy = False
                return
            job = self._waiting.popleft()

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
            self._busy = False
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
        if not self._drive() and not self._held:
            self._next()

"""One thing at a time, in the order asked: how a room has one owner and needs no lock."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

Job = Callable[[], Coroutine[Any, Any, None] | None]
"""Something to do. One that has to wait returns a coroutine, or calls `hold` and later `release`."""

log = structlog.get_logger()


class Mailbox:
    """Runs jobs one after the other, and at once while none of them has to wait.

    A coroutine is driven here and not by a task of asyncio's: a task costs a move more than its rules do.
    So there is no current task in a job; whatever a job awaits is a future in the end, and that is enough.
    """

    __slots__ = ("_busy", "_coroutine", "_held", "_running", "_waiting")

    def __init__(self) -> None:
        self._waiting: deque[Job] | None = None
        """The jobs behind the one that runs; made when there is one, since most mailboxes are idle."""
        self._coroutine: Coroutine[Any, Any, None] | None = None
        self._busy = self._running = self._held = False
        """A job is not done yet; its code runs right now; it waits for `release`."""

    def put(self, job: Job) -> None:
        """Do this when everything before it is done."""
        if self._busy:
            if self._waiting is None:
                self._waiting = deque()
            self._waiting.append(job)
            return
        self._busy = True
        self._run(job)

    @property
    def waiting(self) -> bool:
        """Somebody waits for the job that runs now."""
        return bool(self._waiting)

    @property
    def busy(self) -> bool:
        """A job runs or waits."""
        return self._busy

    async def drained(self) -> None:
        """Wait until everything that was put is done."""
        while self._busy:
            done = asyncio.get_running_loop().create_future()
            self.put(lambda done=done: done.set_result(None))  # type: ignore[misc]
            await done

    def hold(self) -> None:
        """The job that runs is not done when it returns, but when somebody calls `release`."""
        self._held = True

    def release(self, job: Job | None = None) -> None:
        """The job that was held is done, or goes on with another one first."""
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
                self._running = self._busy = self._held = False  # whoever comes next is not to wait for it
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
        assert coroutine is not None  # noqa: S101 - the caller looked
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
        if future is None:  # it only wants to let others go first
            asyncio.get_running_loop().call_soon(self._go_on)
            return
        future._asyncio_future_blocking = False  # noqa: SLF001 - how a task says that it has seen the future
        future.add_done_callback(self._go_on)

    def _go_on(self, _: object = None) -> None:
        """What the coroutine waited for is there."""
        if not self._drive() and not self._held:
            self._next()

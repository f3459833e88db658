"""One thing at a time, in the order asked: how a room has one owner and needs no lock."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

Job = Callable[[], Coroutine[Any, Any, None]]

log = structlog.get_logger()


class Mailbox:
    """Runs jobs one after the other, and at once while none of them has to wait.

    A job is driven here and not by a task of asyncio's: a task costs a move more than its rules do.
    So there is no current task in a job; whatever a job awaits is a future in the end, and that is enough.
    """

    __slots__ = ("_job", "_jobs")

    def __init__(self) -> None:
        self._jobs: deque[Job] = deque()
        self._job: Coroutine[Any, Any, None] | None = None

    def put(self, job: Job) -> None:
        """Do this when everything before it is done."""
        self._jobs.append(job)
        if self._job is None:
            self._go_on()

    @property
    def waiting(self) -> bool:
        """Somebody waits for the job that runs now."""
        return bool(self._jobs)

    @property
    def busy(self) -> bool:
        """A job runs or waits."""
        return self._job is not None

    async def drained(self) -> None:
        """Wait until everything that was put is done."""
        while self.busy:
            done = asyncio.get_running_loop().create_future()

            async def say_so(done: asyncio.Future[None] = done) -> None:
                done.set_result(None)

            self.put(say_so)
            await done

    def _go_on(self, _: object = None) -> None:
        """Run until a job has to wait; whatever it waits for calls this again."""
        while True:
            if self._job is None:
                if not self._jobs:
                    return
                self._job = self._jobs.popleft()()
            try:
                future = self._job.send(None)
            except StopIteration:
                self._job = None
            except (Exception, asyncio.CancelledError) as error:
                self._job = None
                log.error("job_failed", exc_info=error)
            except BaseException:
                self._job = None  # whoever comes next is not to wait for it
                raise
            else:
                self._wait_for(future)
                return

    def _wait_for(self, future: asyncio.Future[Any] | None) -> None:
        if future is None:  # it only wants to let others go first
            asyncio.get_running_loop().call_soon(self._go_on)
            return
        future._asyncio_future_blocking = False  # noqa: SLF001 - how a task says that it has seen the future
        future.add_done_callback(self._go_on)

"""One thing at a time, in the order asked: how a room has one owner and needs no lock."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

import structlog

Job = Callable[[], Awaitable[None]]

log = structlog.get_logger()


class Lane:
    """Runs jobs one after the other; costs no task while there are none."""

    __slots__ = ("_jobs", "_task")

    def __init__(self) -> None:
        self._jobs: deque[Job] = deque()
        self._task: asyncio.Task[None] | None = None

    def put(self, job: Job) -> None:
        """Do this when everything before it is done."""
        self._jobs.append(job)
        if self._task is None:
            self._go()

    @property
    def waiting(self) -> bool:
        """Somebody waits for the job that runs now."""
        return bool(self._jobs)

    @property
    def busy(self) -> bool:
        """A job runs or waits."""
        return self._task is not None

    async def drained(self) -> None:
        """Wait until everything that was put is done."""
        while self._task is not None:
            await asyncio.wait([self._task])
            await asyncio.sleep(0)  # let _done start what is left over

    def _go(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run())
        self._task.add_done_callback(self._done)

    async def _run(self) -> None:
        while self._jobs:
            await self._jobs.popleft()()

    def _done(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("job_failed", exc_info=error)
        if self._jobs:
            self._go()

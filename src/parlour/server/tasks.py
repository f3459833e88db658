"""Work that goes on beside whoever started it."""

import asyncio
from collections.abc import Coroutine
from typing import Any


class Tasks(set[asyncio.Task[None]]):
    """The tasks that are not done yet; the event loop alone does not keep them from being thrown away."""

    def start(self, job: Coroutine[Any, Any, None]) -> None:
        """Run this in the running loop."""
        task = asyncio.get_running_loop().create_task(job)
        self.add(task)
        task.add_done_callback(self.discard)

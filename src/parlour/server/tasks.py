"""Tasks that run beside the code that started them."""

import asyncio
from collections.abc import Coroutine
from typing import Any


class Tasks(set[asyncio.Task[None]]):
    """Holds tasks until they are done; the event loop alone may let them be garbage-collected."""

    def start(self, job: Coroutine[Any, Any, None]) -> None:
        """Start a task in the running loop."""
        task = asyncio.get_running_loop().create_task(job)
        self.add(task)
        task.add_done_callback(self.discard)

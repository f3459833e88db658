"""Writers of the journal in PostgreSQL that fail as told by the environment: see `writers`."""

import asyncio
import os
from collections.abc import Sequence
from typing import Any

from parlour.journal.postgresql.batches import Batch
from parlour.journal.postgresql.writer import Writer
from tests.torture.writers import DIE, die

MOMENT = 0.001
"""Seconds after which a write is on its way, and perhaps not at its end."""


class Mortal(Writer):
    """Dies between the write and the answer, or in the middle of the write."""

    _batches = 0

    async def _outcomes(self, batch: Batch) -> Sequence[Any]:
        when, _, which = os.environ.get(DIE, "").partition(" ")
        self._batches += 1
        fatal = which == str(self._batches)
        if fatal and when == "before":
            asyncio.get_running_loop().call_later(MOMENT, die)
        outcomes = await super()._outcomes(batch)
        if fatal:
            die()
        return outcomes


POSTGRESQL_WRITERS: dict[str, type[Writer]] = {"mortal": Mortal}

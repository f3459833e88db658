"""Who owns what: every key has a shard, and every shard has one owner among the workers."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import msgspec

from parlour.journal.shards import SHARDS

NOBODY = 0
"""The owner of a shard that nobody has; no worker has this id."""

Taken = Callable[[set[int], float], None]
"""Called when shards are ours now, with the seconds of the rooms' clock that nobody had them: 0 if they were
handed over, or never had an owner."""
Asked = Callable[[int], Awaitable[None]]
"""Called when another worker is to have a shard of ours: serve all that waits for its rooms, store them, and
return; only then does the shard change hands. If it raises, the shard stays ours, and we are asked again."""
Fenced = Callable[[], None]
"""Called once, when we were declared gone: forget every room, and begin again under a new id."""


class LivingWorker(msgspec.Struct, frozen=True):
    """A living worker, as a status page shows it."""

    id: int
    address: str
    """The name of its machine, a colon, and the number of its process."""
    silent: float | None
    """Seconds since its last beat, by PostgreSQL's clock; None if it has not beaten yet."""
    shards: int

    @property
    def machine(self) -> str:
        """The name of the machine that it runs on."""
        return self.address.rpartition(":")[0]


class Members(Protocol):
    """Knows the owner of every key; it calls *taken*, *asked* and *fenced* in the server's loop."""

    taken: Taken
    asked: Asked
    fenced: Fenced

    @property
    def me(self) -> int:
        """The id of this run of this process; it is never used again."""
        ...

    def owner_of(self, key: str) -> int:
        """The worker that owns a key, or `NOBODY`; from memory, and so a little out of date."""
        ...

    def owners(self) -> Sequence[int]:
        """The same for every shard."""
        ...

    def shards(self) -> list[int]:
        """The shards that are ours."""
        ...

    def is_fresh(self) -> bool:
        """True while nobody else can own what is ours: rooms may be shown from memory."""
        ...

    def workers(self) -> list[LivingWorker]:
        """The living workers, as last seen."""
        ...

    def look_now(self) -> None:
        """Look at once who owns what: somebody said that it has changed."""
        ...

    changed: Callable[[], None]
    """Called when owners or workers are others than before."""

    async def start(self) -> None:
        """Begin to own shards; *taken*, *asked* and *fenced* are set before."""
        ...

    async def stop(self) -> None:
        """Give up all shards; nothing can be written afterwards."""
        ...


def ignore_taken(_shards: set[int], _seconds: float) -> None:
    """Before anybody listens."""


async def ignore_asked(_shard: int) -> None:
    """Before anybody listens."""


def ignore_fenced() -> None:
    """Before anybody listens."""


class Alone:
    """The one worker of a server that is a single process: it owns everything, at all times.

    >>> alone = Alone()
    >>> alone.owner_of("room:ABCD") == alone.me, alone.is_fresh()
    (True, True)
    """

    me = 1

    def __init__(self, address: str = "") -> None:
        self._address = address
        self.taken: Taken = ignore_taken
        self.asked: Asked = ignore_asked
        self.fenced: Fenced = ignore_fenced
        self.changed: Callable[[], None] = ignore_fenced

    def owner_of(self, key: str) -> int:  # noqa: ARG002
        return self.me

    def owners(self) -> Sequence[int]:
        return [self.me] * SHARDS

    def shards(self) -> list[int]:
        return list(range(SHARDS))

    def is_fresh(self) -> bool:
        return True

    def workers(self) -> list[LivingWorker]:
        return [LivingWorker(self.me, self._address, 0.0, SHARDS)]

    def look_now(self) -> None:
        """There is nothing to see."""

    async def start(self) -> None:
        self.taken(set(range(SHARDS)), 0.0)

    async def stop(self) -> None:
        """There is nobody to hand anything to."""

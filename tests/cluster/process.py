"""A worker as a process: prints what it is told, a line each."""

import asyncio
import json
import sys
from typing import Any

import structlog

from parlour.cluster.leases import Leases
from parlour.cluster.watch import Pace
from parlour.journal.postgresql import schema
from tests.cluster.crew import Clock, register


def say(**words: Any) -> None:
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))


async def main(url: str, lease: str, beat_every: str) -> None:
    db = await schema.connect(url)
    me = await register(db, "a process")
    await db.close()
    clock = Clock()
    leases = Leases(url, me, clock.now, clock.jump, Pace(float(lease), float(beat_every)))

    async def give(shard: int) -> None:
        say(given=shard)

    def fence() -> None:
        owned = [shard for shard, owner in enumerate(leases._owners) if owner == me]
        say(fenced=owned, fresh=leases.is_fresh())

    leases.taken = lambda shards, _: say(taken=sorted(shards))
    leases.asked, leases.fenced = give, fence
    await leases.start()
    say(me=me)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

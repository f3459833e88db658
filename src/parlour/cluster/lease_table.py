"""What the leases ask of PostgreSQL, whose clock alone says who is late.

Each question is one statement, so that a worker that is stopped between two of them holds no lock.
"""

from collections.abc import Iterable, Sequence
from itertools import starmap
from typing import Any, NamedTuple, TypeAlias

import asyncpg

from parlour.cluster.dealing import Change, Row
from parlour.cluster.members import LivingWorker
from parlour.journal.postgresql.errors import ERRORS, not_kept
from parlour.journal.postgresql.schema import LOCK, connect

Connection: TypeAlias = "asyncpg.Connection[Any]"

KEPT = 3600.0
"""Seconds for which the last beat of the gone is kept: it says since when nobody had their shards."""


class Beat(NamedTuple):
    """A beat that was kept: when, by PostgreSQL's clock, and the latest of all workers' rooms' clocks."""

    at: float
    clock: float | None


class Seen(NamedTuple):
    """A worker and its last beat, as the tables show them."""

    id: int
    address: str
    gone: bool
    silent: float | None
    """Seconds since its last beat, if there is one."""
    clock: float | None
    """The rooms' clock at that beat."""
    ready: bool | None


class Look(NamedTuple):
    """What the tables said at one moment."""

    rows: tuple[Row, ...]
    """By shard."""
    living: dict[int, Seen]
    gone: dict[int, Seen]
    """Only those whose last beat is still known."""

    def shards_of(self, worker: int) -> set[int]:
        return {shard for shard, row in enumerate(self.rows) if row.owner == worker}

    def workers(self) -> list[LivingWorker]:
        """The living, for people."""
        owners = [row.owner for row in self.rows]
        return [LivingWorker(w.id, w.address, w.silent, owners.count(w.id)) for w in self.living.values()]


NO_LOOK = Look((), {}, {})

# What changes hands must outlast a crash of PostgreSQL, however the connection treats beats.
DURABLE = "set_config('synchronous_commit', 'on', true)"
TABLE_LOCK = f"{LOCK}, 'shards'::regclass::oid::integer"
"""Held by whoever changes the table of shards; it is another one in every schema."""

BEAT = """
WITH beat AS (
    INSERT INTO beats (worker, at, clock, ready)
    SELECT id, clock_timestamp(), $2, $3 FROM workers WHERE id = $1 AND NOT gone
    ON CONFLICT (worker) DO UPDATE
    SET at = excluded.at, clock = greatest(beats.clock, excluded.clock), ready = excluded.ready
    RETURNING at
)
SELECT extract(epoch FROM at)::float8, (SELECT max(clock) FROM beats) FROM beat
"""

LOOK = """
SELECT * FROM (
    SELECT array_agg(coalesce(owner, 0) ORDER BY shard), array_agg(coalesce(wanted, 0) ORDER BY shard)
    FROM shards
) AS shard (owners, wanted), (
    SELECT array_agg(id), array_agg(address), array_agg(gone),
           array_agg(extract(epoch FROM clock_timestamp() - at)::float8),
           array_agg(beats.clock), array_agg(ready)
    FROM (SELECT * FROM workers ORDER BY id) AS workers LEFT JOIN beats ON worker = id
    WHERE NOT gone OR worker IS NOT NULL
) AS seen (id, address, gone, silent, clock, ready)
"""

BEGIN_LEASES = """
INSERT INTO beats (worker, at, clock, ready)
SELECT id, clock_timestamp(), $1, false FROM workers WHERE NOT gone
ON CONFLICT DO NOTHING
"""

BURY = f"""
WITH durable AS MATERIALIZED (SELECT {DURABLE})
UPDATE workers SET gone = true FROM durable
WHERE id = $1 AND NOT gone AND make_interval(secs => $2) <=
      coalesce((SELECT clock_timestamp() - at FROM beats WHERE worker = id), interval '0')
RETURNING id
"""  # noqa: S608 - both parts are ours

FORGET = """
DELETE FROM beats USING workers
WHERE worker = id AND gone AND at < clock_timestamp() - make_interval(secs => $1) AND beats.clock <= $2
AND NOT EXISTS (SELECT FROM shards WHERE owner = id)
"""

DEAL = f"""
WITH lock AS MATERIALIZED (SELECT {DURABLE}, pg_try_advisory_xact_lock({TABLE_LOCK}) AS free)
UPDATE shards SET owner = nullif(new.owner, 0), wanted = nullif(new.wanted, 0)
FROM lock, unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
    AS new (shard, old_owner, old_wanted, owner, wanted)
WHERE lock.free AND shards.shard = new.shard
AND coalesce(shards.owner, 0) = new.old_owner AND coalesce(shards.wanted, 0) = new.old_wanted
"""  # noqa: S608 - both parts are ours

HAND_OVER = f"""
WITH lock AS MATERIALIZED (SELECT {DURABLE}, pg_advisory_xact_lock({TABLE_LOCK}))
UPDATE shards SET owner = (SELECT id FROM workers WHERE id = wanted AND NOT gone), wanted = NULL FROM lock
WHERE owner = $1 AND shard = ANY($2::smallint[])
"""  # noqa: S608 - both parts are ours

RESIGN = f"""
WITH durable AS MATERIALIZED (SELECT {DURABLE}),
     beat AS (DELETE FROM beats WHERE worker = $1 AND NOT EXISTS (SELECT FROM shards WHERE owner = $1))
UPDATE workers SET gone = true, clock = greatest(clock, $2) FROM durable WHERE id = $1
"""  # noqa: S608 - both parts are ours


async def beat(db: Connection, me: int, clock: float, *, ready: bool) -> Beat | None:
    """Renew the lease; None if this worker is gone."""
    row = await db.fetchrow(BEAT, me, clock, ready)
    return None if row is None else Beat(*row)


async def look(db: Connection) -> Look:
    """Read both tables as they are at one moment."""
    owners, wanted, *columns = await db.fetchrow(LOOK)
    seen = list(starmap(Seen, zip(*columns, strict=True))) if columns[0] else []
    return Look(
        tuple(map(Row, owners, wanted)),
        {worker.id: worker for worker in seen if not worker.gone},
        {worker.id: worker for worker in seen if worker.gone},
    )


async def begin_leases(db: Connection, clock: float) -> None:
    """Begin a lease for every living worker that has no beat: only after it can anybody be late."""
    await db.execute(BEGIN_LEASES, clock)


async def bury(db: Connection, worker: int, silent: float) -> bool:
    """Declare a worker gone, if it has been silent for that long.

    This waits until a write of that worker has ended: what it writes is kept before, or not at all.
    """
    buried: int | None = await db.fetchval(BURY, worker, silent)
    return buried is not None


async def forget(db: Connection, clock: float) -> None:
    """Delete old beats of the gone, if this worker's clock is no earlier than theirs."""
    await db.execute(FORGET, KEPT, clock)


async def deal(db: Connection, changes: Sequence[Change]) -> bool:
    """Change rows that are still what they were; nothing is changed while another worker deals."""
    before, after = [c.before for c in changes], [c.after for c in changes]
    columns = [[c.shard for c in changes], *zip(*before, strict=True), *zip(*after, strict=True)]
    done: str = await db.execute(DEAL, *columns)
    return done != "UPDATE 0"


async def hand_over(db: Connection, me: int, shards: Iterable[int]) -> bool:
    """Give own shards to whom they are meant for; to nobody, if that worker is gone."""
    await db.execute(HAND_OVER, me, sorted(shards))
    return True


async def resign(db: Connection, me: int, clock: float) -> bool:
    """Declare oneself gone. The last beat is kept only if there are shards that nobody was handed."""
    await db.execute(RESIGN, me, clock)
    return True


async def list_workers(url: str) -> list[LivingWorker]:
    """The living workers of a database, for a command that is none of them."""
    db = await connect(url)
    try:
        return (await look(db)).workers()
    except ERRORS as error:
        raise not_kept(error) from error
    finally:
        await db.close()

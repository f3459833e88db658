"""Leases over a real PostgreSQL: over a random life of some workers, no shard has two owners."""

import asyncio
from itertools import pairwise
from random import Random

import pytest

from parlour.cluster.leases import BEAT_EVERY, LEASE
from parlour.cluster.watch import Pace
from parlour.journal.shards import SHARDS

pytestmark = pytest.mark.e2e

EVERYTHING = set(range(SHARDS))
REAL = Pace(LEASE, BEAT_EVERY)


async def last_beat(crew, worker):
    return await crew.db.fetchval("SELECT at FROM beats WHERE worker = $1", worker.me)


async def has_beaten_since(crew, worker, before):
    return await last_beat(crew, worker) != before


async def make_commits_hang(crew, hang):
    """Let commits wait for a standby that does not exist; those that wait for no disk go on."""
    await crew.db.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{'nobody' if hang else ''}'")
    await crew.db.execute("SELECT pg_reload_conf()")


# A random life.

HISTORY = """
CREATE TABLE history (shard int, worker bigint, was bigint, was_gone bool, by text, at float8);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO history SELECT new.shard, new.owner, old.owner,
        NOT EXISTS (SELECT FROM workers WHERE id = old.owner AND NOT gone),
        current_setting('application_name'), extract(epoch FROM clock_timestamp());
    RETURN new;
END $$;
CREATE TRIGGER owners BEFORE UPDATE OF owner ON shards FOR EACH ROW
    WHEN (old.owner IS DISTINCT FROM new.owner) EXECUTE FUNCTION note();
CREATE TABLE burials (worker bigint, at float8);
CREATE FUNCTION note_burial() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO burials SELECT new.id, extract(epoch FROM clock_timestamp());
    RETURN new;
END $$;
CREATE TRIGGER burials BEFORE UPDATE OF gone ON workers FOR EACH ROW EXECUTE FUNCTION note_burial();
"""


async def live(crew, rng):
    """Workers start, stop and die, sometimes before the others have noticed the last change."""
    living = [await crew.add() for _ in range(3)]
    for _ in range(10):
        may = ["start"] * (len(living) < 5) + ["stop", "die"] * (len(living) > 1)
        what = rng.choice(may)
        if what == "start":
            living.append(await crew.add())
        else:
            left = living.pop(rng.randrange(len(living)))
            await (left.leases.stop() if what == "stop" else left.die())
        await asyncio.sleep(rng.choice([0, 0.05, 0.3, 1.0]))
    await crew.share(*(member for member in living if not member.fenced))


def holdings(crew, buried):
    """For each shard, from when to when somebody believed to own it, and could write."""
    spans: dict[int, list[tuple[float, float]]] = {shard: [] for shard in EVERYTHING}
    for member in crew.members:
        since = {}
        for what, shard, at in member.diary:
            if what == "taken":
                assert shard not in since, "taken twice"
                since[shard] = at
            else:
                spans[shard].append((since.pop(shard), at))
        for shard, at in since.items():
            spans[shard].append((at, max(at, buried.get(member.me, float("inf")))))
    return spans


@pytest.mark.parametrize("seed", range(3))
async def test_a_shard_never_has_two_owners_at_once(crew, seed):
    await crew.db.execute(HISTORY)
    await live(crew, Random(seed))
    for change in await crew.db.fetch("SELECT * FROM history"):
        robbed = change["was"] is not None and not change["was_gone"]
        assert not robbed or change["by"] == f"parlour-worker-{change['was']}"
    buried = dict(await crew.db.fetch("SELECT worker, at FROM burials"))
    for shard, spans in holdings(crew, buried).items():
        overlaps = [(one, two) for one, two in pairwise(sorted(spans)) if one[1] > two[0]]
        assert not overlaps, f"shard {shard}"

"""Leases over a real PostgreSQL: who is alive, and who owns what."""

import asyncio
import signal
import time
from functools import partial

import pytest

from parlour.cluster import lease_table
from parlour.cluster.dealing import Change, Crew, Row
from parlour.cluster.heart import LOOK_PATIENCE
from parlour.cluster.lease_table import Look, Seen
from parlour.cluster.leases import BEAT_EVERY, LEASE
from parlour.cluster.members import NOBODY
from parlour.cluster.watch import STARTING, Pace, Watch
from parlour.journal.postgresql import schema
from parlour.journal.shards import SHARDS
from tests.cluster.crew import PACE, Clock, Member, register, until

pytestmark = pytest.mark.e2e

EVERYTHING = set(range(SHARDS))
REAL = Pace(LEASE, BEAT_EVERY)
SOON = 4 * LEASE
"""Seconds; on a machine that has nothing else to do it is a lease and two beats."""


async def last_beat(crew, worker):
    return await crew.db.fetchval("SELECT at FROM beats WHERE worker = $1", worker.me)


async def has_beaten_since(crew, worker, before):
    return await last_beat(crew, worker) != before


async def make_commits_hang(crew, hang):
    """Let commits wait for a standby that does not exist; those that wait for no disk go on."""
    await crew.db.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{'nobody' if hang else ''}'")
    await crew.db.execute("SELECT pg_reload_conf()")


# Shares.


async def test_one_worker_gets_all_shards(crew):
    ann = await crew.add()
    await until(lambda: ann.shards == EVERYTHING)
    assert ann.gaps == [0.0]
    assert ann.leases.owner_of("room:ABCD") == ann.leases.owner_of("lobby") == ann.me
    assert ann.leases.is_fresh()
    assert await crew.owners() == [ann.me] * SHARDS


async def test_two_workers_share_evenly_and_agree(crew):
    ann, bob = await crew.add(), await crew.add()
    await crew.share(ann, bob)
    assert ann.leases._owners == bob.leases._owners
    assert len(ann.shards) == len(bob.shards) == SHARDS // 2


async def test_a_third_worker_is_given_its_part_only_by_owners_who_have_given_it_up(crew):
    ann, bob = await crew.add(), await crew.add()
    await crew.share(ann, bob)
    may_give, asked = asyncio.Event(), []

    async def hesitate(shard):
        asked.append(shard)
        await may_give.wait()
        assert (await crew.owners())[shard] != cid.me, "it changed hands before it was given up"

    ann.before_giving = bob.before_giving = hesitate
    cid = await crew.add()
    was_asked = lambda member: len(member.leases._giving) >= SHARDS // 6  # noqa: E731
    await until(lambda: was_asked(ann) and was_asked(bob))
    await crew.rounds(cid, 3)
    assert not cid.shards
    assert cid.me not in await crew.owners()
    assert len(asked) == len(set(asked)) == SHARDS // 3
    may_give.set()
    await crew.share(ann, bob, cid)
    assert {shard for what, shard, _ in ann.diary + bob.diary if what == "given"} >= cid.shards
    assert set(cid.gaps) == {0.0}


async def test_a_shard_that_could_not_be_given_up_stays_and_is_asked_for_again(crew):
    ann = await crew.add()
    refused = set()

    async def refuse_once(shard):
        if shard not in refused:
            refused.add(shard)
            raise OSError("the disk is full")

    ann.before_giving = refuse_once
    bob = await crew.add()
    await crew.share(ann, bob)
    assert refused >= bob.shards


async def test_a_shard_given_up_for_a_worker_that_died_meanwhile_is_dealt_anew(crew):
    ann = await crew.add()
    may_give = asyncio.Event()

    async def hesitate(_shard):
        await may_give.wait()

    ann.before_giving = hesitate
    bob = await crew.add()
    await until(lambda: len(ann.leases._giving) == SHARDS // 2)
    await bob.die()
    await crew.buried(bob.me)
    may_give.set()
    await until(lambda: not ann.leases._giving and ann.shards == EVERYTHING)
    assert set(ann.gaps) == {0.0}


async def test_one_worker_deals_at_a_time(crew):
    ann = await register(crew.db)
    changes = [Change(7, Row(NOBODY), Row(ann))]
    other = await schema.connect(crew.url)
    try:
        async with other.transaction():
            await other.execute(f"SELECT pg_advisory_xact_lock({lease_table.TABLE_LOCK})")
            assert not await lease_table.deal(crew.db, changes)
        assert await lease_table.deal(crew.db, changes)
    finally:
        await other.close()


async def test_a_deal_changes_no_row_that_was_changed_meanwhile(crew):
    ann, bob = await register(crew.db), await register(crew.db)
    assert await lease_table.deal(crew.db, [Change(7, Row(NOBODY), Row(ann))])
    assert not await lease_table.deal(crew.db, [Change(7, Row(NOBODY), Row(bob))])
    assert not await lease_table.deal(crew.db, [Change(7, Row(ann, bob), Row(bob))])
    assert (await crew.owners())[7] == ann


async def test_a_worker_that_stops_hands_everything_over_and_is_gone(crew):
    ann, bob = await crew.add(), await crew.add()
    await crew.share(ann, bob)
    bob.gaps.clear()
    await ann.leases.stop()
    await crew.share(bob)
    assert not ann.shards
    assert set(bob.gaps) == {0.0}
    assert await crew.gone() == {ann.me}
    assert not ann.leases.is_fresh()
    assert not ann.fenced
    assert ann.me not in ann.leases._owners


async def test_nobody_gives_a_shard_to_a_worker_that_is_about_to_stop(crew):
    ann, bob, cid = [await crew.add() for _ in range(3)]
    await crew.share(ann, bob, cid)
    may_give = asyncio.Event()
    ann.before_giving = lambda _shard: may_give.wait()
    bob.diary, cid.diary = [], []
    stopping = asyncio.create_task(ann.leases.stop())
    await until(lambda: ann.leases._giving)
    await crew.rounds(bob, 5)
    assert bob.diary + cid.diary == []
    may_give.set()
    await stopping
    await crew.share(bob, cid)


def test_shards_are_given_to_those_who_beat_and_evened_out_while_nobody_is_late():
    watch = Watch(1, Clock().now, PACE, lambda _: None)

    def seen(id, silent, ready=True):
        return Seen(id, "here", False, silent, 0.0, ready)

    def crew_of(*living):
        return watch.crew(Look((Row(1), Row(2)), {worker.id: worker for worker in living}, {}))

    prompt, late = 0.1, PACE.lease * 0.9
    assert crew_of(seen(1, prompt), seen(2, prompt)) == Crew({1, 2}, {1, 2}, even=True)
    assert crew_of(seen(1, prompt), seen(2, late)) == Crew({1, 2}, {1}, even=False)
    assert crew_of(seen(1, prompt), seen(2, prompt, False)) == Crew({1, 2}, {1}, even=True)
    assert crew_of(seen(1, prompt), seen(2, late, False)) == Crew({1, 2}, {1}, even=False)
    starting = seen(3, None, None)
    assert crew_of(seen(1, prompt), seen(2, prompt), starting) == Crew({1, 2, 3}, {1, 2}, even=True)


async def test_the_last_worker_leaves_all_shards_to_nobody_and_the_next_one_takes_them(crew):
    ann = await crew.add()
    await crew.share(ann)
    await ann.leases.stop()
    assert await crew.owners() == [None] * SHARDS
    assert {ann.leases.owner_of("lobby")} == {NOBODY}
    bob = await crew.add()
    await crew.share(bob)
    assert bob.gaps == [0.0]


async def test_whoever_cannot_give_up_its_shards_in_time_is_gone_all_the_same(crew):
    ann, bob = await crew.add(), await crew.add()
    await crew.share(ann, bob)

    async def never(_shard):
        await asyncio.Event().wait()

    ann.before_giving = never
    await ann.leases.stop(patience=0.3)
    await crew.share(bob)
    assert await crew.gone() == {ann.me}


async def test_a_worker_that_is_known_to_be_dead_is_buried_before_its_lease_has_ended(crew):
    patient = Pace(lease=60.0, beat_every=0.1)
    ann, bob = await crew.add(pace=patient), await crew.add(pace=patient)
    await crew.share(ann, bob)
    await bob.die()
    ann.leases.bury(bob.me)
    await crew.share(ann)
    assert await crew.gone() == {bob.me}


async def test_a_nudge_is_a_look_at_once(crew):
    ann = await crew.add(pace=Pace(lease=60.0, beat_every=20.0))
    await until(lambda: ann.shards == EVERYTHING)
    await crew.db.execute("UPDATE shards SET wanted = $1 WHERE shard = 7", await register(crew.db))
    ann.leases.look_now()
    await until(lambda: 7 not in ann.shards, seconds=10.0)


async def test_workers_are_listed_with_address_silence_and_shards(crew):
    ann, bob = await crew.add(), await crew.add()
    late = await register(crew.db, "far away")
    await crew.share(ann, bob)
    listed = await lease_table.list_workers(crew.url)
    assert [(w.id, w.address, w.shards) for w in listed if w.id != late] == [
        (ann.me, "here", 128),
        (bob.me, "here", 128),
    ]
    assert all(w.silent is not None and 0 <= w.silent < PACE.lease for w in listed if w.id != late)
    await until(lambda: {w.id for w in ann.leases.workers()} == {ann.me, bob.me, late})


# Death.


async def test_the_shards_of_a_killed_worker_are_dealt_soon_after_its_lease(crew):
    ann, bob = await crew.add(pace=REAL), await crew.add(pace=REAL)
    dead = await crew.spawn(pace=REAL)
    await crew.share(ann, bob, dead)
    ann.gaps.clear(), bob.gaps.clear()
    dead.signal(signal.SIGKILL)
    killed = time.monotonic()
    await until(lambda: len(ann.shards) + len(bob.shards) == SHARDS)
    assert time.monotonic() - killed < SOON
    await crew.share(ann, bob)
    assert await crew.gone() == {dead.me}
    for gaps in (ann.gaps, bob.gaps):
        assert len(gaps) == 1
        assert LEASE <= gaps[0] < SOON


async def test_a_worker_that_was_paused_is_told_that_it_is_gone_and_owns_nothing(crew):
    ann, paused = await crew.add(), await crew.spawn()
    await crew.share(ann, paused)
    paused.signal(signal.SIGSTOP)
    await until(lambda: ann.shards == EVERYTHING)
    paused.signal(signal.SIGCONT)
    await until(lambda: paused.fenced)
    assert not paused.shards
    assert paused.fresh_when_fenced is False
    await crew.share(ann)
    assert await crew.owners() == [ann.me] * SHARDS


async def test_a_pause_that_is_shorter_than_the_lease_costs_nothing(crew):
    ann, paused = await crew.add(pace=REAL), await crew.spawn(pace=REAL)
    await crew.share(ann, paused)
    before = await last_beat(crew, paused)
    paused.signal(signal.SIGSTOP)
    await asyncio.sleep(LEASE / 2)
    paused.signal(signal.SIGCONT)
    await until(partial(has_beaten_since, crew, paused, before))
    assert await crew.gone() == set()
    assert not paused.fenced


async def test_gone_is_for_ever(crew):
    ann, bob = await crew.add(), await crew.add()
    await crew.share(ann, bob)
    bob.leases.bury(ann.me)
    await until(lambda: ann.fenced)
    await crew.share(bob)
    again = Member(crew.url, ann.me, Clock(), PACE)
    await again.leases.start()
    await until(lambda: again.fenced)
    assert not again.shards
    assert (ann.fenced, again.fenced) == (1, 1)
    assert ann.me in await crew.gone()


async def test_the_gone_renew_nothing(crew):
    ann = await register(crew.db)
    assert await lease_table.beat(crew.db, ann, 1.0, ready=True) is not None
    assert await lease_table.bury(crew.db, ann, 0.0)
    assert await lease_table.beat(crew.db, ann, 2.0, ready=True) is None
    assert await crew.db.fetchval("SELECT clock FROM beats WHERE worker = $1", ann) == 1.0


async def test_the_last_beat_of_the_gone_is_forgotten_when_nobody_needs_it(crew):
    for_its_shards, for_its_clock, young, old = [await register(crew.db) for _ in range(4)]
    for worker in (for_its_shards, for_its_clock, young, old):
        await lease_table.beat(crew.db, worker, 9.0 if worker == for_its_clock else 1.0, ready=True)
        await lease_table.bury(crew.db, worker, 0.0)
    await crew.db.execute("UPDATE shards SET owner = $1 WHERE shard = 7", for_its_shards)
    await crew.db.execute("UPDATE beats SET at = at - interval '1 day' WHERE worker <> $1", young)
    await lease_table.forget(crew.db, 5.0)
    kept = {row["worker"] for row in await crew.db.fetch("SELECT worker FROM beats")}
    assert kept == {for_its_shards, for_its_clock, young}


async def test_whoever_has_beaten_lately_is_not_buried_as_late(crew):
    ann = await register(crew.db)
    await lease_table.beat(crew.db, ann, 1.0, ready=True)
    assert not await lease_table.bury(crew.db, ann, 5.0)


async def test_a_worker_without_a_beat_is_not_late(crew):
    ann = await register(crew.db)
    assert not await lease_table.bury(crew.db, ann, 5.0)
    await lease_table.begin_leases(crew.db, 1.0)
    assert not await lease_table.bury(crew.db, ann, 5.0)
    assert await crew.gone() == set()


async def test_a_worker_that_has_not_begun_is_given_time_and_no_shards(crew):
    starting = await register(crew.db)
    ann = await crew.add()
    await until(lambda: ann.shards == EVERYTHING)
    await crew.rounds(ann, 3)
    age = "UPDATE beats SET at = clock_timestamp() - make_interval(secs => $2) WHERE worker = $1"
    await crew.db.execute(age, starting, STARTING / 2)
    await crew.rounds(ann, 8)
    assert starting not in await crew.gone()
    assert starting not in await crew.owners()
    await crew.db.execute(age, starting, STARTING)
    await crew.buried(starting)


async def test_a_write_that_holds_the_fence_delays_the_burial_until_it_ends(crew):
    ann, bob = await crew.add(), await crew.add()
    await crew.share(ann, bob)
    writer = await schema.connect(crew.url)
    try:
        write = writer.transaction()
        await write.start()
        await writer.execute("UPDATE workers SET clock = clock + 1 WHERE id = $1 AND NOT gone", bob.me)
        await bob.die()
        await until(lambda: ann.leases._heart._watch.waits.get(bob.me, 0) >= 3)
        assert await crew.gone() == set()
        assert ann.leases.is_fresh()
        assert len(ann.shards) == SHARDS // 2
        await write.commit()
        await crew.share(ann)
        fence = "UPDATE workers SET clock = clock + 1 WHERE id = $1 AND NOT gone"
        assert await writer.execute(fence, bob.me) == "UPDATE 0"
    finally:
        await writer.close()


async def test_a_blocked_event_loop_does_not_cost_the_lease(crew):
    pace = Pace(lease=3.0, beat_every=0.1)  # a busy machine costs a thread a second now and then
    ann, bob = await crew.spawn(pace), await crew.add(pace=pace)
    await crew.share(ann, bob)
    time.sleep(4.0)  # noqa: ASYNC251 - this is what a game does that takes too long
    assert bob.leases.is_fresh()
    await crew.rounds(bob, 3)
    assert await crew.gone() == set()
    await crew.share(ann, bob)


async def test_a_worker_that_was_robbed_is_fenced(crew):
    ann = await crew.add()
    await until(lambda: ann.shards == EVERYTHING)
    await crew.db.execute("UPDATE shards SET owner = $1 WHERE shard = 7", await register(crew.db))
    await until(lambda: ann.fenced)
    assert not ann.leases.is_fresh()


async def test_a_bug_in_the_thread_ends_in_a_fence(crew, monkeypatch):
    ann = await crew.add()

    async def fail(_db):
        raise KeyError("a bug")

    monkeypatch.setattr(lease_table, "look", fail)
    await until(lambda: ann.fenced)
    assert not ann.leases.is_fresh()


async def test_a_server_that_fails_at_one_call_is_told_the_rest(crew):
    ann = await crew.add()
    failed = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _loop, context: failed.append(context["exception"])
    )

    def fail(shards, _seconds):
        raise RuntimeError(f"{len(shards)} are too many")

    bob = Member(crew.url, await register(crew.db), Clock(), PACE)
    crew.members.append(bob)
    bob.leases.taken = fail
    await bob.leases.start()
    await until(lambda: failed)
    assert isinstance(failed[0], RuntimeError)
    bob.shards = set(EVERYTHING)
    await bob.leases.stop()
    await until(lambda: ann.shards == EVERYTHING)


# PostgreSQL away.


async def test_what_changed_hands_outlasts_a_crash_of_postgresql(crew, postgres):
    ann, bob = await register(crew.db), await register(crew.db)
    db = await schema.connect(crew.url, {"synchronous_commit": "off"})
    before = Row(NOBODY)
    assert await lease_table.deal(db, [Change(shard, before, Row(ann, bob)) for shard in (1, 2)])
    assert await lease_table.hand_over(db, ann, {2})
    assert await lease_table.bury(db, ann, 0.0)
    postgres.crash()
    db.terminate()
    await asyncio.to_thread(postgres.start)
    await crew.reconnect()
    assert await crew.gone() == {ann}
    assert (await crew.owners())[:4] == [None, ann, bob, None]


async def test_commits_that_hang_cost_nobody_its_lease(crew):
    ann, bob, cid = [await crew.add() for _ in range(3)]
    await crew.share(ann, bob, cid)
    await make_commits_hang(crew, True)
    try:
        dan = await crew.add()
        for _ in range(4):
            await crew.db.execute("SELECT pg_sleep($1)", PACE.lease)
            assert all(member.leases.is_fresh() for member in crew.members)
        count = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'parlour-worker-%'"
        assert await crew.db.fetchval(count) <= 3 * len(crew.members)
    finally:
        await make_commits_hang(crew, False)
    await crew.share(ann, bob, cid, dan)
    assert await crew.gone() == set()


async def test_a_worker_can_stop_while_commits_hang(crew):
    ann = await crew.add()
    await until(lambda: ann.shards == EVERYTHING)
    await make_commits_hang(crew, True)
    try:
        async with asyncio.timeout(LOOK_PATIENCE / 2):
            await ann.leases.stop(patience=0.2)
    finally:
        await make_commits_hang(crew, False)


async def test_a_worker_can_stop_while_postgresql_is_away(crew, postgres):
    ann = await crew.add()
    await until(lambda: ann.shards == EVERYTHING)
    postgres.crash()
    try:
        await ann.leases.stop(patience=0.2)
    finally:
        await asyncio.to_thread(postgres.start)
        await crew.reconnect()
    assert await crew.gone() == set()
    assert not ann.leases.is_fresh()


async def test_a_crash_of_postgresql_buries_nobody_and_all_go_on(crew, postgres):
    ann, bob = await crew.add(), await crew.add()
    await crew.share(ann, bob)
    before = set(ann.shards)
    postgres.crash()
    await until(lambda: not ann.leases.is_fresh() and not bob.leases.is_fresh())
    await asyncio.to_thread(postgres.start)
    await until(lambda: ann.leases.is_fresh() and bob.leases.is_fresh())
    await crew.reconnect()
    await crew.rounds(ann, 10)
    assert await crew.gone() == set()
    assert ann.shards == before
    cid = await crew.add()
    await crew.share(ann, bob, cid)


async def test_who_died_while_postgresql_was_away_is_buried_a_lease_after_its_return(crew, postgres):
    ann, bob = await crew.add(), await crew.add()
    await crew.share(ann, bob)
    postgres.crash()
    await bob.die()
    await asyncio.to_thread(postgres.start)
    await crew.reconnect()
    await crew.share(ann)
    assert await crew.gone() == {bob.me}


async def test_who_could_not_renew_is_buried_only_if_others_could(crew, postgres):
    patient = Pace(lease=3.0, beat_every=0.25)
    ann, slow = await crew.add(pace=patient), await crew.spawn(pace=patient)
    await crew.share(ann, slow)
    postgres._signal(signal.SIGINT)  # an orderly restart: the beats are still there, and old
    slow.signal(signal.SIGSTOP)
    await until(lambda: not ann.leases.is_fresh())
    await asyncio.sleep(2 * patient.beat_every)
    starting = asyncio.create_task(asyncio.to_thread(postgres.start))
    await crew.rounds(ann, 1)
    slow.signal(signal.SIGCONT)
    await starting
    await crew.reconnect()
    await crew.rounds(ann, 10)
    assert await crew.gone() == set()
    assert not slow.fenced


async def test_nobody_is_late_because_the_clock_of_postgresql_was_set(crew):
    ann, bob = await crew.add(), await crew.add()
    await crew.share(ann, bob)
    for _ in range(5):
        for member in (ann, bob):
            member.leases._heart._beaten -= 3600
        await crew.db.execute("UPDATE beats SET at = at - interval '1 hour'")
        await crew.rounds(ann, 3)
        await crew.rounds(bob, 3)
    assert await crew.gone() == set()


# The rooms' clock.


async def test_clocks_follow_the_one_ahead_and_never_go_back(crew):
    ann, bob = await crew.add(clock=1000.0), await crew.add(clock=5.0)
    await until(lambda: bob.clock.jumps)
    assert bob.clock.now() == pytest.approx(ann.clock.now(), abs=1.0)
    assert not ann.clock.jumps
    cid = await crew.add(clock=2000.0)
    await until(lambda: min(ann.clock.now(), bob.clock.now()) > 2000.0)
    assert not cid.clock.jumps


async def test_the_clock_of_the_dead_is_followed_as_well(crew):
    ann = await crew.add(clock=1000.0)
    await crew.share(ann)
    await ann.die()
    bob = await crew.add()
    await until(lambda: bob.clock.now() > 1000.0)


async def test_the_clock_of_a_worker_that_stopped_is_kept(crew):
    ann = await crew.add(clock=1000.0)
    await ann.leases.stop()
    assert await crew.db.fetchval("SELECT clock FROM workers WHERE id = $1", ann.me) > 1000.0


async def test_time_in_which_no_worker_ran_does_not_count(crew):
    ann = await crew.add(clock=1000.0)
    await crew.share(ann)
    await ann.die()
    await crew.db.execute("UPDATE beats SET at = at - interval '1 day'")
    bob = await crew.add(clock=1000.0)
    await crew.share(bob)
    assert max(bob.gaps) < 60.0

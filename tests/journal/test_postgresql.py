"""What only the journal in PostgreSQL promises: what becomes of writes when the database or the line dies."""

import asyncio
import os
import signal
import time
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, cast

import asyncpg
import pytest

from parlour.journal.base import (
    Conflict,
    Fenced,
    NotKept,
    OutcomeUnknown,
    Record,
    RecordQuery,
    StepWrites,
    Unchanged,
)
from parlour.journal.postgresql import PostgresJournal
from parlour.journal.postgresql.connection import ANSWER_WITHIN
from parlour.journal.postgresql.schema import connect
from parlour.journal.postgresql.writes import append_alone
from parlour.journal.rows import row_of
from parlour.server.secret import secret_of
from tests.journal.made import ANN, BOB, STATE, append, listed, step, steps, summary
from tests.journal.outages import (
    NOTHING,
    STEP,
    TABLE,
    Plays,
    begin,
    cut,
    locked,
    opened,
    outcome,
    pid_of,
    until,
    waits_for_a_lock,
)

# A database that dies.


async def test_a_database_that_crashes_loses_nothing_acknowledged_and_refuses_nothing_that_was_kept(
    own_postgres,
):
    async with opened(own_postgres.new_url()) as journal:
        plays = Plays(journal, [await journal.create(summary(f"R{n}"), STATE, None) for n in range(24)])

        async with plays.going_on():
            for _ in range(2):
                await plays.one_more_each()
                await asyncio.to_thread(own_postgres.crash)
                await asyncio.to_thread(own_postgres.start)
            await plays.one_more_each()
        for room, last in plays.rooms.items():
            assert [made.seq async for made in journal.replay(room)] == list(range(1, last + 1))
    assert plays.refused, "it was never away"


async def test_while_postgresql_is_away_writes_and_reads_are_refused_at_once_and_go_on_when_it_is_back(
    own_postgres,
):
    async with opened(own_postgres.new_url()) as journal:
        room = await journal.create(summary(), STATE, None)
        await journal.find(room)
        own_postgres.crash()
        await until(lambda: is_closed(journal))
        try:
            begun = time.monotonic()
            for _ in range(5):
                with pytest.raises(NotKept, match="cannot reach the database"):
                    await append(journal, room, step(1), NOTHING)
                with pytest.raises(NotKept):
                    await append(journal, room, step(1), StepWrites(due=1.0))
                with pytest.raises(NotKept):
                    await journal.keep(Record("note", "n", b""))
                with pytest.raises(NotKept):
                    await journal.find(room)
            assert time.monotonic() - begun < 1
        finally:
            await asyncio.to_thread(own_postgres.start)
        await append(journal, room, step(1), NOTHING)
        assert await listed(journal.replay(room)) == [step(1)]


async def is_closed(journal):
    return journal._writer._line._db.is_closed() and all(db.is_closed() for db in journal._readers._idle)


@contextmanager
def frozen(postgres):
    """PostgreSQL is there, and does nothing."""
    pids = [int(pid) for pid in processes(postgres)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def processes(postgres):
    parent = postgres._server.pid
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text("ascii").split()
    return [parent, *children]


async def test_a_frozen_postgresql_makes_nobody_wait_for_long_and_what_was_sent_is_not_refused(own_postgres):
    async with opened(own_postgres.new_url()) as journal:
        rooms = [await journal.create(summary(f"R{n}"), STATE, None) for n in range(12)]
        await journal.find(rooms[0])
        with frozen(own_postgres):
            begun = time.monotonic()
            writes = [begin(append(journal, room, step(1), NOTHING)) for room in rooms[:6]]
            await asyncio.sleep(0)
            late = [begin(append(journal, room, step(1), StepWrites(due=1.0))) for room in rooms[6:]]
            reads = [begin(journal.find(room)) for room in rooms]
            troubles = await asyncio.gather(*writes, *late, *reads)
            took = time.monotonic() - begun
            # The next ones, too: there is no connection any more, and none to be had.
            again = await asyncio.gather(
                begin(append(journal, rooms[0], step(1), NOTHING)), begin(journal.find(rooms[0]))
            )
        assert took < 4, took
        assert {type(trouble) for trouble in troubles[:6]} == {OutcomeUnknown}
        assert {type(trouble) for trouble in (*troubles[6:], *again)} == {NotKept}
        await until(lambda: writes_again(journal))
        for room in rooms[6:]:
            assert (await journal.recall((await journal.find(room)).summary.id)).steps == []


async def writes_again(journal):
    return await outcome(journal.beat(1.0)) is None


# A connection that is cut.


@pytest.mark.parametrize("lock", [TABLE, STEP])
@pytest.mark.parametrize("writes", [NOTHING, StepWrites(due=5.0)], ids=["alone", "beside"])
async def test_a_write_that_is_cut_while_it_waits_for_a_lock_is_told_as_not_kept(
    journal, url, db, writes, lock
):
    room = await journal.create(summary(), STATE, None)
    async with locked(url, lock):
        writing = begin(append(journal, room, step(1), writes))
        await waits_for_a_lock(db, pid_of(journal))
        await cut(db, pid_of(journal))
        trouble = await writing
    assert type(trouble) is NotKept
    assert await listed(journal.replay(room)) == []
    await append(journal, room, step(1), writes)
    assert await listed(journal.replay(room)) == [step(1)]


class LostAnswers:
    """A connection that is cut when a statement is done, before its answer arrives."""

    def __init__(self, db, statement):
        self._db, self._statement = db, statement

    def __getattr__(self, name):
        method = getattr(self._db, name)
        if name not in ("execute", "fetchrow"):
            return method

        async def ask(sql, *values):
            answer = await method(sql, *values)
            if self._statement in sql:
                self._db.terminate()
                raise asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")
            return answer

        return ask


@pytest.mark.parametrize(
    ("statement", "writes"), [("INSERT INTO steps", NOTHING), ("COMMIT", StepWrites(due=5.0))]
)
async def test_a_write_whose_answer_is_lost_is_told_as_kept(journal, statement, writes):
    rooms = [await journal.create(summary(f"R{n}"), STATE, None) for n in range(3)]
    await append(journal, rooms[1], step(1, player=BOB.id), NOTHING)
    line = journal._writer._line
    line._db = LostAnswers(line._db, statement)
    wishes = [step(1), step(2, before=step(1, player=BOB.id).digest), step(1)]
    outcomes = await asyncio.gather(
        *(begin(append(journal, room, made, writes)) for room, made in zip(rooms, wishes, strict=True))
    )
    assert outcomes == [None] * 3
    assert [found.seq for found in [await journal.find(room) for room in rooms]] == [1, 2, 1]


async def test_a_room_whose_answer_is_lost_is_told_its_number(journal):
    line = journal._writer._line
    line._db = LostAnswers(line._db, "COMMIT")
    number = await journal.create(summary(), STATE, None)
    assert (await journal.find("ABCD")).number == number


async def test_a_step_that_was_taken_is_told_so_although_the_answer_is_lost(journal, second):
    room = await journal.create(summary(), STATE, None)
    await append(second, room, step(1, player=BOB.id), NOTHING)
    line = journal._writer._line
    line._db = LostAnswers(line._db, "INSERT INTO steps")
    with pytest.raises(Conflict, match=f"step 1 of room {room} has no place"):
        await append(journal, room, step(1), NOTHING)


async def test_a_write_before_whose_end_the_connection_breaks_is_told_as_not_kept(journal):
    line = journal._writer._line
    line._db = LostAnswers(line._db, "INSERT INTO rooms")
    with pytest.raises(NotKept, match="closed in the middle"):
        await journal.create(summary(), STATE, None)
    assert await journal.find("ABCD") is None


async def test_the_outcome_is_not_known_only_when_postgresql_does_not_come_back_in_time(own_postgres):
    async with opened(own_postgres.new_url(), settle_within=0.3) as journal:
        room = await journal.create(summary(), STATE, None)
        async with crashed_under_lock(own_postgres, journal._url, journal, room) as writing:
            assert isinstance(await writing, OutcomeUnknown)
        await until(lambda: writes_again(journal))
        assert await listed(journal.replay(room)) == []


@asynccontextmanager
async def crashed_under_lock(postgres, url, journal, room):
    """A step is in flight when the database goes; it comes back at the end."""
    holder, watcher = await connect(url), await connect(url)
    await holder.execute("BEGIN")
    await holder.execute(STEP)
    writing = begin(append(journal, room, step(1), NOTHING))
    await waits_for_a_lock(watcher, pid_of(journal))
    await asyncio.to_thread(postgres.crash)
    try:
        yield writing
    finally:
        await asyncio.to_thread(postgres.start)
        holder.terminate()
        watcher.terminate()


async def test_a_write_that_takes_too_long_is_settled_like_one_whose_connection_broke(journal, url, db):
    """The lock outlasts the time for an answer, and PostgreSQL's own limit is out of order."""
    await journal._writer._line._db.execute("SET statement_timeout = 0")
    room = await journal.create(summary(), STATE, None)
    async with locked(url):
        begun = time.monotonic()
        trouble = await outcome(append(journal, room, step(1), NOTHING))
    assert isinstance(trouble, NotKept | OutcomeUnknown)
    assert time.monotonic() - begun >= ANSWER_WITHIN
    await until(lambda: writes_again(journal))
    kept = await listed(journal.replay(room))
    assert kept == [] or isinstance(trouble, OutcomeUnknown)


async def test_a_statement_that_postgresql_gives_up_is_not_kept_and_the_next_one_is(journal, url, db):
    room = await journal.create(summary(), STATE, None)
    async with locked(url):
        writing = begin(append(journal, room, step(1), NOTHING))
        await waits_for_a_lock(db, pid_of(journal))
        assert await db.fetchval("SELECT pg_cancel_backend($1)", pid_of(journal))
        assert type(await writing) is NotKept
    await append(journal, room, step(1), NOTHING)


# The fence.


async def test_a_worker_that_was_declared_gone_keeps_nothing_any_more_and_is_told_once(journal, second, db):
    room = await journal.create(summary(), STATE, None)
    told = []
    journal.fenced = lambda: told.append(journal.me)
    await db.execute("UPDATE workers SET gone = true WHERE id = $1", journal.me)
    wishes = [
        append(journal, room, step(1), NOTHING),
        append(journal, room, step(1), StepWrites(due=1.0)),
        journal.create(summary("NEW"), STATE, None),
        journal.keep(Record("note", "n", b"")),
        journal.beat(99.0),
    ]
    troubles = [await outcome(wish) for wish in wishes]
    assert [type(trouble) for trouble in troubles] == [Fenced] * len(wishes)
    assert issubclass(Fenced, Conflict)
    assert told == [journal.me]
    assert await listed(second.replay(room)) == []
    assert await second.find("NEW") is None
    await append(second, room, step(1), NOTHING)


async def test_a_worker_that_is_declared_gone_while_its_line_is_cut_hears_what_was_kept(journal, db):
    room = await journal.create(summary(), STATE, None)
    line = journal._writer._line
    line._db = LostAnswers(line._db, "INSERT INTO steps")
    gone = "UPDATE workers SET gone = true WHERE id = $1"

    async def look_up(*_):
        await db.execute(gone, journal.me)
        return await type(line)._connect(line)

    line._connect = look_up
    await append(journal, room, step(1), NOTHING)
    with pytest.raises(Fenced):
        await append(journal, room, steps(2)[1], NOTHING)
    assert await listed(journal.replay(room)) == [step(1)]


async def test_a_worker_that_is_forgotten_while_its_line_is_cut_does_not_know_what_was_kept(journal, db):
    room = await journal.create(summary(), STATE, None)
    line = journal._writer._line
    line._db = LostAnswers(line._db, "INSERT INTO steps")

    async def look_up(*_):
        await db.execute("DELETE FROM workers WHERE id = $1", journal.me)
        return await type(line)._connect(line)

    line._connect = look_up
    assert type(await outcome(append(journal, room, step(1), NOTHING))) is OutcomeUnknown
    assert type(await outcome(append(journal, room, steps(2)[1], NOTHING))) is Fenced
    assert await listed(journal.replay(room)) == [step(1)]


WORKERS = """INSERT INTO workers (address, gone, clock)
    SELECT 'old:' || n, true, n FROM generate_series(1, $1::int) n"""


async def test_a_start_forgets_the_gone_but_for_the_last_hundred(journal, db, url):
    await db.execute(WORKERS, 250)
    await db.execute("UPDATE workers SET gone = false WHERE address = 'old:1'")
    await db.execute(
        "UPDATE shards SET owner = (SELECT id FROM workers WHERE address = 'old:2') WHERE shard = 7"
    )
    await db.execute(
        "UPDATE shards SET wanted = (SELECT id FROM workers WHERE address = 'old:3') WHERE shard = 8"
    )
    await db.execute("INSERT INTO beats SELECT id, now(), 0, true FROM workers WHERE address = 'old:4'")
    async with opened(url) as second:
        left = {
            address for (address,) in await db.fetch("SELECT address FROM workers WHERE address LIKE 'old:%'")
        }
        assert left == {f"old:{n}" for n in (1, 2, 3, 4, *range(151, 251))}
        assert await db.fetchval("SELECT gone FROM workers WHERE id = $1", journal.me) is False
        assert await db.fetchval("SELECT max(clock) FROM workers WHERE id = $1", second.me) == 250


async def test_a_transaction_that_nobody_goes_on_with_is_given_up_by_the_database(journal):
    """Else a worker that is frozen within one would keep its locks, and could not be declared gone."""
    db = await journal._writer._line.current()
    assert await db.fetchval("SHOW idle_in_transaction_session_timeout") == "1500ms"
    assert await db.fetchval("SHOW statement_timeout") == "1500ms"


async def test_who_declares_a_worker_gone_waits_for_what_it_has_begun(journal, url, db):
    room = await journal.create(summary(), STATE, None)
    async with locked(url):
        writing = begin(append(journal, room, step(1), NOTHING))
        await waits_for_a_lock(db, pid_of(journal))
        burying = asyncio.ensure_future(
            db.execute("UPDATE workers SET gone = true WHERE id = $1", journal.me)
        )
        watcher = await connect(url)
        await waits_for_a_lock(watcher, db.get_server_pid())
        await watcher.close()
    assert await writing is None
    await burying
    with pytest.raises(Fenced):
        await append(journal, room, steps(2)[1], NOTHING)


async def test_what_an_older_connection_still_sends_is_not_kept(journal):
    room = await journal.create(summary(), STATE, None)
    line = journal._writer._line
    old, number = line._db, line.number
    line._db = None
    await journal.beat(1.0)
    assert line.number == number + 1
    with pytest.raises(Fenced):
        await append_alone(old, (journal.me, 9.0, number, 99), [row_of(room, step(1))])
    assert await listed(journal.replay(room)) == []
    old.terminate()


# Several at once.


async def test_one_bad_write_of_a_batch_does_not_hurt_the_others(journal):
    rooms = [await journal.create(summary(f"R{n}"), STATE, None) for n in range(4)]
    huge = 2**63  # no number of a room: PostgreSQL has no place for it
    outcomes = await asyncio.gather(
        *(begin(append(journal, room, step(1), NOTHING)) for room in (*rooms[:2], huge)),
        *(begin(append(journal, room, step(1), StepWrites(due=1.0))) for room in (*rooms[2:], huge)),
        begin(append(journal, rooms[0], step(9), StepWrites(records=(cast("Any", object()),)))),
    )
    assert [type(trouble) for trouble in outcomes] == [
        type(None), type(None), NotKept, type(None), type(None), NotKept, NotKept
    ]  # fmt: skip
    for room in rooms:
        assert await listed(journal.replay(room)) == [step(1)]


async def test_text_that_cannot_be_kept_costs_only_its_own_caller(journal):
    room = await journal.create(summary(), STATE, None)
    with pytest.raises(NotKept, match="surrogates not allowed"):
        await journal.keep(Record("note", "half \ud800", b""))
    with pytest.raises((UnicodeEncodeError, NotKept)):
        await append(journal, room, step(1, id="half \udfff"), NOTHING)
    await append(journal, room, step(1), NOTHING)


async def test_of_two_workers_who_write_the_same_step_one_gets_it(journal, second):
    room = await journal.create(summary(), STATE, None)
    won: list[int] = []

    async def race(owner, player):
        for made in steps(30, player=player):
            writes = StepWrites(due=1.0) if made.seq % 3 == 0 else NOTHING
            trouble = await outcome(append(owner, room, made, writes))
            assert trouble is None or isinstance(trouble, Conflict), trouble
            won.extend([made.seq] if trouble is None else [])

    await asyncio.gather(race(journal, ANN.id), race(second, BOB.id))
    assert sorted(won) == list(range(1, 31))


async def test_a_write_that_another_worker_was_in_the_way_of_is_tried_again(journal, url, db):
    """Each locks what the other wants next, and PostgreSQL gives up ours."""
    await journal.keep(Record("note", "one", b"before"), Record("note", "two", b"before"))
    change = "UPDATE records SET sort = 7 WHERE key = $1"
    async with locked(url, "SET deadlock_timeout = '20s'") as other:
        await other.execute(change, "two")
        writing = begin(journal.keep(Record("note", "one", b"after"), Record("note", "two", b"after")))
        await waits_for_a_lock(db, pid_of(journal))
        await other.execute(change, "one")
    assert await writing is None
    assert {record.body for record in await journal.records(RecordQuery("note"))} == {b"after"}


async def test_of_two_workers_who_change_the_record_that_both_have_read_one_succeeds(journal, second):
    was = Record("score", "ann", b"1500")
    await journal.keep(was)
    wishes = [
        begin(owner.keep(Unchanged(was), Record("score", "ann", b"%d" % owner.me)))
        for owner in (journal, second)
    ]
    troubles = await asyncio.gather(*wishes)
    assert sorted(type(trouble).__name__ for trouble in troubles) == ["Conflict", "NoneType"]


async def test_two_workers_who_make_a_secret_at_once_share_it(journal, second):
    secrets = await asyncio.gather(*(secret_of(owner, "signing") for owner in (journal, second) * 3))
    assert len(set(secrets)) == 1


async def test_two_who_open_a_new_database_at_once_share_it(url):
    journals = [PostgresJournal(url, "disk") for _ in range(4)]
    for one in journals:
        one.share()
    assert await asyncio.gather(*(journal.open() for journal in journals)) == [0.0] * 4
    assert len({journal.me for journal in journals}) == 4
    await journals[0].create(summary(), STATE, None)
    assert await journals[1].find("ABCD") is not None
    await asyncio.gather(*(journal.close() for journal in journals))


async def test_the_clock_of_two_workers_never_goes_back(journal, second, url):
    await journal.beat(9.0)
    await second.beat(5.0)
    third = PostgresJournal(url, "disk")
    third.share()
    assert await third.open() == 9.0
    await third.close()

"""What only the journal in a file promises: whose file it is, what it survives, what it costs."""

import asyncio
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from parlour.journal.base import (
    Chain,
    Conflict,
    Damaged,
    DiskFailed,
    Durability,
    Foreign,
    Found,
    NotKept,
    Record,
    RecordQuery,
    StepWrites,
    Stored,
    TooNew,
)
from parlour.journal.sqlite import SqliteJournal
from parlour.journal.sqlite import file as file_module
from parlour.journal.sqlite.pruning import PAGES_AT_ONCE, SPARE_PAGES
from parlour.server.secret import secret_of
from parlour.wire import digest
from tests.journal.made import ANN, BOB, STATE, append, listed, step, steps, summary

NOTHING = StepWrites()
PAGE_SIZE = 4096
YESTERDAYS = Path(__file__).parents[1] / "data" / "format-3" / "parlour.db"


@pytest.fixture
def file(tmp_path):
    return tmp_path / "data" / "parlour.db"


@pytest.fixture
async def journal(file):
    journal = SqliteJournal(file.parent, "disk")
    await journal.open()
    yield journal
    await journal.close()


@pytest.fixture
async def second(journal, file):
    """Another handle on the same file, as another process would have it."""
    second = SqliteJournal(file.parent, "disk")
    await second.open()
    yield second
    await second.close()


def connect(file):
    return closing(sqlite3.connect(file, isolation_level=None))


@contextmanager
def held(file):
    """Nobody else can write for a while."""
    with connect(file) as db:
        db.execute("BEGIN IMMEDIATE")
        yield
        db.execute("ROLLBACK")


async def begun(*calls):
    """The calls, each of them waiting for its answer."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    await asyncio.sleep(0)
    return tasks


def statements(journal):
    """What the writer says to SQLite from now on."""
    said: list[str] = []
    journal._writer._db.set_trace_callback(said.append)
    return said


# Whose file it is.


async def test_the_folder_and_the_file_are_made(journal, file):
    assert file.exists()
    with connect(file) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (file_module.FORMAT,)
        assert db.execute("PRAGMA application_id").fetchone() == (file_module.APPLICATION,)
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_a_file_of_the_first_format_is_brought_up_to_date_with_all_that_is_in_it(file):
    file.parent.mkdir()
    shutil.copyfile(YESTERDAYS, file)
    with connect(file) as db:
        for table in ("relays", "letters", "tickets", "standings", "results"):
            db.execute(f"DROP TABLE {table}")
        db.execute("PRAGMA user_version = 1")
    journal = SqliteJournal(file.parent, "disk")
    await journal.open()
    await journal.keep(Record("note", "n", b"hello"))
    assert await journal.record("note", "n") == Record("note", "n", b"hello")
    assert await journal.find("PLAYED") is not None
    assert len(await journal.records(RecordQuery("player"))) == 6
    while await journal.inspect(1000):
        pass
    assert journal.damages() == ()
    await journal.close()
    with connect(file) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (file_module.FORMAT,)


async def test_a_file_of_a_newer_parlour_is_refused_in_a_sentence(journal, file):
    await journal.close()
    with connect(file) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(TooNew) as refusal:
        await journal.open()
    assert str(refusal.value) == (
        f"{file} has format 99, and this Parlour reads formats up to {file_module.FORMAT}: "
        "start the newer Parlour that wrote it, or choose another data folder"
    )


async def test_a_file_of_another_application_is_refused_and_left_alone(tmp_path, file):
    file.parent.mkdir()
    with connect(file) as db:
        db.execute("CREATE TABLE recipes (name TEXT)")
    before = file.read_bytes()
    with pytest.raises(Foreign, match="belongs to another application: choose another data folder"):
        await SqliteJournal(file.parent, "disk").open()
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == ["parlour.db"]


async def test_a_file_that_is_no_database_is_refused_and_left_alone(file):
    file.parent.mkdir()
    file.write_text("Dear diary, " * 100)
    with pytest.raises(Foreign, match="is not a journal"):
        await SqliteJournal(file.parent, "disk").open()
    assert file.read_text() == "Dear diary, " * 100


async def test_a_file_whose_pages_are_damaged_is_refused_with_what_to_do(journal, file):
    for number in range(50):
        await journal.create(summary(f"R{number}"), STATE * 100, None)
    await journal.close()
    content = bytearray(file.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 64] = b"\x05" * 64
    file.write_bytes(content)
    with pytest.raises(Damaged, match=r"is damaged .*: put a backup in its place, or .* \.recover"):
        await journal.open()


async def test_tables_whose_very_names_are_damaged_are_told_of_in_a_sentence(journal, file):
    await journal.close()
    flip_to(file, b"CREATE TABLE records", b"CREATE TABLE rec\xd6rds")
    with pytest.raises(Damaged, match=r"is damaged \(malformed database schema .* \.recover$"):
        await journal.open()


def flip_to(file, before, after):
    content = file.read_bytes()
    assert content.count(before) == 1
    file.write_bytes(content.replace(before, after))


async def test_a_damaged_index_is_made_anew(journal, file):
    for number in range(20):
        await journal.create(summary(f"ROOM{number}"), STATE, None)
    await journal.close()
    with connect(file) as db:
        db.execute("PRAGMA writable_schema = ON")
        sql = "UPDATE sqlite_schema SET sql = ? WHERE name = 'all_rooms'"
        db.execute(sql, ("CREATE INDEX all_rooms ON rooms (game)",))
    with connect(file) as db:
        db.execute("REINDEX all_rooms")
        db.execute("PRAGMA writable_schema = ON")
        db.execute(sql, ("CREATE INDEX all_rooms ON rooms (id)",))
    await journal.open()
    assert (await journal.find("ROOM7")) is not None
    assert [damage.table for damage in journal.damages()] == ["file"]


async def test_a_damaged_copy_of_the_secret_or_clock_is_not_missed(journal, file):
    room = await journal.create(summary(), STATE, None)
    await append(journal, room, step(1, now=77.0), NOTHING)
    secret = await secret_of(journal)
    await journal.close()
    with connect(file) as db:
        db.execute("UPDATE records SET body = ? WHERE kind = 'secret' AND key = '1'", (b"x" * 32,))
        db.execute("UPDATE clock SET now = 1e300")
    assert await journal.open() == 77.0
    assert await secret_of(journal) == secret
    assert {damage.table for damage in journal.damages()} == {"records", "clock"}
    await journal.beat(78.0)
    await journal.close()
    assert await journal.open() == 78.0
    assert await secret_of(journal) == secret
    assert journal.damages() == ()


async def test_a_damaged_state_is_not_missed_where_an_older_one_leads_to_the_same_room(journal, file):
    room = await journal.create(summary(), STATE, None)
    for made in steps(4):
        await append(journal, room, made, StepWrites(state=b"later") if made.seq == 3 else NOTHING)
    with connect(file) as db:
        db.execute("UPDATE states SET body = ? WHERE seq = 3", (b"wrong",))
    recalled = await journal.recall("ABCD")
    assert recalled is not None
    assert (recalled.stored, recalled.steps) == (Stored(0, STATE), steps(4))


async def test_a_room_is_not_forgotten_early_because_its_row_is_damaged(journal, file):
    room = await journal.create(summary(ended="game_ended", ended_at=50.0), STATE, None)
    await journal.create(summary("OLD", ended="game_ended", ended_at=2.0), STATE, None)
    with connect(file) as db:
        db.execute("UPDATE rooms SET ended_at = 1.0 WHERE number = ?", (room,))
    await journal.prune(10.0, 1)
    assert await journal.find("OLD") is None
    with pytest.raises(Damaged):
        await journal.find("ABCD")


async def test_the_file_shrinks_when_much_is_forgotten(journal, file):
    for number in range(200):
        ended = summary(f"R{number}", ended="game_ended", ended_at=1.0)
        await journal.create(ended, bytes(20_000), None)
    await journal.close()
    before = file.stat().st_size
    await journal.open()
    for _ in range(50):
        await journal.prune(2.0, 50)
    await journal.close()
    spare = SPARE_PAGES + PAGES_AT_ONCE
    assert before > 900 * PAGE_SIZE
    assert file.stat().st_size < (spare + 50) * PAGE_SIZE


async def test_a_small_file_of_an_older_format_can_shrink_from_now_on(file):
    file.parent.mkdir()
    shutil.copyfile(YESTERDAYS, file)
    journal = SqliteJournal(file.parent, "disk")
    await journal.open()
    await journal.close()
    with connect(file) as db:
        assert db.execute("PRAGMA auto_vacuum").fetchone() == (2,)


async def test_a_file_that_cannot_be_opened_is_said_to_be_so(file):
    file.mkdir(parents=True)
    with pytest.raises(NotKept, match="cannot be read: unable to open"):
        await SqliteJournal(file.parent, "disk").open()


async def test_an_empty_file_is_a_new_journal(file):
    file.parent.mkdir()
    file.touch()
    journal = SqliteJournal(file.parent, "disk")
    assert await journal.open() == 0.0
    await journal.close()


async def test_an_open_journal_is_not_opened_twice(journal):
    with pytest.raises(RuntimeError):
        await journal.open()


# What it survives.


@pytest.mark.parametrize(("durability", "level"), [("disk", 2), ("process", 1)])
async def test_only_the_disk_is_waited_for_that_was_asked_for(tmp_path, durability: Durability, level):
    journal = SqliteJournal(tmp_path, durability)
    await journal.open()
    assert journal._writer is not None
    assert journal._writer._db.execute("PRAGMA synchronous").fetchone() == (level,)
    await journal.close()


async def test_a_closed_journal_is_one_file_and_its_mark(journal, file):
    await journal.create(summary(), STATE, None)
    await journal.close()
    assert sorted(path.name for path in file.parent.iterdir()) == ["parlour.db", "parlour.mark"]


def killed_while_appending(folder: Path, after: int) -> list[tuple[int, int]]:
    """The (room, seq) that a process acknowledged before it was killed in the middle of its work."""
    command = [sys.executable, "-m", "tests.journal.append_forever", str(folder)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(after)]
        process.kill()
        lines += process.stdout.readlines()
    whole = [line.split() for line in lines if line.endswith("\n")]
    return [(int(room), int(seq)) for room, seq in whole]


async def test_what_was_acknowledged_survives_kill_9(tmp_path):
    acknowledged = killed_while_appending(tmp_path, after=100)
    journal = SqliteJournal(tmp_path, "disk")
    clock = await journal.open()
    kept = {(room, made.seq) for room in range(1, 6) async for made in journal.replay(room)}
    assert len(acknowledged) >= 100
    assert set(acknowledged) <= kept
    assert clock == max(seq for _, seq in kept)
    await journal.close()


def flip(file, body):
    """One bit goes bad where these bytes lie."""
    content = bytearray(file.read_bytes())
    assert content.count(body) == 1
    content[content.index(body) + len(body) // 2] ^= 1
    file.write_bytes(content)


async def test_a_flipped_bit_costs_one_room_its_history_from_there_on(journal, file):
    good = await journal.create(summary("GOOD"), STATE, None)
    bad = await journal.create(summary("BAD"), STATE, None)
    for made in steps(3, player=BOB.id):
        await append(journal, bad, made, NOTHING)
    for made in steps(3):
        await append(journal, good, made, NOTHING)
    await journal.close()
    flip(file, steps(3, player=BOB.id)[1].body)
    await journal.open()
    replay = journal.replay(bad)
    assert await anext(replay) == steps(1, player=BOB.id)[0]
    with pytest.raises(Damaged, match=f"steps: the row with room '{bad}', seq '2' is not as it was written"):
        await anext(replay)
    assert await listed(journal.replay(good)) == steps(3)


async def test_a_write_that_fails_by_a_fault_of_ours_is_not_kept_and_its_neighbours_are(journal):
    good = await journal.create(summary("GOOD"), STATE, None)
    bad = await journal.create(summary("EVIL"), STATE, None)
    first, no_change = step(1), cast("Any", object())
    async with asyncio.timeout(10):
        results = await asyncio.gather(
            append(journal, good, first, NOTHING),
            append(journal, bad, first, StepWrites(records=(no_change,))),
            return_exceptions=True,
        )
    assert [type(result) for result in results] == [type(None), NotKept]
    assert results[1] is not None
    assert isinstance(results[1].__cause__, TypeError)
    assert await listed(journal.replay(good)) == [first]
    assert await listed(journal.replay(bad)) == []


@pytest.mark.parametrize("body", [b"", b"{}", b'{"seq":"\xff"}', b'{"seq":1,"x":' + b"[" * 5000])
def test_a_step_that_cannot_be_read_is_damage(body):
    with pytest.raises(Damaged, match="room 7: step 1 cannot be read"):
        Chain(7, 0).read(1, body, digest(body))


async def test_a_flipped_bit_in_a_state_is_noticed(journal, file):
    room = await journal.create(summary(), b"the only state of its kind", None)
    await journal.close()
    flip(file, b"the only state of its kind")
    await journal.open()
    with pytest.raises(Damaged, match=f"room {room}: its state is not as it was written"):
        await journal.stored(room)


async def test_a_summary_that_cannot_be_read_is_damaged(journal, file):
    await journal.create(summary(), STATE, None)
    with connect(file) as db:
        db.execute("UPDATE rooms SET card = '{'")
    with pytest.raises(Damaged):
        await journal.find("ABCD")


async def test_a_full_disk_refuses_and_works_again_when_there_is_room(journal):
    room = await journal.create(summary(), STATE, None)
    await append(journal, room, steps(1)[0], NOTHING)
    db = journal._writer._db
    db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0]}")
    with pytest.raises(NotKept, match="not kept: database or disk is full"):
        await append(journal, room, steps(2)[1], StepWrites(state=b"x" * 100_000))
    assert await listed(journal.replay(room)) == steps(1)
    db.execute("PRAGMA max_page_count = 1000000")
    await append(journal, room, steps(2)[1], StepWrites(state=b"x" * 100_000))
    assert await listed(journal.replay(room)) == steps(2)


class FailingDisk:
    """A connection whose commits meet a disk that cannot flush."""

    def __init__(self, db):
        self._db = db
        self.failing = True

    def execute(self, sql, *values):
        if sql == "COMMIT" and self.failing:
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorname = "SQLITE_IOERR_FSYNC"
            raise error
        return self._db.execute(sql, *values)

    def __getattr__(self, name):
        return getattr(self._db, name)


async def test_after_a_failed_disk_nothing_is_written_until_the_file_is_opened_again(journal):
    room = await journal.create(summary(), STATE, None)
    disk = journal._writer._db = FailingDisk(journal._writer._db)
    with pytest.raises(DiskFailed, match="disk I/O error"):
        await append(journal, room, step(1), NOTHING)
    assert await listed(journal.replay(room)) == []
    disk.failing = False
    with pytest.raises(DiskFailed, match="disk I/O error"):
        await append(journal, room, step(1), NOTHING)
    await journal.close()
    await journal.open()
    await append(journal, room, step(1), NOTHING)
    assert await listed(journal.replay(room)) == [step(1)]


async def test_a_write_waits_only_so_long_for_another_process(monkeypatch, file):
    monkeypatch.setattr(file_module, "BUSY_TIMEOUT", 0.0)
    journal = SqliteJournal(file.parent, "disk")
    await journal.open()
    room = await journal.create(summary(), STATE, None)
    with held(file), pytest.raises(NotKept, match="database is locked"):
        await append(journal, room, step(1), NOTHING)
    await append(journal, room, step(1), NOTHING)
    await journal.close()


# Several at once.


async def test_whatever_waits_is_written_in_one_transaction(journal, file):
    rooms = [await journal.create(summary(f"R{n}"), STATE, None) for n in range(100)]
    said = statements(journal)
    with held(file):
        appends = await begun(*(append(journal, room, step(1), NOTHING) for room in rooms))
    await asyncio.gather(*appends)
    # The first may be on its way before the others come.
    assert said.count("COMMIT") <= 2
    assert sum(line.startswith("INSERT INTO steps") for line in said) <= 5  # by 64, 32 and so on
    for room in rooms:
        assert await listed(journal.replay(room)) == [step(1)]


async def test_a_taken_number_fails_only_its_own_caller(journal, file):
    rooms = [await journal.create(summary(f"R{n}"), STATE, None) for n in range(10)]
    await append(journal, rooms[4], step(1, player=BOB.id), NOTHING)
    with held(file):
        appends = await begun(*(append(journal, room, step(1), NOTHING) for room in rooms))
    outcomes = await asyncio.gather(*appends, return_exceptions=True)
    assert [number for number, outcome in enumerate(outcomes) if outcome is not None] == [4]
    assert isinstance(outcomes[4], Conflict)
    for room in rooms[:4] + rooms[5:]:
        assert await listed(journal.replay(room)) == [step(1)]


async def test_when_a_transaction_fails_nothing_of_it_is_kept_and_nobody_is_told_so(journal, file):
    rooms = [await journal.create(summary(f"R{n}"), STATE, None) for n in range(10)]
    journal._writer._db = FailingDisk(journal._writer._db)
    with held(file):
        appends = await begun(*(append(journal, room, step(1), NOTHING) for room in rooms))
    outcomes = await asyncio.gather(*appends, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [DiskFailed] * 10
    assert [await listed(journal.replay(room)) for room in rooms] == [[]] * 10


async def test_two_owners_of_one_room_cannot_both_write_its_next_step(journal, second):
    room = await journal.create(summary(), STATE, None)
    await append(journal, room, step(1), NOTHING)
    with pytest.raises(Conflict, match=f"step 1 of room {room}"):
        await append(second, room, step(1, player=BOB.id), NOTHING)
    with pytest.raises(Conflict):
        await second.update_room(room, stored=Stored(0, b"stale"))
    assert await listed(second.replay(room)) == [step(1)]


async def test_two_owners_who_race_share_the_steps_without_gap_or_double(journal, second):
    room = await journal.create(summary(), STATE, None)
    won: list[int] = []

    async def race(owner, player):
        for made in steps(50, player=player):
            try:
                await append(owner, room, made, NOTHING)
            except Conflict:
                continue
            won.append(made.seq)

    await asyncio.gather(race(journal, ANN.id), race(second, BOB.id))
    assert sorted(won) == list(range(1, 51))


async def test_two_who_open_a_new_file_at_once_share_it(file):
    journals = [SqliteJournal(file.parent, "disk") for _ in range(2)]
    assert await asyncio.gather(*(journal.open() for journal in journals)) == [0.0, 0.0]
    room = await journals[0].create(summary(), STATE, None)
    assert await journals[1].find("ABCD") == Found(room, 0, summary())
    await asyncio.gather(*(journal.close() for journal in journals))


async def test_the_clock_of_two_owners_never_goes_back(journal, second):
    await journal.beat(9.0)
    await second.beat(5.0)
    await journal.close()
    assert await journal.open() == 9.0


async def test_every_read_sees_the_write_before_it(journal):
    room = await journal.create(summary(), STATE, None)
    for made in steps(50):
        await append(journal, room, made, NOTHING)
        assert await journal.find("ABCD") == Found(room, made.seq, summary())


async def test_reads_do_not_wait_for_a_writer(journal, file):
    room = await journal.create(summary(), STATE, None)
    with held(file):
        appends = await begun(append(journal, room, step(1), NOTHING))
        assert await journal.find("ABCD") == Found(room, 0, summary())
    await asyncio.gather(*appends)

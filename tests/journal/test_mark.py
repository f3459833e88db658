"""A journal that has lost something is noticed by the mark beside it; one that was only killed is not."""

import shutil

import pytest

from parlour.journal.base import Lost, StepWrites
from parlour.journal.sqlite import SqliteJournal
from tests.journal.made import STATE, append, listed, steps, summary

DB, WAL, MARK = "parlour.db", "parlour.db-wal", "parlour.mark"


@pytest.fixture
async def crashed(tmp_path):
    """The files as they are after a crash: ten steps, a second apart, are in the log."""
    running = tmp_path / "running"
    journal = SqliteJournal(running, "disk")
    await journal.open()
    await journal.beat(100.0)
    await journal.close()
    await journal.open()
    room = await journal.create(summary(), STATE, None)
    for made in steps(10):
        await append(journal, room, made, StepWrites())
        await journal.beat(100.0 + made.seq)
    folder = tmp_path / "crashed"
    shutil.copytree(running, folder)
    await journal.close()
    return folder


async def opened(folder, durability="disk", **more):
    """Open and close it; how many steps there are and what was damaged."""
    journal = SqliteJournal(folder, durability, **more)
    await journal.open()
    try:
        return len(await listed(journal.replay(1))), list(journal.damages())
    finally:
        await journal.close()


async def test_a_journal_that_was_killed_has_lost_nothing(crashed):
    assert await opened(crashed) == (10, [])
    assert await opened(crashed) == (10, [])


async def test_a_lost_log_is_noticed_and_told_and_only_an_operator_goes_on(crashed):
    (crashed / WAL).unlink()
    with pytest.raises(
        Lost, match=r"ends 10.0 s before it last did.*parlour.db-wal is missing.*--accept-loss"
    ):
        await opened(crashed)
    with pytest.raises(Lost):
        await opened(crashed)
    steps, damages = await opened(crashed, accept_loss=True)
    assert steps == 0
    assert [damage.table for damage in damages] == ["file"]
    assert await opened(crashed) == (0, [])


async def test_the_lost_log_of_a_journal_that_was_never_closed_is_noticed(tmp_path):
    journal = SqliteJournal(tmp_path / "running", "disk")
    await journal.open()
    await journal.beat(5.0)
    shutil.copytree(tmp_path / "running", tmp_path / "crashed")
    await journal.close()
    (tmp_path / "crashed" / WAL).unlink()
    with pytest.raises(Lost, match="is empty"):
        await opened(tmp_path / "crashed")


async def test_a_log_that_is_cut_off_is_noticed_and_left_as_it_is(crashed):
    log = (crashed / WAL).read_bytes()
    (crashed / WAL).write_bytes(log[: len(log) // 2])
    with pytest.raises(Lost):
        await opened(crashed)
    assert (crashed / WAL).read_bytes() == log[: len(log) // 2]
    (crashed / WAL).write_bytes(log)
    assert await opened(crashed) == (10, [])


async def test_a_journal_that_is_missing_is_noticed_and_none_is_put_in_its_place(crashed):
    (crashed / WAL).unlink()
    (crashed / DB).unlink()
    with pytest.raises(Lost, match="is empty"):
        await opened(crashed)
    assert not (crashed / DB).exists()


async def test_an_older_copy_is_noticed_where_it_takes_the_place_of_a_newer_one(crashed, tmp_path):
    older = SqliteJournal(tmp_path / "older", "disk")
    await older.open()
    await older.beat(50.0)
    await older.close()
    assert await opened(crashed) == (10, [])
    shutil.copyfile(tmp_path / "older" / DB, crashed / DB)
    with pytest.raises(Lost, match="an older copy was put in its place"):
        await opened(crashed)
    (crashed / MARK).unlink()
    assert await opened(crashed) == (0, [])


async def test_where_a_loss_of_power_may_cost_moments_moments_are_no_alarm(crashed):
    (crashed / WAL).unlink()
    assert await opened(crashed, "process") == (0, [])


async def test_a_mark_that_cannot_be_read_is_no_alarm(crashed):
    for text in ("", "garbage", "1e300 0123456789abcdef", "9999.0"):
        (crashed / MARK).write_text(text)
        folder = crashed.with_name(f"copy {len(text)}")
        shutil.copytree(crashed, folder)
        assert await opened(folder) == (10, [])


async def test_a_mark_is_set_once_a_second_at_most(tmp_path):
    journal = SqliteJournal(tmp_path, "disk")
    await journal.open()
    for tenths in range(31):
        await journal.beat(tenths / 10)
        text = (tmp_path / MARK).read_text().split()[0]
        assert float(text) == tenths // 10
    await journal.close()

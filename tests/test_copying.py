"""`parlour copy`: everything is in another data folder or database afterwards, or it is said what is not."""

import asyncio
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

from parlour.cli import app
from parlour.copying import copy, opened_source
from parlour.journal import is_database, make_journal
from parlour.journal.base import Foreign, Lost, NotKept, Record, StepWrites, Unfinished
from parlour.journal.copying import COPIED
from parlour.journal.postgresql.schema import connect
from parlour.journal.rows import STEPS
from parlour.journal.sqlite import SqliteJournal
from parlour.server.gateway.http_listener import NoPlace, only_server_of
from parlour.server.secret import signing_keys
from parlour.server.tokens import Tokens, make_key, write_key
from tests.journal.made import STATE, append, step, steps, summary
from tests.test_yesterdays_data import (
    FOLDERS,
    Folder,
    test_a_move_that_was_answered_then_is_not_made_again,
    test_every_history_reads_as_it_was_told,
    test_every_room_is_as_it_was,
    test_players_come_back_to_every_open_room_and_play_on,
    test_ratings_results_and_tickets_are_as_they_were,
    test_the_tokens_of_that_day_are_still_valid,
    test_what_passed_through_relays_is_told_to_those_who_return,
)

__all__ = [
    "test_a_move_that_was_answered_then_is_not_made_again",
    "test_every_history_reads_as_it_was_told",
    "test_every_room_is_as_it_was",
    "test_players_come_back_to_every_open_room_and_play_on",
    "test_ratings_results_and_tickets_are_as_they_were",
    "test_the_tokens_of_that_day_are_still_valid",
    "test_what_passed_through_relays_is_told_to_those_who_return",
]  # run here on copies

NOTHING = StepWrites()
PLAYED = FOLDERS[-1]
"""A data folder that was really played in."""


def silent(*_):
    pass


class CopiedFolder(Folder):
    """The same evening, in another place."""

    place = ""

    def journal(self):
        return journal_at(self.place)

    async def tokens(self, world):
        if is_database(self.place):
            return Tokens(await signing_keys(world.journal), date=world.clock.date)
        return Tokens.in_folder(Path(self.place), date=world.clock.date)


def journal_at(place):
    if is_database(place):
        return make_journal(place, Path("unused"), "process")
    return make_journal("sqlite", Path(place), "process")


@pytest.fixture
def places(postgres, tmp_path):
    """Makes names of empty journals, by kind."""
    count = iter(range(100))
    return {"sqlite": lambda: str(tmp_path / f"copy-{next(count)}"), "postgresql": postgres.new_url}


@pytest.fixture(params=["postgresql", "postgresql sqlite"])
async def folder(request, tmp_path, places):
    """A folder that was played in, copied there or there and back."""
    copied = CopiedFolder(PLAYED, tmp_path / "data")
    copied.place = await brought_up_to_date(copied.path)
    for kind in request.param.split():
        copied.place, source = places[kind](), copied.place
        assert (await copy(source, copied.place, silent)).is_finished
    return copied


async def brought_up_to_date(path):
    """The folder, as a server of today leaves it."""
    journal = SqliteJournal(path, "process")
    await journal.open()
    await journal.close()
    return str(path)


async def rows_of(place):
    """Every row, as it is, but for the keys that are files elsewhere."""
    async with opened_source(place) as source:
        tables = {
            table.name: [row async for page in source.pages(table, None) for row in page] for table in COPIED
        }
        facts = (await source.clock(), await source.last_number())
    tables["records"] = [row for row in tables["records"] if not row[1].startswith("signing")]
    return {name: sorted(rows, key=repr) for name, rows in plain(tables).items()}, facts


def plain(tables):
    """SQLite has numbers where PostgreSQL has true and false."""
    truth = {True: 1, False: 0}
    return {
        name: [tuple(truth[value] if isinstance(value, bool) else value for value in row) for row in rows]
        for name, rows in tables.items()
    }


@pytest.mark.parametrize("route", ["sqlite", "postgresql", "postgresql postgresql sqlite postgresql"])
async def test_every_row_is_the_same_afterwards_with_the_clock_and_the_numbers(tmp_path, places, route):
    shutil.copytree(PLAYED, tmp_path / "data")
    here = first = await brought_up_to_date(tmp_path / "data")
    before = await rows_of(first)
    assert all(before[0].values()), "something in every table"
    for kind in route.split():
        here, source = places[kind](), here
        copied = await copy(source, here, silent)
        assert (copied.damages, copied.is_finished) == ([], True)
    assert await rows_of(here) == before
    assert await rows_of(first) == before


async def test_a_new_room_gets_a_new_number_and_the_clock_goes_on(tmp_path, places):
    journal = SqliteJournal(tmp_path / "data", "process")
    await journal.open()
    await journal.create(summary("OLD", ended="game_ended", ended_at=1.0), STATE, None)
    await journal.beat(77.0)
    await journal.prune(5.0, 10)
    await journal.close()
    for kind in ("postgresql", "sqlite"):
        place = places[kind]()
        await copy(str(tmp_path / "data"), place, silent)
        there = journal_at(place)
        assert await there.open() == 77.0
        assert await there.create(summary(), STATE, None) == 2
        await there.close()


async def test_all_signing_keys_go_along(tmp_path, places):
    folder = await filled(tmp_path / "data")
    keys = {1: b"1" * 32, 2: b"2" * 32, 12: b"x" * 32}
    for number, key in keys.items():
        write_key(Path(folder), number, key)
    database, back, again = places["postgresql"](), places["sqlite"](), places["postgresql"]()
    await copy(folder, database, silent)
    await copy(database, back, silent)
    await copy(back, again, silent)
    for place in (database, again):
        journal = journal_at(place)
        await journal.open()
        assert await signing_keys(journal) == keys
        await journal.close()
    token = Tokens.in_folder(Path(folder)).issue("p_ann")
    assert Tokens.in_folder(Path(back)).read(token) == "p_ann"
    assert not await secrets_in(back)


async def secrets_in(place):
    async with opened_source(place) as source:
        return await source.records("secret")


async def filled(path, rooms=3, count=700):
    """A folder with rooms of many steps, a record each, and nothing else."""
    journal = SqliteJournal(path, "process")
    await journal.open()
    for number in range(rooms):
        room = await journal.create(summary(f"R{number}\x00"), STATE, None)
        await append(journal, room, steps(count, player="p\x1b"), StepWrites(due=4.0))
        await journal.keep(Record("note", f"n{number}\x00", b"hello"))
    await journal.beat(9.0)
    await journal.close()
    return str(path)


# Broken off, and begun again.


class Stopped(BaseException):
    """As Ctrl-C does it."""


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_a_copy_that_is_broken_off_goes_on_where_it_stopped(tmp_path, places, kind):
    source = await filled(tmp_path / "data")
    chance = Random(f"seven {kind}")
    for _ in range(4):
        target, stopping = places[kind](), Stopping(chance.randrange(1, 12))
        with pytest.raises(Stopped):
            await copy(source, target, stopping.note)
        with pytest.raises(Unfinished, match="was begun and not finished: run `parlour copy` again"):
            await journal_at(target).open()
        again = Stopping(None)
        await copy(source, target, again.note)
        written = [(table, seen) for table, seen in stopping.seen if seen]
        assert again.seen[0] == (written[-1] if written else ("rooms", 0))
        assert await rows_of(target) == await rows_of(source)


class Stopping:
    """Notes how far a copy is, and stops it at some row."""

    def __init__(self, at):
        self.at = at
        self.seen: list[tuple[str, int]] = []

    def note(self, table, seen, total):
        self.seen.append((table.name, seen))
        if len(self.seen) == self.at:
            raise Stopped


@pytest.mark.e2e
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_a_copy_that_is_killed_goes_on_where_it_stopped(tmp_path, places, kind):
    source, target = await filled(tmp_path / "data", rooms=8, count=2000), places[kind]()
    command = [sys.executable, "-m", "parlour", "copy", source, target]
    killed = 0
    for number in range(3):
        process = await asyncio.create_subprocess_exec(
            *command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        assert process.stderr is not None
        await process.stderr.readline()  # the first table is done
        await asyncio.sleep(number * 0.03)  # at different rows
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
        killed += await process.wait() != 0
        await process.stderr.read()
    assert killed
    done = await asyncio.create_subprocess_exec(*command, stderr=subprocess.PIPE)
    said = (await done.communicate())[1].decode()
    assert done.returncode == 0 or "holds a journal already" in said
    assert await rows_of(target) == await rows_of(source)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_a_copy_of_a_source_that_was_served_meanwhile_begins_anew(tmp_path, places, kind):
    source, target = await filled(tmp_path / "data"), places[kind]()

    def stop(table, seen, total):
        if table is STEPS:
            raise Stopped

    with pytest.raises(Stopped):
        await copy(source, target, stop)
    journal = SqliteJournal(Path(source), "process")
    await journal.open()
    await journal.keep(Record("note", "n0\x00", b"changed"))
    await journal.close()
    await copy(source, target, silent)
    assert await rows_of(target) == await rows_of(source)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_an_unfinished_copy_of_something_else_is_not_touched(tmp_path, places, kind):
    one, two, target = await filled(tmp_path / "one"), await filled(tmp_path / "two"), places[kind]()

    def stop(table, seen, total):
        if table is STEPS:
            raise Stopped

    with pytest.raises(Stopped):
        await copy(one, target, stop)
    with pytest.raises(NotKept, match=r"holds an unfinished copy of .*one: finish that first"):
        await copy(two, target, silent)
    await copy(one, target, silent)
    assert await rows_of(target) == await rows_of(one)


# What is not copied, and where nothing is copied to.


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_damaged_rows_are_named_and_not_copied_and_the_copy_waits_for_somebody_to_accept_that(
    tmp_path, places, kind
):
    source, target = await filled(tmp_path / "data"), places[kind]()
    make_key(Path(source))
    write_key(Path(source), 2, b"too short")
    with closing(sqlite3.connect(Path(source, "parlour.db"), isolation_level=None)) as db:
        db.execute("UPDATE steps SET body = x'00' WHERE room = 2 AND seq = 500")
        db.execute("DELETE FROM steps WHERE room = 3 AND seq IN (7, 8)")
        db.execute("UPDATE rooms SET game = 'chess' WHERE number = 1")
        db.execute("UPDATE records SET body = x'00' WHERE rowid = 1")
        db.execute("UPDATE clock SET now = 1e300")
    copied = await copy(source, target, silent)
    named = sorted((damage.table, damage.row) for damage in copied.damages)
    assert named == [
        ("clock", ""),
        ("keys", "signing-2.key"),
        ("records", "kind 'note', in_group '', key 'n0\\x00'"),
        ("rooms", "number '1', id 'R0\\x00'"),
        ("steps", "room '2', seq '500'"),
        ("steps", "room '3', seq '7' to '8' (missing)"),
    ]
    assert not copied.is_finished
    with pytest.raises(Unfinished):
        await journal_at(target).open()
    again = await copy(source, target, silent, accept_loss=True)
    assert (sorted((damage.table, damage.row) for damage in again.damages), again.is_finished) == (
        named,
        True,
    )
    journal = journal_at(target)
    assert await journal.open() == 9.0  # by the mark
    assert await journal.find(1) is None
    assert (await journal.find(2)).seq == 700
    while await journal.inspect(1000):
        pass
    assert journal.damages() == ()
    await journal.close()


async def test_a_step_that_does_not_follow_the_one_before_is_damaged(tmp_path, places):
    journal = SqliteJournal(tmp_path / "data", "process")
    await journal.open()
    room = await journal.create(summary(), STATE, None)
    await append(journal, room, [*steps(2), step(3, before=b"of another room")], StepWrites(due=1.0))
    await journal.close()
    copied = await copy(str(tmp_path / "data"), places["postgresql"](), silent)
    assert [(damage.table, damage.row) for damage in copied.damages] == [("steps", "room '1', seq '3'")]


async def test_the_damage_of_a_database_is_found_too(tmp_path, places):
    source, database = await filled(tmp_path / "data"), places["postgresql"]()
    await copy(source, database, silent)
    db = await connect(database)
    await db.execute("UPDATE steps SET player = 'eve' WHERE room = 2 AND seq = 9")
    await db.execute("UPDATE seats SET checksum = NULL")
    copied = await copy(database, places["sqlite"](), silent, accept_loss=True)
    await db.close()
    assert [(damage.table, damage.row) for damage in copied.damages] == [("steps", "room '2', seq '9'")]


async def test_a_file_that_has_lost_something_is_copied_only_if_that_is_accepted(tmp_path, places):
    older = await filled(tmp_path / "older")
    newer = Path(await filled(tmp_path / "newer"))
    (newer / "parlour.mark").unlink()
    journal = SqliteJournal(newer, "process")
    await journal.open()
    await journal.beat(500.0)
    await journal.close()
    shutil.copyfile(newer / "parlour.mark", Path(older, "parlour.mark"))
    with pytest.raises(Lost, match=r"ends 491\.0 s before it last did"):
        await copy(older, places["sqlite"](), silent)
    copied = await copy(older, places["sqlite"](), silent, accept_loss=True)
    assert [damage.table for damage in copied.damages] == ["file"]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_a_target_that_holds_anything_is_refused_and_left_alone(tmp_path, places, kind):
    source, target = await filled(tmp_path / "data"), places[kind]()
    journal = journal_at(target)
    await journal.open()
    await journal.close()
    before = await rows_of(target)
    with pytest.raises(Foreign, match="holds a journal already: choose another"):
        await copy(source, target, silent)
    assert await rows_of(target) == before


async def test_a_folder_with_another_key_is_refused(tmp_path, places):
    source, target = await filled(tmp_path / "data"), places["sqlite"]()
    for place in (source, target):
        make_key(Path(place))
    with pytest.raises(Foreign, match="is another key than the one to be copied"):
        await copy(source, target, silent)


async def test_a_folder_of_another_application_is_refused(tmp_path, places):
    source, target = await filled(tmp_path / "data"), tmp_path / "target"
    target.mkdir()
    with closing(sqlite3.connect(target / "parlour.db")) as db:
        db.execute("CREATE TABLE recipes (name TEXT)")
    with pytest.raises(Foreign, match="belongs to another application"):
        await copy(source, str(target), silent)


async def test_what_is_being_served_is_not_copied(tmp_path, places):
    source, database = await filled(tmp_path / "data"), places["postgresql"]()
    with only_server_of(Path(source)), pytest.raises(NoPlace, match="another server is using"):
        await copy(source, database, silent)
    await copy(source, database, silent)
    journal = journal_at(database)
    await journal.open()
    with pytest.raises(NotKept, match="is being served or copied: stop that first"):
        await copy(database, places["sqlite"](), silent)
    await journal.close()
    await copy(database, places["sqlite"](), silent)


async def test_there_must_be_something_to_copy_and_another_place_for_it(tmp_path, places):
    for nothing in (str(tmp_path / "nothing"), places["postgresql"]()):
        with pytest.raises(NotKept, match="there is no journal in"):
            await copy(nothing, places["sqlite"](), silent)
    assert not (tmp_path / "nothing").exists()
    source = await filled(tmp_path / "data")
    with pytest.raises(NotKept, match="are the same"):
        await copy(source, f"{source}/../data", silent)


async def test_a_folder_of_an_older_format_is_to_be_served_once_first(tmp_path, places):
    shutil.copytree(PLAYED, tmp_path / "data")
    with pytest.raises(NotKept, match="has format 3: start `parlour serve` there once"):
        await copy(str(tmp_path / "data"), places["sqlite"](), silent)


# The command.


def run(*arguments):
    return CliRunner().invoke(app, ["copy", *arguments])


def test_the_command_says_what_it_has_copied(tmp_path, places):
    source, target = asyncio.run(filled(tmp_path / "data")), places["sqlite"]()
    done = run(source, target)
    assert done.exit_code == 0
    assert done.output.splitlines() == [
        "rooms: 3 rows",
        "seats: 0 rows",
        "records: 3 rows",
        "states: 3 rows",
        "steps: 2,100 rows",
        f"2,109 rows are copied; {target} can be served",
    ]
    again = run(source, target)
    assert (again.exit_code, again.output) == (
        1,
        f"parlour: {target} holds a journal already: choose another data folder\n",
    )


def test_the_command_fails_when_something_is_damaged_unless_that_is_accepted(tmp_path, places):
    source, target = asyncio.run(filled(tmp_path / "data")), places["sqlite"]()
    with closing(sqlite3.connect(Path(source, "parlour.db"), isolation_level=None)) as db:
        db.execute("UPDATE steps SET body = x'00' WHERE room = 2 AND seq = 700")
    done = run(source, target)
    assert done.exit_code == 1
    assert done.output.splitlines()[-2:] == [
        "damaged, and not copied: steps: room '2', seq '700'",
        "parlour: 2,108 rows are copied, 1 are damaged. Finish without them: run it with --accept-loss",
    ]
    assert run(source, target, "--accept-loss").exit_code == 0


def test_a_database_that_is_not_there_is_told_in_a_sentence(tmp_path):
    done = run("postgresql://me:hush@127.0.0.1:1/games", str(tmp_path / "data"))
    assert done.exit_code == 1
    assert done.output == (
        "parlour: cannot reach the database postgresql://me@127.0.0.1:1/games: Connection refused\n"
    )


@pytest.mark.e2e
def test_on_a_terminal_there_are_bars(tmp_path, places):
    source, target = asyncio.run(filled(tmp_path / "data")), places["sqlite"]()
    shown, terminal = os.openpty()
    command = [sys.executable, "-m", "parlour", "copy", source, target]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(command, stderr=terminal, env=environment) as process:
        os.close(terminal)
        text = b""
        with suppress(OSError):  # the terminal is closed
            while part := os.read(shown, 10_000):
                text += part
        os.close(shown)
    assert process.returncode == 0
    assert "2100/2100" in text.decode()
    assert "━" in text.decode()

"""Records in a file: what an older file had in tables of its own, what is damaged, what is searched."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from parlour.journal.base import Conflict, Damage, Damaged, NewRecord, Record, RecordQuery, RoomQuery
from parlour.journal.conditions import which_records
from parlour.journal.rows import ALL_TABLES
from parlour.journal.sqlite import SqliteJournal
from parlour.server.secret import secret_of
from tests.journal.made import STATE, summary

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


def connect(file):
    return closing(sqlite3.connect(file, isolation_level=None))


async def test_a_file_that_was_brought_up_to_date_is_like_a_new_one(file, tmp_path):
    file.parent.mkdir()
    shutil.copyfile(YESTERDAYS, file)
    schemas = []
    for folder in (file.parent, tmp_path / "new"):
        journal = SqliteJournal(folder, "disk")
        await journal.open()
        await journal.close()
        with connect(folder / "parlour.db") as db:
            names = {
                row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite%'")
            }
            columns = [db.execute(f"PRAGMA table_info({table.name})").fetchall() for table in ALL_TABLES]
        schemas.append((names, [[column[1] for column in table] for table in columns]))
    assert schemas[0] == schemas[1]


async def test_what_had_tables_of_its_own_is_carried_over_into_records(file):
    file.parent.mkdir()
    shutil.copyfile(YESTERDAYS, file)
    with connect(file) as db:
        db.execute("UPDATE letters SET body = ? WHERE relay = '/g/blue' AND num = 3", (b"damaged before",))
        db.execute("UPDATE tickets SET body = ? WHERE id = (SELECT min(id) FROM tickets)", (b"{",))
        kept = {
            "ticket": "SELECT id, body FROM tickets ORDER BY id",
            "player": "SELECT id, body FROM players ORDER BY id",
            "standing": "SELECT player, body FROM standings ORDER BY player, ladder",
            "relay": "SELECT name, NULL FROM relays ORDER BY name",
            "envelope": "SELECT CAST(num AS TEXT), body FROM letters WHERE num <> 3 ORDER BY relay, num",
            "result": "SELECT CAST(number AS TEXT), body FROM results ORDER BY number",
        }
        before = {kind: db.execute(sql).fetchall() for kind, sql in kept.items()}
        (clock,) = db.execute("SELECT now FROM clock").fetchone()
        (size,) = db.execute("SELECT sum(length(body)) FROM letters WHERE relay = '/g/red/table'").fetchone()
    journal = SqliteJournal(file.parent, "disk")
    await journal.open()
    now = {kind: await journal.records(RecordQuery(kind)) for kind in kept}
    now["ticket"].sort(key=lambda record: record.key)
    now["standing"].sort(key=lambda record: (record.key, record.group))
    now["envelope"].sort(key=lambda record: (record.group, record.sort))
    now["envelope"] = [record for record in now["envelope"] if record.key != "3"]
    for kind in ("player", "standing", "envelope", "result"):  # the others' ids are hidden, or have no body
        assert [(record.key, record.body) for record in now[kind]] == before[kind], kind
    for kind in ("ticket", "relay"):
        assert [record.key for record in now[kind]] == [key for key, _ in before[kind]], kind
    assert max(record.sort for record in now["result"]) == 0.0
    assert {record.due for kind in ("player", "relay") for record in now[kind]} == {clock}
    assert now["relay"][-1].body == b'{"bytes":%d}' % size
    assert all(record.owner == record.key for record in now["standing"])
    with pytest.raises(Damaged):
        await journal.record("envelope", "3", "/g/blue")
    assert [damage.row for damage in journal.damages()] == ["kind 'envelope', in_group '/g/blue', key '3'"]
    assert len(await secret_of(journal)) == 32
    await journal.close()


async def test_a_record_that_was_changed_is_noticed(journal, file):
    await journal.keep(*(Record("note", key, b"hello", "wall") for key in ("n1", "n2", "n3")))
    with connect(file) as db:
        db.execute("UPDATE records SET body = ? WHERE key = 'n2'", (b"help",))
    with pytest.raises(Damaged, match="kind 'note', in_group 'wall', key 'n2'"):
        await journal.record("note", "n2", "wall")
    with pytest.raises(Damaged, match="key 'n2'"):
        await journal.records(RecordQuery("note", strict=True))
    assert [one.key for one in await journal.records(RecordQuery("note"))] == ["n1", "n3"]
    assert journal.damages() == (Damage("records", "kind 'note', in_group 'wall', key 'n2'"),)


@pytest.mark.parametrize("column", ["owner", "sort", "due", "room"])
async def test_a_record_is_damaged_by_a_change_of_any_column(journal, file, column):
    await journal.keep(Record("note", "n", b"hello", "", "ann", 1.0, 2.0, 3))
    with connect(file) as db:
        db.execute(f"UPDATE records SET {column} = 7")
    with pytest.raises(Damaged):
        await journal.record("note", "n")


async def test_a_damaged_record_can_be_written_anew_but_is_no_free_place(journal, file):
    await journal.keep(Record("note", "n", b"hello"))
    with connect(file) as db:
        db.execute("UPDATE records SET body = ?", (b"help",))
    with pytest.raises(Conflict):
        await journal.keep(NewRecord("note", "n", b"new"))
    await journal.keep(Record("note", "n", b"hello again"))
    assert await journal.record("note", "n") == Record("note", "n", b"hello again")


async def test_a_damaged_room_is_left_out_of_lists_and_its_id_is_known(journal, file):
    for id in ("ONE", "TWO"):
        await journal.create(summary(id, connected=1), STATE, 5.0)
    with connect(file) as db:
        db.execute("UPDATE rooms SET game = 'chess' WHERE id = 'ONE'")
    query = RoomQuery(connected=True, due_by=5.0)
    assert [found.summary.id for found in await journal.rooms(query)] == ["TWO"]
    assert sorted(await journal.room_ids(query)) == ["ONE", "TWO"]


def plan(db, sql, *values):
    return " ".join(row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", values))


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (RecordQuery("standing", "chess", largest_first=True, limit=9), "records_in_order"),
        (RecordQuery("result", owner="ann", largest_first=True, limit=9), "records_of"),
        (RecordQuery("player", due_by=5.0, limit=9), "due_records"),
    ],
)
async def test_records_are_found_by_an_index_and_not_sorted(journal, file, query, index):
    which, values = which_records(query)
    with connect(file) as db:
        found = plan(db, f"SELECT body FROM records {which}", *values)
        assert f"USING INDEX {index} " in found
        assert "TEMP B-TREE" not in found.replace("TEMP B-TREE FOR RIGHT PART OF ORDER BY", "")
        assert "records_of_room" in plan(db, "DELETE FROM records WHERE room = ?", 1)
        assert "records_in_order" in plan(
            db, "DELETE FROM records WHERE kind = 'k' AND in_group = 'g' AND sort < ?", 1
        )


async def test_where_all_copies_of_the_secret_are_damaged_there_is_a_new_one(journal, file):
    secret = await secret_of(journal)
    with connect(file) as db:
        db.execute("UPDATE records SET body = ?", (b"x" * 32,))
    new = await secret_of(journal)
    assert new not in (secret, b"x" * 32)
    assert await secret_of(journal) == new

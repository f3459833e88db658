"""What only the journal in PostgreSQL promises of its tables: whose they are, and what damage costs."""

import asyncio
import subprocess

import asyncpg
import pytest
from msgspec.structs import replace

from parlour.journal.base import (
    Damaged,
    Foreign,
    NotKept,
    Record,
    RecordQuery,
    RoomQuery,
    StepWrites,
    Stored,
    TooNew,
)
from parlour.journal.postgresql import PostgresJournal
from parlour.journal.postgresql.schema import FORMAT, name_of, serve_lock, split_url
from tests.journal.made import ANN, BOB, STATE, append, listed, step, summary
from tests.journal.outages import NOTHING, opened, until
from tests.postgres import program

# Text.


@pytest.mark.parametrize(
    "odd", ["\x00", "a\x00\x1b0\x1b", "\x1b", "\x1b1", "\u2028\ufeff\uffff", "🂡\u0301", "'\\\"?$1"]
)
async def test_odd_characters_come_back_as_they_were(journal, odd):
    room = await journal.create(summary(f"R{odd}", seats=(ANN, None), creator=odd), STATE, None)
    await append(journal, room, step(1, player=odd, id=f"c{odd}"), NOTHING)
    await journal.keep(Record("note", f"n{odd}", b"x", group=odd, owner=f"o{odd}"))
    assert (await journal.find(f"R{odd}")).summary.id == f"R{odd}"
    assert await journal.room_ids(RoomQuery()) == [f"R{odd}"]
    assert (await journal.recall(f"R{odd}")).answers == {(odd, f"c{odd}"): 1}
    (kept,) = await journal.records(RecordQuery("note", odd, owner=f"o{odd}"))
    assert (kept.key, kept.group) == (f"n{odd}", odd)
    assert await inspected(journal) == ()


# Whose database it is.


async def sentence(url, kind=NotKept):
    with pytest.raises(kind) as refusal:
        await PostgresJournal(url, "disk").open()
    return str(refusal.value)


async def test_a_database_of_a_newer_format_is_refused_in_a_sentence(journal, db, url):
    await db.execute("UPDATE about SET value = '99' WHERE name = 'format'")
    assert await sentence(url, TooNew) == (
        f"{name_of(url)} has format 99, and this Parlour reads formats up to {FORMAT}: "
        "start the newer Parlour that wrote it, or choose another schema"
    )


@pytest.mark.parametrize("table", ["recipes (name text)", "about (us text)", "about (name text, value text)"])
async def test_a_schema_of_another_application_is_refused_and_left_alone(postgres, table):
    url = postgres.new_url()
    db = await asyncpg.connect(postgres.url)
    await db.execute(f"CREATE SCHEMA {split_url(url)[1]}; CREATE TABLE {split_url(url)[1]}.{table}")
    assert await sentence(url, Foreign) == (
        f"{name_of(url)} belongs to another application: choose another schema by ?schema=NAME"
    )
    tables = "SELECT count(*) FROM pg_tables WHERE schemaname = $1"
    assert await db.fetchval(tables, split_url(url)[1]) == 1
    await db.close()


@pytest.mark.parametrize("schema", ["a b", 'x"; DROP TABLE steps; --', "7up"])
async def test_a_schema_without_a_proper_name_is_refused_in_a_sentence(postgres, schema):
    assert "expected a name of letters, digits and _" in await sentence(f"{postgres.url}?schema={schema}")


@pytest.fixture
async def keeper(postgres):
    """A user of the database, who has a password and may make nothing."""
    db = await asyncpg.connect(postgres.url)
    await db.execute("CREATE ROLE keeper LOGIN PASSWORD 'hush hush'")
    access = postgres.data / "pg_hba.conf"
    before = access.read_text()
    access.write_text(f"host all keeper 127.0.0.1/32 scram-sha-256\n{before}")
    await db.execute("SELECT pg_reload_conf()")
    yield db
    access.write_text(before)
    await db.execute("SELECT pg_reload_conf()")
    await db.execute("DROP OWNED BY keeper; DROP ROLE keeper")
    await db.close()


async def test_a_wrong_password_is_told_in_a_sentence_without_it(postgres, keeper):
    url = f"postgresql://keeper:wr%20ong@127.0.0.1:{postgres.port}/postgres"
    await until(lambda: asks_for_passwords(url))
    said = await sentence(url)
    assert said == (
        f"cannot reach the database postgresql://keeper@127.0.0.1:{postgres.port}/postgres: "
        'password authentication failed for user "keeper"'
    )


async def asks_for_passwords(url):
    try:
        await (await asyncpg.connect(url)).close()
    except asyncpg.InvalidPasswordError:
        return True
    return False


async def test_a_user_who_may_not_make_a_schema_is_told_so_and_may_use_one_that_is_there(postgres, keeper):
    url = f"postgresql://keeper:hush%20hush@127.0.0.1:{postgres.port}/postgres?schema=keepers"
    said = await sentence(url)
    assert said.endswith("schema keepers: permission denied for database postgres")
    assert "hush" not in said
    await keeper.execute("CREATE SCHEMA keepers AUTHORIZATION keeper")
    async with opened(url) as journal:
        await journal.create(summary(), STATE, None)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:hush@127.0.0.1:1/games",
        "postgresql://me:hush@127.0.0.1:1/games?password=hush",
        "postgresql://me:hush@127.0.0.1:port/games",
        "postgresql://me:hu/sh@127.0.0.1:1/games",
        "postgresql://me:hush@no-such-host.invalid/games",
        "postgresql://me:hush@127.0.0.1:1/games?sslmode=perhaps",
    ],
)
async def test_where_nobody_is_it_is_told_in_a_sentence_without_the_password(address):
    said = await sentence(address)
    assert said.startswith("cannot reach the database postgresql://me@")
    assert len(said.splitlines()) == 1
    assert said[-1] not in ": "
    assert "hu" not in said


async def test_a_database_of_another_encoding_is_refused_in_a_sentence(postgres):
    db = await asyncpg.connect(postgres.url)
    await db.execute("CREATE DATABASE old ENCODING 'LATIN1' TEMPLATE template0")
    url = f"{postgres.url.rpartition('/')[0]}/old"
    said = await sentence(url, Foreign)
    assert said == f"{name_of(url)} has the encoding LATIN1: make a database with ENCODING 'UTF8'"
    await db.execute("DROP DATABASE old WITH (FORCE)")
    await db.close()


async def test_a_database_that_has_no_connection_left_is_told_in_a_sentence(postgres, keeper):
    await keeper.execute("CREATE SCHEMA keepers AUTHORIZATION keeper; ALTER ROLE keeper CONNECTION LIMIT 0")
    url = f"postgresql://keeper:hush%20hush@127.0.0.1:{postgres.port}/postgres?schema=keepers"
    assert "too many connections for role" in await sentence(url)


async def test_a_postgresql_that_only_reads_refuses_and_is_asked_again(journal, db):
    room = await journal.create(summary(), STATE, None)
    await journal._writer._line._db.execute("SET default_transaction_read_only = on")
    with pytest.raises(NotKept, match="read-only transaction"):
        await append(journal, room, step(1), NOTHING)
    await append(journal, room, step(1), NOTHING)  # on a new connection, to the one that has taken over


async def test_a_journal_that_is_being_copied_is_not_served(journal, url, db):
    await journal.close()
    assert await db.fetchval(serve_lock(shared=False))
    with pytest.raises(NotKept, match="this journal is being copied"):
        await PostgresJournal(url, "disk").open()


async def test_an_open_journal_is_not_opened_twice(journal):
    with pytest.raises(RuntimeError):
        await journal.open()


def run(name, *arguments, given=b""):
    command = [program(name), *arguments]
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout


async def test_what_was_dumped_and_restored_is_as_it_was(journal, url, postgres, tmp_path):
    before = await furnished(journal)
    schema = split_url(url)[1]
    await journal.close()
    dump = await asyncio.to_thread(run, "pg_dump", f"--schema={schema}", postgres.url)
    db = await asyncpg.connect(postgres.url)
    await db.execute(f"DROP SCHEMA {schema} CASCADE")
    await db.close()
    await asyncio.to_thread(run, "psql", "--set=ON_ERROR_STOP=1", postgres.url, given=dump)
    await journal.open()
    assert {id: await everything(journal, id) for id in before} == before
    assert await journal.create(summary("NEW"), STATE, None) == 3
    assert await inspected(journal) == ()


# Damage.


async def inspected(journal):
    while await journal.inspect(3):
        pass
    return journal.damages()


async def furnished(journal):
    """Something in every table, in two rooms: one to be damaged, one to be as it was."""
    for id in ("BAD", "GOOD"):
        room = await journal.create(
            summary(id, seats=(ANN, BOB), creator=ANN.id, held=2.0, ended_at=50.0), STATE, 7.0
        )
        for made in [step(1, id="c1"), step(2, step(1, id="c1").digest)]:
            await append(journal, room, made, StepWrites(state=b"later") if made.seq == 2 else NOTHING)
        await journal.keep(
            Record("note", id, b"hello", group="g", owner=f"o{id}", sort=4.0, due=3.0, room=room)
        )
    return {id: await everything(journal, id) for id in ("BAD", "GOOD")}


async def everything(journal, id):
    """All that there is to read about a room, part by part; what cannot be read is None."""
    number = {"BAD": 1, "GOOD": 2}[id]
    reads = {
        "found": journal.find(number),
        "steps": listed(journal.replay(number)),
        "stored": journal.stored(number),
        "recalled": journal.recall(id),
        "record": journal.record("note", id, "g"),
    }
    return {name: await tried(read) for name, read in reads.items()}


async def tried(read):
    try:
        return await read
    except Damaged:
        return None


FLIPPED_TEXT = "overlay({0} placing chr(ascii(substr({0}, 1, 1)) # 2) from 1 for 1)"
NO_TEXT = "textcat('\\xff'::bytea::text, {0})"
FLIPPED_BYTES = "set_byte({0}, length({0}) / 2, get_byte({0}, length({0}) / 2) # 1)"
CHANGED_NUMBER = "{0} + 1000"
CHANGED = {
    "rooms": {
        "number": CHANGED_NUMBER, "id": FLIPPED_TEXT, "game": NO_TEXT, "open": "NOT {0}",
        "private": "NOT {0}",
        "connected": CHANGED_NUMBER, "held": "NULL", "creator": NO_TEXT, "ended_at": CHANGED_NUMBER,
        "due": CHANGED_NUMBER, "card": FLIPPED_BYTES, "checksum": FLIPPED_BYTES,
    },
    "seats": {"room": CHANGED_NUMBER, "player": NO_TEXT, "checksum": "NULL"},
    "steps": {
        "room": CHANGED_NUMBER, "seq": CHANGED_NUMBER, "player": NO_TEXT, "command_id": FLIPPED_TEXT,
        "body": FLIPPED_BYTES, "checksum": FLIPPED_BYTES,
    },
    "states": {
        "room": CHANGED_NUMBER, "seq": CHANGED_NUMBER, "body": FLIPPED_BYTES, "checksum": FLIPPED_BYTES,
    },
    "records": {
        "kind": FLIPPED_TEXT, "in_group": FLIPPED_TEXT, "key": NO_TEXT, "owner": NO_TEXT,
        "sort": CHANGED_NUMBER, "due": "NULL", "room": CHANGED_NUMBER, "body": FLIPPED_BYTES,
        "checksum": "NULL",
    },
}  # fmt: skip
"""What is done to each column of each table."""
BAD_ROW = {
    "rooms": "number = 1", "seats": "room = 1 AND player = 'p_ann'", "steps": "room = 1 AND seq = 1",
    "states": "room = 1 AND seq = 2", "records": "key = 'BAD'",
}  # fmt: skip


@pytest.fixture
async def no_text(db):
    """Lets a test put bytes where only text can be, as a bad disk does."""
    await db.execute("CREATE CAST (bytea AS text) WITHOUT FUNCTION")
    yield
    await db.execute("DROP CAST (bytea AS text)")


@pytest.mark.parametrize(
    ("table", "column"), [(table, column) for table, columns in CHANGED.items() for column in columns]
)
async def test_a_damaged_row_is_noted_and_costs_nothing_else(journal, url, db, no_text, table, column):
    before = await furnished(journal)
    change = CHANGED[table][column].format(column)
    done = await db.execute(f"UPDATE {table} SET {column} = {change} WHERE {BAD_ROW[table]}")
    assert done == "UPDATE 1"
    now = {id: await everything(journal, id) for id in before}
    assert now["GOOD"] == before["GOOD"]
    if (found := now["BAD"]["found"]) is not None:
        now["BAD"]["found"] = replace(found, seq=2)  # steps are counted: loading the room finds the damage
    for part, value in now["BAD"].items():
        older = Stored(0, STATE) if part == "stored" else None  # the state before leads to the same room
        assert value in (before["BAD"][part], older, None, []) or part == "recalled"
    if (recalled := now["BAD"]["recalled"]) is not None:
        assert recalled.found.summary == before["BAD"]["found"].summary
        assert [made.seq for made in recalled.steps] == list(range(recalled.stored.seq + 1, 3))
    await journal.rooms(RoomQuery(due_by=1e9))
    await journal.records(RecordQuery("note"))
    await journal.prune(1.0, 5)
    assert {damage.table for damage in await inspected(journal)} == {table}
    await journal.close()
    await journal.open()
    damages = await inspected(journal)
    assert [damage.table for damage in damages] == [table]
    assert await everything(journal, "GOOD") == before["GOOD"]


async def test_a_write_to_a_damaged_room_is_refused_as_damaged(journal, db):
    room = await journal.create(summary(), STATE, None)
    await db.execute("UPDATE rooms SET game = 'chess'")
    with pytest.raises(Damaged, match="rooms: the row with number"):
        await append(journal, room, step(1), StepWrites(due=4.0))
    assert [damage.table for damage in journal.damages()] == ["rooms"]


async def test_a_room_is_not_forgotten_early_because_its_row_is_damaged(journal, db):
    await journal.create(summary(ended="game_ended", ended_at=50.0), STATE, None)
    await journal.create(summary("OLD", ended="game_ended", ended_at=2.0), STATE, None)
    await db.execute("UPDATE rooms SET ended_at = 1.0 WHERE id = 'ABCD'")
    await journal.prune(10.0, 1)
    await journal.prune(10.0, 2)
    assert await journal.find("OLD") is None
    with pytest.raises(Damaged):
        await journal.find("ABCD")

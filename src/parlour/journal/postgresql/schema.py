"""The tables in PostgreSQL, and how they are made and checked."""

from secrets import token_hex
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

import asyncpg

from parlour.journal.base import Foreign, NotKept, TooNew, Trouble
from parlour.journal.shards import SHARDS

FORMAT = 1
"""The format of the tables below; the database has its own in `about`."""
LOCK = 0x5061726C
"""Held while tables are made, so that only one worker makes them."""
CONNECT_TIMEOUT = 3.0

TABLES = """
CREATE TABLE about (name text PRIMARY KEY, value text NOT NULL);
-- A worker is one run of a process; its id is never used again. Once it is gone, it is gone for ever: nothing
-- that it still wants to write is kept. `connection` does the same for a connection that it has given up.
CREATE TABLE workers (
    id bigserial PRIMARY KEY,
    address text NOT NULL,
    gone boolean NOT NULL DEFAULT false,
    connection integer NOT NULL DEFAULT 0,
    clock double precision NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
-- The last sign of life of each worker, and the rooms' clock at that time. Whoever is not ready is given no
-- shards: it has not begun yet, or is about to stop.
CREATE UNLOGGED TABLE beats (
    worker bigint PRIMARY KEY,
    at timestamptz NOT NULL,
    clock double precision NOT NULL,
    ready boolean NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE shards (shard smallint PRIMARY KEY, owner bigint, wanted bigint);
CREATE TABLE rooms (
    number bigserial PRIMARY KEY,
    id text COLLATE "C" NOT NULL,
    game text COLLATE "C" NOT NULL,
    open boolean NOT NULL,
    private boolean NOT NULL,
    connected integer NOT NULL,
    held double precision,
    creator text,
    ended_at double precision,
    due double precision,
    card bytea NOT NULL,
    checksum bytea,
    shard smallint NOT NULL
);
CREATE UNIQUE INDEX open_rooms ON rooms (id) WHERE open;
CREATE INDEX due_rooms ON rooms (due) WHERE open AND due IS NOT NULL;
CREATE INDEX all_rooms ON rooms (id, number DESC);
CREATE INDEX rooms_in_any_case ON rooms (lower(id)) WHERE open;
CREATE INDEX connected_rooms ON rooms (shard) WHERE open AND connected > 0;
CREATE INDEX ended_rooms ON rooms (ended_at) WHERE ended_at IS NOT NULL;
-- No foreign keys: they would lock the room for every step; each write looks for the room itself.
CREATE TABLE seats (
    room bigint NOT NULL,
    player text COLLATE "C" NOT NULL,
    checksum bytea,
    PRIMARY KEY (room, player)
);
CREATE INDEX seats_of ON seats (player);
CREATE TABLE steps (
    room bigint NOT NULL,
    seq bigint NOT NULL,
    player text COLLATE "C",
    command_id text COLLATE "C",
    body bytea NOT NULL,
    checksum bytea NOT NULL,
    PRIMARY KEY (room, seq)
);
CREATE UNIQUE INDEX answers ON steps (room, player, command_id) WHERE command_id IS NOT NULL;
CREATE TABLE states (
    room bigint NOT NULL,
    seq bigint NOT NULL,
    body bytea NOT NULL,
    checksum bytea NOT NULL,
    PRIMARY KEY (room, seq)
);
CREATE TABLE records (
    kind text COLLATE "C" NOT NULL,
    in_group text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    sort double precision NOT NULL,
    due double precision,
    room bigint,
    body bytea NOT NULL,
    checksum bytea,
    PRIMARY KEY (kind, in_group, key)
);
CREATE INDEX records_in_order ON records (kind, in_group, sort DESC, key);
CREATE INDEX records_of ON records (owner, kind, sort DESC, key) WHERE owner <> '';
CREATE INDEX due_records ON records (kind, due) WHERE due IS NOT NULL;
CREATE INDEX records_of_room ON records (room) WHERE room IS NOT NULL;
"""


def split_url(url: str) -> tuple[str, str]:
    """The address of the database, and the schema in it: ``?schema=`` of the address, else ``parlour``.

    >>> split_url("postgresql://me@db/games?schema=test&sslmode=require")
    ('postgresql://me@db/games?sslmode=require', 'test')
    """
    parts = urlsplit(url)
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    schema = query.pop("schema", "parlour")
    return urlunsplit(parts._replace(query=urlencode(query))), schema


def without_password(url: str) -> str:
    """An address that can be shown.

    >>> without_password("postgresql://me:secret@db:5432/games")
    'postgresql://me@db:5432/games'
    """
    parts = urlsplit(url)
    user = f"{parts.username}@" if parts.username else ""
    port = f":{parts.port}" if parts.port else ""
    return urlunsplit(parts._replace(netloc=f"{user}{parts.hostname or ''}{port}", query=""))


def session_settings(schema: str) -> dict[str, str]:
    """The settings of every connection."""
    return {"search_path": f'"{schema}"', "application_name": "parlour", "jit": "off"}


async def connect(url: str, **settings: str) -> "asyncpg.Connection[Any]":
    """A connection to the schema of that address; `NotKept` if there is none to be had."""
    address, schema = split_url(url)
    given = {**session_settings(schema), **settings}
    try:
        return await asyncpg.connect(address, timeout=CONNECT_TIMEOUT, server_settings=given)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, ValueError) as error:
        raise NotKept(f"cannot reach the database {without_password(url)}: {error}") from error


async def make_ready(db: "asyncpg.Connection[Any]", url: str) -> None:
    """Check that the tables are ours and not too new; make them if there are none."""
    _, schema = split_url(url)
    where = f"{without_password(url)}, schema {schema}"
    try:
        async with db.transaction():
            await db.execute("SELECT pg_advisory_xact_lock($1)", LOCK)
            await db.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
            tables = await db.fetchval("SELECT count(*) FROM pg_tables WHERE schemaname = $1", schema)
            if not tables:
                await db.execute(TABLES)
                await db.execute("INSERT INTO about VALUES ('format', $1)", str(FORMAT))
                await db.execute("INSERT INTO about VALUES ('cluster', $1)", token_hex(8))
                await db.execute("INSERT INTO shards SELECT n FROM generate_series(0, $1) n", SHARDS - 1)
            await _check(db, schema, where)
    except asyncpg.PostgresError as error:
        raise _unusable(where, error) from error


async def _check(db: "asyncpg.Connection[Any]", schema: str, where: str) -> None:
    there = "SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'about'"
    if await db.fetchval(there, schema) is None:
        raise Foreign(f"{where} belongs to another application: choose another schema by ?schema=NAME")
    format = int(await db.fetchval("SELECT value FROM about WHERE name = 'format'") or 0)
    if format > FORMAT:
        raise TooNew(
            f"{where} has format {format}, and this Parlour reads formats up to {FORMAT}: "
            "start the newer Parlour that wrote it, or choose another schema"
        )


def _unusable(where: str, error: asyncpg.PostgresError) -> Trouble:
    return NotKept(f"cannot use {where}: {error}")

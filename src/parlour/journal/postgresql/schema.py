"""The tables in PostgreSQL, and how they are made and checked."""

import re
from collections.abc import Mapping
from secrets import token_hex
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit, urlunsplit

import asyncpg

from parlour.journal.base import Foreign, NotKept, TooNew, Trouble, Unfinished
from parlour.journal.postgresql.errors import ERRORS, said
from parlour.journal.shards import SHARDS

FORMAT = 1
"""The format of the tables below; the database has its own in `about`."""
LOCK = 0x5061726C
"""Held while tables are made, so that only one worker makes them."""
CONNECT_TIMEOUT = 2.0
SCHEMA_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
COPYING = "copying"
"""The entry of `about` that is there while a copy into these tables is not finished."""

TABLES = """
CREATE TABLE about (name text PRIMARY KEY, value text NOT NULL);
-- A worker is one run of a process; its id is never used again. Once it is gone, it is gone for ever: nothing
-- that it still wants to write is kept. `connection` does the same for a connection that it has given up.
-- `written` is the number of its last write: so it can find out what became of one whose answer was lost.
CREATE TABLE workers (
    id bigserial PRIMARY KEY,
    address text NOT NULL,
    gone boolean NOT NULL DEFAULT false,
    connection integer NOT NULL DEFAULT 0,
    written bigint NOT NULL DEFAULT 0,
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
    if not SCHEMA_NAME.fullmatch(schema):
        raise NotKept(f"?schema=: expected a name of letters, digits and _, got {schema[:64]!r}")
    return urlunsplit(parts._replace(query=urlencode(query))), schema


def without_password(url: str) -> str:
    """An address that can be shown, also where its password has characters that it should not have.

    >>> without_password("postgresql://me:secret@db:5432/games?password=secret")
    'postgresql://me@db:5432/games'
    >>> without_password("postgresql://me:sec/r@t@db/games")
    'postgresql://me@db/games'
    """
    scheme, _, rest = url.partition("?")[0].partition("://")
    user, at, place = rest.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}{at}{place}"


def without_secret(text: str, url: str) -> str:
    """A message about an address, without the password."""
    given = url.partition("://")[2].rpartition("@")[0].partition(":")[2]
    for secret in filter(None, (given, unquote(given), *parse_qs(urlsplit(url).query).get("password", ()))):
        text = text.replace(secret, "...")
    return text


def name_of(url: str) -> str:
    """What a journal is called in messages: its address, and the schema."""
    return f"{without_password(url)}, schema {split_url(url)[1]}"


def session_settings(schema: str) -> dict[str, str]:
    """The settings of every connection."""
    return {"search_path": f'"{schema}"', "application_name": "parlour", "jit": "off"}


async def connect(
    url: str, settings: Mapping[str, str] | None = None, *, command_timeout: float | None = None
) -> "asyncpg.Connection[Any]":
    """A connection to the schema of that address; `NotKept` if there is none to be had."""
    try:
        address, schema = split_url(url)
        return await asyncpg.connect(
            address,
            timeout=CONNECT_TIMEOUT,
            command_timeout=command_timeout,
            server_settings={**session_settings(schema), **(settings or {})},
        )
    except ERRORS as error:
        why = without_secret(said(error), url)
    except ValueError:  # it quotes a part of the address, which may be one of the password
        why = "expected postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with odd characters written as %XX"
    raise NotKept(f"cannot reach the database {without_password(url)}: {why}")


def serve_lock(*, shared: bool) -> str:
    """The SQL that locks the tables for this connection: shared to serve them, or else to copy them alone."""
    function = "pg_try_advisory_lock_shared" if shared else "pg_try_advisory_lock"
    return f"SELECT {function}({LOCK}, quote_ident(current_schema())::regnamespace::oid::int)"


async def make_ready(db: "asyncpg.Connection[Any]", url: str) -> None:
    """Check that the tables are ours and not too new; make them if there are none."""
    try:
        async with db.transaction():
            if await make_tables(db, url):
                return
            await check_tables(db, url)
            copied_from = await db.fetchval("SELECT value FROM about WHERE name = $1", COPYING)
            if copied_from is not None:
                raise Unfinished(
                    f"a copy into {name_of(url)} was begun and not finished: run `parlour copy` again"
                )
    except ERRORS as error:
        raise _unusable(url, error) from error


async def make_tables(db: "asyncpg.Connection[Any]", url: str) -> bool:
    """Make the tables in a transaction; False if the schema has tables already."""
    _, schema = split_url(url)
    await db.execute("SELECT pg_advisory_xact_lock($1)", LOCK)
    if await db.fetchval("SELECT to_regnamespace($1)", f'"{schema}"') is None:
        await db.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
    if await db.fetchval("SELECT count(*) FROM pg_tables WHERE schemaname = $1", schema):
        return False
    if (encoding := await db.fetchval("SHOW server_encoding")) != "UTF8":
        raise Foreign(f"{name_of(url)} has the encoding {encoding}: make a database with ENCODING 'UTF8'")
    await db.execute(TABLES)
    await db.execute("INSERT INTO about VALUES ('format', $1)", str(FORMAT))
    await db.execute("INSERT INTO about VALUES ('cluster', $1)", token_hex(8))
    await db.execute("INSERT INTO shards SELECT n FROM generate_series(0, $1) n", SHARDS - 1)
    return True


async def check_tables(db: "asyncpg.Connection[Any]", url: str) -> None:
    """`Foreign` or `TooNew` if we cannot use the tables that are there."""
    foreign = Foreign(f"{name_of(url)} belongs to another application: choose another schema by ?schema=NAME")
    columns = await db.fetch(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = $1 AND table_name = 'about'",
        split_url(url)[1],
    )
    if {column for (column,) in columns} != {"name", "value"}:
        raise foreign
    format = str(await db.fetchval("SELECT value FROM about WHERE name = 'format'"))
    if not format.isdecimal():
        raise foreign
    if int(format) > FORMAT:
        raise TooNew(
            f"{name_of(url)} has format {format}, and this Parlour reads formats up to {FORMAT}: "
            "start the newer Parlour that wrote it, or choose another schema"
        )


def _unusable(url: str, error: BaseException) -> Trouble:
    return NotKept(f"cannot use {name_of(url)}: {without_secret(said(error), url)}")

"""Copies everything from one data folder or database to another, with the keys that sign players' tokens.

Neither is served meanwhile. The source is only read; the target cannot be served before the copy is finished.
"""

from collections.abc import AsyncIterator
from contextlib import ExitStack, aclosing, asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from parlour.journal import NO_EXTRA, is_database
from parlour.journal.base import Damage, Damaged, Foreign, Lost, NotKept, Record, Trouble
from parlour.journal.copying import Copy, CopyNote, Notice, RowSource, RowTarget
from parlour.journal.rows import RECORDS, Row, Table, is_whole, record_of, values_of, with_checksum
from parlour.journal.sqlite.copying import SqliteSource, SqliteTarget
from parlour.journal.sqlite.file import FILE
from parlour.journal.sqlite.mark import ProgressMark
from parlour.server.gateway.http_listener import only_server_of
from parlour.server.secret import COPIES, KIND
from parlour.server.tokens import key_name, key_number, list_keys, read_key, write_key

Keys = dict[int, bytes]
"""The keys that sign tokens, by number."""


class Copied(NamedTuple):
    """What came of a copy."""

    rows: dict[str, int]
    """How many rows each table has now."""
    damages: list[Damage]
    """What is damaged in the source, and was not copied."""
    is_finished: bool
    """False if the target waits for somebody to accept the damage."""


async def copy(source: str, target: str, notice: Notice, *, accept_loss: bool = False) -> Copied:
    """Copy all that there is; damage leaves the copy unfinished, unless the loss is accepted."""
    if place_of(source) == place_of(target):
        raise NotKept("the source and the target are the same")
    async with opened_source(source) as rows, opened_target(target) as filled:
        damages = lost_before(source, accept_loss=accept_loss)
        keys = await read_keys(source, rows, damages)
        check_keys(target, keys)
        note = await Copy(rows, filled, is_signing_key, notice).run()
        clock = await clock_of(source, rows, note, damages)
        damages += note.damages
        is_finished = accept_loss or not damages
        if is_finished:
            await filled.finish(clock, await rows.last_number(), keep_keys(target, keys))
    return Copied(note.written, damages, is_finished)


def place_of(name: str) -> str:
    """The same for two names of one journal."""
    return name if is_database(name) else str(Path(name).resolve())


# Opening.


def database_copying() -> ModuleType:
    """How databases are copied; `Trouble` if the library for them is not installed."""
    try:
        from parlour.journal.postgresql import copying  # noqa: PLC0415 - an extra
    except ImportError:
        raise Trouble(NO_EXTRA) from None
    return copying


@asynccontextmanager
async def opened_source(name: str) -> AsyncIterator[RowSource]:
    """The rows of a journal, which nobody serves while this lasts."""
    with ExitStack() as locks:
        if is_database(name):
            source = await database_copying().PostgresSource.open(name)
        else:
            locks.enter_context(only_server_of(existing_folder(name)))
            source = SqliteSource(Path(name))
        async with aclosing(source):
            yield source


def existing_folder(name: str) -> Path:
    """A data folder with a journal; `NotKept` if there is none."""
    if not Path(name, FILE).exists():
        raise NotKept(f"there is no journal in {name}")
    return Path(name)


@asynccontextmanager
async def opened_target(name: str) -> AsyncIterator[RowTarget]:
    """A journal to be filled, which nobody serves while this lasts; `Foreign` if it holds something else."""
    with ExitStack() as locks:
        if is_database(name):
            target = await database_copying().PostgresTarget.open(name)
        else:
            locks.enter_context(only_server_of(Path(name)))
            target = SqliteTarget(Path(name))
        async with aclosing(target):
            yield target


# What a source may have lost before.


def lost_before(source: str, *, accept_loss: bool) -> list[Damage]:
    """What the mark beside a file says of its loss; `Lost` unless that is accepted."""
    if is_database(source):
        return []
    try:
        ProgressMark(Path(source)).check(Path(source, FILE), "disk")
    except Lost as error:
        if not accept_loss:
            raise Lost(str(error).replace("start once with", "copy with")) from None
        return [Damage("file", str(error))]
    return []


async def clock_of(source: str, rows: RowSource, note: CopyNote, damages: list[Damage]) -> float:
    """Where the rooms' clock stopped; where that is damaged, by the last step and the mark."""
    clock = await rows.clock()
    if clock is None:
        damages.append(Damage("clock", ""))
        marked = None if is_database(source) else ProgressMark(Path(source)).read()
        clock = max(note.now, marked or 0.0)
    return clock


# Keys: files in a data folder, secrets among the records of a database.


def is_signing_key(table: Table, row: Row) -> bool:
    """True for the rows that are not copied as they are, because a data folder has files for them."""
    return table is RECORDS and row[0] == KIND and key_number(f"{row[1]}.key") is not None


async def read_keys(source: str, rows: RowSource, damages: list[Damage]) -> Keys:
    """The keys of a journal; damaged ones are noted."""
    keys: Keys = {}
    if is_database(source):
        for row in await rows.records(KIND):
            if is_signing_key(RECORDS, row) and is_whole(RECORDS, row):
                record = record_of(row)
                keys[key_number(f"{record.group}.key") or 0] = record.body
        return keys
    for number, path in list_keys(Path(source)).items():
        try:
            keys[number] = read_key(path)
        except Damaged:
            damages.append(Damage("keys", path.name))
    return keys


def check_keys(target: str, keys: Keys) -> None:
    """`Foreign` if a data folder has other keys than these."""
    if is_database(target):
        return
    for number, path in list_keys(Path(target)).items():
        if path.read_bytes() != keys.get(number):
            raise Foreign(f"{path} is another key than the one to be copied: choose another data folder")


def keep_keys(target: str, keys: Keys) -> list[Row]:
    """Write the keys to the files of a data folder; for a database, returns the rows to be written there."""
    if not is_database(target):
        for number, key in keys.items():
            write_key(Path(target), number, key)
        return []
    records = [Record(KIND, each, key, key_name(number)) for number, key in keys.items() for each in COPIES]
    return [with_checksum(RECORDS, *values_of(record)) for record in records]

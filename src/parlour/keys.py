"""`parlour keys`: the keys that sign tokens, which are files in a data folder or records in a database."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from parlour.journal import NO_EXTRA, is_database
from parlour.journal.base import Trouble
from parlour.server.secret import KeepsRecords, drop_signing_key, kept_signing_keys, make_signing_key
from parlour.server.tokens import key_name, key_number, list_keys, make_key


class Place(NamedTuple):
    """Where a server keeps its keys: in its database, if it has one, else in its data folder."""

    journal: str
    folder: Path


@asynccontextmanager
async def opened(journal: str) -> AsyncIterator[KeepsRecords]:
    """The records of a database."""
    try:
        from parlour.journal.postgresql.outside import opened_records  # noqa: PLC0415 - an extra
    except ImportError:
        raise Trouble(NO_EXTRA) from None
    async with opened_records(journal) as records:
        yield records


async def names_of(place: Place) -> dict[int, str]:
    """What the keys are called, by number, the oldest first."""
    if not is_database(place.journal):
        return {number: str(file) for number, file in list_keys(place.folder).items()}
    async with opened(place.journal) as records:
        return {number: key_name(number) for number in sorted(await kept_signing_keys(records))}


async def make(place: Place) -> str:
    """Make a new key, which signs from the next start on; returns its name."""
    if not is_database(place.journal):
        return str(make_key(place.folder))
    async with opened(place.journal) as records:
        return key_name(await make_signing_key(records))


async def delete(place: Place, name: str) -> None:
    """Delete a key by its name; not the one that signs, or its number would be used again."""
    names = await names_of(place)
    number = key_number(Path(name).name.removesuffix(".key") + ".key")
    if number not in names:
        raise Trouble(f"expected one of {', '.join(names.values()) or 'no keys'}, got {name[:64]!r}")
    if number == max(names):
        raise Trouble(f"{names[number]} signs: make a new key first, which takes its place")
    if not is_database(place.journal):
        list_keys(place.folder)[number].unlink()
        return
    async with opened(place.journal) as records:
        await drop_signing_key(records, number)

"""Secrets of 32 bytes that are kept in the journal: made once, the same for all who ask, never changed."""

import secrets
from collections.abc import Sequence
from typing import Protocol

from parlour.journal.base import Change, Conflict, Drop, NewRecord, Record, RecordQuery
from parlour.server.tokens import FIRST_KEY, key_name, key_number

KIND = "secret"
COPIES = ("1", "2")
"""Copies of the secret, so that one damaged copy does no harm."""


class KeepsRecords(Protocol):
    """A journal, or a command that looks into one."""

    async def records(self, query: RecordQuery) -> Sequence[Record]:
        """The records that a query finds."""
        ...

    async def keep(self, *changes: Change) -> None:
        """Make these changes, all of them or none."""
        ...


async def secret_of(journal: KeepsRecords, name: str = "") -> bytes:
    """The kept secret of this name, or a new one; of several who make it at once, the first wins.

    The one without a name makes pseudonyms: if all its copies are damaged, GammonX players become strangers.
    """
    kept = await journal.records(RecordQuery(KIND, name))
    if kept and len(kept) == len(COPIES):
        return kept[0].body
    if kept:
        await journal.keep(*(Record(KIND, copy, kept[0].body, name) for copy in COPIES))
        return kept[0].body
    made = secrets.token_bytes(32)
    try:
        await journal.keep(*(NewRecord(KIND, copy, made, name) for copy in COPIES))
    except Conflict:
        kept = await journal.records(RecordQuery(KIND, name))
        if not kept:  # all copies are damaged
            await journal.keep(*(Record(KIND, copy, made, name) for copy in COPIES))
        return kept[0].body if kept else made
    return made


async def signing_keys(journal: KeepsRecords) -> dict[int, bytes]:
    """The keys that sign players' tokens, by number, where the journal keeps them; the first is made."""
    return await kept_signing_keys(journal) or {FIRST_KEY: await secret_of(journal, key_name(FIRST_KEY))}


async def kept_signing_keys(journal: KeepsRecords) -> dict[int, bytes]:
    """The same, as they are."""
    kept = await journal.records(RecordQuery(KIND))
    return {number: record.body for record in kept if (number := key_number(f"{record.group}.key"))}


async def make_signing_key(journal: KeepsRecords) -> int:
    """Make a new key; returns its number."""
    number = max(await kept_signing_keys(journal), default=FIRST_KEY - 1) + 1
    await secret_of(journal, key_name(number))
    return number


async def drop_signing_key(journal: KeepsRecords, number: int) -> None:
    """Delete a key: whoever has a token of it becomes a stranger."""
    await journal.keep(Drop(KIND, key_name(number)))

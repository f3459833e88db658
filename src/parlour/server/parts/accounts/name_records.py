"""Records of which account has which name, by what the name looks like."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from msgspec.structs import astuple, replace

from parlour.errors import Code, Refused
from parlour.journal.base import (
    Change,
    Conflict,
    Damaged,
    Drop,
    Fenced,
    Journal,
    NewRecord,
    Record,
    RecordQuery,
    Unchanged,
)
from parlour.server.parts.accounts.names import RULES, check_account_name, key_of_name
from parlour.server.record_decoding import read
from parlour.server.sessions import KeptPlayer

ACCOUNT_NAME = "account_name"
SORT = -RULES
"""Of names with keys by the rules of now: those of older rules come first, where the largest do."""
AT_ONCE = 100
"""Records whose keys are made anew side by side."""


async def claim_name(journal: Journal, account: KeptPlayer) -> Sequence[Change]:
    """What is written to give an account its name in place of its old one; refused if another one has it."""
    key = key_of_name(check_account_name(account.name))
    taken = await journal.record(ACCOUNT_NAME, key)
    if taken is not None and taken.owner != account.id:
        why = f"another account has the name {account.name}, or one that looks like it; choose another"
        raise Refused(Code.NAME_TAKEN, why, path="$.name")
    drops = await drop_names(journal, account.id, but=key)
    named = _record_of(key, account.name, account.id)
    return (*drops, named) if taken is None else (*drops, Unchanged(taken), Record(*astuple(named)))


async def drop_names(journal: Journal, id: str, but: str | None = None) -> Sequence[Change]:
    """What is written to free the name of an account, whichever rules made its key."""
    owned = await journal.records(RecordQuery(ACCOUNT_NAME, owner=id))
    gone = [record for record in owned if record.key != but]
    return [change for one in gone for change in (Unchanged(one), Drop(ACCOUNT_NAME, key=one.key))]


async def renew_keys(journal: Journal, *, newer: bool = True) -> None:
    """Make the keys of those names anew that were made by older rules, or also by *newer* ones.

    Where two accounts have had names that look the same by today's rules, both keep them.
    """
    goes_on = True
    while goes_on:
        others = await _of_other_rules(journal, newer=newer)
        goes_on = any(await asyncio.gather(*(_renew_key(journal, record) for record in others)))


async def _of_other_rules(journal: Journal, *, newer: bool) -> list[Record]:
    """Some of the names whose keys were made by other rules."""
    oldest = await journal.records(RecordQuery(ACCOUNT_NAME, "", largest_first=True, limit=AT_ONCE))
    older = [record for record in oldest if record.sort > SORT]
    if older or not newer:
        return older
    newest = await journal.records(RecordQuery(ACCOUNT_NAME, "", limit=AT_ONCE))
    return [record for record in newest if record.sort < SORT]


async def _renew_key(journal: Journal, record: Record) -> bool:
    """Make the key of a name anew; False if somebody else was faster."""
    same = (replace(record, sort=SORT),)
    ways: list[Sequence[Change]] = [same]
    with suppress(Damaged):  # noted; nobody can read it
        name = read(record, bytes.decode)
        if (key := key_of_name(name)) != record.key:
            ways = [(Drop(ACCOUNT_NAME, key=record.key), _record_of(key, name, record.owner)), same]
    for changes in ways:
        try:
            await journal.keep(Unchanged(record), *changes)
        except Fenced:
            raise
        except Conflict:  # another account has the key, or another worker was faster
            continue
        return True
    return False


def _record_of(key: str, name: str, owner: str) -> NewRecord:
    """The record of a name; it is sorted by the rules that have made its key."""
    return NewRecord(ACCOUNT_NAME, key, name.encode(), owner=owner, sort=SORT)

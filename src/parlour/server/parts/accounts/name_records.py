"""Records of which account has which name, by what the name looks like."""

from collections.abc import Sequence
from contextlib import suppress

from msgspec.structs import astuple

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
_RULES = "account_name_rules"
"""The kind of the one record that says by which rules all keys were made."""
_MADE_BY = str(RULES).encode()


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


async def renew_keys(journal: Journal) -> None:
    """Make the keys of all names anew, if they were made by other rules.

    Where two accounts have had names that look the same by today's rules, both keep them.
    """
    with suppress(Damaged):  # noted; then the keys are made anew, which changes none that is right
        rules = await journal.record(_RULES, "")
        if rules is not None and rules.body == _MADE_BY:
            return
    names = await journal.records(RecordQuery(ACCOUNT_NAME))
    for record in names:
        with suppress(Damaged):  # noted; nobody can read it
            await _renew_key(journal, record)
    if names:
        await journal.keep(Record(_RULES, "", _MADE_BY))


async def _renew_key(journal: Journal, record: Record) -> None:
    name = read(record, bytes.decode)
    if (key := key_of_name(name)) == record.key:
        return
    try:
        await journal.keep(
            Unchanged(record), Drop(ACCOUNT_NAME, key=record.key), _record_of(key, name, record.owner)
        )
    except Fenced:
        raise
    except Conflict:  # another account has it, or another worker was faster
        return


def _record_of(key: str, name: str, owner: str) -> NewRecord:
    return NewRecord(ACCOUNT_NAME, key, name.encode(), owner=owner)

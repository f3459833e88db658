"""The server's secret: 32 bytes, made with its journal and never changed: what is derived from them lasts."""

import secrets

from parlour.journal.base import Journal, Record, RecordQuery

KIND = "secret"
COPIES = ("1", "2")
"""Of the secret: one that is damaged is not missed."""


async def secret_of(journal: Journal) -> bytes:
    """The secret that is kept, or a new one: if all copies are damaged, GammonX players are strangers."""
    kept = await journal.records(RecordQuery(KIND))
    secret = kept[0].body if kept else secrets.token_bytes(32)
    if len(kept) < len(COPIES):
        await journal.keep(*(Record(KIND, copy, secret) for copy in COPIES))
    return secret

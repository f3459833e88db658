"""The server's secret: 32 bytes, made with its journal. It never changes: pseudonyms are derived from it."""

import secrets

from parlour.journal.base import Journal, Record, RecordQuery

KIND = "secret"
COPIES = ("1", "2")
"""Copies of the secret, so that one damaged copy does no harm."""


async def secret_of(journal: Journal) -> bytes:
    """The kept secret, or a new one. If all copies are damaged, GammonX players are taken for strangers."""
    kept = await journal.records(RecordQuery(KIND))
    secret = kept[0].body if kept else secrets.token_bytes(32)
    if len(kept) < len(COPIES):
        await journal.keep(*(Record(KIND, copy, secret) for copy in COPIES))
    return secret

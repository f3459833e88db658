"""Records of relays: one for each relay, and one for each of its envelopes."""

from collections import Counter
from typing import NamedTuple

import msgspec

from parlour.journal.base import Change, Damaged, Drop, Journal, NewRecord, Record, RecordQuery
from parlour.server.record_decoding import read, read_all

RELAY, ENVELOPE = "relay", "envelope"


class Size(msgspec.Struct, frozen=True):
    """The content of a relay's record."""

    bytes: int


class Held(NamedTuple):
    """The size of a relay's kept envelopes, and the address that they count for."""

    holder: str
    bytes: int


class KeptEnvelope(msgspec.Struct, frozen=True):
    """A numbered envelope of a relay, encoded."""

    num: int
    at: float
    """On the rooms' clock, by which quiet relays are deleted."""
    body: bytes
    first: int = 0
    """The number of the oldest envelope to keep."""
    holder: str = ""
    """The address that the relay counts for."""
    bytes: int = 0
    """The bytes kept of the relay, including this envelope."""


_encode = msgspec.json.Encoder().encode
_read_size = msgspec.json.Decoder(Size).decode


async def keep_envelope(journal: Journal, relay: str, envelope: KeptEnvelope) -> None:
    """Keep an envelope of a relay, and delete those before its `first`.

    `Conflict` if its number is taken.
    """
    num, size = envelope.num, _encode(Size(envelope.bytes))
    changes: list[Change] = [
        NewRecord(ENVELOPE, str(num), envelope.body, group=relay, sort=num),
        Record(RELAY, relay, size, owner=envelope.holder, due=envelope.at),
    ]
    if envelope.first:
        changes.append(Drop(ENVELOPE, relay, below=envelope.first))
    await journal.keep(*changes)


async def kept_envelopes(journal: Journal, relay: str, most: int | None = None) -> list[bytes]:
    """The kept envelopes of a relay, in order; `Damaged` if one is not as it was written.

    If they are more than *most* bytes, only the newest of them.
    """
    newest = RecordQuery(ENVELOPE, relay, largest_first=True, most_bytes=most, strict=True)
    return [record.body for record in reversed(await journal.records(newest))]


async def held_of(journal: Journal, relay: str) -> Held | None:
    """The size of a relay by its newest envelope; None if it has none."""
    try:
        record = await journal.record(RELAY, relay)
        return None if record is None else Held(record.owner, read(record, _read_size).bytes)
    except Damaged:  # noted; the size is counted anew
        return None


async def held_by_all(journal: Journal) -> dict[str, int]:
    """The bytes kept of relays, by the address that they count for."""
    held: Counter[str] = Counter()
    for record in await journal.records(RecordQuery(RELAY)):
        held[record.owner] += sum(size.bytes for size in read_all([record], _read_size))
    return held

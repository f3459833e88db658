"""What is kept of relays: a record for each, and one for each envelope that passed through it."""

from collections import Counter
from typing import NamedTuple

import msgspec

from parlour.journal.base import Change, Damaged, Drop, Journal, NewRecord, Record, RecordQuery
from parlour.server.records import read, read_all

RELAY, ENVELOPE = "relay", "envelope"


class Size(msgspec.Struct, frozen=True):
    """What the record of a relay says."""

    bytes: int


class Held(NamedTuple):
    """What is kept of a relay, and for whom it is counted."""

    holder: str
    bytes: int


class KeptEnvelope(msgspec.Struct, frozen=True):
    """Something numbered that passed through a relay, encoded."""

    num: int
    at: float
    """On the rooms' clock, by which quiet relays are forgotten."""
    body: bytes
    first: int = 0
    """The oldest number that is still worth keeping."""
    holder: str = ""
    """For whom the relay is counted."""
    bytes: int = 0
    """What is kept of the relay, with this."""


_encode = msgspec.json.Encoder().encode
_read_size = msgspec.json.Decoder(Size).decode


async def keep_envelope(journal: Journal, relay: str, envelope: KeptEnvelope) -> None:
    """Keep what passed through a relay, and let go of what came before its `first`.

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
    """What passed through a relay and is kept, in order; `Damaged` where it is not as it was written.

    Where that is more than *most* bytes, only the newest of it.
    """
    newest = RecordQuery(ENVELOPE, relay, largest_first=True, most_bytes=most, strict=True)
    return [record.body for record in reversed(await journal.records(newest))]


async def held_of(journal: Journal, relay: str) -> Held | None:
    """What the newest envelope of a relay said about all of them; None where there is none."""
    try:
        record = await journal.record(RELAY, relay)
        return None if record is None else Held(record.owner, read(record, _read_size).bytes)
    except Damaged:  # noted: it is counted anew
        return None


async def held_by_all(journal: Journal) -> dict[str, int]:
    """The bytes that are kept of relays, by holder."""
    held: Counter[str] = Counter()
    for record in await journal.records(RecordQuery(RELAY)):
        held[record.owner] += sum(size.bytes for size in read_all([record], _read_size))
    return held

"""Records of standings: one for each player on each ladder, sorted by worth."""

import msgspec

from parlour.journal.base import Journal, Record, RecordQuery
from parlour.ratings import Standing
from parlour.server.record_decoding import read_all

STANDING = "standing"

_encode = msgspec.json.Encoder().encode
read_standing = msgspec.json.Decoder(Standing).decode


def standing_record(standing: Standing) -> Record:
    """The record of a standing."""
    ladder, player = standing.ladder, standing.player
    return Record(STANDING, player, _encode(standing), ladder, player, standing.rating.worth)


async def leaders(journal: Journal, ladder: str, limit: int) -> list[Standing]:
    """The first players of a ladder, by their worth."""
    query = RecordQuery(STANDING, ladder, largest_first=True, limit=limit)
    return read_all(await journal.records(query), read_standing)


async def standings_of(journal: Journal, player: str) -> list[Standing]:
    """A player's standings on all ladders."""
    kept = await journal.records(RecordQuery(STANDING, owner=player))
    return sorted(read_all(kept, read_standing), key=lambda standing: standing.ladder)

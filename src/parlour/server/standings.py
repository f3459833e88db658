"""Records of standings: one for each player on each ladder, sorted by worth."""

import msgspec

from parlour.journal.base import Damaged, Journal, Player, Record, RecordQuery
from parlour.ratings import Standing
from parlour.server.record_decoding import read, read_all

STANDING = "standing"

_encode = msgspec.json.Encoder().encode
read_standing = msgspec.json.Decoder(Standing).decode


def standing_record(standing: Standing) -> Record:
    """The record of a standing."""
    ladder, player = standing.ladder, standing.player
    return Record(STANDING, player, _encode(standing), ladder, player, standing.rating.worth)


async def standing_on(journal: Journal, ladder: str, player: Player) -> tuple[Standing, Record | None]:
    """A player's standing and its record; a new one without a record, if none is kept or it is damaged."""
    try:
        record = await journal.record(STANDING, player.id, ladder)
        if record is not None:
            return read(record, read_standing), record
    except Damaged:  # noted; it must not keep a game from counting
        pass
    return Standing(ladder, player.id, player.name), None


async def leaders(journal: Journal, ladder: str, limit: int) -> list[Standing]:
    """The first players of a ladder, by their worth."""
    query = RecordQuery(STANDING, ladder, largest_first=True, limit=limit)
    return read_all(await journal.records(query), read_standing)


async def standings_of(journal: Journal, player: str) -> list[Standing]:
    """A player's standings on all ladders."""
    kept = await journal.records(RecordQuery(STANDING, owner=player))
    return sorted(read_all(kept, read_standing), key=lambda standing: standing.ladder)

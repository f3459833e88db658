"""Records of a game that ended: a result for each of its players, and a note that it has to be rated."""

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from parlour.game import Outcome
from parlour.journal.base import Journal, Player, Record, RecordQuery, Unchanged
from parlour.server.record_decoding import read, read_all

RESULT = "result"
UNRATED = "unrated"


class GameResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a game ended for one of its players, and where its replay is."""

    player: str
    how: Literal["won", "lost", "drew"]
    why: str
    game: str
    ladder: str
    against: tuple[Player, ...]
    room: str
    number: int
    """The journal's own number of the room, which outlasts its id."""
    seq: int
    date: float
    ranked: bool = False
    listed: bool = True
    """False if only its players may know the room's id: it was unlisted, or not for anyone to watch."""
    rating_before: float | None = None
    rating_after: float | None = None
    """What a ranked game made of the player's rating, once it is rated."""


_encode = msgspec.json.Encoder().encode
read_result = msgspec.json.Decoder(GameResult).decode


def result_record(result: GameResult, now: float) -> Record:
    """The record of a result, at that time of the rooms' clock.

    The result of a game that did not count is deleted with its room.
    """
    key = f"{result.number}/{result.seq}/{result.player}"
    room = None if result.ranked else result.number
    return Record(RESULT, key, _encode(result), owner=result.player, sort=now, room=room)


async def results_of(journal: Journal, player: str, limit: int | None) -> list[GameResult]:
    """A player's last results, or all of them, the newest first."""
    query = RecordQuery(RESULT, owner=player, largest_first=True, limit=limit)
    kept = await journal.records(query)
    results = [(record.sort, result) for record in kept for result in read_all([record], read_result)]
    # Of two that ended at the same time, the one of the later room, or of the later step, is newer.
    results.sort(key=lambda pair: (pair[0], pair[1].number, pair[1].seq), reverse=True)
    return [result for _, result in results]


class RatingPoint(msgspec.Struct, frozen=True):
    """A player's rating on a ladder after one of their games."""

    ladder: str
    date: float
    rating: float


def curve_of(results: Sequence[GameResult]) -> list[RatingPoint]:
    """How a player's ratings changed, the oldest first; *results* come the newest first."""
    return [
        RatingPoint(result.ladder, result.date, round(result.rating_after, 1))
        for result in reversed(results)
        if result.rating_after is not None
    ]


async def rated_result(
    journal: Journal, unrated: Record, player: str, before: float, after: float
) -> tuple[Unchanged, Record] | None:
    """The result of a game that is rated now, as it was and with the ratings; None where it is not kept."""
    record = await journal.record(RESULT, f"{unrated.key}/{player}")
    if record is None:
        return None
    result = replace(read(record, read_result), rating_before=before, rating_after=after)
    return Unchanged(record), replace(record, body=_encode(result))


class Unrated(msgspec.Struct, frozen=True, omit_defaults=True):
    """A ranked game that ended and is not in the standings yet."""

    ladder: str
    players: tuple[Player, ...]
    outcome: Outcome
    date: float


read_unrated = msgspec.json.Decoder(Unrated).decode


def unrated_record(game: Unrated, room: int, seq: int, now: float) -> Record:
    """The record that step *seq* of a room leaves for the ratings, at that time of the rooms' clock."""
    return Record(UNRATED, f"{room}/{seq}", _encode(game), sort=now)

"""What a game that ended means for its players: results for their pages, and whether it is rated."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from parlour.game import Outcome
from parlour.journal.base import Journal, Player, Record, RecordQuery
from parlour.ratings import ladder_of
from parlour.room import Room
from parlour.server.parts.ratings.settling import Unrated, unrated_record
from parlour.server.records import read_all
from parlour.server.rooms.summary import Live, seated
from parlour.wire import Step

RESULT = "result"


class GameResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a game ended for one of its players, and where it can be played again."""

    player: str
    how: Literal["won", "lost", "drew"]
    why: str
    game: str
    ladder: str
    against: tuple[Player, ...]
    room: str
    number: int
    """The journal's own, which outlasts the room's id."""
    seq: int
    date: float
    ranked: bool = False
    listed: bool = True
    """False: played in an unlisted room, whose id is for those who played there."""


_encode = msgspec.json.Encoder().encode
_read_result = msgspec.json.Decoder(GameResult).decode


def result_record(result: GameResult, now: float) -> Record:
    """A result as the journal keeps it, at that time of the rooms' clock.

    Where the game did not count it is forgotten with its room.
    """
    key = f"{result.number}/{result.seq}/{result.player}"
    room = None if result.ranked else result.number
    return Record(RESULT, key, _encode(result), owner=result.player, sort=now, room=room)


async def results_of(journal: Journal, player: str, limit: int) -> list[GameResult]:
    """A player's last games, the newest first."""
    query = RecordQuery(RESULT, owner=player, largest_first=True, limit=limit)
    kept = await journal.records(query)
    results = [(record.sort, result) for record in kept for result in read_all([record], _read_result)]
    # Of two that ended at one moment the later room's, or the later step's, is the newer.
    results.sort(key=lambda pair: (pair[0], pair[1].number, pair[1].seq), reverse=True)
    return [result for _, result in results]


def records_of(live: Live, step: Step, room: Room[Any]) -> tuple[Record, ...]:
    """What is kept with the step that brought an outcome; of private rooms only ranked ones count."""
    outcome = room.outcome
    if outcome is None or (live.opening.private and not live.opening.ranked):
        return ()
    players = tuple(player for player in seated(room) if player is not None)
    records = [result_record(result, step.now) for result in _results(live, step, room, players, outcome)]
    if live.opening.ranked and not any(player.bot for player in players):
        game = Unrated(ladder_of(room.game, room.config), players, outcome, step.date)
        records.append(unrated_record(game, live.number, step.seq, step.now))
    return tuple(records)


def _results(
    live: Live, step: Step, room: Room[Any], players: Sequence[Player], outcome: Outcome
) -> list[GameResult]:
    ladder = ladder_of(room.game, room.config)
    results = []
    for player in players:
        how = _how(player.id, outcome)
        if how is not None and not player.bot:
            against = tuple(other for other in players if other != player)
            results.append(
                GameResult(
                    player.id, how, outcome.why, room.game, ladder, against,
                    room.id, live.number, room.seq, step.date, live.opening.ranked, live.opening.listed,
                )
            )  # fmt: skip
    return results


def _how(player: str, outcome: Outcome) -> Literal["won", "lost", "drew"] | None:
    if player in outcome.won:
        return "won"
    if player in outcome.lost:
        return "lost"
    return "drew" if player in outcome.drew else None

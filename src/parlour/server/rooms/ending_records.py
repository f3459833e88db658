"""Records that the step which ends a game leaves: results for its players, and whether it is rated."""

from typing import Any, Literal

from parlour.game import Outcome
from parlour.journal.base import Record
from parlour.ratings import ladder_of
from parlour.room import Room
from parlour.server.result_records import GameResult, Unrated, result_record, unrated_record
from parlour.server.rooms.summary import Opening, seated
from parlour.wire import Step


def records_of(number: int, opening: Opening, step: Step, room: Room[Any]) -> tuple[Record, ...]:
    """The records of a step that brought an outcome; of private rooms only ranked ones count."""
    outcome = room.outcome
    if outcome is None or (opening.private and not opening.ranked):
        return ()
    players = tuple(player for player in seated(room) if player is not None)
    seats = [seat for seat in room.seats if seat is not None]
    remote = {seat.remote for seat in seats}
    records = [result_record(result, step.now) for result in _results(number, opening, step, room)]
    if opening.ranked and not any(seat.bot for seat in seats) and len(remote) == 1:
        ladder = ladder_of(room.game, room.config, bots=True in remote)
        game = Unrated(ladder, players, outcome, step.date)
        records.append(unrated_record(game, number, step.seq, step.now))
    return tuple(records)


def _results(number: int, opening: Opening, step: Step, room: Room[Any]) -> list[GameResult]:
    bots = all(seat is None or seat.remote for seat in room.seats)
    ladder, outcome = ladder_of(room.game, room.config, bots=bots), room.outcome
    assert outcome is not None  # noqa: S101 - the caller checked
    players = [player for player in seated(room) if player is not None]
    results = []
    for player in players:
        how = _how(player.id, outcome)
        if how is not None and player.id not in room.bots:
            against = tuple(other for other in players if other != player)
            results.append(
                GameResult(
                    player.id, how, outcome.why, room.game, ladder, against,
                    room.id, number, room.seq, step.date, opening.ranked,
                    opening.listed and opening.watching == "anyone",
                )
            )  # fmt: skip
    return results


def _how(player: str, outcome: Outcome) -> Literal["won", "lost", "drew"] | None:
    if player in outcome.won:
        return "won"
    if player in outcome.lost:
        return "lost"
    return "drew" if player in outcome.drew else None

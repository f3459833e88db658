"""What a game that ended means for its players: results for their pages, in ranked games their standing."""

from functools import partial
from typing import Any, Literal

from parlour.journal.base import GameResult, Scored
from parlour.ratings import Standing, ladder_of, settle
from parlour.room import Room
from parlour.server.rooms.summary import Opening, seated


def scored(number: int, opening: Opening, room: Room[Any], date: float) -> Scored | None:
    """What the step that brought this outcome counts for; of private rooms only ranked ones do."""
    outcome = room.outcome
    if outcome is None or (opening.private and not opening.ranked):
        return None
    players = [player for player in seated(room) if player is not None]
    ladder = ladder_of(room.game, room.config)
    results = []
    for player in players:
        how = _how(player.id, room)
        if how is not None and not player.bot:
            against = tuple(other for other in players if other != player)
            results.append(
                GameResult(
                    player.id, how, outcome.why, room.game, ladder, against,
                    room.id, number, room.seq, date, opening.ranked, opening.listed,
                )
            )  # fmt: skip
    if not opening.ranked or any(player.bot for player in players):
        return Scored(tuple(results)) if results else None
    standings = tuple(Standing(ladder, player.id, player.name) for player in players)
    names = {player.id: player.name for player in players}
    return Scored(tuple(results), standings, partial(settle, outcome=outcome, date=date, names=names))


def _how(player: str, room: Room[Any]) -> Literal["won", "lost", "drew"] | None:
    outcome = room.outcome
    if outcome is None:
        return None
    if player in outcome.won:
        return "won"
    if player in outcome.lost:
        return "lost"
    return "drew" if player in outcome.drew else None

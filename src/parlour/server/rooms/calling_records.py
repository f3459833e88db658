"""Records that a step leaves of players who are away: it is their turn, or it is not any more."""

from typing import Any

from parlour.journal.base import Change
from parlour.room import Room
from parlour.server.turn_records import AwaitedTurn, end_turn, turn_record
from parlour.wire import Step

GRACE = 10.0
"""Seconds for which somebody may be away before they are told of their turn: a page that loads again."""


def call_records(number: int, was: Room[Any], room: Room[Any], step: Step) -> tuple[Change, ...]:
    """What a step changes about who is to be told: new turns of those who are away, and those that ended."""
    if not was.called and not room.called:
        return ()
    back = {player for player in room.connected if player not in was.connected}
    over = [player for player in was.called if player not in room.called or player in back]
    new = [player for player, seq in room.called.items() if seq > was.seq and player not in room.connected]
    return (
        *(end_turn(number, player) for player in over),
        *(turn_record(_turn_of(number, room, player, step), step.now + GRACE) for player in new),
    )


def _turn_of(number: int, room: Room[Any], player: str, step: Step) -> AwaitedTurn:
    out = room.out_of_time(player)
    return AwaitedTurn(
        room=room.id,
        number=number,
        game=room.game,
        player=player,
        seq=room.called[player],
        date=step.date,
        until=None if out is None else step.date + out - step.now,
    )

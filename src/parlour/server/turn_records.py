"""Records of turns whose players are away: the step that begins such a turn leaves one."""

import msgspec

from parlour.journal.base import Drop, Record

TURN = "turn"


class AwaitedTurn(msgspec.Struct, frozen=True, omit_defaults=True):
    """A turn of somebody who is not in the room."""

    room: str
    number: int
    """The journal's own number of the room, which outlasts its id."""
    game: str
    player: str
    seq: int
    """The step in which the turn began, or in which its player left: the turn's own number."""
    date: float
    until: float | None = None
    """When the player's time is over, as wall time, if it runs."""


_encode = msgspec.json.Encoder().encode
read_turn = msgspec.json.Decoder(AwaitedTurn).decode


def turn_key(room: int, player: str) -> str:
    """The key of a player's turn in a room."""
    return f"{room}/{player}"


def turn_record(turn: AwaitedTurn, due: float | None) -> Record:
    """The record of a turn; *due* is when its player is to be told, None once that is seen to."""
    key = turn_key(turn.number, turn.player)
    return Record(TURN, key, _encode(turn), owner=turn.player, due=due, room=turn.number)


def end_turn(room: int, player: str) -> Drop:
    """A turn is over, or its player has seen it."""
    return Drop(TURN, key=turn_key(room, player))

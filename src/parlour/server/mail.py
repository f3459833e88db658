"""What workers send each other: what crosses the border, and calls to rooms with their results."""

from typing import Any

import msgspec
from msgspec import Raw

from parlour.errors import Refused
from parlour.server.border import NOTHING, Ask, Told
from parlour.server.bots.worker import Question
from parlour.server.rooms.calls import (
    AskHint,
    CallOff,
    EndWaiting,
    MoveBot,
    Perform,
    RoomCall,
    SeatBot,
    Seated,
    SitDown,
)


class CallRoom(msgspec.Struct, frozen=True, tag=True):
    """Have a room carry out a call in its turn."""

    number: int
    room: str
    call: RoomCall


class CallDone(msgspec.Struct, frozen=True, tag=True):
    """The result of a call."""

    number: int
    result: Raw


class CallRefused(msgspec.Struct, frozen=True, tag=True):
    """A call was refused: the fields of a `Refused`."""

    number: int
    code: str
    message: str
    path: str | None = None
    legal: Raw = NOTHING

    @property
    def refusal(self) -> Refused:
        """Make a refusal of the message."""
        return Refused(self.code, self.message, path=self.path)


class CallMoved(msgspec.Struct, frozen=True, tag=True):
    """A call was not carried out, because the room has another owner."""

    number: int


class LookNow(msgspec.Struct, frozen=True, tag=True):
    """Look at once who owns what: it has changed."""


Mail = Ask | Told | CallRoom | CallDone | CallRefused | CallMoved | LookNow

encode_mail = msgspec.json.Encoder().encode
decode_mail = msgspec.json.Decoder(Mail).decode

RESULTS: dict[type, Any] = {
    Perform: int,
    SeatBot: Seated | None,
    AskHint: Question,
    MoveBot: None,
    SitDown: int,
    EndWaiting: None,
    CallOff: tuple[str, ...],
}
"""What each call returns."""

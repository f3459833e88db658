"""What workers send each other: what crosses the border, and calls to rooms with their results."""

from typing import Any, Literal

import msgspec
from msgspec import Raw

from parlour.errors import Refused
from parlour.journal.base import Found, RoomSummary
from parlour.lobby import Ticket, Vacancy
from parlour.server.api.forwarding import HttpAnswer, HttpCall
from parlour.server.border import NOTHING, Ask, Told
from parlour.server.bots.worker import Question
from parlour.server.gateway.pipes import PipeNews
from parlour.server.rooms.calls import (
    AskHint,
    AsksPlayer,
    CallOff,
    CheckInvitation,
    EndWaiting,
    ListPeople,
    MoveBot,
    Perform,
    RoomCall,
    SeatBot,
    Seated,
    SeatedPerson,
    SitDown,
)
from parlour.wire import Queue


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


class SessionEnded(msgspec.Struct, frozen=True, tag=True):
    """A player has ended all sessions before this one; or, if a device is named, the one of that device."""

    player: str
    session: int
    device: int | None = None


class SpentElsewhere(msgspec.Struct, frozen=True, tag=True):
    """What the addresses that ask most have asked for at one worker since its last message."""

    requests: dict[str, float]
    """By address, in moves."""
    guesses: dict[str, float]
    """By address: rooms that are not there."""
    accounts: dict[str, float] = {}
    """By address: new accounts."""


class AskMetrics(msgspec.Struct, frozen=True, tag=True):
    """Tell your metrics."""

    number: int


class MetricsTold(msgspec.Struct, frozen=True, tag=True):
    """The metrics of a worker, in the format of Prometheus."""

    number: int
    text: str


class Watched(msgspec.Struct, frozen=True, tag=True):
    """How many watch rooms of the sender, by room; *whole*: nobody watches any other room of it."""

    counts: dict[str, int]
    whole: bool = False


class Greeting(msgspec.Struct, frozen=True, tag=True):
    """The games that the sender has, by name, with the versions of their rules; *ask*: greet in return.

    Whoever gets one may have missed what the sender told others, and reads again which sessions are ended.
    """

    games: dict[str, int]
    ask: bool = False


class LookNow(msgspec.Struct, frozen=True, tag=True):
    """Look at once who owns what: it has changed."""


class AskLobby(msgspec.Struct, frozen=True, tag=True):
    """What a client asks at the lobby, of the worker that owns it; *number* 0: nobody waits for an answer."""

    number: int
    client: int
    player: str
    address: str | None = None
    wish: Literal["enter", "leave", "queue", "unqueue"] = "enter"
    queue: Queue | None = None
    ticket: str = ""
    plays: tuple[str, ...] | None = None


class LobbyAnswered(msgspec.Struct, frozen=True, tag=True):
    """The answer to what a client asked at the lobby."""

    number: int
    payload: Raw


class LobbyRefused(msgspec.Struct, frozen=True, tag=True):
    """What a client asked at the lobby was refused."""

    number: int
    code: str
    message: str
    path: str | None = None


class LobbyPushed(msgspec.Struct, frozen=True, tag=True):
    """A push to a client at the lobby."""

    client: int
    name: str
    payload: Raw


class RoomNews(msgspec.Struct, frozen=True, tag=True):
    """An event of a room, for whoever owns the lobby: other seats, or its end (None)."""

    room: str
    sitting: tuple[str, ...] | None
    matched: tuple[Ticket, ...] = ()


class RoomListed(msgspec.Struct, frozen=True, tag=True):
    """A room was opened, or has another summary, for the list of rooms."""

    summary: RoomSummary
    opened: Found | None = None


class Reserved(msgspec.Struct, frozen=True, tag=True):
    """For whom the lobby keeps the seats of a room; nothing of either: for nobody."""

    room: str
    vacancy: Vacancy | None = None
    sent: tuple[str, ...] = ()


class ReservedNothing(msgspec.Struct, frozen=True, tag=True):
    """The lobby begins anew: what was reserved before does not count."""


LobbyMail = (
    AskLobby | LobbyAnswered | LobbyRefused | LobbyPushed | RoomNews | RoomListed | Reserved | ReservedNothing
)
Notice = LookNow | SessionEnded | SpentElsewhere | AskMetrics | MetricsTold | Watched | Greeting
"""What workers tell each other besides what clients ask for."""
NetworkMail = PipeNews | HttpCall | HttpAnswer
Mail = Ask | Told | CallRoom | CallDone | CallRefused | CallMoved | Notice | NetworkMail | LobbyMail

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
    ListPeople: tuple[SeatedPerson, ...],
    AsksPlayer: bool,
    CheckInvitation: str,
}
"""What each call returns."""

"""Calls of parts and of the HTTP API to a room: carried out in the room's turn, with a result."""

import msgspec
from msgspec import Raw

from parlour.journal.base import Player
from parlour.lobby import Ticket
from parlour.server.bots.worker import Question
from parlour.wire import Command


class Perform(msgspec.Struct, frozen=True, tag=True):
    """Carry out a command for a player without a connection; returns the seq."""

    command: Command
    id: str | None = None


class SeatBot(msgspec.Struct, frozen=True, tag=True):
    """Give a bot a seat, the game's best unless another is named; returns a `Seated`."""

    bot: str | None = None
    by: str | None = None
    """Who asks: a seated player or whoever opened the room; None is the server itself."""
    ticket: str | None = None
    """Only while this ticket waits in the room for company; otherwise nothing happens."""


class AskHint(msgspec.Struct, frozen=True, tag=True):
    """Ask what a bot would have to decide in a player's place; returns a `Question`."""

    player: str
    bot: str | None = None


class MoveBot(msgspec.Struct, frozen=True, tag=True):
    """Make a bot's move, if the bot still has to answer the same question."""

    player: str
    question: Question
    event: Raw | None
    held: float = 0.0
    """Seconds for which it was held back so that people can follow, which cost the bot no time."""


class SitDown(msgspec.Struct, frozen=True, tag=True):
    """Seat the player of this ticket; with that the ticket is matched."""

    ticket: Ticket


class EndWaiting(msgspec.Struct, frozen=True, tag=True):
    """End a room in which this ticket still waits for company."""

    why: str
    ticket: str


class CallOff(msgspec.Struct, frozen=True, tag=True):
    """End a room in which nobody has played and somebody never came; returns the seated players."""

    why: str


class ListPeople(msgspec.Struct, frozen=True, tag=True):
    """List the people who sit in a room and are connected; returns `SeatedPerson`s."""


class AsksPlayer(msgspec.Struct, frozen=True, tag=True):
    """Find out whether the game waits for this player to do something; returns a bool."""

    player: str


class CheckInvitation(msgspec.Struct, frozen=True, tag=True):
    """Check that somebody may invite a bot to a free seat here; returns the name of the game."""

    by: str


class SeatedPerson(msgspec.Struct, frozen=True):
    """Somebody with a seat."""

    player: str
    name: str


RoomCall = (
    Perform | SeatBot | AskHint | MoveBot | SitDown | EndWaiting | CallOff | ListPeople | AsksPlayer
    | CheckInvitation
)  # fmt: skip


class Seated(msgspec.Struct, frozen=True):
    """A bot that took a seat, and the seq of that step."""

    player: Player
    seat: int
    seq: int

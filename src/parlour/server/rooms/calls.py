"""What the parts and the HTTP calls ask of a room: done in the room's turn, and waited for."""

import msgspec
from msgspec import Raw

from parlour.journal.base import Player
from parlour.lobby import Ticket
from parlour.server.bots.worker import Question
from parlour.wire import Command


class Perform(msgspec.Struct, frozen=True, tag=True):
    """Do a command for somebody without a connection; gives the seq."""

    command: Command
    id: str | None = None


class SeatBot(msgspec.Struct, frozen=True, tag=True):
    """Give a bot a seat, the game's best unless another is named; gives a `Seated`."""

    bot: str | None = None
    by: str | None = None
    """Who asks: somebody who sits there or opened the room; None is the server itself."""
    below: int | None = None
    """Only if fewer than so many sit there; else nothing happens."""


class AskHint(msgspec.Struct, frozen=True, tag=True):
    """What a bot would have to decide in a player's place; gives a `Question`."""

    player: str
    bot: str | None = None


class MoveBot(msgspec.Struct, frozen=True, tag=True):
    """Do what a bot answered, if it is still what it was asked."""

    player: str
    question: Question
    event: Raw | None


class SitDown(msgspec.Struct, frozen=True, tag=True):
    """Seat the holder of a ticket, which is matched by that."""

    ticket: Ticket


class EndWaiting(msgspec.Struct, frozen=True, tag=True):
    """End a room in which fewer than *below* sit."""

    why: str
    below: int


class CallOff(msgspec.Struct, frozen=True, tag=True):
    """End a room in which nobody has played and somebody never came; gives those who sat there."""

    why: str


RoomCall = Perform | SeatBot | AskHint | MoveBot | SitDown | EndWaiting | CallOff


class Seated(msgspec.Struct, frozen=True):
    """A bot that took a seat, and the step in which it did."""

    player: Player
    seat: int
    seq: int

"""What a client writes down for itself: everything it asked, was answered and was told, in order."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec


class Entry(msgspec.Struct, frozen=True, tag=True):
    """One line of a diary."""


class Asked(Entry, frozen=True):
    """A command was sent, perhaps again: the same id is the same command."""

    id: str
    event: str
    payload: dict[str, Any]


class Answered(Entry, frozen=True):
    """The reply to a command: its step's seq, or the code of a refusal."""

    id: str
    seq: int | None = None
    code: str | None = None


class Joined(Entry, frozen=True):
    """A way into the room, first or again, and the last seq that was known when it was asked for."""

    since: int | None
    seq: int
    seat: int | None = None


class ShutOut(Entry, frozen=True):
    """A way into the room was refused."""

    code: str


class Heard(Entry, frozen=True):
    """A push of the room; presence is left out, because it has no seq."""

    name: str
    payload: dict[str, Any]


class Cut(Entry, frozen=True):
    """The connection is gone, by whosever fault."""


class Diary:
    """One player's diary of one room."""

    def __init__(self, player: str, room: str, entries: Iterable[Entry] = ()) -> None:
        self.player = player
        self.room = room
        self.entries: list[Entry] = list(entries)

    def note(self, entry: Entry) -> None:
        self.entries.append(entry)

    def all(self, kind: type[Any]) -> Iterator[Any]:
        """The entries of one kind."""
        return (entry for entry in self.entries if isinstance(entry, kind))

    def dump(self) -> bytes:
        """As JSON, for somebody who wants to know what went wrong."""
        return msgspec.json.encode({"player": self.player, "room": self.room, "entries": self.entries})

"""The list of open rooms: a client that joins the lobby gets all of it, and then the changes."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Protocol, TypedDict

import msgspec

from parlour.journal.base import Found, RoomSummary
from parlour.server.clock import Clock, Handle
from parlour.server.rooms.events import RoomEvent, RoomOpened, SummaryChanged
from parlour.server.rooms.summary import PublicRoom, RoomInMemory
from parlour.wire import Push

MAX_LISTED = 200
MOST_OF_AN_ADDRESS = 50
"""Listed rooms of one address at most, so that nobody fills the list."""
NEW_FOR = 60.0
"""Seconds for which a new room is listed, although nobody is there yet."""
PAUSE = 1.0
LONGEST_PAUSE = 10.0
LISTENERS = 200
"""How long changes wait for more before they are sent, at least and at most: a second for so many clients."""
LIST_LASTS = 1.0
"""Seconds for which the same list is sent to all who ask, unless a room changes."""

_encode = msgspec.json.Encoder().encode


class OpenRooms(TypedDict):
    """The whole list, for a client that joins the lobby."""

    rooms: list[PublicRoom]


class ChangedRooms(TypedDict):
    """The changes that follow."""

    rooms: list[PublicRoom]
    """Rooms that are new in the list or have changed, as they are now."""
    gone: list[str]
    """The ids of rooms that are no longer listed."""


class Listeners(Protocol):
    """The clients at the lobby."""

    def __len__(self) -> int: ...

    def tell_all(self, push: Push) -> None:
        """Send a push to everybody."""
        ...

    def clear(self) -> None:
        """Remove all clients."""
        ...


class RoomList:
    """Knows which rooms are listed, and sends changes to the lobby.

    A room is listed unless it is private or was opened unlisted, as long as a seated player or whoever
    opened it is connected to it; and for a while after it was opened. One that not anyone may watch is
    listed only while it waits for players; one that pairing opened, once those have come.
    """

    def __init__(
        self,
        clock: Clock,
        rooms: Callable[[], Iterable[RoomInMemory]],
        describe: Callable[[Found], PublicRoom],
    ) -> None:
        self._clock = clock
        self.overview = rooms
        """Gives the rooms that people are in."""
        self._describe = describe
        self.lobby: Listeners
        """The clients at the lobby; set once there is a lobby."""
        self._new: dict[str, tuple[float, Found]] = {}
        """Rooms that were opened lately, and until when they are listed anyway."""
        self._kept: tuple[float, list[Found], list[PublicRoom]] | None = None
        self._told: dict[str, tuple[int, int]] = {}
        """The rooms that the clients at the lobby know, by id: the number, and how many were watching."""
        self._changed: set[str] = set()
        self._planned: Handle | None = None
        self._due = 0.0

    def welcome(self, *, first: bool) -> Push:
        """The whole list, for a client that joins the lobby; *first* if nobody else is there."""
        _, rooms, described = self._list()
        if first:
            told = zip(rooms, described, strict=True)
            self._told = {room.id: (found.number, room.spectators) for found, room in told}
            self._changed = set()
        else:  # the others get what they do not know yet as a change, and so does this client
            self._told = {**{room.id: (0, 0) for room in described}, **self._told}
        self._plan(LONGEST_PAUSE)
        return Push("rooms", OpenRooms(rooms=self.listed()))

    def hear(self, event: RoomEvent) -> None:
        """Note new rooms and changed ones."""
        match event:
            case RoomOpened():
                self._opened(event.found)
            case SummaryChanged():
                self._change(event.summary)
            case _:
                pass

    def look_again(self) -> None:
        """The rooms of other workers were read anew."""
        self._kept = None
        if len(self.lobby):
            self._plan(PAUSE)

    def stop(self) -> None:
        """Send nothing any more."""
        self.lobby.clear()
        if self._planned is not None:
            self._planned.cancel()

    # The list.

    def _opened(self, found: Found) -> None:
        now = self._clock.now()
        self._forget_old(now)
        self._new[found.summary.id] = (now + NEW_FOR, found)

    def _change(self, summary: RoomSummary) -> None:
        """Note a room's new summary; the lobby gets it later, with other changes."""
        self._kept = None
        if summary.id in self._new:
            until, found = self._new[summary.id]
            self._new[summary.id] = (until, Found(found.number, found.seq, summary))
        is_public = summary.listed and not summary.private
        if len(self.lobby) and is_public:
            self._changed.add(summary.id)
            self._plan(min(max(PAUSE, len(self.lobby) / LISTENERS), LONGEST_PAUSE))

    def listed(self) -> list[PublicRoom]:
        """The listed rooms, newest first."""
        return self._list()[2]

    def _list(self) -> tuple[float, list[Found], list[PublicRoom]]:
        now = self._clock.now()
        if self._kept is None or self._kept[0] <= now:
            rooms = self._find_listed()
            self._kept = (now + LIST_LASTS, rooms, [self._describe(found) for found in rooms])
        return self._kept

    def _find_listed(self) -> list[Found]:
        """The newest rooms that may be listed; looks at no more rooms than it takes to find them."""
        self._forget_old(self._clock.now())
        rooms = {room.found.summary.id: room for room in self.overview()}
        numbers = {id: found.number for id, (_, found) in self._new.items()}
        numbers |= {id: room.found.number for id, room in rooms.items()}
        opened: Counter[str | None] = Counter()
        listed: list[Found] = []
        for id in sorted(numbers, key=numbers.__getitem__, reverse=True):
            found = self._found(id, rooms.get(id))
            if found is not None:
                address = found.summary.address
                opened[address] += 1
                if address is None or opened[address] <= MOST_OF_AN_ADDRESS:
                    listed.append(found)
                if len(listed) == MAX_LISTED:
                    break
        return listed

    def _found(self, id: str, room: RoomInMemory | None) -> Found | None:
        """A room as it is now, if it may be listed; *room* if it is in memory."""
        found = self._new[id][1] if id in self._new else None
        if room is not None and (found is not None or room.is_attended):
            found = room.found
        if (
            found is None
            or found.summary.ended is not None
            or found.summary.private
            or not found.summary.listed
            or found.summary.coming
            or (found.summary.watching != "anyone" and found.summary.status != "waiting")
        ):
            return None
        return found

    def _forget_old(self, now: float) -> None:
        """Remove rooms that are not new any more; the oldest come first."""
        while self._new and (first := next(iter(self._new))) and self._new[first][0] <= now:
            del self._new[first]

    # Sending.

    def _plan(self, pause: float) -> None:
        """Send the changes after that many seconds, or sooner if that is planned already."""
        due = self._clock.now() + pause
        if self._planned is not None:
            if self._due <= due:
                return
            self._planned.cancel()
        self._due = due
        self._planned = self._clock.call_at(due, self._ring)

    def _ring(self) -> None:
        self._planned, self._kept = None, None
        if not len(self.lobby):
            return
        rooms = [(found, self._describe(found)) for found in self._find_listed()]
        listed = {room.id: (found.number, room.spectators) for found, room in rooms}
        different = [
            room
            for _, room in rooms
            if room.id in self._changed or self._told.get(room.id) != listed[room.id]
        ]
        gone = [id for id in self._told if id not in listed]
        self._told, self._changed = listed, set()
        if different or gone:
            self._tell_all(ChangedRooms(rooms=different, gone=gone))
        self._plan(LONGEST_PAUSE)  # rooms come and go from the list without a new summary, too

    def _tell_all(self, what: ChangedRooms) -> None:
        self.lobby.tell_all(Push("rooms_changed", msgspec.Raw(_encode(what))))  # encoded once for all

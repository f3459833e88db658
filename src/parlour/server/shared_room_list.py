"""The list of rooms where many workers own them: who plays is read, and how many watch is told."""

from collections.abc import Callable

from parlour.journal.base import RoomQuery, Trouble
from parlour.server.clock import Rounds
from parlour.server.components import Components
from parlour.server.mail import Mail, Watched
from parlour.server.parts.room_list import MAX_LISTED
from parlour.server.rooms.events import RoomEnded, RoomEvent, SpectatorsChanged
from parlour.server.rooms.summary import RoomInMemory
from parlour.server.tasks import Tasks

READ_EVERY = 1.0
"""Seconds between two looks at the rooms of all workers."""


class SharedRoomList:
    """Knows the rooms of all workers that people are in, and how many watch each."""

    def __init__(
        self,
        parlour: Components,
        me: int,
        owner: Callable[[str], int],
        send: Callable[[int, Mail], None],
    ) -> None:
        self._parlour = parlour
        self._me = me
        self._owner = owner
        """Gives the owner of a room."""
        self._send = send
        self._others: set[int] = set()
        self._listed: list[RoomInMemory] = []
        """The newest rooms that people are in, at whichever worker."""
        self._watching: dict[str, int] = {}
        """How many watch a room, where anybody does; of all workers."""
        self._tasks = Tasks()
        self._rounds = Rounds(parlour.clock, READ_EVERY, lambda: self._tasks.start(self._read()))

    def start(self) -> None:
        """Begin to read, to tell and to be asked."""
        self._parlour.room_list.overview = self._overview
        self._parlour.rooms.watching_elsewhere = lambda room: self._watching.get(room, 0)
        self._parlour.environment.listeners.append(self._hear)
        self._rounds.start()

    def stop(self) -> None:
        """Read nothing any more."""
        self._rounds.stop()

    async def _read(self) -> None:
        """Read which rooms people are in, at whichever worker."""
        try:
            found = await self._parlour.journal.rooms(RoomQuery(connected=True, limit=MAX_LISTED))
        except Trouble:
            return
        self._listed = [RoomInMemory(room, is_attended=True) for room in found]
        self._parlour.room_list.look_again()

    def _overview(self) -> list[RoomInMemory]:
        """The rooms of all workers; ours as they are now."""
        ours = self._parlour.rooms.overview()
        ids = {room.found.summary.id for room in ours}
        return [*ours, *(room for room in self._listed if room.found.summary.id not in ids)]

    # How many watch.

    def _hear(self, event: RoomEvent) -> None:
        """Tell all workers how many watch a room of ours, where that has changed."""
        match event:
            case SpectatorsChanged(room, count):
                self._change(room, count)
            case RoomEnded(room):
                self._change(room, 0)
            case _:
                pass

    def _change(self, room: str, count: int) -> None:
        if count != self._watching.get(room, 0):
            self._note({room: count})
            for worker in self._others:
                self._send(worker, Watched({room: count}))

    def _note(self, counts: dict[str, int]) -> None:
        self._watching |= counts
        for room in [room for room, count in counts.items() if not count]:
            del self._watching[room]

    def look(self, others: set[int]) -> None:
        """See which other workers there are; new ones are told what we know."""
        new, self._others = others - self._others, others
        for worker in new:
            self.tell_all_of_ours(worker)

    def tell_all_of_ours(self, worker: int) -> None:
        """Tell a worker how many watch each of our rooms: it may know less, or something else."""
        ours = {room: count for room, count in self._watching.items() if self._owner(room) == self._me}
        self._send(worker, Watched(ours, whole=True))

    def take(self, sender: int, told: Watched) -> None:
        """Take what another worker tells."""
        if told.whole:
            watching = self._watching.items()
            self._watching = {room: count for room, count in watching if self._owner(room) != sender}
        self._note(told.counts)

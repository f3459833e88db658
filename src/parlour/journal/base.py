"""The interface of a journal: it keeps rooms with their steps and states, and records beside them."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Literal, Protocol

import msgspec
from msgspec import UNSET, UnsetType

from parlour.clocks import ClockSettings
from parlour.game import Outcome
from parlour.lobby import Mode
from parlour.wire import RevealedSeed, Step, Watching, read_step

Durability = Literal["disk", "process"]
"""What an acknowledged step survives: the loss of power, or the death of the process."""

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The errors of decoding a kept step that is damaged."""


class Trouble(Exception):
    """Something that the journal could not do."""


class Conflict(Trouble):
    """Somebody else was first: a step's number, an open room's id or a record's key is taken, or a record has
    changed. Nothing of the write was kept."""


class Fenced(Conflict):
    """This worker was declared gone, or its connection was: nothing that it writes is kept any more."""


class NotKept(Trouble):
    """The write certainly did not happen, or the file could not be read."""


class OutcomeUnknown(Trouble):
    """Nobody knows whether the write happened: the connection was lost during it."""


class DiskFailed(OutcomeUnknown):
    """The disk failed: whether the write happened is known only once the file is opened again."""


class Damaged(Trouble):
    """What was read is not what was written."""


class Lost(Trouble):
    """Something that was kept is missing."""


class TooNew(Trouble):
    """The journal was written by a newer Parlour."""


class Foreign(Trouble):
    """The file in the journal's place is not Parlour's."""


class Unfinished(Trouble):
    """A copy into this journal was begun and not finished."""


class Player(msgspec.Struct, frozen=True, omit_defaults=True):
    """A person or a bot with an id that lasts."""

    id: str
    name: str
    bot: bool = False
    account: bool = False
    """Somebody with an account, as far as the room knew that; other people are guests."""

    @property
    def is_guest(self) -> bool:
        """True if somebody else may have the same name."""
        return not self.bot and not self.account


class RoomSummary(msgspec.Struct, frozen=True, omit_defaults=True):
    """The summary of a room: all that a list of rooms shows."""

    id: str
    game: str
    created: float
    seats: tuple[Player | None, ...]
    status: str
    seed_hash: str
    private: bool = False
    outcome: Outcome | None = None
    shown: tuple[RevealedSeed, ...] = ()
    ended: str | None = None
    ended_at: float | None = None
    """When it ended, on the rooms' clock, by which old rooms are deleted. (Rooms that ended under a journal
    of format 3 have wall time here, and are deleted by a time that was noted at the upgrade.)"""
    creator: str | None = None
    """Who opened it, a player or an address: nobody can open too many."""
    held: float | None = None
    """Since when its clock stands still because its game is not on this server."""
    connected: int = 0
    """How many seated players are connected."""
    ranked: bool = False
    """True if its games count on the ladder."""
    listed: bool = True
    """True if it may be in the list of open rooms, unless it is private."""
    address: str | None = None
    """The address that opened it: no address can open too many."""
    mode: Mode = "normal"
    """How its players were to be found, if pairing opened it."""
    config: dict[str, Any] = {}
    """The game's settings as far as a list can show them: no lists, no long texts."""
    score: tuple[int, ...] = ()
    """The points of each seat, where the game counts some."""
    watching: Watching = "anyone"
    """Who may watch it, also later as a replay."""
    apart: bool = False
    """True if players and spectators talk apart."""
    least: int = 0
    """How many must sit for the game to be played; 0: a room of an older version does not say."""
    clock: ClockSettings | None = None
    """How much time its players have, where they have clocks."""
    coming: tuple[Player, ...] = ()
    """Those who were paired for it and have not sat down yet."""


class Found(msgspec.Struct, frozen=True):
    """A room as the journal knows it: its number, the seq of its last step, and its summary."""

    number: int
    seq: int
    summary: RoomSummary


class Stored(msgspec.Struct, frozen=True):
    """A room's state as it was after step *seq*, encoded."""

    seq: int
    state: bytes


class Recalled(msgspec.Struct, frozen=True):
    """All that loading a room needs."""

    found: Found
    stored: Stored
    steps: list[Step]
    """The steps after that state."""
    answers: dict[tuple[str, str], int]


class Record(msgspec.Struct, frozen=True):
    """Something that is kept under a name; the journal does not know its content."""

    kind: str
    key: str
    """Its name, unique within its kind and group."""
    body: bytes
    """Its content, encoded by whoever keeps it."""
    group: str = ""
    """Within a kind, records that are read together in order: those of a ladder, say, or of a relay."""
    owner: str = ""
    """Its owner: records can be found by owner, too."""
    sort: float = 0.0
    """The order within a kind and group."""
    due: float | None = None
    """A time of the rooms' clock by which it is found: when it was last used, say."""
    room: int | None = None
    """The room with which it is deleted, by the journal's own number."""


class NewRecord(Record, frozen=True):
    """A record that must not be there yet: `Conflict` if its key is taken."""


class Drop(msgspec.Struct, frozen=True):
    """Delete the record with this key; or all of the group whose `sort` is below; or the whole group."""

    kind: str
    group: str = ""
    key: str | None = None
    below: float | None = None


class Unchanged(msgspec.Struct, frozen=True):
    """Write the rest only if a record is still as it was read: `Conflict` otherwise."""

    record: Record


Change = Record | Drop | Unchanged
"""A change of records; a `NewRecord` is a record."""


class RecordQuery(msgspec.Struct, frozen=True):
    """Which records of a kind are wanted."""

    kind: str
    group: str | None = None
    """None: of all groups."""
    owner: str | None = None
    due_by: float | None = None
    """Only those that are due by then, the earliest first."""
    largest_first: bool = False
    """Descending by `sort`; otherwise ascending. Records of the same `sort` come by their keys."""
    limit: int | None = None
    most_bytes: int | None = None
    """Stop before the bodies are longer than that together."""
    strict: bool = False
    """`Damaged` if one of them is; otherwise damaged ones are noted and left out."""


class RoomQuery(msgspec.Struct, frozen=True):
    """Which open rooms are wanted: those for which all fields given here are true."""

    player: str | None = None
    """This player has a seat there."""
    due_by: float | None = None
    """It has a deadline by then; such rooms come in that order, others the newest first."""
    connected: bool = False
    """Its last step left a seated player connected."""
    held: bool = False
    """Its clock stands still."""
    other_games: tuple[str, ...] = ()
    """It is of none of these games."""
    shards: tuple[int, ...] | None = None
    """It is in one of these shards; only where a journal is shared by many workers."""
    id_in_any_case: str | None = None
    """It has this id, or one that differs only in capitals."""
    limit: int | None = None


class StepWrites(msgspec.Struct, frozen=True):
    """What is written beside a step, as far as the step changed it; beside several, what the last left."""

    summary: RoomSummary | None = None
    state: bytes | None = None
    due: float | UnsetType | None = UNSET
    """When the room has to wake; unset: as before."""
    records: tuple[Change, ...] = ()


class Damage(msgspec.Struct, frozen=True):
    """Something kept that is not as it was written."""

    table: str
    row: str
    """What identifies it."""


Kept = Callable[[Trouble | None], None]
"""Called when a step is kept, or with the reason why it is not."""


class Chain:
    """Reads a room's kept steps in order, and accepts none that is not as it was written."""

    def __init__(self, room: int, after: int, head: bytes | None = None) -> None:
        self.room = room
        self.seq = after
        self._head = head
        """The digest of the last step; None: the next one is believed."""

    def read(self, seq: int, body: bytes, hash: bytes) -> Step:
        """The next step, by its body and that body's digest; `Damaged` if it does not follow the last one."""
        if seq != self.seq + 1:
            raise Damaged(f"room {self.room}: step {self.seq + 1} is missing, step {seq} comes next")
        try:
            step = read_step(body)
        except UNREADABLE as error:
            raise Damaged(f"room {self.room}: step {seq} cannot be read: {error}") from error
        if step.seq != seq or self._head not in (None, step.before):
            raise Damaged(f"room {self.room}: step {seq} does not follow the step before it")
        # The digest of what was written, not of encoding it again.
        step.__dict__.update(body=body, digest=hash)
        self.seq, self._head = seq, hash
        return step


class Journal(Protocol):
    """One file (or the like) with rooms, their steps, states and deadlines, with records, and the clock.

    Rooms are keyed by a number of the journal's own, because an ended room frees its id.
    Every write is durable when it returns, and everything read after it includes it. A write is kept whole
    or not at all: where one part of it meets a `Conflict`, nothing of it is kept.
    """

    async def open(self) -> float:
        """Open the journal; returns the rooms' clock, as it last stopped.

        `Lost` if the clock is known to have been further, unless that is to be accepted.
        """
        ...

    async def close(self) -> None:
        """Finish open work, then close."""
        ...

    # Rooms.

    async def create(
        self,
        summary: RoomSummary,
        state: bytes,
        due: float | None,
        steps: Sequence[Step] = (),
        records: Sequence[Change] = (),
    ) -> int:
        """Keep a new room with its state before the first step, its first steps, and records.

        `Conflict` if an open room has its id.
        """
        ...

    def append(self, room: int, steps: Sequence[Step], writes: StepWrites, kept: Kept) -> None:
        """Keep the next step of a room, or some, and the writes beside it; `Conflict` if a seq is taken.

        *kept* is called when that is done, or with the error; for a whole batch in one turn of the loop.
        """
        ...

    async def update_room(
        self,
        room: int,
        *,
        summary: RoomSummary | None = None,
        stored: Stored | None = None,
        due: float | UnsetType | None = UNSET,
    ) -> None:
        """Keep what is given of a room, without a step; the rest stays as it is.

        `Conflict` if there is no such room, or if it has taken steps since the seq of that state.
        """
        ...

    def replay(self, room: int, after: int = 0) -> AsyncIterator[Step]:
        """The steps after that seq in order; `Damaged` if a step is not as it was written."""
        ...

    async def stored(self, room: int, at: int | None = None) -> Stored:
        """The newest state that was kept, or the newest up to step *at*."""
        ...

    async def recall(self, id: str) -> Recalled | None:
        """The room that `find` finds, its newest state, the steps after it and its answers, in one read."""
        ...

    async def find(self, which: str | int) -> Found | None:
        """The open room with that id, or the one that ended last; or the room with that number."""
        ...

    async def rooms(self, query: RoomQuery) -> list[Found]:
        """Open rooms; damaged ones are noted and left out."""
        ...

    async def room_ids(self, query: RoomQuery) -> list[str]:
        """The ids of the same rooms, damaged ones included: cheap, however many they are."""
        ...

    # Records.

    async def keep(self, *changes: Change) -> None:
        """Write records without a step; all of these changes or none."""
        ...

    async def record(self, kind: str, key: str, group: str = "") -> Record | None:
        """The record of that name; `Damaged` if it is."""
        ...

    async def records(self, query: RecordQuery) -> list[Record]:
        """The records that a query asks for, in its order."""
        ...

    # As time goes by.

    async def beat(self, now: float) -> None:
        """Note the time of the rooms' clock."""
        ...

    async def prune(self, before: float, limit: int) -> bool:
        """Delete rooms that ended before that time of the rooms' clock, with the records that belong to them.

        *limit* is how many rooms and steps a call may delete; True if more may be left.
        """
        ...

    async def inspect(self, limit: int) -> bool:
        """Check so many more of all kept rows, from where the last call stopped; False at the end."""
        ...

    def damages(self) -> Sequence[Damage]:
        """All damage found since it was opened, in the order of finding, each once."""
        ...

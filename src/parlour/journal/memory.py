"""A journal that lasts as long as its process: for tests, and for servers that keep nothing."""

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import astuple

from parlour.journal.base import (
    Chain,
    Change,
    Conflict,
    Damage,
    Damaged,
    Drop,
    Durability,
    Found,
    Kept,
    NewRecord,
    NotKept,
    Recalled,
    Record,
    RecordQuery,
    RoomQuery,
    RoomSummary,
    StepWrites,
    Stored,
    Trouble,
    Unchanged,
)
from parlour.journal.shards import room_key, shard_of
from parlour.wire import Step, asker

_encode = msgspec.json.Encoder().encode
_read_summary = msgspec.json.Decoder(RoomSummary).decode


class _Kept:
    """One room, encoded as it would be in a file, so that everything read back was really decoded."""

    def __init__(self, number: int, summary: RoomSummary, state: bytes, due: float | None) -> None:
        self.number = number
        self.set_summary(summary)
        self.states = {0: state}
        self.due = due
        self.steps: dict[int, tuple[bytes, bytes]] = {}
        self.answers: dict[tuple[str | None, str], int] = {}

    def set_summary(self, summary: RoomSummary) -> None:
        """Take a new summary."""
        self.encoded = _encode(summary)
        self.summary = summary
        """The same, to search by."""

    @property
    def seq(self) -> int:
        """The seq of its last step."""
        return max(self.steps, default=0)

    @property
    def found(self) -> Found:
        return Found(self.number, self.seq, _read_summary(self.encoded))

    def fits(self, query: RoomQuery) -> bool:
        """True if this is one of the wanted rooms."""
        summary, id = self.summary, query.id_in_any_case
        return (
            summary.ended is None
            and (query.player is None or any(seat and seat.id == query.player for seat in summary.seats))
            and (query.due_by is None or (self.due is not None and self.due <= query.due_by))
            and (not query.connected or summary.connected > 0)
            and (not query.held or summary.held is not None)
            and summary.game not in query.other_games
            and (query.shards is None or shard_of(room_key(summary.id)) in query.shards)
            and (id is None or summary.id.lower() == id.lower())
        )


class MemoryJournal:
    """Keeps everything in dictionaries, which outlive closing, but not the object."""

    def __init__(
        self,
        folder: Path,  # noqa: ARG002 - it needs none of these
        durability: Durability,  # noqa: ARG002
        *,
        accept_loss: bool = False,  # noqa: ARG002
    ) -> None:
        self._rooms: dict[int, _Kept] = {}
        self._numbers = 0
        self._by_id: dict[str, int] = {}
        """The newest room of each id: an id is used again only once its room has ended."""
        self._records: dict[tuple[str, str], dict[str, Record]] = {}
        """By kind and group, and then by key."""
        self._clock = 0.0
        self._open = False

    async def open(self) -> float:
        self._open = True
        return self._clock

    async def close(self) -> None:
        self._open = False

    # Rooms.

    async def create(
        self,
        summary: RoomSummary,
        state: bytes,
        due: float | None,
        steps: Sequence[Step] = (),
        records: Sequence[Change] = (),
    ) -> int:
        self._check_open()
        same = self._rooms.get(self._by_id.get(summary.id, 0))
        if same is not None and same.summary.ended is None:
            raise Conflict(f"there is an open room {summary.id} already")
        self._check(records)
        self._numbers += 1
        self._rooms[self._numbers] = _Kept(self._numbers, summary, state, due)
        self._by_id[summary.id] = self._numbers
        if steps:
            self._append(self._numbers, steps, StepWrites())
        self._change(records)
        return self._numbers

    def append(self, room: int, steps: Sequence[Step], writes: StepWrites, kept: Kept) -> None:
        try:
            self._append(room, steps, writes)
        except Trouble as trouble:
            kept(trouble)
        else:
            kept(None)

    def _append(self, room: int, steps: Sequence[Step], writes: StepWrites) -> None:
        kept = self._owned(room)
        if any(step.seq in kept.steps for step in steps):
            raise Conflict(f"room {room} has a step {steps[0].seq} already")
        answers = {(asker(step.command), step.id): step.seq for step in steps if step.id is not None}
        if any(answer in kept.answers for answer in answers):
            raise Conflict(f"room {room} has answered that command already")
        self._check(writes.records)
        if writes.summary is not None:
            kept.set_summary(writes.summary)
        kept.steps |= {step.seq: (step.body, step.digest) for step in steps}
        kept.answers |= answers
        if writes.state is not None:
            kept.states[steps[-1].seq] = writes.state
        if not isinstance(writes.due, UnsetType):
            kept.due = writes.due
        self._change(writes.records)
        self._clock = max(self._clock, steps[-1].now)

    async def update_room(
        self,
        room: int,
        *,
        summary: RoomSummary | None = None,
        stored: Stored | None = None,
        due: float | UnsetType | None = UNSET,
    ) -> None:
        kept = self._owned(room)
        if stored is not None:
            if kept.seq != stored.seq:
                raise Conflict(f"room {room} is no longer at step {stored.seq}")
            kept.states[stored.seq] = stored.state
        if summary is not None:
            kept.set_summary(summary)
        if not isinstance(due, UnsetType):
            kept.due = due

    async def replay(self, room: int, after: int = 0) -> AsyncIterator[Step]:
        kept = self._find(room)
        steps = kept.steps if kept else {}
        chain = Chain(room, after)
        for seq in sorted(seq for seq in steps if seq > after):
            yield chain.read(seq, *steps[seq])

    async def stored(self, room: int, at: int | None = None) -> Stored:
        kept = self._find(room)
        if kept is None:
            raise Damaged(f"room {room} has no state")
        seq = max(seq for seq in kept.states if at is None or seq <= at)
        return Stored(seq, kept.states[seq])

    async def recall(self, id: str) -> Recalled | None:
        kept = self._find(self._by_id.get(id, 0))
        if kept is None:
            return None
        stored = await self.stored(kept.number)
        steps = [step async for step in self.replay(kept.number, after=stored.seq)]
        answers = {(player, id): seq for (player, id), seq in kept.answers.items() if player is not None}
        return Recalled(kept.found, stored, steps, answers)

    async def find(self, which: str | int) -> Found | None:
        kept = self._find(self._by_id.get(which, 0) if isinstance(which, str) else which)
        return None if kept is None else kept.found

    async def rooms(self, query: RoomQuery) -> list[Found]:
        return [kept.found for kept in self._query(query)]

    async def room_ids(self, query: RoomQuery) -> list[str]:
        return [kept.summary.id for kept in self._query(query)]

    def _query(self, query: RoomQuery) -> list[_Kept]:
        self._check_open()
        there = [kept for kept in reversed(self._rooms.values()) if kept.fits(query)]
        if query.due_by is not None:
            there.sort(key=lambda kept: kept.due or 0.0)
        return there[: query.limit]

    # Records.

    async def keep(self, *changes: Change) -> None:
        self._check_open()
        self._check(changes)
        self._change(changes)

    async def record(self, kind: str, key: str, group: str = "") -> Record | None:
        self._check_open()
        return self._group(kind, group).get(key)

    async def records(self, query: RecordQuery) -> list[Record]:
        self._check_open()
        there = [record for record in self._of_kind(query.kind, query.group) if _fits(record, query)]
        there.sort(key=lambda record: record.key)
        if query.due_by is not None:
            there.sort(key=lambda record: record.due or 0.0)
        else:
            there.sort(key=lambda record: -record.sort if query.largest_first else record.sort)
        return list(islice(_within(there, query.most_bytes), query.limit))

    def _of_kind(self, kind: str, group: str | None) -> Iterator[Record]:
        names = [(kind, group)] if group is not None else [name for name in self._records if name[0] == kind]
        for name in names:
            yield from self._group(*name).values()

    def _group(self, kind: str, group: str) -> dict[str, Record]:
        return self._records.get((kind, group), {})

    def _check(self, changes: Iterable[Change]) -> None:
        """Check that nothing prevents these changes."""
        for change in changes:
            if isinstance(change, NewRecord) and change.key in self._group(change.kind, change.group):
                raise Conflict(f"there is a {change.kind} {change.key} already")
            if isinstance(change, Unchanged):
                was = change.record
                if self._group(was.kind, was.group).get(was.key) != was:
                    raise Conflict(f"the {was.kind} {was.key} has changed")

    def _change(self, changes: Iterable[Change]) -> None:
        for change in changes:
            if isinstance(change, Record):
                group = self._records.setdefault((change.kind, change.group), {})
                group[change.key] = Record(*astuple(change))
            elif isinstance(change, Drop):
                self._drop(change)

    def _drop(self, drop: Drop) -> None:
        group = self._group(drop.kind, drop.group)
        gone = [drop.key] if drop.key is not None else list(group)
        for key in gone:
            if key in group and (drop.below is None or group[key].sort < drop.below):
                del group[key]
        if not group:
            self._records.pop((drop.kind, drop.group), None)

    # As time goes by.

    async def beat(self, now: float) -> None:
        self._check_open()
        self._clock = max(self._clock, now)

    async def prune(self, before: float, limit: int) -> bool:
        self._check_open()
        ended = ((number, kept.summary.ended_at) for number, kept in self._rooms.items())
        old = list(islice((number for number, at in ended if at is not None and at < before), limit))
        for number in old:
            del self._rooms[number]
        if old:
            self._forget_records_of(set(old))
        return len(old) == limit

    def _forget_records_of(self, rooms: set[int]) -> None:
        for name, records in self._records.items():
            self._records[name] = {key: one for key, one in records.items() if one.room not in rooms}

    async def inspect(self, limit: int) -> bool:  # noqa: ARG002 - nothing rots here
        return False

    def damages(self) -> Sequence[Damage]:
        return ()

    # How that is done.

    def _check_open(self) -> None:
        if not self._open:
            raise NotKept("the journal is not open")

    def _find(self, room: int) -> _Kept | None:
        self._check_open()
        return self._rooms.get(room)

    def _owned(self, room: int) -> _Kept:
        kept = self._find(room)
        if kept is None:
            raise Conflict(f"there is no room {room}")
        return kept


def _fits(record: Record, query: RecordQuery) -> bool:
    """True if this is one of the wanted records."""
    due = query.due_by is None or (record.due is not None and record.due <= query.due_by)
    return due and query.owner in (None, record.owner)


def _within(records: Iterable[Record], most: int | None) -> Iterator[Record]:
    """The first of these records, up to that many bytes together."""
    size = 0
    for record in records:
        size += len(record.body)
        if most is not None and size > most:
            return
        yield record

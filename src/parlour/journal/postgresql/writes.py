"""The writes. Each runs within a transaction: `Conflict` undoes all of it.

Steps with nothing beside them are the common case: all that wait go in one statement, the fence included.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from asyncpg import Connection, UniqueViolationError
from msgspec import UNSET, UnsetType

from parlour.journal.base import Change, Conflict, Drop, Fenced, NewRecord, Record, Stored, Unchanged
from parlour.journal.conditions import LAST_STEP
from parlour.journal.postgresql.checked_rows import (
    INSERT,
    INSERT_INSTEAD,
    Damages,
    change_of,
    from_text,
    numbered,
    read_row,
    selection,
    taken,
    whole_rows,
)
from parlour.journal.rows import (
    RECORDS,
    ROOMS,
    SEATS,
    STATES,
    StepRow,
    SummaryRow,
    row_of,
    values_of,
    with_checksum,
)
from parlour.journal.shards import room_key, shard_of
from parlour.wire import Step

Fence = tuple[int, float, int, int]
"""The worker, the time of the rooms' clock, the number of its connection, and the number of the write."""
FENCE = """UPDATE workers SET clock = greatest(clock, $2), written = $4
    WHERE id = $1 AND connection = $3 AND NOT gone RETURNING id"""
"""Checks that this worker may write, and moves the rooms' clock; who buries it waits for the transaction."""

STEPS_ALONE = f"""WITH fence AS ({FENCE}), kept AS (
    INSERT INTO steps SELECT step.* FROM fence, unnest(
        $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::bytea[], $10::bytea[]
    ) AS step (room, seq, player, command_id, body, checksum) JOIN rooms ON rooms.number = step.room
    ON CONFLICT DO NOTHING RETURNING checksum
) SELECT (SELECT count(*) FROM fence),
    (SELECT array_agg(checksum) FROM kept)"""  # noqa: S608 - our own words


INSERT_ROOM = numbered(
    f"INSERT INTO rooms ({ROOMS.all}, shard) VALUES ({', '.join('?' * (len(ROOMS.columns) + 2))})"  # noqa: S608
)

SEATED = "SELECT room, textsend(player) FROM seats WHERE room = ANY($1)"


# Rooms and steps.


async def append_alone(db: Connection, fence: Fence, rows: Sequence[StepRow]) -> list[bytes]:
    """Keep steps with one statement; returns the checksums of those that were not there already."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    columns[2], columns[3] = taken(columns[2]), taken(columns[3])
    passed, checksums = await db.fetchrow(STEPS_ALONE, *fence, *columns)
    if not passed:
        raise Fenced("this worker was declared gone")
    return list(checksums or ())


async def pass_fence(db: Connection, fence: Fence) -> None:
    """Check that this worker may write."""
    if await db.fetchrow(FENCE, *fence) is None:
        raise Fenced("this worker was declared gone")


async def create(
    db: Connection,
    room: SummaryRow,
    state: bytes,
    due: float | None,
    steps: Sequence[Step],
    records: Sequence[Change],
) -> int:
    number = int(await db.fetchval("SELECT nextval('rooms_number_seq')"))
    values = {"number": number, **room.columns, "due": due}
    row = with_checksum(ROOMS, *(values[name] for name in ROOMS.columns))
    shard = shard_of(room_key(room.columns["id"]))
    try:
        await db.execute(INSERT_ROOM, *taken(row), shard)
    except UniqueViolationError:
        raise Conflict(f"there is an open room {room.columns['id']} already") from None
    await keep_states(db, {number: Stored(0, state)})
    await seat(db, {number: room.players})
    if steps:
        await insert_steps(db, [row_of(number, step) for step in steps])
    await keep(db, records)
    return number


class Append(NamedTuple):
    """Steps of one room, and what is written beside them."""

    rows: Sequence[StepRow]
    room: SummaryRow | None = None
    state: bytes | None = None
    due: float | UnsetType | None = UNSET
    records: Sequence[Change] = ()

    @property
    def number(self) -> int:
        """The room."""
        return self.rows[-1][0]

    @property
    def is_alone(self) -> bool:
        """True if it is one step with nothing beside it."""
        return len(self.rows) == 1 and self[1:] == (None, None, UNSET, ())

    @property
    def touches(self) -> set[object]:
        """What no other append of the same statements may touch."""
        return {self.number, *map(name_of, self.records)}


async def append(db: Connection, damages: Damages, appends: Sequence[Append]) -> None:
    """Keep steps of several rooms and what is beside them, all rows of a table at once.

    No two of them touch the same room or record.
    """
    await write_summaries(db, damages, {one.number: (one.room, one.due) for one in appends})
    await insert_steps(db, [row for one in appends for row in one.rows])
    states = {one.number: Stored(one.rows[-1][1], one.state) for one in appends if one.state is not None}
    await keep_states(db, states)
    await keep(db, [change for one in appends for change in one.records])


async def insert_steps(db: Connection, rows: Sequence[StepRow]) -> None:
    try:
        await db.executemany(INSERT["steps"], [taken(row) for row in rows])
    except UniqueViolationError as error:
        raise Conflict(f"steps up to {rows[-1][1]} of room {rows[-1][0]} have no place: {error}") from None


async def update_room(
    db: Connection,
    damages: Damages,
    number: int,
    room: SummaryRow | None,
    stored: Stored | None,
    due: float | UnsetType | None,
) -> None:
    last = await write_summaries(db, damages, {number: (room, due)})
    if stored is not None:
        if stored.seq != last[number]:
            raise Conflict(f"room {number} is no longer at step {stored.seq}")
        await keep_states(db, {number: stored})


NewSummaries = Mapping[int, tuple[SummaryRow | None, float | UnsetType | None]]
"""By room: the new summary, if there is one, and the new deadline."""


async def write_summaries(db: Connection, damages: Damages, new: NewSummaries) -> dict[int, int]:
    """Write rooms' new summaries and deadlines; returns the seq of each room's last step."""
    found = await db.fetch(selection(ROOMS, "WHERE number = ANY(?)", LAST_STEP), list(new))
    last = {row[0]: int(row[-1]) for row in found}
    if missing := new.keys() - last:
        raise Conflict(f"there is no room {min(missing)}")
    changes: dict[str, list[list[Any]]] = defaultdict(list)
    for row in whole_rows(ROOMS, [row for row in found if changed(*new[row[0]])], damages, strict=True):
        if (change := change_of(ROOMS, row, changed(*new[row[0]]))) is not None:
            changes[change[0]].append(change[1])
    for sql, values in changes.items():
        await db.executemany(sql, values)
    await seat_anew(db, {number: room.players for number, (room, _) in new.items() if room is not None})
    return last


def changed(room: SummaryRow | None, due: float | UnsetType | None) -> dict[str, Any]:
    """The columns of a room that get new values."""
    columns = {} if room is None else dict(room.columns)
    return columns if isinstance(due, UnsetType) else {**columns, "due": due}


async def seat_anew(db: Connection, players: Mapping[int, frozenset[str]]) -> None:
    """Let exactly these players sit in these rooms."""
    if not players:
        return
    kept: dict[int, set[str | None]] = defaultdict(set)
    for room, player in await db.fetch(SEATED, list(players)):
        kept[room].add(from_text(player))
    new = {room: those for room, those in players.items() if kept[room] != those}
    if new:
        await db.execute("DELETE FROM seats WHERE room = ANY($1)", list(new))
        await seat(db, new)


async def seat(db: Connection, players: Mapping[int, frozenset[str]]) -> None:
    rows = [taken(with_checksum(SEATS, room, player)) for room, some in players.items() for player in some]
    await db.executemany(INSERT["seats"], rows)


async def keep_states(db: Connection, states: Mapping[int, Stored]) -> None:
    rows = [with_checksum(STATES, room, stored.seq, stored.state) for room, stored in states.items()]
    if rows:
        await db.executemany(INSERT_INSTEAD["states"], rows)


# Records.


Name = tuple[str, str, str | None]
"""The kind, group and key of a record."""


def name_of(change: Change) -> Name | Drop:
    """The record that a change is about; of a drop, which may be about many, itself."""
    if isinstance(change, Drop):
        return change
    record = change.record if isinstance(change, Unchanged) else change
    return record.kind, record.group, record.key


async def keep(db: Connection, changes: Sequence[Change]) -> None:
    """Make these changes, after a check that nothing prevents them: in order, where that matters."""
    await check_absent(db, [change for change in changes if isinstance(change, NewRecord)])
    await check_unchanged(db, [change.record for change in changes if isinstance(change, Unchanged)])
    written = [change for change in changes if not isinstance(change, Unchanged)]
    if len(set(map(name_of, written))) == len(written) and not any(isinstance(one, Drop) for one in written):
        written.sort(key=lambda one: isinstance(one, NewRecord))
    for kind, some in groupby(written, type):
        if kind is Drop:
            for one in some:
                await drop(db, one)  # type: ignore[arg-type]
        else:
            await write_records(db, list(some), new=kind is NewRecord)  # type: ignore[arg-type]


NAMED = "unnest($1::text[], $2::text[], $3::text[])"
ONE_OF_THESE = f"""SELECT kind, key FROM records
    JOIN {NAMED} AS new (kind, in_group, key) USING (kind, in_group, key) LIMIT 1"""  # noqa: S608 - our own words
THESE = f"WHERE (kind, in_group, key) IN (SELECT * FROM {NAMED})"  # noqa: S608 - our own words
LOCKED = selection(RECORDS, f"{THESE} ORDER BY kind, in_group, key FOR UPDATE")


async def check_absent(db: Connection, records: Sequence[Record]) -> None:
    """`Conflict` if one of these records is there already."""
    names = [taken((record.kind, record.group, record.key)) for record in records]
    if names and (there := await db.fetchrow(ONE_OF_THESE, *zip(*names, strict=True))) is not None:
        raise Conflict(f"there is a {there[0]} {there[1]} already")


async def check_unchanged(db: Connection, records: Sequence[Record]) -> None:
    """`Conflict` if one is not as it was read; nobody else changes them before the transaction ends."""
    if not records:
        return
    names = [taken((record.kind, record.group, record.key)) for record in records]
    there = {read_row(RECORDS, row) for row in await db.fetch(LOCKED, *zip(*names, strict=True))}
    for record in records:
        if with_checksum(RECORDS, *values_of(record)) not in there:
            raise Conflict(f"the {record.kind} {record.key} has changed")


async def write_records(db: Connection, records: Sequence[Record], *, new: bool) -> None:
    rows = [taken(with_checksum(RECORDS, *values_of(record))) for record in records]
    try:
        await db.executemany((INSERT if new else INSERT_INSTEAD)["records"], rows)
    except UniqueViolationError:
        raise Conflict(
            f"there is a {records[0].kind} {records[0].key} already, or one of the others"
        ) from None


async def drop(db: Connection, gone: Drop) -> None:
    given = {"kind = ?": gone.kind, "in_group = ?": gone.group, "key = ?": gone.key, "sort < ?": gone.below}
    terms = {term: value for term, value in given.items() if value is not None}
    sql = f"DELETE FROM records WHERE {' AND '.join(terms)}"  # noqa: S608 - our own words
    await db.execute(numbered(sql), *taken(list(terms.values())))


# Pruning.

SOME_STEPS = """DELETE FROM steps WHERE (room, seq) IN
    (SELECT room, seq FROM steps WHERE room = $1 ORDER BY seq DESC LIMIT $2)"""
REST_OF_A_ROOM = (
    "DELETE FROM states WHERE room = $1",
    "DELETE FROM seats WHERE room = $1",
    "DELETE FROM records WHERE room = $1",
    "DELETE FROM rooms WHERE number = $1",
)


async def prune(db: Connection, before: float, limit: int, damages: Damages) -> bool:
    """Delete some rooms that ended before that time; True if more may be left."""
    left = limit
    which = "WHERE ended_at < ? ORDER BY ended_at LIMIT ?"
    for number, *_ in whole_rows(ROOMS, await db.fetch(selection(ROOMS, which), before, limit), damages):
        left -= await forget(db, number, left)
        if left <= 0:
            break
    return left <= 0


async def forget(db: Connection, room: int, most: int) -> int:
    """Delete a room's steps, then the rest of it; returns how many steps and rooms that were.

    The next call goes on with a room that is not done.
    """
    count = int((await db.execute(SOME_STEPS, room, most)).removeprefix("DELETE "))
    if count == most:
        return count
    for sql in REST_OF_A_ROOM:
        await db.execute(sql, room)
    return count + 1

"""The writes. Each runs within a transaction: `Conflict` undoes all of it.

Steps with nothing beside them are the common case: all that wait go in one statement, the fence included.
"""

from collections.abc import Sequence
from itertools import groupby

from asyncpg import Connection, UniqueViolationError
from msgspec import UnsetType

from parlour.journal.base import Change, Conflict, Drop, NewRecord, Record, StepWrites, Stored, Unchanged
from parlour.journal.conditions import BY_NUMBER, LAST_STEP, THIS_RECORD
from parlour.journal.postgresql.checked_rows import (
    INSERT,
    INSERT_INSTEAD,
    Damages,
    change_of,
    from_text,
    insert,
    numbered,
    read_row,
    selection,
    taken,
    whole_rows,
)
from parlour.journal.postgresql.errors import Fenced
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
    await keep_state(db, number, Stored(0, state))
    await seat(db, number, room.players)
    if steps:
        await insert_steps(db, [row_of(number, step) for step in steps])
    await keep(db, records)
    return number


async def append(db: Connection, damages: Damages, rows: Sequence[StepRow], writes: StepWrites) -> None:
    number, seq, *_ = rows[-1]
    room = None if writes.summary is None else SummaryRow.of(writes.summary)
    await write_summary(db, damages, number, room, writes.due)
    await insert_steps(db, rows)
    if writes.state is not None:
        await keep_state(db, number, Stored(seq, writes.state))
    await keep(db, writes.records)


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
    last = await write_summary(db, damages, number, room, due)
    if stored is not None:
        if stored.seq != last:
            raise Conflict(f"room {number} is no longer at step {stored.seq}")
        await keep_state(db, number, stored)


async def write_summary(
    db: Connection, damages: Damages, number: int, room: SummaryRow | None, due: float | UnsetType | None
) -> int:
    """Write a room's new summary, if there is one, and its deadline; returns the seq of its last step."""
    found = await db.fetchrow(selection(ROOMS, BY_NUMBER, LAST_STEP), number)
    if found is None:
        raise Conflict(f"there is no room {number}")
    changes = {} if room is None else dict(room.columns)
    if not isinstance(due, UnsetType):
        changes["due"] = due
    if changes:
        row = next(whole_rows(ROOMS, [found], damages, strict=True))
        if (change := change_of(ROOMS, row, changes)) is not None:
            sql, values = change
            await db.execute(sql, *values)
    if room is not None:
        await seat_anew(db, number, room.players)
    return int(found[-1])


async def seat_anew(db: Connection, number: int, players: frozenset[str]) -> None:
    """Let exactly these players sit in a room."""
    kept = await db.fetch("SELECT textsend(player) FROM seats WHERE room = $1", number)
    if {from_text(player) for (player,) in kept} != players:
        await db.execute("DELETE FROM seats WHERE room = $1", number)
        await seat(db, number, players)


async def seat(db: Connection, number: int, players: frozenset[str]) -> None:
    rows = [taken(with_checksum(SEATS, number, player)) for player in players]
    await db.executemany(INSERT["seats"], rows)


async def keep_state(db: Connection, number: int, stored: Stored) -> None:
    await insert(db, STATES, number, stored.seq, stored.state, instead=True)


# Records.


async def keep(db: Connection, changes: Sequence[Change]) -> None:
    """Make these changes in order, after a check that nothing prevents them."""
    await check_absent(db, [change for change in changes if isinstance(change, NewRecord)])
    for unchanged in changes:
        if isinstance(unchanged, Unchanged):
            await check_unchanged(db, unchanged.record)
    for kind, some in groupby(changes, type):
        if kind is Drop:
            for one in some:
                await drop(db, one)  # type: ignore[arg-type]
        elif kind is not Unchanged:
            await write_records(db, list(some), new=kind is NewRecord)  # type: ignore[arg-type]


ONE_OF_THESE = """SELECT kind, key FROM records
    JOIN unnest($1::text[], $2::text[], $3::text[]) AS new (kind, in_group, key)
    USING (kind, in_group, key) LIMIT 1"""


async def check_absent(db: Connection, records: Sequence[NewRecord]) -> None:
    """`Conflict` if one of these records is there already."""
    names = [taken((record.kind, record.group, record.key)) for record in records]
    if names and (there := await db.fetchrow(ONE_OF_THESE, *zip(*names, strict=True))) is not None:
        raise Conflict(f"there is a {there[0]} {there[1]} already")


async def check_unchanged(db: Connection, was: Record) -> None:
    """`Conflict` if a record is not as it was read; nobody else changes it before the transaction ends."""
    sql = selection(RECORDS, f"{THIS_RECORD} FOR UPDATE")
    row = await db.fetchrow(sql, *taken((was.kind, was.group, was.key)))
    if row is None or read_row(RECORDS, row) != with_checksum(RECORDS, *values_of(was)):
        raise Conflict(f"the {was.kind} {was.key} has changed")


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

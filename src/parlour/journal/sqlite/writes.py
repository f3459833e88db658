"""What a write does. Only its first statement can meet a taken key: a refused write leaves nothing behind.

Every row is written with its seal; see `sealed`.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import msgspec
from msgspec import UnsetType

from parlour.journal.base import (
    Conflict,
    Damaged,
    GameResult,
    KeptEnvelope,
    Player,
    RoomSummary,
    Scored,
)
from parlour.journal.sqlite.reads import last, read_standing
from parlour.journal.sqlite.sealed import (
    CLOCK,
    LETTERS,
    PLAYERS,
    RELAYS,
    RESULTS,
    ROOMS,
    SEATS,
    STANDINGS,
    STATES,
    TICKETS,
    Table,
    body_of,
    change,
    insert,
    look_for,
    seal_of,
    sealed,
)
from parlour.ratings import Standing
from parlour.wire import Step, asker

encode = msgspec.json.Encoder().encode

MOST_NUMBER = 2**53
"""No number is as large as this, unless it is damaged."""


class SummaryRow(NamedTuple):
    """A card as the tables have it: who sits there, and the columns of its row."""

    players: frozenset[str]
    columns: Mapping[str, Any]

    @classmethod
    def of(cls, summary: RoomSummary) -> "SummaryRow":
        players = frozenset(seat.id for seat in summary.seats if seat is not None)
        columns = {
            "id": summary.id,
            "game": summary.game,
            "open": int(summary.ended is None),
            "private": int(summary.private),
            "connected": summary.connected,
            "over": int(summary.outcome is not None),
            "held": summary.held,
            "creator": summary.creator,
            "ended_at": summary.ended_at,
            "card": encode(summary),
        }
        return cls(players if summary.ended is None else frozenset(), columns)  # an ended room is nobody's


Row = tuple[int, int, str | None, str | None, bytes, bytes]
"""A step as its table has it: room, seq, player, command id, body, seal."""

ROWS_AT_ONCE = 64
"""Rows of one statement; fewer are a power of two, so that few statements are ever prepared."""
INSERT_STEPS = {
    count: "INSERT INTO steps VALUES " + ", ".join(["(?, ?, ?, ?, ?, ?)"] * count)  # noqa: S608 - our own words
    for count in (1 << power for power in range(ROWS_AT_ONCE.bit_length()))
}


class Extra(NamedTuple):
    """What a step rarely has beside it."""

    tickets: Sequence["TicketRow"] = ()
    scored: Scored | None = None


TicketRow = tuple[str, bytes]
"""A ticket: its id, and encoded."""


def row_of(room: int, step: Step) -> Row:
    keys = (room, step.seq, asker(step.command), step.id)
    return (*keys, step.body, seal_of(keys, step.digest))


def next_number(db: sqlite3.Connection, table: Table) -> int:
    """A number that no row has; rooms never get one that a forgotten room had."""
    sql = f"SELECT max(number) FROM {table.name} WHERE number < ?"  # noqa: S608 - our own words
    there = db.execute(sql, (MOST_NUMBER,)).fetchone()[0] or 0
    given = "SELECT max(seq) FROM sqlite_sequence WHERE name = ? AND seq < ?"
    return int(max(there, db.execute(given, (table.name, MOST_NUMBER)).fetchone()[0] or 0)) + 1


def create(
    row_of_room: SummaryRow,
    state: bytes,
    due: float | None,
    steps: Sequence[Step],
    tickets: Sequence[TicketRow],
    db: sqlite3.Connection,
) -> int:
    number = next_number(db, ROOMS)
    values = {"number": number, **row_of_room.columns, "due": due}
    try:
        insert(db, ROOMS, *(values[name] for name in ROOMS.columns))
    except sqlite3.IntegrityError:
        raise Conflict(f"there is an open room {row_of_room.columns['id']} already") from None
    keep_state(db, number, 0, state)
    seat(db, number, row_of_room.players)
    insert_all(db, [row_of(number, step) for step in steps])
    save_tickets(tickets, db)
    return number


def append(
    row: Row,
    row_of_room: SummaryRow | None,
    state: bytes | None,
    due: float | UnsetType | None,
    extra: Extra,
    db: sqlite3.Connection,
) -> None:
    room, seq, *_ = row
    try:
        db.execute(INSERT_STEPS[1], row)
    except sqlite3.IntegrityError as error:
        raise Conflict(f"step {seq} of room {room} has no place: {error}") from None
    write_summary(db, room, row_of_room, due)
    if state is not None:
        keep_state(db, room, seq, state)
    if extra.tickets:
        save_tickets(extra.tickets, db)
    if extra.scored is not None:
        score(extra.scored, db)


def save_tickets(tickets: Sequence[TicketRow], db: sqlite3.Connection) -> None:
    for id, body in tickets:
        insert(db, TICKETS, id, body, instead=True)


def drop_tickets(ids: Iterable[str], db: sqlite3.Connection) -> None:
    db.executemany("DELETE FROM tickets WHERE id = ?", [(id,) for id in ids])


def score(scored: Scored, db: sqlite3.Connection) -> None:
    for result in scored.results:
        keep_result(db, result)
    kept = [standing_of(db, fresh) for fresh in scored.standings]
    for standing in scored.settle(kept):
        values = (standing.ladder, standing.player, standing.rating.worth, encode(standing))
        insert(db, STANDINGS, *values, instead=True)


def keep_result(db: sqlite3.Connection, result: GameResult) -> None:
    number = next_number(db, RESULTS)
    insert(db, RESULTS, number, result.player, result.number, int(result.ranked), encode(result))


def standing_of(db: sqlite3.Connection, fresh: Standing) -> Standing:
    """The kept standing; a newcomer's, where there is none or it is damaged."""
    try:
        row = look_for(db, STANDINGS, "WHERE ladder = ? AND player = ?", (fresh.ladder, fresh.player))
        return fresh if row is None else body_of(db, STANDINGS, row, read_standing)
    except Damaged:  # noted: it must not keep a game from ending
        return fresh


def insert_all(db: sqlite3.Connection, rows: Sequence[Row]) -> int:
    """Keep these steps with few statements; how many of them were kept before one had no place.

    Between two statements the loop's thread takes its turn, and to get it back costs more than a row does.
    """
    at = 0
    while at < len(rows):
        count = 1 << min(ROWS_AT_ONCE, len(rows) - at).bit_length() - 1
        try:
            db.execute(INSERT_STEPS[count], tuple(chain.from_iterable(rows[at : at + count])))
        except sqlite3.IntegrityError:
            break  # SQLite has undone the whole statement
        at += count
    return at


def mark(room: int, row_of_room: SummaryRow, due: float | None, db: sqlite3.Connection) -> None:
    if not write_summary(db, room, row_of_room, due):
        raise Conflict(f"there is no room {room}")


def rest(room: int, seq: int, state: bytes, due: float | None, db: sqlite3.Connection) -> None:
    if seq != last(db, room) or not change(db, ROOMS, room, {"due": due}):
        raise Conflict(f"room {room} is no longer at step {seq}")
    keep_state(db, room, seq, state)


def move_clock(now: float, db: sqlite3.Connection) -> None:
    """Note how far the rooms' clock is; it never goes back."""
    db.execute("UPDATE clock SET now = ?1, seal = ?2 WHERE now < ?1", sealed(CLOCK, now))


def post(relay: str, letter: KeptEnvelope, db: sqlite3.Connection) -> None:
    try:
        insert(db, LETTERS, relay, letter.num, letter.body)
    except sqlite3.IntegrityError:
        raise Conflict(f"relay {relay} has a number {letter.num} already") from None
    insert(db, RELAYS, relay, letter.at, letter.holder, letter.bytes, instead=True)
    db.execute("DELETE FROM letters WHERE relay = ? AND num < ?", (relay, letter.first))


def save_player(player: Player, seen: float, db: sqlite3.Connection) -> None:
    insert(db, PLAYERS, player.id, seen, encode(player), instead=True)


def see_players(ids: Iterable[str], now: float, db: sqlite3.Connection) -> None:
    """These players were asked for just now; who was forgotten or is damaged is left alone."""
    for id in ids:
        try:
            change(db, PLAYERS, id, {"seen": now})
        except Damaged:  # noted
            continue


def write_summary(
    db: sqlite3.Connection, room: int, row_of_room: SummaryRow | None, due: float | UnsetType | None
) -> bool:
    """Put the new card at the room's door, if there is one, and set its alarm; False where no room is."""
    changes = {} if row_of_room is None else dict(row_of_room.columns)
    if not isinstance(due, UnsetType):
        changes["due"] = due
    if not changes:
        return True
    if not change(db, ROOMS, room, changes):
        return False
    if row_of_room is not None:
        seated = {player for (player,) in db.execute("SELECT player FROM seats WHERE room = ?", (room,))}
        if seated != row_of_room.players:
            db.execute("DELETE FROM seats WHERE room = ?", (room,))
            seat(db, room, row_of_room.players)
    return True


def seat(db: sqlite3.Connection, room: int, players: frozenset[str]) -> None:
    for player in players:
        insert(db, SEATS, room, player)


def keep_state(db: sqlite3.Connection, room: int, seq: int, state: bytes) -> None:
    insert(db, STATES, room, seq, state, instead=True)

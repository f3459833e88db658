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
    Card,
    Conflict,
    Damaged,
    Letter,
    Player,
    Result,
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

MOST = 2**53
"""No number is as large as this, unless it is damaged."""


class Plate(NamedTuple):
    """A card as the tables have it: who sits there, and the columns of its row."""

    players: frozenset[str]
    columns: Mapping[str, Any]

    @classmethod
    def of(cls, card: Card) -> "Plate":
        players = frozenset(seat.id for seat in card.seats if seat is not None)
        columns = {
            "id": card.id,
            "game": card.game,
            "open": int(card.ended is None),
            "private": int(card.private),
            "connected": card.connected,
            "over": int(card.outcome is not None),
            "held": card.held,
            "creator": card.creator,
            "ended_at": card.ended_at,
            "card": encode(card),
        }
        return cls(players if card.ended is None else frozenset(), columns)  # an ended room is nobody's


Row = tuple[int, int, str | None, str | None, bytes, bytes]
"""A step as its table has it: room, seq, player, command id, body, seal."""

AT_ONCE = 64
"""Rows of one statement; fewer are a power of two, so that few statements are ever prepared."""
STEPS = {
    count: "INSERT INTO steps VALUES " + ", ".join(["(?, ?, ?, ?, ?, ?)"] * count)  # noqa: S608 - our own words
    for count in (1 << power for power in range(AT_ONCE.bit_length()))
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
    there = db.execute(sql, (MOST,)).fetchone()[0] or 0
    given = "SELECT max(seq) FROM sqlite_sequence WHERE name = ? AND seq < ?"
    return int(max(there, db.execute(given, (table.name, MOST)).fetchone()[0] or 0)) + 1


def create(
    plate: Plate,
    state: bytes,
    due: float | None,
    steps: Sequence[Step],
    tickets: Sequence[TicketRow],
    db: sqlite3.Connection,
) -> int:
    number = next_number(db, ROOMS)
    values = {"number": number, **plate.columns, "due": due}
    try:
        insert(db, ROOMS, *(values[name] for name in ROOMS.columns))
    except sqlite3.IntegrityError:
        raise Conflict(f"there is an open room {plate.columns['id']} already") from None
    keep_state(db, number, 0, state)
    seat(db, number, plate.players)
    insert_all(db, [row_of(number, step) for step in steps])
    save_tickets(tickets, db)
    return number


def append(
    row: Row,
    plate: Plate | None,
    state: bytes | None,
    due: float | UnsetType | None,
    extra: Extra,
    db: sqlite3.Connection,
) -> None:
    room, seq, *_ = row
    try:
        db.execute(STEPS[1], row)
    except sqlite3.IntegrityError as error:
        raise Conflict(f"step {seq} of room {room} has no place: {error}") from None
    hang(db, room, plate, due)
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


def keep_result(db: sqlite3.Connection, result: Result) -> None:
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
        count = 1 << min(AT_ONCE, len(rows) - at).bit_length() - 1
        try:
            db.execute(STEPS[count], tuple(chain.from_iterable(rows[at : at + count])))
        except sqlite3.IntegrityError:
            break  # SQLite has undone the whole statement
        at += count
    return at


def mark(room: int, plate: Plate, due: float | None, db: sqlite3.Connection) -> None:
    if not hang(db, room, plate, due):
        raise Conflict(f"there is no room {room}")


def rest(room: int, seq: int, state: bytes, due: float | None, db: sqlite3.Connection) -> None:
    if seq != last(db, room) or not change(db, ROOMS, room, {"due": due}):
        raise Conflict(f"room {room} is no longer at step {seq}")
    keep_state(db, room, seq, state)


def move_clock(now: float, db: sqlite3.Connection) -> None:
    """Note how far the rooms' clock is; it never goes back."""
    db.execute("UPDATE clock SET now = ?1, seal = ?2 WHERE now < ?1", sealed(CLOCK, now))


def post(relay: str, letter: Letter, db: sqlite3.Connection) -> None:
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


def hang(db: sqlite3.Connection, room: int, plate: Plate | None, due: float | UnsetType | None) -> bool:
    """Put the new card at the room's door, if there is one, and set its alarm; False where no room is."""
    changes = {} if plate is None else dict(plate.columns)
    if not isinstance(due, UnsetType):
        changes["due"] = due
    if not changes:
        return True
    if not change(db, ROOMS, room, changes):
        return False
    if plate is not None:
        seated = {player for (player,) in db.execute("SELECT player FROM seats WHERE room = ?", (room,))}
        if seated != plate.players:
            db.execute("DELETE FROM seats WHERE room = ?", (room,))
            seat(db, room, plate.players)
    return True


def seat(db: sqlite3.Connection, room: int, players: frozenset[str]) -> None:
    for player in players:
        insert(db, SEATS, room, player)


def keep_state(db: sqlite3.Connection, room: int, seq: int, state: bytes) -> None:
    insert(db, STATES, room, seq, state, instead=True)

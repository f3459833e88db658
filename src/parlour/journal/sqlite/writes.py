"""What a write does. Only its first statement can meet a taken key: a refused write leaves nothing behind."""

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import msgspec
from msgspec import UnsetType

from parlour.journal.base import (
    Card,
    Conflict,
    Letter,
    Scored,
)
from parlour.journal.sqlite.reads import last, read_standing
from parlour.wire import Step, asker

encode = msgspec.json.Encoder().encode

State = tuple[bytes, bytes]
"""An encoded state and its digest."""


class Plate(NamedTuple):
    """A card as the tables have it: encoded, and what is searched for beside it."""

    players: frozenset[str]
    constant: tuple[Any, ...]
    """id, game, private, creator"""
    ended: tuple[Any, ...]
    """open, ended_at"""
    now: tuple[Any, ...]
    """connected, held, card: in no index, and all that changes while a room is open"""

    @classmethod
    def of(cls, card: Card) -> "Plate":
        players = frozenset(seat.id for seat in card.seats if seat is not None)
        return cls(
            players if card.ended is None else frozenset(),  # an ended room is among nobody's rooms
            (card.id, card.game, card.private, card.creator),
            (card.ended is None, card.ended_at),
            (card.connected, card.held, encode(card)),
        )


Row = tuple[int, int, str | None, str | None, bytes, bytes]
"""A step as its table has it: room, seq, player, command id, body, hash."""

AT_ONCE = 64
"""Rows of one statement; fewer are a power of two, so that few statements are ever prepared."""
STEPS = {
    count: "INSERT INTO steps VALUES " + ", ".join(["(?, ?, ?, ?, ?, ?)"] * count)  # noqa: S608 - our own words
    for count in (1 << power for power in range(AT_ONCE.bit_length()))
}

OPEN = (
    "INSERT INTO rooms (id, game, private, creator, open, ended_at, connected, held, card, due) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
HANG = "UPDATE rooms SET connected = ?, held = ?, card = ? WHERE number = ?"
CLOSE = "UPDATE rooms SET connected = ?, held = ?, card = ?, open = ?, ended_at = ? WHERE number = ?"


TicketRow = tuple[str, bytes]
"""A ticket as its table has it: id, body."""


class Extra(NamedTuple):
    """What a step rarely has beside it."""

    tickets: Sequence[TicketRow] = ()
    scored: Scored | None = None


def row_of(room: int, step: Step) -> Row:
    return (room, step.seq, asker(step.command), step.id, step.body, step.digest)


def create(
    plate: Plate,
    state: State,
    due: float | None,
    steps: Sequence[Step],
    tickets: Sequence[TicketRow],
    db: sqlite3.Connection,
) -> int:
    try:
        number = db.execute(OPEN, (*plate.constant, *plate.ended, *plate.now, due)).lastrowid
    except sqlite3.IntegrityError:
        raise Conflict(f"there is an open room {plate.constant[0]} already") from None
    assert number is not None  # noqa: S101 - a row was inserted
    keep_state(db, number, 0, state)
    seat(db, number, plate.players)
    insert_all(db, [row_of(number, step) for step in steps])
    save_tickets(tickets, db)
    return number


def append(
    row: Row,
    plate: Plate | None,
    state: State | None,
    due: float | UnsetType | None,
    extra: Extra,
    db: sqlite3.Connection,
) -> None:
    room, seq, *_ = row
    try:
        db.execute(STEPS[1], row)
    except sqlite3.IntegrityError as error:
        raise Conflict(f"step {seq} of room {room} has no place: {error}") from None
    if plate is not None:
        hang(db, room, plate)
    if state is not None:
        keep_state(db, room, seq, state)
    if not isinstance(due, UnsetType):
        set_due(db, room, due)
    if extra.tickets:
        save_tickets(extra.tickets, db)
    if extra.scored is not None:
        score(extra.scored, db)


def save_tickets(tickets: Sequence[TicketRow], db: sqlite3.Connection) -> None:
    db.executemany("INSERT OR REPLACE INTO tickets VALUES (?, ?)", tickets)


def drop_tickets(ids: Iterable[str], db: sqlite3.Connection) -> None:
    db.executemany("DELETE FROM tickets WHERE id = ?", [(id,) for id in ids])


def score(scored: Scored, db: sqlite3.Connection) -> None:
    results = [(result.player, encode(result)) for result in scored.results]
    db.executemany("INSERT INTO results (player, body) VALUES (?, ?)", results)
    kept = []
    for fresh in scored.standings:
        sql = "SELECT body FROM standings WHERE ladder = ? AND player = ?"
        row = db.execute(sql, (fresh.ladder, fresh.player)).fetchone()
        kept.append(fresh if row is None else read_standing(row[0]))
    for standing in scored.settle(kept):
        row = (standing.ladder, standing.player, standing.rating.worth, encode(standing))
        db.execute("INSERT OR REPLACE INTO standings VALUES (?, ?, ?, ?)", row)


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
    if not set_due(db, room, due):
        raise Conflict(f"there is no room {room}")
    hang(db, room, plate)


def prune(before: float, limit: int, db: sqlite3.Connection) -> int:
    sql = "SELECT number FROM rooms WHERE ended_at < ? ORDER BY ended_at LIMIT ?"
    old = [(number,) for (number,) in db.execute(sql, (before, limit))]
    for sql in (
        "DELETE FROM steps WHERE room = ?",
        "DELETE FROM states WHERE room = ?",
        "DELETE FROM seats WHERE room = ?",
        "DELETE FROM rooms WHERE number = ?",
    ):
        db.executemany(sql, old)
    sql = "SELECT name FROM relays WHERE last < ? ORDER BY last LIMIT ?"
    quiet = db.execute(sql, (before, limit)).fetchall()
    for sql in ("DELETE FROM letters WHERE relay = ?", "DELETE FROM relays WHERE name = ?"):
        db.executemany(sql, quiet)
    return len(old)


def rest(room: int, seq: int, state: State, due: float | None, db: sqlite3.Connection) -> None:
    if seq != last(db, room) or not set_due(db, room, due):
        raise Conflict(f"room {room} is no longer at step {seq}")
    keep_state(db, room, seq, state)


def nothing(db: sqlite3.Connection) -> None:
    """A heartbeat moves the clock, and that is all."""


def post(relay: str, letter: Letter, hash: bytes, db: sqlite3.Connection) -> None:
    try:
        db.execute("INSERT INTO letters VALUES (?, ?, ?, ?)", (relay, letter.num, letter.body, hash))
    except sqlite3.IntegrityError:
        raise Conflict(f"relay {relay} has a number {letter.num} already") from None
    db.execute("INSERT OR REPLACE INTO relays VALUES (?, ?)", (relay, letter.date))
    db.execute("DELETE FROM letters WHERE relay = ? AND num < ?", (relay, letter.first))


def save_player(id: str, body: bytes, db: sqlite3.Connection) -> None:
    db.execute("INSERT OR REPLACE INTO players VALUES (?, ?)", (id, body))


def hang(db: sqlite3.Connection, room: int, plate: Plate) -> None:
    """Put the new card at the room's door; an open room stays open until it is closed for good."""
    if plate.ended[0]:
        db.execute(HANG, (*plate.now, room))
    else:
        db.execute(CLOSE, (*plate.now, *plate.ended, room))
    seated = {player for (player,) in db.execute("SELECT player FROM seats WHERE room = ?", (room,))}
    if seated != plate.players:
        db.execute("DELETE FROM seats WHERE room = ?", (room,))
        seat(db, room, plate.players)


def seat(db: sqlite3.Connection, room: int, players: frozenset[str]) -> None:
    db.executemany("INSERT INTO seats VALUES (?, ?)", [(room, player) for player in players])


def keep_state(db: sqlite3.Connection, room: int, seq: int, state: State) -> None:
    db.execute("INSERT OR REPLACE INTO states VALUES (?, ?, ?, ?)", (room, seq, *state))


def set_due(db: sqlite3.Connection, room: int, due: float | None) -> int:
    return db.execute("UPDATE rooms SET due = ? WHERE number = ?", (due, room)).rowcount

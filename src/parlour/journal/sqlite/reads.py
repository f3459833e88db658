"""What a read finds. Every row is checked; see `sealed`."""

import sqlite3
from collections import Counter
from collections.abc import Sequence
from math import inf
from typing import Any

import msgspec

from parlour.journal.base import (
    Chain,
    Damaged,
    Found,
    GameResult,
    Held,
    KeptPlayer,
    Recalled,
    RoomSummary,
    Stored,
)
from parlour.journal.sqlite.sealed import (
    LETTERS,
    PLAYERS,
    RELAYS,
    RESULTS,
    ROOMS,
    SEATS,
    STANDINGS,
    STATES,
    STEPS,
    TICKETS,
    Row,
    bodies,
    body_of,
    damaged,
    is_whole,
    look,
    look_for,
    note,
)
from parlour.lobby import Ticket
from parlour.ratings import Standing
from parlour.wire import Step, digest

AFTER_ALL = 2**62
"""After any step that there is."""
PAGE = 200
"""How many steps a replay reads at a time."""
NO_LIMIT = -1
"""As many as there are, in SQLite's words."""

read_summary = msgspec.json.Decoder(RoomSummary).decode
read_player = msgspec.json.Decoder(KeptPlayer).decode
read_ticket = msgspec.json.Decoder(Ticket).decode
read_standing = msgspec.json.Decoder(Standing).decode
read_result = msgspec.json.Decoder(GameResult).decode

LAST_STEP = ", (SELECT coalesce(max(seq), 0) FROM steps WHERE steps.room = rooms.number)"
# An id is given again only once its room has ended, so an open room is the newest of its id.
BY_ID = "WHERE id = ? ORDER BY number DESC LIMIT 1"
BY_NUMBER = "WHERE number = ?"


def found(db: sqlite3.Connection, row: Row) -> Found:
    return Found(row[0], row[-1], body_of(db, ROOMS, row, read_summary))


def room(sql: str, key: str | int, db: sqlite3.Connection) -> Found | None:
    """The room that is asked for; `Damaged` if its row is."""
    row = look_for(db, ROOMS, sql, (key,), LAST_STEP)
    return None if row is None else found(db, row)


def rooms(sql: str, values: Sequence[Any], db: sqlite3.Connection) -> list[Found]:
    """Rooms in a list, from which damaged ones are left out."""
    there: list[Found] = []
    for row in look(db, ROOMS, sql, values, LAST_STEP):
        try:
            there.append(found(db, row))
        except Damaged:  # noted
            continue
    return there


def rooms_of(player: str, db: sqlite3.Connection) -> list[Found]:
    seats = look(db, SEATS, "WHERE player = ? ORDER BY room DESC", (player,))
    return [there for seat in list(seats) for there in rooms(BY_NUMBER, (seat[0],), db)]


def recall(id: str, db: sqlite3.Connection) -> Recalled | None:
    there = room(BY_ID, id, db)
    if there is None:
        return None
    number, state = there.number, stored(there.number, AFTER_ALL, db)
    chain = Chain(number, state.seq)
    steps: list[Step] = []
    more = True
    while more:
        rows, more = page(number, chain.seq, db, NO_LIMIT)
        steps += [chain.read(*row) for row in rows]
    return Recalled(there, state, steps, answers(number, db))


def due(now: float, db: sqlite3.Connection) -> list[str]:
    sql = "SELECT id FROM rooms WHERE open AND due <= ? ORDER BY due"
    return [id for (id,) in db.execute(sql, (now,))]


def ids(which: str, db: sqlite3.Connection) -> list[str]:
    return [id for (id,) in db.execute(f"SELECT id FROM rooms WHERE open AND {which}")]  # noqa: S608


def missing(games: tuple[str, ...], db: sqlite3.Connection) -> list[Found]:
    known = ", ".join("?" for _ in games)
    return rooms(f"WHERE open AND game NOT IN ({known})", games, db)


StepRow = tuple[int, bytes, bytes]
"""A step: its seq, its body and that body's digest."""


def page(room: int, after: int, db: sqlite3.Connection, most: int = PAGE) -> tuple[list[StepRow], bool]:
    """Some steps in order, and whether there may be more; `Damaged` if the first is not as it was written."""
    sql = f"SELECT {STEPS.all} FROM steps WHERE room = ? AND seq > ? ORDER BY seq LIMIT ?"  # noqa: S608 - ours
    steps: list[StepRow] = []
    for row in db.execute(sql, (room, after, most)):
        if not is_whole(STEPS, row):
            note(db, STEPS, row)
            if steps:
                return steps, True
            raise Damaged(f"room {room}: step {row[1]} is not as it was written")
        steps.append((row[1], row[4], digest(row[4])))
    return steps, len(steps) == most


def stored(room: int, at: int, db: sqlite3.Connection) -> Stored:
    """The newest state up to a step that is whole: the steps after it lead to the same room."""
    for row in look(db, STATES, "WHERE room = ? AND seq <= ? ORDER BY seq DESC", (room, at)):
        return Stored(row[1], row[2])
    raise Damaged(f"room {room}: its state is not as it was written")


def answers(room: int, db: sqlite3.Connection) -> dict[tuple[str, str], int]:
    found = {}
    sql = f"SELECT {STEPS.all} FROM steps WHERE room = ? AND command_id IS NOT NULL"  # noqa: S608 - ours
    for row in db.execute(sql, (room,)):
        if not is_whole(STEPS, row):  # it may be the answer to what is asked again
            raise damaged(note(db, STEPS, row))
        if row[2] is not None:
            found[row[2], row[3]] = row[1]
    return found


def last(db: sqlite3.Connection, room: int) -> int:
    """The seq of the room's last step."""
    seq: int = db.execute("SELECT coalesce(max(seq), 0) FROM steps WHERE room = ?", (room,)).fetchone()[0]
    return seq


def player(id: str, db: sqlite3.Connection) -> tuple[KeptPlayer, float] | None:
    """A player and when they were last asked for.

    `Damaged` if the row is: nobody knows which of their sessions are over, so no token of theirs is believed.
    """
    row = look_for(db, PLAYERS, "WHERE id = ?", (id,))
    return None if row is None else (body_of(db, PLAYERS, row, read_player), row[1])


def tickets(db: sqlite3.Connection) -> list[Ticket]:
    return bodies(db, TICKETS, read_ticket, "", ())


def standings(ladder: str, limit: int, db: sqlite3.Connection) -> list[Standing]:
    sql = "WHERE ladder = ? ORDER BY worth DESC, player LIMIT ?"
    return bodies(db, STANDINGS, read_standing, sql, (ladder, limit))


def standings_of(player: str, db: sqlite3.Connection) -> list[Standing]:
    return bodies(db, STANDINGS, read_standing, "WHERE player = ? ORDER BY ladder", (player,))


def results_of(player: str, limit: int, db: sqlite3.Connection) -> list[GameResult]:
    sql = "WHERE player = ? ORDER BY number DESC LIMIT ?"
    return bodies(db, RESULTS, read_result, sql, (player, limit))


def posted(relay: str, most: int | None, db: sqlite3.Connection) -> list[bytes]:
    sql = f"SELECT {LETTERS.all} FROM letters WHERE relay = ? ORDER BY num DESC"  # noqa: S608 - our own words
    bodies: list[bytes] = []
    left = inf if most is None else most
    for row in db.execute(sql, (relay,)):
        if not is_whole(LETTERS, row):
            note(db, LETTERS, row)
            raise Damaged(f"relay {relay}: number {row[1]} is not as it was written")
        left -= len(row[2])
        if left < 0:
            break
        bodies.append(row[2])
    return bodies[::-1]


def relay_held(relay: str, db: sqlite3.Connection) -> Held | None:
    row = next(look(db, RELAYS, "WHERE name = ?", (relay,)), None)
    return None if row is None else Held(row[2], row[3])


def relays_held(db: sqlite3.Connection) -> dict[str, int]:
    held: Counter[str] = Counter()
    for _, _, holder, size, *_ in look(db, RELAYS):
        held[holder] += size
    return held


def ids_like(id: str, db: sqlite3.Connection) -> list[str]:
    sql = "SELECT id FROM rooms WHERE open AND id = ? COLLATE NOCASE LIMIT 2"
    return [found for (found,) in db.execute(sql, (id,))]

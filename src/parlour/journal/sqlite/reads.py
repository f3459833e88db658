"""What a read finds."""

import sqlite3

import msgspec

from parlour.journal.base import (
    Card,
    Chain,
    Damaged,
    Found,
    Player,
    Recalled,
    Result,
    Stored,
)
from parlour.lobby import Ticket
from parlour.ratings import Standing
from parlour.wire import digest

LAST = 2**62
"""After any step that there is."""
PAGE = 200
"""How many steps a replay reads at a time."""
ALL = -1
"""As many as there are, in SQLite's words."""

read_card = msgspec.json.Decoder(Card).decode
read_player = msgspec.json.Decoder(Player).decode
read_ticket = msgspec.json.Decoder(Ticket).decode
read_standing = msgspec.json.Decoder(Standing).decode
read_result = msgspec.json.Decoder(Result).decode

FOUND = "SELECT number, (SELECT coalesce(max(seq), 0) FROM steps WHERE room = number), card FROM rooms "
# An id is given again only once its room has ended, so an open room is the newest of its id.
BY_ID = FOUND + "WHERE id = ? ORDER BY number DESC LIMIT 1"
BY_NUMBER = FOUND + "WHERE number = ?"
LISTED = FOUND + "WHERE open AND NOT private ORDER BY number DESC LIMIT ?"
SEATED = FOUND + "JOIN seats ON room = number WHERE player = ? ORDER BY number DESC"


def rooms(sql: str, key: str | int, db: sqlite3.Connection) -> list[Found]:
    return [Found(number, seq, read_card(card)) for number, seq, card in db.execute(sql, (key,))]


def recall(id: str, db: sqlite3.Connection) -> Recalled | None:
    found = next(iter(rooms(BY_ID, id, db)), None)
    if found is None:
        return None
    number, state = found.number, stored(found.number, LAST, db)
    chain = Chain(number, state.seq)
    steps = [chain.read(*row) for row in page(number, state.seq, db, ALL)]
    return Recalled(found, state, steps, answers(number, db))


def due(now: float, db: sqlite3.Connection) -> list[str]:
    sql = "SELECT id FROM rooms WHERE open AND due <= ? ORDER BY due"
    return [id for (id,) in db.execute(sql, (now,))]


def ids(which: str, db: sqlite3.Connection) -> list[str]:
    return [id for (id,) in db.execute(f"SELECT id FROM rooms WHERE open AND {which}")]  # noqa: S608


def missing(games: tuple[str, ...], db: sqlite3.Connection) -> list[Found]:
    known = ", ".join("?" for _ in games)
    sql = FOUND + f"WHERE open AND game NOT IN ({known})"
    return [Found(number, seq, read_card(card)) for number, seq, card in db.execute(sql, games)]


def opened_by(creator: str, db: sqlite3.Connection) -> int:
    over = "json_extract(CAST(card AS TEXT), '$.outcome') IS NOT NULL"
    sql = f"SELECT count(*) FROM rooms WHERE open AND creator = ? AND NOT {over}"  # noqa: S608 - ours
    count: int = db.execute(sql, (creator,)).fetchone()[0]
    return count


def page(room: int, after: int, db: sqlite3.Connection, most: int = PAGE) -> list[tuple[int, bytes, bytes]]:
    sql = "SELECT seq, body, hash FROM steps WHERE room = ? AND seq > ? ORDER BY seq LIMIT ?"
    return db.execute(sql, (room, after, most)).fetchall()


def stored(room: int, at: int, db: sqlite3.Connection) -> Stored:
    sql = "SELECT seq, body, hash FROM states WHERE room = ? AND seq <= ? ORDER BY seq DESC LIMIT 1"
    row = db.execute(sql, (room, at)).fetchone()
    if row is None or digest(row[1]) != row[2]:
        raise Damaged(f"room {room}: its state is not as it was written")
    return Stored(row[0], row[1])


def answers(room: int, db: sqlite3.Connection) -> dict[tuple[str, str], int]:
    sql = "SELECT player, command_id, seq FROM steps WHERE room = ? AND command_id IS NOT NULL"
    return {(player, id): seq for player, id, seq in db.execute(sql, (room,)) if player is not None}


def last(db: sqlite3.Connection, room: int) -> int:
    """The seq of the room's last step."""
    seq: int = db.execute("SELECT coalesce(max(seq), 0) FROM steps WHERE room = ?", (room,)).fetchone()[0]
    return seq


def player(id: str, db: sqlite3.Connection) -> Player | None:
    row = db.execute("SELECT body FROM players WHERE id = ?", (id,)).fetchone()
    return None if row is None else read_player(row[0])


def tickets(db: sqlite3.Connection) -> list[Ticket]:
    return [read_ticket(body) for (body,) in db.execute("SELECT body FROM tickets")]


def standings(ladder: str, limit: int, db: sqlite3.Connection) -> list[Standing]:
    sql = "SELECT body FROM standings WHERE ladder = ? ORDER BY worth DESC, player LIMIT ?"
    return [read_standing(body) for (body,) in db.execute(sql, (ladder, limit))]


def standings_of(player: str, db: sqlite3.Connection) -> list[Standing]:
    sql = "SELECT body FROM standings WHERE player = ? ORDER BY ladder"
    return [read_standing(body) for (body,) in db.execute(sql, (player,))]


def results_of(player: str, limit: int, db: sqlite3.Connection) -> list[Result]:
    sql = "SELECT body FROM results WHERE player = ? ORDER BY number DESC LIMIT ?"
    return [read_result(body) for (body,) in db.execute(sql, (player, limit))]


def posted(relay: str, db: sqlite3.Connection) -> list[bytes]:
    sql = "SELECT num, body, hash FROM letters WHERE relay = ? ORDER BY num"
    rows = db.execute(sql, (relay,)).fetchall()
    for num, body, hash in rows:
        if digest(body) != hash:
            raise Damaged(f"relay {relay}: number {num} is not as it was written")
    return [body for _, body, _ in rows]

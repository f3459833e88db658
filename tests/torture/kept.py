"""What a journal holds of a room, replayed: the truth that clients' diaries are held against."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from parlour.errors import Refused
from parlour.game import Game, Send
from parlour.games import GAMES
from parlour.journal.base import Damaged, Found, Journal
from parlour.journal.postgresql.checked_rows import selection, whole_rows
from parlour.journal.postgresql.schema import connect
from parlour.journal.rows import STATES, STEPS, Table, is_whole
from parlour.room import Room, replay
from parlour.server.rooms.stored_room import thaw
from parlour.wire import Rematch, Step, digest, read_step

Row = tuple[int, bytes, bytes]
"""seq, body and hash of a step or a stored state."""
Push = tuple[str, Any]
"""The name and the payload of a push, as plain data."""


def plain(value: Any) -> Any:
    """*value* as it comes out of JSON."""
    return msgspec.json.decode(msgspec.json.encode(value))


class Complaint(NamedTuple):
    """A promise that was broken: which, in which room, and what shows it."""

    kind: str
    room: str
    what: str


class Kept:
    """A room as the journal has it: its steps, and the room as it was after each of them."""

    def __init__(self, id: str, game: Game[Any], steps: list[Step], rooms: list[Room[Any]]) -> None:
        self.id = id
        self.game = game
        self.steps = steps
        self.rooms = rooms
        """The room before the first step, then after each."""

    @property
    def seq(self) -> int:
        """The seq of the last step."""
        return len(self.steps)

    def step(self, seq: int) -> Step | None:
        return self.steps[seq - 1] if 0 < seq <= self.seq else None

    # What a player is told of it.

    def view(self, seq: int, player: str) -> Any:
        """What this player, or somebody without a seat, may know after a step."""
        room = self.rooms[seq]
        return plain(self.game.view(room.state, player if room.seat(player) else None))

    def messages(self, seq: int, player: str) -> list[Push]:
        """The messages of a step that this player hears, besides views."""
        seat = self.rooms[seq].seat(player)
        ears = {"all", f"player:{player}", *(seat.topics if seat else ())}
        return [
            _message(seq, effect)
            for effect in self.steps[seq - 1].effects
            if isinstance(effect, Send) and effect.kind != "sync" and effect.to in ears
        ]

    def told(self, seq: int, player: str) -> list[Push]:
        """All that a step says to a player who is there: messages, views, and one update at the end."""
        pushes = self.messages(seq, player)
        update: dict[str, Any] = {"seq": seq}
        view = self.view(seq, player)
        if any(isinstance(effect, Send) and effect.kind == "sync" for effect in self.steps[seq - 1].effects):
            pushes.append(("sync", {"seq": seq, "view": view}))
        elif view != self.view(seq - 1, player):
            update["view"] = view
        if self.rooms[seq].outcome != self.rooms[seq - 1].outcome:
            update["result"] = self.result(seq)
        return [*pushes, ("update", update)]

    def sync(self, seq: int, player: str) -> dict[str, Any]:
        """Everything as it is after a step, for somebody who comes in."""
        sync = {"seq": seq, "view": self.view(seq, player)}
        result = self.result(seq)
        return sync if result is None else {**sync, "result": result}

    def result(self, seq: int) -> Any:
        room = self.rooms[seq]
        if room.outcome is None:
            return None
        seed = room.shown[-1].seed.hex()
        return plain({"outcome": room.outcome, "seed": seed, "seed_hash": room.seed_hash})

    def seats_anew(self, since: int, until: int, player: str) -> bool:
        """Somewhere in these steps the player got other eyes or ears: they cannot be told one by one."""
        for seq in range(since + 1, until + 1):
            before, after = self.rooms[seq - 1], self.rooms[seq]
            if (before.seat(player) is None) != (after.seat(player) is None):
                return True
            if isinstance(self.steps[seq - 1].command, Rematch) and before.outcome and not after.outcome:
                return True
        return False


def _message(seq: int, effect: Send) -> Push:
    payload = plain(effect.payload)
    match effect.kind:
        case "game_event":
            return "game_event", {"seq": seq, "payload": payload}
        case "chat":
            return "chat", {"seq": seq, **payload}
        case _:
            return effect.kind, payload


class Rows(NamedTuple):
    """A room's rows in the file."""

    id: str
    game: str
    steps: list[Row]
    states: list[Row]


def read_file(file: Path, prefix: str = "") -> Iterator[Rows]:
    """The rooms of a journal file whose ids begin so, one after the other."""
    with closing(sqlite3.connect(file)) as db:
        query = "SELECT number, id, card FROM rooms WHERE id LIKE ?"
        for number, id, summary in db.execute(query, (f"{prefix}%",)).fetchall():
            steps, states = (_rows_of(db, table, number) for table in (STEPS, STATES))
            yield Rows(id, msgspec.json.decode(summary)["game"], steps, states)


async def read_journal(journal: Journal, ids: Iterable[str]) -> list[Rows]:
    """The rooms with these ids, as any journal tells of them; those that are not there are left out."""
    found = [await journal.find(id) for id in sorted(ids)]
    return [await _told_of(journal, room) for room in found if room is not None]


async def _told_of(journal: Journal, room: Found) -> Rows:
    steps: list[Row] = []
    try:
        async for step in journal.replay(room.number):
            steps.append((step.seq, step.body, step.digest))  # noqa: PERF401 - as far as they can be read
    except Damaged as error:
        steps.append((len(steps) + 1, str(error).encode(), b""))
    states: list[Row] = []
    at = room.seq
    while at >= 0:
        stored = await journal.stored(room.number, at)
        states.insert(0, (stored.seq, stored.state, digest(stored.state)))
        at = stored.seq - 1
    return Rows(room.summary.id, room.summary.game, steps, states)


def _rows_of(db: sqlite3.Connection, table: Table, room: int) -> list[Row]:
    """Seq, body and digest of a room's rows; without a digest where the checksum does not fit."""
    rows = db.execute(f"SELECT {table.all} FROM {table.name} WHERE room = ? ORDER BY seq", (room,))
    return [(row[1], row[-2], digest(row[-2]) if is_whole(table, row) else b"") for row in rows]


async def read_database(url: str, prefix: str = "") -> list[Rows]:
    """The rooms of a schema in PostgreSQL whose ids begin so."""
    db = await connect(url)
    try:
        query = "SELECT number, id, game FROM rooms WHERE starts_with(id, $1) ORDER BY number"
        rooms = await db.fetch(query, prefix)
        return [
            Rows(id, game, *[await _rows_in(db, table, number) for table in (STEPS, STATES)])
            for number, id, game in rooms
        ]
    finally:
        await db.close()


async def _rows_in(db: Any, table: Table, room: int) -> list[Row]:
    """Seq, body and digest of a room's rows, as `_rows_of` has them."""
    found = await db.fetch(selection(table, "WHERE room = ? ORDER BY seq"), room)
    whole = {row[1] for row in whole_rows(table, found, {})}
    return [(row[1], row[-2], digest(row[-2]) if row[1] in whole else b"") for row in found]


def rebuild(rows: Rows) -> tuple[Kept | None, list[Complaint]]:
    """Play a room again from its first state; None where its rows do not allow it."""
    complaints = [Complaint("journal", rows.id, text) for text in _check_rows(rows)]
    if complaints:
        return None, complaints
    game = GAMES[rows.game]
    steps = [read_step(body) for _, body, _ in rows.steps]
    rooms = [thaw(game, rows.states[0][1])]
    for step in steps:
        try:
            rooms.append(replay(game, rooms[-1], step))
        except Refused as why:
            return None, [Complaint("journal", rows.id, f"step {step.seq} cannot be replayed: {why}")]
    for seq, body, _ in rows.states:
        if plain(thaw(game, body)) != plain(rooms[seq]):
            complaints.append(
                Complaint("state", rows.id, f"the state stored at {seq} is not the replayed one")
            )
    return Kept(rows.id, game, steps, rooms), complaints


def _check_rows(rows: Rows) -> Iterator[str]:
    """Numbers without gap or duplicate, each step as it was written and after the one before."""
    seqs = [seq for seq, _, _ in rows.steps]
    if seqs != list(range(1, len(seqs) + 1)):
        yield f"seqs are not 1 to {len(seqs)}: {seqs}"
    if not rows.states or rows.states[0][0] != 0:
        yield "the state before the first step is missing"
    before = b""
    for seq, body, hash in rows.steps:
        if digest(body) != hash:
            yield f"step {seq} is not as it was written"
        elif read_step(body).before != before:
            yield f"step {seq} does not follow the one before"
        before = hash

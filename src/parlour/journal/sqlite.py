"""A journal in one SQLite file: a thread that writes for all rooms at once, and a thread that reads.

Whatever waits to be written when the writer comes round is one transaction, so that many rooms share the
price of one flush to the disk. The unique key (room, seq) is the fence between two owners of one room.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import UnsetType

from parlour.journal.base import (
    Aside,
    Card,
    Chain,
    Conflict,
    Damaged,
    DiskFailed,
    Durability,
    Foreign,
    Found,
    NotKept,
    Player,
    Recalled,
    Stored,
    TooNew,
)
from parlour.wire import Step, asker, digest

T = TypeVar("T")

FILE = "parlour.db"
FORMAT = 1
"""The version of the tables below; a file says its own in `user_version`."""
APPLICATION = int.from_bytes(b"Parl", "big")
"""How a file says that it is Parlour's, in `application_id`."""
PAGE = 200
"""How many steps a replay reads at a time."""
PATIENCE = 2.0
"""Seconds to wait for another process that is writing to the same file."""

_SYNCHRONOUS = {"disk": "FULL", "process": "NORMAL"}

_TABLES = (
    # Numbers are never given twice, even when rooms are deleted one day.
    """CREATE TABLE rooms (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL,
        game TEXT NOT NULL,
        open INTEGER NOT NULL,
        private INTEGER NOT NULL,
        connected INTEGER NOT NULL,
        held REAL,
        creator TEXT,
        ended_at REAL,
        due REAL,
        card BLOB NOT NULL
    )""",
    "CREATE UNIQUE INDEX open_rooms ON rooms (id) WHERE open",
    "CREATE INDEX listed_rooms ON rooms (number) WHERE open AND NOT private",
    "CREATE INDEX due_rooms ON rooms (due) WHERE open AND due IS NOT NULL",
    "CREATE INDEX all_rooms ON rooms (id)",
    "CREATE INDEX rooms_by_creator ON rooms (creator) WHERE open AND creator IS NOT NULL",
    "CREATE INDEX ended_rooms ON rooms (ended_at) WHERE ended_at IS NOT NULL",
    """CREATE TABLE seats (
        room INTEGER NOT NULL REFERENCES rooms,
        player TEXT NOT NULL,
        PRIMARY KEY (room, player)
    ) WITHOUT ROWID""",
    "CREATE INDEX seats_of ON seats (player)",
    # In the order of arrival: the steps of one transaction lie on few pages, however many rooms they are of.
    """CREATE TABLE steps (
        room INTEGER NOT NULL REFERENCES rooms,
        seq INTEGER NOT NULL,
        player TEXT,
        command_id TEXT,
        body BLOB NOT NULL,
        hash BLOB NOT NULL,
        UNIQUE (room, seq)
    )""",
    "CREATE UNIQUE INDEX answers ON steps (room, player, command_id) WHERE command_id IS NOT NULL",
    """CREATE TABLE states (
        room INTEGER NOT NULL REFERENCES rooms,
        seq INTEGER NOT NULL,
        body BLOB NOT NULL,
        hash BLOB NOT NULL,
        PRIMARY KEY (room, seq)
    ) WITHOUT ROWID""",
    "CREATE TABLE players (id TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE clock (now REAL NOT NULL)",
    "INSERT INTO clock VALUES (0.0)",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)

_encode = msgspec.json.Encoder().encode
_read_card = msgspec.json.Decoder(Card).decode
_read_player = msgspec.json.Decoder(Player).decode


class SqliteJournal:
    """Keeps everything in the file ``parlour.db`` of a folder."""

    def __init__(self, folder: Path, durability: Durability) -> None:
        self._path = folder / FILE
        self._durability = durability
        self._writer: _Writer | None = None
        self._reader: _Reader | None = None

    async def open(self) -> float:
        if self._writer is not None:
            raise RuntimeError("the journal is open already")
        writing, reading, clock = await asyncio.to_thread(_open_file, self._path, self._durability)
        self._writer = _Writer(writing, asyncio.get_running_loop())
        self._reader = _Reader(reading)
        return clock

    async def close(self) -> None:
        writer, self._writer = self._writer, None
        reader, self._reader = self._reader, None
        if writer is not None and reader is not None:
            await asyncio.to_thread(reader.stop)
            await writer.stop()

    # Writing. Whatever can fail to encode does so here, where it costs only its own caller.

    async def create(self, card: Card, state: bytes, due: float | None) -> int:
        number: int = await self._write(partial(_create, _Plate.of(card), (state, digest(state)), due))
        return number

    async def append(self, room: int, step: Step, aside: Aside) -> None:
        row = (room, step.seq, asker(step.command), step.id, step.body, step.digest)
        plate = None if aside.card is None else _Plate.of(aside.card)
        state = None if aside.state is None else (aside.state, digest(aside.state))
        await self._write(partial(_append, row, plate, state, aside.due), step.now)

    async def mark(self, room: int, card: Card, due: float | None) -> None:
        await self._write(partial(_mark, room, _Plate.of(card), due))

    async def prune(self, before: float, limit: int) -> int:
        count: int = await self._write(partial(_prune, before, limit))
        return count

    async def rest(self, room: int, stored: Stored, due: float | None) -> None:
        await self._write(partial(_rest, room, stored.seq, (stored.state, digest(stored.state)), due))

    async def beat(self, now: float) -> None:
        await self._write(_nothing, now)

    async def save_player(self, player: Player) -> None:
        await self._write(partial(_save_player, player.id, _encode(player)))

    def _write(self, do: Callable[[sqlite3.Connection], Any], now: float = 0.0) -> asyncio.Future[Any]:
        if self._writer is None:
            raise NotKept("the journal is not open")
        return self._writer.put(do, now)

    # Reading.

    async def replay(self, room: int, after: int = 0) -> AsyncIterator[Step]:
        chain = Chain(room, after)
        more = True
        while more:
            rows = await self._read(partial(_page, room, chain.seq))
            for row in rows:
                yield chain.read(*row)
            more = len(rows) == PAGE

    async def stored(self, room: int) -> Stored:
        return await self._read(partial(_stored, room))

    async def answers(self, room: int) -> dict[tuple[str, str], int]:
        return await self._read(partial(_answers, room))

    async def recall(self, id: str) -> Recalled | None:
        return await self._read(partial(_recall, id))

    async def find(self, id: str) -> Found | None:
        return next(iter(await self._read(partial(_rooms, _BY_ID, id))), None)

    async def open_rooms(self, limit: int) -> list[Found]:
        return await self._read(partial(_rooms, _LISTED, limit))

    async def rooms_of(self, player: str) -> list[Found]:
        return await self._read(partial(_rooms, _SEATED, player))

    async def due(self, now: float) -> list[str]:
        return await self._read(partial(_due, now))

    async def left_connected(self) -> list[str]:
        return await self._read(partial(_ids, "connected"))

    async def missing(self, games: Collection[str]) -> list[Found]:
        return await self._read(partial(_missing, tuple(games)))

    async def held(self) -> list[str]:
        return await self._read(partial(_ids, "held IS NOT NULL"))

    async def opened_by(self, creator: str) -> int:
        return await self._read(partial(_opened_by, creator))

    async def player(self, id: str) -> Player | None:
        return await self._read(partial(_player, id))

    async def _read(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        if self._reader is None:
            raise NotKept("the journal is not open")
        return await self._reader.ask(ask)


# The two threads.


class _Write(NamedTuple):
    """Something that waits to be written, how far it moves the rooms' clock, and who waits for it."""

    do: Callable[[sqlite3.Connection], Any]
    now: float
    future: asyncio.Future[Any]


class _Writer:
    """The thread that writes: all that was asked while it wrote the last time is one transaction."""

    def __init__(self, db: sqlite3.Connection, loop: asyncio.AbstractEventLoop) -> None:
        self._db = db
        self._loop = loop
        self._waiting: list[_Write] = []
        self._busy = False
        """The thread has a batch, or is about to get one."""
        self._batches: SimpleQueue[list[_Write]] = SimpleQueue()
        self._broken: DiskFailed | None = None
        # A daemon, because a server that fell over must not hang at its end: what was acknowledged is kept.
        self._thread = Thread(target=self._run, name="journal-writer", daemon=True)
        self._thread.start()

    # In the loop's thread.

    def put(self, do: Callable[[sqlite3.Connection], Any], now: float) -> asyncio.Future[Any]:
        """Have it written; the future is done when it is kept."""
        future = self._loop.create_future()
        self._waiting.append(_Write(do, now, future))
        if not self._busy:
            self._busy = True
            self._loop.call_soon(self._hand_over)  # what else is asked in this turn goes with it
        return future

    def _hand_over(self) -> None:
        batch, self._waiting = self._waiting, []
        self._busy = bool(batch)
        if batch:
            self._batches.put(batch)

    def _settle(self, batch: list[_Write], outcomes: list[Any]) -> None:
        """Tell everybody what came of their writes; those who gave up waiting are left alone."""
        self._hand_over()
        for write, outcome in zip(batch, outcomes, strict=True):
            if write.future.done():
                continue
            if _failed(outcome):
                write.future.set_exception(outcome)
            else:
                write.future.set_result(outcome)

    async def stop(self) -> None:
        """Write what still waits, fold the log into the file, and let go of it."""
        self._hand_over()
        self._batches.put([])
        await asyncio.to_thread(self._thread.join)
        await asyncio.to_thread(self._let_go)

    # In its own thread.

    def _let_go(self) -> None:
        with closing(self._db), suppress(sqlite3.Error):  # the log holds what could not be folded in
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _run(self) -> None:
        while batch := self._batches.get():
            outcomes = self._commit(batch)
            with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
                self._loop.call_soon_threadsafe(self._settle, batch, outcomes)

    def _commit(self, batch: list[_Write]) -> list[Any]:
        """What came of each write: its result, or the exception for whoever waits for it."""
        if self._broken is not None:  # after a failed fsync nobody knows what the file holds
            return [self._broken for _ in batch]
        try:
            self._db.execute("BEGIN IMMEDIATE")
            outcomes = [self._attempt(write) for write in batch]
            landed = (w.now for w, outcome in zip(batch, outcomes, strict=True) if not _failed(outcome))
            self._move_clock(max(landed, default=0.0))
            self._db.execute("COMMIT")
        except (sqlite3.Error, MemoryError, OverflowError) as error:
            self._roll_back()
            why = _not_kept(error)
            self._broken = why if isinstance(why, DiskFailed) else None
            return [why for _ in batch]
        return outcomes

    def _attempt(self, write: _Write) -> Any:
        try:
            return write.do(self._db)
        except Conflict as conflict:  # SQLite has undone the statement, which was the first of this write
            return conflict

    def _move_clock(self, now: float) -> None:
        self._db.execute("UPDATE clock SET now = ?1 WHERE now < ?1", (now,))

    def _roll_back(self) -> None:
        with suppress(sqlite3.Error):  # some failures roll back by themselves
            self._db.execute("ROLLBACK")


def _failed(outcome: Any) -> bool:
    return isinstance(outcome, Exception)


class _Reader:
    """The thread that reads, on a connection of its own: it sees what was kept, and waits for no writer."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._thread = ThreadPoolExecutor(1, "journal-reader")

    async def ask(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        """What *ask* finds in the file."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._look, ask)

    def stop(self) -> None:
        """Answer what was asked already, then let go of the file."""
        self._thread.shutdown()
        self._db.close()

    def _look(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return ask(self._db)
        except sqlite3.Error as error:
            raise _unreadable("the journal", error) from error
        except msgspec.DecodeError as error:
            raise Damaged(f"the journal holds something that cannot be read: {error}") from error


# What a write does. Only its first statement can meet a taken key, so a refused write leaves nothing behind.

_State = tuple[bytes, bytes]
"""An encoded state and its digest."""


class _Plate(NamedTuple):
    """A card as the tables have it: encoded, and what is searched for beside it."""

    id: str
    players: frozenset[str]
    columns: tuple[Any, ...]
    """In the order of `_COLUMNS`."""

    @classmethod
    def of(cls, card: Card) -> "_Plate":
        players = frozenset(seat.id for seat in card.seats if seat is not None)
        columns = (
            card.game,
            card.ended is None,
            card.private,
            card.connected,
            card.held,
            card.creator,
            card.ended_at,
            _encode(card),
        )
        # A room that has ended is no longer among anybody's rooms.
        return cls(card.id, players if card.ended is None else frozenset(), columns)


_COLUMNS = ("game", "open", "private", "connected", "held", "creator", "ended_at", "card")
_HANG = f"UPDATE rooms SET {', '.join(f'{column} = ?' for column in _COLUMNS)} WHERE number = ?"  # noqa: S608
_OPEN = (
    f"INSERT INTO rooms ({', '.join(_COLUMNS)}, id, due) "  # noqa: S608 - our own column names
    f"VALUES ({', '.join('?' for _ in _COLUMNS)}, ?, ?)"
)


def _create(plate: _Plate, state: _State, due: float | None, db: sqlite3.Connection) -> int:
    try:
        number = db.execute(_OPEN, (*plate.columns, plate.id, due)).lastrowid
    except sqlite3.IntegrityError:
        raise Conflict(f"there is an open room {plate.id} already") from None
    assert number is not None  # noqa: S101 - a row was inserted
    _keep_state(db, number, 0, state)
    _seat(db, number, plate.players)
    return number


def _append(
    row: tuple[int, int, str | None, str | None, bytes, bytes],
    plate: _Plate | None,
    state: _State | None,
    due: float | UnsetType | None,
    db: sqlite3.Connection,
) -> None:
    room, seq, *_ = row
    try:
        db.execute("INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?)", row)
    except sqlite3.IntegrityError as error:
        raise Conflict(f"step {seq} of room {room} has no place: {error}") from None
    if plate is not None:
        _hang(db, room, plate)
    if state is not None:
        _keep_state(db, room, seq, state)
    if not isinstance(due, UnsetType):
        _set_due(db, room, due)


def _mark(room: int, plate: _Plate, due: float | None, db: sqlite3.Connection) -> None:
    if not _set_due(db, room, due):
        raise Conflict(f"there is no room {room}")
    _hang(db, room, plate)


def _prune(before: float, limit: int, db: sqlite3.Connection) -> int:
    sql = "SELECT number FROM rooms WHERE ended_at < ? ORDER BY ended_at LIMIT ?"
    old = [(number,) for (number,) in db.execute(sql, (before, limit))]
    for sql in (
        "DELETE FROM steps WHERE room = ?",
        "DELETE FROM states WHERE room = ?",
        "DELETE FROM seats WHERE room = ?",
        "DELETE FROM rooms WHERE number = ?",
    ):
        db.executemany(sql, old)
    return len(old)


def _rest(room: int, seq: int, state: _State, due: float | None, db: sqlite3.Connection) -> None:
    if seq != _last(db, room) or not _set_due(db, room, due):
        raise Conflict(f"room {room} is no longer at step {seq}")
    _keep_state(db, room, seq, state)


def _nothing(db: sqlite3.Connection) -> None:
    """A heartbeat moves the clock, and that is all."""


def _save_player(id: str, body: bytes, db: sqlite3.Connection) -> None:
    db.execute("INSERT OR REPLACE INTO players VALUES (?, ?)", (id, body))


def _hang(db: sqlite3.Connection, room: int, plate: _Plate) -> None:
    """Put the new card at the room's door."""
    db.execute(_HANG, (*plate.columns, room))
    seated = {player for (player,) in db.execute("SELECT player FROM seats WHERE room = ?", (room,))}
    if seated != plate.players:
        db.execute("DELETE FROM seats WHERE room = ?", (room,))
        _seat(db, room, plate.players)


def _seat(db: sqlite3.Connection, room: int, players: frozenset[str]) -> None:
    db.executemany("INSERT INTO seats VALUES (?, ?)", [(room, player) for player in players])


def _keep_state(db: sqlite3.Connection, room: int, seq: int, state: _State) -> None:
    db.execute("INSERT OR REPLACE INTO states VALUES (?, ?, ?, ?)", (room, seq, *state))


def _set_due(db: sqlite3.Connection, room: int, due: float | None) -> int:
    return db.execute("UPDATE rooms SET due = ? WHERE number = ?", (due, room)).rowcount


# What a read finds.

_FOUND = "SELECT number, (SELECT coalesce(max(seq), 0) FROM steps WHERE room = number), card FROM rooms "
# An id is given again only once its room has ended, so an open room is the newest of its id.
_BY_ID = _FOUND + "WHERE id = ? ORDER BY number DESC LIMIT 1"
_LISTED = _FOUND + "WHERE open AND NOT private ORDER BY number DESC LIMIT ?"
_SEATED = _FOUND + "JOIN seats ON room = number WHERE player = ? ORDER BY number DESC"


def _rooms(sql: str, key: str | int, db: sqlite3.Connection) -> list[Found]:
    return [Found(number, seq, _read_card(card)) for number, seq, card in db.execute(sql, (key,))]


def _recall(id: str, db: sqlite3.Connection) -> Recalled | None:
    found = next(iter(_rooms(_BY_ID, id, db)), None)
    if found is None:
        return None
    return Recalled(found, _stored(found.number, db), _answers(found.number, db))


def _due(now: float, db: sqlite3.Connection) -> list[str]:
    sql = "SELECT id FROM rooms WHERE open AND due <= ? ORDER BY due"
    return [id for (id,) in db.execute(sql, (now,))]


def _ids(which: str, db: sqlite3.Connection) -> list[str]:
    return [id for (id,) in db.execute(f"SELECT id FROM rooms WHERE open AND {which}")]  # noqa: S608


def _missing(games: tuple[str, ...], db: sqlite3.Connection) -> list[Found]:
    known = ", ".join("?" for _ in games)
    sql = _FOUND + f"WHERE open AND game NOT IN ({known})"
    return [Found(number, seq, _read_card(card)) for number, seq, card in db.execute(sql, games)]


def _opened_by(creator: str, db: sqlite3.Connection) -> int:
    sql = "SELECT count(*) FROM rooms WHERE open AND creator = ?"
    count: int = db.execute(sql, (creator,)).fetchone()[0]
    return count


def _page(room: int, after: int, db: sqlite3.Connection) -> list[tuple[int, bytes, bytes]]:
    sql = "SELECT seq, body, hash FROM steps WHERE room = ? AND seq > ? ORDER BY seq LIMIT ?"
    return db.execute(sql, (room, after, PAGE)).fetchall()


def _stored(room: int, db: sqlite3.Connection) -> Stored:
    sql = "SELECT seq, body, hash FROM states WHERE room = ? ORDER BY seq DESC LIMIT 1"
    row = db.execute(sql, (room,)).fetchone()
    if row is None or digest(row[1]) != row[2]:
        raise Damaged(f"room {room}: its state is not as it was written")
    return Stored(row[0], row[1])


def _answers(room: int, db: sqlite3.Connection) -> dict[tuple[str, str], int]:
    sql = "SELECT player, command_id, seq FROM steps WHERE room = ? AND command_id IS NOT NULL"
    return {(player, id): seq for player, id, seq in db.execute(sql, (room,)) if player is not None}


def _last(db: sqlite3.Connection, room: int) -> int:
    """The seq of the room's last step."""
    seq: int = db.execute("SELECT coalesce(max(seq), 0) FROM steps WHERE room = ?", (room,)).fetchone()[0]
    return seq


def _player(id: str, db: sqlite3.Connection) -> Player | None:
    row = db.execute("SELECT body FROM players WHERE id = ?", (id,)).fetchone()
    return None if row is None else _read_player(row[0])


# The file.


def _open_file(path: Path, durability: Durability) -> tuple[sqlite3.Connection, sqlite3.Connection, float]:
    """A connection to write with, one to read with, and where the rooms' clock stopped."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # the secrets of all rooms lie in there
    if not path.exists():
        path.touch(mode=0o600)
    with ExitStack() as opened:
        try:
            writing, reading = (opened.enter_context(closing(_connect(path))) for _ in range(2))
            _make_ready(writing, path)
            writing.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[durability]}")
            writing.execute("PRAGMA foreign_keys = ON")
            reading.execute("PRAGMA query_only = ON")
            clock: float = reading.execute("SELECT now FROM clock").fetchone()[0]
        except sqlite3.Error as error:
            raise _unopened(path, error) from error
        opened.pop_all()
    return writing, reading, clock


def _connect(path: Path) -> sqlite3.Connection:
    # Each connection is used by one thread at a time, but not by the one that made it.
    return sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)


def _make_ready(db: sqlite3.Connection, path: Path) -> None:
    """See that the file is ours and of our time, and fill it if it is new; others' files stay untouched."""
    if _is_new(db, path):
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("BEGIN IMMEDIATE")
        if _is_new(db, path):  # nobody was faster
            for sql in _TABLES:
                db.execute(sql)
        db.execute("COMMIT")


def _is_new(db: sqlite3.Connection, path: Path) -> bool:
    # The mark is read last: a file that somebody fills right now has its mark by the time it has its tables.
    tables, format, application = (
        db.execute(sql).fetchone()[0]
        for sql in ("SELECT count(*) FROM sqlite_schema", "PRAGMA user_version", "PRAGMA application_id")
    )
    if application == APPLICATION and format > FORMAT:
        raise TooNew(
            f"{path} has format {format}, and this Parlour reads formats up to {FORMAT}: "
            "start the newer Parlour that wrote it, or choose another data folder"
        )
    if application != APPLICATION and (application or format or tables):
        raise Foreign(f"{path} belongs to another application: choose another data folder")
    return bool(application != APPLICATION)


# What went wrong, in the journal's words.


def _not_kept(error: Exception) -> NotKept:
    name = _name(error)
    # The shared memory of the log has no disk behind it: a full one can be full no longer.
    failed = name.startswith("SQLITE_IOERR") and not name.startswith("SQLITE_IOERR_SHM")
    return (DiskFailed if failed else NotKept)(f"not kept: {error}")


def _unreadable(what: str, error: sqlite3.Error) -> Exception:
    if _name(error).startswith("SQLITE_CORRUPT"):
        return Damaged(f"{what} is damaged: {error}")
    return NotKept(f"{what} cannot be read: {error}")


def _unopened(path: Path, error: sqlite3.Error) -> Exception:
    if _name(error) == "SQLITE_NOTADB":
        return Foreign(f"{path} is not a journal ({error}): choose another data folder")
    return _unreadable(str(path), error)


def _name(error: Exception) -> str:
    """SQLite's own name for what happened; where an error is not from the library there is none."""
    return getattr(error, "sqlite_errorname", "")

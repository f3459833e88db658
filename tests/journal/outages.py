"""Workers on PostgreSQL that write all the time, and what is done to them meanwhile."""

import asyncio
from contextlib import asynccontextmanager
from functools import partial

from parlour.journal.base import Conflict, NotKept, OutcomeUnknown, StepWrites, Trouble
from parlour.journal.postgresql import PostgresJournal
from parlour.journal.postgresql.schema import connect
from tests.journal.made import append, steps

NOTHING = StepWrites()
PATIENCE = 60.0
"""Seconds in which whatever a test waits for must come."""


@asynccontextmanager
async def opened(url, **more):
    journal = PostgresJournal(url, "disk", **more)
    journal.share()
    await journal.open()
    try:
        yield journal
    finally:
        await journal.close()


async def until(what, patience=PATIENCE):
    """Ask until the answer is yes."""
    async with asyncio.timeout(patience):
        while not (found := await what()):  # noqa: ASYNC110 - there is nothing to be woken by
            await asyncio.sleep(0.005)
    return found


async def cut(db, pid):
    assert await db.fetchval("SELECT pg_terminate_backend($1)", pid)


def pid_of(journal):
    """The server process behind the writer's connection."""
    return journal._writer._line._db.get_server_pid()


def waits_for_a_lock(db, pid):
    async def ask():
        return await db.fetchval(
            "SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'", pid
        )

    return until(ask)


TABLE = "LOCK TABLE steps"
STEP = "INSERT INTO steps VALUES (1, 1, NULL, NULL, '', '')"
"""Locks: nobody can write steps at all; or the first step of the first room cannot be written, for which a
statement waits when it has passed the fence."""


@asynccontextmanager
async def locked(url, sql=STEP):
    """Somebody else's transaction is in the way for a while."""
    db = await connect(url)
    await db.execute("BEGIN")
    await db.execute(sql)
    try:
        yield db
        await db.execute("ROLLBACK")
    finally:
        db.terminate()


async def outcome(writing):
    """None, or the trouble that a write met."""
    try:
        async with asyncio.timeout(PATIENCE):
            await writing
    except Trouble as trouble:
        return trouble
    return None


def begin(writing):
    return asyncio.ensure_future(outcome(writing))


class Plays:
    """Rooms that are played in all the time, each with the steps that were acknowledged or refused."""

    def __init__(self, journal, rooms):
        self.journal = journal
        self.rooms = dict.fromkeys(rooms, 0)
        """The last step that was acknowledged, by room."""
        self.refused: list[str] = []
        self.stopped = False

    async def play(self, room, *, beside):
        made = steps(3000)
        while not self.stopped:
            one = made[self.rooms[room]]
            writes = StepWrites(due=float(one.seq)) if beside else NOTHING
            trouble = await outcome(append(self.journal, room, one, writes))
            assert not isinstance(trouble, Conflict), "it was refused before, and is kept"
            if isinstance(trouble, OutcomeUnknown):
                self.rooms[room] = (await until(partial(self.found, room))).seq
            elif trouble is not None:
                self.refused.append(str(trouble))
                await asyncio.sleep(0.01)
            else:
                self.rooms[room] += 1

    async def found(self, room):
        """What is not known is looked up, as a room does when it is loaded again."""
        try:
            return await self.journal.find(room)
        except NotKept:
            return None

    async def one_more_each(self):
        """Wait until there is a new step in every room."""
        before = dict(self.rooms)

        async def there_is():
            return all(seq > before[room] for room, seq in self.rooms.items())

        await until(there_is)

    @asynccontextmanager
    async def going_on(self):
        tasks = [
            asyncio.create_task(self.play(room, beside=number % 4 == 0))
            for number, room in enumerate(self.rooms)
        ]
        yield
        self.stopped = True
        await asyncio.gather(*tasks)

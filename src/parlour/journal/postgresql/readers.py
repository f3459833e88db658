"""The connections that read: a few, made when they are needed and again when they are lost."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from asyncpg import Connection

from parlour.journal.base import NotKept, Trouble
from parlour.journal.postgresql.connection import ANSWER_WITHIN, limits_of_time
from parlour.journal.postgresql.errors import ERRORS, is_lost, unreadable
from parlour.journal.postgresql.schema import connect

T = TypeVar("T")

READERS = 4
"""Connections that read at once."""


class Readers:
    """Asks on one of a few connections; who comes when all are busy waits, as long as PostgreSQL answers."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._idle: list[Connection] = []
        self._free = READERS
        self._waiting: deque[asyncio.Future[None]] = deque()

    def ask(self, question: Callable[[Connection], Awaitable[T]]) -> asyncio.Task[T]:
        """The answer to a question; `NotKept` if there is none to be had.

        In a task of its own: asyncpg cannot do without, and rooms do not run in one.
        """
        return asyncio.get_running_loop().create_task(self._in_turn(question))

    async def _in_turn(self, question: Callable[[Connection], Awaitable[T]]) -> T:
        await self._take_turn()
        try:
            return await self._ask(question)
        except ERRORS as error:
            raise unreadable(error) from error
        finally:
            self._give_turn()

    async def _ask(self, question: Callable[[Connection], Awaitable[T]]) -> T:
        db = await self._connection()
        try:
            return await question(db)
        except Trouble:  # it was answered
            raise
        except BaseException as error:
            db.terminate()  # whatever it is in the middle of
            if is_lost(error):
                self._refuse_waiting(unreadable(error))
            raise
        finally:
            self._idle.append(db)

    async def _connection(self) -> Connection:
        while self._idle:
            db = self._idle.pop()
            if not db.is_closed():
                return db
        try:
            return await connect(self._url, limits_of_time(), command_timeout=ANSWER_WITHIN)
        except NotKept as why:
            self._refuse_waiting(why)
            raise

    async def _take_turn(self) -> None:
        if self._free and not self._waiting:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._give_turn()
            raise

    def _give_turn(self) -> None:
        """Let the next one ask."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def _refuse_waiting(self, why: NotKept) -> None:
        """PostgreSQL does not answer: nobody waits for their turn to find that out again."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_exception(NotKept(str(why)))

    async def close(self) -> None:
        while self._idle:
            db = self._idle.pop()
            with suppress(*ERRORS):
                await db.close(timeout=ANSWER_WITHIN)
            db.terminate()

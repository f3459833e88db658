"""A process in which a bot's function thinks, so that one that hangs can be ended."""

import asyncio
import traceback
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from secrets import token_bytes
from typing import Any

import msgspec

from parlour.client.seat import Turn
from parlour.game import Bot, BotWithAnswers, Chance
from parlour.offers import What
from parlour.plugins import find_function

START_TIMEOUT = 60.0
"""Seconds for a process to start and to import the bot."""


class BotFailed(Exception):
    """The bot gave no answer; says why, with its traceback if it raised."""


class _Question(msgspec.Struct, frozen=True):
    """What a bot has to decide: a move, or whether it agrees to an offer."""

    view: Any
    seed: bytes
    legal: list[Any] | None = None
    offer: What | None = None


class _Thought(msgspec.Struct, frozen=True):
    """What a bot answered: an event, None for nothing, or the traceback of what it raised."""

    event: Any = None
    error: str | None = None


_encode = msgspec.json.Encoder().encode
_read_question = msgspec.json.Decoder(_Question).decode
_read_thought = msgspec.json.Decoder(_Thought).decode


class Thinker:
    """One process, which is asked one thing at a time."""

    def __init__(self, function: str, timeout: float) -> None:
        self._function = function
        self._timeout = timeout
        self._process: SpawnProcess | None = None
        self._pipe: Connection
        self._asking = asyncio.Lock()

    async def ask(self, turn: Turn) -> Any:
        """What the bot does; `BotFailed` if it raises, takes too long or answers what is no JSON."""
        return await self._think(_Question(turn.view, token_bytes(32), turn.legal))

    async def agrees(self, view: Any, offer: What) -> bool:
        """Whether the bot agrees to an offer; one that has no answers to offers agrees to go on alone."""
        return bool(await self._think(_Question(view, token_bytes(32), offer=offer)))

    async def _think(self, question: _Question) -> Any:
        async with self._asking:
            return await asyncio.to_thread(self._ask, _encode(question))

    def _ask(self, question: bytes) -> Any:
        try:
            if self._process is None:
                self._start()
            self._pipe.send_bytes(question)
            if not self._pipe.poll(self._timeout):
                raise BotFailed(f"it thought for longer than {self._timeout:g} s")
            thought = _read_thought(self._pipe.recv_bytes())
        except (OSError, EOFError):
            self.stop()
            raise BotFailed("its process has ended") from None
        except BotFailed:
            self.stop()
            raise
        if thought.error is not None:
            raise BotFailed(thought.error)
        return thought.event

    def _start(self) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_think, args=(self._function, theirs), daemon=True)
        self._process.start()
        theirs.close()
        if not self._pipe.poll(START_TIMEOUT):
            raise BotFailed(f"its process did not start within {START_TIMEOUT:g} s")
        self._pipe.recv_bytes()

    def stop(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None


def _think(function: str, pipe: Connection) -> None:
    """Answer what comes through a pipe, until it is closed."""
    choose = find_function(function)
    pipe.send_bytes(b"ready")
    while True:
        try:
            question = _read_question(pipe.recv_bytes())
        except (EOFError, OSError):
            return
        try:
            answer = _encode(_Thought(_decide(choose, question)))
        except Exception:  # noqa: BLE001 - whatever a bot raises is told
            answer = _encode(_Thought(error=traceback.format_exc()))
        pipe.send_bytes(answer)


def _decide(bot: Bot, question: _Question) -> Any:
    if question.offer is None:
        return bot(question.view, question.legal, Chance(question.seed, 0))  # type: ignore[arg-type]
    if isinstance(bot, BotWithAnswers):
        return bot.answer(question.view, question.offer)
    return question.offer == "resume"

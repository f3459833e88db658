"""The processes in which bots think: started when first needed, and ended with the server."""

import asyncio
import os
import secrets
import sys
from contextlib import suppress

import msgspec
import structlog

from parlour.server.bots.worker import Asked, BotAnswer, Question

log = structlog.get_logger()

START_TIMEOUT = 30.0
"""Seconds for a process to start."""
ANSWER_TIMEOUT = 1.5
"""Seconds for one answer, unless told otherwise; who takes longer is stopped, and another move is made."""

_encode = msgspec.json.Encoder().encode
_read_answer = msgspec.json.Decoder(BotAnswer).decode


class BotFailed(Exception):
    """The bot gave no answer: it failed, its process died, or it took too long."""

    def __init__(self, why: str, trace: str = "") -> None:
        super().__init__(why)
        self.trace = trace
        """Where it raised."""


class BotProcess:
    """One process; it answers one question at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls) -> "BotProcess":
        """Start a fresh process, not a copy of this one; it ignores a Ctrl-C at the terminal."""
        pipe = asyncio.subprocess.PIPE
        path = os.pathsep.join(place for place in sys.path if place)
        program = (sys.executable, "-P", "-m", "parlour.server.bots.worker")
        world = {**os.environ, "PYTHONPATH": path}
        return cls(
            await asyncio.create_subprocess_exec(
                *program, stdin=pipe, stdout=pipe, start_new_session=True, env=world
            )
        )

    async def begun(self) -> None:
        """Wait until the process is ready: it sends an empty line."""
        assert self._process.stdout is not None  # noqa: S101 - a pipe
        await self._process.stdout.readline()

    def is_dead(self) -> bool:
        """True if the process has ended."""
        return self._process.returncode is not None

    async def ask(self, line: bytes) -> bytes:
        """Send a line and return the answer; empty if the process has ended."""
        assert self._process.stdin is not None  # noqa: S101 - both are pipes
        assert self._process.stdout is not None  # noqa: S101
        self._process.stdin.write(line)
        await self._process.stdin.drain()
        return await self._process.stdout.readline()

    async def stop(self) -> None:
        """End the process, whatever it does."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()


class BotPool:
    """A limited number of processes; a question waits for an idle one."""

    def __init__(self, size: int, timeout: float = ANSWER_TIMEOUT) -> None:
        self.timeout = timeout
        self._idle: asyncio.LifoQueue[BotProcess | None] = asyncio.LifoQueue()
        self._workers: set[BotProcess] = set()
        for _ in range(max(1, size)):
            self._idle.put_nowait(None)

    async def ask(self, question: Question) -> msgspec.Raw | None:
        """The bot's event, or None for nothing; `BotFailed` if there is no answer."""
        line = _encode(Asked(question, secrets.token_bytes(32))) + b"\n"
        worker = await self._idle.get()
        told = b""
        try:
            if worker is not None and worker.is_dead():
                await self._stop(worker)
                worker = None
            if worker is None:
                worker = await self._start()
                await asyncio.wait_for(worker.begun(), START_TIMEOUT)
            told = await asyncio.wait_for(worker.ask(line), self.timeout)
        except (TimeoutError, OSError, ValueError, RuntimeError):
            pass  # too late, the process is gone (uvloop raises RuntimeError), or the line is too long
        finally:
            if not told.endswith(b"\n") and worker is not None:
                await self._stop(worker)
                worker = None
            self._idle.put_nowait(worker)
        return _understood(question, told)

    async def stop(self) -> None:
        """End all processes."""
        for worker in tuple(self._workers):
            await self._stop(worker)

    async def _start(self) -> BotProcess:
        worker = await BotProcess.start()
        self._workers.add(worker)
        return worker

    async def _stop(self, worker: BotProcess) -> None:
        self._workers.discard(worker)
        await worker.stop()


def _understood(question: Question, told: bytes) -> msgspec.Raw | None:
    if not told.endswith(b"\n"):
        raise BotFailed(f"{question.bot} thought for too long, or its process died")
    answer = _read_answer(told)
    if answer.error is not None:
        raise BotFailed(answer.error, answer.trace)
    return None if answer.event is None else msgspec.Raw(_encode(answer.event))

"""`--workers N`: starts workers on one port, starts a dead one again, and replaces all one by one on SIGHUP.

A worker that died is buried at once, so that others take over its rooms without waiting for its lease.
"""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import structlog

from parlour.journal import is_database
from parlour.journal.base import Trouble
from parlour.server.addresses import Reach, find_reach, listening_host
from parlour.server.gateway.http_listener import NoPlace
from parlour.server.logs import set_up_logs
from parlour.server.settings import Settings

log = structlog.get_logger()

READY = "PARLOUR_READY_FD"
"""The environment variable that tells a worker that it has siblings, and where to write once it serves."""
START_WITHIN = 30.0
"""Seconds that a worker has to begin to serve."""
WAIT_AFTER_CRASH = 1.0
"""Seconds before a worker is started again that died before it served."""

Bury = Callable[[str], Awaitable[None]]
"""Declares the worker of an address gone."""


def has_siblings() -> bool:
    """True if this process is one of the workers of a supervisor, and shares its port."""
    return READY in os.environ


def tell_ready() -> None:
    """Tell the supervisor, if there is one, that this worker serves."""
    if has_siblings():
        with suppress(OSError):
            os.write(int(os.environ[READY]), b"!")


class Child:
    """One worker's process."""

    def __init__(self, number: int, process: asyncio.subprocess.Process, ready: int) -> None:
        self.number = number
        self.process = process
        self._ready = ready

    @property
    def address(self) -> str:
        """How the worker is known in the database."""
        return f"{socket.gethostname()}:{self.process.pid}"

    async def serves(self) -> bool:
        """Wait until it serves; False if it ended before."""
        loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
        pipe = os.fdopen(self._ready, "rb", 0)
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        try:
            return await asyncio.wait_for(reader.read(1), START_WITHIN) == b"!"
        except TimeoutError:
            return False
        finally:
            transport.close()


class Supervisor:
    """Keeps so many workers running."""

    def __init__(self, command: Sequence[str], count: int, bury: Bury, greet: Callable[[], None]) -> None:
        self._command = command
        self._count = count
        self._bury = bury
        self._greet = greet
        """Called once all workers serve."""
        self._children: dict[int, Child] = {}
        self._watching: set[asyncio.Task[None]] = set()
        self._replacing: set[int] = set()
        """Workers that were told to stop, because another one takes their place."""
        self._stopping = asyncio.Event()
        self._rolling = asyncio.Lock()

    async def run(self) -> None:
        """Start the workers, and keep them running until SIGTERM or Ctrl-C."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stopping.set)
        loop.add_signal_handler(signal.SIGHUP, lambda: self._watch(self._replace_all()))
        started = await asyncio.gather(*(self._start(number) for number in range(1, self._count + 1)))
        if not any(started):
            self._stopping.set()
        elif not self._stopping.is_set():
            self._greet()
        await self._stopping.wait()
        await self._stop_all()
        if not any(started):
            raise Trouble("no worker could start: the log says why")

    async def _start(self, number: int) -> bool:
        """Start a worker; True once it serves."""
        reading, writing = os.pipe()
        environment = {**os.environ, READY: str(writing)}
        process = await asyncio.create_subprocess_exec(
            *self._command, pass_fds=(writing,), env=environment, stdin=subprocess.DEVNULL
        )
        os.close(writing)
        child = self._children[number] = Child(number, process, reading)
        self._watch(self._mind(child))
        serves = await child.serves()
        if serves:
            log.info("worker_serves", number=number, pid=process.pid)
        return serves

    def _watch(self, job: Awaitable[None]) -> None:
        task = asyncio.ensure_future(job)
        self._watching.add(task)
        task.add_done_callback(self._watching.discard)

    async def _mind(self, child: Child) -> None:
        """Wait for the end of a worker; unless that was meant, bury it and start another one."""
        code = await child.process.wait()
        if self._stopping.is_set() or child.process.pid in self._replacing:
            return
        log.error("worker_died", number=child.number, pid=child.process.pid, code=code)
        try:
            await self._bury(child.address)
        except Trouble as error:  # its lease ends by itself
            log.error("worker_not_buried", number=child.number, error=str(error))
        await self._start_anyway(child.number)

    async def _start_anyway(self, number: int) -> None:
        """Start a worker, again and again until one serves."""
        while not self._stopping.is_set():
            if await self._start(number):
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), WAIT_AFTER_CRASH)

    async def _replace_all(self) -> None:
        """Replace the workers one by one: each hands its rooms over before it ends."""
        async with self._rolling:
            for number in sorted(self._children):
                old = self._children[number]
                self._replacing.add(old.process.pid)
                with suppress(ProcessLookupError):
                    old.process.terminate()
                await old.process.wait()
                await self._start_anyway(number)
                self._replacing.discard(old.process.pid)
            log.info("workers_replaced", count=len(self._children))

    async def _stop_all(self) -> None:
        for child in self._children.values():
            with suppress(ProcessLookupError):
                child.process.terminate()
        await asyncio.gather(*(child.process.wait() for child in self._children.values()))


def hold_port(host: str, port: int) -> socket.socket:
    """A port for all workers, so that nobody else gets it; connections come to the workers alone."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        held = socket.socket(family, socket.SOCK_STREAM)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind(address[:2])
    except OSError as error:
        raise NoPlace(f"cannot listen on {host} port {port}: {error.strerror or error}") from None
    return held


def options_of_each(settings: Settings, port: int) -> list[str]:
    """What differs for a worker from the options of all: the processes for bots are shared, too."""
    bots = max(1, settings.bot_workers // settings.workers)
    return ["--workers", "1", "--port", str(port), "--bot-workers", str(bots)]


def supervise(settings: Settings, greet: Callable[[Reach], None]) -> None:
    """Run `parlour serve` with several workers until SIGTERM or Ctrl-C."""
    if not is_database(settings.journal) or not settings.bus:
        raise Trouble(
            "--workers: expected --journal postgresql://... and --bus nats://..., which workers share"
        )
    from parlour.cluster.burial import bury  # noqa: PLC0415 - an extra

    set_up_logs()
    with hold_port(listening_host(settings), settings.port) as held:
        port = held.getsockname()[1]
        command = [sys.executable, "-m", "parlour", *sys.argv[1:], *options_of_each(settings, port)]
        reach = find_reach(settings, port)
        supervisor = Supervisor(
            command, settings.workers, lambda address: bury(settings.journal, address), lambda: greet(reach)
        )
        asyncio.run(supervisor.run())

"""The bus by NATS: one subject for each worker, and one for all."""

import asyncio
import re
from collections.abc import Callable

from parlour.cluster.bus import BusFailed, LinkedBus
from parlour.cluster.nats_connection import NatsConnection

RETRY = 0.2
"""Seconds between two tries to join again."""


class NatsBus(LinkedBus):
    """One worker's end of the bus. If NATS is away it joins again as soon as NATS is back.

    *url* is one address of NATS or several with commas between them, as nats-py takes them: with the user and
    the password, with `tls://` for TLS. Workers hear those with the same *cluster* only.
    """

    def __init__(self, url: str, cluster: str, me: int) -> None:
        super().__init__(me)
        if not re.fullmatch(r"[\w-]+", cluster, re.ASCII):
            raise ValueError(f"expected letters, digits, - and _ as the name of a cluster, got {cluster!r}")
        self._urls = [part.strip() for part in url.split(",")]
        self._prefix = f"parlour.{cluster}"
        self._subjects: dict[int, str] = {}
        self._connection: NatsConnection | None = None
        self._joining: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop

    async def start(self) -> None:
        """Join the bus, or raise `BusFailed` with a sentence that names the host."""
        self._loop = asyncio.get_running_loop()
        self._connection = await self._connect()
        self._begin()

    async def stop(self) -> None:
        """Send what can be sent, and leave."""
        self._flush()
        self._stopped, self._connected = True, False
        if self._joining is not None:
            self._joining.cancel()
            await asyncio.wait([self._joining])
        if self._connection is not None:
            await self._connection.close()

    def forget(self, worker: int) -> None:
        """Drop a worker that is gone for ever."""
        super().forget(worker)
        self._subjects.pop(worker, None)

    async def _connect(self) -> NatsConnection:
        """Connect to the first server that can be used."""
        failures = []
        for url in self._urls:
            connection = NatsConnection(url, self._receive, self._broken)
            try:
                await connection.open(f"parlour-{self.me}", self._subject(self.me), f"{self._prefix}.all")
            except BusFailed as failure:
                failures.append(str(failure))
            else:
                return connection
        raise BusFailed("; ".join(failures))

    def _broken(self) -> None:
        """The connection is broken: report it, and make a new one."""
        if self._connected:
            self._went_away()
            self._joining = self._loop.create_task(self._join_again())

    async def _join_again(self) -> None:
        if self._connection is not None:
            await self._connection.close()
        while not self._stopped:
            try:
                self._connection = await self._connect()
            except BusFailed:
                await asyncio.sleep(RETRY)
            else:
                self._came_back()
                return

    def _tick(self) -> None:
        super()._tick()
        if self._connected and self._connection is not None:
            self._connection.tick()

    def _transmit(self, worker: int, frame: bytes) -> None:
        self._publish(self._subjects.get(worker) or self._subject(worker), frame)

    def _transmit_to_all(self, frame: bytes) -> None:
        self._publish(f"{self._prefix}.all", frame)

    def _publish(self, subject: str, frame: bytes) -> None:
        if self._connection is not None:
            self._connection.publish(subject, frame)

    def _subject(self, worker: int) -> str:
        return self._subjects.setdefault(worker, f"{self._prefix}.w.{worker}")

    def _call_later(self, delay: float, callback: Callable[[], None]) -> None:
        if delay:
            self._loop.call_later(delay, callback)
        else:
            self._loop.call_soon(callback)

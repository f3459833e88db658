"""A TCP proxy between a worker and NATS that can be cut, and let through again."""

import asyncio
from contextlib import suppress


class CuttingProxy:
    """Passes bytes on, until it is cut; then connections break, and new ones are closed at once."""

    def __init__(self, port: int) -> None:
        self._there = port
        self._open = True
        self._pairs: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server
        self.port = 0

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Take no more connections, and break those that are there."""
        self._server.close()
        self.cut()
        if self._pairs:
            await asyncio.wait(self._pairs)
        await self._server.wait_closed()

    def cut(self) -> None:
        """Nothing passes any more."""
        self._open = False
        for pair in self._pairs:
            pair.cancel()

    def mend(self) -> None:
        """Let connections through again."""
        self._open = True

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pair = asyncio.ensure_future(self._pass(reader, writer))
        self._pairs.add(pair)
        pair.add_done_callback(self._pairs.discard)
        await asyncio.wait([pair])

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers = [writer]
        try:
            if self._open:
                there, to_there = await asyncio.open_connection("127.0.0.1", self._there)
                writers.append(to_there)
                await asyncio.gather(_copy(reader, to_there), _copy(there, writer))
        except OSError:
            pass  # one side is gone, and so is the other now
        finally:
            for one in writers:
                one.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    with suppress(OSError):
        writer.transport.abort()

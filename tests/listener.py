"""A real HTTP endpoint on this machine, which keeps what it is sent and answers as a test says."""

import asyncio
import ssl
from typing import Any, NamedTuple

import msgspec


class Received(NamedTuple):
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)


class Listener:
    """Listens at 127.0.0.1, at a port of its own."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self.received: list[Received] = []
        self.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        self.hold = asyncio.Event()
        """Answers wait for it."""
        self.hold.set()
        self.came = asyncio.Condition()
        self._server: asyncio.Server

    def says(self, status: int, *headers: str) -> None:
        """Answer with this status from now on."""
        lines = [f"HTTP/1.1 {status} So", "Content-Length: 0", *headers, "", ""]
        self.answer = "\r\n".join(lines).encode()

    async def __aenter__(self) -> "Listener":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.hold.set()
        self._server.close()

    @property
    def port(self) -> int:
        return int(self._server.sockets[0].getsockname()[1])

    def url(self, path: str = "/turns", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    async def wait_for(self, count: int) -> list[Received]:
        """Wait until so many requests have come."""
        async with asyncio.timeout(10), self.came:
            await self.came.wait_for(lambda: len(self.received) >= count)
        return self.received

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:-2])}
        body = await reader.readexactly(int(headers["content-length"]))
        async with self.came:
            self.received.append(Received(head[0].split()[1], headers, body))
            self.came.notify_all()
        await self.hold.wait()
        writer.write(self.answer)
        writer.close()

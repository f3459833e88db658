"""One connection to NATS, from its beginning until it breaks."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.transport import TcpTransport
from nats.errors import UnexpectedEOF

from parlour.cluster.bus import BusFailed
from parlour.cluster.frames import LONGEST_FRAME

CONNECT_TIMEOUT = 2
CLOSE_TIMEOUT = 1
SILENT_TICKS = 9
"""Ticks in a row without a word from NATS after which it counts as frozen: 2.5 seconds at most. Ticks are
counted, and not seconds: after a time in which this worker stood still, its words may wait unread."""
MOST_PENDING = 64 * 1024 * 1024
"""Bytes that may wait for NATS to read them; frames beyond are dropped, and the links notice that."""
ECHO = b""
"""Sent to oneself: it comes back if NATS is alive."""
OURS_ALONE = 24 * 60 * 60
"""Seconds between the pings of nats-py, which are not needed."""


class NatsConnection:
    """Publishes frames and hears those of our subjects, and tells once when it is broken.

    A broken one is replaced by a new one. (When nats-py connects again by itself, it first waits until the
    old socket has sent all that was written to it, and to a frozen server that takes for ever.)
    """

    def __init__(self, urls: list[str], heard: Callable[[bytes], None], broken: Callable[[], None]) -> None:
        self._urls = urls
        self._heard = heard
        self._broken = broken
        self._client = Client()
        self._own = ""
        self._why: Exception | None = None
        self._echoed = asyncio.Event()
        self._hears = False
        """Something has come since the last tick."""
        self._silent = 0
        self.is_broken = False

    async def open(self, name: str, own: str, common: str) -> None:
        """Connect, and hear what is published on our own subject and on the common one."""
        self._own = own
        try:
            await self._connect(name)
            for subject in (own, common):
                await self._client.subscribe(subject, cb=self._hear)
            self.publish(own, ECHO)
            await asyncio.wait_for(self._echoed.wait(), CONNECT_TIMEOUT)
            if self.is_broken:
                raise ConnectionResetError
        except Exception as error:  # noqa: BLE001 - whatever it is, there is no connection
            await self.close()
            raise self._failure(error) from None
        except asyncio.CancelledError:
            await self.close()
            raise

    async def _connect(self, name: str) -> None:
        await self._client.connect(
            self._urls,
            name=name,
            error_cb=self._notice,
            disconnected_cb=self._disconnected,
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            connect_timeout=CONNECT_TIMEOUT,
            ping_interval=OURS_ALONE,
            pending_size=MOST_PENDING + 2 * LONGEST_FRAME,
        )
        if self._client.max_payload < LONGEST_FRAME:
            most = self._client.max_payload
            raise BusFailed(f"it takes {most:,} bytes in a message, expected max_payload: {LONGEST_FRAME:,}")

    def publish(self, subject: str, frame: bytes) -> None:
        """Publish a frame; it is dropped if NATS is far behind with reading, or the connection broken."""
        if self.is_broken or self._client.pending_data_size > MOST_PENDING:
            return
        publishing = self._client.publish(subject, frame)
        try:
            publishing.send(None)  # runs to its end: it has to wait only when the buffer of nats-py is full
        except StopIteration:
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, nothing can be sent
            self._why = error
        publishing.close()
        self._break()

    def tick(self) -> None:
        """Ask NATS for a sign of life, if there was none by itself."""
        self._silent = 0 if self._hears else self._silent + 1
        if self._silent >= SILENT_TICKS or not self._client.is_connected:
            self._break()
        elif not self._hears:
            self.publish(self._own, ECHO)
        self._hears = False

    async def close(self) -> None:
        """Send what is written already, and close; a server that does not read is not waited for long."""
        self.is_broken = True
        with suppress(Exception):
            await asyncio.wait_for(self._client.close(), CLOSE_TIMEOUT)
        self._abort()

    # Called by nats-py.

    async def _hear(self, message: Msg) -> None:
        self._hears = True
        if message.data:
            if not self.is_broken:
                self._heard(message.data)
        else:
            self._echoed.set()

    async def _notice(self, error: Exception) -> None:
        """An error; only of some it follows that the connection is broken."""
        self._why = error
        if isinstance(error, UnexpectedEOF | OSError):
            self._break()

    async def _disconnected(self) -> None:
        self._break()

    def _break(self) -> None:
        if not self.is_broken:
            self.is_broken = True
            self._abort()
            self._broken()

    def _abort(self) -> None:
        """Close the socket without waiting for a server that does not read."""
        transport = self._client._transport  # noqa: SLF001 - nats-py can only wait for it
        if isinstance(transport, TcpTransport) and transport._io_writer is not None:  # noqa: SLF001
            transport._io_writer.transport.abort()  # noqa: SLF001

    # Why it could not be opened.

    def _failure(self, error: Exception) -> BusFailed:
        """The sentence for people; without the password, which the address may have."""
        return BusFailed(f"NATS at {addresses(self._urls)} cannot be used: {self._reason(error)}")

    def _reason(self, error: Exception) -> str:
        if isinstance(error, BusFailed):
            return str(error)
        why = self._why or error
        if "authorization" in str(why).lower():
            return "the user or the password is wrong"
        if "permissions" in str(why).lower():
            return "it does not allow the user to publish and subscribe to parlour.>"
        if isinstance(why, ConnectionResetError):  # it does not always wait until its reason was read
            return "it closes the connection, as it does when the user or the password is wrong"
        if isinstance(why, TimeoutError):
            return "it does not answer"
        if isinstance(why, OSError) and why.errno is not None and why.errno > 0:
            return os.strerror(why.errno).lower()
        return str(why)


def addresses(urls: list[str]) -> str:
    """The hosts and ports, and nothing else of the addresses.

    >>> addresses(["nats://parlour:secret@10.0.0.7", "tls://nats.example:4223"])
    '10.0.0.7:4222, nats.example:4223'
    >>> addresses(["nats://parlour:12/34@10.0.0.7"])
    'an address that is not like nats://user:password@host:4222'
    """
    return ", ".join(_address(url) for url in urls)


def _address(url: str) -> str:
    try:
        parts = urlsplit(url if "://" in url else f"nats://{url}")
        host, port = parts.hostname, parts.port or 4222
        if "@" in url and "@" not in parts.netloc:
            host = None  # it is a user, and the port a piece of a password with a slash
    except ValueError:
        host, port = None, 0
    return f"{host}:{port}" if host else "an address that is not like nats://user:password@host:4222"

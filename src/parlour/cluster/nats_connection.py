"""One connection to NATS, from its beginning until it breaks."""

import asyncio
import os
import ssl
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
RARELY = 24 * 60 * 60
"""Seconds between the pings of nats-py itself, which are not needed."""


class NatsConnection:
    """Publishes frames and hears those of our subjects, and tells once when it is broken.

    A broken one is replaced by a new one. (When nats-py connects again by itself, it first waits until the
    old socket has sent all that was written to it, and to a frozen server that takes for ever.)
    """

    def __init__(self, url: str, heard: Callable[[bytes], None], broken: Callable[[], None]) -> None:
        self._url = url
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
            self._url,
            name=name,
            error_cb=self._notice,
            disconnected_cb=self._disconnected,
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            connect_timeout=CONNECT_TIMEOUT,
            ping_interval=RARELY,
            pending_size=MOST_PENDING + 2 * LONGEST_FRAME,
        )
        self._check()

    def _check(self) -> None:
        """Refuse a server that does not do what we need."""
        most, url, writer = self._client.max_payload, self._client.connected_url, self._writer
        if most < LONGEST_FRAME:
            raise BusFailed(f"it takes {most:,} bytes in a message, expected max_payload: {LONGEST_FRAME:,}")
        is_encrypted = writer is None or writer.get_extra_info("ssl_object") is not None
        if url is not None and url.scheme == "tls" and not is_encrypted:  # nats-py leaves it to the server
            raise BusFailed("it does not speak TLS, expected because of tls://")

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
        if self._client.is_connected and isinstance(error, UnexpectedEOF | OSError):
            self._break()

    async def _disconnected(self) -> None:
        self._break()

    def _break(self) -> None:
        if not self.is_broken:
            self.is_broken = True
            self._abort()
            self._broken()

    def _abort(self) -> None:
        """Close the socket without waiting for a server that does not read, as nats-py would do."""
        if self._writer is not None:
            self._writer.transport.abort()

    @property
    def _writer(self) -> asyncio.StreamWriter | None:
        transport = self._client._transport  # noqa: SLF001 - nats-py does not show it
        return transport._io_writer if isinstance(transport, TcpTransport) else None  # noqa: SLF001

    # Why it could not be opened.

    def _failure(self, error: Exception) -> BusFailed:
        """The sentence for people; without the password, which the address may have."""
        why = str(error) if isinstance(error, BusFailed) else reason(self._why or error)
        return BusFailed(f"NATS at {address_of(self._url)} cannot be used: {why}")


def reason(error: Exception) -> str:
    """Why there is no connection, in words for people.

    >>> reason(ConnectionRefusedError(111, "Connect call failed"))
    'connection refused'
    """
    text = str(error).lower()
    if "authorization" in text:
        return "the user or the password is wrong"
    if "permissions" in text:
        return "it does not allow the user to publish and subscribe to parlour.>"
    match error:
        case ssl.SSLCertVerificationError():
            return f"its certificate is not trusted: {error.verify_message}"
        case ConnectionResetError():  # it does not always wait until its reason was read
            return "it closes the connection, as it does when the user or the password is wrong"
        case TimeoutError():
            return "it does not answer"
        case OSError(errno=int(number)) if number > 0:
            return os.strerror(number).lower()
    return str(error)


def address_of(url: str) -> str:
    """The host and the port, and nothing else of an address.

    >>> address_of("nats://parlour:secret@10.0.0.7")
    '10.0.0.7:4222'
    >>> address_of("nats://parlour:12/34@10.0.0.7")
    'an address that is not like nats://user:password@host:4222'
    """
    try:
        parts = urlsplit(url if "://" in url else f"nats://{url}")
        host, port = parts.hostname, parts.port or 4222
        if "@" in url and "@" not in parts.netloc:
            host = None  # it is a user, and the port a piece of a password with a slash
    except ValueError:
        host, port = None, 0
    return f"{host}:{port}" if host else "an address that is not like nats://user:password@host:4222"

"""Requests that the server makes to addresses which players chose: one check for all, and narrow limits.

A name is looked up once, and the connection goes to the very address that was checked: whoever answers for
the name differently a moment later gains nothing. Redirects are not followed, and only a status is read.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from threading import Thread
from typing import NamedTuple
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

import h11

from parlour.errors import Code, Refused

MAX_URL = 2000
MAX_ANSWER = 16 * 1024
"""Bytes of a response that are read at most, until its status is known."""
TIMEOUT = 10.0
"""Seconds for all of a request: the look-up, the connection, and the status of the response."""
MOST_LOOK_UPS = 20
MOST_OF_AN_OWNER = 4
"""Names that are looked up at the same time, of everybody and of one player."""
_PORTS = {"https": 443, "http": 80}
_NAT64 = ip_network("64:ff9b::/96")
_UNICAST = ip_network("2000::/3")
"""Where all public IPv6 addresses of single machines are."""
_SPECIAL_4 = ("192.0.0.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24")
_SPECIAL_6 = ("2001::/23", "2620:4f:8000::/48", "3fff::/20")
_SPECIAL = tuple(ip_network(block) for block in _SPECIAL_4 + _SPECIAL_6)
"""Blocks of IANA's registries of special purposes that `ipaddress` takes for public, in some version."""
_ISATAP = (0x00005EFE, 0x02005EFE)
"""What stands before the IPv4 address in an IPv6 address of a network within another."""

Resolve = Callable[[str, int, str], Awaitable[Sequence[str]]]
"""Looks a name up, with its port, for a player; gives its addresses."""
IpAddress = IPv4Address | IPv6Address


class Target(NamedTuple):
    """A URL, taken apart."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """What stands in the Host header."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == _PORTS[self.scheme] else f"{name}:{self.port}"


class NotReached(Exception):
    """A request has no answer: no connection, no time left, or an answer that makes no sense."""


def bad_address(why: str) -> Refused:
    """The refusal of an address."""
    return Refused(Code.BAD_ADDRESS, why)


def read_url(url: str, *, local: bool) -> Target:
    """Take a URL apart; refused unless it is https (or http, where *local* ones are allowed) and plain.

    >>> read_url("https://example.org/turns?who=ann", local=False)
    Target(scheme='https', host='example.org', port=443, path='/turns?who=ann')
    """
    if len(url) > MAX_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise bad_address(f"expected an address of at most {MAX_URL} plain characters")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise bad_address("this is not an address of the web") from None
    if parts.scheme not in (("https", "http") if local else ("https",)):
        raise bad_address("expected an address that begins with https://")
    if parts.username is not None or parts.password is not None:
        raise bad_address("an address must have no user and no password in it")
    if not parts.hostname or port == 0:
        raise bad_address("this address names no server")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, parts.hostname, port or _PORTS[parts.scheme], path)


def inner_address(address: IpAddress) -> IpAddress:
    """The IPv4 address that an IPv6 address stands for, if it does; a request would end up there.

    >>> [str(inner_address(ip_address(one))) for one in ("::ffff:10.0.0.1", "64:ff9b::7f00:1", "2001:db8::1")]
    ['10.0.0.1', '127.0.0.1', '2001:db8::1']
    """
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1] or address


def is_public(address: IpAddress) -> bool:
    """True if an address is one of the public internet, for a single machine."""
    last = IPv4Address(int(address) & 0xFFFFFFFF)
    if address.version == 6 and int(address) >> 32 & 0xFFFFFFFF in _ISATAP and not is_public(last):
        return False
    inner = inner_address(address)
    if any(one in block for block in _SPECIAL for one in (address, inner)):
        return False
    if isinstance(inner, IPv6Address):
        return inner.is_global and inner in _UNICAST
    return inner.is_global and not inner.is_multicast and not inner.is_reserved


def ask_system(host: str, port: int) -> list[str]:
    """The addresses that a name has; takes as long as whoever answers for the name likes."""
    return [str(address[0]) for *_, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class Names:
    """Looks names up in threads of its own, at most so many at once: a slow one holds up nothing else.

    Nor does a player whose names are all slow: each has a share, and waits for that alone.
    """

    def __init__(
        self, most: int, ask: Callable[[str, int], list[str]] = ask_system, *, share: int = MOST_OF_AN_OWNER
    ) -> None:
        self._free = asyncio.Semaphore(most)
        self._share = share
        self._shares = WeakValueDictionary[str, asyncio.Semaphore]()
        """By player, as long as one of theirs is looked up or waits."""
        self._ask = ask

    async def look_up(self, host: str, port: int, owner: str) -> Sequence[str]:
        """Look a name up; a thread that nobody waits for any more counts until it ends."""
        share = self._shares.setdefault(owner, asyncio.Semaphore(self._share))
        await share.acquire()
        try:
            await self._free.acquire()
        except asyncio.CancelledError:
            share.release()
            raise
        loop = asyncio.get_running_loop()
        found: asyncio.Future[list[str]] = loop.create_future()

        def leave() -> None:
            self._free.release()
            share.release()

        def end(settle: Callable[[], None]) -> None:
            leave()
            if not found.done():
                settle()

        def look() -> None:
            try:
                settle = partial(found.set_result, self._ask(host, port))
            except Exception as error:  # noqa: BLE001 - whoever waits is told
                settle = partial(found.set_exception, error)
            with suppress(RuntimeError):  # the server has stopped meanwhile
                loop.call_soon_threadsafe(end, settle)

        try:
            Thread(target=look, name="names", daemon=True).start()  # a server that stops does not wait for it
        except RuntimeError as error:  # there are too many threads
            leave()
            raise OSError(str(error)) from error
        return await found


class Outgoing:
    """Makes requests to addresses that players chose."""

    def __init__(
        self,
        *,
        local: bool = False,
        look_up: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        self._local = local
        """True if addresses of the local network are allowed, and http."""
        self._look_up = look_up or Names(MOST_LOOK_UPS).look_up
        self._look_up_new = look_up or Names(MOST_LOOK_UPS).look_up
        """For addresses that are only checked, which anybody can have done as often as they like."""
        self._tls = tls
        self._timeout = timeout

    async def check(self, url: str, owner: str) -> None:
        """Refuse an address of a player that is not to be reached from here, or cannot be found."""
        target = read_url(url, local=self._local)
        try:
            async with asyncio.timeout(self._timeout):
                await self._address_of(target, owner, self._look_up_new)
        except (OSError, UnicodeError, TimeoutError):
            raise bad_address(f"there is no server {target.host}") from None

    async def post(self, url: str, owner: str, headers: Mapping[str, str], body: bytes) -> int:
        """Send a body to an address of a player; returns the status of the response.

        `Refused` if the address is not allowed.
        """
        target = read_url(url, local=self._local)
        try:
            async with asyncio.timeout(self._timeout):
                address = await self._address_of(target, owner, self._look_up)
                return await self._send(target, address, headers, body)
        except (OSError, UnicodeError, TimeoutError, h11.ProtocolError, ValueError) as error:
            raise NotReached(f"{type(error).__name__}: {error}"[:200]) from None

    async def _address_of(self, target: Target, owner: str, look_up: Resolve) -> str:
        """The one address to connect to; refused if any that the name has is of the local network."""
        addresses = await look_up(target.host, target.port, owner)
        if not addresses:
            raise OSError("no address")
        if not self._local and not all(is_public(ip_address(one.partition("%")[0])) for one in addresses):
            raise bad_address("this address leads into a local network, and that is not allowed here")
        return addresses[0]

    async def _send(self, target: Target, address: str, headers: Mapping[str, str], body: bytes) -> int:
        tls = self._context() if target.scheme == "https" else None
        name = target.host if tls else None
        reader, writer = await asyncio.open_connection(address, target.port, ssl=tls, server_hostname=name)
        try:
            side = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_ANSWER)
            always = {"Host": target.authority, "Content-Length": str(len(body)), "Connection": "close"}
            request = h11.Request(
                method="POST", target=target.path, headers=[*always.items(), *headers.items()]
            )
            for event in (request, h11.Data(data=body), h11.EndOfMessage()):
                writer.write(side.send(event) or b"")
            await writer.drain()
            return await _status(side, reader)
        finally:
            writer.transport.abort()  # the rest of the answer is of no interest

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls


async def _status(side: h11.Connection, reader: asyncio.StreamReader) -> int:
    """Read until the status of the response is known, and no more than such an answer may take."""
    left = MAX_ANSWER
    while True:
        event = side.next_event()
        if isinstance(event, h11.Response):
            return event.status_code
        if event is h11.NEED_DATA:
            if not left:
                raise NotReached("the answer is too long")
            data = await reader.read(left)
            left -= len(data)
            side.receive_data(data)
        elif not isinstance(event, h11.InformationalResponse):
            raise NotReached("the connection was closed before there was an answer")

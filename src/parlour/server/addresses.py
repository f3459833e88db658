"""Where people reach this server: every link, QR code and greeting takes its address from here."""

import ipaddress
import re
import socket
from collections.abc import Iterable
from typing import NamedTuple

import ifaddr

from parlour.server.gateway.http_listener import NoPlace
from parlour.server.settings import Settings

EVERYWHERE = "0.0.0.0"  # noqa: S104 - what --lan asks for
VIRTUAL = ("br-", "cni", "docker", "flannel", "tailscale", "tap", "tun", "utun", "vboxnet", "veth", "virbr",
           "vmnet", "wg", "zt")  # fmt: skip
"""Beginnings of the names of networks that end inside this machine, or far from the room it stands in."""


URL = re.compile(r"https?://([\w.-]+|\[[0-9A-Fa-f:.]+\])(:(?P<port>\d{1,5}))?/?")
"""Of a whole server: the page does not live under a path."""


class Network(NamedTuple):
    """A network of this machine, and its IPv4 address there."""

    name: str
    address: str


class Reach(NamedTuple):
    """How people get to this server."""

    url: str
    """What every link begins with."""
    local: str
    """The same for a browser on this machine."""
    others: tuple[str, ...] = ()
    """The same on other networks of this machine."""

    @property
    def is_known(self) -> bool:
        """Others can follow the links, too; else only a browser on this machine, as far as we know."""
        return self.url != self.local


def find_reach(settings: Settings, port: int, networks: Iterable[Network] | None = None) -> Reach:
    """The address for every link: what the host says, or what the network says, or this machine's own."""
    host = listening_host(settings)
    local = _url("127.0.0.1" if host == EVERYWHERE else host, port)
    if settings.public_url:
        return Reach(checked_url(settings.public_url), local)
    found = () if not settings.lan else list_networks() if networks is None else networks
    urls = [_url(network.address, port) for network in found]
    return Reach(urls[0], local, tuple(urls[1:])) if urls else Reach(local, local)


def checked_url(url: str) -> str:
    """The address that a host names, without a slash at its end.

    >>> checked_url("https://games.example/")
    'https://games.example'
    """
    found = URL.fullmatch(url)
    if found and int(found["port"] or 0) < 2**16:
        return url.rstrip("/")
    raise NoPlace(f"--public-url: expected an address like https://games.example, got {url[:100]!r}")


def listening_host(settings: Settings) -> str:
    """Where to listen: what `--host` says, or with `--lan` on every network."""
    return EVERYWHERE if settings.lan and settings.host == "127.0.0.1" else settings.host


def list_networks() -> list[Network]:
    """The networks of this machine by which others can come, the likeliest first."""
    found = [
        Network(adapter.nice_name, ip.ip)
        for adapter in ifaddr.get_adapters()
        for ip in adapter.ips
        if isinstance(ip.ip, str)
    ]
    return rank(found, _address_to_the_internet())


def rank(networks: Iterable[Network], route: str | None) -> list[Network]:
    """Those by which others can come, the likeliest first; *route* is the address that the internet sees.

    >>> home, vpn = Network("wlan0", "192.168.1.7"), Network("tun0", "10.8.0.2")
    >>> rank([Network("lo", "127.0.0.1"), vpn, home], route="10.8.0.2") == [home, vpn]
    True
    """

    def unlikeliness(network: Network) -> tuple[bool, bool, bool]:
        is_private = ipaddress.ip_address(network.address).is_private
        return network.name.startswith(VIRTUAL), not is_private, network.address != route

    return sorted((one for one in networks if _leads_here(one.address)), key=unlikeliness)


def _leads_here(address: str) -> bool:
    ip = ipaddress.ip_address(address)
    return not (ip.is_loopback or ip.is_link_local or ip.is_unspecified)


def _address_to_the_internet() -> str | None:
    """The address from which this machine would call out; nothing is sent to find out."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        return str(probe.getsockname()[0])


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

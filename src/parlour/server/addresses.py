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
"""Prefixes of interface names that lead nowhere outside this machine, or to another place (VPNs)."""


URL = re.compile(r"https?://([\w.-]+|\[[0-9A-Fa-f:.]+\])(:(?P<port>\d{1,5}))?/?")
"""The address must name a whole server: the page cannot be served under a path."""


class Network(NamedTuple):
    """A network of this machine, and the machine's IPv4 address in it."""

    name: str
    address: str


class Reach(NamedTuple):
    """The addresses at which people reach this server."""

    url: str
    """The beginning of every link."""
    local: str
    """The address for a browser on this machine."""
    others: tuple[str, ...] = ()
    """The addresses on this machine's other networks."""

    @property
    def is_known(self) -> bool:
        """True if other machines can follow the links; else they are sure to work only on this machine."""
        return self.url != self.local


def find_reach(settings: Settings, port: int, networks: Iterable[Network] | None = None) -> Reach:
    """Choose the address for every link: the operator's, else the network's, else this machine's own."""
    host = listening_host(settings)
    local = _url("127.0.0.1" if host == EVERYWHERE else host, port)
    if settings.public_url:
        return Reach(checked_url(settings.public_url), local)
    found = () if not settings.lan else list_networks() if networks is None else networks
    urls = [_url(network.address, port) for network in found]
    return Reach(urls[0], local, tuple(urls[1:])) if urls else Reach(local, local)


def checked_url(url: str) -> str:
    """The address that an operator set, checked and without a slash at its end.

    >>> checked_url("https://games.example/")
    'https://games.example'
    """
    found = URL.fullmatch(url)
    if found and int(found["port"] or 0) < 2**16:
        return url.rstrip("/")
    raise NoPlace(f"--public-url: expected an address like https://games.example, got {url[:100]!r}")


def listening_host(settings: Settings) -> str:
    """The address to listen on: `--host`, or every network with `--lan`."""
    return EVERYWHERE if settings.lan and settings.host == "127.0.0.1" else settings.host


def list_networks() -> list[Network]:
    """The networks of this machine through which others can reach it, the likeliest first."""
    found = [
        Network(adapter.nice_name, ip.ip)
        for adapter in ifaddr.get_adapters()
        for ip in adapter.ips
        if isinstance(ip.ip, str)
    ]
    return rank(found, _address_to_the_internet())


def rank(networks: Iterable[Network], route: str | None) -> list[Network]:
    """The networks through which others can reach us, likeliest first; *route* is our internet address.

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
    """The address of this machine on its way to the internet; finding it sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        return str(probe.getsockname()[0])


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

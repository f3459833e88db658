"""Sites: passkeys belong to the name of one, and browsers use them on safe ones alone."""

import ipaddress
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlsplit

from parlour.errors import Code, Refused


class Site(NamedTuple):
    """The page from which somebody uses a passkey."""

    origin: str
    domain: str
    """The name that passkeys belong to, whatever the port."""


def is_local(domain: str) -> bool:
    """True for names that lead from every machine to itself."""
    return domain == "localhost" or domain.endswith(".localhost")


def site_at(origin: str) -> Site:
    """The site of a page at this origin; refused where no browser uses passkeys.

    >>> site_at("https://games.example:8443").domain, site_at("http://localhost:8000").domain
    ('games.example', 'localhost')
    """
    address = urlsplit(origin)
    domain = address.hostname or ""
    if address.scheme != "https" and not is_local(domain):
        raise Refused(Code.NO_PASSKEYS, f"passkeys need https, or the name localhost, got {origin[:100]}")
    with suppress(ValueError):
        ipaddress.ip_address(domain)
        raise Refused(
            Code.NO_PASSKEYS, f"passkeys belong to a site with a name, got a number for one: {domain}"
        )
    return Site(origin, domain)


def has_passkeys(origin: str) -> bool:
    """Whether browsers use passkeys on pages of this origin.

    >>> has_passkeys("https://games.example"), has_passkeys("http://192.168.1.7:8000")
    (True, False)
    """
    with suppress(Refused):
        site_at(origin)
        return True
    return False

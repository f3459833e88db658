"""Who calls over HTTP: their player, address, device, and the name that a proxy gives them."""

import re
from typing import NamedTuple, Protocol

from starlette.requests import Request
from starlette.responses import Response

from parlour.errors import Code, Refused
from parlour.server.api.bodies import KnownPlayer
from parlour.server.api.calls import peer_of
from parlour.server.parts.accounts.accounts import OF_LATIN_1
from parlour.server.sessions import KeptPlayer
from parlour.server.settings import Settings
from parlour.server.tokens import Bearer

MAX_USER = 200
"""Characters of the longest name that a proxy may give."""
_BROWSERS = {
    "Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "FxiOS": "Firefox", "Chrome": "Chrome",
    "CriOS": "Chrome", "Safari": "Safari",
}  # fmt: skip
"""Marks of browsers, each before those that it also claims to be."""
_SYSTEMS = {
    "Android": "Android", "iPhone": "iPhone", "iPad": "iPad", "CrOS": "ChromeOS", "Windows": "Windows",
    "Mac OS": "macOS", "Linux": "Linux",
}  # fmt: skip


class Callers(Protocol):
    """Who calls, as the HTTP calls find it out."""

    async def bearer(self, request: Request) -> Bearer | None:
        """The content of the caller's token."""
        ...

    async def known_bearer(self, request: Request) -> Bearer:
        """The content of the caller's token; refused without one."""
        ...

    async def known(self, request: Request) -> str:
        """The player who calls; refused without one."""
        ...

    def address(self, request: Request) -> str:
        """The address of the caller."""
        ...

    def checked_name(self, name: str) -> str:
        """A name that a person may have here."""
        ...

    def known_as(self, player: KeptPlayer, device: int) -> KnownPlayer:
        """A player with a new token, for this device of an account."""
        ...

    def forget(self, request: Request, response: Response) -> Response:
        """Have a browser delete its cookie."""
        ...

    def introduce(self, request: Request, known: KnownPlayer, status: int) -> Response:
        """Answer with a player and their token; browsers get it as a cookie, too."""
        ...


def no_token() -> Refused:
    """The refusal of a call that needs a token and came without."""
    return Refused(Code.BAD_TOKEN, "expected a token, got none; POST /api/players gives one")


def device_name(request: Request) -> str:
    """A browser and a system, by what the browser says of itself; for people who look at their devices."""
    said = request.headers.get("user-agent", "")
    browser = next((name for mark, name in _BROWSERS.items() if re.search(rf"{mark}\w*/", said)), None)
    system = next((name for mark, name in _SYSTEMS.items() if mark in said), None)
    if browser is None:
        return system or "A program"
    return browser if system is None else f"{browser}, {system}"


class User(NamedTuple):
    """A user as a proxy names them."""

    key: str
    """By which their account is found: no other user has the same."""
    name: str


def user_of(request: Request, settings: Settings) -> User | None:
    """The user whom a known proxy names in its header; whatever others send there is ignored.

    The header is read as UTF-8, or else as Latin-1: no byte of it is left out or replaced, or else two users
    would be one. Of several headers nobody knows which one is the proxy's: they are refused.
    """
    if not settings.user_header or peer_of(request) not in settings.proxies:
        return None
    named = request.headers.getlist(settings.user_header)
    if len(named) > 1:
        header = settings.user_header
        why = f"expected one {header} header, got {len(named)}; the proxy must remove those of visitors"
        raise Refused(Code.INVALID_NAME, why)
    latin = "".join(named).strip(" \t")
    try:
        name = key = latin.encode("latin-1").decode()
    except UnicodeDecodeError:
        name, key = latin, OF_LATIN_1 + latin
    if len(name) > MAX_USER:
        why = f"expected a user whose name has at most {MAX_USER} characters, got {len(name)} from the proxy"
        raise Refused(Code.INVALID_NAME, why)
    if "\ufffd" in name:
        why = "expected a user by name, got one in whose name the proxy has replaced characters"
        raise Refused(Code.INVALID_NAME, why)
    return User(key, name) if name else None

"""The HTTP calls about accounts: made by a guest, signed in on other devices, signed out."""

import re
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response

from parlour.errors import Code, Refused
from parlour.server.api.bodies import (
    Done,
    KnownPlayer,
    MyAccount,
    NewAccount,
    OpenedAccount,
    RecoveryCode,
    SignedInDevice,
    SignIn,
    SignInLink,
)
from parlour.server.api.calls import Call, peer_of, reply
from parlour.server.components import Components
from parlour.server.limits import CREATE_COST, Limits
from parlour.server.parts.accounts.accounts import LINK_LASTS, SignedIn
from parlour.server.parts.accounts.leaving import Everything, delete_account, everything_about
from parlour.server.sessions import KeptPlayer
from parlour.server.settings import Settings
from parlour.server.tokens import Bearer, guest_name

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


class AccountCalls:
    """Carries out the HTTP calls about accounts."""

    def __init__(self, parlour: Components, limits: Limits, callers: Callers) -> None:
        self._parlour = parlour
        self._accounts = parlour.accounts
        self._sessions = parlour.sessions
        self._limits = limits
        self._callers = callers
        mine = (Code.BAD_TOKEN, Code.NOT_SAVED)
        self.calls = [
            Call("GET", "/api/account", "Who I am, and where I am signed in", self.show_account, MyAccount,
                 refuses=mine, personal=True),
            Call("POST", "/api/account", "Make the guest that I am an account, with a recovery code",
                 self.open_account, OpenedAccount, NewAccount, 201,
                 (Code.INVALID_NAME, Code.NAME_TAKEN, Code.ALREADY_AN_ACCOUNT, *mine), personal=True),
            Call("POST", "/api/account/code", "A new recovery code; the old one ends", self.renew_code,
                 RecoveryCode, status=201, refuses=(Code.ACCOUNT_NEEDED, *mine), personal=True),
            Call("POST", "/api/sign-in", "Sign in to an account on this device", self.sign_in, KnownPlayer,
                 SignIn, 201, (Code.BAD_CODE, Code.LINK_EXPIRED, Code.NOT_SAVED)),
            Call("POST", "/api/account/links", "A link that signs another device in", self.make_link,
                 SignInLink, status=201, refuses=(Code.ACCOUNT_NEEDED, *mine), personal=True),
            Call("DELETE", "/api/account/devices/{number}", "Sign a device of mine out", self.sign_out, Done,
                 refuses=(Code.NOT_FOUND, *mine), personal=True),
            Call("DELETE", "/api/account", "Delete me: results stay, without the name", self.delete_account,
                 Done, refuses=mine, personal=True),
            Call("GET", "/api/account/export", "Everything about me, as a file", self.export, Everything,
                 refuses=mine, personal=True),
            Call("DELETE", "/api/players/me/sessions", "End my sessions everywhere, and begin a new one here",
                 self.end_sessions, KnownPlayer, refuses=mine, personal=True),
        ]  # fmt: skip

    async def show_account(self, request: Request) -> MyAccount:
        bearer = await self._bearer(request)
        player = await self._sessions.known(bearer.player)
        if player is None:
            return MyAccount(bearer.player, guest_name(bearer.player), None, [])
        devices = [
            SignedInDevice(one.number, one.name, one.since, one.seen, here=one.number == bearer.device)
            for one in sorted(player.devices, key=lambda one: one.seen, reverse=True)
        ]
        return MyAccount(player.id, player.name, player.account, devices)

    async def open_account(self, request: Request, new: NewAccount) -> Response:
        self._charge(request)
        id = await self._callers.known(request)
        name = None if new.name is None else self._callers.checked_name(new.name)
        signed_in, code = await self._accounts.open(id, name, device_name(request))
        known = self._callers.known_as(*signed_in)
        opened = OpenedAccount(known.id, known.name, known.token, known.account, known.bot, code)
        return self._callers.introduce(request, opened, 201)

    async def renew_code(self, request: Request) -> RecoveryCode:
        self._charge(request)
        return RecoveryCode(await self._accounts.renew_code(await self._callers.known(request)))

    async def sign_in(self, request: Request, shown: SignIn) -> Response:
        self._charge(request)
        signed_in = await self._signed_in(shown, device_name(request), self._callers.address(request))
        return self._callers.introduce(request, self._callers.known_as(*signed_in), 201)

    async def _signed_in(self, shown: SignIn, device: str, address: str) -> SignedIn:
        """Sign somebody in by the one thing that they show."""
        if shown.code is not None and shown.link is None:
            return await self._accounts.sign_in_by_code(shown.code, device, address)
        if shown.link is not None and shown.code is None:
            return await self._accounts.sign_in_by_link(shown.link, device)
        raise Refused(Code.MALFORMED, "$: expected a code or a link, got neither or both", path="$")

    async def make_link(self, request: Request) -> SignInLink:
        self._charge(request)
        secret = await self._accounts.make_link(await self._callers.known(request))
        return SignInLink(f"/sign-in#{secret}", LINK_LASTS)

    async def sign_out(self, request: Request) -> Response:
        self._charge(request)
        bearer, number = await self._bearer(request), request.path_params["number"]
        device = int(number) if number.isascii() and number.isdecimal() and len(number) < 10 else 0
        await self._accounts.sign_out(bearer.player, device)
        return self._callers.forget(request, reply(Done())) if device == bearer.device else reply(Done())

    async def delete_account(self, request: Request) -> Response:
        self._charge(request)
        bearer = await self._bearer(request)
        await delete_account(self._parlour.journal, self._sessions, bearer.player)
        return self._callers.forget(request, reply(Done()))

    async def export(self, request: Request) -> Response:
        self._charge(request)
        bearer = await self._bearer(request)
        player = await self._sessions.known(bearer.player)
        if player is None:
            player = KeptPlayer(bearer.player, guest_name(bearer.player))
        await self._parlour.ratings.settled()
        file = {"Content-Disposition": 'attachment; filename="parlour.json"'}
        return reply(await everything_about(self._parlour.journal, player), headers=file)

    async def end_sessions(self, request: Request) -> Response:
        self._charge(request)
        signed_in = await self._accounts.end_all(await self._callers.known(request), device_name(request))
        return self._callers.introduce(request, self._callers.known_as(*signed_in), 200)

    def _charge(self, request: Request) -> None:
        self._limits.check_call(self._callers.address(request), CREATE_COST)

    async def _bearer(self, request: Request) -> Bearer:
        bearer = await self._callers.bearer(request)
        if bearer is None:
            raise no_token()
        return bearer


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


def user_of(request: Request, settings: Settings) -> str | None:
    """The user whom a known proxy names in its header; whatever others send there is ignored."""
    if not settings.user_header or peer_of(request) not in settings.proxies:
        return None
    named = request.headers.get(settings.user_header, "").strip()
    return named.encode("latin-1").decode("utf-8", "replace")[:MAX_USER] or None

"""The HTTP calls about accounts: made by a guest, signed in on other devices, signed out."""

from starlette.requests import Request
from starlette.responses import Response

from parlour.errors import Code, Refused
from parlour.server.api.bodies import (
    Done,
    KnownPlayer,
    MyAccount,
    MyPasskey,
    NewAccountBy,
    OpenedAccount,
    RecoveryCode,
    SignedInDevice,
    SignIn,
    SignInLink,
)
from parlour.server.api.callers import Callers, device_name
from parlour.server.api.calls import Call, reply
from parlour.server.api.passkey_calls import PasskeyCalls, site_of
from parlour.server.components import Components
from parlour.server.limits import CREATE_COST, Limits
from parlour.server.parts.accounts.accounts import LINK_LASTS, SignedIn
from parlour.server.parts.accounts.leaving import Everything, delete_account, everything_about
from parlour.server.parts.accounts.passkeys import Passkeys, are_installed
from parlour.server.tokens import Tokens


class AccountCalls:
    """Carries out the HTTP calls about accounts."""

    def __init__(self, parlour: Components, limits: Limits, callers: Callers, tokens: Tokens) -> None:
        self._parlour = parlour
        self._accounts = parlour.accounts
        self._sessions = parlour.sessions
        self._limits = limits
        self._callers = callers
        self._passkeys = Passkeys(parlour.journal, parlour.clock, parlour.sessions, parlour.accounts, tokens)
        by_passkey = (Code.BAD_PASSKEY, Code.CHALLENGE_EXPIRED, Code.NO_PASSKEYS)
        mine = (Code.BAD_TOKEN, Code.NOT_SAVED)
        self.calls = [
            Call("GET", "/api/account", "Who I am, and where I am signed in", self.show_account, MyAccount,
                 refuses=mine, personal=True),
            Call("POST", "/api/account", "Make the guest that I am an account, with a recovery code",
                 self.open_account, OpenedAccount, NewAccountBy, 201,
                 (Code.INVALID_NAME, Code.NAME_TAKEN, Code.ALREADY_AN_ACCOUNT, Code.BAD_CODE, *by_passkey,
                  *mine), personal=True),
            Call("POST", "/api/account/code", "A new recovery code; the old one ends", self.renew_code,
                 RecoveryCode, status=201, refuses=(Code.ACCOUNT_NEEDED, *mine), personal=True),
            Call("POST", "/api/sign-in", "Sign in to an account on this device", self.sign_in, KnownPlayer,
                 SignIn, 201, (Code.BAD_CODE, Code.LINK_EXPIRED, *by_passkey, Code.NOT_SAVED)),
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
            *PasskeyCalls(self._passkeys, limits, callers, parlour.settings).calls,
        ]  # fmt: skip

    async def show_account(self, request: Request) -> MyAccount:
        bearer = await self._callers.known_bearer(request)
        player = await self._sessions.known_by(bearer)
        devices = [
            SignedInDevice(one.number, one.name, one.since, one.seen, here=one.number == bearer.device)
            for one in sorted(player.devices, key=lambda one: one.seen, reverse=True)
        ]
        passkeys = [MyPasskey(one.id, one.name, one.domain, one.since, one.used) for one in player.passkeys]
        return MyAccount(
            player.id, player.name, player.account, devices, passkeys if are_installed() else None
        )

    async def open_account(self, request: Request, new: NewAccountBy) -> Response:
        self._charge(request)
        bearer = await self._callers.known_bearer(request)
        name = None if new.name is None else self._callers.checked_name(new.name)
        device, address = device_name(request), self._callers.address(request)
        with self._accounts.guessing(address):
            also = None
            if new.passkey is not None:
                site = site_of(request, self._parlour.settings)
                also = self._passkeys.adding(bearer, device, new.passkey, site)
            signed_in, code = await self._accounts.open(
                bearer, name, device, address=address, code=new.code, also=also
            )
        known = self._callers.known_as(*signed_in)
        opened = OpenedAccount(known.id, known.name, known.token, known.account, known.bot, code)
        return self._callers.introduce(request, opened, 201)

    async def renew_code(self, request: Request) -> RecoveryCode:
        self._charge(request)
        return RecoveryCode(await self._accounts.renew_code(await self._callers.known_bearer(request)))

    async def sign_in(self, request: Request, shown: SignIn) -> Response:
        self._charge(request)
        signed_in = await self._signed_in(request, shown)
        return self._callers.introduce(request, self._callers.known_as(*signed_in), 201)

    async def _signed_in(self, request: Request, shown: SignIn) -> SignedIn:
        """Sign somebody in by the one thing that they show."""
        device, address = device_name(request), self._callers.address(request)
        match shown:
            case SignIn(str(code), None, None):
                return await self._accounts.sign_in_by_code(code, device, address)
            case SignIn(None, str(link), None):
                return await self._accounts.sign_in_by_link(link, device)
            case SignIn(None, None, dict(passkey)):
                site = site_of(request, self._parlour.settings)
                return await self._passkeys.sign_in(passkey, device, address, site)
            case _:
                why = "$: expected a code, a link or a passkey, got none or several"
                raise Refused(Code.MALFORMED, why, path="$")

    async def make_link(self, request: Request) -> SignInLink:
        self._charge(request)
        secret = await self._accounts.make_link(await self._callers.known_bearer(request))
        return SignInLink(f"/sign-in#{secret}", LINK_LASTS)

    async def sign_out(self, request: Request) -> Response:
        self._charge(request)
        bearer, number = await self._callers.known_bearer(request), request.path_params["number"]
        device = int(number) if number.isascii() and number.isdecimal() and len(number) < 10 else 0
        await self._accounts.sign_out(bearer, device)
        return self._callers.forget(request, reply(Done())) if device == bearer.device else reply(Done())

    async def delete_account(self, request: Request) -> Response:
        self._charge(request)
        bearer = await self._callers.known_bearer(request)
        await delete_account(self._parlour.journal, self._sessions, self._parlour.name_changes, bearer)
        return self._callers.forget(request, reply(Done()))

    async def export(self, request: Request) -> Response:
        self._charge(request)
        player = await self._sessions.known_by(await self._callers.known_bearer(request))
        await self._parlour.ratings.settled()
        file = {"Content-Disposition": 'attachment; filename="parlour.json"'}
        return reply(await everything_about(self._parlour.journal, player), headers=file)

    async def end_sessions(self, request: Request) -> Response:
        self._charge(request)
        bearer = await self._callers.known_bearer(request)
        signed_in = await self._accounts.end_all(bearer, device_name(request))
        return self._callers.introduce(request, self._callers.known_as(*signed_in), 200)

    def _charge(self, request: Request) -> None:
        self._limits.check_call(self._callers.address(request), CREATE_COST)

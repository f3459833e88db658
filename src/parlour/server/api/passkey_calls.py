"""The HTTP calls about passkeys: what a browser is asked, and what becomes of its answer."""

from starlette.requests import Request

from parlour.errors import Code, Refused
from parlour.server.api.bodies import Done, NewAccount, NewPasskey, PublicKeyOptions
from parlour.server.api.callers import Callers, device_name
from parlour.server.api.calls import Call, peer_of
from parlour.server.api.link_previews import origin_of
from parlour.server.gateway.upgrade import may_use_cookie
from parlour.server.limits import CREATE_COST, Limits, is_encrypted
from parlour.server.parts.accounts.passkeys import Passkeys
from parlour.server.parts.accounts.sites import Site, has_passkeys, is_local, site_at
from parlour.server.settings import Settings


class PasskeyCalls:
    """Carries out the HTTP calls about passkeys."""

    def __init__(self, passkeys: Passkeys, limits: Limits, callers: Callers, settings: Settings) -> None:
        self._passkeys = passkeys
        self._limits = limits
        self._callers = callers
        self._settings = settings
        mine = (Code.NO_PASSKEYS, Code.BAD_TOKEN, Code.NOT_SAVED)
        new = (Code.BAD_PASSKEY, Code.CHALLENGE_EXPIRED, Code.ACCOUNT_NEEDED, Code.TOO_MANY)
        self.calls = [
            Call("POST", "/api/account/passkeys/options", "What to ask an authenticator for a new passkey",
                 self.ask_for_new, PublicKeyOptions, NewAccount,
                 refuses=(Code.INVALID_NAME, Code.NAME_TAKEN, *mine), personal=True),
            Call("POST", "/api/account/passkeys", "Add a passkey to my account", self.add, Done, NewPasskey,
                 201, (*new, *mine), personal=True),
            Call("DELETE", "/api/account/passkeys/{id}", "Remove a passkey of mine", self.remove, Done,
                 refuses=(Code.NOT_FOUND, Code.BAD_TOKEN, Code.NOT_SAVED), personal=True),
            Call("POST", "/api/sign-in/options", "What to ask an authenticator to sign somebody in",
                 self.ask_for_any, PublicKeyOptions, refuses=(Code.NO_PASSKEYS,)),
        ]  # fmt: skip

    async def ask_for_new(self, request: Request, new: NewAccount) -> PublicKeyOptions:
        self._charge(request)
        bearer = await self._callers.known_bearer(request)
        name = None if new.name is None else self._callers.checked_name(new.name)
        return PublicKeyOptions(
            await self._passkeys.ask_for_new(bearer, name, site_of(request, self._settings))
        )

    async def ask_for_any(self, request: Request) -> PublicKeyOptions:
        return PublicKeyOptions(await self._passkeys.ask_for_any(site_of(request, self._settings)))

    async def add(self, request: Request, new: NewPasskey) -> Done:
        self._charge(request)
        bearer, site = await self._callers.known_bearer(request), site_of(request, self._settings)
        await self._passkeys.add(bearer, device_name(request), new.passkey, site)
        return Done()

    async def remove(self, request: Request) -> Done:
        self._charge(request)
        await self._passkeys.remove(await self._callers.known_bearer(request), request.path_params["id"])
        return Done()

    def _charge(self, request: Request) -> None:
        self._limits.check_call(self._callers.address(request), CREATE_COST)


def site_of(request: Request, settings: Settings) -> Site:
    """The site whose page calls: our own or a listed one; with --public-url no other than those, or local.

    A public address without passkeys, as that of --lan, says nothing about where there are some.
    """
    public_url = settings.public_url if has_passkeys(settings.public_url) else ""
    schemes = request.headers.getlist("x-forwarded-proto")
    encrypted = is_encrypted(peer_of(request), schemes, settings.proxies)
    scheme, host = "https" if encrypted else "http", request.headers.get("host", "")
    origin = request.headers.get("origin") or origin_of(public_url, scheme, host)
    ours = [one.lower().rstrip("/") for one in (settings.public_url, *settings.origins) if one]
    if origin is None or not may_use_cookie(
        request.headers.get, (*settings.origins, *ours), encrypted=encrypted
    ):
        raise Refused(Code.NO_PASSKEYS, "expected a page of this server, got one of another site")
    site = site_at(origin)
    if public_url and origin not in ours and not is_local(site.domain):
        why = f"passkeys of this server are used at {public_url}, got a page of {origin[:100]}"
        raise Refused(Code.NO_PASSKEYS, why)
    return site

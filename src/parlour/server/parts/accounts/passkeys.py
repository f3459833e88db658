"""Passkeys: an account is made, and signed in to, by a key that a phone, a computer or a stick holds.

A challenge is a signed token, so any worker can check what another one asked. Its use is kept in the same
write as what it was good for, so that there is no second one.
"""

from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.journal.base import Change, Drop, Journal, NewRecord, RecordQuery
from parlour.server.clock import Clock
from parlour.server.parts.accounts.accounts import (
    DROP_AT_ONCE,
    Accounts,
    Made,
    Make,
    SignedIn,
    known_account,
)
from parlour.server.parts.accounts.secrets import digest_of
from parlour.server.parts.accounts.sites import Site
from parlour.server.sessions import KeptPlayer, Passkey, Sessions
from parlour.server.tokens import Bearer, Tokens, random_letters

PASSKEY = "passkey"
USED_CHALLENGE = "used_challenge"
CHALLENGE_LASTS = 300.0
"""Seconds in which a challenge must come back: people look for their stick."""
USED_FOR = 86400.0
"""Seconds for which it is remembered that a challenge was used: much longer than any is valid."""
MOST_PASSKEYS = 20
"""Passkeys that an account can have."""

Credential = dict[str, Any]
"""What a browser's own API hands out, as JSON."""


class _Challenge(NamedTuple):
    """A challenge that came back."""

    text: str
    number: str
    """It is unique."""


def are_installed() -> bool:
    """True if `parlour[accounts]` is installed."""
    return find_spec("webauthn") is not None


def _library() -> Any:
    """The module that speaks with authenticators, loaded when somebody needs it."""
    if not are_installed():
        why = "passkeys need parlour[accounts], which is not installed here; a recovery code works everywhere"
        raise Refused(Code.NO_PASSKEYS, why)
    from parlour.server.parts.accounts import authenticators  # noqa: PLC0415 - an extra

    return authenticators


class Passkeys:
    """Makes passkeys of accounts and signs people in by them."""

    def __init__(
        self, journal: Journal, clock: Clock, sessions: Sessions, accounts: Accounts, tokens: Tokens
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._sessions = sessions
        self._accounts = accounts
        self._tokens = tokens.of_kind("passkey challenge", lasts=CHALLENGE_LASTS)

    async def ask_for_new(self, bearer: Bearer, name: str | None, site: Site) -> dict[str, Any]:
        """What a browser is asked to make a passkey for a player, who may become an account by that."""
        library = _library()
        player = await self._sessions.known_by(bearer)
        if player.account is None:  # before anything is made, a name is refused that cannot be had
            player = replace(player, name=name or player.name)
            await self._accounts.claim(None, player)
        challenge = self._tokens.issue(f"{random_letters(26)}:{player.id}")
        who, known = (player.id, player.name), player.passkeys
        options: dict[str, Any] = library.ask_for_new(site, who, challenge, CHALLENGE_LASTS, known)
        return options

    async def ask_for_any(self, site: Site) -> dict[str, Any]:
        """What a browser is asked to sign somebody in."""
        challenge = self._tokens.issue(f"{random_letters(26)}:")
        options: dict[str, Any] = _library().ask_for_any(site, challenge, CHALLENGE_LASTS)
        return options

    def adding(self, bearer: Bearer, device: str, credential: Credential, site: Site) -> Make:
        """What adds a new passkey to an account, which may be made by that."""
        return partial(self._with_passkey, *self._read_new(bearer.player, device, credential, site))

    async def add(self, bearer: Bearer, device: str, credential: Credential, site: Site) -> None:
        """Add a passkey to an account."""
        adding = self.adding(bearer, device, credential, site)

        async def make(account: KeptPlayer) -> Made:
            return await adding(known_account(account))

        await self._sessions.change(bearer, make)

    async def remove(self, bearer: Bearer, passkey: str) -> None:
        """Remove a passkey of an account; the recovery code stays."""

        async def make(account: KeptPlayer) -> Made:
            rest = tuple(one for one in account.passkeys if one.id != passkey)
            if len(rest) == len(account.passkeys):
                raise Refused(Code.NOT_FOUND, "you have no such passkey")
            return replace(account, passkeys=rest), (Drop(PASSKEY, key=digest_of(passkey)),)

        await self._sessions.change(bearer, make)

    async def sign_in(self, credential: Credential, device: str, address: str, site: Site) -> SignedIn:
        """Sign somebody in by a passkey; wrong ones are counted by address."""
        library = _library()
        with self._accounts.guessing(address):
            challenge = self._read_challenge(credential, site, "")
            id = library.read_id(credential)
            record = await self._journal.record(PASSKEY, digest_of(id))
            if record is None:
                raise _unknown()

            async def make(account: KeptPlayer) -> Made:
                kept = next((one for one in account.passkeys if one.id == id), None)
                if kept is None:
                    raise _unknown()
                spent = await self._use(challenge)
                count = library.check_signature(credential, challenge.text, site, account.id, kept)
                used = replace(kept, count=count, used=self._clock.date())
                passkeys = tuple(used if one is kept else one for one in account.passkeys)
                return self._accounts.on_device(replace(account, passkeys=passkeys), device), spent

            return await self._accounts.sign_in(record.owner, make)

    def _read_new(
        self, id: str, device: str, credential: Credential, site: Site
    ) -> tuple[_Challenge, Passkey]:
        """A new passkey, if it was made for this player and here."""
        library = _library()
        challenge = self._read_challenge(credential, site, id)
        made = library.check_new(credential, challenge.text, site)
        date = self._clock.date()
        return challenge, Passkey(made.id, made.key, made.count, site.domain, device, date, date)

    async def _with_passkey(self, challenge: _Challenge, passkey: Passkey, account: KeptPlayer) -> Made:
        """The account with one passkey more."""
        spent = await self._use(challenge)
        if len(account.passkeys) >= MOST_PASSKEYS:
            raise Refused(Code.TOO_MANY, f"you have {MOST_PASSKEYS} passkeys already; remove one first")
        key = digest_of(passkey.id)
        if await self._journal.record(PASSKEY, key) is not None:
            why = "this passkey is of an account already; sign in with it, or use another"
            raise Refused(Code.BAD_PASSKEY, why, path="$.passkey")
        known = NewRecord(PASSKEY, key, b"", owner=account.id)
        return replace(account, passkeys=(*account.passkeys, passkey)), (known, *spent)

    def _read_challenge(self, credential: Credential, site: Site, player: str) -> _Challenge:
        """The challenge that was signed, which must be ours, for this player and not too old."""
        text = _library().read_challenge(credential, site)
        try:
            number, _, meant = self._tokens.read(text).partition(":")
        except Refused:
            raise _expired() from None
        if meant != player:
            raise _expired()
        return _Challenge(text, number)

    async def _use(self, challenge: _Challenge) -> Sequence[Change]:
        """What is written so that a challenge cannot be used again; refused if it was used."""
        if await self._journal.record(USED_CHALLENGE, challenge.number) is not None:
            raise _expired()
        now = self._clock.now()
        lapsed = await self._journal.records(RecordQuery(USED_CHALLENGE, due_by=now, limit=DROP_AT_ONCE))
        used = NewRecord(USED_CHALLENGE, challenge.number, b"", due=now + USED_FOR)
        return (*(Drop(USED_CHALLENGE, key=one.key) for one in lapsed), used)


def _unknown() -> Refused:
    return Refused(Code.BAD_PASSKEY, "no account here has this passkey (any more)", path="$.passkey")


def _expired() -> Refused:
    why = "this challenge was used, is older than five minutes, or was for somebody else; try again"
    return Refused(Code.CHALLENGE_EXPIRED, why, path="$.passkey")

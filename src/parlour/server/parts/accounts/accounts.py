"""Accounts: a guest who keeps id, name, rating and games on every device, by a recovery code or a link.

An account is a player whose record says so. Beside it, records keep its name for it, and the digests of the
secrets that sign somebody in; each change is one write with the player's own record.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.journal.base import Change, Drop, Journal, NewRecord, RecordQuery, Unchanged
from parlour.server.clock import Clock
from parlour.server.limits import Allowances
from parlour.server.parts.accounts.name_changes import name_change
from parlour.server.parts.accounts.name_records import claim_name
from parlour.server.parts.accounts.secrets import digest_of, digest_of_code, new_code, new_link_secret
from parlour.server.record_decoding import read
from parlour.server.sessions import TRIES, Asker, Device, KeptPlayer, Sessions
from parlour.server.tokens import Bearer, new_player_id

RECOVERY_CODE = "recovery_code"
SIGN_IN_LINK = "sign_in_link"
PROXY_USER = "proxy_user"
OF_LATIN_1 = "\n"
"""Begins the keys of users whose names came as Latin-1; no header has it, and so no name in UTF-8."""
MOST_DEVICES = 50
"""Devices on which an account can be signed in; the one that was not used for longest is signed out."""
LINK_LASTS = 120.0
"""Seconds for which a link signs a device in."""
DROP_AT_ONCE = 100
"""Links of others that have lapsed and are deleted when a new one is made."""
SEEN_EVERY = 3600.0
"""Seconds between two notes that a device was used."""


class SignedIn(NamedTuple):
    """A player, and the number of the device on which they are signed in now."""

    player: KeptPlayer
    device: int


class Link(msgspec.Struct, frozen=True):
    """What is kept of a link that signs a device in: it ends with the session that made it, or sooner."""

    made: float
    """Wall time: the rooms' clock stands still while the server is down, and a link goes on to age."""
    session: int
    device: int
    """The maker's; 0 if the server itself has made it."""

    def is_valid(self, account: KeptPlayer, date: float) -> bool:
        """Whether it signs in to this account at this time."""
        is_signed_in = not self.device or any(one.number == self.device for one in account.devices)
        return date - self.made <= LINK_LASTS and self.session == account.session and is_signed_in


Made = tuple[KeptPlayer, Sequence[Change]]
Make = Callable[[KeptPlayer], Awaitable[Made]]
"""Makes the next value of a player, with what is written beside it."""

_encode_link = msgspec.json.Encoder().encode
_decode_link = msgspec.json.Decoder(Link).decode
_WRONG = (Code.BAD_CODE, Code.BAD_PASSKEY, Code.CHALLENGE_EXPIRED)
"""The refusals of those who may be guessing."""


def _nowhere() -> None:
    """There are no rooms."""


def _count_nobody(_address: str) -> None:
    """There is no limit."""


class _MadeMeanwhile(Exception):
    """The account of a proxy's user was just made by another worker."""


class Accounts:
    """Opens accounts and signs people in."""

    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        sessions: Sessions,
        guesses: Allowances,
        renamed: Callable[[], None] = _nowhere,
        count: Callable[[str], None] = _count_nobody,
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._sessions = sessions
        self._guesses = guesses
        """How many wrong codes an address may still try, shared with those who look for rooms."""
        self._renamed = renamed
        """Has new names that were kept taken to where their players sit."""
        self._count = count
        """Counts a new account for the address that opens it; refused if it has opened too many."""

    async def open(
        self,
        who: Asker,
        name: str | None,
        device: str,
        *,
        address: str | None = None,
        code: str | None = None,
        also: Make | None = None,
    ) -> tuple[SignedIn, str]:
        """Make a guest an account, with a recovery code and what *also* adds; the guest's tokens end.

        Whoever brings a *code* can find out by it whether the account was made, should the answer get lost.
        """
        code = new_code() if code is None else code
        is_counted = address is None

        async def make(guest: KeptPlayer) -> Made:
            nonlocal is_counted
            if await self._journal.record(RECOVERY_CODE, digest_of_code(code)) is not None:
                raise _wrong_code()
            account, claims = await self._account_of(guest, guest.name if name is None else name, device)
            account, changes = _with_code(account, code)
            account, more = (account, ()) if also is None else await also(account)
            if not is_counted and address is not None:  # last, so that what is refused counts for nobody
                self._count(address)
                is_counted = True
            return account, (*claims, *changes, *more, name_change(account.id, self._clock.now()))

        try:
            player = await self._sessions.change(who, make)
        finally:  # also where nobody knows whether it was kept
            self._renamed()
        return SignedIn(player, player.last_device), code

    async def _account_of(self, guest: KeptPlayer, name: str, device: str) -> Made:
        """A guest as an account of this name, signed in on a device."""
        if guest.account is not None:
            raise Refused(Code.ALREADY_AN_ACCOUNT, "this player has an account already")
        account = replace(guest, name=name, account=self._clock.date(), session=guest.session + 1)
        return self.on_device(account, device), await self.claim(None, account)

    async def of_user(self, user: str, name: str, device: str, bearer: Bearer | None) -> SignedIn:
        """Sign in the account of a user whom a proxy names; at the first time it is made, under *name*."""
        for _ in range(TRIES):
            known = await self._journal.record(PROXY_USER, user)
            if known is not None and bearer is not None and bearer.player == known.owner:
                with suppress(Refused):  # a session that has ended, maybe just now, is begun anew
                    return SignedIn(await self._sessions.save(bearer, None), bearer.device)
            with suppress(_MadeMeanwhile):
                if known is None:
                    return await self.sign_in(new_player_id(), partial(self._for_user, user, name, device))
                return await self.sign_in(known.owner, partial(self._once_more, device))
        raise Refused(Code.NOT_SAVED, "this user is being signed in elsewhere, too; try again")

    async def _once_more(self, device: str, account: KeptPlayer) -> Made:
        return self.on_device(known_account(account), device), ()

    async def _for_user(self, user: str, name: str, device: str, guest: KeptPlayer) -> Made:
        """A new account for a user of a proxy, by their name there or one like it."""
        if await self._journal.record(PROXY_USER, user) is not None:
            raise _MadeMeanwhile
        owned = NewRecord(PROXY_USER, user, b"", owner=guest.id)
        for one in (name, *(f"{name} {number}" for number in range(2, 10)), f"Player {guest.id[:8]}"):
            with suppress(Refused):
                account, changes = await self._account_of(guest, one, device)
                return account, (*changes, owned)
        raise Refused(Code.NAME_TAKEN, f"no name like {name!r} is free here")

    async def save(self, bearer: Bearer, name: str | None) -> KeptPlayer:
        """Keep a player, under a new name if one is given, and note that a device was used."""
        try:
            player = await self._sessions.save(bearer, name, self.claim)
        finally:
            if name is not None:
                self._renamed()
        date, device = self._clock.date(), bearer.device
        if not any(one.number == device and date - one.seen >= SEEN_EVERY for one in player.devices):
            return player

        async def see(player: KeptPlayer) -> Made:
            devices = (replace(one, seen=date) if one.number == device else one for one in player.devices)
            return replace(player, devices=tuple(devices)), ()

        return await self._sessions.change(bearer, see)

    async def claim(self, before: KeptPlayer | None, account: KeptPlayer) -> Sequence[Change]:
        """What is written to give an account its name; refused if another account has it."""
        claims = await claim_name(self._journal, account)
        return claims if before is None else (*claims, name_change(account.id, self._clock.now()))

    async def renew_code(self, who: Asker) -> str:
        """A new recovery code for an account; the old one and all links are not valid any more."""
        code = new_code()

        async def renew(account: KeptPlayer) -> Made:
            account, changes = _with_code(known_account(account), code)
            return account, (*changes, *await self._without_links(account))

        await self._sessions.change(who, renew)
        return code

    async def sign_in_by_code(self, code: str, device: str, address: str) -> SignedIn:
        """Sign somebody in who knows an account's recovery code; wrong ones are counted by address."""

        async def sign_in(account: KeptPlayer) -> Made:
            if account.code != digest:
                raise _wrong_code()
            return self.on_device(account, device), ()

        with self.guessing(address):
            digest = digest_of_code(code)
            record = await self._journal.record(RECOVERY_CODE, digest)
            if record is None:
                raise _wrong_code()
            return await self.sign_in(record.owner, sign_in)

    @contextmanager
    def guessing(self, address: str) -> Iterator[None]:
        """Count wrong codes and passkeys by address, and refuse who has tried too many, right or wrong."""
        if not self._guesses.has(address, 1.0):
            raise Refused(
                Code.TOO_FAST, "too many wrong codes from your address; wait a minute and try again"
            )
        try:
            yield
        except Refused as why:
            if why.code in _WRONG:
                self._guesses.take(address, 1.0)
            raise

    async def make_link(self, who: Asker) -> str:
        """The secret of a link that signs a device in to this account, once and soon; older ones end."""
        secret = new_link_secret()

        async def make(account: KeptPlayer) -> Made:
            now, device = self._clock.now(), 0 if isinstance(who, str) else who.device
            lapsed = RecordQuery(SIGN_IN_LINK, due_by=now, limit=DROP_AT_ONCE)
            drops = await self._without_links(known_account(account), lapsed)
            body = _encode_link(Link(self._clock.date(), account.session, device))
            link = NewRecord(SIGN_IN_LINK, digest_of(secret), body, owner=account.id, due=now + LINK_LASTS)
            return account, (*drops, link)

        await self._sessions.change(who, make)
        return secret

    async def _without_links(self, account: KeptPlayer, *others: RecordQuery) -> Sequence[Change]:
        """What is written to end the links of an account, and those that other queries find."""
        queries = (RecordQuery(SIGN_IN_LINK, owner=account.id), *others)
        keys = {one.key for query in queries for one in await self._journal.records(query)}
        return [Drop(SIGN_IN_LINK, key=key) for key in sorted(keys)]

    async def sign_in_by_link(self, secret: str, device: str) -> SignedIn:
        """Sign a device in by a link, which is used up by that."""
        digest = digest_of(secret)
        link = await self._journal.record(SIGN_IN_LINK, digest)
        if link is None:
            raise _link_expired()

        async def sign_in(account: KeptPlayer) -> Made:
            record = await self._journal.record(SIGN_IN_LINK, digest)
            if record is None or record.due is None or record.due < self._clock.now():
                raise _link_expired()
            if record.body and not read(record, _decode_link).is_valid(account, self._clock.date()):
                raise _link_expired()  # without a body it was made by an older version
            used = (Unchanged(record), Drop(SIGN_IN_LINK, key=digest))
            return self.on_device(known_account(account), device), used

        return await self.sign_in(link.owner, sign_in)

    async def sign_out(self, who: Asker, device: int) -> None:
        """Sign one device out: its tokens and all links are not valid any more, its connections close."""

        async def sign_out(account: KeptPlayer) -> Made:
            rest = tuple(one for one in account.devices if one.number != device)
            if len(rest) == len(account.devices):
                raise Refused(Code.NOT_FOUND, f"you are not signed in on a device {device}")
            return replace(account, devices=rest), await self._without_links(account)

        await self._sessions.change(who, sign_out)

    async def end_all(self, who: Asker, device: str) -> SignedIn:
        """End all sessions and links of a player; an account is signed in anew, on the device that asked."""

        async def end(player: KeptPlayer) -> Made:
            player = replace(player, session=player.session + 1, devices=())
            drops = await self._without_links(player)
            return player if player.account is None else self.on_device(player, device), drops

        player = await self._sessions.change(who, end)
        return SignedIn(player, 0 if player.account is None else player.last_device)

    async def sign_in(self, id: str, make: Make) -> SignedIn:
        """Sign in a player whom *make* puts on a device."""
        player = await self._sessions.change(id, make)
        return SignedIn(player, player.last_device)

    def on_device(self, account: KeptPlayer, name: str) -> KeptPlayer:
        """The account, signed in on one more device."""
        date, number = self._clock.date(), account.last_device + 1
        used = sorted(account.devices, key=lambda one: one.seen)[-(MOST_DEVICES - 1) :]
        devices = (*sorted(used, key=lambda one: one.number), Device(number, name, date, date))
        return replace(account, devices=devices, last_device=number)


def user_name(key: str) -> str:
    """The name of a proxy's user by the key of their record."""
    return key.removeprefix(OF_LATIN_1)


def _with_code(account: KeptPlayer, code: str) -> Made:
    """The account with a new recovery code in place of the old one."""
    digest = digest_of_code(code)
    changes: list[Change] = [NewRecord(RECOVERY_CODE, digest, b"", owner=account.id)]
    if account.code:
        changes.append(Drop(RECOVERY_CODE, key=account.code))
    return replace(account, code=digest), changes


def known_account(player: KeptPlayer) -> KeptPlayer:
    """The player, who must have an account."""
    if player.account is None:
        raise Refused(Code.ACCOUNT_NEEDED, "expected an account, got a guest; POST /api/account makes one")
    return player


def _wrong_code() -> Refused:
    return Refused(Code.BAD_CODE, "this recovery code is not valid here (any more)", path="$.code")


def _link_expired() -> Refused:
    why = (
        "this link is not valid any more: it works once and lasts two minutes; show a new one on a device "
        "that is signed in"
    )
    return Refused(Code.LINK_EXPIRED, why, path="$.link")

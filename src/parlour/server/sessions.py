"""Sessions: which player a token names, unless its session was ended; and the players' records."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence, Set
from contextlib import suppress
from typing import NamedTuple
from weakref import WeakValueDictionary

import msgspec
from msgspec.structs import astuple, replace

from parlour.errors import Code, Refused
from parlour.journal.base import (
    Change,
    Conflict,
    Damaged,
    Fenced,
    Journal,
    NewRecord,
    OutcomeUnknown,
    Player,
    Record,
    Trouble,
    Unchanged,
)
from parlour.server.clock import Clock
from parlour.server.endpoint_records import ENDPOINT
from parlour.server.owned_records import drop_owned
from parlour.server.record_decoding import read
from parlour.server.tasks import Tasks
from parlour.server.tokens import Bearer, Tokens, bad_token, guest_name

KIND = "player"
MOST_KNOWN = 20_000
"""Players whose session is kept in memory; those of others are read again."""
SEEN_EVERY = 86400.0
"""Seconds between two notes in the journal that a player was asked for."""
TRY_AGAIN = 1.0
"""Seconds before a read that failed is tried again."""
TRIES = 5
"""How often a change of a player is tried again that another worker came in between."""


class LookUpFirst(Exception):
    """Raised by a door that has to look something up first: run this, then ask the door again."""

    def __init__(self, look_up: Callable[[], Awaitable[object]]) -> None:
        super().__init__()
        self.look_up = look_up


class Device(msgspec.Struct, frozen=True):
    """A device on which an account is signed in."""

    number: int
    name: str
    """A browser and a system, by what the browser says of itself."""
    since: float
    seen: float
    """When it was signed in and when it was last used, as wall time."""


class Passkey(msgspec.Struct, frozen=True):
    """A passkey of an account: the public half of a key that an authenticator holds."""

    id: str
    """The credential's id, in base64url."""
    key: bytes
    """The public key, as COSE encodes it."""
    count: int
    """How often the authenticator has signed, by its own word; 0 for those that do not count."""
    domain: str
    """The name of the site that it belongs to: browsers use it there alone."""
    name: str
    """The browser and system where it was made."""
    since: float
    used: float
    """When it was made and when it was last used, as wall time."""


class Introduced(NamedTuple):
    """What others are told of a player."""

    name: str
    bot: bool = False
    account: bool = False
    """False for a guest."""


class KeptPlayer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A player as the journal keeps them, with fields that are nobody else's business."""

    id: str
    name: str
    bot: bool = False
    session: int = 0
    """How often they ended all their sessions; older tokens are not valid any more."""
    account: float | None = None
    """Since when they have an account, as wall time; None for a guest."""
    devices: tuple[Device, ...] = ()
    """Where the account is signed in; tokens of other devices are not valid."""
    last_device: int = 0
    """The number of the device that was signed in last; no number is used twice."""
    code: str = ""
    """The digest of the account's recovery code."""
    passkeys: tuple[Passkey, ...] = ()


class _Valid(NamedTuple):
    """Which tokens of a player are valid."""

    session: int
    devices: frozenset[int] | None
    """None for a guest: those of all devices."""
    last: int
    """The newest device that is known here; of a newer one has to be read."""
    ended: frozenset[int] = frozenset()
    """Devices that were signed out while this was remembered."""

    @classmethod
    def of(cls, player: KeptPlayer | None) -> "_Valid":
        if player is None or player.account is None:
            return cls(0 if player is None else player.session, None, 0)
        return cls(player.session, frozenset(one.number for one in player.devices), player.last_device)

    def check(self, bearer: Bearer) -> None:
        """Refuse a token of a session that was ended."""
        if bearer.session < self.session:
            raise bad_token()
        if self.devices is not None and bearer.device not in self.devices:
            raise bad_token()

    def newer(self, other: "_Valid | None") -> "_Valid":
        """What is true by two answers, whichever of them is older."""
        if other is None or other.session < self.session:
            return self
        if other.session > self.session:
            return other
        ended, newest = self.ended | other.ended, self if self.last >= other.last else other
        devices = None if newest.devices is None else newest.devices - ended
        return _Valid(self.session, devices, newest.last, ended)


class _Reading:
    """A player is being read, so as to know which of their tokens are valid."""

    __slots__ = ("__weakref__", "is_old")

    def __init__(self) -> None:
        self.is_old = False
        """There may have been news of ended sessions since it began, which nothing else has noted."""


Claim = Callable[[KeptPlayer, KeptPlayer], Awaitable[Sequence[Change]]]
"""What is written beside an account that changes its name; refused if another account has that name."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(KeptPlayer).decode


def player_record(player: Player | KeptPlayer, now: float) -> Record:
    """The record of a player who was just asked for; idle players are deleted by that time."""
    return Record(KIND, player.id, _encode(player), due=now)


def read_player(record: Record) -> KeptPlayer:
    """Decode the record of a player.

    `Damaged` if that fails: nobody knows which of their sessions are ended, so none of their tokens is
    accepted.
    """
    return read(record, _decode)


def _ended(before: KeptPlayer, after: KeptPlayer) -> Set[int | None]:
    """The devices whose sessions a change of a player ends; None stands for all."""
    if after.session > before.session:
        return {None}
    return {one.number for one in before.devices} - {one.number for one in after.devices}


Asker = Bearer | str
"""Who has a player changed: whoever has a token, if it is still valid then; or the server, by the id."""


class Sessions:
    """Knows which tokens are valid: those signed since their player last ended all sessions."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._valid: dict[str, _Valid] = {}
        """Of those who came lately, those asked for longest ago first."""
        self._writing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._tasks = Tasks()
        self._readings: WeakValueDictionary[str, _Reading] = WeakValueDictionary()
        """The players who are being read."""
        self._unchecked: set[Bearer] = set()
        """Those who are connected and whose sessions have to be read again because of that."""
        self.connected: Callable[[], set[Bearer]] = set
        """The tokens' contents by which people are connected here."""
        self.hang_up: Callable[[Callable[[Bearer], bool]], None] = lambda _is_ended: None
        """Closes the connections of ended sessions."""
        self.ended: Callable[[str, int, int | None], None] = lambda _player, _session, _device: None
        """Tells other workers that a player has ended all sessions before this one, or one device's."""

    def player(self, bearer: Bearer) -> str:
        """The player of a token, unless its session is ended; `LookUpFirst` if that is not known yet."""
        valid = self._valid.get(bearer.player)
        if valid is None or (bearer.session >= valid.session and bearer.device > valid.last):
            raise LookUpFirst(lambda: self.look_up(bearer.player, bearer.device))
        valid.check(bearer)
        return bearer.player

    async def look_up(self, player: str, device: int = 0) -> None:
        """Find out which tokens of this player are valid, up to those of this device."""
        valid = self._valid.pop(player, None)
        if valid is None or device > valid.last:
            while True:
                reading = self._readings.setdefault(player, _Reading())
                found = _Valid.of(await self.known(player))
                if not reading.is_old:
                    break
            valid = found._replace(last=max(found.last, device)).newer(valid)
        self._remember(player, valid)

    def _remember(self, player: str, valid: _Valid) -> None:
        self._valid[player] = valid.newer(self._valid.pop(player, None))  # it may have changed while we read
        if len(self._valid) > MOST_KNOWN:
            del self._valid[next(iter(self._valid))]

    async def known(self, id: str) -> KeptPlayer | None:
        """A player by id; notes that they were asked for."""
        record = await self._journal.record(KIND, id)
        if record is None:
            return None
        player, now = read_player(record), self._clock.now()
        if record.due is None or now - record.due >= SEEN_EVERY:
            with suppress(Trouble):  # they have changed, or the next call notes it
                await self._journal.keep(Unchanged(record), replace(record, due=now))
        return player

    async def known_by(self, bearer: Bearer) -> KeptPlayer:
        """The player of a token, unless it has ended, of which this worker may not have heard."""
        player = await self.known(bearer.player) or KeptPlayer(bearer.player, guest_name(bearer.player))
        _Valid.of(player).check(bearer)
        return player

    async def introduce(self, id: str) -> Introduced:
        """What others are told of a player."""
        player = await self.known(id)
        if player is None:
            return Introduced(guest_name(id))
        return Introduced(player.name, player.bot, player.account is not None)

    async def guests_among(self, ids: Iterable[str]) -> set[str]:
        """Those of these players who have no account; whose record is damaged counts as a guest."""

        async def is_guest(id: str) -> bool:
            with suppress(Damaged):
                record = await self._journal.record(KIND, id)
                return record is None or read_player(record).account is None
            return True

        ids = list(ids)
        guests = await asyncio.gather(*map(is_guest, ids))
        return {id for id, guest in zip(ids, guests, strict=True) if guest}

    async def check_account(self, id: str) -> None:
        """Refuse a guest."""
        player = await self.known(id)
        if player is None or player.account is None:
            why = (
                "ranked games are for accounts here, and you are a guest; make one under Account and devices"
            )
            raise Refused(Code.ACCOUNT_NEEDED, why)

    async def save(self, who: Asker, name: str | None, claim: Claim | None = None) -> KeptPlayer:
        """Keep a player, under a new name if one is given; *claim* says what an account's name needs."""

        async def rename(player: KeptPlayer) -> tuple[KeptPlayer, Sequence[Change]]:
            if name is None or name == player.name:
                return player, ()
            renamed = replace(player, name=name)
            return renamed, () if claim is None or player.account is None else await claim(player, renamed)

        return await self.change(who, rename)

    async def change(
        self, who: Asker, make: Callable[[KeptPlayer], Awaitable[tuple[KeptPlayer, Sequence[Change]]]]
    ) -> KeptPlayer:
        """Keep a player as *make* makes them, together with its other changes, all or nothing.

        It is asked again if the player has changed meanwhile, at whichever worker; so is whether the token
        is still valid, of which this worker may not have heard.
        """
        id = who if isinstance(who, str) else who.player
        async with self._alone(id):
            for _ in range(TRIES):
                record, now = await self._journal.record(KIND, id), self._clock.now()
                before = KeptPlayer(id, guest_name(id)) if record is None else read_player(record)
                if not isinstance(who, str):
                    _Valid.of(before).check(who)
                after, changes = await make(before)
                changes = (*changes, *await self._lost_endpoints(before, after))
                if record is not None and after == before and not changes:
                    return after
                kept = player_record(after, now)
                held = (NewRecord(*astuple(kept)),) if record is None else (Unchanged(record), kept)
                try:
                    await self._journal.keep(*held, *changes)
                except Fenced:
                    raise
                except Conflict:
                    continue
                except OutcomeUnknown:
                    if _ended(before, after):
                        self._tasks.start(self._tell_outcome(before, now))
                    raise
                self._tell_ended(before, after)
                return after
        raise Refused(Code.NOT_SAVED, "this player is being changed elsewhere, too; try again")

    async def _lost_endpoints(self, before: KeptPlayer, after: KeptPlayer) -> Sequence[Change]:
        """Who ends all sessions is told nowhere any more: a stolen token may have added a webhook."""
        ends_all = after.session > before.session
        return await drop_owned(self._journal, ENDPOINT, after.id) if ends_all else ()

    async def _tell_outcome(self, before: KeptPlayer, now: float) -> None:
        """Tell what came of a change that ended sessions, as soon as that is known."""
        while True:
            try:
                record, first = await self._journal.record(KIND, before.id), player_record(before, now)
                # With this the write in doubt is kept by now, or never.
                await self._journal.keep(NewRecord(*astuple(first)) if record is None else Unchanged(record))
                if record is not None:
                    self._tell_ended(before, read_player(record))
            except (Fenced, Damaged):  # our end is noticed by others; a damaged player has no valid session
                return
            except Conflict:
                continue
            except Trouble:  # the database is away
                await asyncio.sleep(TRY_AGAIN)
            else:
                return

    def _tell_ended(self, before: KeptPlayer, after: KeptPlayer) -> None:
        """Tell everybody which sessions of a player a change has ended."""
        for device in _ended(before, after):
            self.note_ended(after.id, after.session, device)
            self.ended(after.id, after.session, device)

    def note_ended(self, id: str, session: int, device: int | None = None) -> None:
        """A player has ended all older sessions, or that of a device: their connections here are closed."""

        def is_ended(one: Bearer) -> bool:
            return one.player == id and (one.session < session or one.device == device)

        if device is None:
            self._remember(id, _Valid(session, frozenset(), -1))  # the rest has to be read
        elif (valid := self._valid.get(id)) is not None:
            self._valid[id] = valid.newer(valid._replace(ended=valid.ended | {device}))
        elif (reading := self._readings.pop(id, None)) is not None:
            reading.is_old = True
        self.hang_up(is_ended)

    async def check_again(self) -> None:
        """Read the sessions of all who are connected again, and close those that ended.

        For when news of it may have been lost. Sessions of others are read when they come.
        """
        for reading in self._readings.values():
            reading.is_old = True
        self._readings.clear()
        self._valid.clear()
        self._unchecked |= self.connected()
        while self._unchecked:
            bearer = self._unchecked.pop()
            try:
                await self.look_up(bearer.player, bearer.device)
                self._valid[bearer.player].check(bearer)
            except (Refused, Damaged):
                self.hang_up(bearer.__eq__)
            except Trouble:  # the database is away
                self._unchecked.add(bearer)
                await asyncio.sleep(TRY_AGAIN)

    def _alone(self, player: str) -> asyncio.Lock:
        """The lock that lets one change of a player happen at a time, so that none is lost."""
        return self._writing.setdefault(player, asyncio.Lock())


class Identities:
    """Finds out which player somebody is."""

    def __init__(self, tokens: Tokens, sessions: Sessions) -> None:
        self._tokens = tokens
        self._sessions = sessions

    def bearer(self, token: str | None, cookie: str | None = None) -> Bearer | None:
        """The content of a token that was sent, else of a cookie; None for a guest.

        A bad token is refused, a bad cookie makes a guest. `LookUpFirst` if the session is not known yet.
        """
        if token is not None:
            return self._checked(self._tokens.bearer(token))
        with suppress(Refused):
            if cookie is not None:
                return self._checked(self._tokens.bearer(cookie, expires=False))
        return None

    def _checked(self, bearer: Bearer) -> Bearer:
        self._sessions.player(bearer)
        return bearer

    async def find(self, token: str | None, cookie: str | None = None) -> Bearer | None:
        """The same, for callers who can wait."""
        try:
            return self.bearer(token, cookie)
        except LookUpFirst as first:
            await first.look_up()
        return self.bearer(token, cookie)

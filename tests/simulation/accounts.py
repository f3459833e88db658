"""Holders of accounts: they sign in and out at any worker, and what they were answered must hold."""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from itertools import count, product
from random import Random
from typing import Any

from parlour.errors import Code, Refused
from parlour.journal.base import OutcomeUnknown, RecordQuery, Trouble
from parlour.server.parts.accounts.accounts import RECOVERY_CODE, SIGN_IN_LINK, SignedIn
from parlour.server.parts.accounts.leaving import delete_account
from parlour.server.parts.accounts.name_records import ACCOUNT_NAME
from parlour.server.parts.accounts.names import key_of_name
from parlour.server.parts.accounts.passkeys import PASSKEY
from parlour.server.parts.accounts.secrets import digest_of, digest_of_code, new_code
from parlour.server.sessions import KIND, Identities, KeptPlayer, read_player
from parlour.server.tokens import Bearer
from tests.simulation.cluster import Cluster, Machine
from tests.simulation.database import finish
from tests.simulation.deeds import Deed, done, maybe
from tests.simulation.keys import SITE, KeyRing, judge_keys
from tests.simulation.wires import CLOSE, Client

DEEDS = (
    "code", "code", "link", "link", "hold", "renew", "sign_out", "sign_out", "end_all", "rename", "rename",
    "delete", "ask_for_new", "ask_for_new", "ask", "ask", "ask", "remove",
)  # fmt: skip
LINKS = ("link", "hold")
"""A link is made, to be used at once, or by somebody who tries it when that should be too late."""
ENDS_LINKS = ("end_all", "sign_out", "renew")
NAMES = ("Ada", "ada.", "Bea", "Cyd")
"""What accounts want to be called; two of them look alike."""
LIKELY = (Code.BAD_TOKEN, Code.NOT_SAVED, Code.NAME_TAKEN, Code.LINK_EXPIRED, Code.BAD_CODE, Code.NOT_FOUND,
          Code.ACCOUNT_NEEDED, Code.ALREADY_AN_ACCOUNT, Code.BAD_PASSKEY, Code.CHALLENGE_EXPIRED)  # fmt: skip
"""What somebody can be told who was too late, or whose account is gone."""


class SignedInDevice(Client):
    """A device on which an account is signed in: it is connected as long as it may be."""

    def __init__(self, holder: "AccountHolder", bearer: Bearer, chance: Random) -> None:
        name = f"device {bearer.device} of {holder.name}" if bearer.device else f"{holder.name} as a guest"
        super().__init__(holder.cluster, name, "203.0.113.40", chance)
        self.holder, self.bearer = holder, bearer
        self.token = holder.cluster.tokens.issue(*bearer)
        self.is_ended = False
        """It was told that its session is."""

    @property
    def is_content(self) -> bool:
        return self.is_ended or (self.is_in and self.is_connected)

    @property
    def is_right(self) -> bool:
        """Whether it is connected if its session is valid, and only then."""
        return (self.is_in and self.is_connected) == self.holder.is_valid(self.bearer)

    def come(self) -> None:
        if not self.is_ended:
            super().come()

    def _path(self) -> str:
        return f"/socket/websocket?vsn=2.0.0&token={self.token}"

    def _turned_away(self, status: int) -> None:
        if status in (401, 403):
            self._end(f"is turned away ({status})")
        super()._turned_away(status)

    def _take(self, kind: int, body: bytes) -> None:
        if kind == CLOSE:
            if int.from_bytes(body[:2], "big") == 1008:
                self._end(f"is told {body[2:].decode()!r}")
            self.hang_up()

    def _end(self, how: str) -> None:
        self.is_ended = True
        if self.holder.is_valid(self.bearer):
            self.holder.broken.append(f"{self.name} {how}, and its session is valid")


Do = Callable[[Machine], Awaitable[Any]]


class AccountHolder:
    """Somebody with an account."""

    def __init__(self, cluster: Cluster, name: str, chance: Random) -> None:
        self.cluster, self.name = cluster, name
        self.id = f"{name}-id"
        self.deeds: list[Deed] = []
        self.devices: list[SignedInDevice] = []
        self.broken: list[str] = []
        self._chance, self._code_of_mine = chance, new_code()
        self._numbers = count(1)
        self._ring = KeyRing(self.id, Random(chance.random()))
        self._held: list[str] = []
        """Links that nobody has used yet."""
        self.guest = SignedInDevice(self, Bearer(self.id, 0), Random(chance.random()))
        """The connection that they have before there is an account."""

    def come(self) -> None:
        self.guest.come()

    @property
    def connections(self) -> list[SignedInDevice]:
        return [self.guest, *self.devices]

    # What is kept.

    @property
    def kept(self) -> KeptPlayer:
        """The player, as the database has them at this moment."""
        record = finish(self.cluster.database.store.record(KIND, self.id))
        return KeptPlayer(self.id, self.name) if record is None else read_player(record)

    def is_valid(self, bearer: Bearer) -> bool:
        """Whether a token is valid by what is kept at this moment."""
        kept = self.kept
        if kept.account is None:
            return bearer.session >= kept.session
        return bearer.session >= kept.session and any(one.number == bearer.device for one in kept.devices)

    @property
    def is_content(self) -> bool:
        return all(device.is_content for device in self.connections)

    # What they do.

    def open(self) -> None:
        """Open an account, as a guest, with a code of their own."""
        guest, code = self.guest.bearer, self._code_of_mine

        async def do(machine: Machine) -> Any:
            return await machine.parlour.accounts.open(guest, self.name, "first", code=code)

        self._begin(Deed("open", self._now, guest, word=code), do)

    def come_in(self) -> None:
        """Open an account, or find out whether it was opened, in turns, until one of them works."""
        if self.devices or not self.cluster.serving:
            return
        if self.deeds and self.deeds[-1].what == "open":
            self.sign_in_by_code(self._code_of_mine)
        else:
            self.open()

    def act(self) -> None:
        """Do something, at some worker."""
        self.come_in()
        if self.devices and self.cluster.serving:
            what = self._chance.choice(DEEDS)
            if what != "delete" or self._chance.random() < 0.3:
                getattr(self, f"_{what}")(self._chance.choice(self.devices[-4:]).bearer)

    def _code(self, _: Bearer) -> None:
        known = [self._code_of_mine, *(deed.word for deed in done(self.deeds, "renew"))]
        self.sign_in_by_code(self._chance.choice(known[-2:]))

    def sign_in_by_code(self, code: str) -> None:
        number = next(self._numbers)

        async def do(machine: Machine) -> SignedIn:
            address = f"203.0.113.{number}"
            return await machine.parlour.accounts.sign_in_by_code(code, "by code", address)

        self._begin(Deed("code", self._now, word=code), do)

    def _link(self, bearer: Bearer, what: str = "link") -> None:
        async def do(machine: Machine) -> str:
            return await machine.parlour.accounts.make_link(bearer)

        self._begin(Deed(what, self._now, bearer), do)

    def _hold(self, bearer: Bearer) -> None:
        self._link(bearer, "hold")

    def _use_link(self, secret: str, number: int) -> None:
        async def do(machine: Machine) -> SignedIn:
            return await machine.parlour.accounts.sign_in_by_link(secret, f"by link {number}")

        for _ in range(2):
            self._begin(Deed("use", self._now, word=secret), do)

    def _ask_for_new(self, bearer: Bearer) -> None:
        self._begin(Deed("ask_for_new", self._now, bearer), lambda at: self._ring.ask_for_new(at, bearer))

    def _ask(self, _: Bearer) -> None:
        if key := self._ring.choose(self.deeds):
            self._begin(Deed("ask", self._now, word=key), self._ring.ask)

    def _answer_challenge(self, deed: Deed, options: Any) -> None:
        """Send the answer to a challenge twice: it is good once."""
        if deed.what == "ask":
            signed, number = self._ring.sign(deed.word, options), next(self._numbers)
        else:
            signed, number = self._ring.make(options), 0
        bearer = None if deed.what == "ask" else deed.bearer

        async def do(machine: Machine) -> SignedIn | None:
            if bearer is not None:
                await self._ring.add(machine, bearer, signed)
                return None
            address = f"203.0.113.{number}"
            return await self._ring.passkeys(machine).sign_in(signed, "by key", address, SITE)

        for _ in range(2):
            what, challenge = "add" if bearer else "key", options["challenge"]
            self._begin(Deed(what, self._now, bearer, word=signed["id"], challenge=challenge), do)

    def _remove(self, bearer: Bearer) -> None:
        if key := self._ring.choose(self.deeds):

            async def do(machine: Machine) -> None:
                await self._ring.remove(machine, bearer, key)

            self._begin(Deed("remove", self._now, bearer, word=key), do)

    def _renew(self, bearer: Bearer) -> None:
        async def do(machine: Machine) -> str:
            return await machine.parlour.accounts.renew_code(bearer)

        self._begin(Deed("renew", self._now, bearer), do)

    def _sign_out(self, bearer: Bearer) -> None:
        device = self._chance.choice(self.devices[-4:]).bearer.device

        async def do(machine: Machine) -> None:
            await machine.parlour.accounts.sign_out(bearer, device)

        self._begin(Deed("sign_out", self._now, bearer, device=device), do)

    def end_all(self, bearer: Bearer) -> None:
        async def do(machine: Machine) -> SignedIn:
            return await machine.parlour.accounts.end_all(bearer, "afresh")

        self._begin(Deed("end_all", self._now, bearer), do)

    _end_all = end_all

    def _rename(self, bearer: Bearer) -> None:
        name = self._chance.choice(NAMES)

        async def do(machine: Machine) -> KeptPlayer:
            return await machine.parlour.accounts.save(bearer, name)

        self._begin(Deed("rename", self._now, bearer, word=name), do)

    def _delete(self, bearer: Bearer) -> None:
        async def do(machine: Machine) -> None:
            parlour = machine.parlour
            await delete_account(parlour.journal, parlour.sessions, parlour.name_changes, bearer)

        self._begin(Deed("delete", self._now, bearer), do)

    @property
    def _now(self) -> float:
        return self.cluster.loop.now

    def _begin(self, deed: Deed, do: Do) -> None:
        self.deeds.append(deed)
        machine = self._chance.choice(self.cluster.serving or self.cluster.machines)
        loop = self.cluster.loop  # no coroutine is made for a worker that dies before it begins
        machine.process.call_soon(lambda: loop.create_task(self._carry_out(deed, do, machine)))

    async def _carry_out(self, deed: Deed, do: Do, machine: Machine) -> None:
        """Have it done by a worker; if that dies, or does not know, nobody does."""
        try:
            came = await do(machine)
        except Refused as why:
            deed.refused, deed.ended = why.code, self._now
            is_wrong = why.code == Code.BAD_TOKEN and deed.bearer is not None and self.is_valid(deed.bearer)
            if why.code not in LIKELY or is_wrong:
                self.broken.append(f"{self.name} was refused {deed.what}: {why}")
        except OutcomeUnknown:
            pass
        except Trouble as trouble:
            deed.refused, deed.ended = type(trouble).__name__, self._now
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a bug
            self.broken.append(f"{deed.what} of {self.name} ended with {error!r}")
        else:
            deed.ended = self._now
            self._hear(deed, came)

    def _hear(self, deed: Deed, came: Any) -> None:
        """Remember what was answered, and do what follows from it."""
        if isinstance(came, tuple) and isinstance(came[0], SignedIn):  # with the account's code
            came, deed.word = came
        if isinstance(came, SignedIn):
            deed.session, deed.device = came.player.session, came.device
            bearer = Bearer(self.id, deed.session, deed.device)
            self.devices.append(SignedInDevice(self, bearer, Random(self._chance.random())))
            self.devices[-1].come()
        elif isinstance(came, dict):
            self._answer_challenge(deed, came)
        elif isinstance(came, str):
            deed.word = came
            if deed.what == "link":
                self._use_link(came, next(self._numbers))
            elif deed.what == "hold":
                self._held.append(came)
        if deed.what in ENDS_LINKS:
            while self._held:
                self._use_link(self._held.pop(), next(self._numbers))

    # In the end.

    def end_all_but_one(self) -> None:
        """End all sessions, as a device that is signed in."""
        valid = next((one for one in self.devices if self.is_valid(one.bearer)), None)
        if valid is not None:
            self.end_all(valid.bearer)

    async def look(self, machine: Machine) -> None:
        """Whether a worker knows which tokens are valid."""
        identities = Identities(self.cluster.tokens, machine.parlour.sessions)
        for device in self.connections:
            try:
                found = await identities.find(device.token) is not None
            except Refused:
                found = False
            if found != self.is_valid(device.bearer):
                now = "valid" if found else "ended"
                self.broken.append(f"for worker {machine.me} the session of {device.name} is {now}")


def judge_accounts(cluster: Cluster, holders: Sequence[AccountHolder]) -> Iterator[str]:
    """What was answered holds: sessions, codes, links and names."""
    for holder in holders:
        yield from holder.broken
        if not holder.devices:
            yield f"{holder.name} has no way into their account"
        yield from _judge_devices(holder)
        yield from _judge_codes(holder)
        yield from _judge_links(holder)
        yield from _judge_name(holder)
        yield from judge_keys(holder.name, holder.kept, holder.deeds)
        if (deleted := done(holder.deeds, "delete")) and holder.kept.account is not None:
            yield f"{holder.name} was deleted at {deleted[0].ended}, and is there"
    yield from _judge_records(cluster, holders)


def _judge_devices(holder: AccountHolder) -> Iterator[str]:
    kept = holder.kept
    for device in holder.connections:
        number, session = device.bearer.device, device.bearer.session
        is_valid = holder.is_valid(device.bearer)
        if device.is_in and device.is_connected and not is_valid:
            yield f"{device.name} is connected, and its session is ended"
        if is_valid and not (device.is_in and device.is_connected):
            yield f"{device.name} is not connected, and its session is valid"
        outs = [deed for deed in maybe(holder.deeds, "sign_out") if deed.device == number]
        ends = [
            deed for deed in maybe(holder.deeds, "end_all") if deed.ended is None or deed.session > session
        ]
        opened = maybe(holder.deeds, "open") if device is holder.guest else []
        if not is_valid and not outs and not ends and not opened and not maybe(holder.deeds, "delete"):
            yield f"nobody has ended the session of {device.name}, and it is"
        if is_valid and any(deed.is_done for deed in (*outs, *ends, *opened)):
            yield f"{device.name} was signed out, and its session is valid"
    for deed in done(holder.deeds, "end_all"):
        if kept.session < deed.session:
            yield f"session {deed.session} of {holder.name} had begun, and it is {kept.session}"


def _judge_codes(holder: AccountHolder) -> Iterator[str]:
    """The last code that was answered is the one; older ones sign nobody in."""
    made = maybe(holder.deeds, "open", "renew")
    for deed in made:
        if not deed.is_done:
            continue
        later = [one for one in (*made, *maybe(holder.deeds, "delete")) if one is not deed]
        is_over = any(one.is_done and deed.is_before(one) for one in later)
        may_be_over = any(not one.is_before(deed) for one in later)
        is_valid = digest_of_code(deed.word) == holder.kept.code
        if is_valid and is_over:
            yield f"an old code of {holder.name} is valid"
        if not is_valid and not may_be_over:
            yield f"the code of {holder.name} is not valid"
        for used in (one for one in holder.deeds if one.what == "code" and one.word == deed.word):
            if used.is_done and any(
                one.is_done and one.is_before(used) for one in later if deed.is_before(one)
            ):
                yield f"an old code has signed {holder.name} in"
            if (
                used.refused == Code.BAD_CODE
                and deed.is_before(used)
                and not any(not one.is_before(deed) and not used.is_before(one) for one in later)
            ):
                yield f"the code of {holder.name} was refused"


def _judge_links(holder: AccountHolder) -> Iterator[str]:
    used = done(holder.deeds, "use")
    times = Counter(deed.word for deed in used)
    yield from (f"a link has signed {holder.name} in {many} times" for many in times.values() if many > 1)
    made = {deed.word: deed for deed in done(holder.deeds, *LINKS)}
    for deed in (one for one in holder.deeds if one.what == "use" and one.refused == Code.LINK_EXPIRED):
        others = [one for one in maybe(holder.deeds, "use") if one.word == deed.word and one is not deed]
        newer = [
            one for one in maybe(holder.deeds, *LINKS) if one.word != deed.word and not deed.is_before(one)
        ]
        ends = [one for one in maybe(holder.deeds, *ENDS_LINKS) if not one.is_before(made[deed.word])]
        if not others and not newer and not ends and not maybe(holder.deeds, "delete"):
            yield f"a link of {holder.name} was refused that nobody had used"
    for deed, end in product(used, done(holder.deeds, *ENDS_LINKS)):
        if made[deed.word].is_before(end) and end.is_before(deed):
            yield f"a link has signed {holder.name} in after {end.what} had ended it"
    named = Counter(one.name for one in holder.kept.devices if one.name.startswith("by link"))
    yield from (f"{holder.name} has {many} devices {name}" for name, many in named.items() if many > 1)


def _judge_name(holder: AccountHolder) -> Iterator[str]:
    """The name is the last one that it was given."""
    renames = maybe(holder.deeds, "rename")
    name, gone = holder.kept.name, maybe(holder.deeds, "delete")
    if not gone and name not in {holder.name, *(one.word for one in renames)}:
        yield f"{holder.name} is called {name}, which nobody wanted"
    for deed in renames:
        if (
            deed.is_done
            and name != deed.word
            and not gone
            and all(one.is_before(deed) for one in renames if one is not deed)
        ):
            yield f"{holder.name} was named {deed.word}, and is called {name}"


def _judge_records(cluster: Cluster, holders: Sequence[AccountHolder]) -> Iterator[str]:
    """What is kept beside accounts fits them, and nothing is left of those that are gone."""
    kept = {holder.id: holder.kept for holder in holders}
    accounts = {id for id, player in kept.items() if player.account is not None}
    for kind, key_of in (
        (ACCOUNT_NAME, lambda one: key_of_name(one.name)),
        (RECOVERY_CODE, lambda one: one.code),
    ):
        found = {record.key: record.owner for record in _records(cluster, kind, kept)}
        if found != (wanted := {key_of(kept[id]): id for id in accounts}):
            yield f"{kind} is kept for {sorted(found.items())}, and accounts have {sorted(wanted.items())}"
        if len(wanted) < len(accounts):
            yield f"{len(accounts)} accounts have one {kind}: {sorted(wanted)}"
    digests = {digest_of(one.id): id for id, player in kept.items() for one in player.passkeys}
    if {record.key: record.owner for record in _records(cluster, PASSKEY, kept)} != digests:
        yield f"other passkeys are kept than accounts have: {sorted(digests.values())}"
    for record in _records(cluster, SIGN_IN_LINK, kept):
        if record.owner not in accounts:
            yield f"a link of {record.owner} is left"


def _records(cluster: Cluster, kind: str, owners: Collection[str]) -> list[Any]:
    found = finish(cluster.database.store.records(RecordQuery(kind)))
    return [record for record in found if record.owner in owners]

"""People with passkeys under kill -9: what was answered holds, and no challenge is good for two things."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
from msgspec import Struct

from tests.authenticator import Authenticator
from tests.e2e.servers import UNLIMITED, Server
from tests.torture.lives import MORTAL, PAUSE, Club, Lost

DEEDS = ("sign in", "sign in", "sign in twice at once", "add", "add twice at once", "remove", "use again")
MOST_DEEDS = 25
MOST_KEYS = 4
SIGN_IN, ACCOUNT, PASSKEYS = "/api/sign-in", "/api/account", "/api/account/passkeys"


class Key:
    """A passkey, as its owner knows it."""

    def __init__(self, authenticator: Authenticator) -> None:
        self.authenticator = authenticator
        self.id = ""
        self.count = 0
        """How often the server knows it to have signed."""

    def make(self, options: Any) -> dict[str, Any]:
        made = self.authenticator.create(options)
        self.id = made["id"]
        return made


class Use(Struct, frozen=True):
    """An answer to a challenge, which must be good for one thing, once."""

    path: str
    body: dict[str, Any]
    key: Key
    token: str | None
    count: int
    """What the authenticator counted with it."""


class Member:
    """Somebody with an account that was made by a passkey, and what they know of it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.id = ""
        self.token = ""
        self.here: list[Key] = []
        self.gone: list[Key] = []
        self.doubt: Use | Key | None = None
        """What nobody knows of: whether this was done, or this key removed."""
        self.spent: list[Use] = []
        self.sign_ins = 0
        """How often somebody was signed in, which is the number of the last device."""
        self.devices: list[tuple[str, int]] = []
        """Tokens, and the numbers of their devices, that are still to be compared."""


class KeyClub(Club):
    """All members, and their server."""

    def __init__(self, server: Server, seed: int) -> None:
        super().__init__(server, seed)
        self.members: list[Member] = []

    async def live(self, place: int) -> None:
        """One member after the other at this place, until cancelled."""
        for number in range(10_000):
            member = Member(f"Member {place} of round {number}")
            for deed in ("open", *self.chance.choices(DEEDS, k=self.chance.randrange(MOST_DEEDS))):
                await asyncio.sleep(PAUSE)
                await self.up.wait()
                with suppress(Lost):
                    await self._find_out(member)
                    await self.do(member, deed)
                if not member.id:  # the server died before they were anybody
                    break

    async def do(self, member: Member, deed: str) -> None:
        """Ask for something, and note what is true from then on, or not known."""
        copies = 2 if "twice" in deed else 1
        if deed == "open":
            await self._open(member)
        elif deed == "use again":
            await self._use_again(member, member.spent[-3:])
        elif deed == "remove":
            if len(member.here) > 1:
                await self._remove(member, self.chance.choice(member.here))
        elif deed.startswith("add"):
            if len(member.here) < MOST_KEYS:
                await self._add(member, copies)
        elif member.here:
            await self._use(member, await self._signature(self.chance.choice(member.here)), copies)

    # Deeds.

    async def _open(self, member: Member) -> None:
        guest = (await self.ask("POST", "/api/players", {"name": member.name})).json()
        key, options = self._new_key(), await self._options(guest["token"])
        use = Use(ACCOUNT, {"passkey": key.make(options)}, key, guest["token"], key.authenticator.count)
        member.id, member.token = guest["id"], guest["token"]
        self.members.append(member)
        await self._use(member, use)

    async def _add(self, member: Member, copies: int) -> None:
        """A new passkey, or one that was removed before."""
        key = self.chance.choice([self._new_key(), *member.gone])
        passkey = key.make(await self._options(member.token))
        await self._use(
            member, Use(PASSKEYS, {"passkey": passkey}, key, member.token, key.authenticator.count), copies
        )

    async def _signature(self, key: Key, **bent: Any) -> Use:
        """A passkey's answer to a new challenge."""
        options = (await self.ask("POST", f"{SIGN_IN}/options")).json()["publicKey"]
        signed = key.authenticator.get(options, **bent)
        return Use(SIGN_IN, {"passkey": signed}, key, None, key.authenticator.count)

    async def _remove(self, member: Member, key: Key) -> None:
        member.doubt = key
        answer = await self.ask("DELETE", f"{PASSKEYS}/{key.id}", token=member.token)
        member.doubt = None
        if answer.status_code != 200:
            self.complain(f"{member.name} cannot remove a passkey: {answer.text}")
        self._move(key, member.here, member.gone)

    async def _use(self, member: Member, use: Use, copies: int = 1) -> None:
        """Send an answer to a challenge, in so many copies: one is good, the others are refused."""
        member.doubt = use
        asked = [self.ask("POST", use.path, use.body, use.token) for _ in range(copies)]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        told = [answer for answer in answers if isinstance(answer, httpx.Response)]
        good = [answer for answer in told if answer.status_code == 201]
        if len(good) > 1:
            self.complain(f"{member.name} used a challenge for {use.path} twice at once")
        for answer in told:
            if answer.status_code != 201 and answer.json()["code"] != "challenge_expired":
                self.complain(f"{use.path} of {member.name} was refused: {answer.text}")
        if good:
            self._done(member, use, good[0])
        elif len(told) < copies:
            raise Lost
        else:
            self.complain(f"{use.path} of {member.name} came to nothing: {told[0].text}")
            member.doubt = None

    def _done(self, member: Member, use: Use, answer: httpx.Response | None) -> None:
        """A challenge was good for something; without an answer by what came to light later."""
        member.doubt = None
        member.spent.append(use)
        self.counts[f"done {use.path}"] += 1
        if use.path == PASSKEYS:
            self._move(use.key, member.gone, member.here)
        else:
            member.sign_ins += 1
        if use.path == ACCOUNT:
            member.here.append(use.key)
        use.key.count = use.count
        if answer is not None and use.path != PASSKEYS:
            told = answer.json()
            if (told["id"], told["name"]) != (member.id, member.name):
                self.complain(f"{member.name} is signed in as somebody else: {answer.text}")
            member.token = told["token"]
            member.devices.append((told["token"], member.sign_ins))

    def _move(self, key: Key, before: list[Key], after: list[Key]) -> None:
        if key in before:
            before.remove(key)
        after.append(key)

    async def _use_again(self, member: Member, spent: list[Use]) -> None:
        """A challenge that was used is good for nothing more."""
        for use in spent:
            token = None if use.token is None else member.token
            answer = await self.ask("POST", use.path, use.body, token)
            self.counts["used again"] += 1
            if answer.is_success:
                self.complain(f"a used challenge of {member.name} is good for {use.path} once more")

    # What nobody knows.

    async def _find_out(self, member: Member) -> None:
        """Ask again for what was not answered: it was done as a whole, or not at all."""
        doubt = member.doubt
        if isinstance(doubt, Key):
            await self._find_out_removed(member, doubt)
        elif isinstance(doubt, Use):
            answer = await self.ask("POST", doubt.path, doubt.body, doubt.token)
            self.counts["found out"] += 1
            if answer.status_code == 201:
                self.counts["found undone"] += 1
                self._done(member, doubt, answer)
            elif answer.json()["code"] == ("bad_token" if doubt.path == ACCOUNT else "challenge_expired"):
                self._done(member, doubt, None)
                if doubt.path == ACCOUNT:
                    member.token = ""  # it was in the answer that nobody heard
            else:
                self.complain(f"{doubt.path} of {member.name} is refused in doubt: {answer.text}")
                member.doubt = None
        if not member.token and member.here:
            await self._use(member, await self._signature(member.here[0]))

    async def _find_out_removed(self, member: Member, key: Key) -> None:
        listed = key.id in await self._listed(member)
        member.doubt = None
        self.counts["found out"] += 1
        self.counts["found undone"] += listed
        if not listed:
            self._move(key, member.here, member.gone)

    # Small things.

    def _new_key(self) -> Key:
        return Key(Authenticator(f"http://localhost:{self.server.port}", "localhost"))

    async def _options(self, token: str) -> Any:
        return (await self.ask("POST", f"{PASSKEYS}/options", {}, token)).json()["publicKey"]

    async def _listed(self, member: Member) -> list[str]:
        mine = (await self.ask("GET", ACCOUNT, token=member.token)).json()
        return [one["id"] for one in mine["passkeys"]]

    # The judge.

    async def judge(self) -> None:
        """Whether everything that was answered is still so."""
        for member in self.members:
            await self._find_out(member)
            if not member.here:
                continue
            if sorted(await self._listed(member)) != sorted(key.id for key in member.here):
                self.complain(f"{member.name} has other passkeys than were added and not removed")
            for key in tuple(member.here):
                await self._judge_key(member, key)
            for key in member.gone:
                await self._expect(member, key, "bad_passkey", "has a passkey that was removed")
            await self._use_again(member, member.spent)
            await self._judge_devices(member)

    async def _judge_key(self, member: Member, key: Key) -> None:
        """It signs in, and its count has not gone back: a copy that has counted less does not."""
        behind = key.count
        await self._expect(member, key, "bad_passkey", "has a passkey that counts backwards", count=behind)
        key.authenticator.count = behind
        await self._use(member, await self._signature(key))

    async def _expect(self, member: Member, key: Key, code: str, wrong: str, **bent: Any) -> None:
        use = await self._signature(key, **bent)
        answer = await self.ask("POST", use.path, use.body)
        if answer.is_success or answer.json()["code"] != code:
            self.complain(f"{member.name} {wrong}: {answer.text}")

    async def _judge_devices(self, member: Member) -> None:
        """Each challenge has signed in one device, whose token is valid."""
        for token, number in member.devices:
            answer = await self.ask("GET", ACCOUNT, token=token)
            here = [one["number"] for one in answer.json().get("devices", ()) if one["here"]]
            if here != [number]:
                self.complain(f"{member.name} is not signed in on device {number}: {answer.text}")


async def torture_passkeys(
    data: Path, kills: int, seed: int, places: int = 4, module: tuple[str, ...] = MORTAL
) -> KeyClub:
    """Kill a server that often while people use passkeys."""
    club = KeyClub(Server(data, module=module, environment=UNLIMITED), seed)
    await club.torture(kills, places)
    club.counts.update(members=len(club.members))
    return club

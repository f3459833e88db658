"""Passkeys of an account's holder: made, used and removed at any worker; what was answered must hold."""

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from parlour.errors import Code
from parlour.server.parts.accounts.passkeys import Credential, Passkeys
from parlour.server.parts.accounts.sites import Site
from parlour.server.sessions import KeptPlayer
from parlour.server.tokens import Bearer
from tests.authenticator import Authenticator
from tests.simulation.cluster import Machine
from tests.simulation.deeds import Deed, done, maybe

SITE = Site("https://games.example", "games.example")
USES = ("key", "add")
"""A challenge is good for one of them, once."""


class KeyRing:
    """Somebody's authenticators."""

    def __init__(self, id: str, chance: Random) -> None:
        self._id, self._chance = id, chance
        self._made: dict[str, Authenticator] = {}

    def passkeys(self, machine: Machine) -> Passkeys:
        """The part of a worker that knows of passkeys."""
        parlour, tokens = machine.parlour, machine.cluster.tokens
        return Passkeys(parlour.journal, parlour.clock, parlour.sessions, parlour.accounts, tokens)

    def choose(self, deeds: Sequence[Deed]) -> str:
        """One that was added, whatever came of it later; empty if there is none."""
        added = [deed.word for deed in done(deeds, "add")]
        return self._chance.choice(added[-3:]) if added else ""

    def make(self, options: Any) -> Credential:
        """A new passkey, by an authenticator that does not count."""
        key = Authenticator(SITE.origin, SITE.domain)
        made = key.create(options, count=0)
        self._made[made["id"]] = key
        return made

    def sign(self, key: str, options: Any) -> Credential:
        return self._made[key].get(options, count=0)

    async def ask_for_new(self, machine: Machine, bearer: Bearer) -> Any:
        return await self.passkeys(machine).ask_for_new(bearer, None, SITE)

    async def ask(self, machine: Machine) -> Any:
        return await self.passkeys(machine).ask_for_any(SITE)

    async def add(self, machine: Machine, bearer: Bearer, made: Credential) -> None:
        await self.passkeys(machine).add(bearer, "with a key", made, SITE)

    async def remove(self, machine: Machine, bearer: Bearer, key: str) -> None:
        await self.passkeys(machine).remove(bearer, key)


def judge_keys(name: str, kept: KeptPlayer, deeds: Sequence[Deed]) -> Iterator[str]:
    """A passkey is there from when it was added until it is removed, and no challenge is good twice."""
    times = Counter(deed.challenge for deed in done(deeds, *USES))
    yield from (f"a challenge of {name} was good for {many} things" for many in times.values() if many > 1)
    there, gone = {one.id for one in kept.passkeys}, maybe(deeds, "delete")
    for key in there | {deed.word for deed in done(deeds, "add")}:
        mine = [deed for deed in deeds if deed.word == key]
        if key in there and not maybe(mine, "add"):
            yield f"{name} has a passkey that nobody added"
        if key in there and done(mine, "remove"):
            yield f"{name} has a passkey that was removed"
        if key not in there and not maybe(mine, "remove") and not gone:
            yield f"{name} has lost a passkey"
        yield from _judge_sign_ins(name, mine, gone)
    for deed in (one for one in deeds if one.refused == Code.CHALLENGE_EXPIRED):
        if not any(one.challenge == deed.challenge and one is not deed for one in maybe(deeds, *USES)):
            yield f"a challenge of {name} was refused that nobody had used"


def _judge_sign_ins(name: str, mine: Sequence[Deed], gone: Sequence[Deed]) -> Iterator[str]:
    """Whoever is signed in by a passkey has not removed it before; whoever is not may have."""
    for deed in (one for one in mine if one.what == "key"):
        if deed.is_done and any(one.is_before(deed) for one in done(mine, "remove")):
            yield f"a passkey has signed {name} in that was removed"
        ends = [one for one in (*maybe(mine, "remove"), *gone) if not deed.is_before(one)]
        if deed.refused == Code.BAD_PASSKEY and not ends:
            yield f"a passkey of {name} was refused"

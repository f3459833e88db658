"""People who make accounts, sign in and out and leave under kill -9: what was answered must be so."""

import asyncio
from pathlib import Path
from typing import Any

import httpx

from parlour.server.parts.accounts.secrets import new_code
from tests.e2e.servers import UNLIMITED, Server
from tests.torture.lives import MORTAL, PAUSE, Club, Lost

DEEDS = ("sign in", "sign in", "new code", "sign out", "sign out everywhere", "leave")


class Member:
    """Somebody with an account, and what they know of it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.id = ""
        self.code: str | None = None
        """None: nobody knows which one is valid."""
        self.tokens: dict[int, str] = {}
        """Those that are valid, by device."""
        self.dead: list[str] = []
        """Tokens and codes that end with an answer, and were answered."""
        self.dead_codes: list[str] = []
        self.has_left: bool | None = False
        """None: nobody knows."""


class AccountClub(Club):
    """All members, and their server."""

    def __init__(self, server: Server, seed: int) -> None:
        super().__init__(server, seed)
        self.members: list[Member] = []

    async def live(self, place: int) -> None:
        """One member after the other at this place, until cancelled."""
        for number in range(10_000):
            member = Member(f"Member {place} of round {number}")
            try:
                await self.up.wait()
                guest = (await self.ask("POST", "/api/players", {"name": member.name})).json()
                member.id = guest["id"]
                member.code, member.tokens = await self._open(guest)
            except Lost:
                continue
            member.dead.append(guest["token"])
            self.members.append(member)
            for _ in range(self.chance.randrange(12)):
                await asyncio.sleep(PAUSE)
                await self.up.wait()
                if not member.tokens or member.has_left is not False:
                    break
                await self.do(member, self.chance.choice(DEEDS))

    async def _open(self, guest: Any) -> tuple[str, dict[int, str]]:
        """Make an account: its code and tokens. If the answer is lost, the code says whether it was made."""
        code = new_code()
        try:
            opened = (await self.ask("POST", "/api/account", {"code": code}, guest["token"])).json()
            return code, {1: opened["token"]}
        except Lost:
            await self.up.wait()
            found = await self.ask("POST", "/api/sign-in", {"code": code})
        if found.status_code == 201 and found.json()["id"] == guest["id"]:
            self.counts["found"] += 1
            return code, {2: found.json()["token"]}
        if (await self.ask("GET", "/api/account", token=guest["token"])).status_code != 200:
            self.complain(f"a guest is lost who wanted an account: {found.text}")
        raise Lost

    async def do(self, member: Member, deed: str) -> None:
        """Ask for something, and note what is true from then on, or not known any more."""
        device, token = self.chance.choice(sorted(member.tokens.items()))
        if deed == "sign in" and member.code is not None:
            await self._sign_in(member)
        elif deed == "new code":
            old, member.code = member.code, None
            answer = await self._try("POST", "/api/account/code", token)
            if answer is not None:
                member.dead_codes += [] if old is None else [old]
                member.code = answer.json()["code"]
        elif deed == "sign out":
            del member.tokens[device]
            if await self._try("DELETE", f"/api/account/devices/{device}", token) is not None:
                member.dead.append(token)
        elif deed == "sign out everywhere":
            tokens, member.tokens = member.tokens, {}
            answer = await self._try("DELETE", "/api/players/me/sessions", token)
            if answer is not None:
                member.dead += tokens.values()
                member.tokens = await self._devices(answer.json()["token"])
        elif deed == "leave":
            tokens, member.tokens, member.has_left = member.tokens, {}, None
            if await self._try("DELETE", "/api/account", token) is not None:
                member.dead += tokens.values()
                member.dead_codes += [] if member.code is None else [member.code]
                member.has_left = True

    async def _sign_in(self, member: Member) -> None:
        try:
            answer = await self.ask("POST", "/api/sign-in", {"code": member.code})
        except Lost:
            return
        if answer.status_code != 201:
            self.complain(f"{member.name} cannot sign in: {answer.text}")
            return
        member.tokens |= await self._devices(answer.json()["token"])

    async def _try(self, method: str, path: str, token: str) -> httpx.Response | None:
        """The answer to a call that must be good; None if it was lost."""
        try:
            answer = await self.ask(method, path, token=token)
        except Lost:
            return None
        if answer.is_success:
            return answer
        self.complain(f"{method} {path} was refused: {answer.text}")
        return None

    async def _devices(self, token: str) -> dict[int, str]:
        """A token by the number of its device."""
        try:
            mine = (await self.ask("GET", "/api/account", token=token)).json()
        except Lost:
            return {}
        return {one["number"]: token for one in mine["devices"] if one["here"]}

    async def judge(self) -> None:
        """Whether everything that was answered is still so."""
        for member in self.members:
            for token in member.tokens.values():
                answer = await self.ask("GET", "/api/account", token=token)
                if answer.status_code != 200 or answer.json()["name"] != member.name:
                    self.complain(f"{member.name} is not signed in any more: {answer.text}")
            for token in member.dead:
                if (await self.ask("GET", "/api/account", token=token)).status_code != 401:
                    self.complain(f"{member.name} is still signed in where they signed out")
            for code in member.dead_codes:
                if (await self.ask("POST", "/api/sign-in", {"code": code})).status_code != 401:
                    self.complain(f"an old code of {member.name} is still valid")
            if member.has_left is False and member.code is not None:
                answer = await self.ask("POST", "/api/sign-in", {"code": member.code})
                if answer.json().get("id") != member.id:
                    self.complain(f"the code of {member.name} is not valid: {answer.text}")
                rival = (await self.ask("POST", "/api/players", {"name": member.name})).json()["token"]
                if (await self.ask("POST", "/api/account", {}, rival)).status_code != 409:
                    self.complain(f"two accounts are called {member.name}")
            self.counts["left"] += member.has_left is True


async def torture_accounts(data: Path, kills: int, seed: int, places: int = 4) -> AccountClub:
    """Kill a server that often while people see to their accounts."""
    club = AccountClub(Server(data, module=MORTAL, environment=UNLIMITED), seed)
    await club.torture(kills, places)
    club.counts.update(members=len(club.members))
    return club

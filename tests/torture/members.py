"""People who make accounts, sign in and out and leave under kill -9: what was answered must be so."""

import asyncio
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import httpx

from parlour.server.parts.accounts.secrets import new_code
from tests.e2e.conftest import ALARMS
from tests.e2e.servers import UNLIMITED, Server

PAUSE = 0.02
"""Seconds between two deeds of one of them."""
BETWEEN = (10, 60)
"""Answers between two kills."""
DEEDS = ("sign in", "sign in", "new code", "sign out", "sign out everywhere", "leave")


class Lost(Exception):
    """There was no answer: nobody knows what came of a call."""


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


class Club:
    """All members, and their server."""

    def __init__(self, server: Server, seed: int) -> None:
        self.server = server
        self.chance = Random(seed)
        self.up = asyncio.Event()
        self.busy = asyncio.Event()
        """So many calls were answered that the next kill may come."""
        self.enough = 0
        self.members: list[Member] = []
        self.counts: Counter[str] = Counter()
        self.complaints: list[str] = []

    async def ask(self, method: str, path: str, body: Any = None, token: str | None = None) -> httpx.Response:
        """One call; `Lost` if the server dies before it answers."""
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        try:
            async with httpx.AsyncClient(
                base_url=f"http://{self.server.address}", trust_env=False, verify=False, timeout=20
            ) as http:
                answer = await http.request(method, path, json=body, headers=headers)
        except httpx.TransportError:
            self.counts["lost"] += 1
            raise Lost from None
        self.counts["answered"] += 1
        if self.counts["answered"] >= self.enough:
            self.busy.set()
        return answer

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
            self.complaints.append(f"a guest is lost who wanted an account: {found.text}")
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
            self.complaints.append(f"{member.name} cannot sign in: {answer.text}")
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
        self.complaints.append(f"{method} {path} was refused: {answer.text}")
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
                    self.complaints.append(f"{member.name} is not signed in any more: {answer.text}")
            for token in member.dead:
                if (await self.ask("GET", "/api/account", token=token)).status_code != 401:
                    self.complaints.append(f"{member.name} is still signed in where they signed out")
            for code in member.dead_codes:
                if (await self.ask("POST", "/api/sign-in", {"code": code})).status_code != 401:
                    self.complaints.append(f"an old code of {member.name} is still valid")
            if member.has_left is False and member.code is not None:
                answer = await self.ask("POST", "/api/sign-in", {"code": member.code})
                if answer.json().get("id") != member.id:
                    self.complaints.append(f"the code of {member.name} is not valid: {answer.text}")
                rival = (await self.ask("POST", "/api/players", {"name": member.name})).json()["token"]
                if (await self.ask("POST", "/api/account", {}, rival)).status_code != 409:
                    self.complaints.append(f"two accounts are called {member.name}")
            self.counts["left"] += member.has_left is True


async def torture_accounts(data: Path, kills: int, seed: int, places: int = 4) -> Club:
    """Kill a server that often while people see to their accounts."""
    server = Server(data, environment=UNLIMITED)
    club = Club(server, seed)
    try:
        await asyncio.to_thread(server.start)
        club.up.set()
        tasks = [asyncio.create_task(club.live(place)) for place in range(places)]
        for _ in range(kills):
            club.busy.clear()
            club.enough = club.counts["answered"] + club.chance.randrange(*BETWEEN)
            await club.busy.wait()
            await asyncio.sleep(club.chance.uniform(0, PAUSE))
            club.up.clear()
            server.kill()
            await asyncio.to_thread(server.start)
            club.up.set()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await club.judge()
        await asyncio.to_thread(server.stop)
    finally:
        if server.running:
            server.kill()
    club.counts.update(members=len(club.members), alarms=sum(server.log.count(word) for word in ALARMS))
    return club

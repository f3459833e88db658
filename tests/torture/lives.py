"""The lives of one server: each ends by kill -9, at any instant or at a write; calls to it may be lost."""

import asyncio
from collections import Counter
from http.cookiejar import CookieJar, DefaultCookiePolicy
from random import Random
from typing import Any

import httpx

from tests.e2e.conftest import ALARMS
from tests.e2e.servers import Server
from tests.torture.writers import DIE

MORTAL = ("tests.torture.launcher", "mortal")
"""The module that runs the real server with a writer that dies as told."""
WAYS = {"anywhere": 2, "after": 2, "before": 1}
"""How a life ends, and how often: at any instant, between a write and its answer, or in the middle of one."""
BETWEEN = (5, 60)
"""Deeds, or writes, of a life; the last one lasts for as many deeds as any."""
PATIENCE = 20.0
"""Seconds in which somebody does something that is written."""
PAUSE = 0.02
"""Seconds between two deeds of somebody, or two looks at what may have changed."""


class Lost(Exception):
    """There was no answer: nobody knows what came of a call."""


class Lives:
    """A server that is killed and started again while people use it."""

    def __init__(self, server: Server, seed: int) -> None:
        self.server = server
        self.chance = Random(seed)
        self.up = asyncio.Event()
        self.number = 0
        """Which life it is."""
        self.counts: Counter[str] = Counter()
        self.complaints: list[str] = []
        self._way = ""
        """How this life ends."""
        self._enough = asyncio.Event()
        self._deeds = 0
        """What is still done in this life before the kill may come."""

    def complain(self, what: str) -> None:
        self.complaints.append(what)

    async def begin(self, *, last: bool = False) -> None:
        """Start the server; it is decided how this life ends, unless it is the last."""
        (way,) = ("anywhere",) if last else self.chance.choices(list(WAYS), list(WAYS.values()))
        try:
            await self._start("" if way == "anywhere" else f"{way} {self.chance.randrange(*BETWEEN)}")
        except AssertionError:  # its hour came before it was open; one that never opens fails now
            if way == "anywhere":
                raise
            self.counts["killed starting"] += 1
            way = "anywhere"
            await self._start("")
        self._way = way
        self.up.set()

    async def _start(self, fate: str) -> None:
        self.server.environment[DIE] = fate
        self.number += 1
        await asyncio.to_thread(self.server.start)

    def note_deed(self) -> None:
        """Something was done."""
        self._deeds -= 1
        if self._deeds <= 0:
            self._enough.set()

    async def kill(self, *, last: bool = False) -> None:
        """From an open server to an open server; it lives on if that was the last time."""
        way = self._way
        if way == "anywhere":
            await self.live_on(self.chance.randrange(*BETWEEN))
            await asyncio.sleep(self.chance.uniform(0, PAUSE))
        elif await asyncio.to_thread(self.server.wait, PATIENCE) is None:
            way = "anywhere"
        self.end()
        self.counts[f"killed {way}"] += 1
        await self.begin(last=last)

    async def live_on(self, deeds: int) -> None:
        """Wait until so much more was done."""
        self._enough.clear()
        self._deeds = deeds
        async with asyncio.timeout(PATIENCE * 3):
            await self._enough.wait()

    def end(self) -> None:
        """Kill it, if it has not died already."""
        self.up.clear()
        if self.server.running:
            self.server.kill()

    def count_alarms(self) -> None:
        self.counts["alarms"] = sum(self.server.log.count(word) for word in ALARMS)

    async def ask(self, method: str, path: str, body: Any = None, token: str | None = None) -> httpx.Response:
        """One call, as from a page at localhost; `Lost` if the server dies before it answers."""
        site = f"localhost:{self.server.port}"
        headers = {"Host": site, "Origin": f"http://{site}"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        try:
            async with _client(f"http://{self.server.address}") as http:
                answer = await http.request(method, path, json=body, headers=headers)
        except httpx.TransportError:
            self.counts["lost"] += 1
            raise Lost from None
        self.counts["answered"] += 1
        self.note_deed()
        return answer


def _client(url: str) -> httpx.AsyncClient:
    """A client for one call, that is nobody: it keeps no cookies."""
    cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    return httpx.AsyncClient(base_url=url, trust_env=False, verify=False, timeout=PATIENCE, cookies=cookies)

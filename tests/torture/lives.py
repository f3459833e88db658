"""The lives of one server: each ends by kill -9, at any instant or at a write; calls to it may be lost."""

import asyncio
from abc import ABC, abstractmethod
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
PATIENCE = 20.0
"""Seconds in which somebody does something that is written."""
PAUSE = 0.02
"""Seconds between two deeds of somebody, or two looks at what may have changed."""


class Lost(Exception):
    """There was no answer: nobody knows what came of a call."""


class Lives:
    """A server that is killed and started again while people use it."""

    ways = WAYS
    between = BETWEEN
    """Deeds, or writes, of a life; the last one lasts for as many deeds as any."""

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
        self._deeds = 0
        """What is still done in this life before the kill may come."""

    def complain(self, what: str) -> None:
        self.complaints.append(what)

    async def begin(self, *, last: bool = False) -> None:
        """Start the server; it is decided how this life ends, unless it is the last."""
        (way,) = ("anywhere",) if last else self.chance.choices(list(self.ways), list(self.ways.values()))
        at_write = way in ("after", "before")
        try:
            await self._start(f"{way} {self.chance.randrange(*self.between)}" if at_write else "")
        except AssertionError:  # its hour came before it was open; one that never opens fails now
            if not at_write:
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

    async def kill(self, *, last: bool = False) -> None:
        """From an open server to an open server; it lives on if that was the last time."""
        way = self._way
        if way == "anywhere" or not await self.wait_for_death(way):
            way = "anywhere"
            await self.live_on(self.chance.randrange(*self.between))
            await asyncio.sleep(self.chance.uniform(0, PAUSE))
        self.end()
        self.counts[f"killed {way}"] += 1
        await self.begin(last=last)

    async def wait_for_death(self, way: str) -> bool:
        """Wait until the server has died this way; False if it does not."""
        del way
        return await asyncio.to_thread(self.server.wait, PATIENCE) is not None

    async def live_on(self, deeds: int) -> None:
        """Wait until so much more was done, or the server has died all the same."""
        self._deeds = deeds
        async with asyncio.timeout(PATIENCE * 6):
            while self._deeds > 0:
                await asyncio.sleep(PAUSE / 4)
                if not self.server.running or self.server.wait(0) is not None:
                    return

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


class Club(Lives, ABC):
    """Such a server with people at places, one after the other at each."""

    @abstractmethod
    async def live(self, place: int) -> None:
        """What people do at a place, until cancelled."""

    @abstractmethod
    async def judge(self) -> None:
        """Whether everything that was answered is still so."""

    async def torture(self, kills: int, places: int) -> None:
        """Kill the server that often while people use it at so many places, and judge what is left."""
        tasks: list[asyncio.Task[None]] = []
        try:
            await self.begin(last=kills == 0)
            tasks += [asyncio.create_task(self.live(place)) for place in range(places)]
            for left in reversed(range(kills)):
                await self.kill(last=left == 0)
            await self.live_on(self.between[1])
            await end(tasks)
            await self.judge()
            await asyncio.to_thread(self.server.stop)
        finally:
            self.end()
            await end(tasks)
        self.count_alarms()


async def end(tasks: list[asyncio.Task[None]]) -> None:
    """Cancel tasks; whatever went wrong in one is raised."""
    for task in tasks:
        task.cancel()
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    tasks.clear()
    for error in ends:
        if isinstance(error, Exception):
            raise error


def _client(url: str) -> httpx.AsyncClient:
    """A client for one call, that is nobody: it keeps no cookies."""
    cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    return httpx.AsyncClient(base_url=url, trust_env=False, verify=False, timeout=PATIENCE, cookies=cookies)

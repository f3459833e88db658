"""Relays behind real sockets, without a network; time goes when told to."""

import asyncio
import re
from typing import Any

from parlour.journal.base import Journal, Trouble
from parlour.server.gateway.doors.relay import Relays
from parlour.server.gateway.doors.relay_history import KeptRelay, KeptRelays
from parlour.server.gateway.sockets import Sockets
from parlour.server.limits import Limits
from parlour.server.settings import Settings
from parlour.server.tokens import Tokens
from tests.server.wires import Wire
from tests.server.world import HandClock

OURS = re.compile(r'"To":\["(\d+\.0\d+)"\]')
"""Somebody's own id, in the welcome of one who has no id of their own."""


class Exchange:
    """A server that has relays and nothing else, and the people at it."""

    def __init__(self, journal: Journal | None = None, **settings: Any) -> None:
        self.clock = HandClock()
        self.settings = Settings(**{"rate": 0, "address_rate": 0, "address_connections": 0, **settings})
        ids = self._ids = Tokens(b"k" * 32, "relay")
        self.relays = Relays(self.clock, ids, self.settings, lambda: True)
        self.troubles: list[Trouble] = []
        if journal is not None:
            self.relays = KeptRelays(
                self.clock, ids, self.settings, lambda: True, journal, self.troubles.append
            )
        limits = Limits(self.settings, self.clock)
        self.sockets = Sockets([self.relays], self.clock, limits, self.settings)
        self.wires: dict[str, Wire] = {}
        self.log: list[tuple[str, str]] = []
        """Who got what, in order."""
        self.browsers: dict[str, str] = {}
        """The cookie of each person's browser."""
        self._names: dict[str, str] = {}
        self._read: dict[str, int] = {}

    async def connect(self, who: str, path: str, browser: str | None = None, **headers: str) -> Wire:
        """Somebody opens a socket; without an id in its path, with the cookie of their browser."""
        if (cookie := self.browsers.get(browser or who)) is not None:
            headers["Cookie"] = cookie
        wire = self.wires[who] = Wire(self.sockets, path, **headers)
        self._read[who] = 0
        if not isinstance(self.relays, KeptRelays):
            await asyncio.sleep(0)
        wire.read()
        if wire.cookie is not None:
            self.browsers[browser or who] = wire.cookie
            self._names[self._ids.read(wire.cookie.partition("=")[2])] = browser or who
        elif browser is not None and (given := [found for got in wire.got for found in OURS.findall(got)]):
            self._names[given[-1]] = who
        await self.quiet()
        return wire

    async def send(self, who: str, message: str | bytes, *, text: bool | None = None) -> None:
        self.wires[who].send(message, text=text)
        await self.quiet()

    async def drop(self, who: str) -> None:
        self.wires.pop(who).lose()
        await self.quiet()

    async def close(self, who: str) -> None:
        self.wires[who].close()
        await self.quiet()

    async def wait(self, seconds: float) -> None:
        until = self.clock.now() + seconds
        while self.clock.turn_to_next(until):
            await self.quiet()
        await self.quiet()

    async def quiet(self) -> None:
        """Wait until everything that was written is read."""
        for _ in range(3):
            await asyncio.sleep(0)
            for relay in tuple(self.relays._in_memory.values()):
                if isinstance(relay, KeptRelay):
                    await relay.mailbox.drained()
            await asyncio.sleep(0)
            for who, wire in self.wires.items():
                wire.read()
                new, self._read[who] = wire.got[self._read[who] :], len(wire.got)
                self.log += [(who, self._named(message)) for message in new]

    def _named(self, message: str) -> str:
        """A message with people's names for the ids of their cookies."""
        for id, name in self._names.items():
            message = message.replace(id, name)
        return message

    def took(self) -> list[tuple[str, str]]:
        """What was got since the last time."""
        log, self.log = self.log, []
        return log


def shortened(message: str) -> str:
    """A message that can be read at a glance."""
    return re.sub(r'"Body":"([^"]{300,})"', lambda found: f'"Body":"({len(found[1])} characters)"', message)

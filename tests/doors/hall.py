"""The GammonX door as it is served, without a network: real server and sockets; tests turn its clock."""

import asyncio
import itertools
from typing import Any

import httpx
import msgspec
from starlette.applications import Starlette

from parlour.server.gateway.doors.gammonx import HUB_PATH, GammonxDoor
from parlour.server.gateway.native import native_doors
from parlour.server.gateway.sockets import Sockets
from parlour.server.limits import Limits
from parlour.server.tokens import Tokens
from tests.server.wires import Wire
from tests.server.world import World

END = "\x1e"
UNLIMITED = {
    "rate": 0,
    "player_rate": 0,
    "address_rate": 0,
    "address_connections": 0,
    "player_rooms": 0,
    "address_rooms": 0,
    "address_guesses": 0,
}


def guid(name: str) -> str:
    """The id of somebody: the letters of the name in a GUID.

    >>> guid("ann")
    '616e6e00-0000-4000-8000-000000000000'
    """
    digits = name.encode().hex().ljust(32, "0")
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:]}"


class Hall:
    """A server with this door, and the people who come to it."""

    def __init__(self, **settings: Any) -> None:
        self.people: list[Visitor] = []
        self.open_at(World(**{**UNLIMITED, **settings}))

    def open_at(self, world: World) -> None:
        """The door of this server."""
        self.world = world
        self.clock = self.world.clock
        limits = Limits(self.world.settings, self.clock)
        self.tokens = Tokens(b"k" * 32)
        self.door = GammonxDoor(self.world.server, self.tokens, limits, self.world.settings)
        doors = [*native_doors(self.world.server, self.tokens, self.world.settings), self.door]
        self.sockets = Sockets(doors, self.clock, limits, self.world.settings)
        app = httpx.ASGITransport(Starlette(routes=self.door.routes))
        self.http = httpx.AsyncClient(transport=app, base_url="http://parlour.test")

    async def __aenter__(self) -> "Hall":
        await self.world.__aenter__()
        self.door.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.door.stop()
        await self.world.__aexit__()

    async def restart(self) -> None:
        """The server dies without a word, and another one takes over; nobody is connected."""
        await self.door.stop()
        self.people.clear()
        self.open_at(await self.world.restart())
        self.door.start()

    async def alive(self, seconds: float, *people: "Visitor") -> None:
        """Let time pass, in which these clients ping as real ones do."""
        for _ in range(int(seconds // 10)):
            await self.wait(10)
            for visitor in people:
                await visitor.send({"type": 6})
        await self.wait(seconds % 10)
        for visitor in people:
            visitor.records = [one for one in visitor.records if one != {"type": 6}]

    async def call(self, path: str, body: Any = None, **more: Any) -> httpx.Response:
        answer = await self.http.post(path, json=body, **more)
        await self.quiet()
        return answer

    async def want(self, who: str, variant: int = 0, modus: int = 0, type: int = 2, **more: Any) -> str:
        """Ask for a match; its id."""
        wish = {
            "PlayerId": guid(who),
            "MatchVariant": variant,
            "MatchModus": modus,
            "MatchType": type,
            **more,
        }
        answer = await self.call("/api/matches/join", wish)
        assert answer.status_code == 200, answer.text
        id: str = answer.json()["payload"]["matchId"]
        return id

    async def come(self, who: str, match: str | None = None, *, shake: bool = True, **more: Any) -> "Visitor":
        """Somebody opens a connection to the hub."""
        visitor = Visitor(self, who, match, **more)
        self.people.append(visitor)
        await self.quiet()
        if shake:
            await visitor.send({"protocol": "json", "version": 1})
            assert visitor.records.pop(0) == {}
        return visitor

    async def two(self, variant: int = 0, type: int = 2) -> "tuple[Visitor, Visitor]":
        """Ann and Bob in a match, about to start its first game."""
        match = await self.want("ann", variant, 0, type)
        assert await self.want("bob", variant, 0, type) == match
        ann, bob = await self.come("ann", match), await self.come("bob", match)
        for who in (ann, bob):
            await who.do("JoinMatch", who.id)
        return ann, bob

    async def playing(self, variant: int = 0, type: int = 2) -> "tuple[Visitor, Visitor]":
        """The same in their first game: first the one whose turn it is."""
        ann, bob = await self.two(variant, type)
        for who in (ann, bob):
            await who.do("StartGame")
        both = (ann, bob) if ann.last("game-started")["activeTurn"] == ann.id else (bob, ann)
        for who in both:
            who.records.clear()
        return both

    def player(self, who: str) -> str:
        """What somebody who comes by this door is called everywhere else."""
        return self.world.server.pseudonyms.player(guid(who))

    def seen(self, who: str, match: str | None, player: str | None = None) -> str:
        """The id by which others in a match know somebody: a client of this door, or another *player*."""
        return self.world.server.pseudonyms.in_match(match or "", player or self.player(who))

    async def quiet(self) -> None:
        """Wait until everything that was written is read."""
        for _ in range(3):
            await asyncio.sleep(0)
            await self.world.quiet()
            await asyncio.sleep(0)
            for visitor in self.people:
                visitor.read()

    async def wait(self, seconds: float) -> None:
        until = self.clock.now() + seconds
        while self.clock.turn_to_next(until):
            await self.quiet()
        await self.quiet()


class Visitor:
    """A client of the hub."""

    def __init__(self, hall: Hall, who: str, match: str | None, query: str = "", **headers: str) -> None:
        self.hall = hall
        self.who = who
        self.id = guid(who)
        self.match = match
        self.records: list[Any] = []
        self.raw: list[str] = []
        self._numbers = itertools.count()
        asked = f"matchId={match}&playerId={self.id}" if match else ""
        self.seen = hall.seen(who, match)
        """The id by which others know them."""
        self.wire = Wire(hall.sockets, f"{HUB_PATH}?{asked}{query}", **headers)

    def read(self) -> None:
        self.wire.read()
        got, self.wire.got = self.wire.got, []
        for message in got:
            self.raw += [one for one in message.split(END) if one]
            self.records += [
                msgspec.json.decode(one) if one.startswith("{") else one for one in message.split(END) if one
            ]

    async def send(self, *records: Any) -> None:
        """Send records in one message."""
        texts = [one if isinstance(one, str) else msgspec.json.encode(one).decode() for one in records]
        self.wire.send("".join(text + END for text in texts))
        await self.hall.quiet()

    def call(self, target: str, *arguments: Any) -> dict[str, Any]:
        return {"type": 1, "target": target, "arguments": arguments, "invocationId": str(next(self._numbers))}

    async def do(self, target: str, *arguments: Any) -> Any:
        """Call a method for this match; the completion."""
        call = self.call(target, self.match, *arguments)
        await self.send(call)
        return next(one for one in self.records if one.get("invocationId") == call["invocationId"])

    async def drop(self) -> None:
        self.wire.lose()
        await self.hall.quiet()

    def events(self) -> list[str]:
        """The names of the events since the last time, in order."""
        names = [one["target"] for one in self.records if isinstance(one, dict) and one.get("type") == 1]
        self.records.clear()
        return names

    def last(self, name: str) -> Any:
        """The payload of the last event of this name."""
        for one in reversed(self.records):
            if isinstance(one, dict) and one.get("target") == name:
                (argument,) = one["arguments"]
                assert argument["type"] == name
                return argument["payload"]
        raise AssertionError(f"{self.who} has not heard {name}, but {self.records}")

    async def refused(self, target: str, *arguments: Any) -> Any:
        """Call a method in vain: (code, message) of the error."""
        self.records.clear()
        completion = await self.do(target, *arguments)
        assert "error" not in completion
        told = self.last("error")
        return told["code"], told["message"]

"""Clients of relays, of the lobby and of GammonX around many workers, and what they complain of."""

import asyncio
import base64
import json
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from random import Random
from typing import Any, NamedTuple

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.cluster.real import until
from tests.e2e.gammonx import HubPlayer, by_seat
from tests.e2e.servers import Guest, Server
from tests.torture.visitors import GONE, World

OPTIONS: dict[str, Any] = {
    "compression": None, "ping_interval": None, "proxy": None, "max_queue": None, "open_timeout": 20
}  # fmt: skip
LOOK_EVERY = 0.3
"""Seconds between two looks at something that takes a while."""
COME_AGAIN = ("not_saved", "outcome_unknown")


class Doors(World):
    """Everybody enters by any worker that is open."""

    def __init__(self, chance: Random) -> None:
        super().__init__()
        self.open: list[Server] = []
        self.pause = 0.05
        self._chance = chance

    def note_open(self, workers: Sequence[Server]) -> None:
        """These can be entered."""
        self.open = list(workers)
        self.up.set() if self.open else self.up.clear()

    @property
    def port(self) -> int:
        return self._chance.choice(self.open).port if self.open else 0

    @port.setter
    def port(self, _: int) -> None:
        """It is drawn each time."""


# Relays.


class Envelope(NamedTuple):
    """What a relay has sent."""

    num: int
    time: int
    body: str | None
    is_receipt: bool


class RelayMember:
    """Somebody at a relay who says something now and then, and comes back when the line is lost."""

    def __init__(self, world: World, room: str, name: str, chance: Random) -> None:
        self.room, self.name = room, name
        self.visits: list[list[Envelope]] = []
        """What was heard over each connection."""
        self.closes: Counter[int] = Counter()
        self.said = 0
        self._world, self._chance = world, chance

    async def live(self) -> None:
        while True:
            await self._world.up.wait()
            try:
                await self._visit()
            except GONE:
                await asyncio.sleep(self._world.pause)

    async def _visit(self) -> None:
        url = f"ws://127.0.0.1:{self._world.port}{self.room}?id={self.name}"
        async with connect(url, **OPTIONS) as line:
            heard: list[Envelope] = []
            self.visits.append(heard)
            talking = asyncio.create_task(self._talk(line))
            try:
                while True:
                    heard.append(read_envelope(await line.recv()))
            except ConnectionClosed as closed:
                self.closes[1006 if closed.rcvd is None else closed.rcvd.code] += 1
            finally:
                talking.cancel()
                await asyncio.wait([talking])

    async def _talk(self, line: ClientConnection) -> None:
        with suppress(ConnectionClosed):
            while True:
                await asyncio.sleep(self._chance.uniform(0, 0.3))
                self.said += 1
                await line.send(f"{self.name} {self.said}")


def read_envelope(message: str | bytes) -> Envelope:
    told = json.loads(message)
    body = told["Body"]
    text = None if body is None else base64.b64decode(body).decode()
    return Envelope(told["Num"], told["Time"], text, told["Receipt"])


def judge_relay(members: Sequence[RelayMember]) -> Iterator[str]:
    """Nobody hears a hole or anything twice, all hear the same, and who speaks is heard in order.

    Who is closed with 1012 because the owner has died may meet the others at a new relay.
    """
    told: dict[tuple[int, int], str | None] = {}
    for member in members:
        times = Counter(envelope.body for visit in member.visits for envelope in visit if envelope.body)
        yield from (
            f"{member.name} heard {body!r} {count} times" for body, count in times.items() if count > 1
        )
        for visit in member.visits:
            numbers = [envelope.num for envelope in visit]
            if numbers and numbers != list(range(numbers[0], numbers[0] + len(numbers))):
                yield f"{member.name} heard {numbers}"
            mine = [
                int(envelope.body.split()[1]) for envelope in visit if envelope.is_receipt and envelope.body
            ]
            if mine and mine != list(range(mine[0], mine[0] + len(mine))):
                yield f"{member.name} was given receipts for {mine}"
            for num, time, body, _ in visit:
                if told.setdefault((num, time), body) != body:
                    yield f"{member.name} heard {body!r} as {num}, and others {told[num, time]!r}"
    if not is_one_relay(members):
        yield f"the members of {members[0].room} do not hear each other in the end"


def is_one_relay(members: Sequence[RelayMember]) -> bool:
    """True if all have heard something in common since they last came."""
    last = [{envelope[:3] for envelope in (member.visits or [[]])[-1]} for member in members]
    return bool(set.intersection(*last))


# The lobby.


class Seeker:
    """Somebody who looks for somebody to play with, goes to the room, and looks again."""

    def __init__(self, world: World, guest: Guest, chance: Random) -> None:
        self.guest = guest
        self.tickets: defaultdict[str, set[str]] = defaultdict(set)
        """Tickets that were acknowledged, and the rooms to which each has led."""
        self.broken: list[str] = []
        self.seated = 0
        self._world, self._chance = world, chance
        headers = {"Authorization": f"Bearer {guest.token}"}
        self._http = httpx.AsyncClient(headers=headers, trust_env=False, timeout=10)

    async def live(self) -> None:
        while True:
            ticket = await self._queue()
            room = await self._wait_for_room(ticket)
            if room is not None:
                await self._sit_down(room)
            await asyncio.sleep(self._chance.uniform(0, 0.5))

    async def go(self) -> None:
        """Look no more."""
        await self._http.aclose()

    async def _ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Ask any worker; 0 if nobody knows what came of it."""
        await self._world.up.wait()
        try:
            url = f"http://127.0.0.1:{self._world.port}{path}"
            answer = await self._http.request(method, url, json=body)
            return answer.status_code, answer.json()
        except (httpx.HTTPError, ValueError):
            await asyncio.sleep(self._world.pause)
            return 0, None

    async def _queue(self) -> str:
        while True:
            status, ticket = await self._ask("POST", "/api/tickets", {"game": "tictactoe"})
            if status == 201:
                return self._note(ticket)
            status, tickets = await self._ask("GET", "/api/tickets")
            known = tickets if status == 200 else []
            waiting = [one for one in known if one["room"] is None or one["id"] not in self.tickets]
            if waiting:
                return self._note(waiting[0])
            await asyncio.sleep(LOOK_EVERY)

    def _note(self, ticket: Any) -> str:
        id: str = ticket["id"]
        self.tickets[id] |= {ticket["room"]} - {None}
        return id

    async def _wait_for_room(self, id: str) -> str | None:
        while not self.tickets[id]:
            status, ticket = await self._ask("GET", f"/api/tickets/{id}")
            if status == 404:
                self.broken.append(f"{self.guest.name} lost ticket {id}: {ticket}")
                return None
            if status == 200:
                self._note(ticket)
            await asyncio.sleep(LOOK_EVERY)
        return next(iter(self.tickets[id]))

    async def _sit_down(self, room: str) -> None:
        while True:
            with suppress(*GONE):
                answer = await self._join(room)
                if answer["status"] == "ok":
                    self._check_seat(room, answer["response"])
                    return
                if answer["response"]["code"] not in COME_AGAIN:
                    self.broken.append(f"{self.guest.name} may not sit in {room}: {answer['response']}")
                    return
            await asyncio.sleep(self._world.pause)

    async def _join(self, room: str) -> Any:
        await self._world.up.wait()
        url = f"ws://127.0.0.1:{self._world.port}/socket/websocket?vsn=2.0.0&token={self.guest.token}"
        async with connect(url, **OPTIONS) as line:
            await line.send(json.dumps(["1", "1", f"game:{room}", "phx_join", {}]))
            async with asyncio.timeout(20):
                while True:
                    _, ref, _, name, payload = json.loads(await line.recv())
                    if name == "phx_reply" and ref == "1":
                        return payload

    def _check_seat(self, room: str, response: Any) -> None:
        self.seated += 1
        if response["seat"] is None:
            self.broken.append(f"{self.guest.name} has no seat in {room}")


def judge_lobby(seekers: Sequence[Seeker]) -> Iterator[str]:
    """A ticket leads to one room, and a room has as many tickets as seats."""
    rooms: Counter[str] = Counter()
    for seeker in seekers:
        yield from seeker.broken
        for ticket, led in seeker.tickets.items():
            rooms.update(led)
            if len(led) > 1:
                yield f"ticket {ticket} of {seeker.guest.name} leads to {led}"
    yield from (f"{count} tickets lead to {room}" for room, count in rooms.items() if count > 2)


# GammonX.


class HubMatches:
    """Two players at real SignalR clients who play one match after the other, whatever happens to lines."""

    def __init__(self, doors: Doors, variant: int, chance: Random) -> None:
        self.broken: list[str] = []
        self.played = self.returns = self.unheard = 0
        self._doors, self._chance = doors, chance
        self._variant = variant
        """Nobody else plays it, so that these two are paired with each other."""

    async def live(self) -> None:
        while True:
            players: list[HubPlayer] = []
            try:
                while len(players) < 2:  # one that is there is closed although the next one fails
                    players.append(HubPlayer(self._doors.open[0]))
                await self._play(players)
            finally:
                for player in players:
                    await asyncio.shield(asyncio.to_thread(player.close))

    async def _play(self, players: list[HubPlayer]) -> None:
        for player in players:
            await self._persist(player, player.want, self._variant, 0, CASH)
        if players[0].match != players[1].match:
            self.broken.append("a GammonX player waits, and the next one was not sent there")
            return
        for player in players:
            await self._come(player)
        await self._until_ended(players)
        ends = [player.heard("match-ended") for player in players]
        self.played += 1
        if not all(ends):
            self.unheard += 1
        elif by_seat(ends[0][-1]) != by_seat(ends[1][-1]):
            self.broken.append(f"a GammonX match ended in two ways: {ends}")
        for player in players:
            self.broken += [f"{name}: {player.heard(name)[0]}" for name in WRONG if player.heard(name)]

    async def _until_ended(self, players: list[HubPlayer]) -> None:
        """Until both have heard the end; who was away in that moment may not."""
        left = LAST_WORD
        closes = dict.fromkeys(players, 0)
        while left > 0 and not all(player.heard("match-ended") for player in players):
            await asyncio.sleep(LOOK_EVERY)
            if any(player.heard("match-ended") for player in players):
                left -= LOOK_EVERY
            for player in players:
                closed = len(player.heard("closed"))
                if closed > closes[player] and not player.heard("match-ended"):
                    closes[player] = closed
                    self.returns += 1
                    await self._come(player)

    async def _come(self, player: HubPlayer) -> None:
        await self._persist(player, player.connect)
        player.play(seed=self._chance.randrange(1, 1000))

    async def _persist(self, player: HubPlayer, do: Callable[..., object], *arguments: object) -> None:
        """Do something at any worker, again until it is done."""
        while True:
            if self._doors.open:
                player.server = self._chance.choice(self._doors.open)
                with suppress(AssertionError, OSError, httpx.HTTPError):
                    await asyncio.to_thread(do, *arguments)
                    return
            await asyncio.sleep(LOOK_EVERY)


CASH = 2
WRONG = ("wrong-board", "wrong-type")
LAST_WORD = 15.0
"""Seconds after the end of a match in which the other one hears of it, too."""


# All of them.


class Strangers:
    """Everybody who does not play in rooms as our own clients do."""

    def __init__(
        self, doors: Doors, guests: Sequence[Guest], relays: int, matches: int, chance: Random
    ) -> None:
        def draw() -> Random:
            return Random(chance.random())

        self._relays = [
            [RelayMember(doors, f"/g/relay-{number}", f"{name}-{number}", draw()) for name in NAMES]
            for number in range(relays)
        ]
        self._seekers = [Seeker(doors, guest, draw()) for guest in guests]
        self._matches = [HubMatches(doors, variant, draw()) for variant in range(matches)]

    @asynccontextmanager
    async def living(self) -> AsyncIterator[None]:
        """While this lasts they do what they do."""
        members = [member for relay in self._relays for member in relay]
        people: list[Any] = [*members, *self._seekers, *self._matches]
        tasks = [asyncio.create_task(one.live()) for one in people]
        try:
            yield
            for task in tasks:
                if task.done():
                    task.result()
            with suppress(AssertionError):  # else they complain
                await until(lambda: all(map(is_one_relay, self._relays)), "that all hear each other")
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for seeker in self._seekers:
                await seeker.go()

    def complaints(self) -> list[str]:
        return [
            *(wrong for relay in self._relays for wrong in judge_relay(relay)),
            *judge_lobby(self._seekers),
            *(wrong for match in self._matches for wrong in match.broken),
        ]

    def counts(self) -> Counter[str]:
        members = [member for relay in self._relays for member in relay]
        counts = Counter(
            relay_messages=sum(member.said for member in members),
            relay_visits=sum(len(member.visits) for member in members),
            tickets=sum(len(seeker.tickets) for seeker in self._seekers),
            seated=sum(seeker.seated for seeker in self._seekers),
            gammonx_matches=sum(match.played for match in self._matches),
            gammonx_returns=sum(match.returns for match in self._matches),
            gammonx_ends_unheard=sum(match.unheard for match in self._matches),
        )
        for member in members:
            counts.update({f"relay_closed_{code}": count for code, count in member.closes.items()})
        return counts


NAMES = ("ann", "bob", "cid")

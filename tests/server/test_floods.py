"""Every frame is paid for, at every door, and nobody who sends many keeps the others waiting."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from parlour.doors.relay import RELAY_PATH
from parlour.server import metrics
from parlour.server.gateway.doors.gammonx import HUB_PATH
from parlour.server.gateway.doors.registry import DoorNeeds, open_doors
from parlour.server.gateway.doors.relay import MESSAGE_COST
from parlour.server.gateway.doors.xsos import XSOS_PATH
from parlour.server.gateway.sockets import Sockets
from parlour.server.gateway.websocket import FRAMES_A_TURN, MAX_UNHEARD
from parlour.server.limits import FRAME_COST, STRIKES, Limits
from parlour.server.tokens import Tokens
from tests.server.test_sockets import HEAD, frame
from tests.server.wires import Pipe
from tests.server.world import World

CONT, TEXT, BINARY, PING, PONG = 0, 1, 2, 9, 10
LEAVE = b'[null,"1","game:ABCD","phx_leave",{}]'
HEARTBEAT = b'[null,"1","phoenix","heartbeat",{}]'
HAND = frame(TEXT, b'{"protocol":"json","version":1}\x1e')
PINGED = frame(TEXT, b'{"type":6}\x1e')

DOORS = {
    "native": (b"/socket/websocket?vsn=2.0.0", b""),
    "relay": (RELAY_PATH.encode() + b"room?id=ann", b""),
    "gammonx": (HUB_PATH.encode(), HAND),
    "xsos": (XSOS_PATH.encode() + b"?EIO=4&transport=websocket", b""),
}
"""How to come in, and what a client has to say first."""

FLOODS = {
    "empty pings": (b"", frame(PING, b"")),
    "pings": (b"", frame(PING, b"x" * 125)),
    "pongs": (b"", frame(PONG, b"")),
    "empty continuations": (frame(TEXT, b"[", fin=False), frame(CONT, b"", fin=False)),
    "continuations": (frame(BINARY, b"", fin=False), frame(CONT, b"x", fin=False)),
}
"""What begins a flood, and what it consists of: frames that are the same to every door."""

MESSAGES = {
    ("native", "heartbeats"): frame(TEXT, HEARTBEAT),
    ("native", "goodbyes"): frame(TEXT, LEAVE),
    ("relay", "empty texts"): frame(TEXT, b""),
    ("relay", "texts"): frame(TEXT, b"1"),
    ("relay", "binary messages"): frame(BINARY, b"1"),
    ("gammonx", "empty texts"): frame(TEXT, b""),
    ("gammonx", "empty binary messages"): frame(BINARY, b""),
    ("gammonx", "pieces of records"): frame(TEXT, b"1"),
    ("gammonx", "pings"): PINGED,
    ("xsos", "pongs of its own"): frame(TEXT, b"3"),
    ("xsos", "events"): frame(TEXT, b'42["client_msg",{}]'),
}
"""What one door understands, or takes for noise."""

CASES = [(door, name, *flood) for door in DOORS for name, flood in FLOODS.items()]
CASES += [(door, name, b"", message) for (door, name), message in MESSAGES.items()]
IDS = [f"{door}: {name}" for door, name, *_ in CASES]


class House:
    """A server with every door, without a network."""

    def __init__(self, **settings: Any) -> None:
        self.world = World(**settings)
        tokens, settled = Tokens(b"k" * 32), self.world.settings
        limits = Limits(settled, self.world.clock)
        self.doors = open_doors(DoorNeeds(self.world.server, tokens, limits, settled))
        self.sockets = Sockets(self.doors, self.world.clock, limits, settled)

    async def __aenter__(self) -> "House":
        await self.world.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        for door in self.doors:
            await door.stop()
        await self.world.__aexit__()

    def come(self, door: str) -> "Sender":
        return Sender(self.sockets, *DOORS[door])


class Sender:
    """One line: what is sent into it, and what comes back."""

    def __init__(self, sockets: Sockets, path: bytes, first: bytes) -> None:
        self.pipe = Pipe()
        self.socket = sockets(server_state=SimpleNamespace(connections=set()))  # type: ignore[arg-type]
        self.socket.connection_made(self.pipe)
        self.socket.data_received(HEAD.replace(b"/ear", path))
        if first:
            self.socket.data_received(first)

    @property
    def is_closed(self) -> bool:
        """It was told to go, for haste."""
        return b"\x88\x0a\x03\xf0too fast" in self.pipe.written

    async def flood(self, data: bytes) -> list[int]:
        """Send all of it at once; how many frames were taken in each turn of the loop."""
        turns, before = [], metrics.frames.taken
        self.socket.data_received(data)
        while True:
            turns.append(metrics.frames.taken - before)
            before = metrics.frames.taken
            if self.pipe.reading:
                return turns
            await asyncio.sleep(0)


UNLIMITED = {"rate": 0, "player_rate": 0, "address_rate": 0, "max_outbox": 10**9}


@pytest.mark.parametrize(("door", "name", "first", "one"), CASES, ids=IDS)
async def test_a_turn_of_the_loop_takes_a_few_frames_of_a_line_and_the_next_goes_on(door, name, first, one):
    async with House(**UNLIMITED) as house:
        sender = house.come(door)
        turns = await sender.flood(first + one * 1000)
        assert sum(turns) == 1000 + bool(first)
        assert max(turns) <= FRAMES_A_TURN
        assert sender.socket.is_open


@pytest.mark.parametrize(("door", "name", "first", "one"), CASES, ids=IDS)
async def test_whoever_sends_more_frames_than_anybody_may_is_cut_and_not_read_any_more(
    door, name, first, one
):
    async with House() as house:
        sender = house.come(door)
        cut = metrics.lines_cut.labels("too_fast")._value.get()
        turns = await sender.flood(first + one * 20_000)
        assert sender.is_closed
        assert metrics.lines_cut.labels("too_fast")._value.get() == cut + 1
        allowed = 4 * house.world.settings.rate / min(FRAME_COST, MESSAGE_COST) + STRIKES
        assert sum(turns) <= allowed + FRAMES_A_TURN
        assert await sender.flood(one) == [0]
        while not sender.pipe.aborted:
            assert await sender.flood(one * (MAX_UNHEARD // 6)) == [0]


@pytest.mark.parametrize(("door", "name", "first", "one"), CASES, ids=IDS)
async def test_a_bystander_is_answered_before_a_flood_is_over(door, name, first, one):
    async with House(**UNLIMITED) as house:
        sender, bystander = house.come(door), house.come("native")
        flood = asyncio.create_task(sender.flood(first + one * 1000))
        await asyncio.sleep(0)  # it has begun
        bystander.pipe.written.clear()
        bystander.socket.data_received(frame(TEXT, HEARTBEAT))
        for _ in range(3):
            await asyncio.sleep(0)
        assert b'"status":"ok"' in bystander.pipe.written
        assert not flood.done()
        await flood


@pytest.mark.parametrize("door", DOORS)
async def test_a_handshake_is_paid_for_and_refused_to_whoever_makes_too_many(door):
    async with House(address_rate=25) as house:
        answers = [bytes(house.come(door).pipe.written[:12]) for _ in range(110)]
        assert answers[0] == b"HTTP/1.1 101"
        assert answers[-1] == b"HTTP/1.1 429"
        house.world.clock.time += 10
        assert house.come(door).pipe.written.startswith(b"HTTP/1.1 101")


async def test_nothing_is_read_after_a_goodbye_of_ours():
    async with House() as house:
        sender = house.come("native")
        sender.socket.close(1000, "bye")
        assert await sender.flood(frame(TEXT, HEARTBEAT) * 100) == [0]


async def test_a_client_of_gammonx_pays_for_every_record_of_a_message():
    async with House() as house:
        sender = house.come("gammonx")
        faulty = b'{"type":1,"target":"Nothing","arguments":[]}\x1e'
        await sender.flood(frame(TEXT, faulty * 1400))
        assert sender.is_closed
        await asyncio.sleep(0)
        allowed = 4 * house.world.settings.rate / FRAME_COST + STRIKES
        assert bytes(sender.pipe.written).count(b"UNKNOWN_METHOD") <= allowed + 1


async def test_a_client_of_gammonx_pays_for_calls_while_it_waits_for_a_place():
    async with House() as house:
        first, second = house.come("gammonx"), house.come("gammonx")
        match, player = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
        join = b'{"type":1,"target":"JoinMatch","arguments":["%s","%s"]}\x1e' % (
            match.encode(), player.encode()
        )  # fmt: skip
        roll = b'{"type":1,"target":"Roll","arguments":["%s"]}\x1e' % match.encode()
        await first.flood(frame(TEXT, join))
        await second.flood(frame(TEXT, join) + frame(TEXT, roll * 500) * 10)
        assert second.is_closed
        assert not first.is_closed

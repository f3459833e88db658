"""After a pause of the whole process, what came in meanwhile is read before anybody is taken for dead."""

import asyncio

import pytest

from tests.doors.hall import Hall
from tests.server.wires import Wire

NATIVE = "/socket/websocket?vsn=2.0.0"
HEARTBEAT = '[null,"1","phoenix","heartbeat",{}]'
PAUSE = 45.0


@pytest.fixture
async def hall():
    async with Hall() as hall:
        yield hall


async def awake(hall: Hall, wires: list[Wire], seconds: float) -> None:
    """Let time pass; the clients read, and answer pings."""
    until = hall.clock.now() + seconds
    while hall.clock.turn_to_next(until):
        await asyncio.sleep(0)
        for wire in wires:
            wire.read()


async def pause(hall: Hall) -> None:
    """Nothing runs for a while; then everything that was planned is due at once, before anything is read."""
    hall.clock.time += PAUSE
    while hall.clock.turn_to_next(hall.clock.now()):  # noqa: ASYNC110 - turns of the loop are what is meant
        await asyncio.sleep(0)


async def test_clients_that_kept_their_heartbeats_going_through_our_pause_are_kept(hall):
    wires = [Wire(hall.sockets, NATIVE) for _ in range(20)]
    await awake(hall, wires, 30)
    await pause(hall)
    for wire in wires:
        wire.send(HEARTBEAT)
    await awake(hall, wires, 60)
    assert not any("cut" in wire.got for wire in wires)
    assert len(hall.sockets.open) == 20


async def test_clients_that_only_answer_pings_are_asked_after_our_pause(hall):
    wires = [Wire(hall.sockets, NATIVE) for _ in range(20)]
    await awake(hall, wires, 3)
    await pause(hall)
    await awake(hall, wires, 60)
    assert not any("cut" in wire.got for wire in wires)


async def test_a_pong_that_came_during_our_pause_counts(hall):
    wire = Wire(hall.sockets, NATIVE)
    await awake(hall, [], 24)
    assert bytes(wire.pipe.written).endswith(b"\x89\x00")  # it was asked
    await pause(hall)
    wire.read()  # and has answered long ago
    await awake(hall, [wire], 60)
    assert "cut" not in wire.got


async def test_whoever_is_silent_is_cut_soon_after_our_pause_all_the_same(hall):
    wire = Wire(hall.sockets, NATIVE)
    await pause(hall)
    await awake(hall, [], 2 * hall.world.settings.ping_every + 10)
    wire.read()
    assert "cut" in wire.got


async def test_gammonx_clients_that_kept_pinging_through_our_pause_are_kept(hall):
    people = [await hall.come(f"p{n}") for n in range(20)]
    await pause(hall)
    for visitor in people:
        await visitor.send({"type": 6})
    await awake(hall, [], 20)
    await hall.quiet()
    assert not any("closed" in str(one) or "cut" in str(one) for who in people for one in who.records)


async def test_gammonx_clients_that_are_silent_are_sent_away_after_our_pause_all_the_same(hall):
    visitor = await hall.come("ann")
    await pause(hall)
    await awake(hall, [], 20)
    await hall.quiet()
    assert visitor.records[-1] == "closed 1000"

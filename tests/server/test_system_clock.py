"""The server's own clock: calls are made in time and in order, and all share one timer of the event loop."""

import asyncio
from functools import partial

from parlour.clocks import ClockSettings
from parlour.games import GAMES
from parlour.journal.memory import MemoryJournal
from parlour.server.clock import Handle, SystemClock
from parlour.server.components import Components, Replaceable
from parlour.server.rooms.calls import Perform
from parlour.server.settings import Settings
from parlour.wire import Connect, Join


def timers() -> int:
    """How many timers the event loop has that were not cancelled."""
    return sum(not timer.cancelled() for timer in asyncio.get_running_loop()._scheduled)  # type: ignore[attr-defined]


async def test_calls_are_made_in_the_order_of_their_times():
    clock, done = SystemClock(), asyncio.Event()
    made: list[float] = []
    now = clock.now()
    for delay in (0.03, 0.01, 0.0, 0.02, -1.0):
        clock.call_at(now + delay, partial(made.append, delay))
    clock.call_at(now + 0.04, done.set)
    await asyncio.wait_for(done.wait(), 30)
    assert made == [-1.0, 0.0, 0.01, 0.02, 0.03]


async def test_a_cancelled_call_is_not_made_though_it_is_due_in_the_same_moment():
    clock, done = SystemClock(), asyncio.Event()
    made: list[str] = []
    now = clock.now()
    calls: list[Handle] = []
    clock.call_at(now, lambda: calls[0].cancel())  # noqa: PLW0108 - it is there only later
    calls.append(clock.call_at(now, lambda: made.append("second")))
    clock.call_at(now, done.set)
    await asyncio.wait_for(done.wait(), 30)
    assert made == []


async def test_a_call_that_fails_keeps_no_other_from_being_made():
    def fail() -> None:
        raise ZeroDivisionError

    clock, done = SystemClock(), asyncio.Event()
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    clock.call_at(clock.now(), fail)
    clock.call_at(clock.now(), done.set)
    await asyncio.wait_for(done.wait(), 30)


async def test_ten_thousand_planned_calls_are_one_timer():
    clock, before = SystemClock(), timers()
    calls = [clock.call_at(clock.now() + 3600 + number, lambda: None) for number in range(10_000)]
    assert timers() == before + 1
    for call in calls[1:]:
        call.cancel()
    assert len(clock._planned) < 300, "those that were cancelled do not stay"


async def test_rooms_with_running_clocks_add_no_timer_each(tmp_path):
    journal = MemoryJournal(tmp_path, "process")
    server = Components(GAMES, journal, SystemClock(), Settings(), Replaceable())
    await server.start()
    before = timers()
    for number in range(50):
        room = f"ROOM{number}"
        await server.rooms.creation.create("tictactoe", {}, room, clock=ClockSettings("increment", 300.0))
        for player in ("ann", "bob"):
            await server.rooms.call(room, Perform(Join(player, player.capitalize())))
            await server.rooms.call(room, Perform(Connect(player)))
        assert server.rooms.get(room).here.next_due is not None
    assert timers() <= before + 1
    await server.stop()

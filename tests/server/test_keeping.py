"""What the server keeps its word about beside moves: held and old rooms, failing disks, greedy games."""

import signal
import threading

import pytest

from parlour.games import GAMES
from parlour.journal.base import DiskFailed, NotKept
from parlour.journal.memory import MemoryJournal
from parlour.server.watchdog import SIGNAL
from tests.probe import Probe
from tests.server.world import PLAYABLE, World

# A game that is not there.


async def test_a_room_whose_game_is_missing_sleeps_with_its_timers_held():
    async with World(PLAYABLE) as world:
        await world.open("probe")
        (ann,) = await world.seated("ABCD", "ann")
        await ann.play("ABCD", {"type": "plan", "key": "bell", "seconds": 50})
        await world.wait(20)
        async with await world.restart(GAMES) as without:
            assert (await without.host.look("ABCD")).status == "game_missing"
            ann = await without.person("ann")
            assert (await ann.join("ABCD"))[1]["code"] == "unknown_game"
            await without.wait(10_000)
            async with await without.restart(PLAYABLE) as back:
                assert (await back.host.look("ABCD")).status == "waiting"
                await back.wait(29)
                assert "rang bell" not in back.room().state.calls
                await back.wait(1)
                assert "rang bell" in back.room().state.calls


async def test_rooms_of_other_games_do_not_notice_a_missing_one():
    async with World(PLAYABLE) as world:
        await world.open("probe")
        await world.open("tictactoe", "FINE")
        async with await world.restart(GAMES) as without:
            await without.seated("FINE", "ann", "bob")


async def test_a_room_that_was_held_twice_loses_no_time():
    async with World(PLAYABLE) as world:
        await world.open("probe")
        await world.wait(100)
        async with await world.restart(GAMES) as without:
            await without.wait(5_000)
            async with await without.restart(GAMES) as still:
                await still.wait(5_000)
                async with await still.restart(PLAYABLE) as back:
                    await back.wait(199)
                    assert (await back.host.look("ABCD")).ended is None
                    await back.wait(1)
                    assert (await back.host.look("ABCD")).ended == "game_timeout"


# Rooms that ended long ago.


async def test_an_ended_room_can_be_looked_at_for_its_time_and_is_then_forgotten():
    async with World(PLAYABLE, keep_ended=1.0) as world:
        await world.open("probe")
        await world.wait(300)
        assert (await world.host.look("ABCD")).status == "ended"
        await world.wait(86_400 - 1)
        assert await world.journal.find("ABCD") is not None
        await world.wait(2)
        assert await world.journal.find("ABCD") is None


# Disks.


class Failing(MemoryJournal):
    """A journal whose disk fails when told to."""

    error: Exception | None = None

    async def append(self, room, step, aside):
        if self.error is not None:
            raise self.error
        await super().append(room, step, aside)

    async def beat(self, now):
        if self.error is not None:
            raise self.error
        await super().beat(now)


async def test_the_servers_health_is_degraded_while_nothing_can_be_kept(tmp_path):
    journal = Failing(tmp_path, "process")
    async with World(PLAYABLE, journal) as world:
        await world.open("probe")
        (ann,) = await world.seated("ABCD", "ann")
        journal.error = NotKept("database or disk is full")
        assert (await ann.play("ABCD", {"type": "tell"}))[1]["code"] == "not_saved"
        assert world.host.keeper.trouble == "database or disk is full"
        journal.error = None
        await world.wait(1)
        assert world.host.keeper.trouble is None


async def test_after_a_failed_disk_the_server_gives_up(tmp_path):
    journal = Failing(tmp_path, "process")
    async with World(PLAYABLE, journal) as world:
        gave_up: list[Exception] = []
        world.host.give_up = gave_up.append
        await world.open("probe")
        (ann,) = await world.seated("ABCD", "ann")
        journal.error = DiskFailed("disk I/O error")
        assert (await ann.play("ABCD", {"type": "tell"}))[1]["code"] == "not_saved"
        assert gave_up
        journal.error = None


# Games that take too long.


class Greedy(Probe):
    """Thinks for ever about a crash, and for ever about a view after that."""

    name = "greedy"

    def handle_event(self, state, sender, event, moment):
        if type(event).__name__ == "Crash":
            try:
                while True:
                    pass
            except Exception:  # noqa: BLE001 - a game that catches everything is cut off all the same
                return super().handle_event(state, sender, event, moment)
        return super().handle_event(state, sender, event, moment)


@pytest.fixture
async def greedy():
    assert threading.current_thread() is threading.main_thread()
    before = signal.getsignal(SIGNAL)
    async with World({**PLAYABLE, "greedy": Greedy()}, callback_timeout=0.1) as world:
        world.host.watchdog.start()
        yield world
        world.host.watchdog.stop()
    signal.signal(SIGNAL, before)


async def test_a_callback_that_takes_too_long_is_cut_off_and_its_room_closed(greedy):
    await greedy.open("greedy")
    await greedy.open("probe", "FINE")
    ann, bob = await greedy.seated("ABCD", "ann", "bob")
    status, why = await ann.play("ABCD", {"type": "crash"})
    assert (status, why["code"]) == ("error", "game_overran")
    assert "more than 0.1 s of CPU time" in why["message"]
    assert ("shutdown", {"reason": "game_overran"}) in bob.heard("shutdown")
    assert (await bob.join("ABCD"))[1]["code"] == "room_ended"
    found = await greedy.journal.find("ABCD")
    assert (found.card.ended, found.seq) == ("game_overran", 4)
    assert len([step async for step in greedy.journal.replay(found.number)]) == 4
    await greedy.seated("FINE", "zoe")


async def test_a_game_that_is_quick_enough_is_left_alone(greedy):
    await greedy.open("greedy")
    (ann,) = await greedy.seated("ABCD", "ann")
    for _ in range(200):
        assert (await ann.play("ABCD", {"type": "tell"}))[0] == "ok"

"""Callbacks that do not come to an end, or that try to end the server: each costs its own room at most."""

import asyncio
import re
import signal
import threading
import time
from contextlib import suppress

import pytest
from structlog.testing import capture_logs

from parlour.server.watchdog import SIGNAL
from tests.probe import Probe
from tests.server.world import PLAYABLE, World


def loop():
    """Plain Python, for ever, in a game that catches every exception."""
    try:
        while True:
            pass
    except Exception:  # noqa: BLE001
        return


def backtrack():
    """A regular expression that looks at a few billion ways."""
    re.match(r"(a+)+$", "a" * 40 + "b")


def multiply():
    """Numbers without end."""
    number = 3
    while True:
        number **= 3


def catch_everything():
    """Catches also what is to stop it, and goes on."""
    while True:
        with suppress(BaseException):
            loop()


def catch_everything_here():
    """The same in one function."""
    while True:
        try:
            while True:
                pass
        except BaseException:  # noqa: BLE001
            pass


def return_at_last():
    """Ends as if nothing had been."""
    try:
        loop()
    finally:
        return  # noqa: B012


def sleep():
    """Waits for something that never comes, without any CPU time."""
    time.sleep(3600)


class Greedy(Probe):
    """Does what it is told instead of anything sensible."""

    name = "greedy"
    instead = staticmethod(loop)

    def handle_event(self, state, sender, event, moment):
        if type(event).__name__ == "Crash":
            self.instead()
        return super().handle_event(state, sender, event, moment)


@pytest.fixture(autouse=True)
def logs():
    with capture_logs() as logs:
        yield logs


@pytest.fixture
def game():
    return Greedy()


@pytest.fixture
def patience():
    """Seconds of CPU time that a callback may take."""
    return 0.1


@pytest.fixture
async def greedy(game, patience):
    assert threading.current_thread() is threading.main_thread()
    before = signal.getsignal(SIGNAL)
    async with World({**PLAYABLE, "greedy": game}, callback_timeout=patience) as world:
        world.server.environment.watchdog.start()
        yield world
        world.server.environment.watchdog.stop()
    signal.signal(SIGNAL, before)


@pytest.mark.parametrize(
    "instead", [loop, backtrack, multiply, catch_everything, catch_everything_here, return_at_last]
)
async def test_a_callback_that_takes_too_long_is_cut_off_and_its_room_closed(greedy, game, instead):
    game.instead = instead
    await greedy.open("greedy")
    await greedy.open("probe", "FINE")
    ann, bob = await greedy.seated("ABCD", "ann", "bob")
    status, why = await ann.play("ABCD", {"type": "crash"})
    assert (status, why["code"]) == ("error", "game_overran")
    assert "more than 0.1 s of CPU time" in why["message"]
    assert ("shutdown", {"reason": "game_overran"}) in bob.heard("shutdown")
    assert (await bob.join("ABCD"))[1]["code"] == "room_ended"
    found = await greedy.journal.find("ABCD")
    assert (found.summary.ended, found.seq) == ("game_overran", 4)
    assert len([step async for step in greedy.journal.replay(found.number)]) == 4
    await greedy.seated("FINE", "zoe")


async def test_a_callback_that_only_waits_is_cut_off_after_ten_times_as_long(greedy, game):
    game.instead = sleep
    await greedy.open("greedy")
    (ann,) = await greedy.seated("ABCD", "ann")
    _, why = await ann.play("ABCD", {"type": "crash"})
    assert (why["code"], why["message"]) == (
        "game_overran",
        "Probe took more than 1.0 s of waiting; the room is closed",
    )


def half_a_second_in_c():
    """How far a single call must count for that here."""
    began, many = time.thread_time(), 1_000_000
    sum(range(many))
    return int(many * 0.5 / (time.thread_time() - began))


async def test_a_callback_that_cannot_be_interrupted_is_named_in_the_log_when_it_comes_back(
    greedy, game, logs
):
    many = half_a_second_in_c()
    game.instead = lambda: sum(range(many))
    await greedy.open("greedy")
    (ann,) = await greedy.seated("ABCD", "ann")
    _, why = await ann.play("ABCD", {"type": "crash"})
    assert why["code"] == "game_overran"
    (line,) = [line for line in logs if line["event"] == "game_overran"]
    assert (line["room"], line["game"], line["could_not_be_interrupted"]) == ("ABCD", "greedy", True)


async def test_a_game_that_is_quick_enough_is_left_alone(greedy):
    await greedy.open("greedy")
    (ann,) = await greedy.seated("ABCD", "ann")
    for _ in range(200):
        assert (await ann.play("ABCD", {"type": "tell"}))[0] == "ok"


@pytest.mark.parametrize("patience", [0.5])  # no test's garbage takes so long to collect
async def test_many_callbacks_may_take_more_time_together_than_each_alone(greedy, game, patience):
    taken = []

    def tell(*_):
        began = time.thread_time()
        while time.thread_time() < began + patience / 10:
            pass
        taken.append(time.thread_time() - began)
        return {}

    game.view = tell
    await greedy.open("greedy")
    (ann,) = await greedy.seated("ABCD", "ann")
    while sum(taken) < 2 * patience:
        assert (await ann.play("ABCD", {"type": "tell"}))[0] == "ok"


def test_where_the_loop_is_not_in_the_main_thread_callbacks_run_unwatched():
    told: list[str] = []

    async def play():
        async with World(PLAYABLE, callback_timeout=0.01) as world:
            world.server.environment.watchdog.start()
            await world.open("probe")
            (ann,) = await world.seated("ABCD", "ann")
            told.append((await ann.play("ABCD", {"type": "tell"}))[0])
            world.server.environment.watchdog.stop()

    thread = threading.Thread(target=lambda: asyncio.run(play()))
    thread.start()
    thread.join()
    assert told == ["ok"]


# Exceptions that are meant to end a program.

ENDS = [SystemExit(1), KeyboardInterrupt(), GeneratorExit(), asyncio.CancelledError(), BaseException("no")]


@pytest.mark.parametrize("end", ENDS, ids=lambda end: type(end).__name__)
@pytest.mark.parametrize("callback", ["handle_event", "view", "join_game", "player_connected", "outcome"])
async def test_no_exception_of_a_game_costs_more_than_one_command(callback, end):
    def fail(*_, **__):
        raise end

    game = Probe()
    async with World({"probe": game}) as world:
        await world.open("probe")
        (ann,) = await world.seated("ABCD", "ann")
        setattr(game, callback, fail)
        if callback in ("handle_event", "view", "outcome"):
            assert (await ann.play("ABCD", {"type": "tell"}))[1]["code"] == "game_error"
        else:
            bob = await world.person("bob")
            assert (await bob.join("ABCD"))[1]["code"] == "game_error"
        delattr(game, callback)
        assert (await ann.play("ABCD", {"type": "tell"}))[0] == "ok"
        zoe = await world.person("zoe")
        assert (await zoe.join("ABCD"))[0] == "ok"

"""Games that were played with timers of their own are played again as they were, and go on with clocks.

`tests/data/timers` was made when backgammon and Stratego, both in version 3 of their rules, had such timers:
the lines of a `.jsonl` are a room as it was opened and its steps; `parlour.db` is the journal of a server
that was killed then.
"""

from pathlib import Path

import msgspec
import pytest

from parlour.clocks import MAX_LAG, Absence, ClockSettings, SetClock
from parlour.games import GAMES
from parlour.room import Room, read_terms, replay
from parlour.testing import Table, check_replay, told
from parlour.wire import Connect, Queue, Ring, read_step
from tests.test_yesterdays_data import Folder, differences, without

KEPT = Path(__file__).parent / "data" / "timers"
PLAYED = sorted(KEPT.glob("*.jsonl"))


def played(path):
    opened, *bodies = path.read_bytes().splitlines()
    game = GAMES[msgspec.json.decode(opened)["game"]]
    kind = Room
    return game, msgspec.json.decode(opened, type=kind[game.State]), bodies


@pytest.mark.parametrize("path", PLAYED, ids=lambda path: path.stem)
def test_every_step_comes_out_byte_for_byte_as_it_was(path):
    game, room, bodies = played(path)
    for number, body in enumerate(bodies, 1):
        kept = read_step(body)
        assert kept.rules < game.version
        room = replay(game, room, kept)
        assert room.seq == number


def continued(path):
    """The room after its last step, at a table of today."""
    game, room, bodies = played(path)
    steps = [read_step(body) for body in bodies]
    for step in steps:
        room = replay(game, room, step)
    table = Table(game)
    table.opening = table.room = room
    table.now = steps[-1].now
    for seat in room.seats:
        if not seat.connected:
            table.do(Connect(seat.player))
    return table


@pytest.mark.parametrize("path", PLAYED, ids=lambda path: path.stem)
def test_a_game_goes_on_with_clocks_and_its_old_timers_mean_nothing_any_more(path):
    table = continued(path)
    old = {alarm.command.key for alarm in table.room.alarms.values() if isinstance(alarm.command, Ring)}
    _, clock = read_terms(table.game, table.room.config, None)
    assert clock is not None
    table.do(SetClock(clock))
    assert table.room.clocks is not None
    assert table.room.clocks.started
    late = [seat for seat, one in enumerate(table.room.clocks.seats) if one.since is not None]
    assert bool(late) == (clock.kind == "turn"), "whoever is to move has a whole turn"
    if clock.kind == "turn":
        table.wait(clock.seconds)
        assert table.outcome is None, "although the old timer has rung"
        assert not [news for step in table.steps for news in told(step)]
        rung = {step.command.key for step in table.steps if isinstance(step.command, Ring)}
        assert rung == old
        assert "flag" in [step.command.__struct_config__.tag for step in table.wait(MAX_LAG)]
    check_replay(table)


# A whole data folder.


@pytest.fixture
def folder(tmp_path):
    return Folder(KEPT, tmp_path / "data")


async def test_the_journal_of_a_server_with_old_timers_is_opened_and_its_histories_read_as_they_were(folder):
    async with folder.opened() as (_, calls):
        for id, then in folder.seen["rooms"].items():
            now = await calls.get(f"/api/rooms/{id}")
            assert not differences(without(then, "seq", "spectators", "clock"), now), id
        for then in folder.seen["histories"]:
            now = await calls.get(f"/api/rooms/{then['id']}/history?room={then['room']}")
            changed = differences(without(then, "viewer", "seq"), now)
            assert not [line for line in changed if not is_clock(line)], then["id"]


def is_clock(difference):
    """What a view said of the timer; today the room says it of its clock."""
    return any(f".view.{name}: was" in difference for name in ("clock", "absence", "until"))


HOUR = ClockSettings("turn", 3600)


@pytest.mark.parametrize(
    ("id", "clock"),
    [
        ("TURN", HOUR),
        ("AWAY", ClockSettings("turn", 60, away=Absence(3600))),
        ("MOVES", ClockSettings("turn", 86400)),
        ("OVER", ClockSettings("turn", 86400)),
    ],
)
async def test_a_room_of_that_server_has_a_clock_in_place_of_its_timer(folder, id, clock):
    async with folder.opened() as (world, calls):
        names = ("Eve", "Fay") if id == "OVER" else ("Ann", "Bob")
        people = [await world.person(folder.seen["players"][name]["id"]) for name in names]
        for person in people:
            assert (await person.join(id))[0] == "ok"
        assert people[0].heard("sync")[0][1]["clocks"]["settings"] == msgspec.to_builtins(clock)
        assert (await calls.get(f"/api/rooms/{id}"))["clock"] == msgspec.to_builtins(clock)
        if id == "OVER":
            for person in people:
                assert (await person.push(id, "rematch", {}))[0] == "ok"
        await world.wait(clock.seconds + 1)
        assert world.room(id).outcome is not None or world.room(id).state.games


async def test_who_is_away_from_a_room_of_that_server_has_as_long_as_the_timer_allowed(folder):
    async with folder.opened() as (world, _):
        ann = await world.person(folder.seen["players"]["Ann"]["id"])
        assert (await ann.join("AWAY"))[0] == "ok"
        await world.wait(3599)
        assert world.room("AWAY").outcome is None
        await world.wait(2)
        assert world.room("AWAY").outcome.why == "away too long"


async def test_a_ticket_of_that_server_leads_to_a_room_with_a_clock(folder):
    async with folder.opened() as (world, _):
        old = folder.seen["tickets"]["Dan"][0]["config"]
        ticket = await world.server.pairing.queue("zoe", Queue("stratego", {**old, "turn_seconds": 60}))
        assert ticket.clock == ClockSettings("turn", 60)

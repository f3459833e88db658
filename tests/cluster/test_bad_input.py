"""Workers that do not fit together, and owners that are not there: a sentence or a code, and soon."""

import json
from typing import Any

import pytest
from structlog.testing import capture_logs

from parlour.games import GAMES
from parlour.games.tictactoe import TicTacToe
from parlour.journal.shards import room_key, shard_of
from parlour.server.tokens import Tokens
from tests.cluster.workers import Workers, moves, play, table_of
from tests.server.world import HandClock

HOUR = 3600.0


# A worker with other games, or other rules.


class NewerTicTacToe(TicTacToe):
    """Tomorrow's rules."""

    version = TicTacToe.version + 1


WITHOUT = {name: game for name, game in GAMES.items() if name != "tictactoe"}
NEWER = {**GAMES, "tictactoe": NewerTicTacToe()}


@pytest.fixture
async def two():
    async with Workers(2) as workers:
        yield workers


async def differences(two, games):
    """What the workers say when one with other games joins them."""
    two.settings["games"] = games
    with capture_logs() as logged:
        await two.start(3)
    told = [one for one in logged if one["event"] == "games_differ"]
    return sorted((one["worker"], one["only_here"], one["only_there"], one["other_versions"]) for one in told)


async def test_workers_with_other_games_say_so_when_they_meet(two):
    name = ["tictactoe"]
    assert await differences(two, WITHOUT) == [
        (1, [], name, []), (2, [], name, []), (3, name, [], []), (3, name, [], []),
    ]  # fmt: skip


async def test_workers_with_other_versions_of_a_game_say_so_when_they_meet(two):
    name = ["tictactoe"]
    assert await differences(two, NEWER) == [(at, [], [], name) for at in (1, 2, 3, 3)]


async def test_workers_with_the_same_games_say_nothing(two):
    assert await differences(two, GAMES) == []


@pytest.mark.parametrize("other", [WITHOUT, NEWER], ids=["without it", "newer rules"])
async def test_a_room_that_came_to_a_worker_without_its_rules_waits_and_goes_on_elsewhere(two, other):
    """Here worker 3 is the one that lacks the game, or the one whose rules the others lack."""
    two.settings["games"] = other
    await two.start(3)
    lacking, owner = (3, 1) if other is WITHOUT else (1, 3)
    ann, bob = await table_of(two, owner, 2, 2)
    await play(ann, 0)
    await two.hand_over("ABCD", lacking)
    status, why = await (await two.person("bob", 2)).join("ABCD")
    assert (status, why["code"]) == ("error", "unknown_game")
    assert ann.closed is not None
    assert ann.closed[0] == 1012
    await two.wait(60)
    await two.hand_over("ABCD", owner)
    bob = await two.person("bob", 2)
    assert (await bob.join("ABCD"))[0] == "ok"
    assert (await play(bob, 3))[0] == "ok"
    room = two.worlds[owner].room()
    assert room.ended is None
    assert room.behind >= 60


# Clocks that differ.


class OtherDate(HandClock):
    """The same clock of the rooms as another, and another date."""

    def __init__(self, clock: HandClock, ahead: float) -> None:
        self._clock, self._ahead = clock, ahead

    def start(self, at: float) -> None:
        self._clock.start(at)

    def now(self) -> float:
        return self._clock.now()

    def date(self) -> float:
        return self._clock.date() + self._ahead

    def call_at(self, when: float, callback: Any) -> Any:
        return self._clock.call_at(when, callback)


async def evening(ahead: float) -> list[Any]:
    """A story over three workers, of which one has another date: all that Ann hears."""
    async with Workers(2) as workers:
        workers.clocks[3] = OtherDate(workers.clock, ahead)
        await workers.start(3)
        waiting = [await workers.person("zoe", 1), await workers.person("yan", 3)]
        for person in waiting:
            await person.send(["0", "0", "lobby", "phx_join", {}])
            await person.send(["0", "7", "lobby", "queue", {"game": "tictactoe"}])
        ann, bob = await table_of(workers, 3, 1, 2)
        assert (await play(ann, 0))[0] == "ok"
        for owner in (1, 3):
            await workers.hand_over("ABCD", owner)
            await workers.wait(30)
        assert all(person.heard("matched") for person in waiting)
        assert (await play(bob, 4))[0] == "ok"
        workers.kill(3)
        await workers.wait(5)
        assert (await play(ann, 1))[0] == "ok"
        assert workers.worlds[workers.owner("ABCD")].room().behind == pytest.approx(1.5)
        return list(ann.frames)


def without_dates(heard: Any) -> Any:
    """What was heard, without what only shows a date."""
    if isinstance(heard, dict):
        return {key: without_dates(one) for key, one in heard.items() if key not in DATES}
    return [without_dates(one) for one in heard] if isinstance(heard, list) else heard


DATES = {"created", "date"}


@pytest.mark.parametrize("ahead", [HOUR, -HOUR, 400 * 24 * HOUR])
async def test_a_machine_whose_date_is_wrong_changes_nothing_that_happens(ahead):
    assert without_dates(await evening(ahead)) == without_dates(await evening(0.0))


@pytest.mark.parametrize("ahead", [HOUR, -HOUR])
def test_a_token_of_a_machine_whose_date_is_wrong_is_good_at_the_others(ahead):
    now = 400_000_000.0
    here, there = Tokens(b"k" * 32, date=lambda: now), Tokens(b"k" * 32, date=lambda: now + ahead)
    assert here.read(there.issue("ann")) == "ann"
    assert there.read(here.issue("ann")) == "ann"


# A room whose owner has just died.


async def test_whoever_asks_for_a_room_whose_owner_has_just_died_is_answered_within_three_seconds(workers):
    """It is known after the lease that it is dead, and until then nobody knows."""
    await table_of(workers, 3, 1, 1)
    workers.die(3)
    zoe = await workers.person("zoe", 2)
    zoe.send_soon('["1","9","game:ABCD","phx_join",{"spectate":true}]')
    await workers.wait(1.75)
    assert not zoe.frames
    workers.table.bury(3, 1.75)
    await workers.wait(0.2)
    assert zoe.frames[0][4]["status"] == "ok"


@pytest.mark.parametrize("asked", ["phx_join", "game_event"])
async def test_if_nobody_takes_its_place_it_is_refused_within_three_seconds(workers, asked):
    ann, _ = await table_of(workers, 3, 1, 2)
    payload = {"event": {"type": "mark", "cell": 0}, "id": "c1"} if asked == "game_event" else {}
    asker = ann if asked == "game_event" else await workers.person("zoe", 2)
    workers.die(3)
    asker.forget()
    asker.send_soon(json.dumps(["1", "9", "game:ABCD", asked, payload]))
    await workers.let_pass(1.75)
    shard = shard_of(room_key("ABCD"))
    del workers.table.members[3]
    workers.table.owners[shard] = 0
    workers.table.change()
    await workers.let_pass(1.25)
    (answer,) = [frame[4] for frame in asker.frames if frame[1] == "9"] or [asker.closed]
    assert answer == (1012, "come again") or answer["response"]["code"] in ("not_saved", "outcome_unknown")
    assert moves(ann) == []

"""The seats of ranked games: nobody escapes a result by the door."""

import pytest

from parlour.clocks import ClockSettings
from parlour.game import Timeouts
from parlour.games.tictactoe import TicTacToe
from parlour.server.result_records import results_of
from parlour.server.rooms.stepping import CUT_OFF_TOGETHER
from parlour.server.standings import leaders
from parlour.wire import Queue
from tests.server.world import PLAYABLE, World

GAMES = ("hex", "tictactoe", "goofspiel")


class Impatient(TicTacToe):
    """Who is away for a while has left."""

    timeouts = Timeouts(game="server", away=30, nobody=None)


async def paired(world, game="tictactoe", clock=None, mode="ranked"):
    """Two whom the lobby has paired are in their room, whoever has the first seat first."""
    await world.server.pairing.queue("ann", Queue(game, mode=mode, clock=clock))
    ticket = await world.server.pairing.queue("bob", Queue(game, mode=mode, clock=clock))
    people = {name: await world.person(name) for name in ("ann", "bob")}
    for person in people.values():
        assert (await person.join(ticket.room))[0] == "ok"
    return ticket.room, *[people[player] for player in world.room(ticket.room).players]


async def play_once(world, room, person):
    event = next(iter(world.games[world.room(room).game].legal_events(world.room(room).state, person.player)))
    assert (await person.play(room, event))[0] == "ok"


@pytest.mark.parametrize("game", GAMES)
async def test_whoever_leaves_a_ranked_game_in_which_somebody_has_played_has_lost_it(world, game):
    room, first, second = await paired(world, game)
    await play_once(world, room, first)
    assert (await second.push(room, "leave", {}))[0] == "ok"
    await world.quiet()
    assert (world.room(room).verdict.how, world.room(room).outcome.lost) == ("resigned", (second.player,))
    (won,), (lost,) = [await results_of(world.journal, one.player, 10) for one in (first, second)]
    assert (won.how, lost.how, lost.ranked) == ("won", "lost", True)
    ladder = await leaders(world.journal, game, 10)
    assert [(one.player, one.won, one.lost) for one in ladder] == [
        (first.player, 1, 0),
        (second.player, 0, 1),
    ]


async def test_whoever_has_left_a_ranked_game_finds_it_lost_after_a_restart(world):
    room, first, second = await paired(world)
    await play_once(world, room, first)
    await first.push(room, "leave", {})
    async with await world.restart() as again:
        assert (await again.server.rooms.look(room)).outcome.lost == (first.player,)
        assert again.room(room).players == (first.player, second.player)


async def test_before_anybody_has_played_a_ranked_game_it_is_left_without_a_result(world):
    room, first, second = await paired(world)
    await first.push(room, "leave", {})
    assert (world.room(room).outcome, world.room(room).status) == (None, "waiting")
    assert (await first.join(room))[0] == "ok"
    await play_once(world, room, second if world.room(room).players[0] == second.player else first)


async def test_a_game_to_which_the_other_never_came_is_left_without_a_result(world):
    await world.server.pairing.queue("ann", Queue("tictactoe", mode="ranked"))
    ticket = await world.server.pairing.queue("bob", Queue("tictactoe", mode="ranked"))
    room, player = ticket.room, (await world.server.rooms.look(ticket.room)).seats[0].id
    person = await world.person(player)
    await person.join(room)
    await play_once(world, room, person)
    await person.push(room, "leave", {})
    assert world.room(room).outcome is None


async def test_whoever_is_away_from_a_ranked_game_for_too_long_has_lost_it():
    async with World({**PLAYABLE, "tictactoe": Impatient()}) as world:
        room, first, second = await paired(world)
        await play_once(world, room, first)
        await second.drop()
        await world.wait(31)
        assert world.room(room).outcome.why == "away too long"
        assert world.room(room).outcome.lost == (second.player,)


@pytest.mark.parametrize("gap", [0, CUT_OFF_TOGETHER])
async def test_of_two_who_are_cut_off_together_from_a_ranked_game_nobody_has_lost_it(gap):
    async with World({**PLAYABLE, "tictactoe": Impatient()}) as world:
        room, first, second = await paired(world)
        await play_once(world, room, first)
        await second.drop()
        await world.wait(gap)
        await first.drop()
        await world.wait(31 + gap)
        assert (world.room(room).outcome, world.room(room).players) == (None, (None, None))
        assert [await results_of(world.journal, one.player, 10) for one in (first, second)] == [[], []]


@pytest.mark.parametrize("gap", [0, CUT_OFF_TOGETHER + 1])
async def test_who_does_not_come_back_has_lost_to_who_does_or_who_went_later(gap):
    async with World({**PLAYABLE, "tictactoe": Impatient()}) as world:
        room, first, second = await paired(world)
        await play_once(world, room, first)
        await second.drop()
        await world.wait(gap)
        await first.drop()
        if not gap:
            await (await world.person(first.player)).join(room)
        await world.wait(31)
        assert world.room(room).outcome.lost == (second.player,)


async def test_leaving_a_ranked_game_may_be_asked_twice(world):
    room, first, _ = await paired(world)
    await play_once(world, room, first)
    answer = await first.push(room, "leave", {"id": "once"})
    assert answer == await first.push(room, "leave", {"id": "once"})


async def test_whoever_leaves_a_game_that_is_not_ranked_gives_up_the_seat_alone(world):
    room, first, second = await paired(world, mode="normal")
    await play_once(world, room, first)
    await second.push(room, "leave", {})
    assert (world.room(room).outcome, world.room(room).players) == (None, (first.player, None))


@pytest.mark.parametrize("game", GAMES)
async def test_leaving_and_sitting_down_again_keeps_nobody_from_being_flagged(world, game):
    room, first, _ = await paired(world, game, ClockSettings("turn", 60.0))
    for _ in range(4):
        await world.wait(25)
        if world.room(room).outcome is None:
            await first.push(room, "leave", {})
            await first.join(room)
    assert world.room(room).verdict.how == "flagged"

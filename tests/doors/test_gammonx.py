"""The GammonX door: the seed's commands and events over SignalR, on an ordinary room of backgammon."""

import pytest

from tests.doors.hall import Hall


@pytest.fixture
async def hall():
    async with Hall() as hall:
        yield hall


async def test_the_first_opens_a_match_and_the_second_of_the_same_kind_gets_the_same(hall):
    first = await hall.want("ann", 2, 0, 2)
    assert await hall.want("bob", 0, 0, 2) != first
    assert await hall.want("cid", 2, 0, 1) != first
    assert await hall.want("dan", 2, 0, 2) == first
    assert await hall.want("eve", 2, 0, 2) != first


async def test_both_join_and_start_and_the_starter_may_roll(hall):
    match = await hall.want("ann")
    await hall.want("bob")
    ann, bob = await hall.come("ann", match), await hall.come("bob", match)
    await ann.do("JoinMatch", ann.id)
    lobby = ann.last("match-lobby-waiting")
    assert (lobby["player1"], lobby["player2"], lobby["matchFound"]) == (ann.id, None, False)
    ann.records.clear()
    await bob.do("JoinMatch", bob.id)
    for who in (ann, bob):
        assert who.last("match-started")["allowedCommands"] == ["StartGame", "ResignMatch"]
        assert who.events() == ["match-lobby-found", "match-started"]
    await ann.do("StartGame")
    assert (ann.events(), bob.events()) == (["game-waiting"], [])
    await bob.do("StartGame")
    states = [who.last("game-started") for who in (ann, bob)]
    active = [state["activeTurn"] == who.id for state, who in zip(states, (ann, bob), strict=True)]
    assert sorted(active) == [False, True]
    for mine, state in zip(active, states, strict=True):
        assert ("Roll" in state["allowedCommands"]) == mine
        assert state["phase"] == (0 if mine else 3)
        assert state["boardState"]["fields"][:6] == [-2, 0, 0, 0, 0, 5], "everybody plays white"


async def test_whoever_is_on_turn_rolls_moves_and_ends_the_turn(hall):
    one, other = await hall.playing()
    await one.do("Roll")
    state = one.last("game-state")
    assert [len(state["diceRolls"]), state["phase"], state["turnNumber"]] == [2, 1, 1]
    while state["moveSequences"]:
        move = state["moveSequences"][0]["moves"][0]
        await one.do("Move", move["from"], move["to"])
        state = one.last("game-state")
    assert (state["phase"], state["allowedCommands"]) == (
        5,
        ["EndTurn", "UndoMove", "ResignGame", "ResignMatch"],
    )
    await one.do("EndTurn")
    assert other.last("game-state")["allowedCommands"] == ["Roll", "ResignGame", "ResignMatch", "OfferDouble"]
    assert set(other.events()) == {"game-state"}


async def test_a_lone_player_gets_a_bot_as_player_2(hall):
    match = await hall.want("ann", modus=2)
    assert await hall.want("bob", modus=2) != match, "everybody has a bot of their own"
    ann = await hall.come("ann", match)
    await ann.do("JoinMatch", ann.id)
    started = ann.last("match-started")
    assert (started["player1"]["id"], started["modus"]) == (ann.id, 2)
    assert ann.events() == ["match-lobby-waiting", "match-lobby-found", "match-started"]
    await ann.do("StartGame")
    await hall.quiet()
    assert "game-started" in ann.events()


@pytest.mark.parametrize(
    ("level", "bot"), [(0, "easy"), (1, "medium"), (2, "hard"), (None, "hard"), (99, "hard")]
)
async def test_a_lone_player_says_how_well_the_bot_shall_play_also_before_a_restart(hall, level, bot):
    match = await hall.want("ann", modus=2, botLevel=level)
    await hall.restart()
    assert [ticket.bot for ticket in hall.world.server.pairing.tickets(hall.player("ann"))] == [bot]
    ann = await hall.come("ann", match)
    await ann.do("JoinMatch", ann.id)
    assert hall.world.room(match).bots == [f"bot:{bot}"]
    assert ann.last("match-started")["modus"] == 2

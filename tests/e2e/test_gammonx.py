"""The GammonX door with the real npm `@microsoft/signalr`, which knows nothing of Parlour."""

from typing import Any

import pytest

from tests.e2e.gammonx import WHOLE_MATCH

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("type", [0, 1, 2], ids=["five points", "seven points", "cash"])
@pytest.mark.parametrize("variant", [0, 1, 2], ids=["backgammon", "tavla", "tavli"])
def test_two_real_clients_play_a_whole_match_with_a_reconnect_in_the_middle(come, variant, type):
    ann, bob = come(), come()
    for who in (ann, bob):
        who.want(variant, 0, type)
        who.connect("/game" if who is bob else "")
    assert ann.match == bob.match
    ann.play(seed=1 + variant, cuts=1, after=30)
    bob.play(seed=7 + type)
    ends = [who.hear("match-ended", patience=WHOLE_MATCH) for who in (ann, bob)]
    for who, end in zip((ann, bob), ends, strict=True):
        who.hear("force-disconnect")
        assert end["allowedCommands"] == []
        assert not who.heard("wrong-board")
        assert not who.heard("wrong-type")
        assert not who.heard("error")
    ann.hear("reconnected")
    assert bob.hear("player-disconnected")["playerId"] == ann.id
    assert bob.hear("player-connected")
    assert ends[0] == ends[1]
    check_match(ends[0], variant, type)


def check_match(end: Any, variant: int, type: int) -> None:
    """The score is that of the games, and enough to end the match."""
    assert (end["variant"], end["modus"], end["type"]) == (variant, 0, type)
    players = [end["player1"], end["player2"]]
    for player in players:
        won = [game["score"] for game in end["gameRounds"] if game["winner"] == player["id"]]
        assert player["score"] == sum(won)
    games = [game["modus"] for game in end["gameRounds"]]
    plan = {0: [0], 1: [1], 2: [2, 3, 4]}[variant]
    assert games == [plan[number % len(plan)] for number in range(len(games))]
    if type == 2:
        assert len(games) == len(plan)
    else:
        assert max(player["score"] for player in players) >= (5, 7)[type]
    assert [game["gameRoundIndex"] for game in end["gameRounds"]] == list(range(len(games)))
    assert end["gameRound"] == len(games)


def test_a_real_client_plays_a_whole_match_against_a_bot_with_a_reconnect_in_the_middle(come, serve):
    ann = come(serve("--bot-pace", 0))  # a bot that waits for nobody's eyes
    ann.want(0, 2, 2)
    ann.connect()
    ann.play(seed=3, cuts=1, after=12)
    end = ann.hear("match-ended", patience=WHOLE_MATCH)
    ann.hear("force-disconnect")
    ann.hear("reconnected")
    assert (end["modus"], end["player1"]["id"]) == (2, ann.id)
    assert not ann.heard("error")
    assert not ann.heard("wrong-board")

"""The GammonX door with the real npm `@microsoft/signalr`, which knows nothing of Parlour."""

import random
import re
from contextlib import closing
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.backgammon import Fast, choose
from tests.e2e.browser import Visitor
from tests.e2e.conftest import SEVERAL
from tests.e2e.gammonx import WHOLE_MATCH, by_seat
from tests.e2e.hands import SLOW, act

pytestmark = pytest.mark.e2e


VARIANTS = {0: "backgammon", 1: "tavla", 2: "tavli"}
TYPES = {0: "five points", 1: "seven points", 2: "cash"}
EVERY_KIND = [
    pytest.param(variant, type, id=f"{VARIANTS[variant]} {TYPES[type]}")
    for variant in VARIANTS
    for type in TYPES
]


def shortly(*kinds: tuple[int, int]) -> list[Any]:
    """Every kind of match; all but these are for `make gammonx`."""
    return [
        kind if kind.values in kinds else pytest.param(*kind.values, id=kind.id, marks=pytest.mark.long)
        for kind in EVERY_KIND
    ]


@pytest.mark.parametrize(("variant", "type"), shortly((0, 1), (1, 2), (2, 2)))
def test_two_real_clients_play_a_whole_match_with_a_reconnect_in_the_middle(come, variant, type):
    ann, bob = come(), come()
    for who in (ann, bob):
        who.want(variant, 0, type)
    ann.connect()
    bob.connect("/game", skipNegotiation=True)
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
    players = {ends[1][seat]["id"] for seat in ("player1", "player2")}
    if not SEVERAL or bob.heard("player-disconnected"):  # by another worker she may be back before that
        assert players - {bob.id} == {bob.hear("player-disconnected")["playerId"]} != {ann.id}
        assert bob.hear("player-connected")
    assert by_seat(ends[0]) == by_seat(ends[1])
    check_match(ends[0], variant, type)


def test_a_match_goes_on_when_the_server_comes_back(come, serve):
    server = serve()
    ann, bob = come(server), come(server)
    for who in (ann, bob):
        who.want()
        who.connect()
        who.play(seed=4)
    ann.hear("game-started")
    server.stop()
    server.start()
    for who in (ann, bob):
        who.hear("reconnected")
    ends = [who.hear("match-ended", patience=WHOLE_MATCH) for who in (ann, bob)]
    assert by_seat(ends[0]) == by_seat(ends[1])
    check_match(ends[0], 0, 2)


def check_match(end: Any, variant: int, type: int, modus: int = 0) -> None:
    """The score is that of the games, and enough to end the match."""
    assert (end["variant"], end["modus"], end["type"]) == (variant, modus, type)
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


@pytest.mark.parametrize(("variant", "type"), shortly((0, 2)))
def test_a_real_client_plays_a_whole_match_against_a_bot_with_a_reconnect_in_the_middle(
    come, serve, variant, type
):
    ann = come(serve("--bot-pace", 0))  # a bot that waits for nobody's eyes
    ann.want(variant, 2, type)
    ann.connect("/game")
    ann.play(seed=3, cuts=1, after=12)
    end = ann.hear("match-ended", patience=WHOLE_MATCH)
    ann.hear("force-disconnect")
    ann.hear("reconnected")
    check_match(end, variant, type, modus=2)
    assert end["player1"]["id"] == ann.id
    for name in ("error", "wrong-board", "wrong-type"):
        assert not ann.heard(name)


# Against somebody at a browser.


@pytest.mark.parametrize(("variant", "type"), shortly((0, 2), (1, 2), (2, 2)))
def test_a_real_client_plays_a_whole_match_against_a_browser_player_with_a_reconnect_in_the_middle(
    come, server, visit, variant, type
):
    ann = come()
    match = ann.want(variant, 0, type)
    ann.connect()
    ann.play(seed=5 + type, cuts=1, after=20)
    ann.hear("match-lobby-waiting")
    bob = visit(server, "Bob").come_in(match)
    token = bob.token
    with closing(Fast(server, token, match)) as hasty:
        clicks = play_to_the_end(bob, hasty)
    end = ann.hear("match-ended")
    ann.hear("force-disconnect")
    ann.hear("reconnected")
    check_match(end, variant, type)
    assert clicks >= 3 * len(end["gameRounds"]), "some of each game was clicked"
    bob.catch_up(hasty.seq)
    expect(bob.status).to_have_text(
        re.compile(r"^(You win|.+ wins|A draw): "), timeout=SLOW
    )  # it draws every step
    for name in ("error", "wrong-board", "wrong-type"):
        assert not ann.heard(name)


def play_to_the_end(bob: Visitor, hasty: Fast) -> int:
    """Bob clicks a turn in each game, and hastens on at a socket of his own; how often he clicked."""
    rng, clicks = random.Random(8), 0
    while (view := hasty.view)["phase"] != "over":
        if view["you"] not in view["awaited"]:
            hasty.catch_up(hasty.seq + 1)
        elif view["phase"] == "ready" or view["turn_number"] <= 2:
            bob.catch_up(hasty.seq)
            act(bob, view)
            clicks += 1
            while doing(hasty.view) == doing(view):  # the other one may come, go or get ready meanwhile
                hasty.catch_up(hasty.seq + 1)
        else:
            hasty.catch_up(hasty.do(choose(view, rng)))
    return clicks


def doing(view: Any) -> tuple[Any, ...]:
    """How far somebody is with what they do."""
    return view["phase"], view["you"] in view["awaited"], view["turn_number"], view["dice"], view["played"]

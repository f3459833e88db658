"""What real SignalR clients ask for in vain: they are told why, nothing changes, and the connection stays."""

import uuid
from typing import Any

import pytest

from tests.e2e.gammonx import HubPlayer

pytestmark = pytest.mark.e2e

OTHER = str(uuid.uuid4())


@pytest.fixture
def playing(come):
    """Two in a game of backgammon: first the one whose turn it is."""
    ann, bob = come(), come()
    for who in (ann, bob):
        who.want()
        who.connect()
        assert who.invoke("JoinMatch", who.id) is None
    for who in (ann, bob):
        assert who.invoke("StartGame") is None
    first = ann.hear("game-started")["activeTurn"]
    return (ann, bob) if first == ann.id else (bob, ann)


def state(who: HubPlayer, kind: str = "Game") -> Any:
    """How things are, asked anew."""
    event = f"{kind.lower()}-state"
    before = len(who.heard(event))
    assert who.invoke(f"{kind}State") is None
    return who.hear(event, before + 1)


def refused(who: HubPlayer, target: str, *arguments: Any) -> str:
    """Call in vain; the code of the error event."""
    before = len(who.heard("error"))
    assert who.ask("invoke", args=[target, *arguments]) is None
    error = who.hear("error", before + 1)
    assert error["message"]
    code: str = error["code"]
    return code


NOT_ALLOWED = {
    "Move": "MOVE_ERROR",
    "EndTurn": "END_TURN_ERROR",
    "StartGame": "START_GAME_ERROR",
    "UndoMove": "UNDO_MOVE_ERROR",
    "AcceptDouble": "ACCEPT_DOUBLE_ERROR",
    "DeclineDouble": "DECLINE_DOUBLE_ERROR",
}
"""What whoever may roll may not do."""


def test_commands_that_are_not_allowed_are_errors_and_nothing_changes(playing):
    one, other = playing
    before = state(one)
    assert not set(NOT_ALLOWED) & set(before["allowedCommands"])
    for target, code in NOT_ALLOWED.items():
        fields = (0, 1) if target == "Move" else ()
        assert refused(one, target, one.match, *fields) == code
        assert refused(other, target, one.match, *fields) == code
    assert refused(other, "Roll", one.match) == "ROLL_ERROR"
    assert refused(other, "OfferDouble", one.match) == "OFFER_DOUBLE_ERROR"
    assert refused(one, "JoinMatch", one.match, OTHER) == "LOBBY_ERROR"
    for match in (OTHER, "nonsense", ""):
        assert refused(one, "Roll", match) == "ROLL_ERROR"
        assert refused(one, "JoinMatch", match, one.id) == "LOBBY_ERROR"
    assert state(one) == before
    assert one.invoke("Roll") is None
    assert len(one.hear("game-state", 3)["diceRolls"]) == 2


UNFIT = [
    ("Dance", OTHER),
    ("Roll",),
    ("Roll", OTHER, 1),
    ("Roll", 7),
    ("Roll", None),
    ("Move", OTHER, 0),
    ("Move", OTHER, "0", "1"),
    ("Move", OTHER, 0.5, 1),
    ("Move", OTHER, 0, 10**20),
    ("JoinMatch", OTHER),
    ("JoinMatch", OTHER, OTHER, OTHER),
    ("GameState", [OTHER]),
]


def test_calls_that_do_not_fit_fail_and_the_connection_stays(playing):
    one, _ = playing
    before = state(one)
    for call in UNFIT:
        assert one.ask("invoke", args=call), f"expected {call} to fail"
        assert state(one) == before
    assert not one.heard("closed") + one.heard("error")


def test_after_the_end_the_connection_is_closed_and_the_client_does_not_come_back(playing):
    one, other = playing
    assert one.invoke("ResignMatch") is None
    for who in playing:
        assert (who.hear("match-ended")["winner"] == other.id) == (who is other)
        who.hear("force-disconnect")
        who.hear_line("closed")
        assert not who.heard_lines("reconnected")


def test_while_a_players_own_line_answers_nobody_else_gets_in_and_when_it_is_dead_somebody_does(
    come, playing
):
    one, other = playing
    thief = come(id=one.id)
    thief.match = one.match
    thief.connect()
    assert thief.hear("error")["message"] == "this player is connected already"
    assert refused(thief, "JoinMatch", one.match, one.id) == "LOBBY_ERROR"
    assert refused(thief, "Roll", one.match) == "ROLL_ERROR"
    one.freeze()
    again = come(id=one.id)
    again.match = one.match
    again.connect()
    assert again.hear("player-connected")["allowedCommands"] == again.hear("game-state")["allowedCommands"]
    assert again.invoke("Roll") is None
    assert other.hear("game-state")["activeTurn"] == other.hear("game-started")["activeTurn"] != one.id


def test_a_stranger_finds_no_seat_in_a_match_of_two_nor_in_one_that_there_is_not(come, playing):
    one, other = playing
    eve = come()
    eve.match = one.match
    eve.connect()
    assert refused(eve, "JoinMatch", one.match, eve.id) == "LOBBY_ERROR"
    assert refused(eve, "JoinMatch", OTHER, eve.id) == "LOBBY_ERROR"
    assert refused(eve, "GameState", one.match) == "GET_GAME_STATE_ERROR"
    assert not one.heard("error") + other.heard("error")


@pytest.mark.parametrize(
    "wrong",
    [
        {"PlayerId": "ann"},
        {"PlayerId": None},
        {"MatchVariant": 3},
        {"MatchVariant": 99},
        {"MatchModus": 3},
        {"MatchType": -1},
        {"MatchType": "cash"},
    ],
    ids=str,
)
@pytest.mark.parametrize("prefix", ["", "/game"])
def test_a_wish_that_makes_no_sense_is_refused_with_code_and_message(server, wrong, prefix):
    wish = {"PlayerId": OTHER, "MatchVariant": 0, "MatchModus": 0, "MatchType": 2, **wrong}
    answer = server.call("POST", f"{prefix}/api/matches/join", wish)
    assert (answer.status_code, answer.json()["type"]) == (400, "ERROR")
    assert answer.json()["payload"]["code"] == "JOIN_ERROR"
    assert answer.json()["payload"]["message"]


def test_who_asks_again_has_the_same_match(come):
    ann = come()
    match = ann.want(variant=1, type=1)
    assert ann.want(variant=1, type=1) == match
    bob = come()
    assert bob.want(variant=1, type=1) == match

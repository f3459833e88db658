"""What the room's clocks mean in a match: time for a turn, time for the match, time to be away."""

import pytest

from parlour.clocks import MAX_LAG, Absence, Claim, ClockSettings
from parlour.game import Outcome
from parlour.games.backgammon.match import LATE_DECLINES, WHOLE_WAYS, out_of_time
from parlour.games.backgammon.play import Accept, Double, EndTurn, Move, Ready, ResignGame, Roll
from parlour.testing import Table, check_replay, legal, told
from parlour.wire import Connect, Rematch
from tests.games.backgammon.tables import ANN, BOB, GAME, begun, both, table

DAY = 24 * 3600
MINUTE = ClockSettings("turn", 60)
AWAY = ClockSettings("none", away=Absence(30))
BOTH = ClockSettings("turn", 60, away=Absence(30))
"""As in a match of the GammonX door."""
LATE = ["time_up", "game_ended", "match_ended"]


def said(at: Table, seconds: float) -> list[str]:
    """What happens by itself in so many seconds."""
    return [news["type"] for step in at.wait(seconds) for news in told(step)]


def return_(at: Table, player: str) -> None:
    at.do(Connect(player))


def test_by_default_nobody_is_in_a_hurry():
    at = begun()
    at.disconnect(ANN)
    at.disconnect(BOB)
    assert said(at, 3 * DAY) == []
    assert at.room.players == (ANN, BOB)
    assert not at.why_ended()


# The time for a turn.


def test_whose_time_for_a_turn_is_over_loses_the_game_and_no_more():
    at = begun(clock=MINUTE, match="five_points")
    assert said(at, 60) == []
    assert said(at, MAX_LAG) == ["time_up", "game_ended"]
    assert at.state.score == (0, 3)
    assert at.room.verdict is None, "the match goes on"
    check_replay(at)


def test_with_the_only_game_the_match_is_lost():
    at = begun(clock=MINUTE)
    assert said(at, 61) == LATE
    assert at.room.outcome == Outcome(
        won=(BOB,), lost=(ANN,), why="3 \N{EN DASH} 0 (out of time)", points={BOB: 3.0, ANN: -3.0}
    )


def test_the_time_is_for_a_turn_and_not_for_each_thing_in_it():
    at = begun(clock=MINUTE)
    at.wait(20)
    at.act(ANN, Roll())
    at.wait(20)
    at.act(ANN, next(event for event in legal(GAME, at.state, ANN) if isinstance(event, Move)))
    assert said(at, 21) == LATE


def test_each_turn_has_its_own_time():
    at = begun(clock=MINUTE)
    at.wait(20)
    at.act(ANN, Roll())
    while (event := legal(GAME, at.state, ANN)[0]) != EndTurn():
        at.act(ANN, event)
    at.act(ANN, EndTurn())
    assert said(at, 60) == []
    assert said(at, 1) == LATE
    assert at.state.score == (3, 0)


def test_a_double_is_answered_in_time_and_then_the_other_has_all_the_time_again():
    at = begun(clock=MINUTE)
    at.wait(50)
    at.act(ANN, Double())
    assert said(at, 50) == []
    at.act(BOB, Accept())
    assert said(at, 60) == []
    assert said(at, 1) == LATE
    assert at.state.score == (0, 6)


def test_a_double_that_is_not_answered_in_time_is_declined():
    at = begun(clock=MINUTE)
    at.act(ANN, Double())
    assert said(at, 61) == LATE
    assert at.state.score == (1, 0)
    assert at.state.games[0].how == "declined"


def test_a_double_that_was_let_lie_under_the_older_rules_costs_what_it_did():
    at = begun()
    at.act(ANN, Double())
    assert out_of_time(at.state, WHOLE_WAYS).score == (3, 0)
    assert out_of_time(at.state, LATE_DECLINES) == out_of_time(at.state, None)


def test_the_time_of_the_first_game_starts_when_both_have_come():
    at = Table(GAME, clock=MINUTE).sit(ANN)
    assert said(at, DAY) == []
    at.sit(BOB)
    at.act(BOB, Ready())
    assert said(at, 61) == LATE
    assert at.state.winner == 1


def test_whoever_ends_a_game_has_all_the_time_to_get_ready_for_the_next():
    at = begun(clock=MINUTE, match="five_points")
    at.wait(59)
    at.act(ANN, ResignGame())
    at.wait(59)
    at.act(BOB, Ready())
    at.wait(0.5)
    at.act(ANN, Ready())
    starter = at.state.player(at.state.turn)
    assert said(at, 60) == []
    assert said(at, 1) == ["time_up", "game_ended"], "and the one who was ready last has a whole turn"
    assert at.state.games[-1].winner == 1 - at.state.seat(starter)


def test_between_games_who_is_not_ready_in_time_loses_the_match():
    at = table(clock=MINUTE, match="five_points")
    both(at, Ready())
    at.act(ANN, ResignGame())
    at.wait(20)
    at.act(ANN, Ready())
    assert said(at, 41) == LATE
    assert at.state.score == (5, 3)


def test_if_neither_is_ready_the_match_is_over_as_it_stands():
    at = table(clock=MINUTE, match="five_points")
    both(at, Ready())
    at.act(ANN, ResignGame())
    assert said(at, 61) == ["time_up", "match_ended"]
    assert at.room.outcome == Outcome(
        won=(BOB,), lost=(ANN,), why="3 \N{EN DASH} 0 (neither was ready in time)"
    )


def test_after_the_match_no_time_runs():
    at = begun(clock=BOTH)
    at.act(ANN, ResignGame())
    at.disconnect(BOB)
    assert said(at, DAY) == []


@pytest.mark.parametrize("at_zero", ["claim", "bot"])
def test_a_room_can_be_set_up_so_that_nobody_loses_a_game_at_once(at_zero):
    at = begun(clock=ClockSettings("turn", 60, at_zero=at_zero), match="five_points")
    assert said(at, DAY) == []
    assert (at.room.late("claim"), at.room.stood_in_for) == (
        ([ANN], []) if at_zero == "claim" else ([], [ANN])
    )


def test_a_claim_wins_what_the_end_of_the_time_costs():
    at = begun(clock=ClockSettings("turn", 60, at_zero="claim"), match="five_points")
    at.act(ANN, Double())
    at.wait(100)
    at.do(Claim(ANN))
    assert (at.state.score, at.state.games[-1].how) == ((1, 0), "declined")
    assert at.room.outcome is None
    check_replay(at)


# The time for the match.


@pytest.mark.parametrize("kind", ["increment", "delay"])
def test_whose_time_for_the_match_is_over_loses_the_match(kind):
    at = begun(clock=ClockSettings(kind, 120), match="five_points")
    assert said(at, 121) == ["game_ended", "match_ended"]
    assert at.state.score == (0, 5)
    assert at.room.outcome == Outcome(won=(BOB,), lost=(ANN,), why="out of time")
    check_replay(at)


# The time to be away.


def test_who_is_away_for_longer_than_allowed_loses_the_match():
    at = begun(clock=AWAY, match="five_points")
    at.disconnect(ANN)
    assert said(at, 29) == []
    assert said(at, 1) == ["game_ended", "match_ended"]
    assert at.state.score == (0, 5)
    assert at.room.outcome == Outcome(won=(BOB,), lost=(ANN,), why="away too long")
    check_replay(at)


def test_the_time_for_a_turn_stands_still_while_its_player_may_be_away():
    at = begun(clock=BOTH)
    at.wait(50)
    at.disconnect(ANN)
    assert said(at, 20) == []
    return_(at, ANN)
    assert said(at, 10) == []
    assert said(at, 1) == LATE


def test_the_time_for_a_turn_goes_on_while_only_the_other_is_away():
    at = begun(clock=BOTH)
    at.wait(50)
    at.disconnect(BOB)
    assert said(at, 11) == LATE


def test_without_time_to_be_away_the_time_for_a_turn_goes_on():
    at = begun(clock=MINUTE)
    at.disconnect(ANN)
    assert said(at, 61) == LATE


def test_a_rematch_begins_with_all_the_time():
    at = begun(clock=BOTH)
    at.wait(40)
    at.act(ANN, ResignGame())
    for player in (ANN, BOB):
        at.do(Rematch(player))
    assert said(at, 60) == []
    assert said(at, 1) == ["time_up", "match_ended"]


# Settings of older clients.


@pytest.mark.parametrize(
    ("config", "clock"),
    [
        ({"turn_seconds": 60}, MINUTE),
        ({"absence_seconds": 30}, AWAY),
        ({"turn_seconds": 60, "absence_seconds": 30}, BOTH),
        ({}, None),
    ],
)
def test_the_settings_of_older_clients_are_the_rooms_clock(config, clock):
    at = Table(GAME, config)
    assert (at.room.clocks and at.room.clocks.settings) == clock
    assert (at.room.config["turn_seconds"], at.room.config["absence_seconds"]) == (None, None)


def test_a_clock_counts_more_than_the_settings_of_older_clients():
    at = Table(GAME, {"turn_seconds": 60}, clock=AWAY)
    assert (at.room.clocks and at.room.clocks.settings) == AWAY

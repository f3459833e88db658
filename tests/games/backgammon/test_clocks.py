"""The clock of a turn and the time to be away, which nobody has unless a match is set up so."""

from parlour.game import Outcome
from parlour.games.backgammon.clocks import out_of_time
from parlour.games.backgammon.match import LATE_DECLINES, WHOLE_WAYS
from parlour.games.backgammon.play import Accept, Double, EndTurn, Move, Ready, ResignGame, Roll
from parlour.testing import Table, legal, told
from parlour.wire import Connect
from tests.games.backgammon.tables import ANN, BOB, GAME, begun, both, table

DAY = 24 * 3600


def said(at: Table, seconds: float) -> list[str]:
    """What happens by itself in so many seconds."""
    return [news["type"] for step in at.wait(seconds) for news in told(step)]


def return_(at: Table, player: str) -> None:
    at.do(Connect(player))


LATE = ["turn_warning", "time_up", "game_ended", "match_ended"]


def test_by_default_nobody_is_in_a_hurry():
    at = begun()
    at.disconnect(ANN)
    at.disconnect(BOB)
    assert said(at, 3 * DAY) == []
    assert at.room.players == (ANN, BOB)
    assert not at.why_ended()


def test_half_time_is_told_and_then_the_game_is_lost():
    at = begun(turn_seconds=60)
    assert said(at, 29) == []
    assert said(at, 1) == ["turn_warning"]
    assert said(at, 29) == []
    assert said(at, 1) == LATE[1:]
    assert at.room.outcome == Outcome(
        won=(BOB,), lost=(ANN,), why="3 \N{EN DASH} 0 (out of time)", points={BOB: 3.0, ANN: -3.0}
    )


def test_the_clock_is_for_a_turn_and_not_for_each_thing_in_it():
    at = begun(turn_seconds=60)
    at.wait(20)
    at.act(ANN, Roll())
    at.wait(20)
    at.act(ANN, next(event for event in legal(GAME, at.state, ANN) if isinstance(event, Move)))
    assert said(at, 20) == LATE[1:]


def test_each_turn_has_a_clock_of_its_own():
    at = begun(turn_seconds=60)
    at.wait(20)
    at.act(ANN, Roll())
    while (event := legal(GAME, at.state, ANN)[0]) != EndTurn():
        at.act(ANN, event)
    at.act(ANN, EndTurn())
    assert said(at, 59) == ["turn_warning"]
    assert said(at, 1) == LATE[1:]
    assert at.state.score == (3, 0)


def test_a_double_is_answered_in_time_and_then_the_other_has_all_the_time_again():
    at = begun(turn_seconds=60)
    at.wait(50)
    at.act(ANN, Double())
    assert said(at, 50) == ["turn_warning"]
    at.act(BOB, Accept())
    assert said(at, 50) == ["turn_warning"]
    assert said(at, 10) == LATE[1:]
    assert at.state.score == (0, 6)


def test_a_double_that_is_not_answered_in_time_is_declined():
    at = begun(turn_seconds=60)
    at.act(ANN, Double())
    assert said(at, 60) == LATE
    assert at.state.score == (1, 0)
    assert at.state.games[0].how == "declined"


def test_a_double_that_was_let_lie_under_the_older_rules_costs_what_it_did():
    at = begun(turn_seconds=60)
    at.act(ANN, Double())
    assert out_of_time(at.state, WHOLE_WAYS).score == (3, 0)
    assert out_of_time(at.state, LATE_DECLINES) == out_of_time(at.state, None)


def test_the_clock_of_the_first_game_starts_when_both_have_come():
    at = Table(GAME, {"turn_seconds": 60}).sit(ANN)
    assert said(at, DAY) == []
    at.sit(BOB)
    at.act(BOB, Ready())
    assert said(at, 60) == LATE
    assert at.room.outcome == Outcome(
        won=(BOB,), lost=(ANN,), why="3 \N{EN DASH} 0 (out of time)", points={BOB: 3.0, ANN: -3.0}
    )


def test_between_games_who_is_not_ready_in_time_loses_the_match():
    at = table(turn_seconds=60, match="five_points")
    both(at, Ready())
    at.act(ANN, ResignGame())
    at.wait(20)
    at.act(ANN, Ready())
    assert said(at, 40) == LATE
    assert at.state.score == (5, 3)


def test_if_neither_is_ready_the_match_is_over_as_it_stands():
    at = table(turn_seconds=60, match="five_points")
    both(at, Ready())
    at.act(ANN, ResignGame())
    assert said(at, 60) == ["turn_warning", "time_up", "match_ended"]
    assert at.room.outcome == Outcome(
        won=(BOB,), lost=(ANN,), why="3 \N{EN DASH} 0 (neither was ready in time)"
    )


def test_after_the_match_no_clock_runs():
    at = begun(turn_seconds=60, absence_seconds=30)
    at.act(ANN, ResignGame())
    at.disconnect(BOB)
    assert said(at, DAY) == []


def test_who_is_away_for_longer_than_allowed_loses_the_match():
    at = begun(absence_seconds=30)
    at.disconnect(ANN)
    assert said(at, 29) == []
    assert said(at, 1) == ["away_too_long", "game_ended", "match_ended"]
    assert at.room.outcome == Outcome(
        won=(BOB,), lost=(ANN,), why="3 \N{EN DASH} 0 (away too long)", points={BOB: 3.0, ANN: -3.0}
    )


def test_all_absences_together_count():
    at = begun(absence_seconds=30)
    for _ in range(2):
        at.disconnect(ANN)
        at.wait(10)
        return_(at, ANN)
        at.wait(1000)
    assert at.room.outcome is None
    at.disconnect(ANN)
    assert said(at, 10) == ["away_too_long", "game_ended", "match_ended"]


def test_if_both_are_away_the_first_whose_time_is_up_loses():
    at = begun(absence_seconds=30)
    at.disconnect(BOB)
    at.wait(10)
    at.disconnect(ANN)
    at.wait(20)
    assert at.state.score == (3, 0)


def test_it_does_not_count_who_is_away_before_both_have_come():
    at = Table(GAME, {"absence_seconds": 30}).sit(ANN)
    at.disconnect(ANN)
    assert said(at, DAY) == []
    at.sit(BOB)
    assert said(at, 29) == []
    assert said(at, 1) == ["away_too_long", *["game_ended"], "match_ended"]


def test_who_takes_the_seat_of_somebody_who_was_away_is_here():
    at = Table(GAME, {"absence_seconds": 30}).sit(ANN)
    at.disconnect(ANN)
    at.leave(ANN)
    at.sit(ANN, BOB)
    assert said(at, DAY) == []


def test_the_clock_of_a_turn_stands_still_while_its_player_may_be_away():
    at = begun(turn_seconds=60, absence_seconds=30)
    at.wait(50)
    at.disconnect(ANN)
    assert said(at, 20) == []
    return_(at, ANN)
    assert said(at, 9) == []
    assert said(at, 1) == LATE[1:]


def test_the_clock_of_a_turn_goes_on_while_only_the_other_is_away():
    at = begun(turn_seconds=60, absence_seconds=30)
    at.wait(50)
    at.disconnect(BOB)
    assert said(at, 10) == LATE[1:]


def test_without_time_to_be_away_the_clock_of_a_turn_goes_on():
    at = begun(turn_seconds=60)
    at.disconnect(ANN)
    assert said(at, 60) == LATE


def test_half_time_is_not_told_twice():
    at = begun(turn_seconds=60, absence_seconds=30)
    assert said(at, 40) == ["turn_warning"]
    at.disconnect(ANN)
    at.wait(5)
    return_(at, ANN)
    assert said(at, 20) == LATE[1:]


def test_a_view_says_how_much_time_there_is():
    at = begun(turn_seconds=60, absence_seconds=30)
    until = at.instant().date + 60
    assert GAME.view(at.state, None)["clock"] == {"seconds": 60, "until": until, "rest": None}
    at.wait(10)
    at.disconnect(ANN)
    assert GAME.view(at.state, None)["clock"] == {"seconds": 60, "until": None, "rest": 50}
    assert GAME.view(at.state, None)["absence"] == {"away": [True, False], "budget": (30, 30)}

"""The time to be away: one rule, one test."""

import msgspec
import pytest

from parlour.clocks import Absence, Claim, ClockSettings
from parlour.errors import Refused
from parlour.game import Outcome
from parlour.games import GAMES
from parlour.room import open_room
from parlour.testing import Table, check_replay
from parlour.wire import Act, Connect, Disconnect, Hold, Rematch
from tests.probe import Probe
from tests.timelines import ANN, BOB, AnnThinks, away, left, left_away, pause, seated


def test_whoever_is_away_for_too_long_has_lost():
    table = seated(away(60))
    table.wait(1000)
    table.do(Disconnect(BOB))
    table.wait(59)
    assert (table.outcome, left_away(table)) == (None, [60, 1])
    table.wait(1)
    assert table.outcome == Outcome(won=(ANN,), lost=(BOB,), why="away too long")
    assert table.room.verdict.how == "flagged"
    check_replay(table)


def test_all_absences_count_together():
    table = seated(away(60))
    for _ in range(2):
        table.do(Disconnect(ANN))
        table.wait(20)
        table.do(Connect(ANN))
        table.wait(500)
    assert left_away(table) == [20, 60]
    table.do(Disconnect(ANN))
    table.wait(20)
    assert table.outcome.lost == (ANN,)


def test_if_both_are_away_the_first_whose_time_is_over_loses():
    table = seated(away(60))
    table.do(Disconnect(BOB))
    table.wait(10)
    table.do(Disconnect(ANN))
    table.wait(50)
    assert table.outcome.lost == (BOB,)


def test_it_does_not_count_who_is_away_before_everybody_was_here():
    table = Table(GAMES["tictactoe"], clock=away(60)).sit(ANN)
    table.do(Disconnect(ANN))
    table.wait(1000)
    table.sit(BOB)
    table.wait(1000)
    assert (table.outcome, left_away(table)) == (None, [60, 60])


@pytest.mark.parametrize(
    ("think", "seconds"), [(("turn", 30), 20), (("increment", 30, 2), 20), (("delay", 30, 4), 24)]
)
def test_while_somebody_may_be_away_their_time_to_think_stands_still(think, seconds):
    table = seated(away(60, think=think), AnnThinks())
    table.wait(10)
    table.do(Disconnect(ANN))
    table.wait(50)
    assert table.room.clocks.seats[0].since is None
    table.do(Connect(ANN))
    assert left(table) == [seconds, 30], "and nothing is added for that"


def test_whoever_is_away_although_they_may_not_pays_for_it_again():
    table = seated(away(10, "claim", think=("increment", 60)), AnnThinks())
    table.do(Disconnect(ANN))
    table.wait(30)
    assert (left(table), table.room.late("claim")) == ([40, 60], [ANN])


def test_whoever_is_gone_can_be_waited_for_or_claimed_against():
    table = seated(away(60, "claim"))
    table.do(Disconnect(ANN))
    table.wait(1000)
    assert (table.outcome, table.room.late("claim")) == (None, [ANN])
    table.do(Connect(ANN))
    assert (table.room.late("claim"), left_away(table)) == ([], [60, 60]), "back, with all the time again"
    table.do(Disconnect(ANN))
    table.wait(61)
    table.do(Claim(BOB))
    assert table.outcome == Outcome(won=(BOB,), lost=(ANN,), why="away too long")
    check_replay(table)


def test_what_is_claimed_is_the_time_for_which_it_can_be_claimed():
    settings = ClockSettings("turn", 30, at_zero="bot", away=Absence(10, "claim"))
    table = seated(settings)
    table.do(Disconnect(ANN))
    table.wait(50)
    assert (table.room.stood_in_for, table.room.late("claim")) == ([ANN], [ANN])
    table.do(Claim(BOB))
    assert table.outcome.why == "away too long"


def test_whoever_is_gone_can_be_replaced_by_a_bot_until_they_are_back():
    table = seated(away(60, "bot"))
    table.do(Disconnect(ANN))
    table.wait(61)
    assert table.room.stood_in_for == [ANN]
    event = msgspec.Raw(msgspec.json.encode(table.legal(ANN)[0]))
    table.do(Act(ANN, event, stand_in=True))
    assert table.room.stood_in_for == [ANN], "for the next move, too"
    table.do(Connect(ANN))
    assert table.room.stood_in_for == []
    check_replay(table)


def test_a_pause_and_a_server_that_is_down_cost_nobody_time_to_be_away():
    table = seated(away(60), AnnThinks())
    pause(table, 500)
    table.do(Disconnect(BOB))
    table.wait(10)
    table.now += 1000
    table.do(Hold(1000))
    assert left_away(table) == [60, 50]


def test_after_a_rematch_everybody_may_be_away_as_long_again():
    table = seated(away(60))
    table.do(Disconnect(ANN))
    table.wait(60)
    table.do(Connect(ANN))
    for player in (ANN, BOB):
        table.do(Rematch(player))
    assert left_away(table) == [60, 60]


# Other games.


@pytest.mark.parametrize("settings", [ClockSettings("turn", 30, at_zero="bot"), away(60, "bot")])
def test_no_bot_moves_in_a_game_that_does_not_list_what_can_be_done(settings):
    table = Table(AnnThinks())
    with pytest.raises(Refused, match="no bot moves for anybody") as why:
        open_room(AnnThinks(), "ABCD", None, table.instant(), clock=settings)
    assert why.value.path == "$.clock"


def test_a_game_without_turns_can_limit_how_long_players_are_away():
    table = seated(away(60), Probe())
    table.do(Disconnect(ANN))
    table.wait(60)
    assert table.outcome.lost == (ANN,)

"""Glicko-2, by the example of its paper; and what ladders make of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.game import Outcome
from parlour.ratings import MIDDLE, SCALE, WIDEST, Rating, Stake, Standing, idle, rate, settle, stakes

ANN, BOB = Standing("go", "ann", "Ann"), Standing("go", "bob", "Bob")
NAMES = {"ann": "Ann", "bob": "Bob"}
WON = Outcome(won=("ann",), lost=("bob",))


def test_the_example_of_the_paper_comes_out_to_its_printed_digits():
    games = [(Rating(1400, 30), 1.0), (Rating(1550, 100), 0.0), (Rating(1700, 300), 0.0)]
    after = rate(Rating(1500, 200, 0.06), games, tau=0.5)
    mu, phi = (after.rating - MIDDLE) / SCALE, after.deviation / SCALE
    assert (f"{mu:.4f}", f"{phi:.4f}", f"{after.volatility:.7f}"[:7]) == ("-0.2069", "0.8722", "0.05999")
    # The paper cuts the volatility off, and goes on with the rounded mu; without rounding it is 1464.05.
    assert (f"{SCALE * round(mu, 4) + MIDDLE:.2f}", f"{after.deviation:.2f}") == ("1464.06", "151.52")
    assert after.rating == pytest.approx(1464.06, abs=0.01)


def test_who_does_not_play_is_as_strong_but_less_certain():
    after = rate(Rating(1500, 200, 0.06), [])
    assert (after.rating, after.volatility) == (1500, 0.06)
    assert f"{after.deviation:.4f}" == "200.2714"
    assert idle(Rating(1500, 349, 0.06), 1000).deviation == 350


def test_what_one_wins_the_other_loses():
    ann, bob = settle([ANN, BOB], WON, 1.0, NAMES)
    assert ann.rating.rating - 1500 == pytest.approx(1500 - bob.rating.rating)
    assert ann.rating.rating > 1600
    assert (ann.won, ann.streak, ann.longest) == (1, 1, 1)
    assert (bob.lost, bob.streak, bob.longest) == (1, -1, 0)


def test_a_draw_between_equals_changes_only_how_certain_one_is():
    ann, bob = settle([ANN, BOB], Outcome(drew=("ann", "bob")), 1.0, NAMES)
    assert ann.rating.rating == bob.rating.rating == 1500
    assert ann.rating.deviation < 350
    assert (ann.drew, ann.streak) == (1, 0)


def test_a_streak_ends_with_a_loss_and_its_length_is_remembered():
    standings: tuple[Standing, ...] = (ANN, BOB)
    for date in (1.0, 2.0, 3.0):
        standings = settle(standings, WON, date, NAMES)
    ann, _ = settle(standings, Outcome(won=("bob",), lost=("ann",)), 4.0, NAMES)
    assert (ann.streak, ann.longest, ann.won, ann.lost) == (-1, 3, 3, 1)


def test_a_game_without_two_players_counts_for_nobody():
    assert settle([ANN], WON, 1.0, NAMES) == (ANN,)
    assert settle([ANN, BOB], Outcome(won=("ann",)), 1.0, NAMES) == (ANN, BOB)


def test_a_long_pause_makes_the_next_game_count_for_more():
    standings: tuple[Standing, ...] = (ANN, BOB)
    for date in range(1, 20):
        standings = settle(standings, Outcome(drew=("ann", "bob")), float(date), NAMES)
    soon, _ = settle(standings, WON, 30.0, NAMES)
    late, _ = settle(standings, WON, 400 * 7 * 86400.0, NAMES)
    assert late.rating.rating > soon.rating.rating


# What is at stake.

RATINGS = st.builds(Rating, st.floats(0, 4000), st.floats(30, WIDEST), st.floats(0.02, 0.15))
WEEKS = st.integers(0, 100).map(lambda weeks: 1.0 + weeks * 7 * 86400.0)


@given(ann=RATINGS, bob=RATINGS, played=WEEKS, date=WEEKS)
def test_what_is_told_before_a_game_is_what_happens_after_it(ann, bob, played, date):
    standings = (Standing("go", "ann", "Ann", ann, played=played), Standing("go", "bob", "Bob", bob))
    told = stakes(standings, date, draws=True)
    lost, drew = Outcome(won=("bob",), lost=("ann",)), Outcome(drew=("ann", "bob"))
    won, drawn, beaten = [settle(standings, ending, date, NAMES) for ending in (WON, drew, lost)]
    assert [(one.won, one.drew, one.lost) for one in told] == [
        (won[0].rating.rating, drawn[0].rating.rating, beaten[0].rating.rating),
        (beaten[1].rating.rating, drawn[1].rating.rating, won[1].rating.rating),
    ]


@given(ann=RATINGS, bob=RATINGS)
def test_a_win_is_never_worth_less_than_a_draw_nor_a_draw_than_a_loss(ann, bob):
    standings = (Standing("go", "ann", "Ann", ann), Standing("go", "bob", "Bob", bob))
    for stake in stakes(standings, 1.0, draws=True):
        assert stake.won is not None
        assert stake.drew is not None
        assert stake.lost is not None
        assert stake.won >= stake.drew >= stake.lost
        assert stake.won >= stake.rating >= stake.lost


def test_where_there_are_no_draws_none_is_at_stake():
    assert [stake.drew for stake in stakes((ANN, BOB), 1.0, draws=False)] == [None, None]


def test_while_one_of_the_two_is_missing_only_a_rating_is_told():
    assert stakes((ANN,), 1.0, draws=True) == (Stake("ann", 1500.0),)
    assert stakes((), 1.0, draws=True) == ()

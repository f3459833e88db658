"""Offers among players, and what the room decides: the same rules for every game."""

from functools import partial

import pytest

from parlour.bots import bots_of
from parlour.game import BotWithAnswers, Later, Outcome, Update
from parlour.games import GAMES
from parlour.games.tictactoe import Mark
from parlour.offers import Answer, Offer, Resign
from parlour.testing import Table, check_replay, refused
from parlour.wire import Connect, Disconnect, Leave, Rematch, read_step
from tests.probe import Probe

ANN, BOB = "ann", "bob"


def seated(game, config=None):
    return Table(GAMES[game], config).sit(ANN, BOB)


def noughts():
    return seated("tictactoe")


def mark(table, *cells):
    for cell in cells:
        table.act(table.room.players[table.state.turn], Mark(cell))
    return table


def draw_offered(table=None):
    table = table or noughts()
    table.do(Offer(ANN, "draw"))
    return table


# Resigning.


def test_whoever_resigns_has_lost_whoever_is_on_turn():
    table = mark(noughts(), 4)
    table.do(Resign(ANN))
    assert table.room.outcome == Outcome(won=(BOB,), lost=(ANN,), why="the other side resigned")
    assert (table.room.verdict.how, table.room.status) == ("resigned", "over")
    assert table.state.cells == "....X....", "the board stays as it was"
    check_replay(table)


def test_the_seed_is_shown_after_a_resignation_as_after_any_end():
    table = noughts()
    seed = table.room.seed
    table.do(Resign(BOB))
    assert table.room.shown[-1].seed == seed != table.room.seed


def test_after_a_verdict_nobody_can_play_offer_or_resign():
    table = noughts()
    table.do(Resign(ANN))
    assert refused("game_over", lambda: table.act(ANN, Mark(4))).message == "the game is over"
    for command in (Offer(ANN, "draw"), Answer(BOB, "draw", accept=True), Resign(BOB)):
        refused("game_over", partial(table.do, command))


def test_a_verdict_stays_when_people_get_up_and_ends_with_a_rematch():
    table = noughts()
    table.do(Resign(ANN))
    before = table.room.outcome
    table.do(Leave(ANN))
    assert table.room.outcome == before
    table.sit(ANN)
    for player in (ANN, BOB):
        table.do(Rematch(player))
    assert (table.room.outcome, table.room.verdict) == (None, None)
    mark(table, 0)
    check_replay(table)


def test_backgammon_keeps_its_own_resigning_and_its_score():
    table = seated("backgammon")
    assert "look among its own moves" in refused("not_in_this_game", lambda: table.do(Resign(ANN))).message
    table.act(ANN, {"type": "resign_match"})
    assert table.room.verdict is None
    assert table.room.outcome.won == (BOB,)


def test_a_game_with_secrets_shows_them_when_somebody_resigns():
    table = seated("stratego", {"preset": "ogetarts"})
    assert "b?" in "".join(table.game.view(table.state, ANN)["board"])
    table.do(Resign(BOB))
    assert "?" not in "".join(table.game.view(table.state, ANN)["board"])
    assert table.room.outcome == Outcome(won=(ANN,), lost=(BOB,), why="the other side resigned")


def test_a_game_that_begins_anew_by_itself_does_so_after_a_verdict_too():
    table = seated("stratego", {"preset": "ogetarts"})
    table.do(Resign(BOB))
    table.wait(10)
    assert (table.room.outcome, table.room.verdict) == (None, None)
    assert table.state.phase == "playing"
    check_replay(table)


# A draw.


def test_a_draw_needs_both():
    table = draw_offered()
    assert (table.room.outcome, table.room.offers.open.by) == (None, ANN)
    table.do(Answer(BOB, "draw", accept=True))
    assert table.room.outcome == Outcome(drew=(ANN, BOB), why="both sides agreed")
    assert table.room.verdict.how == "agreed"
    check_replay(table)


def test_offering_what_the_other_offers_is_to_agree():
    table = draw_offered()
    table.do(Offer(BOB, "draw"))
    assert table.room.outcome.drew == (ANN, BOB)


def test_a_declined_draw_can_be_offered_again_after_the_next_own_move():
    table = draw_offered()
    table.do(Answer(BOB, "draw", accept=False))
    assert table.room.offers.open is None
    assert [offer.by for offer in table.room.offers.declined] == [ANN]
    refused("offer_declined", lambda: table.do(Offer(ANN, "draw")))
    mark(table, 4)
    draw_offered(table)


def test_whoever_moves_instead_of_answering_has_declined():
    table = draw_offered()
    mark(table, 4)
    assert table.room.offers.open is not None, "an own move leaves the offer open"
    mark(table, 0)
    assert table.room.offers.open is None
    assert len(table.room.offers.declined) == 1


def test_whoever_made_an_offer_can_take_it_back():
    table = draw_offered()
    table.do(Answer(ANN, "draw", accept=False))
    assert not table.room.offers
    refused("no_such_offer", lambda: table.do(Answer(BOB, "draw", accept=True)))


def test_nobody_agrees_to_their_own_offer():
    table = draw_offered()
    refused("no_such_offer", lambda: table.do(Answer(ANN, "draw", accept=True)))


def test_one_offer_is_open_at_a_time():
    table = mark(noughts(), 4)
    draw_offered(table)
    assert "a draw waits" in refused("offer_open", lambda: table.do(Offer(ANN, "takeback"))).message
    refused("no_such_offer", lambda: table.do(Answer(BOB, "takeback", accept=True)))


@pytest.mark.parametrize("command", [Offer("eve", "draw"), Answer("eve", "draw", accept=True), Resign("eve")])
def test_who_has_no_seat_offers_answers_and_resigns_nothing(command):
    table = draw_offered()
    before = table.room
    refused("not_seated", lambda: table.do(command))
    assert table.room is before


def test_there_is_nothing_to_offer_before_everybody_is_here():
    table = Table(GAMES["tictactoe"]).sit(ANN)
    for command in (Offer(ANN, "draw"), Resign(ANN)):
        refused("illegal_move", partial(table.do, command))


def test_whoever_is_not_connected_offers_nothing():
    table = noughts()
    table.do(Disconnect(ANN))
    refused("not_joined", lambda: table.do(Offer(ANN, "draw")))


@pytest.mark.parametrize(("game", "what"), [("stratego", "takeback"), ("backgammon", "draw")])
def test_a_game_says_what_can_be_offered_in_it(game, what):
    table = seated(game)
    refused("not_in_this_game", lambda: table.do(Offer(ANN, what)))


def test_an_offer_ends_with_those_who_could_answer_it():
    table = draw_offered()
    table.do(Leave(BOB))
    assert not table.room.offers
    table.sit("cem")
    refused("no_such_offer", lambda: table.do(Answer("cem", "draw", accept=True)))


class Parley(Probe):
    """The probe, whose three players may agree to things."""

    name = "parley"
    offers = ("draw", "takeback", "pause")


def test_of_three_players_all_must_agree():
    table = draw_offered(Table(Parley()).sit(ANN, BOB, "cem"))
    table.do(Answer("cem", "draw", accept=True))
    assert table.room.status == "playing"
    table.do(Answer(BOB, "draw", accept=True))
    assert table.room.outcome.drew == (ANN, BOB, "cem")


# Taking a move back.


def test_a_move_is_taken_back_by_a_new_step_with_the_old_state():
    table = mark(noughts(), 4, 0)
    table.do(Offer(ANN, "takeback"))
    step = table.do(Answer(BOB, "takeback", accept=True))
    assert table.state.cells == "." * 9, "back to before her own move, whoever moved since"
    assert step.seq == table.room.seq == len(table.steps)
    mark(table, 8)
    assert table.state.cells == "........X"
    check_replay(table)


def test_moves_are_taken_back_one_after_the_other_and_no_further():
    table = mark(noughts(), 0, 1, 2, 3)
    for cells in ("XO.......", "." * 9):
        table.do(Offer(ANN, "takeback"))
        table.do(Answer(BOB, "takeback", accept=True))
        assert table.state.cells == cells
    why = refused("illegal_move", lambda: table.do(Offer(ANN, "takeback")))
    assert why.message == "you have made no move that could be taken back"


def test_a_move_makes_a_wish_to_take_one_back_void():
    table = mark(noughts(), 4, 0)
    table.do(Offer(ANN, "takeback"))
    mark(table, 8)
    assert not table.room.offers


def test_whoever_sits_down_later_finds_no_move_to_take_back():
    table = mark(noughts(), 4)
    table.do(Leave(BOB))
    table.sit("cem")
    refused("illegal_move", lambda: table.do(Offer(ANN, "takeback")))


def test_luck_is_drawn_anew_when_a_move_was_taken_back():
    table = Table(Parley()).sit(ANN, BOB)
    table.act(ANN, {"type": "draw"})
    first = table.state.calls[-1]
    table.do(Offer(ANN, "takeback"))
    table.do(Answer(BOB, "takeback", accept=True))
    assert first not in table.state.calls
    table.act(ANN, {"type": "draw"})
    assert table.state.calls[-1] != first
    check_replay(table)


def test_timers_have_the_time_again_that_they_had_before_the_move():
    table = Table(Parley()).sit(ANN, BOB)
    table.act(BOB, {"type": "plan", "key": "bell", "seconds": 30})
    table.wait(10)
    table.act(ANN, {"type": "call_off", "key": "bell"})
    table.wait(5)
    table.do(Offer(ANN, "takeback"))
    table.do(Answer(BOB, "takeback", accept=True))
    assert table.wait(19) == []
    assert len(table.wait(1)) == 1
    check_replay(table)


# A pause.


def paused():
    table = Table(Parley()).sit(ANN, BOB)
    table.act(ANN, {"type": "plan", "key": "bell", "seconds": 30})
    table.wait(10)
    table.do(Offer(ANN, "pause"))
    table.do(Answer(BOB, "pause", accept=True))
    return table


def test_in_a_pause_no_timer_of_the_game_rings_and_nobody_can_play():
    table = paused()
    assert table.wait(100) == []
    assert "when everybody agrees" in refused("game_paused", lambda: table.act(ANN, {"type": "tell"})).message
    refused("game_paused", lambda: table.do(Offer(BOB, "pause")))


def test_the_game_goes_on_where_it_stood_when_all_agree():
    table = paused()
    table.wait(100)
    table.do(Offer(BOB, "resume"))
    table.do(Answer(ANN, "resume", accept=True))
    assert table.room.clock(table.now) == 10
    assert table.wait(19) == []
    assert [step.now for step in table.wait(1)] == [130]
    assert table.state.calls[-1] == "rang bell"
    check_replay(table)


def test_the_rooms_own_patience_goes_on_in_a_pause():
    table = paused()
    table.wait(280)
    assert table.room.ended is None
    table.do(Offer(BOB, "resume"))
    table.do(Answer(ANN, "resume", accept=True))
    table.wait(299)
    assert table.room.ended is None
    table.wait(1)
    assert table.room.ended == "game_timeout"


def test_a_pause_that_nobody_ends_does_not_keep_a_room_for_ever():
    table = paused()
    table.wait(300)
    assert table.room.ended == "game_timeout"


def test_who_goes_in_a_pause_and_stays_away_has_left():
    table = paused()
    table.do(Disconnect(BOB))
    table.wait(120)
    assert table.room.seat(BOB) is None
    assert table.room.offers.paused == 10


def test_what_the_game_plans_in_a_pause_waits_for_its_end():
    table = paused()

    class Late(Parley):
        def player_disconnected(self, state, player, moment):
            return Update(state, (Later("gone", 5, {"type": "ping", "key": "gone"}),))

    table.game = Late()
    table.wait(50)
    table.do(Disconnect(BOB))
    assert table.wait(20) == []
    table.do(Connect(BOB))
    table.do(Offer(BOB, "resume"))
    table.do(Answer(ANN, "resume", accept=True))
    assert table.wait(4) == []
    assert len(table.wait(1)) == 1
    check_replay(table)


def test_a_draw_can_be_agreed_in_a_pause_and_ends_it():
    table = paused()
    table.wait(50)
    table.do(Offer(ANN, "draw"))
    table.do(Answer(BOB, "draw", accept=True))
    assert table.room.outcome is not None
    assert table.room.offers.paused is None
    check_replay(table)


def test_only_a_paused_game_can_go_on():
    table = Table(Parley()).sit(ANN, BOB)
    assert (
        refused("no_such_offer", lambda: table.do(Offer(ANN, "resume"))).message == "the game is not paused"
    )


# What a game may declare.


@pytest.mark.parametrize(
    ("offers", "seats", "why"),
    [
        (("surrender",), range(2, 3), "expected offers of draw, pause, resign, takeback, got surrender"),
        (("resign",), range(2, 4), "expected two seats where one can resign"),
    ],
)
def test_offers_that_make_no_sense_are_refused_when_a_game_is_loaded(offers, seats, why):
    game = type("Odd", (Probe,), {"offers": offers, "seats": seats})()
    assert why in refused("game_error", game.checked).message


def test_steps_with_offers_are_read_as_they_were_kept():
    table = draw_offered()
    table.do(Answer(BOB, "draw", accept=False))
    table.do(Resign(ANN))
    assert [read_step(step.body) for step in table.steps[-3:]] == table.steps[-3:]


# What bots answer, by how they judge the position.


@pytest.mark.parametrize(
    ("cells", "turn", "you", "agrees"),
    [
        ("XX.OO....", "X", "X", False),
        ("XX.OO....", "X", "O", True),
        ("XX..O....", "O", "O", True),
        ("." * 9, "X", "O", True),
    ],
    ids=["it wins", "it loses", "it can hold it", "nothing is decided"],
)
def test_the_perfect_bot_agrees_to_a_draw_unless_it_can_force_a_win(cells, turn, you, agrees):
    bot = answering("tictactoe", "perfect")
    view = {"cells": cells, "turn": turn, "you": you}
    assert bot.answer(view, "draw") is agrees
    assert bot.answer(view, "takeback") is True


@pytest.mark.parametrize(("red", "blue", "agrees"), [("2", "99", False), ("9", "2", True), ("", "", True)])
def test_the_sensible_bot_agrees_to_a_draw_unless_it_is_ahead(red, blue, agrees):
    bot = answering("stratego", "sensible")
    assert bot.answer({"you": "red", "lost": {"red": red, "blue": blue}}, "draw") is agrees


def answering(game: str, bot: str) -> BotWithAnswers:
    """A bot that has answers of its own."""
    found = bots_of(GAMES[game])[bot]
    assert isinstance(found, BotWithAnswers)
    return found

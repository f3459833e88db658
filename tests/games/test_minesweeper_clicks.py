"""Minesweeper: which cells were clicked, and not only opened by a cascade, and which of them ended it."""

from parlour.game import Chance, Moment
from parlour.games.minesweeper import Chord, Field, Flag, Minesweeper, Open, Restart
from parlour.testing import Table, told

GAME = Minesweeper()
ANN = "ann"


def laid(drawn):
    return Table(GAME).sit(ANN).lay_out(Field.parse(drawn))


def seen(table):
    view = GAME.view(table.state, None)
    return view["clicked"], view["ended_by"]


def spots(table):
    return {spot.id: spot for spot in GAME.scene(table.state, None).spots}


def test_what_a_cascade_opens_was_not_clicked():
    table = laid("# # * # / # # # #")
    table.act(ANN, Open(1, 1))
    assert str(table.state) == ". 1 * #\n. 1 # #"
    table.act(ANN, Open(4, 1))
    assert seen(table) == ([(1, 1), (4, 1)], [])


def test_what_a_chord_opens_was_clicked_but_not_what_follows():
    table = laid("F 1 # # / # # # #")
    step = table.act(ANN, Chord(2, 1))
    assert told(step)[0] == {
        "type": "click",
        "cells": [{"x": 3, "y": 1}, {"x": 1, "y": 2}, {"x": 2, "y": 2}, {"x": 3, "y": 2}],
    }
    assert (4, 1) not in seen(table)[0]


def test_the_mines_that_were_opened_ended_it_or_the_last_click():
    table = laid("* # / # *")
    table.act(ANN, Open(2, 1))
    table.act(ANN, Open(1, 1))
    assert seen(table) == ([(2, 1), (1, 1)], [(1, 1)])
    table = laid("* 2 / # F")
    table.act(ANN, Open(1, 2))
    assert seen(table) == ([(1, 2)], [(1, 2)])


def test_a_flag_is_no_click_and_a_restart_forgets_them_all():
    table = laid("* # / # *")
    table.act(ANN, Flag(1, 1))
    assert seen(table) == ([], [])
    table.act(ANN, Open(2, 1))
    table.act(ANN, Restart())
    assert seen(table) == ([], [])


def test_the_last_click_is_marked_and_in_the_end_all_clicks_are_drawn():
    table = laid("# # * # / # # # *")
    table.act(ANN, Open(1, 1))
    assert [id for id, spot in spots(table).items() if spot.mark] == ["c0"]
    table.act(ANN, Open(4, 1))
    table.act(ANN, Open(3, 1))
    drawn = spots(table)
    assert [id for id, spot in drawn.items() if spot.mark] == ["c2"]
    assert [drawn[id].fill for id in ("c0", "c1", "c2", "c3")] == ["paper", "sunken", "red", "paper"]
    assert drawn["c0"].label == "column 1, row 1: clear, clicked"


def test_the_log_has_a_line_for_each_cell_that_was_opened_by_hand():
    table = laid("# # * # / # # # *")
    table.act(ANN, Open(1, 1))
    table.act(ANN, Open(4, 1))
    assert GAME.scene(table.state, ANN).log == ("column 1, row 1", "column 4, row 1")


def test_steps_of_the_first_version_are_told_as_they_were_then():
    field = Field.parse("* 2 / # F")
    then = Moment(0.0, 0.0, Chance(bytes(32), 1), (ANN,), rules=1)
    effects = GAME.handle_event(field, ANN, Open(1, 2), then).effects
    said = [effect.payload for effect in effects if hasattr(effect, "payload")]
    assert [message["type"] for message in said] == ["open", "game_over", "show_mines"]
    assert "ended_by" not in said[1]

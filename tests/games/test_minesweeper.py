"""Minesweeper, rule by rule."""

from textwrap import dedent

import pytest
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import Outcome
from parlour.games.minesweeper import Chord, Field, Flag, Minesweeper, Open, Restart
from parlour.testing import NEW_YEAR, Table, effects, told
from parlour.wire import Connect

GAME = Minesweeper()
ANN, BOB = "ann", "bob"


def laid(drawn: str) -> Table:
    """A table where Ann plays this field."""
    return Table(GAME).sit(ANN).lay_out(Field.parse(drawn))


def blank(width: int, height: int, mines: int, luck: int = 0) -> Table:
    """A table where Ann has opened nothing yet."""
    return Table(GAME, {"width": width, "height": height, "mines": mines}, luck=luck).sit(ANN)


def after(table: Table, *events: Open | Flag | Chord | Restart) -> str:
    """The field after Ann did all this."""
    for event in events:
        table.act(ANN, event)
    return str(table.state)


def draw(rows: str) -> str:
    return dedent(rows).strip()


def why_not(drawn: str, event: object) -> tuple[str, str]:
    refused = laid(drawn).refusal(ANN, event)
    return refused.code, refused.message


def view_of(drawn: str) -> dict[str, object]:
    return GAME.view(Field.parse(drawn), None)


# What can be set up.
@pytest.mark.parametrize(
    ("config", "size"),
    [
        ({}, (9, 9, 10)),
        ({"preset": "beginner"}, (9, 9, 10)),
        ({"preset": "intermediate"}, (16, 16, 40)),
        ({"preset": "advanced"}, (30, 16, 99)),
        ({"preset": "custom"}, (10, 10, 10)),
        ({"preset": "custom", "width": 4, "height": 3, "mines": 2}, (4, 3, 2)),
        ({"width": 4, "height": 3, "mines": 2}, (4, 3, 2)),
        ({"preset": "advanced", "mines": 120}, (30, 16, 120)),
        ({"width": 99, "height": 99, "mines": 9800}, (99, 99, 9800)),
        ({"width": 1, "height": 2, "mines": 1}, (1, 2, 1)),
    ],
)
def test_a_preset_says_how_large_a_field_is_unless_told_otherwise(config, size):
    field = Table(GAME, config).state
    assert (field.width, field.height, field.mines) == size
    assert set(field.cells) == {"#"}


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({"width": 0}, "$.config.width"),
        ({"width": 100}, "$.config.width"),
        ({"height": 0}, "$.config.height"),
        ({"height": 100}, "$.config.height"),
        ({"mines": 0}, "$.config.mines"),
        ({"mines": -1}, "$.config.mines"),
        ({"mines": 81}, "$.config.mines"),
        ({"width": 1, "height": 1, "mines": 1}, "$.config.mines"),
        ({"preset": "expert"}, "$.config.preset"),
        ({"width": "9"}, "$.config.width"),
        ({"depth": 9}, "$.config"),
        ([], "$.config"),
    ],
)
def test_a_field_that_cannot_be_played_is_refused_and_the_path_says_where(config, path):
    with pytest.raises(Refused) as caught:
        Table(GAME, config)
    assert (caught.value.code, caught.value.path) == (Code.INVALID_CONFIG, path)


def test_there_are_fewer_mines_than_cells():
    with pytest.raises(Refused, match="expected fewer than the 3 x 3 cells, got 9"):
        Table(GAME, {"width": 3, "height": 3, "mines": 9})
    assert Table(GAME, {"width": 3, "height": 3, "mines": 8}).state.mines == 8


# How a field is drawn.


def test_a_field_is_drawn_as_it_is_read():
    field = Field.parse("""
        # * F !
        1 2 X .
    """)
    assert (field.width, field.height, field.mines, field.flags) == (4, 2, 3, 2)
    assert Field.parse(str(field)) == field


@pytest.mark.parametrize("drawn", ["# # / #", "# ?", "", "/", " / "])
def test_what_is_no_field_is_not_read_as_one(drawn):
    with pytest.raises(ValueError, match="expected rows of one length"):
        Field.parse(drawn)


# Who plays and who watches.


def test_the_first_to_join_plays_and_hears_the_players_topic():
    table = Table(GAME).sit(ANN)
    assert table.room.seats[0] is not None
    assert table.room.seats[0].topics == ("players", "all", "player:ann")


def test_a_second_player_is_refused_but_may_watch_with_the_audience():
    table = Table(GAME).sit(ANN)
    with pytest.raises(Refused, match="game_full"):
        table.sit(BOB)
    joined = table.watch(BOB)
    assert (joined.topics, joined.seat) == (("audience",), None)


def test_a_hundred_may_watch():
    assert GAME.spectators == 100


@pytest.mark.parametrize("event", [Open(1, 1), Flag(1, 1), Chord(1, 1), Restart()])
def test_only_the_player_plays(event):
    table = Table(GAME).sit(ANN)
    table.watch(BOB)
    assert table.refusal(BOB, event).code == Code.NOT_SEATED
    assert list(GAME.legal_events(table.state, BOB)) == []


def test_the_room_ends_five_seconds_after_the_player_left():
    table = Table(GAME).sit(ANN)
    table.leave(ANN)
    table.wait(4.9)
    assert table.why_ended() is None
    table.wait(0.1)
    assert table.why_ended() == "game_ended"
    assert told(table.steps[-1]) == [{"reason": "game_ended"}]


def test_who_closes_the_tab_finds_the_field_again_for_two_weeks():
    table = laid("* 1 . / 1 1 . / # # !")
    table.disconnect(ANN)
    table.wait(14 * 86400 - 1)
    assert (table.room.players, table.why_ended()) == ((ANN,), None)
    table.wait(1)
    assert table.why_ended() == "game_timeout"


def test_somebody_else_may_play_on_before_the_room_ends():
    table = laid("* 1 . / 1 1 . / # # !")
    table.leave(ANN)
    table.wait(4)
    table.sit(BOB)
    table.wait(100)
    assert table.why_ended() is None
    table.act(BOB, Flag(3, 3))
    assert str(table.state) == "* 1 .\n1 1 .\n# # #"


def test_who_sits_down_after_the_end_can_restart():
    table = laid("X 1 . / 1 1 .")
    table.leave(ANN)
    table.sit(BOB)
    table.wait(119)
    assert table.why_ended() is None
    table.act(BOB, Restart())
    table.wait(100)
    assert table.why_ended() is None


# Opening.


@pytest.mark.parametrize("luck", range(20))
def test_the_first_cell_and_all_around_it_are_free_of_mines(luck):
    table = blank(5, 5, 16, luck)
    assert after(table, Open(3, 3)).count("*") == 16
    assert [row[1:4] for row in table.state.rows[1:4]] == ["535", "3.3", "535"]


def test_in_a_corner_too_and_mines_may_lie_anywhere_else():
    assert possible_mines(4, 3, mines=3) == set(range(12)) - {0, 1, 4, 5}


def test_without_room_for_that_only_the_first_cell_is():
    assert possible_mines(4, 3, mines=4) == set(range(12)) - {0}


def possible_mines(width: int, height: int, mines: int) -> set[int]:
    """Where mines were found in many games that began in the corner."""
    seen: set[int] = set()
    for luck in range(100):
        table = blank(width, height, mines, luck)
        table.act(ANN, Open(1, 1))
        seen |= table.state.mined
    return seen


def test_a_field_where_one_cell_is_safe_is_won_by_the_first():
    table = blank(3, 3, 8)
    table.act(ANN, Open(2, 2))
    assert table.room.outcome == Outcome(won=(ANN,), why="every safe cell is open")


def test_the_first_cell_starts_the_clock_and_everybody_hears_in_order_what_happened():
    table = blank(3, 1, 1).lay_out(Field.parse("# # #", mines=2))
    table.wait(7)
    step = table.act(ANN, Open(3, 1))
    assert told(step) == [
        {"type": "start_game", "start_time": NEW_YEAR + 7},
        {"type": "click", "cells": [{"x": 3, "y": 1}]},
        {"type": "open", "cells": [{"x": 3, "y": 1, "value": 1}]},
        {"type": "game_over", "status": "win", "end_time": NEW_YEAR + 7, "ended_by": [{"x": 3, "y": 1}]},
        {"type": "show_mines", "cells": [{"x": 1, "y": 1}, {"x": 2, "y": 1}]},
    ]


def test_the_clock_starts_once():
    table = laid("# # * / # # #")
    table.act(ANN, Open(2, 1))
    table.wait(10)
    step = table.act(ANN, Open(2, 2))
    assert [said["type"] for said in told(step)] == ["click", "open"]
    assert GAME.view(table.state, ANN)["start_time"] == NEW_YEAR


def test_a_cell_beside_mines_opens_alone_and_shows_how_many():
    assert after(laid("* # # / * # # / * # #"), Open(2, 2)) == "* # #\n* 3 #\n* # #"


def test_a_number_goes_up_to_eight():
    assert after(laid("* * * / * # * / * * #"), Open(2, 2)) == "* * *\n* 7 *\n* * #"
    assert after(laid("* * * / * # * / * * * / # # #"), Open(2, 2)).splitlines()[1] == "* 8 *"


def test_opening_a_zero_opens_its_whole_region_and_its_rim():
    table = laid("""
        # # # # #
        # # # # *
        * # # # #
        # * # # #
    """)
    step = table.act(ANN, Open(1, 1))
    assert str(table.state) == draw("""
        . . . 1 #
        1 1 . 1 *
        * 2 1 1 #
        # * # # #
    """)
    clicked, said = told(step)
    assert clicked == {"type": "click", "cells": [{"x": 1, "y": 1}]}
    assert len(said["cells"]) == 11
    assert said["cells"][3] == {"x": 4, "y": 1, "value": 1}


def test_two_zeros_that_touch_at_a_corner_are_one_region():
    table = laid("""
        # # # *
        # # # #
        # # # #
        * # # #
    """)
    assert after(table, Open(1, 1)) == draw("""
        . . 1 *
        . . 1 1
        1 1 . .
        * 1 . .
    """)


def test_a_region_does_not_open_under_flags():
    table = laid("""
        # # !
        # # #
        * # #
    """)
    assert after(table, Open(2, 1)) == draw("""
        . . !
        1 1 .
        * 1 .
    """)


def test_opening_a_mine_loses():
    table = laid("* # / # *")
    table.wait(30)
    step = table.act(ANN, Open(1, 1))
    assert str(table.state) == "X #\n# *"
    assert table.room.outcome == Outcome(lost=(ANN,), why="a mine was opened")
    assert told(step)[-3:] == [
        {"type": "open", "cells": [{"x": 1, "y": 1, "mine": True}]},
        {"type": "game_over", "status": "lose", "end_time": NEW_YEAR + 30, "ended_by": [{"x": 1, "y": 1}]},
        {"type": "show_mines", "cells": [{"x": 1, "y": 1}, {"x": 2, "y": 2}]},
    ]


def test_opening_the_last_safe_cell_wins_whatever_is_flagged():
    table = laid("* 2 / # F")
    table.act(ANN, Open(1, 2))
    assert table.room.outcome == Outcome(won=(ANN,), why="every safe cell is open")


def test_a_flag_on_a_safe_cell_keeps_the_win_away():
    table = laid("* 1 / ! 1")
    assert table.state.status == "play"
    table.act(ANN, Flag(1, 2))
    table.act(ANN, Open(1, 2))
    assert table.state.status == "win"


def test_an_open_cell_is_not_opened_again():
    assert why_not("* 1 / # #", Open(2, 1)) == ("illegal_move", "that cell is already open")


@pytest.mark.parametrize("drawn", ["F # / # #", "! * / # #"])
def test_a_flag_protects_its_cell(drawn):
    assert why_not(drawn, Open(1, 1)) == ("illegal_move", "that cell has a flag; take it away first")


def test_a_flag_protects_the_first_cell_too_and_the_clock_does_not_start():
    table = blank(4, 4, 2)
    table.act(ANN, Flag(1, 1))
    assert table.refusal(ANN, Open(1, 1)).code == Code.ILLEGAL_MOVE
    assert (table.state.status, table.state.start_time) == ("init", None)


@pytest.mark.parametrize("what", ["open", "flag", "chord"])
@pytest.mark.parametrize(("x", "y"), [(0, 1), (1, 0), (4, 1), (1, 3), (-1, -1)])
def test_nothing_happens_off_the_field(what, x, y):
    for drawn in ("# # # / # # #", "* # # / # # #"):
        code, message = why_not(drawn, {"type": what, "x": x, "y": y})
        assert (code, message) == ("illegal_move", f"{x}, {y} is off the field of 3 x 2")


@pytest.mark.parametrize(
    ("event", "path"),
    [
        ({"type": "open", "x": "1", "y": 1}, "$.x"),
        ({"type": "flag", "x": 1, "y": 1.5}, "$.y"),
        ({"type": "chord", "x": 1}, "$"),
        ({"type": "open", "x": 1, "y": 1, "z": 1}, "$"),
        ({}, "$"),
        ([1, 1], "$"),
    ],
)
def test_what_is_no_move_is_malformed_and_the_path_says_where(event, path):
    refused = blank(3, 3, 1).refusal(ANN, event)
    assert (refused.code, refused.path) == (Code.MALFORMED, path)


def test_what_minesweeper_does_not_know_is_refused_with_what_it_knows():
    refused = blank(3, 3, 1).refusal(ANN, {"type": "dig"})
    assert refused.code == Code.UNKNOWN_EVENT
    assert refused.message == "$.type: expected open or flag or chord or restart, got 'dig'"


# Flags.


def test_a_flag_is_put_on_a_closed_cell_and_taken_away():
    table = laid("* # / # #")
    put = table.act(ANN, Flag(1, 1))
    assert told(put) == [{"type": "flag", "x": 1, "y": 1, "flagged": True}]
    assert str(table.state) == "F #\n# #"
    taken = table.act(ANN, Flag(1, 1))
    assert told(taken) == [{"type": "flag", "x": 1, "y": 1, "flagged": False}]
    assert str(table.state) == "* #\n# #"


def test_flags_can_be_put_before_the_first_cell_is_opened_and_stay():
    table = blank(4, 4, 1)
    assert after(table, Flag(1, 1), Flag(1, 1), Flag(4, 4)) == "# # # #\n" * 3 + "# # # !"
    table.act(ANN, Open(1, 1))
    assert table.state.cells[15] in "F!"
    assert table.state.mined.isdisjoint({0, 1, 4, 5})


def test_there_may_be_more_flags_than_mines():
    table = laid("* # / # #")
    after(table, Flag(1, 1), Flag(2, 1), Flag(1, 2))
    view = GAME.view(table.state, None)
    assert (view["flags"], view["mines"]) == (3, 1)


def test_an_open_cell_takes_no_flag():
    assert why_not("* 1 / # #", Flag(2, 1)) == ("illegal_move", "that cell is open; flags go on closed ones")


# Chording.


def test_a_number_with_all_its_flags_opens_what_else_is_closed_around_it():
    table = laid("""
        F 1 # #
        # # # #
        # # # *
    """)
    assert after(table, Chord(2, 1)) == draw("""
        F 1 . .
        1 1 1 1
        # # # *
    """)


def test_chording_beside_a_wrong_flag_loses():
    table = laid("* 1 # / # ! #")
    step = table.act(ANN, Chord(2, 1))
    assert str(table.state) == "X 1 .\n1 ! ."
    assert {"x": 1, "y": 1, "mine": True} in told(step)[1]["cells"]
    assert table.room.outcome == Outcome(lost=(ANN,), why="a mine was opened")


def test_chording_can_win():
    table = laid("F 1 # / 1 1 #")
    table.act(ANN, Chord(2, 1))
    assert table.state.status == "win"


@pytest.mark.parametrize(
    ("drawn", "why"),
    [
        ("* 1 # / # # #", "around that 1 there are 0 flags, not 1"),
        ("F 1 ! / # # #", "around that 1 there are 2 flags, not 1"),
        ("F 2 * / # # #", "around that 2 there is 1 flag, not 2"),
        ("F 1 . / 1 1 . / . . !", "around that 1 there is nothing left to open"),
        ("* # # / # # #", "only an open number can be chorded"),
        ("* ! # / # # #", "only an open number can be chorded"),
        (". . . / # 1 # / # * #", "only an open number can be chorded"),
    ],
)
def test_chording_needs_a_number_its_flags_and_something_closed(drawn, why):
    assert why_not(drawn, Chord(2, 1)) == ("illegal_move", why)


# The end, and another beginning.


@pytest.mark.parametrize("over", ["X 1 / 1 #", "* 1 / 1 1"])
@pytest.mark.parametrize("event", [Open(2, 2), Flag(2, 2), Chord(2, 1)])
def test_after_the_end_only_a_restart_is_possible(over, event):
    assert why_not(over, event) == ("illegal_move", "the game is over; restart for another")
    assert list(GAME.legal_events(laid(over).state, ANN)) == [Restart()]


def test_the_room_ends_two_minutes_after_the_game():
    table = laid("* # / # #")
    assert effects(table.act(ANN, Open(1, 1)))[-1] == {"type": "end", "after": 120.0}
    table.disconnect(ANN)
    table.wait(119)
    assert table.why_ended() is None
    table.wait(1)
    assert table.why_ended() == "game_ended"


def test_no_field_is_taken_from_a_player_who_looks_at_it_nor_by_a_reload_of_the_page():
    table = laid("* # / # #")
    table.act(ANN, Open(1, 1))
    assert table.wait(1000) == []
    table.disconnect(ANN)
    table.wait(59)
    table.do(Connect(ANN))
    assert table.wait(1000) == []
    table.disconnect(ANN)
    table.wait(60)
    assert table.why_ended() == "game_ended"


def test_a_restart_takes_the_end_back():
    table = laid("* # / # #")
    table.act(ANN, Open(1, 1))
    table.act(ANN, Restart())
    table.wait(121)
    assert (table.why_ended(), table.room.outcome) == (None, None)


@pytest.mark.parametrize("drawn", ["# ! / # #", "* 1 / # !", "X 1 / 1 1", "* 1 / 1 1"])
def test_a_restart_gives_a_blank_field_at_any_time_and_everybody_their_whole_view(drawn):
    table = Table(GAME).sit(ANN).lay_out(replace(Field.parse(drawn, mines=1), start_time=5.0, end_time=9.0))
    step = table.act(ANN, Restart())
    assert table.state == Field(2, 1, "####", players=(ANN,))
    assert effects(step) == [
        {"type": "end", "after": None},
        {"type": "send", "to": "all", "payload": None, "kind": "sync"},
    ]


def test_a_restarted_game_has_mines_of_its_own():
    table = blank(9, 9, 10)
    fields = set()
    for _ in range(5):
        fields.add(after(table, Open(5, 5)))
        table.act(ANN, Restart())
    assert len(fields) == 5


def test_the_clock_is_the_rooms_and_the_dates_are_the_walls():
    table = laid("* # # / # # #")
    table.wait(3)
    table.act(ANN, Open(2, 2))
    table.wait(12.5)
    table.act(ANN, Open(1, 1))
    view = GAME.view(table.state, ANN)
    assert (view["start_time"], view["end_time"]) == (NEW_YEAR + 3, NEW_YEAR + 15.5)
    assert view["elapsed"] == 12.5


# What can be seen.


def test_a_new_field_looks_like_this():
    assert GAME.view(blank(3, 2, 1).state, ANN) == {
        "width": 3,
        "height": 2,
        "mines": 1,
        "flags": 0,
        "status": "init",
        "start_time": None,
        "end_time": None,
        "elapsed": None,
        "rows": ["###", "###"],
        "clicked": [],
        "ended_by": [],
    }


@pytest.mark.parametrize(
    ("drawn", "status", "rows"),
    [
        ("# # / # !", "init", ["##", "#F"]),
        ("* 1 / # #", "play", ["#1", "##"]),
        ("F 1 / ! #", "play", ["F1", "F#"]),
        ("X 2 / ! *", "lose", ["X2", "!*"]),
        ("* 2 / 2 F", "win", ["*2", "2F"]),
    ],
)
def test_mines_are_seen_when_it_is_over_and_not_before(drawn, status, rows):
    view = view_of(drawn)
    assert (view["status"], view["rows"]) == (status, rows)


def test_nobody_can_tell_a_mine_from_none_nor_a_right_flag_from_a_wrong_one():
    assert view_of("* 1 F # #") == view_of("# 1 ! * *") | {"mines": 2, "rows": ["#1F##"]}


def test_player_and_audience_see_the_same():
    field = laid("F 1 / ! #").state
    assert GAME.view(field, ANN) == GAME.view(field, None)


def test_the_player_may_do_all_that_would_be_accepted_and_nothing_else():
    table = laid("""
        F 1 #
        # 1 !
        # # .
    """)
    legal = list(GAME.legal_events(table.state, ANN))
    everything = [kind(x, y) for kind in (Open, Flag, Chord) for x in (1, 2, 3) for y in (1, 2, 3)]
    accepted = []
    for event in (*everything, Restart()):
        room = table.room
        try:
            table.act(ANN, event)
            accepted.append(event)
        except Refused:
            pass
        table.room = room
    assert set(legal) == set(accepted)
    assert len(legal) == len(accepted)

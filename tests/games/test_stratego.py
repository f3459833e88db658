"""Stratego, rule by rule: moves, fights and the end. Boards are drawn as `games/stratego/board.py` says."""

from itertools import product
from textwrap import dedent
from typing import Any

import pytest

from parlour.clocks import MAX_LAG, Absence, ClockSettings
from parlour.errors import Code
from parlour.game import Chance, Outcome
from parlour.games.stratego import Stratego
from parlour.games.stratego.board import BLUE, RANKS, RED, moves, parse, why_not
from parlour.games.stratego.position import Position, Rules
from parlour.games.stratego.rules import DeclineDraw, Move, OfferDraw, Resign
from parlour.testing import Table, effects, legal, told

GAME = Stratego()
ANN, BOB = "ann", "bob"

LAKES = """
    .  .  .  .  .  .  .  .  .  .
    .  .  .  .  .  .  .  .  .  .
    .  .  .  .  .  .  .  .  .  .
    .  r5 r5 r5 .  .  .  .  .  .
    .  r2 ~  ~  .  .  ~  ~  .  .
    .  .  ~  ~  r2 .  ~  ~  .  .
    .  .  .  b5 .  .  .  .  .  .
    .  .  .  .  .  .  .  .  .  .
    .  .  .  .  .  .  .  .  .  .
    .  .  .  .  .  .  .  .  .  .
"""


def laid(drawn: str, turn: int = RED, **rules: Any) -> Table:
    """A table where Ann is red, Bob is blue, and this is the board."""
    position = Position.parse(drawn, turn=turn, rules=Rules(**rules))
    return Table(GAME, {"preset": "ogetarts"}).sit(ANN, BOB).lay_out(position)


def squares(*names: str) -> list[int]:
    """Squares by row and column, each a figure: 35 is column 5 of row 3."""
    return [int(name) for name in names]


def move(table: Table, *ways: str) -> None:
    """Moves in turn, as ``35-45``."""
    for way in ways:
        start, end = squares(*way.split("-"))
        table.act((ANN, BOB)[table.state.turn], Move(start, end))


def after(drawn: str, *ways: str, turn: int = RED, **rules: Any) -> str:
    """The same corner of the board after these moves."""
    table = laid(drawn, turn, **rules)
    move(table, *ways)
    rows = dedent(drawn).strip().replace(" / ", "\n").splitlines()
    width = len(rows[0].split())
    return " / ".join(" ".join(row.split()[:width]) for row in str(table.state).splitlines()[: len(rows)])


def why_not_in(drawn: str, way: str, turn: int = RED) -> tuple[str, str]:
    start, end = squares(*way.split("-"))
    no = laid(drawn, turn).refusal((ANN, BOB)[turn], Move(start, end))
    return no.code, no.message


def targets(drawn: str, square: int, turn: int = RED) -> list[int]:
    """Where the piece on this square may go."""
    table = laid(drawn, turn)
    return sorted(event.end for event in legal(GAME, table.state, (ANN, BOB)[turn]) if event.start == square)


# How a board is drawn.


def test_a_board_is_drawn_as_it_is_read():
    cells, lakes = parse(LAKES)
    position = Position.parse(LAKES)
    assert (position.cells, position.rules.lakes, lakes) == (cells, True, True)
    assert Position.parse(str(position)) == position
    assert [row.split() for row in str(position).splitlines()] == [
        row.split() for row in LAKES.strip().splitlines()
    ]


def test_what_everybody_knows_of_a_piece_is_drawn_too():
    position = Position.parse("r9 r9' R9 r2^ BB bF")
    assert Position.parse(str(position)) == position
    assert [piece.known for piece in position.cells[:6] if piece] == [0, 1, 3, 2, 3, 0]


def test_a_part_of_a_board_is_its_upper_left_corner():
    assert str(Position.parse("r9 . / . b5")).splitlines()[:3] == [
        "r9  .   .   .   .   .   .   .   .   .",
        ".   b5  .   .   .   .   .   .   .   .",
        ".   .   .   .   .   .   .   .   .   .",
    ]


@pytest.mark.parametrize(
    "drawn",
    [
        "",
        "r9 / r9 r9",
        "x9",
        "r0",
        "r1",
        "r?",
        "rB'",  # a bomb does not move
        "r9^",  # only scouts slide
        "~ . / . .",  # there is no lake
        " ".join(11 * ["."]),
    ],
)
def test_what_is_no_board_is_not_read_as_one(drawn):
    with pytest.raises(ValueError, match="expected"):
        Position.parse(drawn)


# Moving.


def test_a_piece_moves_one_step_forward_back_or_aside():
    drawn = ". . . / . r5 . / . . . / b5 . ."
    assert targets(drawn, 11) == squares("01", "10", "12", "21")


def test_a_piece_that_moved_is_known_to_be_able_to():
    assert after("r5 . b5", "0-1") == ". r5' b5"


def test_a_scout_slides_as_far_as_nothing_is_in_the_way_and_may_attack_at_the_end():
    drawn = """
        .  .  .  .  .
        .  r2 .  .  b5
        .  .  .  .  .
        .  r5 .  .  .
    """
    assert targets(drawn, 11) == squares("1", "10", "12", "13", "14", "21")


def test_who_slides_is_known_for_a_scout_but_one_step_tells_nothing_of_it():
    assert after("r2 . . . b5 .", "0-3") == ". . . r2^ b5 ."
    assert after("r2 . . . b5 .", "0-1") == ". r2' . . b5 ."


def test_what_is_known_of_a_piece_is_not_forgotten():
    assert after("r2 . . . / b5 . . .", "0-3", "10-11", "3-2") == ". . r2^ . / . b5' . ."
    assert after("R2 . . . / b5 . . .", "0-3") == ". . . R2 / b5 . . ."


def test_nobody_crosses_a_lake():
    assert targets(LAKES, 32) == [22]
    assert targets(LAKES, 33) == [23, 34]
    assert targets(LAKES, 41) == squares("40", "51", "61", "71", "81", "91")
    assert targets(LAKES, 54) == squares("4", "14", "24", "34", "44", "55", "64", "74", "84", "94")
    assert why_not_in(LAKES, "32-42") == ("illegal_move", "nobody crosses a lake")
    assert why_not_in(LAKES, "41-44") == ("illegal_move", "nobody crosses a lake")


def test_without_lakes_the_middle_is_open():
    drawn = LAKES.replace("~", ".")
    assert targets(drawn, 32) == [22, 42]
    assert 44 in targets(drawn, 41)


@pytest.mark.parametrize(
    ("way", "why"),
    [
        ("0-1", "your own piece stands there"),
        ("0-11", "pieces move to another square in a straight line, not diagonally"),
        ("0-0", "pieces move to another square in a straight line, not diagonally"),
        ("0-20", "only scouts move more than one square"),
        ("9-10", "pieces move to another square in a straight line, not diagonally"),
        ("1-3", "nobody jumps over a piece"),
        ("1-12", "pieces move to another square in a straight line, not diagonally"),
        ("2-12", "the piece on square 2 is not yours"),
        ("5-6", "there is no piece on square 5"),
        ("13-14", "bombs and flags stay where they are"),
        ("14-15", "bombs and flags stay where they are"),
    ],
)
def test_a_move_that_is_none_is_refused_with_the_reason(way, why):
    drawn = """
        r5 r2 b5 .  .  .  .  .  .  r5
        .  .  .  rB rF .  .  .  .  .
    """
    assert why_not_in(drawn, way) == ("illegal_move", why)


@pytest.mark.parametrize(
    ("start", "end"), [(-1, 0), (0, -1), (0, 100), (100, 0), (0, 10**15), ("0", 1), (0.5, 1)]
)
def test_there_is_nothing_off_the_board(start, end):
    no = laid("r5 . / . b5").refusal(ANN, {"type": "move", "from": start, "to": end})
    assert no.code == Code.MALFORMED
    assert no.path in ("$.from", "$.to")


@pytest.mark.parametrize("side", [RED, BLUE])
@pytest.mark.parametrize("luck", range(3))
def test_what_can_be_moved_is_what_is_not_refused(side, luck):
    chance = Chance(bytes(32), luck)
    words = ["r2", "r5", "rB", "b2", "b7", "bF"] + 14 * ["."]
    drawn = "\n".join(" ".join(chance.choice(words) for _ in range(10)) for _ in range(10))
    cells, _ = parse(drawn)
    possible = {
        way for way in product(range(100), repeat=2) if why_not(cells, side, *way, lakes=False) is None
    }
    assert set(moves(cells, side, lakes=False)) == possible


# Turns.


def test_red_begins_and_then_they_take_turns():
    table = laid("r5 . / b5 .")
    assert table.refusal(BOB, Move(10, 11)).code == Code.NOT_YOUR_TURN
    move(table, "0-1")
    assert table.refusal(ANN, Move(1, 0)).message == "it is blue's turn"
    move(table, "10-11")
    assert table.state.turn == RED


def test_who_is_not_on_move_has_no_legal_move():
    table = laid("r5 . / b5 .")
    assert legal(GAME, table.state, ANN) == [Move(0, 1), Move(0, 10)]
    assert legal(GAME, table.state, BOB) == []


def test_spectators_move_nothing():
    assert laid("r5 . / b5 .").refusal("zoe", Move(0, 1)).code == Code.NOT_SEATED


# Fighting.


def test_the_higher_rank_wins_and_the_loser_goes_to_its_tray():
    table = laid("r7 b4 . / . . b5")
    move(table, "0-1")
    assert table.state.lost == ["", "4"]
    assert after("r7 b4 . / . . b5", "0-1") == ". R7 . / . . b5"


def test_an_attacker_who_loses_goes_and_the_defender_stays_where_it_is():
    assert after("r4 b7 . / r5 . .", "0-1") == ". B7 . / r5 . ."


def test_equal_ranks_both_fall_and_each_goes_to_its_own_tray():
    table = laid("r6 b6 . / r5 . b5")
    move(table, "0-1")
    assert (table.state.rows()[0][:5], table.state.lost) == (". . .", ["6", "6"])


def test_the_spy_beats_the_marshal_only_when_it_attacks():
    assert after("rS bM . / r5 . b5", "0-1") == ". RS . / r5 . b5"
    assert after("rM bS . / r5 . b5", "0-1") == ". RM . / r5 . b5"
    assert after("rS b9 . / r5 . b5", "0-1") == ". B9 . / r5 . b5"


def test_a_bomb_falls_to_a_miner_and_goes_to_its_tray_as_any_piece_does():
    table = laid("r3 bB . / r5 . b5")
    move(table, "0-1")
    assert table.state.lost == ["", "B"]
    assert after("r3 bB . / r5 . b5", "0-1") == ". R3 . / r5 . b5"


@pytest.mark.parametrize("rank", "S2456789M")
def test_everybody_else_dies_on_a_bomb_which_stays(rank):
    assert after(f"r{rank} bB . / r5 . b5", "0-1") == ". BB . / r5 . b5"


def test_a_scout_fights_at_the_end_of_its_slide():
    assert after("r2 . . bS / r5 . . b5", "0-3") == ". . . R2 / r5 . . b5"


def test_the_whole_table_of_fights():
    """A row an attacker, a column a defender: + the attacker stands, - the defender, = neither."""
    won = {"won": "+", "lost": "-", "both fell": "="}
    table = []
    for attacker in RANKS[1:11]:
        row = ""
        for defender in RANKS[1:]:
            last = laid(f"r{attacker} b{defender} . / r5 . b5").state.play(0, 1).last
            row += won[last.result]
        table.append(f"{attacker} {row}")
    assert table == [
        # S23456789MBF
        "S =--------+-+",
        "2 +=---------+",
        "3 ++=-------++",
        "4 +++=-------+",
        "5 ++++=------+",
        "6 +++++=-----+",
        "7 ++++++=----+",
        "8 +++++++=---+",
        "9 ++++++++=--+",
        "M +++++++++=-+",
    ]


def test_a_fight_is_told_with_both_ranks_and_shown_until_the_next_move():
    table = laid("r7 b4 . / . . b5")
    move(table, "0-1")
    fought = {
        "side": "red",
        "from": 0,
        "to": 1,
        "fight": {"attacker": "7", "defender": "4", "result": "won"},
    }
    assert told(table.steps[-1]) == [{"type": "moved", **fought}]
    for viewer in (ANN, BOB, None):
        assert GAME.view(table.state, viewer)["last"] == fought
    move(table, "12-11")
    assert GAME.view(table.state, ANN)["last"] == {"side": "blue", "from": 12, "to": 11}


# To and fro.

PENDULUM = ". r5 . . . . . . . . / b5 . . . . . . . . ."


def test_a_piece_goes_to_and_fro_between_two_squares_three_times_and_no_more():
    table = laid(PENDULUM)
    move(table, "1-2", "10-20", "2-1", "20-30", "1-2", "30-40")
    no = table.refusal(ANN, Move(2, 1))
    assert no.message == "a piece may go to and fro between two squares three times, not more"
    assert Move(2, 1) not in legal(GAME, table.state, ANN)
    move(table, "2-3")


def test_who_moved_another_piece_or_went_elsewhere_may_go_back():
    table = laid("r5 . . r6 / b5 . . . ")
    move(table, "0-1", "10-20", "1-0", "20-30", "0-1", "30-40", "3-2", "40-50", "1-0", "50-60")
    move(table, "0-1", "60-70", "1-0", "70-80")
    assert table.refusal(ANN, Move(0, 1)).code == Code.ILLEGAL_MOVE
    move(table, "0-10", "80-90", "10-0", "90-91", "0-1")


def test_attacking_is_no_excuse():
    table = laid(". r5 . / . . . / b4 . .")
    move(table, "1-2", "20-10", "2-1", "10-0", "1-2", "0-1")
    assert table.state.rows(RED)[0].startswith(". b?' r5'")
    assert table.refusal(ANN, Move(2, 1)).message.startswith("a piece may go to and fro")


def test_a_scout_goes_to_and_fro_over_every_square_on_its_way():
    table = laid(". r2 . . . . . . . . / b5 . . . . . . . . .")
    move(table, "1-4", "10-20", "4-2", "20-30", "2-5", "30-40")
    ends = {event.end for event in legal(GAME, table.state, ANN)}
    assert {4, 6, 9, 15} <= ends
    assert ends.isdisjoint({3, 2, 1, 0})


def test_the_two_square_rule_can_be_left_out():
    table = laid(PENDULUM, two_squares=False)
    move(table, "1-2", "10-20", "2-1", "20-30", "1-2", "30-40", "2-1")


# The end.


def outcome_after(drawn: str, *ways: str, **rules: Any) -> Outcome | None:
    table = laid(drawn, **rules)
    move(table, *ways)
    return table.room.outcome


def test_who_captures_the_flag_wins():
    table = laid("r2 . bF / . . b9")
    move(table, "0-2")
    assert table.room.outcome == Outcome(won=(ANN,), lost=(BOB,), why="the flag is captured")
    assert table.state.lost == ["", "F"]
    assert {"type": "over", "winner": "red", "reason": "flag"} in told(table.steps[-1])
    assert GAME.view(table.state, None)["winner"] == "red"


def test_who_has_no_piece_left_that_can_move_has_lost():
    why = "no piece is left that can move"
    assert outcome_after("r7 b4 bB bF", "0-1") == Outcome(won=(ANN,), lost=(BOB,), why=why)
    assert outcome_after("r4 b7 bB rF", "0-1") == Outcome(won=(BOB,), lost=(ANN,), why=why)


def test_when_the_last_two_fall_together_nobody_wins():
    assert outcome_after("r6 b6 bF rF", "0-1") == Outcome(
        drew=(ANN, BOB), why="no piece is left that can move"
    )


def test_who_has_pieces_but_no_move_on_their_turn_has_lost():
    hemmed_in = """
        b5 bB .
        bF bB .
        .  .  r5
    """
    why = "no piece is left that can move"
    assert outcome_after(hemmed_in, "22-12") == Outcome(won=(ANN,), lost=(BOB,), why=why)


def test_a_last_piece_that_may_not_go_to_and_fro_any_more_has_lost_when_it_must_move():
    drawn = """
        r5 .  rB
        rB rB .
        b5 .  .
    """
    table = laid(drawn)
    move(table, "0-1", "20-21", "1-0", "21-22", "0-1")
    assert table.room.outcome is None
    move(table, "22-12")
    assert table.room.outcome == Outcome(won=(BOB,), lost=(ANN,), why="no piece is left that can move")


def test_many_moves_without_a_fight_are_a_draw():
    table = laid("r5 . / b5 . / . .", quiet_limit=4, two_squares=False)
    move(table, "0-1", "10-20", "1-0")
    assert table.room.outcome is None
    move(table, "20-21")
    assert table.room.outcome == Outcome(drew=(ANN, BOB), why="nobody has fought for too long")


def test_a_fight_begins_the_count_anew():
    table = laid("r5 b2 . / b5 . .", quiet_limit=2)
    move(table, "0-1", "10-20")
    assert table.room.outcome is None
    assert table.state.quiet == 1


def test_who_resigns_has_lost_whoever_is_on_move():
    for player, other in ((ANN, BOB), (BOB, ANN)):
        table = laid("r5 . / b5 .")
        table.act(player, Resign())
        assert table.room.outcome == Outcome(won=(other,), lost=(player,), why="the other side resigned")


def test_a_draw_is_agreed_by_two_offers():
    table = laid("r5 . / b5 .")
    table.act(BOB, OfferDraw())
    assert GAME.view(table.state, ANN)["offer"] == "blue"
    assert table.refusal(BOB, OfferDraw()).code == Code.ILLEGAL_MOVE
    table.act(ANN, OfferDraw())
    assert table.room.outcome == Outcome(drew=(ANN, BOB), why="both sides agreed")


def test_an_offer_stands_until_it_is_declined_or_the_other_side_moves():
    table = laid("r5 . / b5 .")
    table.act(ANN, OfferDraw())
    move(table, "0-1")
    assert table.state.offer == RED
    assert table.refusal(ANN, DeclineDraw()).message == "nobody has offered you a draw"
    table.act(BOB, DeclineDraw())
    assert table.state.offer is None
    table.act(ANN, OfferDraw())
    move(table, "10-11")
    assert table.state.offer is None


@pytest.mark.parametrize("event", [Move(2, 1), Resign(), OfferDraw(), DeclineDraw()])
def test_after_the_end_nothing_moves(event):
    table = laid("r2 . bF / . . b9")
    move(table, "0-2")
    for player in (ANN, BOB):
        assert table.refusal(player, event).message == "the game is over"
        assert legal(GAME, table.state, player) == []


# The clock.


def test_who_takes_too_long_for_a_move_has_lost():
    table = Table(GAME, {"preset": "ogetarts"}, clock=ClockSettings("turn", 30)).sit(ANN, BOB)
    table.wait(20)
    table.act(ANN, legal(GAME, table.state, ANN)[0])
    assert table.wait(30) == []
    table.wait(MAX_LAG)
    assert table.room.outcome == Outcome(won=(ANN,), lost=(BOB,), why="out of time")
    assert table.sees(None)["reason"] == "time"


def test_who_is_away_for_too_long_has_lost():
    clock = ClockSettings("none", away=Absence(60))
    table = Table(GAME, {"preset": "ogetarts", "restart_after": 0}, clock=clock).sit(ANN, BOB)
    table.disconnect(BOB)
    table.wait(60)
    assert table.room.outcome == Outcome(won=(ANN,), lost=(BOB,), why="away too long")
    assert table.sees(None)["reason"] == "away"


@pytest.mark.parametrize(("seconds", "clock"), [(30, 30), (1, 5), (0, None), (None, None)])
def test_the_setting_of_older_clients_for_a_move_is_the_rooms_clock(seconds, clock):
    room = Table(GAME, {"turn_seconds": seconds}).room
    assert (room.clocks and room.clocks.settings) == (clock and ClockSettings("turn", clock))
    assert not room.config["turn_seconds"]


def test_the_clock_stops_with_the_game():
    clock = ClockSettings("turn", 30)
    table = Table(GAME, {"preset": "ogetarts", "restart_after": 0}, clock=clock).sit(ANN, BOB)
    table.act(ANN, Resign())
    assert table.wait(3600) == []
    assert {"type": "cancel", "key": "clock"} in effects(table.steps[-1])

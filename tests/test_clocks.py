"""Players' clocks: one rule, one test. A timeline says who moved after how many seconds: ``ann 3, bob 5``."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.clocks import MAX_LAG, Absence, Claim, ClockSettings
from parlour.errors import Refused
from parlour.game import Outcome
from parlour.games import GAMES
from parlour.offers import Answer, Offer
from parlour.room import apply, open_room
from parlour.testing import Table, chance_of, check_replay, play_to_end, refused
from parlour.wire import Act, Connect, Disconnect, Hold, Leave, Rematch
from tests.probe import Probe
from tests.timelines import (
    ANN,
    BOB,
    AnnThinks,
    Failing,
    Forgiving,
    Impatient,
    away,
    clock,
    left,
    left_away,
    mark,
    pause,
    play,
    seated,
)

# How time is counted.


@pytest.mark.parametrize(
    ("settings", "timeline", "seconds"),
    [
        (clock("increment", 60), "ann 3, bob 5, ann 10", [47, 55]),
        (clock("increment", 60, 2), "ann 3, bob 5, ann 10", [51, 57]),
        (clock("increment", 60, 10), "ann 3, bob 3", [67, 67]),
        (clock("delay", 60, 4), "ann 3, bob 5, ann 10", [54, 63]),
        (clock("delay", 60, 4), "ann 4, bob 4", [64, 60]),
        (clock("turn", 30), "ann 3, bob 29, ann 1", [30, 30]),
    ],
)
def test_each_turn_is_paid_for_as_the_clock_is_set(settings, timeline, seconds):
    assert left(play(seated(settings), timeline)) == seconds


def test_only_the_time_of_those_runs_who_are_to_move():
    table = seated(clock("increment", 60))
    table.wait(7)
    assert left(table) == [53, 60]


def test_time_begins_to_run_when_everybody_is_here():
    table = Table(GAMES["tictactoe"], clock=clock("increment", 60)).sit(ANN)
    table.wait(100)
    table.sit(BOB)
    assert left(table) == [60, 60]
    table.wait(5)
    assert left(table) == [55, 60]


def test_whoever_is_gone_for_a_while_pays_for_it():
    table = seated(clock("increment", 60))
    table.do(Disconnect(ANN))
    table.wait(20)
    assert left(table) == [40, 60]


def test_a_pause_costs_nobody_anything():
    table = seated(clock("increment", 60), AnnThinks())
    table.wait(10)
    table.do(Offer(ANN, "pause"))
    table.do(Answer(BOB, "pause", accept=True))
    table.wait(1000)
    assert left(table) == [50, 60]
    table.do(Offer(BOB, "resume"))
    table.do(Answer(ANN, "resume", accept=True))
    table.wait(10)
    assert left(table) == [40, 60]


def test_while_the_server_is_down_time_stands_still():
    table = seated(clock("increment", 60))
    table.wait(57)
    table.now += 500
    table.do(Hold(500))
    assert left(table) == [3, 60]
    table.wait(3 + MAX_LAG)
    assert table.room.verdict.how == "flagged"


def test_time_that_is_given_back_for_a_dead_owner_is_no_gain_for_a_turn_that_had_just_begun():
    table = play(seated(clock("increment", 60)), "ann 5")
    table.now += 1
    table.do(Hold(4))
    mark(table, BOB)
    assert left(table) == [55, 60]


def test_a_rematch_winds_the_clocks_up():
    table = play(seated(clock("increment", 60)), "ann 1, bob 2, ann 3, bob 4, ann 5, bob 6, ann 7")
    assert table.room.status == "over"
    assert left(table) == [44, 48]
    table.wait(50)
    assert left(table) == [44, 48], "after the end nobody's time runs"
    table.do(Rematch(ANN))
    table.do(Rematch(BOB))
    assert left(table) == [60, 60]


def test_a_game_that_begins_anew_by_itself_winds_the_clocks_up():
    table = Table(GAMES["minesweeper"], clock=clock("increment", 60)).sit(ANN)
    table.wait(20)
    table.act(ANN, {"type": "open", "x": 1, "y": 1})
    play_to_end(table, chance_of(1))
    assert left(table) == [40]
    table.act(ANN, {"type": "restart"})
    assert left(table) == [60]


# Whose time runs, in games where that is not just who has the turn.


def test_in_backgammon_nobody_pays_while_neither_is_ready():
    table = seated(clock("increment", 60), GAMES["backgammon"])
    table.wait(30)
    assert left(table) == [60, 60]
    table.act(BOB, {"type": "ready"})
    table.wait(5)
    assert left(table) == [55, 60], "Bob waits for Ann"
    table.act(ANN, {"type": "ready"})
    table.wait(5)
    assert left(table) == [50, 60]


def test_in_backgammon_a_resignation_is_answered_in_the_time_of_who_offers_it():
    table = seated(clock("increment", 60), GAMES["backgammon"])
    for player in (ANN, BOB):
        table.act(player, {"type": "ready"})
    table.act(ANN, {"type": "resign_game", "grade": "single"})
    table.wait(5)
    assert left(table) == [55, 60]


@pytest.mark.parametrize(("limit", "seconds"), [(300, [60, 60]), (0, [60, 50])])
def test_in_stratego_drawing_up_takes_no_time_but_where_one_waits_without_a_limit(limit, seconds):
    table = Table(GAMES["stratego"], {"arrange_seconds": limit}, clock=clock("increment", 60)).sit(ANN, BOB)
    table.wait(30)
    assert left(table) == [60, 60]
    table.act(ANN, {"type": "ready"})
    table.wait(10)
    assert left(table) == seconds


def test_in_stratego_who_is_flagged_has_not_resigned():
    table = Table(GAMES["stratego"], {"setup": "random"}, clock=clock("increment", 60)).sit(ANN, BOB)
    table.wait(61)
    assert table.sees(None)["reason"] == "time"


# At zero.


def test_whose_time_is_over_has_lost():
    table = seated(clock("increment", 60))
    table.wait(60 + MAX_LAG - 0.01)
    assert table.room.status == "playing", "a move may be on its way"
    table.wait(0.01)
    assert table.outcome == Outcome(won=(BOB,), lost=(ANN,), why="out of time")
    assert table.room.verdict.how == "flagged"
    check_replay(table)


def test_a_delay_is_not_part_of_the_time():
    table = seated(clock("delay", 60, 5))
    table.wait(64)
    assert table.outcome is None
    table.wait(2)
    assert table.room.verdict.how == "flagged"


def test_a_game_can_say_what_the_end_of_the_time_means():
    table = seated(clock("turn", 30), Forgiving())
    table.wait(31)
    assert (table.outcome, table.room.verdict) == (None, None)
    assert left(table)[0] > 29, "and the time begins again"


def test_a_game_that_fails_at_the_end_of_the_time_has_lost_its_say():
    table = seated(clock("turn", 30), Failing())
    table.now = 31
    due = table.room.due(31)
    assert table.room.must(due)
    table.room, _ = apply(table.game, table.room, due, table.instant(), spared=True)
    assert table.room.verdict.how == "flagged"


# Who moves twice in a row.


def test_in_goofspiel_each_round_has_its_time_also_for_who_bid_last():
    table = seated(clock("turn", 30), GAMES["goofspiel"])
    table.wait(25)
    mark(table, ANN)
    table.wait(4)
    mark(table, BOB)
    assert left(table) == [30, 30]


def test_in_hearts_each_card_has_its_time_also_for_who_takes_the_trick():
    table = Table(GAMES["hearts"], {"players": 3, "passing": False}, clock=clock("turn", 30))
    table.sit(ANN, BOB, "cat")
    in_a_row, before = 0, None
    for _ in range(30):
        table.wait(20)
        (player,) = [one for one in (ANN, BOB, "cat") if table.legal(one)]
        in_a_row, before = in_a_row + (player == before), player
        mark(table, player)
        assert left(table) == [30, 30, 30]
    assert in_a_row


# How long a room waits for somebody.


def test_while_somebodys_time_runs_neither_the_seat_nor_the_room_is_given_up():
    table = seated(clock("turn", 86400), Impatient())
    for player in (ANN, BOB):
        table.do(Disconnect(player))
    table.wait(86000)
    assert (table.room.players, table.why_ended()) == ((ANN, BOB), None)
    table.wait(401)
    assert table.room.verdict.how == "flagged"
    table.wait(11)
    assert table.why_ended() == "nobody_here", "after the game the room waits as the game has it"


def test_a_turn_may_take_longer_than_the_patience_of_the_server():
    table = seated(clock("turn", 30 * 86400))
    for player in (ANN, BOB):
        table.do(Disconnect(player))
    table.wait(30 * 86400 + 1)
    assert table.room.verdict.how == "flagged"


def test_in_a_pause_the_room_waits_as_the_game_has_it():
    table = seated(clock("turn", 86400), Impatient())
    table.do(Offer(ANN, "pause"))
    table.do(Answer(BOB, "pause", accept=True))
    for player in (ANN, BOB):
        table.do(Disconnect(player))
    table.wait(11)
    assert table.why_ended() == "nobody_here"


# Where the room was set up so that nobody loses at once.


def at_zero(what, kind="increment", seconds=60, extra=0.0):
    return ClockSettings(kind, seconds, extra, what)


def test_the_other_may_claim_the_game_of_whose_time_is_over():
    table = seated(at_zero("claim"))
    table.wait(100)
    assert (table.outcome, left(table)) == (None, [0, 60])
    table.do(Claim(BOB))
    assert (table.outcome.won, table.room.verdict.how) == ((BOB,), "flagged")
    check_replay(table)


def test_nobody_can_claim_before_or_for_themselves_or_where_it_is_not_so_set_up():
    table = seated(at_zero("claim"))
    refused("illegal_move", table.do, Claim(BOB))
    table.wait(61)
    refused("illegal_move", table.do, Claim(ANN))
    refused("not_seated", table.do, Claim("eve"))
    other = seated(at_zero("bot"))
    other.wait(61)
    refused("illegal_move", other.do, Claim(BOB))


@pytest.mark.parametrize(
    ("settings", "seconds"),
    [
        (at_zero("claim"), 0),
        (at_zero("claim", extra=3.0), 3),
        (at_zero("claim", "delay", extra=3.0), 0),
        (at_zero("claim", "turn"), 60),
    ],
)
def test_a_late_move_that_nobody_claimed_against_counts_and_adds_what_a_turn_adds(settings, seconds):
    table = seated(settings)
    table.wait(100)
    mark(table, ANN)
    assert left(table)[0] == seconds
    refused("illegal_move", table.do, Claim(BOB))


def test_a_bot_may_move_for_whose_time_is_over_although_they_are_not_there():
    table = seated(at_zero("bot", "turn"))
    table.do(Disconnect(ANN))
    table.wait(61)
    assert table.room.stood_in_for == [ANN]
    event = msgspec.Raw(msgspec.json.encode(table.legal(ANN)[0]))
    refused("not_joined", table.do, Act(ANN, event))
    table.do(Act(ANN, event, stand_in=True))
    assert (table.room.stood_in_for, left(table)) == ([], [60, 60])
    check_replay(table)


# Lag.


def test_lag_is_given_back_up_to_a_fifth_of_a_second_a_move():
    table = seated(clock("increment", 60))
    table.wait(10)
    mark(table, ANN, lag=0.15)
    table.wait(10)
    mark(table, BOB, lag=3.0)
    assert left(table) == [50.15, 50.2]


def test_a_move_that_was_made_in_time_counts_although_it_came_late():
    table = seated(clock("increment", 60))
    table.wait(60.1)
    mark(table, ANN, lag=0.15)
    assert left(table) == [0.05, 60]


def test_a_move_after_the_time_is_refused():
    table = seated(clock("increment", 60))
    table.wait(60.1)
    assert refused("too_late", mark, table, ANN).message == "your time is over"


# What does not work.


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "turn", "seconds": -5},
        {"kind": "turn", "seconds": 1e12},
        {"kind": "turn", "seconds": 30, "extra": 5},
        {"kind": "delay", "seconds": 60, "extra": -1},
        {"kind": "sand", "seconds": 60},
        {"kind": "turn", "seconds": 60, "colour": "red"},
        {"kind": "turn", "seconds": 60, "at_zero": "explode"},
        {"kind": "turn"},
        {"kind": "increment", "seconds": 0},
        {"kind": "none"},
        {"kind": "none", "seconds": 60, "away": {"seconds": 60}},
        {"kind": "none", "extra": 3, "away": {"seconds": 60}},
        {"kind": "none", "away": {"seconds": -1}},
        {"kind": "none", "away": {"seconds": 1e12}},
        {"kind": "none", "away": {"seconds": 60, "at_zero": "explode"}},
        {"kind": "none", "away": 60},
    ],
)
def test_a_clock_that_makes_no_sense_is_none(wrong):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(wrong, ClockSettings)


def test_a_game_that_does_not_say_whose_turn_it_is_has_no_clocks():
    table = Table(Probe())
    with pytest.raises(Refused, match="does not say whose turn it is"):
        open_room(Probe(), "ABCD", None, table.instant(), clock=clock("turn", 30))


# All of it adds up.


EXACT = 1e-10
"""By which share numbers may differ that were added up in another order."""


class InTurn(AnnThinks):
    """Ann and Bob in turn, whatever they do."""

    offers = ("pause", "takeback")

    def to_move(self, state):
        return [(ANN, BOB)[state.calls.count("told") % 2]]


class Book:
    """What the turns of Ann and Bob cost, kept by hand."""

    def __init__(self, kind, extra):
        self.kind, self.extra = kind, extra
        self.turn = 0.0
        """Seconds of the turn that goes on."""
        self.mover = 0
        self.moves = []
        """Those that can be taken back: who, and how long it took."""
        self.charged, self.added = [0.0, 0.0], [0.0, 0.0]
        self.free = self.given_back = self.stood = self.empty = 0.0
        self.absent = [0.0, 0.0]

    def charge(self, seat, turn, sign=1):
        free = min(self.extra, turn) if self.kind == "delay" else 0.0
        self.charged[seat] += sign * (turn - free)
        self.free += sign * free

    def pay(self, seat, sign=1):
        self.added[seat] += sign * self.extra if self.kind == "increment" else 0.0

    def move(self, lag):
        back = min(lag, MAX_LAG, self.turn)
        self.given_back += back
        self.moves.append((self.mover, self.turn - back))
        self.charge(self.mover, self.turn - back)
        self.pay(self.mover)
        self.turn, self.mover = 0.0, 1 - self.mover

    def take_back(self, by):
        """The turns that are taken back are not paid for, and the first of them goes on."""
        self.charge(self.mover, self.turn)
        last = max(number for number, (seat, _) in enumerate(self.moves) if seat == by)
        for seat, _ in self.moves[last:]:
            self.pay(seat, -1)
        self.mover, self.turn = self.moves[last]
        self.charge(self.mover, self.turn, -1)
        del self.moves[last:]

    @property
    def left(self):
        return [10_000 - charged + added for charged, added in zip(self.charged, self.added, strict=True)]

    @property
    def total(self):
        known = self.free + self.given_back + self.turn + self.stood + self.empty
        return sum(self.charged) + known + sum(self.absent)


def happen(table, book, what, seconds, lag):
    """Let something happen at the table, and write it into the book."""
    players = [ANN, BOB]
    other = players[lag % 2]
    if what in ("move", "takeback", "leave"):
        table.now += seconds
        book.turn += seconds
    match what:
        case "move":
            table.do(Act(players[book.mover], msgspec.Raw(b'{"type":"tell"}'), lag / 1000))
            book.move(lag / 1000)
        case "takeback" if any(seat == lag % 2 for seat, _ in book.moves[-8:]):
            table.do(Offer(other, "takeback"))
            table.do(Answer(players[1 - lag % 2], "takeback", accept=True))
            book.take_back(lag % 2)
        case "leave":
            table.do(Leave(other))
            table.now += seconds
            table.sit(other)
            book.empty += seconds
            book.moves.clear()
        case "hold":
            table.now += seconds
            table.do(Hold(float(seconds)))
            book.stood += seconds
        case "away":
            table.do(Disconnect(players[book.mover]))
            table.now += seconds
            table.do(Connect(players[book.mover]))
            book.absent[book.mover] += seconds
        case "pause":
            pause(table, seconds)
            book.stood += seconds
        case _:  # there is no move to take back
            pass


@given(
    extra=st.sampled_from([0.0, 2.0, 5.0]),
    kind=st.sampled_from(["increment", "delay"]),
    happens=st.lists(
        st.tuples(
            st.sampled_from(["move", "pause", "hold", "away", "leave", "takeback"]),
            st.integers(0, 30),
            st.integers(0, 300),
        ),
        max_size=20,
    ),
)
def test_turns_takebacks_empty_seats_absences_pauses_the_server_being_down_and_lag_add_up_to_the_time(
    extra, kind, happens
):
    table, book = seated(away(10_000, think=(kind, 10_000, extra)), InTurn()), Book(kind, extra)
    for what, seconds, lag in happens:
        happen(table, book, what, seconds, lag)
    assert [one.left for one in table.room.clocks.seats] == pytest.approx(book.left, rel=EXACT)
    assert left_away(table) == pytest.approx([10_000 - seconds for seconds in book.absent])
    assert book.total == pytest.approx(table.now, rel=EXACT)
    assert table.room.clock(table.now) == pytest.approx(table.now - book.stood)
    check_replay(table)


def stand_still(table, player, how, seconds):
    """Let so much time pass in which this player's clock does not run."""
    match how:
        case "pause":
            pause(table, seconds)
        case "hold":
            table.now += seconds
            table.do(Hold(float(seconds)))
        case _:
            table.do(Disconnect(player))
            table.now += seconds
            table.do(Connect(player))


STAND_STILL = st.tuples(st.sampled_from(["pause", "hold", "away"]), st.integers(0, 40))


@given(
    extra=st.sampled_from([0.0, 2.0, 5.0]),
    kind=st.sampled_from(["increment", "delay"]),
    turns=st.lists(
        st.tuples(
            st.lists(st.one_of(st.integers(0, 40), STAND_STILL), max_size=4),
            st.integers(0, 400),
        ),
        max_size=8,
    ),
)
def test_what_is_charged_is_the_length_of_the_turn_without_delay_pause_and_lag(extra, kind, turns):
    """The length of a turn is read off the wall's clock: when it began, and when the move was made."""
    table = seated(away(10_000, think=(kind, 10_000, extra)), InTurn())
    for number, (parts, lag) in enumerate(turns):
        seat, player = number % 2, (ANN, BOB)[number % 2]
        began, before = table.now, table.room.clocks.seats[seat].left
        stood = 0
        for part in parts:
            if isinstance(part, tuple):
                stand_still(table, player, *part)
                stood += part[1]
            else:
                table.wait(part)
        length = table.now - began
        table.do(Act(player, msgspec.Raw(b'{"type":"tell"}'), lag / 1000))
        charged = before - table.room.clocks.seats[seat].left + (extra if kind == "increment" else 0.0)
        thought = length - stood
        free = extra if kind == "delay" else 0.0
        assert charged == pytest.approx(
            max(0.0, thought - min(lag / 1000, MAX_LAG) - free), rel=EXACT, abs=1e-6
        )
    check_replay(table)


@pytest.mark.parametrize(
    "settings",
    [
        ClockSettings("none", 0, away=Absence(60)),
        ClockSettings("none", float("0"), away=Absence(60)),
        ClockSettings("turn", 60, away=Absence(60, "bot")),
        ClockSettings("delay", 60, 5, "claim"),
    ],
)
def test_a_clock_is_read_back_as_it_was_written(settings):
    written = msgspec.json.encode(settings)
    read = msgspec.json.decode(written, type=ClockSettings)
    assert (read, msgspec.json.encode(read)) == (settings, written)

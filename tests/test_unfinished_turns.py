"""A turn that did not end is not paid for, whatever interrupts it: the time that was spent stays spent."""

from pathlib import Path

import msgspec
import pytest

from parlour.clocks import MAX_LAG, Claim, ClockSettings
from parlour.game import Timeouts
from parlour.games import GAMES
from parlour.offers import Answer, Offer, Resign
from parlour.room import Room, replay
from parlour.testing import Table, check_replay, refused
from parlour.wire import Connect, Disconnect, Hold, Join, Leave, Rematch, read_step
from tests.timelines import ANN, BOB, AnnThinks, away, clock, left, left_away, mark, pause, play, seated

KINDS = [clock("increment", 60, 10), clock("turn", 60), clock("delay", 50, 10)]
"""Clocks that all show 60 seconds at the beginning of the first turn."""
FREE_SEATS = ["hex", "tictactoe", "goofspiel"]
"""Games that let somebody else have the seat of whoever leaves."""


def kinds(settings):
    return settings.kind


def sit_again(table, player):
    table.do(Leave(player))
    table.sit(player)


def go_and_come(table, player):
    table.do(Disconnect(player))
    table.do(Connect(player))


def stand(table):
    table.now += 100
    table.do(Hold(100.0))


def let_a_bot_sit(table, player):
    table.do(Leave(player))
    table.do(Join("bot:random:1", "Bot", bot=True))


# Giving up the seat.


@pytest.mark.parametrize("settings", KINDS, ids=kinds)
@pytest.mark.parametrize("game", FREE_SEATS)
def test_whoever_gives_up_the_seat_and_sits_down_again_has_what_was_left(game, settings):
    table = seated(settings, GAMES[game])
    for seconds in (50, 40, 30):
        table.wait(10)
        sit_again(table, ANN)
        assert left(table)[0] == seconds
    check_replay(table)


@pytest.mark.parametrize("settings", KINDS, ids=kinds)
@pytest.mark.parametrize(
    "interrupt",
    [
        lambda table: sit_again(table, ANN),
        lambda table: sit_again(table, BOB),
        lambda table: go_and_come(table, ANN),
        lambda table: let_a_bot_sit(table, ANN),
        lambda table: pause(table, 100),
        stand,
    ],
    ids=["seat", "seat of the other", "connection", "bot", "pause", "server down"],
)
def test_what_interrupts_a_turn_neither_renews_it_nor_adds_to_it(interrupt, settings):
    table = seated(settings, FirstSeatThinks())
    for _ in range(3):
        table.wait(10)
        before = left(table)
        interrupt(table)
        assert left(table) == before
        if ANN not in table.room.players:
            break
    check_replay(table)


class FirstSeatThinks(AnnThinks):
    """It is always the turn of the first seat, whoever sits there."""

    def to_move(self, state):
        return [ANN, "bot:random:1"]


def test_whoever_takes_a_seat_goes_on_with_the_time_that_it_has_left():
    table = seated(clock("increment", 60, 10))
    table.wait(50)
    table.do(Leave(ANN))
    table.wait(1000)
    assert left(table) == [10, 60], "nobody plays"
    table.sit("cleo")
    table.wait(4)
    assert left(table) == [6, 60]
    mark(table, "cleo")
    assert left(table) == [16, 60], "the turn has ended"


def test_leaving_escapes_no_end_of_the_time():
    table = seated(clock("turn", 60))
    for _ in range(3):
        table.wait(25)
        if table.outcome is None:
            sit_again(table, ANN)
    assert table.room.verdict.how == "flagged"
    assert table.outcome.lost == (ANN,)


def test_whose_time_is_over_cannot_get_rid_of_that_by_sitting_down_again():
    table = seated(ClockSettings("turn", 60, at_zero="claim"))
    table.wait(60 + MAX_LAG)
    sit_again(table, ANN)
    table.do(Claim(BOB))
    assert table.outcome.won == (BOB,)


def test_an_empty_seat_is_not_claimed_against():
    table = seated(ClockSettings("turn", 60, at_zero="claim"), Crowd()).sit("cleo")
    table.wait(60 + MAX_LAG)
    table.do(Leave(ANN))
    refused("illegal_move", table.do, Claim(BOB))


class Crowd(AnnThinks):
    """Two of three are enough to go on."""

    seats = range(2, 4)


def test_a_turn_that_passes_on_because_somebody_left_adds_nothing_to_their_time():
    table = seated(clock("increment", 60, 10), Passing()).sit("cleo")
    table.wait(20)
    table.do(Leave(ANN))
    table.sit(ANN)
    table.wait(5)
    table.act(BOB, {"type": "tell"})
    assert left(table) == [40, 55, 60]
    check_replay(table)


class Passing(Crowd):
    """Once Ann has left, it is Bob's turn for good."""

    def to_move(self, state):
        return [BOB if any("left" in call for call in state.calls) else ANN]


class PassingBack(Passing):
    """Moves can be taken back."""

    offers = ("takeback",)


def test_a_takeback_takes_nothing_back_for_a_turn_that_was_given_up():
    table = seated(clock("increment", 60, 10), PassingBack()).sit("cleo")
    table.wait(20)
    sit_again(table, ANN)
    table.wait(5)
    for _ in range(2):
        table.act(BOB, {"type": "tell"})
    for _ in range(2):
        assert left(table) == [40, 55, 60]
        take_back(table, BOB, ANN)
        table.do(Answer("cleo", "takeback", accept=True))
    assert left(table) == [40, 55, 60]
    check_replay(table)


def test_who_is_gone_has_not_come_back_because_the_other_seat_is_empty():
    table = seated(away(60, "claim"))
    table.do(Disconnect(BOB))
    table.wait(61)
    sit_again(table, ANN)
    assert table.room.late("claim") == [BOB]
    other = seated(away(60))
    other.do(Disconnect(BOB))
    other.wait(20)
    other.do(Leave(ANN))
    other.wait(1000)
    other.sit(ANN)
    assert left_away(other) == [60, 40]


@pytest.mark.parametrize("settings", KINDS, ids=kinds)
def test_the_end_of_the_game_pays_for_no_turn_but_that_of_the_last_move(settings):
    table = seated(settings)
    table.wait(20)
    table.do(Resign(ANN))
    assert left(table)[0] == 40
    won = play(seated(settings), "ann 1, bob 1, ann 1, bob 1, ann 1, bob 1, ann 10")
    lost = play(seated(settings), "ann 1, bob 1, ann 1, bob 1, ann 1, bob 1")
    lost.wait(10)
    paid = {"increment": 10, "turn": 10, "delay": 0}[settings.kind]
    assert won.room.status == "over"
    assert left(won)[0] - left(lost)[0] == paid


# Taking a move back.


def take_back(table, by=ANN, other=BOB):
    table.do(Offer(by, "takeback"))
    table.do(Answer(other, "takeback", accept=True))


@pytest.mark.parametrize(
    ("settings", "timeline", "thinks", "after", "again"),
    [
        (clock("increment", 60, 10), "ann 0", 5, [60, 55], [70, 55]),
        (clock("increment", 60, 10), "ann 3, bob 4", 5, [52, 56], [62, 56]),
        (clock("turn", 60), "ann 50", 20, [10, 60], [60, 60]),
        (clock("turn", 60), "ann 50, bob 20", 30, [10, 60], [60, 60]),
        (clock("delay", 60, 10), "ann 7", 15, [63, 55], [60, 65]),
        (clock("delay", 60, 10), "ann 7, bob 15", 12, [61, 55], [58, 65]),
    ],
)
def test_a_takeback_puts_back_what_was_paid_and_what_was_spent_stays_spent(
    settings, timeline, thinks, after, again
):
    table = play(seated(settings), timeline)
    table.wait(thinks)
    take_back(table)
    assert left(table) == after
    mark(table, ANN)
    assert left(table) == again
    check_replay(table)


def test_moves_that_are_taken_back_one_after_the_other_are_paid_for_once_at_most():
    table = play(seated(clock("increment", 60, 10)), "ann 1, bob 1, ann 1, bob 1")
    take_back(table, BOB, ANN)
    take_back(table, ANN, BOB)
    assert left(table) == [68, 68]
    take_back(table, ANN, BOB)
    assert left(table) == [58, 58]


def test_a_takeback_that_would_leave_somebody_without_time_is_refused():
    table = play(seated(clock("increment", 20, 30)), "ann 15, bob 15, ann 15, bob 15")
    assert left(table) == [50, 50]
    take_back(table, BOB, ANN)
    assert left(table) == [50, 20], "15 of the first turn, 15 of the one that goes on"
    mark(table, BOB)
    table.wait(25)
    why = refused("too_late", table.do, Offer(ANN, "takeback"))
    assert "time" in why.message


def test_a_takeback_can_be_too_late_by_the_time_that_it_is_agreed_to():
    table = play(seated(clock("increment", 20, 30)), "ann 15")
    table.do(Offer(ANN, "takeback"))
    table.wait(19)
    table.do(Answer(BOB, "takeback", accept=True))
    assert left(table) == [5, 1]
    other = play(seated(clock("increment", 20, 30)), "ann 15, bob 15")
    other.wait(4)
    other.do(Offer(ANN, "takeback"))
    other.wait(4)
    refused("too_late", other.do, Answer(BOB, "takeback", accept=True))
    other.do(Answer(BOB, "takeback", accept=False))
    assert other.room.offers.open is None


# Leaving a ranked game.


def leave_for_good(table, player, why="manual"):
    """As a server does where the game is ranked."""
    table.do(Leave(player, why, loses=True))


@pytest.mark.parametrize("game", FREE_SEATS)
def test_leaving_for_good_where_that_loses_is_resigning_and_the_seat_is_kept(game):
    table = seated(clock("turn", 60), GAMES[game])
    mark(table, ANN)
    leave_for_good(table, BOB)
    assert (table.room.verdict.how, table.outcome.won, table.outcome.lost) == ("resigned", (ANN,), (BOB,))
    assert table.room.players == (ANN, BOB)
    check_replay(table)


def test_whoever_is_away_for_too_long_where_leaving_loses_has_lost_by_that():
    table = seated(None, Short())
    table.do(Disconnect(ANN))
    leave_for_good(table, ANN, "away_too_long")
    assert (table.room.verdict.how, table.outcome.why) == ("flagged", "away too long")


class Short(AnnThinks):
    """It gives up players in no time."""

    timeouts = Timeouts(game=None, away=20)


def test_a_game_with_its_own_rules_for_leaving_keeps_them_where_leaving_loses():
    table = seated(None, GAMES["backgammon"])
    leave_for_good(table, BOB)
    assert (table.room.verdict, table.outcome.won) == (None, (ANN,))


def test_a_game_has_begun_once_somebody_played_and_everybody_was_there():
    table = Table(GAMES["tictactoe"]).sit(ANN)
    begun = []
    for what in (Join(BOB, "Bob"), None, Connect(BOB), Disconnect(ANN)):
        mark(table, ANN) if what is None else table.do(what)
        begun.append(table.room.begun)
    assert begun == [False, False, True, True]


def test_a_rematch_has_not_begun_before_somebody_plays():
    table = play(seated(clock("turn", 60)), "ann 1")
    table.do(Resign(ANN))
    for player in (ANN, BOB):
        table.do(Rematch(player))
    assert not table.room.begun
    mark(table, BOB)
    assert table.room.begun


# Rooms that were opened before.

THEN = Path(__file__).parent / "data" / "clocks"
LEFT = {"goofspiel-delay": [0, 0], "hex-increment": [11, 9.8], "tictactoe-turn": [60, 60]}
"""What the clocks showed in the end."""


@pytest.mark.parametrize("name", LEFT)
def test_a_room_keeps_the_rules_of_clocks_with_which_it_was_opened(name):
    opened, *bodies = (THEN / f"{name}.jsonl").read_bytes().splitlines()
    game = GAMES[msgspec.json.decode(opened)["game"]]
    kind = Room
    table = Table(game)
    table.opening = table.room = msgspec.json.decode(opened, type=kind[game.State])
    for body in bodies:
        table.steps.append(read_step(body))
        table.room = replay(game, table.room, table.steps[-1])
    table.now = table.steps[-1].now
    assert left(table) == LEFT[name]
    check_replay(table)


def test_of_every_kept_room_with_such_clocks_it_is_known_what_they_showed():
    assert {path.stem for path in THEN.iterdir()} == set(LEFT)

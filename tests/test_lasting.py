"""How long rooms last: what a game says of it, and what it leaves to the server."""

from typing import Any

import msgspec
import pytest

from parlour.game import Timeouts
from parlour.games import GAMES
from parlour.room import Instant, Patience, Room, apply, open_room, replay
from parlour.testing import Table, legal
from parlour.wire import Connect, Disconnect, Join, Leave
from tests.probe import Probe

DAY = 86400.0


class Lasting(Probe):
    """A game of somebody's own that leaves it to the server."""

    timeouts = Timeouts(game="server", away=None, nobody=None)


LASTING = (*GAMES.values(), Lasting())
every_game = pytest.mark.parametrize("game", LASTING, ids=lambda game: game.name)
games_for_two = pytest.mark.parametrize(
    "game", [game for game in LASTING if game.seats.stop > 2], ids=lambda game: game.name
)


@games_for_two
def test_an_invitation_holds_for_two_weeks_after_its_tab_was_closed(game):
    table = Table(game).sit("ann")
    table.disconnect("ann")
    assert table.wait(14 * DAY - 1) == []
    table.do(Join("bob", "Bob"))
    assert table.room.players[:2] == ("ann", "bob")


PEOPLE = ("ann", "bob", "cem", "dee", "eve")


@every_game
def test_two_weeks_after_its_last_step_a_room_that_nobody_is_in_ends(game):
    table = Table(game).sit("ann")
    table.disconnect("ann")
    table.wait(10 * DAY)
    table.do(Connect("ann"))
    table.disconnect("ann")
    table.wait(14 * DAY - 1)
    assert table.why_ended() is None
    table.wait(1)
    assert table.why_ended() == "game_timeout"


@every_game
def test_no_room_ends_under_a_player_who_is_connected_and_thinks(game):
    table = Table(game)
    table.sit(*PEOPLE[: len(table.room.seats)])
    table.wait(400 * DAY)
    assert table.why_ended() is None
    if game.name != "probe":
        who, event = next(
            (player, some[0])
            for player in filter(None, table.room.players)
            if (some := legal(game, table.state, player))
        )
        table.act(who, event)


@every_game
def test_a_room_in_which_nobody_ever_sat_goes_after_an_hour(game):
    table = Table(game)
    table.wait(3599)
    assert table.why_ended() is None
    table.wait(1)
    assert table.why_ended() == "game_timeout"


def test_also_a_game_that_waits_for_ever_does_not_wait_for_a_first_player():
    class Patient(Probe):
        timeouts = Timeouts(game=None, away=None, nobody=None)

    table = Table(Patient())
    table.wait(3600)
    assert table.why_ended() == "game_timeout"
    sat = Table(Patient()).sit("ann")
    sat.disconnect("ann")
    assert sat.wait(1000 * DAY) == []


def test_a_room_whose_players_have_all_left_by_hand_goes_after_an_hour():
    table = Table(Lasting()).sit("ann", "bob")
    table.leave("ann")
    table.leave("bob")
    table.wait(3600)
    assert table.why_ended() == "game_timeout"


def test_a_room_whose_game_is_over_waits_an_hour_for_a_rematch_once_nobody_is_there():
    table = Table(Lasting()).sit("ann", "bob")
    table.act("ann", {"type": "win"})
    table.disconnect("ann")
    assert table.wait(5 * DAY) == []
    table.disconnect("bob")
    table.wait(3599)
    assert table.why_ended() is None
    table.wait(1)
    assert table.why_ended() == "game_timeout"


def test_an_end_that_the_game_announced_waits_for_those_who_are_there():
    table = Table(Lasting()).sit("ann", "bob")
    table.act("ann", {"type": "win"})
    table.act("ann", {"type": "finish", "after": 30})
    assert table.wait(DAY) == []
    for player in ("ann", "bob"):
        table.disconnect(player)
    table.wait(59)
    assert table.why_ended() is None
    table.wait(1)
    assert table.why_ended() == "game_ended"


def test_an_announced_end_that_is_taken_back_does_not_come_when_all_have_gone():
    table = Table(Lasting()).sit("ann", "bob")
    table.act("ann", {"type": "finish", "after": 30})
    table.act("ann", {"type": "finish", "after": None})
    for player in ("ann", "bob"):
        table.disconnect(player)
    assert table.wait(13 * DAY) == []


def test_the_defaults_are_as_ever_also_under_connected_players():
    class Plain(Probe):
        timeouts = Timeouts()

    table = Table(Plain()).sit("ann", "bob")
    table.wait(300)
    assert table.why_ended() == "game_timeout"


def test_how_long_is_a_setting_which_a_room_that_is_loaded_again_keeps_to():
    patience = Patience(playing=3 * DAY, empty=None)

    def at(now: float) -> Instant:
        return Instant(now, now, bytes(32), patience=patience)

    game = Lasting()
    room = open_room(game, "ABCD", None, at(0))
    assert room.next_due is None
    opened, steps = room, []
    for command in (Join("ann", "Ann"), Connect("ann"), Disconnect("ann")):
        room, step = apply(game, room, command, at(7))
        steps.append(step)
    assert room.next_due == 7 + 3 * DAY
    again = opened
    for step in steps:
        again = replay(game, again, step, patience)
    assert again == room


def test_a_room_that_was_stored_before_there_was_such_a_setting_goes_on():
    game = GAMES["tictactoe"]
    old = msgspec.json.encode(Table(game).sit("ann").room)
    assert b"postponed" not in old
    kind: Any = Room
    room = msgspec.json.decode(old, type=kind[game.State])
    room, _ = apply(game, room, Leave("ann"), Instant(1.0, 1.0, bytes(32)))
    assert room.next_due == 1 + 3600

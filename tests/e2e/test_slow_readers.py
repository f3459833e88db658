"""People who do not read: a player is cut off, a spectator skips, and neither slows anyone."""

from contextlib import closing

import pytest

from tests.e2e.clients import Silent

pytestmark = pytest.mark.e2e

LOUD = '''
from parlour import Event, Game, Send, State, Update


class Noise(State, frozen=True):
    """Nothing but noise."""


class Shout(Event, frozen=True):
    """Fill everybody's ears."""


class Loud(Game[Noise]):
    """Whoever shouts is heard."""

    name = "loud"
    display_name = "Shouting"
    seats = range(2, 3)
    State = Noise
    Event = Shout

    def init(self, config, moment):
        return Noise()

    def handle_event(self, state, sender, event, moment):
        return Update(state, (Send("all", "x" * 100_000),))
'''


@pytest.fixture
def loud(serve, tmp_path):
    """A server that cuts off early, with a game that is hard on lines."""
    file = tmp_path / "loud.py"
    file.write_text(LOUD)
    return serve(file, "--max-outbox", 400_000)


def shout_until(player, done):
    """Fill the lines of everybody else until it shows; no shout may wait for those who do not read."""
    for count in range(1, 1000):
        assert player.play("shout").status == "ok"
        if done():
            return count
    raise AssertionError("a thousand shouts, and nothing happened")


def test_a_player_who_stops_reading_is_cut_and_slows_nobody(loud, seat):
    room = loud.open_room("loud")["id"]
    (ann,) = seat(loud, room, "Ann")
    bob = loud.guest("Bob")
    with closing(Silent(loud, bob.token, room)) as silent:
        ann.wait_for_presence({ann.id: 1, bob.id: 1})
        shout_until(ann, lambda: bob.id not in ann.heard("presence")[-1][1])
        assert silent.is_cut()
    for _ in range(10):
        assert ann.play("shout").status == "ok"
    assert ann.seqs == list(range(3, ann.seqs[-1] + 1))
    loud.wait_for_log("line_cut")


def test_a_player_who_was_cut_for_not_reading_comes_back_to_the_whole_view(loud, seat, enter):
    room = loud.open_room("loud")["id"]
    (ann,) = seat(loud, room, "Ann")
    bob = loud.guest("Bob")
    with closing(Silent(loud, bob.token, room)):
        ann.wait_for_presence({ann.id: 1, bob.id: 1})
        shout_until(ann, lambda: bob.id not in ann.heard("presence")[-1][1])
    again = enter(loud, bob)
    assert again.join(room).response["seat"] == 1
    ann.see(again.wait_for("sync")["seq"])
    assert again.see(ann.play("shout").response["seq"]) == ann.view


def test_a_spectator_who_stops_reading_is_kept_and_skips_to_the_newest(loud, seat):
    room = loud.open_room("loud")["id"]
    ann, bob = seat(loud, room, "Ann", "Bob")
    with closing(Silent(loud, loud.guest("Eve").token, room, spectate=True)) as eve:
        ann.wait_for_presence({ann.id: 1, bob.id: 1}, spectators=1)
        for _ in range(100):
            assert ann.play("shout").status == "ok"
        bob.see(104)
        heard = eve.read_until("sync", reset=True)
        assert heard[-1][4]["seq"] == 104
        assert len([frame for frame in heard if frame[3] == "update"]) < 100
    assert "line_cut" not in loud.log


def test_a_connection_that_fell_silent_is_cut_and_its_player_shown_as_gone(serve, seat):
    server = serve("--ping-every", 1)
    room = server.open_room()["id"]
    (ann,) = seat(server, room, "Ann")
    bob = server.guest("Bob")
    with closing(Silent(server, bob.token, room)) as silent:
        ann.wait_for_presence({ann.id: 1, bob.id: 1})
        ann.wait_for_presence({ann.id: 1})
        assert silent.is_cut()
    assert ann.heard("close") == []

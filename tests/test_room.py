"""The life of a room, as the platform document tells it."""

from functools import partial

import msgspec
import pytest

from parlour.game import End, Later, Timeouts
from parlour.room import Instant, apply, topic_name
from parlour.testing import Table, effects, refused, told
from parlour.wire import Act, Chat, Connect, Disconnect, Hold, Join, Leave, Rematch, Shutdown
from tests.probe import Probe

GAME = Probe()


def table(*players):
    return Table(GAME).sit(*players)


# Topics.


@pytest.mark.parametrize(
    ("topic", "name"),
    [
        ("all", "game:ABCD"),
        ("players", "game:ABCD:players"),
        ("audience", "game:ABCD:audience"),
        ("player:ann", "game:ABCD:player:ann"),
        ("team:red", "game:ABCD:team:red"),
        ("anything", "game:ABCD:anything"),
    ],
)
def test_a_topic_has_the_platforms_own_string_behind_it(topic, name):
    assert topic_name("ABCD", topic) == name


def test_messages_of_one_step_keep_the_order_in_which_the_game_sent_them():
    step = table("ann").act("ann", {"type": "tell", "words": ["one", "two", "three"]})
    assert told(step) == ["one", "two", "three"]


# Opening.


def test_a_new_room_has_the_state_that_init_made_and_nobody_in_it():
    room = Table(GAME).room
    assert room.state.calls == ()
    assert room.seats == (None, None, None)
    assert (room.seq, room.status) == (0, "waiting")


def test_a_new_room_waits_for_the_game_timeout_and_no_longer():
    lonely = Table(GAME)
    lonely.wait(299)
    assert lonely.room.ended is None
    lonely.wait(1)
    assert lonely.room.ended == "game_timeout"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"size": "big"}, "$.config.size: expected int, got str"),
        ({"colour": "red"}, "$.config: object contains unknown field colour"),
        ([], "$.config: expected object, got array"),
        ({"size": -1}, "expected a size of 0 or more, got -1"),
    ],
)
def test_a_config_that_makes_no_sense_is_refused_at_creation(config, message):
    assert refused("invalid_config", lambda: Table(GAME, config)).message == message


class Round(Probe):
    """A table for as many as its config says."""

    seats = range(1, 6)

    def seats_for(self, config):
        return range(config.size, config.size + 1)


def test_a_room_has_as_many_seats_as_the_game_says_for_its_config():
    room = Table(Round(), {"size": 4}).sit("ann", "bob", "cid").room
    assert (len(room.seats), room.least, room.status) == (4, 4, "waiting")


def test_a_game_cannot_have_more_seats_than_it_declares():
    with pytest.raises(ValueError, match=r"expected seats_for to give a part of range\(1, 6\), got"):
        Table(Round(), {"size": 6})


@pytest.mark.parametrize("name", ["game", "away", "nobody"])
def test_a_timeout_is_more_than_nothing_or_none(name):
    assert Timeouts(**{name: None}) is not None
    with pytest.raises(ValueError, match=f"timeout '{name}': expected more than 0 seconds"):
        Timeouts(**{name: -1})


# Joining.


def test_a_seated_player_hears_the_games_topics_then_all_then_their_own_each_once():
    assert table("ann").room.seat("ann").topics == ("players", "all", "player:ann")


def test_a_join_tells_what_the_game_sends():
    assert told(Table(GAME).do(Join("ann", "Ann"))) == [{"joined": "ann"}]


def test_a_refused_join_changes_nothing_and_refreshes_no_timeout():
    full = table("ann")
    full.now = 200
    before = full.room
    assert refused("banned", lambda: full.do(Join("banned", "X"))).message == "you may not come in"
    assert full.room is before


def test_a_full_game_refuses_a_further_player_with_a_reason():
    full = table("ann", "bob", "cem")
    assert "every seat is taken" in refused("game_full", lambda: full.do(Join("dan", "Dan"))).message


def test_a_join_refreshes_the_game_timeout():
    host = table("ann")
    host.now = 290
    host.sit("bob")
    host.wait(299)
    assert host.room.ended is None


def test_watching_is_no_step_and_gives_the_audience_topic():
    watched = table("ann")
    before = watched.room
    assert watched.watch("zoe").topics == ("audience",)
    assert watched.room is before


# Connecting and disconnecting.


def test_a_connect_is_told_to_the_game():
    assert table("ann").state.calls == ("connected ann",)
    assert table("ann").room.connected == ["ann"]


def test_a_disconnect_is_told_to_the_game_and_the_seat_is_kept():
    away = table("ann", "bob")
    away.disconnect("bob")
    assert away.state.calls[-1] == "disconnected bob"
    assert away.room.connected == ["ann"]
    assert away.room.seat("bob") is not None


def test_a_player_who_is_away_for_two_minutes_has_left():
    away = table("ann", "bob")
    away.disconnect("bob")
    away.wait(119)
    assert away.room.seat("bob") is not None
    away.wait(1)
    assert away.room.seat("bob") is None
    assert away.state.calls[-1] == "left bob away_too_long"


def test_a_seat_is_not_kept_for_ever_for_somebody_who_never_came():
    waiting = table("ann")
    waiting.do(Join("bob", "Bob"))
    waiting.wait(120)
    assert waiting.room.seat("bob") is None


def test_coming_back_in_time_keeps_the_seat():
    away = table("ann", "bob")
    away.disconnect("bob")
    away.wait(119)
    away.do(Connect("bob"))
    away.wait(120)
    assert away.room.seat("bob") is not None


def test_the_room_ends_a_minute_after_its_last_player_disconnected():
    empty = table("ann", "bob")
    empty.disconnect("ann")
    empty.wait(100)
    empty.disconnect("bob")
    empty.wait(59)
    assert empty.room.ended is None
    empty.wait(1)
    assert empty.room.ended == "nobody_here"


def test_a_player_who_returns_saves_the_room():
    empty = table("ann")
    empty.disconnect("ann")
    empty.wait(59)
    empty.do(Connect("ann"))
    empty.wait(60)
    assert empty.room.ended is None


def test_a_callback_that_fails_on_connecting_changes_nothing():
    broken = table("ann", "bob")
    broken.disconnect("bob")
    broken.act("ann", {"type": "break", "callbacks": ["player_connected"]})
    with pytest.raises(RuntimeError):
        broken.do(Connect("bob"))
    assert broken.room.connected == ["ann"]


@pytest.mark.parametrize(
    ("callback", "command"),
    [
        ("player_disconnected", Disconnect("bob")),
        ("leave_game", Leave("bob")),
        ("handle_game_shutdown", Shutdown("operator")),
    ],
)
def test_what_must_happen_can_be_done_without_the_game_that_failed_on_it(callback, command):
    broken = table("ann", "bob")
    broken.act("ann", {"type": "break", "callbacks": [callback]})
    with pytest.raises(RuntimeError):
        broken.do(command)
    room, step = apply(GAME, broken.room, command, broken.instant(), spared=True)
    assert step.spared
    assert room.state is broken.room.state
    assert (room.connected, room.seat("bob"), room.ended) != (["ann", "bob"], room.seat("bob"), None)


# Leaving.


@pytest.mark.parametrize("connected", [True, False])
def test_whoever_leaves_gives_the_seat_up_connected_or_not(connected):
    leaving = table("ann", "bob")
    if not connected:
        leaving.disconnect("bob")
    step = leaving.leave("bob")
    assert leaving.room.seat("bob") is None
    assert leaving.state.calls[-1] == "left bob manual"
    assert told(step) == [{"left": "bob"}]
    leaving.wait(120)
    assert leaving.state.calls[-1] == "left bob manual"


def test_a_seat_that_was_given_up_can_be_taken_again():
    leaving = table("ann", "bob")
    leaving.leave("ann")
    leaving.sit("cem")
    assert leaving.room.players == ("cem", "bob", None)
    assert leaving.state.players == ("cem", "bob", None)


def test_the_room_ends_a_minute_after_its_last_player_left():
    empty = table("ann")
    empty.leave("ann")
    empty.wait(60)
    assert empty.room.ended == "nobody_here"


def test_a_game_can_let_whoever_leaves_keep_the_seat():
    leaving = table("ann", "bob")
    leaving.act("ann", {"type": "cling"})
    leaving.leave("bob")
    assert leaving.state.calls[-1] == "kept bob manual"
    assert leaving.room.players == ("ann", "bob", None)
    assert leaving.room.connected == ["ann", "bob"]
    leaving.act("bob", {"type": "tell"})


def test_a_seat_that_was_kept_through_a_long_absence_is_left_only_once():
    leaving = table("ann", "bob")
    leaving.act("ann", {"type": "cling"})
    leaving.disconnect("bob")
    leaving.wait(119)
    leaving.act("ann", {"type": "tell"})
    leaving.wait(150)
    assert leaving.state.calls[-1] == "kept bob away_too_long"
    assert leaving.room.players == ("ann", "bob", None)
    leaving.do(Connect("bob"))
    assert leaving.room.connected == ["ann", "bob"]


def test_a_seat_is_not_kept_when_the_game_that_would_keep_it_fails():
    broken = table("ann", "bob")
    broken.act("ann", {"type": "cling"})
    room, _ = apply(GAME, broken.room, Leave("bob"), broken.instant(), spared=True)
    assert room.players == ("ann", None, None)


def test_only_somebody_with_a_seat_can_leave_it():
    refused("not_seated", lambda: table("ann").leave("zoe"))


# Events.


def test_an_event_goes_to_the_game_and_refreshes_its_timeout():
    playing = table("ann")
    playing.wait(299)
    playing.act("ann", {"type": "tell"})
    assert playing.state.calls[-1] == "told"
    playing.wait(299)
    assert playing.room.ended is None


def test_events_of_somebody_who_is_not_connected_are_refused():
    away = table("ann", "bob")
    away.disconnect("bob")
    refused("not_joined", lambda: away.act("bob", {"type": "tell"}))


def test_events_of_somebody_without_a_seat_are_refused():
    refused("not_seated", lambda: table("ann").act("zoe", {"type": "tell"}))


def test_a_refused_event_changes_nothing_and_refreshes_no_timeout():
    playing = table("ann")
    playing.now = 299
    assert refused("no_thanks", lambda: playing.act("ann", {"type": "refuse"})).message == "not like this"
    playing.wait(1)
    assert playing.room.ended == "game_timeout"


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({"type": "plan", "key": 4, "seconds": 1}, "$.key: expected str, got int"),
        ({"type": "tell", "loud": True}, "$: object contains unknown field loud"),
        ("hello", "$: expected object, got str"),
        ({"type": "tell", "to": None}, "$.to: expected str, got null"),
        ({"key": "a"}, "$: object missing required field type"),
    ],
)
def test_an_event_of_a_wrong_shape_is_refused_with_where_and_why(event, message):
    assert refused("malformed", lambda: table("ann").act("ann", event)).message == message


@pytest.mark.parametrize("type", ["dance", "ping"])  # a ping is for the game's own timers only
def test_an_event_that_the_game_does_not_know_is_refused_with_those_it_knows(type):
    why = refused("unknown_event", lambda: table("ann").act("ann", {"type": type, "key": "a"}))
    assert why.message.startswith("$.type: expected tell or plan or call_off or")
    assert why.message.endswith(f"or resync, got '{type}'")


# The game's own timers.


def test_a_planned_event_comes_in_its_time_from_the_game_itself():
    planned = table("ann")
    planned.act("ann", {"type": "plan", "key": "bell", "seconds": 10})
    planned.wait(9)
    assert planned.state.calls[-1] == "connected ann"
    planned.wait(1)
    assert planned.state.calls[-1] == "rang bell"


def test_the_same_key_replaces_what_was_planned_under_it():
    planned = table("ann")
    planned.act("ann", {"type": "plan", "key": "bell", "seconds": 10})
    planned.act("ann", {"type": "plan", "key": "bell", "seconds": 20})
    planned.wait(19)
    assert "rang bell" not in planned.state.calls
    planned.wait(1)
    assert planned.state.calls.count("rang bell") == 1


def test_what_was_planned_can_be_called_off():
    planned = table("ann")
    planned.act("ann", {"type": "plan", "key": "bell", "seconds": 10})
    planned.act("ann", {"type": "call_off", "key": "bell"})
    planned.wait(10)
    assert "rang bell" not in planned.state.calls


def test_calling_off_what_was_never_planned_is_harmless():
    table("ann").act("ann", {"type": "call_off", "key": "bell"})


def test_a_repeated_event_keeps_its_rhythm():
    ticking = table("ann")
    ticking.act("ann", {"type": "plan", "key": "tick", "seconds": 5, "every": 2})
    ticking.wait(10)
    assert ticking.state.calls.count("rang tick") == 3
    ticking.act("ann", {"type": "call_off", "key": "tick"})
    ticking.wait(10)
    assert ticking.state.calls.count("rang tick") == 3


def test_ticks_that_were_slept_through_are_not_made_up_for():
    ticking = table("ann")
    ticking.act("ann", {"type": "plan", "key": "tick", "seconds": 1, "every": 1})
    ticking.now = 100.5
    ticking.do(ticking.room.due(100.5))
    assert ticking.room.due(101) is None
    assert ticking.room.next_due == 101.5


def test_the_games_own_events_do_not_refresh_its_timeout():
    ticking = table("ann")
    ticking.act("ann", {"type": "plan", "key": "tick", "seconds": 50, "every": 50})
    ticking.wait(300)
    assert ticking.room.ended == "game_timeout"


@pytest.mark.parametrize("seconds", [{"seconds": -1.0}, {"seconds": 1.0, "every": 0.0}])
def test_a_timer_cannot_ring_in_the_past_or_without_pause(seconds):
    with pytest.raises(ValueError, match="timer 'bell'"):
        Later("bell", event=None, **seconds)


def test_a_timer_that_the_game_fails_on_is_used_up_all_the_same():
    broken = table("ann")
    broken.act("ann", {"type": "plan", "key": "bell", "seconds": 10})
    broken.act("ann", {"type": "break", "callbacks": ["timer"]})
    ring = broken.room.due(10)
    room, _ = apply(GAME, broken.room, ring, Instant(10, 10, b""), spared=True)
    assert room.due(10) is None


# A clock that stood still.


def test_while_a_room_is_held_its_clock_stands_still():
    held = table("ann")
    held.act("ann", {"type": "plan", "key": "bell", "seconds": 10})
    held.wait(4)
    held.now += 1000
    held.do(Hold(1000))
    held.wait(5)
    assert "rang bell" not in held.state.calls
    held.wait(1)
    assert "rang bell" in held.state.calls


def test_the_moments_of_a_room_that_was_held_are_on_its_own_clock():
    seen = []

    class Watch(Probe):
        def player_connected(self, state, player, moment):
            seen.append(moment.now)
            return super().player_connected(state, player, moment)

    held = Table(Watch()).sit("ann")
    held.now = 100.0
    held.do(Hold(90))
    held.sit("bob")
    assert seen == [0.0, 10.0]


# The end.


def test_a_game_can_end_its_room_at_once_or_later():
    ending = table("ann")
    step = ending.act("ann", {"type": "finish", "after": 5})
    assert effects(step) == [msgspec.to_builtins(End(5.0))]
    ending.wait(4)
    assert ending.room.ended is None
    ending.wait(1)
    assert ending.why_ended() == "game_ended"
    assert ending.room.status == "ended"


def test_an_announced_end_can_be_taken_back():
    ending = table("ann")
    ending.act("ann", {"type": "finish", "after": 5})
    ending.act("ann", {"type": "finish", "after": None})
    ending.wait(10)
    assert ending.room.ended is None


def test_before_the_end_the_game_is_asked_and_everyone_is_told():
    step = table("ann").do(Shutdown("operator"))
    assert [(e.get("kind", "game_event"), e["payload"]) for e in effects(step)] == [
        ("game_event", {"goodbye": True}),
        ("shutdown", {"reason": "operator"}),
    ]


def test_nothing_happens_in_a_room_that_has_ended():
    ended = table("ann")
    ended.do(Shutdown("operator"))
    assert ended.room.next_due is None
    for command in (Join("bob", "Bob"), Act("ann", msgspec.Raw(b"{}")), Chat("ann", "Ann", "hi")):
        refused("room_ended", partial(ended.do, command))


# Chat.


def test_chat_is_a_step_that_everyone_hears_and_that_keeps_no_room_alive():
    chatty = table("ann")
    chatty.now = 299
    step = chatty.do(Chat("zoe", "Zoe", "good luck"))
    said = {"from": "zoe", "name": "Zoe", "text": "good luck", "at": step.date}
    assert effects(step) == [{"type": "send", "to": "all", "payload": said, "kind": "chat"}]
    chatty.wait(1)
    assert chatty.room.ended == "game_timeout"


# Rematch.


def test_a_rematch_begins_when_every_seat_has_asked_and_everybody_moves_one_seat_on():
    over = table("ann", "bob")
    over.act("ann", {"type": "win"})
    over.do(Rematch("ann"))
    assert over.room.outcome is not None
    step = over.do(Rematch("bob"))
    assert over.room.outcome is None
    assert over.room.players == ("bob", "ann", None)
    assert over.room.connected == ["bob", "ann"]
    assert over.state.calls == ()
    assert step.seq == over.room.seq


def test_a_rematch_cancels_the_timers_of_the_old_game_and_its_announced_end():
    over = table("ann", "bob")
    over.act("ann", {"type": "plan", "key": "bell", "seconds": 10})
    over.act("ann", {"type": "finish", "after": 20})
    over.act("ann", {"type": "win"})
    over.do(Rematch("ann"))
    over.do(Rematch("bob"))
    over.wait(30)
    assert over.state.calls == ()
    assert over.room.ended is None


def test_a_rematch_can_be_asked_for_only_when_the_game_is_over():
    refused("not_over", lambda: table("ann", "bob").do(Rematch("ann")))


def test_a_rematch_that_would_seat_two_on_one_chair_is_a_bug_and_changes_nothing():
    class Generous(Probe):
        def join_game(self, state, player, spectate, moment):
            joined = super().join_game(state, player, spectate, moment)
            return msgspec.structs.replace(joined, seat=0) if moment.now else joined

    over = Table(Generous()).sit("ann", "bob")
    over.act("ann", {"type": "win"})
    over.do(Rematch("ann"))
    over.now = 1.0
    with pytest.raises(TypeError, match="seat 0, which is not free"):
        over.do(Rematch("bob"))
    assert over.room.players == ("ann", "bob", None)


def test_wishes_for_a_rematch_are_forgotten_when_the_game_goes_on_by_itself():
    over = table("ann", "bob")
    over.act("ann", {"type": "win"})
    over.do(Rematch("ann"))
    over.act("ann", {"type": "win"})  # not over any more
    over.act("ann", {"type": "win"})
    over.do(Rematch("bob"))
    assert over.room.outcome is not None

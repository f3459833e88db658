"""Numbered steps and the luck in them: kept, played again, checked."""

import hashlib

import msgspec
import pytest

from parlour.game import Chance, End, Game, Later, Send, Update
from parlour.room import Instant, open_room, replay
from parlour.testing import Table, refused, told
from parlour.wire import Join, read_step
from tests.probe import Ping, Probe

GAME = Probe()


def table(*players):
    return Table(GAME).sit(*players)


# Chance that can be checked.


def test_the_seed_is_shown_with_the_outcome_and_a_fresh_one_takes_its_place():
    lucky = table("ann")
    published = lucky.room.seed_hash
    lucky.act("ann", {"type": "draw"})
    drawn = lucky.state.calls[-1]
    lucky.act("ann", {"type": "win"})
    shown = lucky.room.shown[-1]
    assert hashlib.sha256(shown.seed).hexdigest() == published
    assert drawn == f"drew {Chance(shown.seed, step=3).below(1_000_000)}"
    assert (shown.first, shown.last) == (0, 4)
    assert lucky.room.seed != shown.seed


def test_no_step_draws_from_a_seed_that_was_shown():
    lucky = table("ann")
    seen = []
    for _ in range(3):
        lucky.act("ann", {"type": "win"})  # over, on, over
        seen.extend(lucky.room.shown)
    lucky.act("ann", {"type": "draw"})
    first, _, second = seen
    assert lucky.room.seed not in {first.seed, second.seed}
    assert second.first == first.last + 1


def test_a_draw_is_fair_enough():
    chance = Chance(bytes(32), step=1)
    counts = [0] * 6
    for _ in range(6000):
        counts[chance.die() - 1] += 1
    assert all(850 < count < 1150 for count in counts)


# Steps.


def test_a_step_with_timers_of_whole_seconds_is_played_again_as_it_was():
    class Hasty(Probe):
        def player_connected(self, state, player, moment):
            return Update(state, (Later("tick", 10, Ping("tick"), every=2), End(60)))

    hasty = Table(Hasty()).sit("ann")
    hasty.wait(12)
    room = hasty.opening
    for step in hasty.steps:
        room = replay(hasty.game, room, read_step(step.body))
    assert room == hasty.room
    assert [step.seq for step in hasty.steps] == [1, 2, 3, 4]


def test_each_step_carries_the_digest_of_the_one_before():
    steps = table("ann", "bob").steps
    assert [step.before for step in steps[1:]] == [step.digest for step in steps[:-1]]


def test_a_kept_step_plays_again_to_the_same_room():
    played = table("ann", "bob")
    played.act("ann", {"type": "draw"})
    played.act("bob", {"type": "plan", "key": "bell", "seconds": 1})
    played.wait(1)
    room = played.opening
    for step in played.steps:
        room = replay(GAME, room, read_step(step.body))
    assert msgspec.json.encode(room) == msgspec.json.encode(played.room)


def test_a_step_is_the_same_in_every_process_also_where_a_game_tells_a_set():
    words = {"red", "green", "blue", "yellow", "black"}

    class Colours(Probe):
        def player_connected(self, state, player, moment):
            return Update(state, (Send("all", {"left": words}),))

    (_, step) = Table(Colours()).sit("ann").steps
    assert told(step) == [{"left": sorted(words)}]


def test_rules_that_would_play_a_kept_step_differently_are_noticed():
    class Louder(Probe):
        version = 2

        def player_connected(self, state, player, moment):
            return super().player_disconnected(state, player, moment)

        def join_game(self, state, player, spectate, moment):
            joined = super().join_game(state, player, spectate, moment)
            return msgspec.structs.replace(joined, update=msgspec.structs.replace(joined.update, effects=()))

    kept = table("ann").steps[0]
    why = refused("rules_changed", lambda: replay(Louder(), Table(GAME).room, kept))
    assert "step 1 plays differently under version 2 of probe" in why.message


def test_new_rules_that_play_the_same_go_on_with_an_old_room():
    class Newer(Probe):
        version = 2

    played = table("ann")
    room = replay(Newer(), played.opening, read_step(played.steps[0].body))
    assert room.head == played.steps[0].digest


@pytest.mark.parametrize("kind", ["chat", "shutdown"])
def test_a_game_cannot_speak_in_the_rooms_own_name(kind):
    class Forger(Probe):
        def player_connected(self, state, player, moment):
            return Update(state, (Send("all", {}, kind),))

    with pytest.raises(TypeError, match=f"a game sends game_event or sync, not {kind}"):
        Table(Forger()).sit("ann")


def test_a_room_plays_as_soon_as_enough_sit_and_may_take_more():
    filling = Table(GAME)
    seen = [filling.room.status]
    for player in ("ann", "bob", "cem"):
        filling.sit(player)
        seen.append(filling.room.status)
    assert seen == ["waiting", "waiting", "playing", "playing"]


def test_a_game_that_gives_a_taken_seat_is_a_bug_and_changes_nothing():
    class Generous(Probe):
        def join_game(self, state, player, spectate, moment):
            return msgspec.structs.replace(super().join_game(state, player, spectate, moment), seat=0)

    generous = Table(Generous()).sit("ann")
    with pytest.raises(TypeError, match="seat 0, which is not free"):
        generous.do(Join("bob", "Bob"))


def test_a_game_that_changes_something_for_a_spectator_is_a_bug():
    class Nosy(Probe):
        def join_game(self, state, player, spectate, moment):
            joined = super().join_game(state, player, spectate, moment)
            return msgspec.structs.replace(
                joined, update=msgspec.structs.replace(joined.update, state=state.note("saw"))
            )

    with pytest.raises(TypeError, match="must change nothing"):
        Table(Nosy()).watch("zoe")


def test_a_game_that_has_only_init_can_be_joined_watched_and_left():
    class Board(msgspec.Struct, frozen=True):
        pass

    class Bare(Game[Board]):
        name, display_name, seats, State = "bare", "Bare", range(1, 2), Board

        def init(self, config, moment):
            return Board()

    bare = Table(Bare().checked()).sit("ann")
    assert bare.watch("zoe").seat is None
    refused("game_full", lambda: bare.do(Join("bob", "Bob")))
    refused("unknown_event", lambda: bare.act("ann", {"type": "move"}))
    bare.leave("ann")
    bare.sit("bob")
    assert bare.room.players == ("bob",)
    assert open_room(Bare(), "X", None, Instant(0, 0, b"")).state == Board()

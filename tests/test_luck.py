"""Luck that nobody alone decides: players add random bytes to the seed before anything is drawn."""

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from parlour.game import Chance
from parlour.games import GAMES
from parlour.luck import AddedLuck, AddLuck, mixed
from parlour.room import draw_sizes
from parlour.testing import Table, check_replay, refused
from parlour.wire import Connect, Join
from tests.probe import Probe

ANN, BOB = "ann", "bob"
ONES, TWOS = "01" * 16, "02" * 16
BYTES = st.binary(min_size=16, max_size=16).map(bytes.hex)


def table():
    return Table(Probe()).sit(ANN, BOB)


def draw(at):
    return at.act(ANN, {"type": "draw"}).draws


def test_a_room_to_whose_seed_nobody_added_draws_from_the_seed_alone():
    at = table()
    assert draw(at) == (Chance(at.room.seed, at.room.seq).below(1_000_000),)


def test_what_was_added_is_mixed_into_the_seed_in_its_order():
    at = table()
    at.do(AddLuck(BOB, TWOS))
    at.do(AddLuck(ANN, ONES))
    key = hmac.digest(at.room.seed, bytes.fromhex(TWOS + ONES), "sha256")
    assert draw(at) == (Chance(key, at.room.seq).below(1_000_000),)
    check_replay(at)


def test_the_hash_that_was_published_stays_that_of_the_servers_own_seed():
    at = table()
    before = at.room.seed_hash
    at.do(AddLuck(ANN, ONES))
    assert at.room.seed_hash == before == hashlib.sha256(at.room.seed).hexdigest()


def test_nobody_adds_anything_once_luck_was_drawn():
    at = table()
    draw(at)
    assert "before the first draw" in refused("too_late", lambda: at.do(AddLuck(ANN, ONES))).message


def test_everybody_adds_once_and_only_with_a_seat():
    at = table()
    at.do(AddLuck(ANN, ONES))
    refused("illegal_move", lambda: at.do(AddLuck(ANN, TWOS)))
    refused("not_seated", lambda: at.do(AddLuck("eve", TWOS)))


def test_whoever_sits_down_brings_their_bytes_before_a_game_draws_for_all_who_sit():
    at = Table(GAMES["stratego"], {"preset": "ogetarts"})
    at.do(Join(ANN, "Ann", luck=ONES))
    step = at.do(Join(BOB, "Bob", luck=TWOS))
    assert at.room.added == (AddedLuck(ANN, ONES), AddedLuck(BOB, TWOS))
    key = hmac.digest(at.room.seed, bytes.fromhex(ONES + TWOS), "sha256")
    assert step.draws[0] == Chance(key, at.room.seq).below(40)
    check_replay(at)


def test_bytes_that_are_brought_too_late_or_twice_are_left_out():
    at = Table(Probe())
    at.do(Join(ANN, "Ann", luck=ONES))
    at.do(Connect(ANN))
    refused("illegal_move", lambda: at.do(AddLuck(ANN, TWOS)))
    draw(at)
    at.do(Join(BOB, "Bob", luck=TWOS))
    assert at.room.added == (AddedLuck(ANN, ONES),)
    check_replay(at)


def test_the_end_of_a_game_shows_what_was_added_and_the_next_seed_is_fresh():
    at = table()
    at.do(AddLuck(ANN, ONES))
    draw(at)
    at.act(ANN, {"type": "win"})
    assert at.room.shown[-1].added == (AddedLuck(ANN, ONES),)
    at.do(AddLuck(ANN, TWOS))
    assert at.room.added == (AddedLuck(ANN, TWOS),)
    check_replay(at)


def test_a_room_from_before_there_was_such_luck_takes_none():
    at = table()
    at.room = type(at.room)(
        **{**{name: getattr(at.room, name) for name in at.room.__struct_fields__}, "fresh": False}
    )
    refused("too_late", lambda: at.do(AddLuck(ANN, ONES)))


def test_the_sizes_of_the_draws_of_a_kept_step_can_be_found_again():
    at = Table(GAMES["stratego"], {"preset": "ogetarts"}).sit(ANN)
    before = at.room
    step = at.do(Join(BOB, "Bob"))
    assert draw_sizes(at.game, before, step)[:3] == (40, 39, 38)
    assert len(draw_sizes(at.game, before, step)) == len(step.draws)
    at.do(Connect(BOB))


@given(
    seeds=st.lists(st.binary(min_size=32, max_size=32), min_size=2, max_size=2, unique=True),
    ann=BYTES,
    bob=BYTES,
)
def test_no_seats_decide_a_draw_without_the_server(seeds, ann, bob):
    added = (AddedLuck(ANN, ann), AddedLuck(BOB, bob))
    first, second = (Chance(mixed(seed, added), 1).below(1 << 62) for seed in seeds)
    assert first != second


@given(
    seed=st.binary(min_size=32, max_size=32),
    bytes_of_ann=st.lists(BYTES, min_size=2, max_size=2, unique=True),
    bob=BYTES,
)
def test_neither_the_server_nor_a_seat_decides_a_draw_without_another(seed, bytes_of_ann, bob):
    first, second = (
        Chance(mixed(seed, (AddedLuck(ANN, ann), AddedLuck(BOB, bob))), 1).below(1 << 62)
        for ann in bytes_of_ann
    )
    assert first != second


def opened_for_two(game="goofspiel", seed=bytes(32)):
    """A room that pairing opened for Ann and Bob, who both bring random bytes; neither has come yet."""
    at = Table(GAMES[game])
    at.room = replace(at.room, seed=seed, awaited=(Join(ANN, "Ann"), Join(BOB, "Bob")))
    at.opening = at.room
    return at


def dealt(ann, bob, seed=bytes(32), game="goofspiel"):
    """What the game draws in such a room, once both have come."""
    at = opened_for_two(game, seed)
    assert at.do(Join(ANN, "Ann", luck=ann)).draws == ()
    return at.do(Join(BOB, "Bob", luck=bob)).draws


@pytest.mark.parametrize("game", ["goofspiel", "stratego"])
def test_where_strangers_were_paired_a_game_deals_when_the_last_has_come_with_what_all_of_them_added(game):
    at = opened_for_two(game)
    assert at.do(Join(BOB, "Bob", luck=TWOS)).draws == ()
    assert at.do(Join(ANN, "Ann", luck=ONES)).draws
    assert at.room.added == (AddedLuck(BOB, TWOS), AddedLuck(ANN, ONES))
    assert at.room.awaited == ()
    check_replay(at)


def test_whoever_was_paired_and_adds_nothing_plays_all_the_same():
    at = opened_for_two()
    at.do(Join(ANN, "Ann", luck=ONES))
    assert at.do(Join(BOB, "Bob")).draws
    assert at.room.added == (AddedLuck(ANN, ONES),)


def test_seats_are_kept_for_those_who_were_paired():
    at = opened_for_two()
    at.do(Join(BOB, "Bob"))
    assert "on the way" in refused("seat_kept", lambda: at.do(Join("eve", "Eve"))).message
    refused("seat_kept", lambda: at.do(Join("robot", "Robot", bot=True)))
    at.do(Join(ANN, "Ann"))
    assert at.room.status == "playing"


def test_bots_sit_down_with_the_last_person_so_that_nothing_is_drawn_before():
    at = Table(GAMES["hearts"])
    robots = tuple(Join(f"bot-{n}", f"Robot {n}", bot=True) for n in range(2))
    at.room = at.opening = replace(
        at.room, awaited=(robots[0], Join(ANN, "Ann"), robots[1], Join(BOB, "Bob"))
    )
    assert at.do(Join(BOB, "Bob", luck=TWOS)).draws == ()
    assert [seat and seat.player for seat in at.room.seats] == [BOB, None, None, None]
    step = at.do(Join(ANN, "Ann", luck=ONES))
    assert at.room.players == (BOB, ANN, "bot-0", "bot-1")
    key = hmac.digest(at.room.seed, bytes.fromhex(TWOS + ONES), "sha256")
    assert step.draws[0] == Chance(key, at.room.seq).below(52)
    check_replay(at)


@given(
    seeds=st.lists(st.binary(min_size=32, max_size=32), min_size=2, max_size=2, unique=True),
    anns=st.lists(BYTES, min_size=2, max_size=2, unique=True),
    bobs=st.lists(BYTES, min_size=2, max_size=2, unique=True),
)
def test_strangers_who_were_paired_and_the_server_decide_a_deal_only_all_together(seeds, anns, bobs):
    (seed, another_seed), (ann, another_ann), (bob, another_bob) = seeds, anns, bobs
    deal = dealt(ann, bob, seed, "stratego")
    assert deal == dealt(ann, bob, seed, "stratego")
    assert deal != dealt(ann, bob, another_seed, "stratego")
    assert deal != dealt(another_ann, bob, seed, "stratego")
    assert deal != dealt(ann, another_bob, seed, "stratego")


@pytest.mark.parametrize("game", ["backgammon", "minesweeper", "stratego"])
def test_games_that_draw_say_so(game):
    assert GAMES[game].lucky
    assert not GAMES["tictactoe"].lucky

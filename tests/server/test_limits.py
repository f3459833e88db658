"""Nobody can hurt another by asking too much."""

import pytest

from parlour.errors import Refused
from parlour.server.config import Settings
from parlour.server.limits import STRIKES, Limits, address_of
from tests.server.world import HandClock, World


def limits(**settings):
    clock = HandClock()
    return Limits(Settings(**settings), clock), clock


def test_a_connection_may_be_quick_for_a_while_but_not_for_long():
    counted, clock = limits(rate=10, player_rate=0, address_rate=0)
    bucket = counted.new_bucket()
    asked = [counted.may_ask(bucket, "ann", "1.2.3.4", 1.0) for _ in range(50)]
    assert asked == [True] * 40 + [False] * 10
    clock.time += 1
    assert sum(counted.may_ask(bucket, "ann", "1.2.3.4", 1.0) for _ in range(50)) == 10


def test_chat_costs_more_than_a_move():
    counted, _ = limits(rate=10, player_rate=0, address_rate=0)
    bucket = counted.new_bucket()
    assert sum(counted.may_ask(bucket, "ann", "1.2.3.4", 3.0) for _ in range(50)) == 13


def test_several_connections_of_one_player_share_the_players_allowance():
    counted, _ = limits(rate=10, player_rate=20, address_rate=0)
    buckets = [counted.new_bucket() for _ in range(4)]
    asked = sum(counted.may_ask(bucket, "ann", "1.2.3.4", 1.0) for bucket in buckets for _ in range(40))
    assert asked == 80
    assert counted.may_ask(counted.new_bucket(), "bob", "1.2.3.4", 1.0)


def test_several_players_of_one_address_share_the_addresss_allowance():
    counted, _ = limits(rate=0, player_rate=0, address_rate=20)
    assert sum(counted.may_ask(None, f"p{n}", "1.2.3.4", 1.0) for n in range(100)) == 80
    assert counted.may_ask(None, "zoe", "5.6.7.8", 1.0)


def test_a_rate_of_nothing_is_no_limit():
    counted, _ = limits(rate=0, player_rate=0, address_rate=0, address_connections=0)
    assert counted.new_bucket() is None
    assert all(counted.may_ask(None, "ann", "1.2.3.4", 100.0) for _ in range(1000))
    for _ in range(1000):
        counted.admit("1.2.3.4")


def test_an_address_has_only_so_many_connections_at_once():
    counted, _ = limits(address_connections=3)
    for _ in range(3):
        counted.admit("1.2.3.4")
    with pytest.raises(Refused, match="at most 3 connections from one address"):
        counted.admit("1.2.3.4")
    counted.admit("5.6.7.8")
    counted.release("1.2.3.4")
    counted.admit("1.2.3.4")


def test_whoever_is_quiet_is_forgotten():
    counted, clock = limits(player_rate=20, address_rate=20, rate=0)
    counted.may_ask(None, "ann", "1.2.3.4", 5.0)
    counted.sweep()
    assert len(counted._players._buckets) == 1
    clock.time += 10
    counted.sweep()
    assert not counted._players._buckets
    assert not counted._addresses._buckets


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("203.0.113.9", "1.1.1.1", "203.0.113.9"),  # nobody but a known proxy is believed
        ("10.0.0.1", "6.6.6.6, 203.0.113.9", "203.0.113.9"),
        ("10.0.0.1", None, "10.0.0.1"),
        ("10.0.0.1", "nonsense", "unknown"),
        ("::ffff:203.0.113.9", None, "203.0.113.9"),
        ("2001:db8::1", None, "2001:db8::/64"),
        (None, None, "unknown"),
    ],
)
def test_an_address_is_where_somebody_is(peer, forwarded, address):
    assert address_of(peer, forwarded, ["10.0.0.1"]) == address


async def test_nobody_opens_too_many_rooms():
    async with World(player_rooms=2) as world:
        for id in ("ONE", "TWO"):
            await world.open("tictactoe", id, creator="ann")
        with pytest.raises(Refused, match="you have 2 open rooms already"):
            await world.open("tictactoe", "MORE", creator="ann")
        await world.open("tictactoe", "BOBS", creator="bob")
        await world.wait(300)  # they time out
        await world.open("tictactoe", "MORE", creator="ann")


async def test_a_match_that_is_over_does_not_count_against_the_rooms_of_its_player():
    async with World(player_rooms=1) as world:
        await world.open("backgammon", creator="ann")
        ann, _ = await world.seated("ABCD", "ann", "bob")
        with pytest.raises(Refused, match="you have 1 open rooms already"):
            await world.open("backgammon", "MORE", creator="ann")
        assert (await ann.play("ABCD", {"type": "resign_match"}))[0] == "ok"
        assert (await world.host.look("ABCD")).ended is None, "they may want a rematch"
        await world.open("backgammon", "MORE", creator="ann")


async def test_a_room_takes_only_so_many_but_a_seat_always_finds_a_place():
    async with World(room_members=2) as world:
        await world.open("tictactoe")
        for name in ("yan", "zoe"):
            assert (await (await world.person(name)).join("ABCD", spectate=True))[0] == "ok"
        late = await world.person("xia")
        assert (await late.join("ABCD", spectate=True))[1]["code"] == "game_full"
        await world.seated("ABCD", "ann", "bob")


def test_a_burst_is_over_before_a_connection_is_cut():
    assert Settings().rate * 4 <= STRIKES

"""Nobody can hurt another by asking too much."""

import asyncio
from typing import Any

import pytest
from starlette.requests import HTTPConnection

from parlour.errors import Refused
from parlour.server.api.calls import caller_of
from parlour.server.app import SWEEP_EVERY, every
from parlour.server.limits import STRIKES, Limits, Quota, address_of
from parlour.server.settings import Settings
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
    with pytest.raises(Refused, match="at most 3 connections for one address"):
        counted.admit("1.2.3.4")
    counted.admit("5.6.7.8")
    counted.release("1.2.3.4")
    counted.admit("1.2.3.4")


def test_an_address_has_only_so_many_tcp_connections_that_are_no_sockets():
    counted, _ = limits(address_connections=3, proxies=["10.0.0.1"])
    held = [counted.admit_call("1.2.3.4") for _ in range(3)]
    with pytest.raises(Refused, match="at most 3 connections for one address"):
        counted.admit_call("1.2.3.4")
    counted.admit("1.2.3.4")  # sockets are counted apart
    assert counted.admit_call("5.6.7.8") == "5.6.7.8"
    assert [counted.admit_call("10.0.0.1") for _ in range(10)] == [None] * 10
    counted.release_call(held[0])
    counted.admit_call("1.2.3.4")


async def test_the_quiet_are_looked_for_as_long_as_the_server_runs_whatever_doors_it_has():
    counted, clock = limits(address_rate=20)
    counted.check_call("1.2.3.4", 1.0)
    async with every(clock, SWEEP_EVERY, counted.sweep):
        assert len(counted.by_address._buckets) == 1
        clock.turn_to_next(SWEEP_EVERY)
        assert len(counted.by_address._buckets) == 0


def test_whoever_is_quiet_is_forgotten():
    counted, clock = limits(player_rate=20, address_rate=20, rate=0)
    counted.may_ask(None, "ann", "1.2.3.4", 5.0)
    counted.sweep()
    assert len(counted._players._buckets) == 1
    clock.time += 10
    counted.sweep()
    assert not counted._players._buckets
    assert not counted.by_address._buckets


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("203.0.113.9", ["1.1.1.1"], "203.0.113.9"),  # nobody but a known proxy is believed
        ("10.0.0.1", ["6.6.6.6, 203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", ["6.6.6.6", "203.0.113.9"], "203.0.113.9"),  # the proxy adds the last line
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["nonsense"], "unknown"),
        ("::ffff:203.0.113.9", [], "203.0.113.9"),
        ("2001:db8::1", [], "2001:db8::/64"),
        (None, [], "unknown"),
    ],
)
def test_an_address_is_where_somebody_is(peer, forwarded, address):
    assert address_of(peer, forwarded, ["10.0.0.1"]) == address


def test_a_call_comes_from_where_the_last_forwarding_header_says_as_a_socket_does():
    headers = [(b"x-forwarded-for", b"6.6.6.6"), (b"x-forwarded-for", b"203.0.113.9")]
    call = HTTPConnection({"type": "http", "headers": headers, "client": ("10.0.0.1", 1)})
    assert caller_of(call, ["10.0.0.1"]) == "203.0.113.9"


def test_a_quota_counts_in_total_and_for_each_holder_and_gives_back():
    quota = Quota("things", 3, player=2, address=0)
    quota.take(2, player="ann", address="here")
    with pytest.raises(Refused, match="at most 2 things for one player"):
        quota.take(player="ann", address="here")
    with pytest.raises(Refused, match="at most 3 things on this server"):
        quota.take(2, player="bob", address="here")
    quota.take(player="bob", address="here")
    quota.give_back(2, player="ann", address="here")
    quota.take(2, player="ann", address="there")
    quota.give_back(2, player="ann", address="there")
    quota.give_back(player="bob", address="here")
    assert not quota._held_by


async def test_nobody_opens_too_many_rooms():
    async with World(player_rooms=2) as world:
        for id in ("ONE", "TWO"):
            await world.open("tictactoe", id, creator="ann")
        with pytest.raises(Refused, match="at most 2 open rooms for one player"):
            await world.open("tictactoe", "MORE", creator="ann")
        await world.open("tictactoe", "BOBS", creator="bob")
        await world.wait(3600)  # nobody sat down in them
        await world.open("tictactoe", "MORE", creator="ann")


async def test_a_match_that_is_over_does_not_count_against_the_rooms_of_its_player():
    async with World(player_rooms=1) as world:
        await world.open("backgammon", creator="ann")
        ann, _ = await world.seated("ABCD", "ann", "bob")
        with pytest.raises(Refused, match="at most 1 open rooms for one player"):
            await world.open("backgammon", "MORE", creator="ann")
        assert (await ann.play("ABCD", {"type": "resign_match"}))[0] == "ok"
        assert (await world.server.rooms.look("ABCD")).ended is None, "they may want a rematch"
        await world.open("backgammon", "MORE", creator="ann")


HERE, THERE = "203.0.113.1", "203.0.113.2"


async def test_identities_open_no_more_rooms_than_their_address_may():
    async with World(address_rooms=2) as world:
        for id in ("ONE", "TWO"):
            await world.open("tictactoe", id, creator=id, address=HERE)
        with pytest.raises(Refused, match="at most 2 open rooms for one address"):
            await world.open("tictactoe", "MORE", creator="somebody else", address=HERE)
        await world.open("tictactoe", "OTHER", creator="ann", address=THERE)
        await world.wait(3600)  # nobody sat down in them
        await world.open("tictactoe", "MORE", creator="ann", address=HERE)


async def test_a_server_has_only_so_many_open_rooms():
    async with World(rooms=2, address_rooms=0) as world:
        for id in ("ONE", "TWO"):
            await world.open("tictactoe", id, address=id)
        with pytest.raises(Refused, match="at most 2 open rooms on this server"):
            await world.open("tictactoe", "MORE", address="MORE")


@pytest.mark.parametrize(
    ("limit", "how"), [({"address_rooms": 2}, {"address": HERE}), ({"player_rooms": 2}, {"creator": "ann"})]
)
async def test_rooms_that_are_asked_for_at_once_count_too(limit: dict[str, Any], how: dict[str, Any]):
    async with World(**limit) as world:
        creation = (world.server.rooms.creation.create("tictactoe", {}, **how) for _ in range(5))
        done = await asyncio.gather(*creation, return_exceptions=True)
        assert [getattr(one, "code", None) for one in done] == [None, None, *["too_many"] * 3]


async def test_a_room_that_could_not_be_opened_does_not_count():
    async with World(address_rooms=1) as world:
        with pytest.raises(Refused, match="invalid_config"):
            await world.open("minesweeper", config={"width": 0}, address=HERE)
        await world.open("minesweeper", address=HERE)


async def test_doors_and_tickets_open_no_more_rooms_than_an_address_may():
    async with World(address_rooms=1) as world:
        ann = await world.person("ann")
        assert ann.address == HERE
        await ann.send(["1", "1", "lobby", "phx_join", {}])
        await world.open("tictactoe", address=HERE)
        await ann.send(["1", "2", "lobby", "queue", {"game": "tictactoe", "mode": "bot"}])
        assert ann.frames[-1][4]["response"]["code"] == "too_many"
        await ann.send(["3", "3", "games:stratego", "phx_join", {"id": "LAIR", "user": "Ann"}])
        assert ann.frames[-1][4]["response"]["code"] == "too_many"


async def test_rooms_count_after_a_restart_and_again_when_a_game_begins_anew():
    async with World(address_rooms=2) as world:
        await world.open("tictactoe", "ONE", address=HERE)
        await world.open("tictactoe", address=HERE)
        ann, bob = await world.seated("ABCD", "ann", "bob")
        for cell, who in zip((0, 3, 1, 4, 2), (ann, bob) * 3, strict=False):
            assert (await who.play("ABCD", {"type": "mark", "cell": cell}))[0] == "ok"
        await world.open("tictactoe", "TWO", address=HERE)  # the game in ABCD is over
    async with World(journal=world.journal, address_rooms=2) as again:
        with pytest.raises(Refused, match="at most 2 open rooms for one address"):
            await again.open("tictactoe", "MORE", address=HERE)
        for who in await again.seated("ABCD", "ann", "bob"):
            await who.push("ABCD", "rematch", {})
        assert len(again.server.rooms.creation._counted) == 3


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

"""Relays behind real sockets: identity, limits, and what the server remembers of whom."""

import asyncio
import json
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import REGISTRY

from parlour.server.gateway.doors.relay import GRAIN
from parlour.server.tokens import Tokens
from tests.server.relaying import Exchange

TABLE = "/g/table"


def refusals(code):
    return REGISTRY.get_sample_value("parlour_relay_refusals_total", {"code": code}) or 0.0


def got(wire):
    return [json.loads(message) for message in wire.got]


# Who somebody is.


async def test_the_answer_to_a_first_upgrade_sets_a_signed_cookie_that_scripts_cannot_read():
    exchange = Exchange()
    wire = await exchange.connect("ann", TABLE)
    name, _, token = (wire.cookie or "").partition("=")
    assert name == "clientID"
    assert got(wire)[0]["To"] == [Tokens(b"k" * 32, "relay").read(token)]
    assert "HttpOnly; SameSite=Lax" in wire.headers["Set-Cookie"]


@pytest.mark.parametrize(("proxies", "secure"), [(["127.0.0.1"], True), ([], False)])
async def test_a_cookie_that_came_by_https_never_goes_by_http(proxies, secure):
    exchange = Exchange(proxies=proxies)
    wire = await exchange.connect("ann", TABLE, **{"X-Forwarded-Proto": "https"})
    assert wire.headers["Set-Cookie"].endswith("; Secure") is secure


async def test_an_id_lasts_as_long_as_its_cookie():
    exchange = Exchange()
    first = await exchange.connect("ann", TABLE)
    await exchange.drop("ann")
    again = await exchange.connect("ann", "/g/elsewhere")
    assert got(first)[0]["To"] == got(again)[0]["To"]


@pytest.mark.parametrize("forged", ["clientID=1.02.x.y", "clientID=", "clientID=ann", "other=1"])
async def test_a_cookie_that_was_not_signed_here_gives_a_fresh_id(forged):
    exchange = Exchange()
    wire = await exchange.connect("eve", TABLE, Cookie=forged)
    assert re.fullmatch(r"1735689600\.0\d+", got(wire)[0]["To"][0])


async def test_a_players_token_is_no_members_cookie():
    exchange = Exchange()
    token = Tokens(b"k" * 32).issue("ann")
    wire = await exchange.connect("eve", TABLE, Cookie=f"clientID={token}")
    assert got(wire)[0]["To"] != ["ann"]


async def test_a_foreign_page_neither_uses_nor_replaces_a_cookie():
    exchange = Exchange()
    ann = await exchange.connect("ann", TABLE)
    eve = await exchange.connect("eve", TABLE, "ann", Origin="http://evil.example")
    assert eve.cookie is None
    assert got(eve)[0]["To"] != got(ann)[0]["To"]


async def test_a_page_of_a_listed_site_may_use_the_cookie():
    exchange = Exchange(origins=["https://games.example"])
    ann = await exchange.connect("ann", TABLE)
    again = await exchange.connect("ann2", TABLE, "ann", Origin="https://games.example")
    assert got(again)[0]["To"] == got(ann)[0]["To"]


async def test_todays_generation_gets_no_cookie_and_an_id_only_if_it_brings_none():
    exchange = Exchange()
    wire = await exchange.connect("ann", f"{TABLE}?id=")
    assert wire.cookie is None
    assert re.fullmatch(r"1735689600\.(0|[1-9]\d*)", got(wire)[0]["To"][0])


# Limits.


async def test_the_fifty_first_connection_is_refused_and_counted():
    exchange = Exchange()
    for number in range(50):
        await exchange.connect(f"p{number}", f"{TABLE}?id=p{number}")
    before = refusals("game_full")
    late = await exchange.connect("late", f"{TABLE}?id=late")
    assert late.got == ["refused 503 Maximum number of clients in game"]
    assert refusals("game_full") == before + 1


async def test_refused_numbers_and_refused_upgrades_take_no_place():
    exchange = Exchange()
    for number in range(49):
        await exchange.connect(f"p{number}", f"{TABLE}?id=p{number}")
    for _ in range(60):
        wire = await exchange.connect("eve", f"{TABLE}?id=eve&lastnum=999")
        assert wire.got == ["closed 4000 Bad lastnum"]
    assert got(await exchange.connect("ann", f"{TABLE}?id=ann"))[0]["Intent"] == "Welcome"


async def test_there_are_only_so_many_relays_at_once():
    exchange = Exchange(relays=2)
    await exchange.connect("ann", "/g/one?id=ann")
    await exchange.connect("bob", "/g/two?id=bob")
    late = await exchange.connect("cid", "/g/three?id=cid")
    assert late.got == ["refused 503 at most 2 relays on this server at a time"]
    assert got(await exchange.connect("dee", "/g/two?id=dee"))[0]["From"] == ["bob"]
    await exchange.drop("ann")
    await exchange.wait(5)
    assert got(await exchange.connect("cid", "/g/three?id=cid"))[0]["Num"] == 0


async def test_a_flood_ends_the_connection_with_a_code_and_what_was_taken_was_told():
    exchange = Exchange(rate=50)
    ann = await exchange.connect("ann", f"{TABLE}?id=ann")
    before = refusals("too_fast")
    for number in range(1200):
        if ann.got[-1].startswith("closed"):
            break
        await exchange.send("ann", str(number))
    assert ann.got[-1] == "closed 1008 too fast"
    nums = [json.loads(message)["Num"] for message in ann.got[:-1]]
    assert nums == list(range(len(nums)))
    assert 700 < len(nums) < 900
    assert refusals("too_fast") == before + 1


async def test_large_messages_are_a_flood_sooner():
    exchange = Exchange(rate=50)
    ann = await exchange.connect("ann", f"{TABLE}?id=ann")
    for _ in range(200):
        if ann.got[-1].startswith("closed"):
            break
        await exchange.send("ann", "x" * 60_000)
    assert ann.got[-1] == "closed 1008 too fast"
    assert len(ann.got) < 120


async def test_people_who_come_again_and_again_are_sent_away():
    exchange = Exchange(address_rate=10)
    ends = []
    for number in range(40):
        wire = await exchange.connect(f"p{number}", f"/g/{number}?id=x")
        ends.append(wire.got[0])
    assert ends[0].startswith("{")
    assert "closed 1008 too fast" in ends
    assert ends[-1].startswith("refused 429")
    assert len(exchange.relays._in_memory) < 30


# What is left behind.


async def test_a_relay_is_forgotten_when_its_last_member_has_left_and_begins_anew():
    exchange = Exchange()
    await exchange.connect("ann", f"{TABLE}?id=ann")
    await exchange.send("ann", "hello")
    await exchange.drop("ann")
    await exchange.wait(4.9)
    assert list(exchange.relays._in_memory) == [TABLE]
    await exchange.wait(0.1)
    assert not exchange.relays._in_memory
    assert got(await exchange.connect("ann", f"{TABLE}?id=ann"))[0]["Num"] == 0


async def test_a_number_refused_in_an_empty_room_leaves_no_room_behind():
    exchange = Exchange()
    await exchange.connect("ann", f"{TABLE}?id=ann&lastnum=5")
    assert not exchange.relays._in_memory


async def test_who_left_a_window_open_in_a_room_of_others_can_be_alone_again():
    exchange = Exchange()
    await exchange.connect("ann", TABLE)
    await exchange.drop("ann")
    assert not exchange.relays._in_memory


async def test_a_member_that_does_not_read_is_cut_and_its_room_mates_do_not_notice():
    exchange = Exchange(max_outbox=200_000)
    for who in ("ann", "bob", "cid"):
        await exchange.connect(who, f"{TABLE}?id={who}")
    bob = exchange.wires["bob"]
    bob.reads = False
    for _ in range(20):
        await exchange.send("ann", "x" * 30_000)
    assert bob.pipe.aborted
    assert len(bob.pipe.written) < 300_000
    assert len([1 for envelope in got(exchange.wires["cid"]) if envelope["Intent"] == "Peer"]) == 20


# What is held, and for whom.

PROXIES = ["127.0.0.1"]


def from_(address):
    return {"X-Forwarded-For": address}


async def test_one_address_opens_so_many_relays_and_others_still_find_a_place():
    exchange = Exchange(address_relays=2, proxies=PROXIES)
    for room in ("one", "two"):
        await exchange.connect(room, f"/g/{room}?id=eve", **from_("203.0.113.9"))
    before = refusals("too_many")
    third = await exchange.connect("third", "/g/three?id=eve", **from_("203.0.113.9"))
    assert third.got == ["refused 503 at most 2 relays for one address at a time"]
    assert refusals("too_many") == before + 1
    assert got(await exchange.connect("guest", "/g/one?id=guest", **from_("203.0.113.9")))[0]["Num"] == 1
    assert got(await exchange.connect("bob", "/g/three?id=bob", **from_("203.0.113.8")))[0]["Num"] == 0
    await exchange.drop("two")
    await exchange.wait(5)
    assert got(await exchange.connect("third", "/g/four?id=eve", **from_("203.0.113.9")))[0]["Num"] == 0


async def test_ids_that_are_too_long_together_are_refused():
    exchange = Exchange()
    for number in range(27):
        await exchange.connect(f"p{number}", f"{TABLE}?id={number:0300}")
    late = await exchange.connect("late", f"{TABLE}?id={99:0300}")
    assert late.got == ["refused 503 expected ids of at most 8192 bytes in one room, got more"]
    assert got(await exchange.connect("short", f"{TABLE}?id=short"))[0]["Intent"] == "Welcome"


async def test_a_message_is_paid_for_by_all_that_is_sent_because_of_it():
    exchange = Exchange(rate=50)
    for number in range(50):
        await exchange.connect(f"p{number}", f"{TABLE}?id={number:0150}")
    sender, listener = exchange.wires["p0"], exchange.wires["p1"]
    said, before = 0, sum(map(len, listener.got))
    while not sender.got[-1].startswith("closed"):
        await exchange.send("p0", "x")
        said += 1
    sent = 50 * (sum(map(len, listener.got)) - before)
    assert sender.got[-1] == "closed 1008 too fast"
    assert said < 200
    assert 15_000_000 < sent < 30_000_000  # 200 moves, of 128 KB each


async def test_where_memory_is_short_a_relay_forgets_what_is_oldest_and_nobody_is_cut():
    exchange = Exchange(address_relay_memory=100_000, proxies=PROXIES)
    await exchange.connect("ann", f"{TABLE}?id=ann", **from_("203.0.113.9"))
    for _ in range(10):
        await exchange.send("ann", "x" * 30_000)
    await exchange.connect("bob", "/g/other?id=bob", **from_("203.0.113.8"))
    for _ in range(10):
        await exchange.send("bob", "x" * 3_000)
    one, other = exchange.relays._in_memory.values()
    assert one.relay.held <= 100_000
    assert one.relay.first == 8
    assert other.relay.first == 0
    assert [envelope["Num"] for envelope in got(exchange.wires["ann"])] == list(range(11))


async def test_who_returns_to_a_crowd_with_long_ids_gets_what_it_missed_and_is_not_cut():
    exchange = Exchange(rate=50)
    for number in range(30):
        await exchange.connect(f"p{number}", f"{TABLE}?id={number:0150}")
    last = got(exchange.wires["p7"])[-1]["Num"]
    await exchange.drop("p7")
    for number in range(400):
        await exchange.send(f"p{10 + number % 20}", "x")
    back = await exchange.connect("p7", f"{TABLE}?id={7:0150}&lastnum={last}")
    assert 0 < len(back.got) < 30  # as much as is good to send at once
    await exchange.wait(4)
    await exchange.send("p8", "y")
    assert [envelope["Num"] for envelope in got(back)] == list(range(last + 1, last + 402))
    assert sum(map(len, back.got)) > exchange.settings.max_outbox


async def test_who_returns_and_does_not_read_is_given_no_more_than_a_portion():
    exchange = Exchange()
    for who in ("ann", "bob"):
        await exchange.connect(who, f"{TABLE}?id={who}")
    await exchange.drop("bob")
    for _ in range(4):
        await exchange.send("ann", "x" * 50_000)
    bob = await exchange.connect("bob", f"{TABLE}?id=bob&lastnum=1")
    bob.reads = False
    await exchange.wait(3)
    assert len(bob.got) + len(bob.pipe.written) // 60_000 <= 3
    bob.reads = True
    await exchange.quiet()
    await exchange.wait(3)
    assert [envelope["Num"] for envelope in got(bob)] == [2, 3, 4, 5]


STORIES = st.lists(
    st.tuples(
        st.sampled_from(["connect", "return", "send", "drop", "wait"]),
        st.sampled_from(["ann", "bob", "cid", "dee"]),
        st.sampled_from(["/g/one", "/g/two", "/g/three"]),
        st.integers(0, 7),
    ),
    max_size=25,
)


@given(STORIES)
def test_what_is_counted_is_what_is_held_and_in_the_end_nothing(story):
    asyncio.run(live_through(story))


async def live_through(story):
    exchange = Exchange(address_relays=2, address_relay_memory=150_000, relay_memory=250_000, proxies=PROXIES)
    relays = exchange.relays
    for move, who, room, more in story:
        if move in ("connect", "return"):
            number = f"&lastnum={more}" if move == "return" else ""
            if who in exchange.wires:
                await exchange.drop(who)
            await exchange.connect(
                who, f"{room}?id={who * 20}{number}", **from_(f"203.0.113.{'ann bob'.find(who)}")
            )
        elif move == "send" and who in exchange.wires:
            await exchange.send(who, "x" * (more * 8000))
        elif move == "drop" and who in exchange.wires:
            await exchange.drop(who)
        elif move == "wait":
            await exchange.wait(more)
        held: Counter[str] = Counter()
        for relay in relays._in_memory.values():
            assert relay.counted - GRAIN < relay.relay.held <= relay.counted
            held[relay.address] += relay.counted
        assert relays._memory._held == sum(held.values())
        assert relays._memory._held_by == {("address", whose): size for whose, size in held.items()}
        assert relays._open._held == len(relays._in_memory)
    for who in list(exchange.wires):
        await exchange.drop(who)
    await exchange.wait(5)
    assert (relays._memory._held, relays._open._held) == (0, 0)
    assert not relays._memory._held_by
    assert not relays._open._held_by

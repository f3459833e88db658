"""Relays that remember: a game is picked up the next day, and nothing is told that is not kept."""

import asyncio
import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import REGISTRY

from parlour.journal.base import NotKept, RecordQuery
from parlour.journal.memory import MemoryJournal
from parlour.journal.sqlite import SqliteJournal
from parlour.relay import REMEMBERED_BYTES
from parlour.server.gateway.doors.relay_history import (
    LOADED,
    PAGE_DISK,
    RELAY_DISK,
    WEIGH_EVERY,
    KeptRelay,
    KeptRelays,
)
from parlour.server.housekeeping import delete_relays
from parlour.server.relay_records import (
    KeptEnvelope,
    held_by_all,
    keep_envelope,
    kept_envelopes,
)
from tests.server.relaying import Exchange

TABLE = "/g/table"


@pytest.fixture
async def journal():
    journal = MemoryJournal(Path("unused"), "process")
    await journal.open()
    return journal


async def talk(exchange, *people):
    for who in people:
        await exchange.connect(who, f"{TABLE}?id={who}")
    for who in people:
        await exchange.send(who, f"from {who}")


def nums(wire):
    return [json.loads(message)["Num"] for message in wire.got]


def intents(wire):
    return [json.loads(message)["Intent"] for message in wire.got]


async def test_a_server_that_starts_again_goes_on_with_the_next_number(journal):
    await talk(Exchange(journal), "ann", "bob")
    again = Exchange(journal)
    ann = await again.connect("ann", f"{TABLE}?id=ann&lastnum=1")
    assert nums(ann) == [2, 3]
    await again.send("ann", "still here")
    assert nums(ann) == [2, 3, 4]


async def test_who_missed_nothing_returns_to_another_server_without_a_word(journal):
    await talk(Exchange(journal), "ann", "bob")
    again = Exchange(journal)
    for who in ("ann", "bob"):
        assert (await again.connect(who, f"{TABLE}?id={who}&lastnum=3")).got == []
    await again.wait(60)
    await again.send("ann", "hello")
    assert nums(again.wires["bob"]) == [4]


async def test_what_was_said_just_before_a_stop_is_kept_before_the_journal_closes(tmp_path):
    journal = SqliteJournal(tmp_path, "process")
    await journal.open()
    first = Exchange(journal)
    await talk(first, "ann", "bob")
    for word in ("one", "last", "word"):
        first.wires["ann"].send(word)  # nobody waits for it
    await first.relays.finish()
    await journal.close()
    assert first.troubles == []
    journal = SqliteJournal(tmp_path, "process")
    await journal.open()
    ann = await Exchange(journal).connect("ann", f"{TABLE}?id=ann&lastnum=3")
    assert nums(ann) == [4, 5, 6]
    await journal.close()


async def test_a_game_is_picked_up_the_next_day(journal):
    first = Exchange(journal)
    await talk(first, "ann", "bob")
    for who in ("ann", "bob"):
        await first.drop(who)
    await first.wait(5)
    assert not first.relays._in_memory
    ann = await Exchange(journal).connect("ann", f"{TABLE}?id=ann&lastnum=2")
    assert nums(ann) == [3, 4, 5, 6]
    assert intents(ann) == ["Peer", "Leaver", "Leaver", "Welcome"]


async def test_those_who_do_not_return_after_an_outage_have_left(journal):
    await talk(Exchange(journal), "ann", "bob")
    again = Exchange(journal)
    ann = await again.connect("ann", f"{TABLE}?id=ann&lastnum=3")
    await again.wait(5)
    assert intents(ann) == ["Leaver"]


async def test_a_number_that_nobody_gave_is_refused(journal):
    await talk(Exchange(journal), "ann")
    assert (await Exchange(journal).connect("ann", f"{TABLE}?id=ann&lastnum=99")).got == [
        "closed 4000 Bad lastnum"
    ]


async def test_nothing_is_told_that_is_not_kept_and_everybody_comes_again(journal):
    exchange = Exchange(journal)
    await talk(exchange, "ann", "bob")
    ann, bob = exchange.wires["ann"], exchange.wires["bob"]
    heard = len(bob.got)
    keep = journal.keep

    async def fail(*_):
        raise NotKept("the disk is full")

    journal.keep = fail
    await exchange.send("ann", "lost")
    assert bob.got[heard:] == ["closed 1012 come again"]
    assert ann.got[-1] == "closed 1012 come again"
    assert [str(trouble) for trouble in exchange.troubles] == ["the disk is full"]
    journal.keep = keep
    again = await exchange.connect("bob", f"{TABLE}?id=bob&lastnum=3")
    assert again.got == []
    await exchange.send("bob", "found")
    assert nums(again) == [4]


async def test_a_relay_that_remembers_keeps_so_much_and_no_more(journal):
    exchange = Exchange(journal)
    await exchange.connect("ann", f"{TABLE}?id=ann")
    for _ in range(40):
        await exchange.send("ann", "x" * 60_000)
    kept = await kept_envelopes(journal, TABLE)
    assert REMEMBERED_BYTES - 2 * 80_100 < sum(map(len, kept)) <= REMEMBERED_BYTES
    (relay,) = exchange.relays._in_memory.values()
    assert relay.relay.first == 41 - 17


async def test_fifty_are_enough_here_too(journal):
    exchange = Exchange(journal)
    for number in range(51):
        await exchange.connect(f"p{number}", f"{TABLE}?id=p{number}")
    assert exchange.wires["p49"].got[0].startswith("{")
    assert exchange.wires["p50"].got == ["refused 503 Maximum number of clients in game"]


async def test_after_an_outage_newcomers_wait_for_the_places_of_those_who_may_return(journal):
    first = Exchange(journal)
    for number in range(50):
        await first.connect(f"p{number}", f"{TABLE}?id=p{number}")
    again = Exchange(journal)
    assert (await again.connect("late", f"{TABLE}?id=late")).got == [
        "closed 1013 Maximum number of clients in game"
    ]
    assert (await again.connect("p7", f"{TABLE}?id=p7&lastnum=49")).got == []
    await again.wait(5)
    assert json.loads((await again.connect("late", f"{TABLE}?id=late")).got[0])["From"] == ["p7"]


async def test_windows_of_the_first_generation_go_on_too(journal):
    exchange = Exchange(journal)
    ann, bob = await exchange.connect("ann", TABLE), await exchange.connect("bob", TABLE)
    await exchange.send("ann", '{"turn": 0}')
    await exchange.drop("ann")
    assert intents(bob) == [
        "Welcome",
        "Peer",
        "Leaver",
    ]
    assert len(ann.got) == 2


async def test_who_was_there_is_kept_as_changes_and_told_as_it_was(journal):
    first = Exchange(journal)
    for number in range(40):
        await first.connect(f"p{number}", f"{TABLE}?id={number:0150}")
    for number in range(500):
        await first.send(f"p{number % 40}", "x")
    assert sum(map(len, await kept_envelopes(journal, TABLE))) < 250_000
    again = Exchange(journal)
    back = await again.connect("p7", f"{TABLE}?id={7:0150}&lastnum=30")
    await again.wait(4.9)
    heard = [json.loads(message) for message in first.wires["p7"].got]
    expected = [envelope for envelope in heard if envelope["Num"] > 30]
    assert [json.loads(message) for message in back.got] == expected


async def test_what_was_let_go_of_still_says_who_was_there(journal):
    first = Exchange(journal)
    await talk(first, "ann", "bob", "cid")
    await first.drop("cid")
    await first.wait(5)
    for _ in range(20):
        await first.send("ann", "x" * 60_000)
    again = Exchange(journal)
    bob = await again.connect("bob", f"{TABLE}?id=bob&lastnum=20")
    assert json.loads(bob.got[0])["To"] == ["bob"]
    await again.wait(4.9)
    assert nums(bob) == [21, 22, 23, 24, 25, 26]


async def test_what_older_journals_kept_with_whole_lists_opens(journal):
    old = '{"num":%d,"time":1,"intent":"%s","sender":"%s","others":%s,"body":%s}'
    for num, intent, sender, others, body in (
        (7, "Peer", "ann", '["bob"]', '"aGVsbG8="'),
        (8, "Joiner", "cid", '["ann","bob"]', "null"),
        (9, "Leaver", "bob", '["ann","cid"]', "null"),
        (10, "Peer", "cid", '["ann"]', '"eA=="'),
    ):
        await keep_envelope(
            journal, TABLE, KeptEnvelope(num, 1.0, (old % (num, intent, sender, others, body)).encode())
        )
    back = await Exchange(journal).connect("dee", f"{TABLE}?id=dee&lastnum=6")
    told = [json.loads(message) for message in back.got]
    assert [(e["Num"], e["Intent"], e["From"], e["To"]) for e in told] == [
        (7, "Peer", ["ann"], ["bob"]),
        (8, "Joiner", ["cid"], ["bob", "ann"]),
        (9, "Leaver", ["bob"], ["ann", "cid"]),
        (10, "Peer", ["cid"], ["ann"]),
        (11, "Welcome", ["ann", "cid"], ["dee"]),
    ]


# What is kept, and for whom.

PROXIES = ["127.0.0.1"]


def from_(address):
    return {"X-Forwarded-For": address}


def refusals(code):
    return REGISTRY.get_sample_value("parlour_relay_refusals_total", {"code": code}) or 0.0


async def fill(exchange, address, count):
    """One address opens relays and says something large in each, as long as it may; how often it may."""
    for number in range(count):
        who = f"{address} {number}"
        wire = await exchange.connect(who, f"/g/{address}/{number}?id=eve", **from_(address))
        if not wire.got[-1].startswith("closed"):
            await exchange.send(who, "x" * 60_000)
        if wire.got[-1].startswith("closed"):
            return number
    return count


async def test_one_address_keeps_so_many_bytes_and_others_still_can(journal):
    exchange = Exchange(journal, proxies=PROXIES, address_relay_disk=520_000)
    before = refusals("too_many")
    assert await fill(exchange, "203.0.113.9", 10) == 6
    assert exchange.wires["203.0.113.9 6"].got[-1] == (
        "closed 1013 at most 520000 bytes of kept relays for one address at a time"
    )
    assert refusals("too_many") == before + 1
    assert await fill(exchange, "203.0.113.8", 1) == 1
    assert 450_000 < (await held_by_all(journal))["203.0.113.9"] <= 520_000


async def test_there_is_a_limit_to_what_is_kept_of_all_relays(journal):
    exchange = Exchange(journal, proxies=PROXIES, relay_disk=520_000)
    assert [await fill(exchange, f"203.0.113.{number}", 3) for number in range(3)] == [3, 3, 0]
    assert sum((await held_by_all(journal)).values()) <= 520_000


async def test_what_an_address_has_kept_counts_after_a_restart_until_it_is_forgotten(journal):
    await fill(Exchange(journal, proxies=PROXIES), "203.0.113.9", 6)
    again = Exchange(journal, proxies=PROXIES, address_relay_disk=520_000)
    assert (await again.connect("eve", "/g/more?id=eve", **from_("203.0.113.9"))).got[0].startswith("{")
    await again.send("eve", "x" * 60_000)
    assert again.wires["eve"].got[-1].startswith("closed 1013 at most 520000 bytes")
    await delete_relays(journal, float("inf"), 1000)
    await again.wait(WEIGH_EVERY)
    assert await fill(again, "203.0.113.9", 6) == 6


async def test_a_relay_that_is_full_goes_on_where_there_is_no_more_room(journal):
    exchange = Exchange(journal, proxies=PROXIES, address_relay_disk=REMEMBERED_BYTES)
    ann = await exchange.connect("ann", f"{TABLE}?id=ann", **from_("203.0.113.9"))
    for _ in range(40):
        await exchange.send("ann", "x" * 60_000)
    assert nums(ann) == list(range(41))
    assert (await held_by_all(journal))["203.0.113.9"] <= REMEMBERED_BYTES


async def test_who_leaves_is_noted_even_where_there_is_no_room(journal):
    exchange = Exchange(journal, proxies=PROXIES, address_relay_disk=6000)
    await exchange.connect("ann", f"{TABLE}?id=ann", **from_("203.0.113.9"))
    await exchange.connect("bob", f"{TABLE}?id=bob", **from_("203.0.113.9"))
    await exchange.send("ann", "x" * 2000)
    assert exchange.wires["ann"].got[-1].startswith("closed 1013")
    await exchange.wait(5)
    assert intents(exchange.wires["bob"])[-1] == "Leaver"


async def test_while_the_journal_does_not_keep_up_only_so_much_waits(journal):
    exchange = Exchange(journal)
    await exchange.connect("ann", f"{TABLE}?id=ann")
    keep, go_on = journal.keep, asyncio.Event()

    async def wait_and_keep(*given):
        await go_on.wait()
        await keep(*given)

    journal.keep = wait_and_keep
    ann = exchange.wires["ann"]
    said = 0
    while not ann.got[-1].startswith("closed"):
        ann.send("x" * 60_000)
        await asyncio.sleep(0)
        ann.read()
        said += 1
    (relay,) = exchange.relays._in_memory.values()
    assert isinstance(relay, KeptRelay)
    assert said == 1 + REMEMBERED_BYTES // 60_000 + 1  # one is being kept, and one was too much
    assert ann.got[-1] == "closed 1008 too fast"
    assert relay.counted >= relay.unheard > REMEMBERED_BYTES - 60_000
    go_on.set()
    await exchange.quiet()
    await exchange.wait(5)
    assert (exchange.relays._memory._held, relay.unheard) == (0, 0)


async def test_of_a_relay_that_an_older_journal_kept_without_measure_only_the_newest_is_loaded(journal):
    others = json.dumps([f"{number:0300}" for number in range(300)])
    page = '{"num":%d,"time":1,"intent":"Peer","sender":"ann","others":%s,"body":"eA=="}'
    for num in range(80):
        await keep_envelope(
            journal, TABLE, KeptEnvelope(num, 1.0, (page % (num, others)).encode(), bytes=7_000_000)
        )
    exchange = Exchange(journal)
    ann = await exchange.connect("ann", f"{TABLE}?id=ann&lastnum=79")
    await exchange.send("ann", "hello")
    assert nums(ann)[-1] == 80
    (relay,) = exchange.relays._in_memory.values()
    assert relay.relay.first >= 80 - LOADED // len(others)
    assert sum(map(len, await kept_envelopes(journal, TABLE))) <= REMEMBERED_BYTES
    assert sum((await held_by_all(journal)).values()) <= REMEMBERED_BYTES


STORIES = st.lists(
    st.tuples(
        st.sampled_from(["connect", "return", "send", "drop", "wait", "restart"]),
        st.sampled_from(["ann", "bob", "cid"]),
        st.sampled_from(["/g/one", "/g/two"]),
        st.integers(0, 7),
    ),
    max_size=25,
)


@given(STORIES)
def test_what_is_counted_is_what_the_journal_holds(story):
    asyncio.run(live_through(story))


async def live_through(story):
    journal = MemoryJournal(Path("unused"), "process")
    await journal.open()
    limits = {"address_relay_disk": 300_000, "relay_disk": 500_000}
    exchange = Exchange(journal, proxies=PROXIES, **limits)
    for move, who, room, more in story:
        here = who in exchange.wires and not exchange.wires[who]._over
        if move in ("connect", "return"):
            last = f"&lastnum={more}" if move == "return" else ""
            if here:
                await exchange.drop(who)
            address = from_(f"203.0.113.{'ann bob'.find(who)}")
            await exchange.connect(who, f"{room}?id={who}{last}", **address)
        elif move == "send" and here:
            await exchange.send(who, "x" * (more * 8000))
        elif move == "drop" and here:
            await exchange.drop(who)
        elif move == "wait":
            await exchange.wait(more)
        elif move == "restart":
            exchange = Exchange(journal, proxies=PROXIES, **limits)
        relays = exchange.relays
        assert isinstance(relays, KeptRelays)
        if relays._weighed is None:
            continue
        held: Counter[tuple[str, str]] = Counter()
        for relay in await journal.records(RecordQuery("relay")):
            held["address", relay.owner] += RELAY_DISK + sum(
                PAGE_DISK + len(relay.key) + len(body) for body in await kept_envelopes(journal, relay.key)
            )
        assert relays._disk._held_by == held
        assert relays._disk._held == sum(held.values())
    for wire in exchange.wires.values():
        if not wire._over:
            wire.lose()
    await exchange.quiet()
    await exchange.wait(5)
    assert (exchange.relays._memory._held, exchange.relays._open._held) == (0, 0)

"""Relays that remember: a game is picked up the next day, and nothing is told that is not kept."""

import json
from pathlib import Path

import pytest

from parlour.journal.base import NotKept
from parlour.journal.memory import MemoryJournal
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


async def test_a_game_is_picked_up_the_next_day(journal):
    first = Exchange(journal)
    await talk(first, "ann", "bob")
    for who in ("ann", "bob"):
        await first.drop(who)
    await first.wait(5)
    assert not first.relays._live
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
    post = journal.post

    async def fail(*_):
        raise NotKept("the disk is full")

    journal.post = fail
    await exchange.send("ann", "lost")
    assert bob.got[heard:] == ["closed 1012 come again"]
    assert ann.got[-1] == "closed 1012 come again"
    assert [str(trouble) for trouble in exchange.troubles] == ["the disk is full"]
    journal.post = post
    again = await exchange.connect("bob", f"{TABLE}?id=bob&lastnum=3")
    assert again.got == []
    await exchange.send("bob", "found")
    assert nums(again) == [4]


async def test_a_relay_that_remembers_keeps_so_much_and_no_more(journal):
    exchange = Exchange(journal)
    await exchange.connect("ann", f"{TABLE}?id=ann")
    for _ in range(40):
        await exchange.send("ann", "x" * 60_000)
    assert len(await journal.posted(TABLE)) == 17
    (live,) = exchange.relays._live.values()
    assert live.relay.first == 41 - 17


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

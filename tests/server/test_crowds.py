"""A room with many spectators: they are told a moment later and together, and notice nothing of it."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from parlour.server.border import StepTold
from parlour.server.gateway import audience
from tests.server.world import PLAYABLE, HandClock, World, seqs

WATCHERS = ("zoe", "yan", "xia", "wim")

THINGS = st.one_of(
    st.tuples(st.just("tell"), st.sampled_from(["all", "ann", "zoe", "nobody"])),
    st.tuples(st.just("chat"), st.sampled_from(["ann", *WATCHERS])),
    st.tuples(st.just("join"), st.sampled_from(WATCHERS)),
    st.tuples(st.just("leave"), st.sampled_from(WATCHERS)),
    st.tuples(st.just("drop"), st.sampled_from(WATCHERS)),
    st.tuples(st.just("stop_reading"), st.sampled_from(WATCHERS)),
    st.tuples(st.just("read_again"), st.sampled_from(WATCHERS)),
    st.tuples(st.just("wait"), st.sampled_from(["0.004", "0.02", "1.5"])),
)


async def what_all_hear(story: list[tuple[str, str]]) -> list[list[Any]]:
    """Every frame that each of them has got by the end of the story, by connection."""
    async with World(PLAYABLE, clock=HandClock()) as world:
        await world.open("probe")
        people = {"ann": (await world.seated("ABCD", "ann"))[0]}
        for name in WATCHERS:
            people[name] = await world.person(name)
            await people[name].join("ABCD", spectate=True)
        connections = list(people.values())
        for what, who in story:
            if what == "tell":
                to = who if who in ("all", "nobody") else f"player:{who}"
                await people["ann"].play("ABCD", {"type": "tell", "to": to})
            elif what == "chat":
                await people[who].push("ABCD", "chat", {"text": "hello"})
            elif what == "join":
                await people[who].join("ABCD", spectate=True)
            elif what == "leave":
                await people[who].push("ABCD", "phx_leave", {})
            elif what == "drop":
                await people[who].drop()
                people[who] = await world.person(who)
                connections.append(people[who])
                await people[who].join("ABCD", spectate=True)
            elif what == "stop_reading":
                people[who].stop_reading()
            elif what == "read_again":
                await people[who].read_again()
            else:
                await world.wait(float(who))
        await world.wait(5)
        return [person.frames for person in connections]


@settings(max_examples=120)
@given(story=st.lists(THINGS, max_size=14))
def test_everybody_in_a_crowd_hears_just_what_they_would_hear_alone(story):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audience, "CROWD", 1000)
        alone = asyncio.run(what_all_hear(story))
        patch.setattr(audience, "CROWD", 1)
        crowded = asyncio.run(what_all_hear(story))
    assert crowded == alone


async def test_spectators_of_a_crowded_room_hear_the_steps_of_a_moment_together(world, monkeypatch):
    monkeypatch.setattr(audience, "CROWD", 1)
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    zoe = await world.person("zoe")
    await zoe.join("ABCD", spectate=True)
    zoe.forget()
    await ann.play("ABCD", {"type": "tell"})
    await ann.play("ABCD", {"type": "tell"})
    assert (seqs(ann)[-2:], seqs(zoe)) == ([3, 4], [])
    await world.wait(0.011)
    assert seqs(zoe) == [3, 4]


async def test_a_crowd_is_kept_waiting_for_what_follows_but_not_for_ever(world, monkeypatch):
    monkeypatch.setattr(audience, "CROWD", 1)
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    zoe = await world.person("zoe")
    await zoe.join("ABCD", spectate=True)
    zoe.forget()
    hear = world.server.gateway.hear
    world.server.environment.tell_all = lambda told, _: hear(
        replace(told, more=True) if isinstance(told, StepTold) else told
    )
    await ann.play("ABCD", {"type": "tell"})
    await world.wait(0.031)
    assert seqs(zoe) == []
    await world.wait(0.01)
    assert seqs(zoe) == [3]


async def test_whoever_says_something_in_a_crowd_first_hears_what_was_said_before(world, monkeypatch):
    monkeypatch.setattr(audience, "CROWD", 1)
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    zoe = await world.person("zoe")
    await zoe.join("ABCD", spectate=True)
    zoe.forget()
    await ann.play("ABCD", {"type": "tell"})
    await zoe.push("ABCD", "chat", {"text": "well done"})
    assert [frame[3] for frame in zoe.frames] == ["game_event", "update", "chat", "update", "phx_reply"]

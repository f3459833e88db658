"""What a relay holds, and how those who return get it: whatever happens, in the bytes that it counts."""

import gc
import sys
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.relay import (
    ENVELOPE_MEMORY,
    MEMBER_MEMORY,
    READER_MEMORY,
    RELAY_MEMORY,
    RETURN_TIMEOUT,
    Intent,
    Missed,
    Relay,
    Tell,
    size_of,
)
from tests.test_relay import House

LIVELY = st.lists(
    st.tuples(
        st.sampled_from(["join", "return", "read", "say", "lose", "wait", "shrink"]),
        st.sampled_from(["ann", "bob", "cid", "<♠>", "x" * 300]),
        st.integers(0, 5),
    ),
    max_size=60,
)


def weighed(relay: Relay[str]) -> int:
    """What a relay takes, added up from what is there."""
    members = relay.members.values()
    return (
        RELAY_MEMORY
        + sum(
            MEMBER_MEMORY + 2 * size_of(member.id) + READER_MEMORY * (member.reader is not None)
            for member in members
        )
        + sum(ENVELOPE_MEMORY + size_of(e.sender) + len(e.body or b"") for _, _, e in relay._kept)
        + sum(ENVELOPE_MEMORY + size_of(id) for id in relay._before)
    )


def in_memory(root) -> int:
    """The bytes of all objects that hang on one."""
    seen: dict[int, int] = {}
    waiting = [root]
    while waiting:
        thing = waiting.pop()
        if id(thing) not in seen and not isinstance(thing, type | Intent):
            seen[id(thing)] = sys.getsizeof(thing)
            waiting += gc.get_referents(thing) or [
                getattr(thing, field) for field in getattr(thing, "__struct_fields__", ())
            ]
    return sum(seen.values())


@given(LIVELY)
def test_what_a_relay_counts_is_what_it_holds_and_in_the_end_nothing(moves):
    world = House()
    lines: dict[str, Any] = {}
    for count, (move, who, more) in enumerate(moves):
        line = lines.get(who)
        with suppress(Missed):
            if move in ("join", "return"):
                last = world.relay._next - 1 - more if move == "return" else None
                world.relay.join((who, count), who, world.at, lasts=True, last=last)
                lines[who] = (who, count)
            elif move == "read":
                world.relay.read_on(line)
            elif move == "say":
                world.relay.say(line, bytes(more * 9000), world.at)
            elif move == "lose":
                world.relay.lose(line, world.at)
            elif move == "wait":
                world.wait(more * 4)
            else:
                world.relay.shrink(more * 9000)
        assert world.relay.held == weighed(world.relay)
        assert in_memory(world.relay) <= world.relay.held
    for line in list(lines.values()):
        world.relay.lose(line, world.at)
    world.wait(RETURN_TIMEOUT)
    world.relay.shrink(0)
    assert world.relay.held == RELAY_MEMORY


@pytest.mark.parametrize("id", ["ann", "♠" * 40])
def test_even_the_smallest_envelopes_take_no_more_memory_than_is_counted(id):
    one = House()
    one.relay.join("line", id, one.at, lasts=True)
    for number in range(2000):
        one.now = number / 1000
        one.relay.say("line", bytes((number % 256, 1)), one.at)
    assert len(one.relay._kept) > 300
    assert in_memory(one.relay) <= one.relay.held


@given(LIVELY)
def test_portions_neither_skip_nor_repeat_nor_change_who_was_there(moves):
    world = House(Relay(remembers=True))
    lines: dict[str, Any] = {}
    heard: dict[str, list[int]] = {}
    crowds: dict[int, tuple[str, ...]] = {}

    def hear(effects):
        for effect in effects:
            if isinstance(effect, Tell):
                num = effect.envelope.num
                assert crowds.setdefault(num, effect.crowd.ids) == effect.crowd.ids
                for line in effect.own.lasting + effect.rest.lasting:
                    assert not heard.get(line) or heard[line][-1] == num - 1
                    heard.setdefault(line, []).append(num)

    for count, (move, who, more) in enumerate(moves):
        line = lines.get(who)
        with suppress(Missed):
            if move in ("join", "return"):
                last = max(0, world.relay._next - 1 - 3 * more) if move == "return" else None
                hear(world.relay.join((who, count), who, world.at, lasts=True, last=last))
                lines[who] = (who, count)
            elif move == "read":
                hear(world.relay.read_on(line))
            elif move == "say":
                hear(world.relay.say(line, bytes(more * 9000), world.at))
            elif move == "lose":
                hear(world.relay.lose(line, world.at))
            elif move == "wait":
                world.now += RETURN_TIMEOUT
                hear(world.relay.wake(world.at))

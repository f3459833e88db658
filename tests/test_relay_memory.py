"""What a relay holds, and how those who return get it: whatever happens, in the bytes that it counts."""

import gc
import sys
import weakref
from contextlib import suppress
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import parlour
from parlour.relay import (
    ENVELOPE_MEMORY,
    MEMBER_MEMORY,
    READER_MEMORY,
    RELAY_MEMORY,
    RETURN_TIMEOUT,
    Intent,
    Missed,
    Relay,
    RelayInstant,
    Tell,
    size_of,
)
from tests.test_relay import NEW_YEAR, House

SOURCE = Path(parlour.__file__).parent
PLAIN = (int, float, str, bytes, bool, type(None), Enum)

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


class Line:
    """A member's connection, which knows the relay as real ones do."""

    def __init__(self, relay: Relay[Any]) -> None:
        self.relay = relay


def test_a_relay_that_is_given_up_takes_its_connections_along():
    relay: Relay[Line] = Relay()
    ann, bob = Line(relay), Line(relay)
    at = RelayInstant(0.0, NEW_YEAR)
    relay.join(ann, "ann", at, lasts=True)
    relay.join(bob, "bob", at, lasts=True)
    relay.say(ann, b"hello", at)
    alive = weakref.ref(ann)
    del relay, ann, bob
    gc.collect()
    assert alive() is None


def plain_types(annotation: Any) -> set[Any]:
    """What an annotation is made of."""
    parts = [part for part in get_args(annotation) if part is not ...]
    return set().union(*map(plain_types, parts)) if parts else {annotation}


def structs_outside_of_garbage_collection() -> list[type[msgspec.Struct]]:
    """All structs of this package that say gc=False."""
    found = []
    for path in SOURCE.rglob("*.py"):
        if "gc=False" in path.read_text():
            name = ".".join(("parlour", *path.relative_to(SOURCE).with_suffix("").parts))
            found += [thing for thing in vars(import_module(name)).values() if is_outside(thing, name)]
    return found


def is_outside(thing: Any, module: str) -> bool:
    is_struct = isinstance(thing, type) and issubclass(thing, msgspec.Struct)
    return is_struct and thing.__module__ == module and not thing.__struct_config__.gc


@pytest.mark.parametrize(
    "struct", structs_outside_of_garbage_collection(), ids=lambda struct: struct.__name__
)
def test_what_garbage_collection_does_not_see_holds_nothing_but_plain_values(struct):
    for annotation in get_type_hints(struct).values():
        assert all(issubclass(part, PLAIN) for part in plain_types(annotation))

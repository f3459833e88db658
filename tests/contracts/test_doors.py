"""What every door promises: a door is tested by being registered."""

import asyncio
import itertools
import re
from typing import Any

import pytest
import structlog
from starlette.routing import Route

from parlour.server.gateway.doors.registry import DOORS, DoorNeeds, open_doors
from parlour.server.gateway.sockets import Sockets, by_path
from parlour.server.gateway.upgrade import Door
from parlour.server.limits import Limits
from parlour.server.tokens import Tokens
from tests.server.wires import Wire
from tests.server.world import World

TOKENS = Tokens(b"k" * 32)
BELOW = {"/g/": "/g/room-of-mine", "/socket.io/": "/socket.io/?EIO=4&transport=websocket"}
"""An address for doors whose path alone is none."""
NONSENSE = (b"\x00\xff\xfe", b"}{", b'{"a":', b"[" * 500, b"null", b"42", b"{}", b"\x80")


class House:
    """A server with every door that its settings open."""

    def __init__(self, **settings: Any) -> None:
        self.world = World(**settings)
        self.limits = Limits(self.world.settings, self.world.clock)
        self.needs = DoorNeeds(self.world.server, TOKENS, self.limits, self.world.settings)
        self.doors = open_doors(self.needs)
        self.sockets = Sockets(self.doors, self.world.clock, self.limits, self.world.settings)

    async def __aenter__(self) -> "House":
        await self.world.__aenter__()
        for door in self.doors:
            door.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
        await self.world.__aexit__()

    async def close(self) -> None:
        for door in self.doors:
            await door.stop()
        for door in self.doors:
            await door.finish()

    def door(self, name: str) -> Door:
        """The registered door of that name."""
        made = DOORS[name](self.needs)
        assert made is not None
        paths = made.paths
        return next(door for door in self.doors if door.paths == paths)

    async def come(self, path: str, **headers: str) -> Wire:
        """Somebody opens a socket there, and is answered."""
        wire = Wire(self.sockets, BELOW.get(path, path), **headers)
        await self.world.quiet()
        wire.read()
        return wire


def paths_of(name: str) -> list[str]:
    house = House()
    return list(house.door(name).paths)


CASES = [(name, path) for name in DOORS for path in paths_of(name)]


def test_no_two_doors_have_the_same_path_so_their_order_decides_nothing():
    house = House()
    found = by_path(house.doors)
    for order in itertools.islice(itertools.permutations(house.doors), 50):
        assert by_path(order) == found
    with pytest.raises(TypeError, match="two doors have the path"):
        by_path([*house.doors, open_doors(house.needs)[0]])


def test_no_two_doors_answer_the_same_call():
    calls = [
        (route.path, method)
        for door in House().doors
        for route in door.routes
        if isinstance(route, Route)
        for method in sorted(route.methods or ("*",))
    ]
    assert len(calls) == len(set(calls))


@pytest.mark.parametrize(("name", "path"), CASES)
async def test_whoever_comes_is_let_in_or_told_why_not(name, path):
    async with House() as house:
        wire = await house.come(path)
        assert wire.is_open or re.fullmatch(r"refused 4\d\d \S.*", "".join(wire.got)), (name, wire.got)


@pytest.mark.parametrize(("name", "path"), CASES)
async def test_nonsense_is_answered_or_cut_and_nothing_breaks(name, path):
    async with House() as house:
        with structlog.testing.capture_logs() as lines:
            for data in NONSENSE:
                for text in (True, False):
                    wire = await house.come(path)
                    if wire.is_open:
                        wire.send(data, text=text)
                        await house.world.quiet()
                        wire.read()
        assert not [line for line in lines if line["log_level"] in ("error", "critical")], (name, lines)


@pytest.mark.parametrize(("name", "path"), CASES)
async def test_a_door_stops_with_clients_in_it_and_nothing_is_left_behind(name, path):
    async with House() as house:
        await house.come(path)
        before = asyncio.all_tasks()
        await house.close()
        await house.world.quiet()
        assert not [task for task in asyncio.all_tasks() - before if not task.done()], name


async def test_the_settings_close_a_door():
    assert len(House(xsos=False).doors) == len(House().doors) - 1

"""Who comes in by the native socket, and under which join they are told what."""

import asyncio

import msgspec
import pytest

from parlour.server.gateway.native import native_doors
from parlour.server.gateway.sockets import Sockets
from parlour.server.limits import Limits
from parlour.server.tokens import Tokens
from tests.server.wires import Wire
from tests.server.world import PLAYABLE, World


@pytest.fixture
async def world():
    async with World(PLAYABLE) as world:
        yield world


async def come(world, query):
    """Somebody opens the native socket."""
    tokens = Tokens(b"k" * 32)
    doors = native_doors(world.server, tokens, world.settings)
    sockets = Sockets(doors, world.clock, Limits(world.settings, world.clock), world.settings)
    wire = Wire(sockets, f"/socket/websocket?vsn=2.0.0{query}")
    await world.quiet()
    wire.read()
    return wire


async def hear(world, wire):
    """What has come by now, frame by frame."""
    await world.quiet()
    await asyncio.sleep(0)  # frames are flushed at the end of the turn
    wire.read()
    got, wire.got = [msgspec.json.decode(text) for text in wire.got], []
    return got


@pytest.mark.parametrize("query", ["", "&token=", "&token=undefined", "&token=null", "&token=%20"])
async def test_a_token_that_a_script_forgot_to_set_is_none(world, query):
    await world.open("tictactoe", "ABCD")
    wire = await come(world, query)
    wire.send('["1","1","game:ABCD","phx_join",{}]')
    answer = (await hear(world, wire))[0][4]
    assert answer["status"] == "ok"
    assert answer["response"]["token"]


async def test_what_follows_a_join_carries_its_join_ref_and_a_step_carries_none(world):
    await world.open("tictactoe", "ABCD")
    wire = await come(world, "")
    wire.send('["7","7","game:ABCD","phx_join",{}]')
    assert [(frame[0], frame[3]) for frame in await hear(world, wire)] == [
        ("7", "phx_reply"), ("7", "sync"), ("7", "presence_state"),
    ]  # fmt: skip
    wire.send('["7","8","game:ABCD","chat",{"text":"hello"}]')
    told = [(frame[0], frame[3]) for frame in await hear(world, wire)]
    assert told == [(None, "chat"), (None, "update"), ("7", "phx_reply")]


async def test_two_joins_at_once_are_told_each_under_its_own(world):
    await world.open("tictactoe", "ABCD")
    wire = await come(world, "")
    wire.send('["1","1","game:ABCD","phx_join",{}]')
    wire.send('["2","2","game:ABCD","phx_join",{}]')
    told = [(frame[0], frame[3]) for frame in await hear(world, wire)]
    again = told.index(("2", "phx_reply"))
    assert {ref for ref, _ in told[:again]} == {"1"}
    assert told[again:] == [("2", "phx_reply"), ("2", "sync"), ("2", "presence_state")]

"""Pipes: a connection to one worker that another one serves behaves like one to that worker itself."""

import asyncio

import msgspec
import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request

from parlour.server.border import first_number
from parlour.server.gateway.pipes import DATA, PipeNews, Pipes

HERE, OWNER = 1, 2
SOON = 5.0
decode = msgspec.json.Decoder(PipeNews).decode


class Served(asyncio.Protocol):
    """What the owner does with a connection: note what comes."""

    def __init__(self):
        self.heard = []
        self.come = asyncio.Event()

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.heard.append(data)
        self.come.set()

    async def hear(self, data):
        while self.heard[-1:] != [data]:
            self.come.clear()
            await asyncio.wait_for(self.come.wait(), SOON)


class PipedLine:
    """A real connection to one worker, whose other end is at another one."""

    async def open(self):
        self.served = Served()
        ends: dict[int, Pipes] = {}

        def send_from(sender):
            def send(worker, message):
                take_data, take = ends[worker].take_data, ends[worker].take
                if message.startswith(DATA):
                    take_data(sender, message)
                else:
                    take(sender, decode(message))

            return send

        encode = msgspec.json.Encoder().encode
        for worker in (HERE, OWNER):
            ends[worker] = Pipes(send_from(worker), encode, lambda: self.served)  # type: ignore[arg-type]
            ends[worker].number_from(first_number(worker))
        self.pipes = ends
        pipes = ends[HERE]

        class Door(asyncio.Protocol):
            def connection_made(self, transport):
                pipes.open(OWNER, transport, Request("/x", Headers()))

        self.server = await asyncio.get_running_loop().create_server(Door, "127.0.0.1", 0)
        port = self.server.sockets[0].getsockname()[1]
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        self.writer.write(b"hello")
        await self.served.hear(b"hello")
        return self

    @property
    def owner(self):
        return self.served.transport


@pytest.fixture
async def line():
    line = await PipedLine().open()
    yield line
    line.writer.close()
    line.server.close()


async def test_a_client_that_has_said_all_is_closed_to_at_once(line):
    line.owner.write(b"bye")
    line.writer.write_eof()
    assert await asyncio.wait_for(line.reader.read(), SOON) == b"bye"
    assert line.owner.is_closing()


async def test_the_owner_knows_what_has_arrived_if_it_wants_to(line):
    line.owner.count_arrivals()
    line.owner.write(b"a" * 100)
    assert line.owner.unarrived == 100
    await line.reader.readexactly(100)
    line.writer.write(b"thanks")
    await line.served.hear(b"thanks")
    assert line.owner.unarrived == 0


async def test_what_arrived_before_a_client_went_is_known_afterwards(line):
    line.owner.count_arrivals()
    line.owner.write(b"a" * 100)
    await line.reader.readexactly(100)
    line.writer.write_eof()
    await asyncio.wait_for(line.reader.read(), SOON)
    assert line.owner.unarrived == 0


async def test_pipes_both_ways_between_two_workers_do_not_mix(line):
    """Both are the first of the worker that opened them."""
    there = Served()
    line.pipes[HERE]._new_socket = lambda: there
    elsewhere = await asyncio.get_running_loop().create_server(asyncio.Protocol, "127.0.0.1", 0)
    _, writer = await asyncio.open_connection(*elsewhere.sockets[0].getsockname())
    line.pipes[OWNER].open(HERE, writer.transport, Request("/y", Headers()))
    line.owner.write(b"for the first")
    assert await asyncio.wait_for(line.reader.readexactly(13), SOON) == b"for the first"
    line.writer.write(b"from the first")
    await line.served.hear(b"from the first")
    assert [heard for heard in there.heard if b"first" in heard] == []
    writer.transport.abort()
    elsewhere.close()

"""HTTP on one connection: a turn of the loop takes a little of what has come, so that others have theirs."""

import asyncio
from typing import Any

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from uvicorn.server import ServerState

from parlour.server.gateway.http_listener import MAX_HEAD, REQUESTS_AT_ONCE, PatientHttp
from parlour.server.limits import Limits
from tests.server.wires import Pipe
from tests.server.world import World

READ = 256 * 1024
"""Bytes that the loop reads at once."""
TURNS = 10_000
"""Turns of the loop that are more than enough."""
CALL = b"GET /health HTTP/1.1\r\n\r\n"
CHUNKED = b"GET /health HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
FLOODS = {
    "tiny chunks": (CHUNKED, b"1\r\n \r\n"),
    "headers after the body": (CHUNKED + b"0\r\n", b"a:b\r\n"),
    "a long body": (b"GET /health HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", b" " * 100),
    "headers": (b"GET /health HTTP/1.1\r\n", b"a:b\r\n"),
}
"""What begins a request that never ends, and what it goes on with."""


class Line:
    """The server's side of a connection, which counts what it is given to read at once."""

    def __init__(self, app: Any = PlainTextResponse("ok")) -> None:  # noqa: B008 (it has no state)
        world = World()
        config = uvicorn.Config(app, log_config=None, lifespan="off")
        config.load()
        kind = PatientHttp.within(world.settings, Limits(world.settings, world.clock))
        self.http: Any = kind(config, ServerState(), {}, asyncio.get_running_loop())
        self.pipe = Pipe()
        self.http.connection_made(self.pipe)

    def receive(self, data: bytes) -> None:
        self.http.data_received(data)

    @property
    def answers(self) -> int:
        return self.pipe.written.count(b"HTTP/1.1 200")

    @property
    def reads_too_soon(self) -> bool:
        """It reads more although something waits."""
        return self.pipe.reading and bool(self.http.unread)

    async def answered(self, count: int) -> bool:
        """Give it turns of the loop until so many calls are answered."""
        for _ in range(TURNS):
            if self.answers >= count:
                return True
            await asyncio.sleep(0)
        return False


async def test_a_turn_of_the_loop_takes_a_few_requests_of_a_line_and_all_are_answered_in_the_end():
    line = Line()
    many = 1000
    line.receive(CALL * many)
    assert len(line.http.pipeline) <= REQUESTS_AT_ONCE // len(CALL)
    assert not line.pipe.reading
    most = 0
    while line.answers < many:
        await asyncio.sleep(0)
        most = max(most, len(line.http.pipeline))
        assert not line.reads_too_soon
    assert most <= REQUESTS_AT_ONCE // len(CALL) + 1
    line.http.connection_lost(None)


@pytest.mark.parametrize(("begin", "more"), FLOODS.values(), ids=FLOODS)
async def test_a_request_without_end_is_taken_a_little_at_a_time_and_cut(begin, more):
    line, sent, turns = Line(), 0, 0
    line.receive(begin)
    chunk = more * (READ // len(more))
    while not line.pipe.is_closing():
        line.receive(chunk)
        sent += len(chunk)
        before = len(line.http.unread)
        while not (line.pipe.reading or line.pipe.is_closing()):
            await asyncio.sleep(0)
            assert before - len(line.http.unread) <= REQUESTS_AT_ONCE or line.pipe.is_closing()
            before, turns = len(line.http.unread), turns + 1
        assert sent <= 4 * READ
    assert turns >= MAX_HEAD // REQUESTS_AT_ONCE - 1
    line.http.connection_lost(None)


async def test_a_request_that_came_in_pieces_is_answered_and_the_line_can_be_used_again():
    line = Line()
    for count in (1, 2):
        for at in range(len(CALL)):
            line.receive(CALL[at : at + 1])
        assert await line.answered(count)
    padded = CALL.replace(b"\r\n\r\n", b"\r\nX-Long: " + b"x" * (2 * REQUESTS_AT_ONCE) + b"\r\n\r\n")
    line.receive(padded + CALL)
    assert await line.answered(4)
    assert line.pipe.reading
    line.http.connection_lost(None)


async def test_every_request_of_a_lost_connection_hears_of_it_and_none_writes_to_it():
    heard, answered, events = asyncio.Event(), asyncio.Event(), []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (event := await receive())["type"] != "http.disconnect":
            events.append(event["type"])
            heard.set()
        events.append(event["type"])
        await PlainTextResponse("too late")(scope, receive, send)
        answered.set()

    line = Line(app)
    line.receive(CALL * 3)  # the first is being answered, two wait
    await heard.wait()
    line.http.connection_lost(None)
    await answered.wait()
    assert events == ["http.request", "http.disconnect"]
    assert not line.pipe.written

"""HTTP calls that come to one worker and are about something of another."""

import asyncio
from typing import Any

import httpx
import pytest

from parlour.journal.shards import LOBBY
from parlour.server.api.endpoints import Api, web_app
from parlour.server.api.forwarding import Forwarding, Keys
from parlour.server.gateway.sockets import Sockets
from parlour.server.network import Network
from parlour.server.remote_bots import become_bot
from parlour.server.tokens import Tokens
from tests.cluster.workers import Workers


def calls_at(workers: Workers, me: int) -> httpx.AsyncClient:
    """A client of the HTTP calls of a worker."""
    world, worker = workers.worlds[me], workers.workers[me]
    limits = world.server.limits
    app = web_app(Api(world.server, Tokens(b"k" * 32), limits, world.settings), None)
    forwarding = Forwarding(app, Keys([], {"/api/invitations": LOBBY}))
    worker.network = Network(Sockets([], world.clock, limits, world.settings), forwarding, [])
    worker.network.join(me, worker.owner_of, worker._bus.send)
    return httpx.AsyncClient(transport=httpx.ASGITransport(forwarding), base_url="http://parlour")


@pytest.fixture
async def calls(workers):
    """The clients of three workers, by worker; the third owns a room."""
    await workers.worlds[3].open("tictactoe")
    await workers.hand_over("ABCD", 3)
    return {me: calls_at(workers, me) for me in workers.worlds}


async def begin(workers: Workers, call: Any) -> asyncio.Future[httpx.Response]:
    """Make a call; returns when it is on its way, or answered."""
    answer: asyncio.Future[httpx.Response] = asyncio.ensure_future(call)
    for _ in range(3):
        await workers.quiet()
    return answer


async def finished(workers: Workers, answer: asyncio.Future[httpx.Response]) -> httpx.Response:
    async with asyncio.timeout(3):
        while not answer.done():
            await workers.quiet()
    return answer.result()


async def test_a_call_about_a_room_is_answered_by_its_owner(workers, calls):
    answer = await finished(workers, await begin(workers, calls[1].get("/api/rooms/ABCD")))
    assert (answer.status_code, answer.json()["id"]) == (200, "ABCD")


async def test_a_call_that_only_reads_is_answered_by_the_next_owner_when_one_dies(workers, calls):
    workers.die(3)
    answer = await begin(workers, calls[1].get("/api/rooms/ABCD"))
    assert not answer.done()
    workers.table.bury(3, 1.5)
    assert (await finished(workers, answer)).json()["id"] == "ABCD"


async def test_of_a_call_that_changes_something_nobody_knows_when_its_owner_dies(workers, calls):
    workers.die(3)
    answer = await begin(workers, calls[1].post("/api/rooms/ABCD/bots", json={}))
    workers.table.bury(3, 1.5)
    refused = await finished(workers, answer)
    assert (refused.status_code, refused.json()["code"]) == (503, "outcome_unknown")


async def test_a_call_for_an_owner_that_is_gone_waits_for_the_next_one(workers, calls):
    """It was declared gone, and its shards are not dealt yet."""
    workers.die(3)
    owners = list(workers.table.owners)
    del workers.table.members[3]
    workers.table.change()
    answer = await begin(workers, calls[1].get("/api/rooms/ABCD"))
    assert not answer.done()
    workers.table.owners = [2 if owner == 3 else owner for owner in owners]
    workers.table.change()
    assert (await finished(workers, answer)).json()["id"] == "ABCD"


@pytest.mark.parametrize("asked_at", [1, 2, 3])
@pytest.mark.parametrize("waits_at", [1, 2, 3])
async def test_a_bot_is_invited_wherever_it_waits_and_whoever_is_asked(workers, calls, asked_at, waits_at):
    bot = await workers.person("bot", waits_at)
    server = workers.worlds[waits_at].server
    known = await server.sessions.save("bot", "Bot")
    await become_bot(server.journal, server.sessions, known, "bot", bot=True)
    ann = await workers.person("ann", 1)
    ann.send_soon('["1","1","game:ABCD","phx_join",{}]')
    bot.send_soon('["L","1","lobby","phx_join",{}]')
    await workers.quiet()
    headers = {"Authorization": f"Bearer {Tokens(b'k' * 32).issue('ann')}"}
    wanted = {"room": "ABCD", "bot": "bot"}
    call = calls[asked_at].post("/api/invitations", json=wanted, headers=headers)
    answer = await finished(workers, await begin(workers, call))
    assert (answer.status_code, answer.json()["name"]) == (200, "Bot")
    await workers.quiet()
    assert bot.heard("invited") == [("invited", {"room": "ABCD", "game": "tictactoe"})]

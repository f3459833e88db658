"""Scripted language models: what they call goes through the protocol's own client."""

import sys
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import httpx2
from mcp import Client as ToolClient
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from parlour.client import Client
from parlour.mcp.protocol import make_server
from parlour.mcp.tools import ToolPlayer


class Model:
    """A scripted language model."""

    def __init__(self, tools, id, token):
        self.tools = tools
        self.id = id
        self.token = token

    async def __call__(self, tool, **arguments):
        return (await self.tools.call_tool(tool, arguments)).structured_content


class Wanderer(Model):
    """A model whose calls are answered by another worker each time."""

    async def __call__(self, tool, **arguments):
        self.tools = self.tools[1:] + self.tools[:1]
        return (await self.tools[0].call_tool(tool, arguments)).structured_content


@contextmanager
def unwrapped():
    """The protocol's client puts whatever fails within it into groups: raise what failed itself."""
    try:
        yield
    except BaseExceptionGroup as group:
        first = group
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None


def server_for(player):
    """The protocol's server for one player."""
    return make_server(lambda _: player)


@asynccontextmanager
async def in_memory(server, token):
    async with (
        Client(f"http://{server.address}", token) as client,
        ToolClient(server_for(ToolPlayer(client))) as tools,
    ):
        yield tools


@asynccontextmanager
async def over_http(server, token, mode="auto", **headers):
    headers["Authorization"] = f"Bearer {token}"
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
        ToolClient(
            streamable_http_client(f"http://{server.address}/mcp", http_client=http), mode=mode
        ) as tools,
    ):
        yield tools


@asynccontextmanager
async def over_stdio(server, token, folder: Path):
    (folder / f"{token[:20]}.token").write_text(token)
    asked = ["-m", "parlour", "mcp", "--server", f"http://{server.address}"]
    command = StdioServerParameters(
        command=sys.executable, args=[*asked, "--token-file", f"{token[:20]}.token"], cwd=folder
    )
    async with ToolClient(stdio_client(command)) as tools:
        yield tools


@asynccontextmanager
async def models(server, *names, way=in_memory):
    """Players who play by tools, which they reach in this way."""
    with unwrapped():
        async with AsyncExitStack() as stack:
            found = []
            for name in names:
                known = server.call("POST", "/api/players", {"bot": True, "name": name}).json()
                tools = await stack.enter_async_context(way(server, known["token"]))
                found.append(Model(tools, known["id"], known["token"]))
            yield found


@asynccontextmanager
async def wanderers(workers, *names):
    """Players whose calls go to all these workers in turn."""
    with unwrapped():
        async with AsyncExitStack() as stack:
            found = []
            for name in names:
                known = workers[0].call("POST", "/api/players", {"bot": True, "name": name}).json()
                tools = [await stack.enter_async_context(over_http(one, known["token"])) for one in workers]
                found.append(Wanderer(tools, known["id"], known["token"]))
            yield found


async def play_out(call, room):
    """Play whatever is legal first until the game is over; gives what is seen then."""
    while not (seen := await call("wait_for_turn", room=room))["over"]:
        if seen["your_turn"]:
            await call("act", room=room, event=seen["legal"][0], seq=seen["seq"])
    return seen

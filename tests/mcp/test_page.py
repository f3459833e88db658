"""The page about language models is true: its settings of hosts lead to the tools, and its program plays."""

import json
import shlex
import sys

import httpx2
import pytest
from mcp import Client as ToolClient
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from parlour.mcp.calls import CALLS
from tests.e2e.servers import Server
from tests.mcp.models import unwrapped
from tests.test_docs import blocks, rows, run

pytestmark = pytest.mark.e2e

PAGE = "docs/how-to/connect-a-language-model.md"
ADDRESS = "http://127.0.0.1:8000"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("mcp"), "--mcp").start()
    yield server
    server.kill()


def settings(server, **more):
    """The two settings of hosts on the page, for this server."""
    for block in blocks(PAGE, "json"):
        text = block.text.replace(ADDRESS, f"http://{server.address}")
        for word, value in more.items():
            text = text.replace(word, value)
        yield json.loads(text)["mcpServers"]["parlour"]


def new_bot(server):
    """What the page's curl makes."""
    serve, curl = blocks(PAGE, "sh")[0].text.splitlines()
    assert serve == "parlour serve --mcp"
    words = shlex.split(curl)
    assert words[:5] == ["curl", "-s", "-X", "POST", f"{ADDRESS}/api/players"]
    return server.call("POST", "/api/players", json.loads(words[words.index("-d") + 1])).json()


async def names(tools):
    return [tool.name for tool in (await tools.list_tools()).tools]


async def test_both_settings_of_hosts_lead_to_the_tools(server, tmp_path):
    pipe, _ = settings(server, **{"/home/ann": str(tmp_path)})
    assert pipe["command"] == "parlour"
    command = StdioServerParameters(command=sys.executable, args=["-m", "parlour", *pipe["args"]])
    with unwrapped():
        async with ToolClient(stdio_client(command)) as tools:
            assert await names(tools) == [*CALLS]
    _, web = settings(server, TOKEN=new_bot(server)["token"])
    with unwrapped():
        async with (
            httpx2.AsyncClient(headers=web["headers"], trust_env=False) as http,
            ToolClient(streamable_http_client(web["url"], http_client=http)) as tools,
        ):
            assert await names(tools) == [*CALLS]


async def test_the_program_plays_to_the_end(server):
    play = run(PAGE)["play"]
    with unwrapped():
        assert "the game is over" in await play(f"http://{server.address}", new_bot(server)["token"])


def test_every_tool_is_explained():
    assert [row[0].strip("`") for row in rows(PAGE)[1:]] == [*CALLS]

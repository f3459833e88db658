"""A server for every test that asks for one."""

import pytest

from tests.server.world import PLAYABLE, World


@pytest.fixture
async def world():
    async with World(PLAYABLE) as world:
        yield world

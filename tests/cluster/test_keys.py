"""The keys that sign tokens, where a database keeps them: made, listed and deleted while workers run."""

import asyncio

import pytest
from typer.testing import CliRunner

from parlour.cli import app
from parlour.errors import Refused
from parlour.journal.postgresql import PostgresJournal
from parlour.journal.postgresql.schema import connect, serve_lock
from parlour.server.app import LOAD_KEYS_EVERY, loading_keys, tokens_of
from parlour.server.components import Components
from parlour.server.settings import Settings
from tests.cluster.real import until
from tests.server.world import HandClock


class Running:
    """A worker that has begun: its journal, and the tokens that it issues."""

    def __init__(self, url):
        self.clock = HandClock()
        self.settings = Settings(journal=url, bus="nats://unused")
        self.journal = PostgresJournal(url, "process")
        self.journal.share()
        self.tokens, load = tokens_of(Components({}, self.journal, self.clock, self.settings), self.settings)
        self._loading = loading_keys(load, self.clock, self.settings)

    async def __aenter__(self):
        await self.journal.open()
        await self._loading.__aenter__()
        return self

    async def __aexit__(self, *_):
        await self._loading.__aexit__(None, None, None)
        await self.journal.close()

    async def look(self):
        """Let the second pass after which it reads the keys again."""
        self.clock.turn_to_next(self.clock.now() + LOAD_KEYS_EVERY)
        await until(lambda: len(self.tokens._keys) == 2, "a second key")


async def keys(url, *words):
    """What `parlour keys` says; it must succeed."""
    done = await asyncio.to_thread(CliRunner().invoke, app, ["keys", *words, "--journal", url])
    assert done.exit_code == 0, done.output
    return done.output


async def test_a_new_key_signs_from_the_next_start_on_and_older_ones_still_count(postgres):
    url = postgres.new_url()
    async with Running(url) as first:
        old = first.tokens.issue("ann")
        assert await keys(url, "new") == "signing-2 signs from the next start on\n"
        assert await keys(url, "list") == "signing  still counts\nsigning-2  signs\n"
        await first.look()
        assert first.tokens.issue("ann").startswith("ann~0~1.")
        async with Running(url) as second:
            new = second.tokens.issue("bob")
            assert new.startswith("bob~0~2.")
            assert second.tokens.read(old) == "ann"
            assert first.tokens.read(new) == "bob"


async def test_a_deleted_key_does_not_count_from_the_next_start_on(postgres):
    url = postgres.new_url()
    async with Running(url) as worker:
        old = worker.tokens.issue("ann")
    await keys(url, "new")
    await keys(url, "delete", "signing")
    assert await keys(url, "list") == "signing-2  signs\n"
    async with Running(url) as worker:
        with pytest.raises(Refused, match="token"):
            worker.tokens.read(old)


async def test_the_first_key_can_be_made_before_the_first_start(postgres):
    url = postgres.new_url()
    assert await keys(url, "new") == "signing signs from the next start on\n"
    async with Running(url) as worker:
        assert worker.tokens.read(worker.tokens.issue("ann")) == "ann"
    assert await keys(url, "list") == "signing  signs\n"


async def test_no_key_is_made_in_a_database_that_is_being_copied(postgres):
    url = postgres.new_url()
    await keys(url, "list")
    copying = await connect(url)
    await until(lambda: copying.fetchval(serve_lock(shared=False)), "the end of the command's connection")
    refused = await asyncio.to_thread(CliRunner().invoke, app, ["keys", "new", "--journal", url])
    assert refused.exit_code == 1
    assert "is being copied" in refused.output
    await copying.close()


async def test_a_database_that_cannot_be_reached_is_told_without_the_password():
    url = "postgresql://me:hush@127.0.0.1:9/games"
    refused = await asyncio.to_thread(CliRunner().invoke, app, ["keys", "list", "--journal", url])
    assert refused.exit_code == 1
    assert "cannot reach the database postgresql://me@127.0.0.1:9/games" in refused.output.replace("\n", "")
    assert "hush" not in refused.output

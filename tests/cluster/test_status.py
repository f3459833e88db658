"""`parlour cluster status`: who shares a database."""

import asyncio

from typer.testing import CliRunner

from parlour.cli import app
from parlour.journal.postgresql import PostgresJournal


async def status(url):
    """What the command says, and its exit code."""
    run = CliRunner().invoke
    done = await asyncio.to_thread(run, app, ["cluster", "status", "--journal", url])
    return done.exit_code, done.output


async def test_the_living_workers_are_listed_with_what_they_own(postgres):
    url = postgres.new_url()
    journal = PostgresJournal(url, "process")
    await journal.open()
    code, said = await status(url)
    assert code == 0
    assert said.startswith(f"worker {journal.me} at ")
    assert said.endswith("not heard of yet, 0 of 256 shards\n")
    await journal.close()


async def test_what_is_no_database_is_refused_with_a_sentence():
    code, said = await status("sqlite")
    assert code == 1
    assert "expected postgresql://..., got 'sqlite'" in said


async def test_a_database_that_cannot_be_reached_is_told_without_the_password():
    code, said = await status("postgresql://me:secret@127.0.0.1:9/games")
    assert code == 1
    assert "cannot reach the database postgresql://me@127.0.0.1:9/games" in said.replace("\n", "")
    assert "secret" not in said

"""What every journal promises to whoever calls it, wherever the call comes from."""

import asyncio

from parlour.journal.base import Record, StepWrites
from parlour.server.mailbox import Mailbox
from tests.journal.made import STATE, append, step, summary

NOTHING = StepWrites()


async def test_a_journal_answers_jobs_that_run_in_no_task(journal):
    """As the jobs of rooms do: asyncio's timeouts, for one, are of no use there."""
    mailbox = Mailbox()
    found = []

    async def job():
        assert asyncio.current_task() is None
        room = await journal.create(summary(), STATE, None)
        await append(journal, room, step(1), NOTHING)
        await journal.keep(Record("note", "n", b"x"))
        found.append((await journal.find("ABCD")).number == room)
        found.append((await journal.record("note", "n")).body)
        found.append((await journal.recall("ABCD")).steps)
        found.append([kept async for kept in journal.replay(room)])

    asyncio.get_running_loop().call_soon(lambda: mailbox.put(job))
    await asyncio.sleep(0)
    async with asyncio.timeout(10):
        await mailbox.drained()
    assert found == [True, b"x", [step(1)], [step(1)]]

"""A mailbox: one job after the other."""

import asyncio

from structlog.testing import capture_logs

from parlour.server.mailbox import Mailbox


def noting(done, name, *, first=None):
    async def job():
        if first is not None:
            await first
        done.append(name)

    return job


async def test_what_need_not_wait_is_done_at_once():
    mailbox = Mailbox()
    done: list[str] = []
    mailbox.put(noting(done, "a"))
    assert done == ["a"]
    assert not mailbox.busy


async def test_whoever_comes_later_waits_for_the_one_before():
    mailbox = Mailbox()
    done: list[str] = []
    written = asyncio.get_running_loop().create_future()
    mailbox.put(noting(done, "a", first=written))
    mailbox.put(noting(done, "b"))
    assert (done, bool(mailbox.waiting)) == ([], True)
    written.set_result(None)
    await mailbox.drained()
    assert (done, mailbox.busy) == (["a", "b"], False)


async def test_a_job_that_puts_another_is_finished_before_it():
    mailbox = Mailbox()
    done: list[str] = []

    async def job():
        mailbox.put(noting(done, "after"))
        done.append("before")

    mailbox.put(job)
    assert done == ["before", "after"]


async def test_letting_others_go_first_is_waiting_too():
    mailbox = Mailbox()
    done: list[str] = []

    async def job():
        await asyncio.sleep(0)
        done.append("a")

    mailbox.put(job)
    assert done == []
    await mailbox.drained()
    assert done == ["a"]


async def test_a_job_that_fails_is_logged_and_holds_nobody_up():
    mailbox = Mailbox()
    done: list[str] = []
    failed, given_up = (asyncio.get_running_loop().create_future() for _ in range(2))
    with capture_logs() as logs:
        mailbox.put(noting(done, "a", first=failed))
        mailbox.put(noting(done, "b", first=given_up))
        mailbox.put(noting(done, "c"))
        failed.set_exception(RuntimeError("disk"))
        given_up.cancel()
        await mailbox.drained()
    assert done == ["c"]
    assert [entry["event"] for entry in logs] == ["job_failed", "job_failed"]


async def test_whoever_gives_up_waiting_for_a_mailbox_leaves_no_error_behind():
    mailbox = Mailbox()
    written = asyncio.get_running_loop().create_future()
    mailbox.put(noting([], "a", first=written))
    waiting = asyncio.ensure_future(mailbox.drained())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    with capture_logs() as logs:
        written.set_result(None)
        await mailbox.drained()
    assert logs == []

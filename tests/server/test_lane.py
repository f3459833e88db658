"""A lane: one job after the other."""

import asyncio

from structlog.testing import capture_logs

from parlour.server.mailbox import Lane


def noting(done, name, *, first=None):
    async def job():
        if first is not None:
            await first
        done.append(name)

    return job


async def test_what_need_not_wait_is_done_at_once():
    lane = Lane()
    done: list[str] = []
    lane.put(noting(done, "a"))
    assert done == ["a"]
    assert not lane.busy


async def test_whoever_comes_later_waits_for_the_one_before():
    lane = Lane()
    done: list[str] = []
    written = asyncio.get_running_loop().create_future()
    lane.put(noting(done, "a", first=written))
    lane.put(noting(done, "b"))
    assert (done, lane.waiting) == ([], True)
    written.set_result(None)
    await lane.drained()
    assert (done, lane.busy) == (["a", "b"], False)


async def test_a_job_that_puts_another_is_finished_before_it():
    lane = Lane()
    done: list[str] = []

    async def job():
        lane.put(noting(done, "after"))
        done.append("before")

    lane.put(job)
    assert done == ["before", "after"]


async def test_letting_others_go_first_is_waiting_too():
    lane = Lane()
    done: list[str] = []

    async def job():
        await asyncio.sleep(0)
        done.append("a")

    lane.put(job)
    assert done == []
    await lane.drained()
    assert done == ["a"]


async def test_a_job_that_fails_is_logged_and_holds_nobody_up():
    lane = Lane()
    done: list[str] = []
    failed, given_up = (asyncio.get_running_loop().create_future() for _ in range(2))
    with capture_logs() as logs:
        lane.put(noting(done, "a", first=failed))
        lane.put(noting(done, "b", first=given_up))
        lane.put(noting(done, "c"))
        failed.set_exception(RuntimeError("disk"))
        given_up.cancel()
        await lane.drained()
    assert done == ["c"]
    assert [entry["event"] for entry in logs] == ["job_failed", "job_failed"]

"""Looks for what is due: soon, at set times, and again, whatever came of the last one."""

import pytest
from structlog.testing import capture_logs

from parlour.journal.base import NotKept
from parlour.server.poller import TRY_AGAIN, Poller
from tests.server.world import HandClock


class Looking(Poller):
    """Looks as often as it is told to, and fails as it is told to."""

    failed = "not_looked"

    def __init__(self, clock, *comes):
        super().__init__(clock)
        self.times, self._comes = [], list(comes)

    async def look(self):
        self.times.append(self._clock.now())
        came = self._comes.pop(0) if self._comes else None
        if isinstance(came, Exception):
            raise came
        return came


def turn(clock, until):
    while clock.turn_to_next(until):
        pass


@pytest.mark.parametrize("why", [NotKept("the disk is full"), ValueError("a mistake of ours")])
async def test_whatever_comes_of_a_look_another_one_is_made(why):
    clock = HandClock()
    poller = Looking(clock, why)
    with capture_logs() as logs:
        poller.look_soon()
        turn(clock, TRY_AGAIN)
    assert poller.times == [0.0, TRY_AGAIN]
    assert [line["event"] for line in logs] in (["not_looked"], ["job_failed"])


async def test_the_earlier_of_two_times_counts_and_the_next_is_what_that_look_says():
    clock = HandClock()
    poller = Looking(clock, 7.0)
    poller.look_at(5.0)
    poller.look_at(3.0)
    poller.look_at(4.0)
    turn(clock, 10.0)
    assert poller.times == [3.0, 7.0]


async def test_one_that_was_stopped_looks_no_more():
    clock = HandClock()
    poller = Looking(clock)
    poller.look_at(5.0)
    await poller.stop()
    poller.look_soon()
    poller.look_at(6.0)
    turn(clock, 10.0)
    assert poller.times == []

"""A little of every fuzz target, always the same; `make fuzz` is for more."""

import pytest

from fuzz.__main__ import run
from fuzz.targets import TARGETS

RUNS = 400


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_whatever_is_read_raises_only_what_it_may(target):
    assert run(target, runs=RUNS, seconds=30) == RUNS

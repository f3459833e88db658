"""Random games of every game come to an end; ``make test-long`` and ``make soak`` play more of them."""

import pytest

from tests.contracts.soak import BATCH, play_batch, speaking
from tests.samples import first_of


@pytest.mark.play
@pytest.mark.parametrize("name", speaking())
@pytest.mark.parametrize("first", first_of(range(0, 100, BATCH)))
def test_random_games_end_without_a_fault_and_are_replayed_as_they_were(name, first):
    reasons, steps = play_batch(name, first, BATCH)
    assert reasons.total() == BATCH
    assert steps > BATCH

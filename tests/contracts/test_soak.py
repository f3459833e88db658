"""A hundred random games of every game come to an end; ``make soak`` plays more of them."""

import pytest

from tests.contracts.soak import BATCH, play_batch, speaking


@pytest.mark.play
@pytest.mark.parametrize("name", speaking())
@pytest.mark.parametrize("first", range(0, 100, BATCH))
def test_random_games_end_without_a_fault_and_are_replayed_as_they_were(name, first):
    reasons, steps = play_batch(name, first, BATCH)
    assert reasons.total() == BATCH
    assert steps > BATCH

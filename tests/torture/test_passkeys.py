"""What was answered about passkeys is so after kill -9, and a challenge that was used is used up."""

import pytest

from tests.torture.passkeys import torture_passkeys

pytestmark = pytest.mark.e2e


async def test_whatever_was_answered_about_passkeys_survives_kill_9(tmp_path):
    club = await torture_passkeys(tmp_path, kills=4, seed=3)
    assert club.complaints == []
    assert club.counts["members"] >= 4, club.counts
    assert club.counts["used again"] >= 4, club.counts
    assert club.counts["alarms"] == 0


@pytest.mark.parametrize(
    ("fault", "kills"),
    [
        ("forget_challenges", 1),
        pytest.param("forget_counts", 4, marks=pytest.mark.long),
        pytest.param("keep_removed", 6, marks=pytest.mark.long),
        pytest.param("use_challenges_first", 10, marks=pytest.mark.long),
    ],
)
async def test_a_server_that_breaks_a_promise_about_passkeys_is_found_out(tmp_path, fault, kills):
    club = await torture_passkeys(tmp_path, kills, seed=3, module=("tests.torture.planted", fault))
    assert club.complaints, club.counts
